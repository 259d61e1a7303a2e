//! Documents as BigDataViewer reads them: `export.xml`, and the groups and arrays of `export.n5`.

use std::ops::Range;

use rechunk_image::{
    BdvDataset, BdvServer, BdvSetup, BdvViews, bdv_level_attributes, bdv_setup_attributes,
    bdv_timepoint_attributes, bdv_xml_of,
};
use rechunk_n5::{ATTRIBUTES_KEY, N5Version, group_document};
use serde_json::Map;

use super::Document;
use crate::{Dataset, DatastoreError};

/// The container of a version.
const CONTAINER: &str = "export.n5";
/// The document that BigDataViewer opens.
pub(crate) const XML_KEY: &str = "export.xml";
/// Unit where none is said, as BigDataViewer has it.
const UNIT: &str = "pixel";

/// The key of the container's attributes.
pub(crate) fn container_key() -> String {
    format!("{CONTAINER}/{ATTRIBUTES_KEY}")
}

/// The key of the attributes of a setup.
fn setup_key(setup: u64) -> String {
    format!("{CONTAINER}/setup{setup}/{ATTRIBUTES_KEY}")
}

/// The place of an array in the folder of a version.
pub(crate) fn array_path(setup: u64, time: u64, level: usize) -> String {
    format!("{CONTAINER}/setup{setup}/timepoint{time}/s{level}")
}

/// All documents of a version.
pub(super) fn documents(dataset: &Dataset) -> Result<Vec<Document>, DatastoreError> {
    let root = group_document(&Map::new(), Some(N5Version::DEFAULT));
    let mut all = vec![(container_key(), root), export_xml(dataset)];
    all.extend(setup_documents(dataset, 0..dataset.setup(dataset.channels, 0))?);
    Ok(all)
}

/// Documents of some setups.
pub(super) fn setup_documents(
    dataset: &Dataset,
    setups: Range<u64>,
) -> Result<Vec<Document>, DatastoreError> {
    let levels = &dataset.resolution_levels;
    let factors: Vec<[u64; 3]> = levels.iter().map(|level| level.resolutions).collect();
    let of_setup = group_document(&bdv_setup_attributes(&factors, &dataset.voxel_type), None);
    let of_time = group_document(&bdv_timepoint_attributes(voxel_size(dataset)), None);
    let mut of_levels = Vec::new();
    for level in levels {
        let mut metadata = dataset.n5_layout(level)?.metadata().clone();
        metadata.attributes = bdv_level_attributes(level.resolutions);
        of_levels.push(metadata.document());
    }
    let mut all = Vec::new();
    for setup in setups {
        all.push((setup_key(setup), of_setup.clone()));
        for &time in &dataset.timepoint_ids {
            let group = format!("{CONTAINER}/setup{setup}/timepoint{time}");
            all.push((format!("{group}/{ATTRIBUTES_KEY}"), of_time.clone()));
            for (level, document) in of_levels.iter().enumerate() {
                let array = array_path(setup, time, level);
                all.push((format!("{array}/{ATTRIBUTES_KEY}"), document.clone()));
            }
        }
    }
    Ok(all)
}

fn voxel_size(dataset: &Dataset) -> [f64; 3] {
    dataset.voxel_resolution.unwrap_or([1.0; 3])
}

/// The document that BigDataViewer opens.
pub(super) fn export_xml(dataset: &Dataset) -> Document {
    (XML_KEY.to_owned(), described(dataset, None).into_bytes())
}

impl Dataset {
    /// The XML by which BigDataViewer opens the data set from a server.
    pub fn remote_xml(&self, server: BdvServer) -> String {
        described(self, Some(server))
    }
}

fn described(dataset: &Dataset, server: Option<BdvServer>) -> String {
    let unit = dataset.voxel_unit.clone().unwrap_or_else(|| UNIT.to_owned());
    let mut setups = Vec::new();
    let mut affines = Vec::new();
    for channel in 0..dataset.channels {
        for angle in 0..dataset.angles {
            setups.push(BdvSetup {
                id: dataset.setup(channel, angle),
                name: format!("channel {channel} angle {angle}"),
                size_xyz: dataset.dimensions,
                voxel_size_xyz: voxel_size(dataset),
                unit: unit.clone(),
                channel,
                angle,
                translation_xyz: [0.0; 3],
            });
            let given = dataset.transformations.as_deref().unwrap_or_default();
            affines.push(usize::try_from(angle).ok().and_then(|at| given.get(at).copied()));
        }
    }
    let views = BdvViews { timepoints: dataset.timepoint_ids.clone(), affines, server };
    let described = BdvDataset { n5_path: CONTAINER.to_owned(), setups, timepoints: 0 };
    bdv_xml_of(&described, &views)
}
