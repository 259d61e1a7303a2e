//! Attributes of images in N5: BigDataViewer, N5 viewers, COSEM.

use serde_json::{Map, Value, json};

use crate::bdv::{bdv_axes, bdv_level_attributes, bdv_setup_attributes, bdv_timepoint_attributes};
use crate::error::ImageError;
use crate::image::{Image, Level};
use crate::units::short_unit;
use crate::values::reversed;

type Attributes = Map<String, Value>;

/// Attributes of a setup, of a timepoint, and of the array of each level.
pub(crate) fn bdv_documents(
    image: &Image,
) -> Result<(Attributes, Attributes, Vec<Attributes>), ImageError> {
    let axes = bdv_axes(image)?;
    let factors = |level: &Level| axes.space_xyz.map(|axis| level.factors[axis]);
    let lists: Vec<_> = image.levels.iter().map(factors).collect();
    let mut group = bdv_setup_attributes(&lists, &image.data_type);
    for (key, value) in &image.carried {
        group.entry(key.clone()).or_insert_with(|| value.clone());
    }
    let first = image.levels.first();
    let sizes = first.map_or([1.0; 3], |level| axes.space_xyz.map(|axis| level.scale[axis]));
    let levels = lists.into_iter().map(bdv_level_attributes).collect();
    Ok((group, bdv_timepoint_attributes(sizes), levels))
}

/// The object `transform` of COSEM: in C order, as everything in it.
fn transform(image: &Image, level: &Level, units: &[String]) -> Value {
    let names: Vec<_> = image.axes.iter().map(|axis| &axis.name).collect();
    json!({
        "axes": names,
        "scale": level.scale,
        "translate": level.translation,
        "units": units,
    })
}

/// Attributes of the group of an N5 viewer, and of the array of each level.
pub(crate) fn viewer_documents(image: &Image) -> (Attributes, Vec<Attributes>) {
    let names: Vec<_> = image.axes.iter().map(|axis| axis.name.clone()).collect();
    let units = image.axes.iter().map(|axis| short_unit(axis.unit.as_deref()));
    let units: Vec<_> = units.collect();
    let base = image.levels.first().map(|level| reversed(&level.scale)).unwrap_or_default();
    let factors: Vec<_> = image.levels.iter().map(|level| reversed(&level.factors)).collect();
    let datasets: Vec<_> = image
        .levels
        .iter()
        .map(|level| json!({"path": level.path, "transform": transform(image, level, &units)}))
        .collect();
    let mut group = Map::from_iter([
        ("name".to_owned(), json!(image.name)),
        ("axes".to_owned(), json!(reversed(&names))),
        ("units".to_owned(), json!(reversed(&units))),
        ("resolution".to_owned(), json!(base)),
        ("scales".to_owned(), json!(factors)),
        ("multiscales".to_owned(), json!([{"name": image.name, "datasets": datasets}])),
    ]);
    for (key, value) in &image.carried {
        group.entry(key.clone()).or_insert_with(|| value.clone());
    }
    // A pixel has one unit: that of x.
    let unit = units.last().filter(|unit| !unit.is_empty()).map_or("pixel", String::as_str);
    let level_attributes = |(level, factors): (&Level, Vec<u64>)| {
        Map::from_iter([
            ("downsamplingFactors".to_owned(), json!(factors)),
            ("pixelResolution".to_owned(), json!({"dimensions": base, "unit": unit})),
            ("transform".to_owned(), transform(image, level, &units)),
        ])
    };
    let levels = image.levels.iter().zip(factors).map(level_attributes).collect();
    (group, levels)
}
