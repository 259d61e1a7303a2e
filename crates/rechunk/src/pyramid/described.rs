//! Documents of a pyramid: of its groups, of its arrays, and beside it.

use rechunk_image::{Dialect, Image, ImageError, Level, bdv_dataset, bdv_xml, documents};
use rechunk_reduce::Method;
use serde_json::{Map, Value, json};

use super::PyramidRequest;
use super::image::SourceImage;
use crate::Error;

/// Metadata of a pyramid.
pub(super) struct Described {
    pub root: Map<String, Value>,
    pub groups: Vec<(String, Map<String, Value>)>,
    /// Attributes of the arrays of each level that is written.
    pub of_made: Vec<Map<String, Value>>,
    /// Bytes of the file beside the target.
    pub beside: Option<Vec<u8>>,
}

pub(super) fn describe(
    source: &SourceImage,
    target: &str,
    (dialect, method, pyramid): (Dialect, Method, &PyramidRequest),
    known: &[Level],
    made: &[Level],
) -> Result<Described, Error> {
    let mut levels = [known, made].concat();
    levels.sort_by_key(|level| volume(&level.factors));
    let settings = Map::from_iter([
        ("size".to_owned(), json!(pyramid.size.name())),
        ("rounding".to_owned(), json!(pyramid.rounding.name())),
        ("from".to_owned(), json!(pyramid.from.name())),
    ]);
    let image = Image {
        name: source.name.clone(),
        axes: source.axes.clone(),
        levels: levels.clone(),
        is_label: source.is_label || pyramid.labels,
        method: Some(method.name().to_owned()),
        settings,
        carried: source.rest.clone(),
        data_type: source.array.spec().data_type.name(),
        spatial_transform: source.spatial_transform,
    };
    let found = documents(&image, dialect).map_err(image_error)?;
    let attributes = |level: &Level| {
        let at = levels.iter().position(|known| known.path == level.path);
        at.and_then(|at| found.levels.get(at).cloned()).unwrap_or_default()
    };
    let of_made = made.iter().map(attributes).collect();
    let Some(timepoint_attributes) = found.timepoint else {
        let (groups, beside) = (Vec::new(), None);
        return Ok(Described { root: found.group, groups, of_made, beside });
    };
    // The file lies beside the container.
    let container = target.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let dataset = bdv_dataset(&image, container).map_err(image_error)?;
    let mut groups = Vec::new();
    for setup in &dataset.setups {
        groups.push((format!("setup{}", setup.id), found.group.clone()));
        for timepoint in 0..dataset.timepoints {
            let path = format!("setup{}/timepoint{timepoint}", setup.id);
            groups.push((path, timepoint_attributes.clone()));
        }
    }
    let xml = bdv_xml(&dataset).into_bytes();
    Ok(Described { root: Map::new(), groups, of_made, beside: Some(xml) })
}

fn volume(factors: &[u64]) -> u128 {
    factors.iter().fold(1_u128, |volume, &factor| volume.saturating_mul(u128::from(factor)))
}

#[expect(clippy::needless_pass_by_value, reason = "it is handed to `map_err`")]
fn image_error(error: ImageError) -> Error {
    Error::Usage {
        message: error.to_string(),
        hint: Some("`plain` writes arrays of a group".into()),
    }
}
