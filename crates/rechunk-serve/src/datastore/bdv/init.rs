//! Sizes and resolutions of a data set, as BigDataViewer asks for them first.

use std::collections::BTreeMap;

use axum::body::Body;
use hyper::StatusCode;
use rechunk_datastore::{Dataset, OpenLevel};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::{VIEW_BYTES, views};
use crate::datastore::failure::{Answer, Failure};
use crate::datastore::state::Face;
use crate::typed::typed;

/// The names are those of fields in Java, which reads them without a schema.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Init<'a> {
    max_num_timepoints: u64,
    max_num_setups: u64,
    max_num_levels: usize,
    per_setup_mipmap_info: BTreeMap<u64, MipmapInfo>,
    dims_and_existence: Views<'a>,
}

#[derive(Serialize, Clone)]
#[serde(rename_all = "camelCase")]
struct MipmapInfo {
    /// Factors of each level.
    resolutions: Vec<[f64; 3]>,
    /// From elements of a level to those of the finest: three rows of four.
    transforms: Vec<[f64; 12]>,
    /// Size of a cell of each level.
    subdivisions: Vec<[u64; 3]>,
    max_level: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ViewLevel {
    timepoint_id: u64,
    setup_id: u64,
    level: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Sizes {
    dimensions: [u64; 3],
    block_size: [u64; 3],
    exists: bool,
}

/// Pairs of each level of each view and its sizes, written one behind the other.
struct Views<'a>(&'a Dataset);

impl Serialize for Views<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let dataset = self.0;
        let mut all = serializer.serialize_seq(None)?;
        for setup_id in 0..dataset.setup(dataset.channels, 0) {
            for &timepoint_id in &dataset.timepoint_ids {
                for (level, described) in dataset.resolution_levels.iter().enumerate() {
                    let sizes = Sizes {
                        dimensions: described.dimensions(dataset.dimensions),
                        block_size: described.block_dimensions,
                        exists: true,
                    };
                    all.serialize_element(&(ViewLevel { timepoint_id, setup_id, level }, sizes))?;
                }
            }
        }
        all.end()
    }
}

#[expect(clippy::cast_precision_loss, reason = "factors have at most 31 bits")]
fn mipmap_info(dataset: &Dataset) -> MipmapInfo {
    let levels = &dataset.resolution_levels;
    let resolutions: Vec<[f64; 3]> =
        levels.iter().map(|level| level.resolutions.map(|factor| factor as f64)).collect();
    let transform = |&[x, y, z]: &[f64; 3]| {
        // An element of a level lies in the middle of those that it is made of.
        let middle = |factor: f64| (factor - 1.0) / 2.0;
        [x, 0.0, 0.0, middle(x), 0.0, y, 0.0, middle(y), 0.0, 0.0, z, middle(z)]
    };
    MipmapInfo {
        transforms: resolutions.iter().map(transform).collect(),
        resolutions,
        subdivisions: levels.iter().map(|level| level.block_dimensions).collect(),
        max_level: levels.len().saturating_sub(1),
    }
}

/// The answer to `p=init`.
pub(super) async fn init(face: &Face, level: &OpenLevel) -> Answer {
    let dataset = &level.known().dataset;
    let count = u64::try_from(dataset.resolution_levels.len()).unwrap_or(u64::MAX);
    let _held =
        face.downloads.take(views(level).saturating_mul(count).saturating_mul(VIEW_BYTES)).await;
    let (setups, info) = (dataset.setup(dataset.channels, 0), mipmap_info(dataset));
    let init = Init {
        max_num_timepoints: dataset.timepoint_ids.last().map_or(0, |last| last.saturating_add(1)),
        max_num_setups: setups,
        max_num_levels: dataset.resolution_levels.len(),
        per_setup_mipmap_info: (0..setups).map(|setup| (setup, info.clone())).collect(),
        dims_and_existence: Views(dataset),
    };
    let bytes = serde_json::to_vec(&init).map_err(|error| {
        tracing::error!(%error, "sizes cannot be written");
        Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "the sizes cannot be written")
    })?;
    Ok(typed(StatusCode::OK, "application/json", Body::from(bytes)))
}
