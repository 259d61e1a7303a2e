//! Attributes of the Zarr conventions `multiscales`, `spatial` and `proj`, version 0.1.

use serde_json::{Map, Value, json};

use crate::affine::Affine;
use crate::axis::{AxisKind, names};
use crate::conventions::{Convention, register};
use crate::dialect::Dialect;
use crate::error::ImageError;
use crate::image::{Image, Level};
use crate::values::without;

type Attributes = Map<String, Value>;

/// Finds the axes of rows and columns: the last two of space.
fn rows_and_columns(image: &Image) -> Result<[usize; 2], ImageError> {
    let wrong = |reason: String, hint: &str| {
        let (dialect, axes) = (Dialect::GeoZarr.name(), names(&image.axes));
        Err(ImageError::Axes { dialect, axes, reason, hint: hint.to_owned() })
    };
    let axes = image.axes.iter().enumerate();
    let space = axes.filter(|(_, axis)| axis.kind == AxisKind::Space).map(|(at, _)| at);
    let space: Vec<_> = space.collect();
    let &[.., rows, columns] = space.as_slice() else {
        let reason = format!("{} of them are of space, it needs 2", space.len());
        return wrong(reason, "name axes `y` and `x`, or write `plain`");
    };
    let shrinks = |axis: usize| image.levels.iter().any(|level| level.factors[axis] != 1);
    let others = (0..image.axes.len()).filter(|axis| ![rows, columns].contains(axis));
    if let Some(axis) = others.into_iter().find(|&axis| shrinks(axis)) {
        let name = &image.axes[axis].name;
        let reason = format!("axis {name:?} shrinks, only rows and columns do");
        return wrong(reason, "keep its factor at 1, or write `plain`");
    }
    Ok([rows, columns])
}

/// Place of the first corner of a level in elements of a finer one: below 0 where elements stand
/// for the first of each block.
fn corner(finer: &Level, level: &Level, axis: usize) -> f64 {
    let middle = (level.translation[axis] - finer.translation[axis]) / finer.scale[axis];
    let corner = middle + 0.5 - level.scale[axis] / finer.scale[axis] / 2.0;
    // Where it is zero, it is not by 1e-17.
    if corner.abs() < 1e-9 { 0.0 } else { corner }
}

/// The affine of level 0, from corners of pixels.
fn base_affine(image: &Image, level: &Level, axes: [usize; 2]) -> Affine {
    let [height, width] = axes.map(|axis| level.scale[axis]);
    let [top, left] = axes.map(|axis| level.translation[axis] - level.scale[axis] / 2.0);
    Affine(image.spatial_transform.unwrap_or([width, 0.0, left, 0.0, height, top]))
}

/// Attributes of the group of an image, and of the array of each level.
pub(crate) fn geozarr_documents(
    image: &Image,
) -> Result<(Attributes, Vec<Attributes>), ImageError> {
    let axes = rows_and_columns(image)?;
    let Some(first) = image.levels.first() else { return Ok((Map::new(), Vec::new())) };
    let base = base_affine(image, first, axes);
    let dimensions = axes.map(|axis| image.axes[axis].name.as_str());
    let projection: Attributes = image
        .carried
        .iter()
        .filter(|(key, _)| key.starts_with("proj:"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let mut conventions = vec![Convention::Spatial];
    if !projection.is_empty() {
        conventions.push(Convention::Proj);
    }
    let (mut layout, mut levels) = (Vec::new(), Vec::new());
    let mut finer: Option<&Level> = None;
    for level in &image.levels {
        let factors = axes.map(|axis| level.factors[axis] as f64);
        let Affine(affine) = base.coarser(factors, axes.map(|axis| corner(first, level, axis)));
        let shape = axes.map(|axis| level.shape[axis]);
        let source = finer.unwrap_or(level);
        let scale = axes.map(|axis| level.scale[axis] / source.scale[axis]);
        let offset = axes.map(|axis| corner(source, level, axis));
        let mut entry = Map::from_iter([("asset".to_owned(), json!(level.path))]);
        if let Some(finer) = finer {
            entry.insert("derived_from".to_owned(), json!(finer.path));
        }
        entry.insert("transform".to_owned(), json!({"scale": scale, "translation": offset}));
        let mut attributes = Map::new();
        register(&mut attributes, &conventions);
        attributes.insert("spatial:dimensions".to_owned(), json!(dimensions));
        for to in [&mut entry, &mut attributes] {
            to.insert("spatial:shape".to_owned(), json!(shape));
            to.insert("spatial:transform".to_owned(), json!(affine));
        }
        attributes.extend(projection.clone());
        layout.push(Value::Object(entry));
        levels.push(attributes);
        finer = Some(level);
    }
    let mut multiscales = Map::from_iter([("layout".to_owned(), Value::Array(layout))]);
    if let Some(method) = &image.method {
        multiscales.insert("resampling_method".to_owned(), json!(resampling_name(method)));
    }
    // Beside a layout, its levels alone say these.
    let mut group = without(&image.carried, &["spatial:transform", "spatial:shape"]);
    conventions.insert(0, Convention::Multiscales);
    register(&mut group, &conventions);
    group.insert("multiscales".to_owned(), Value::Object(multiscales));
    group.insert("spatial:dimensions".to_owned(), json!(dimensions));
    // Places of elements are said from their corners.
    group.insert("spatial:registration".to_owned(), json!("pixel"));
    Ok((group, levels))
}

/// The name that GDAL has for a method.
fn resampling_name(method: &str) -> &str {
    match method {
        "mean" => "average",
        "median" => "med",
        "gaussian" => "gauss",
        "stride" => "nearest",
        _ => method,
    }
}
