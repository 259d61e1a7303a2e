//! Size and place of an array's voxels in physical units, as it says them itself, or the image that
//! it is a level of.
//!
//! Its own attributes come first, in the forms of writers of N5 and Zarr: `transform` (COSEM),
//! `pixelResolution` (n5-viewer), `resolution` or `voxel_size` with `offset` and `units` (N5,
//! funlib), the header of NIfTI. Then the `coordinateTransformations` of OME-Zarr.

use rechunk_format::json::{bare_token, text};
use rechunk_grid::ArraySpec;
use rechunk_words::{LengthUnit, VoxelAxis};
use serde_json::{Map, Value};

use crate::axes::Axes;
use crate::formats::Fact;
use crate::image_above::{ImageLevel, image_axes, look_above};
use crate::{Error, OpenArray};

/// Unit, in `xyzt_units` of NIfTI: its three lowest bits.
const NIFTI_UNITS: [(u64, LengthUnit); 3] =
    [(1, LengthUnit::Meter), (2, LengthUnit::Millimeter), (3, LengthUnit::Micrometer)];

/// The voxels of an array along each axis, slowest first; an error where nothing says them.
pub(crate) async fn voxel_grid(source: &OpenArray) -> Result<Vec<VoxelAxis>, Error> {
    if let Some(axes) = said(source) {
        return Ok(axes);
    }
    let rank = source.metadata.spec().shape.len();
    let read = |level: &ImageLevel<'_>| of_image(level, rank);
    let found = look_above(&source.location, source.array.store(), read).await?;
    let found = found.map(|axes| source.of_kept(&axes));
    found.ok_or_else(|| Error::Usage {
        message: format!(
            "{} says no size of its voxels: it has none of the attributes `transform`, \
             `pixelResolution`, `resolution` and `voxel_size`, and is no level of an OME-Zarr image",
            source.location
        ),
        hint: Some("give the box in voxels".into()),
    })
}

/// The voxels of an array along each axis, slowest first, as it says them itself.
pub(crate) fn said(source: &OpenArray) -> Option<Vec<VoxelAxis>> {
    let attributes = source.metadata.meaning();
    let axes = of_attributes(&attributes, &source.metadata.spec(), &Orders::of(source))?;
    Some(source.of_kept(&axes))
}

/// [`voxel_grid`]; `None` where nothing says them.
pub(crate) async fn known_voxels(source: &OpenArray) -> Result<Option<Vec<VoxelAxis>>, Error> {
    match voxel_grid(source).await {
        Ok(axes) => Ok(Some(axes)),
        Err(Error::Usage { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The axis that each item of a list is of.
struct Orders {
    /// Of lists in attributes.
    attributes: Vec<usize>,
    /// Of lists in a header of NIfTI, also where it came with a copy.
    header: Vec<usize>,
}

impl Orders {
    fn of(source: &OpenArray) -> Self {
        let lists_as_stored = source.metadata.format().has(Fact::AxisAttributes);
        let attributes = if lists_as_stored { fastest_first(source) } else { in_c_order(source) };
        Self { attributes, header: header_axes(source) }
    }
}

fn in_c_order(source: &OpenArray) -> Vec<usize> {
    (0..source.metadata.spec().shape.len()).collect()
}

fn fastest_first(source: &OpenArray) -> Vec<usize> {
    let in_c_order = in_c_order(source);
    if source.left_out.is_empty() {
        return source.array.layout().element_order().axes.iter().rev().copied().collect();
    }
    let stored = source.metadata.layout().ok();
    let axes = stored.map(|stored| stored.element_order().axes.clone());
    axes.unwrap_or(in_c_order).into_iter().rev().collect()
}

/// The array's axis that each axis of a header of NIfTI is, also where it came with a copy.
pub(crate) fn header_axes(source: &OpenArray) -> Vec<usize> {
    let is_kept = Axes::noted(source.metadata.attributes()) == Some(Axes::Keep);
    if is_kept { in_c_order(source) } else { fastest_first(source) }
}

/// One number for each of `rank` axes.
type Numbers = Vec<f64>;

/// Reads what an array says itself.
fn of_attributes(
    attributes: &Map<String, Value>,
    spec: &ArraySpec,
    orders: &Orders,
) -> Option<Vec<VoxelAxis>> {
    let (rank, order) = (spec.shape.len(), &orders.attributes[..]);
    if let Some(axes) = attributes.get("transform").and_then(|map| of_transform(map, spec)) {
        return Some(axes);
    }
    if let Some(resolution) = attributes.get("pixelResolution") {
        let sizes = numbers(resolution.get("dimensions").unwrap_or(resolution), rank)?;
        let unit = resolution.get("unit").and_then(unit);
        return voxels(order, &sizes, None, &vec![unit; rank]);
    }
    let sizes = ["resolution", "voxel_size"].iter().find_map(|name| attributes.get(*name));
    if let Some(sizes) = sizes.and_then(|list| numbers(list, rank)) {
        let origins = attributes.get("offset").and_then(|list| numbers(list, rank));
        return voxels(order, &sizes, origins.as_deref(), &units(attributes.get("units"), rank));
    }
    let header = attributes.get("nifti")?;
    let sizes = header.get("pixdim")?.as_array()?;
    let sizes: Numbers = sizes.iter().skip(1).take(rank).map(number).collect::<Option<_>>()?;
    let code = header.get("xyzt_units")?.as_u64()? & 7;
    let unit = NIFTI_UNITS.iter().find(|(number, _)| *number == code).map(|(_, unit)| *unit);
    // Axes beyond the third are time and values.
    let units: Vec<_> = (0..rank).map(|axis| unit.filter(|_| axis < 3)).collect();
    voxels(&orders.header, &sizes, None, &units)
}

/// Reads COSEM's form: it names its axes, else they are in the array's order.
fn of_transform(transform: &Value, spec: &ArraySpec) -> Option<Vec<VoxelAxis>> {
    let rank = spec.shape.len();
    let sizes = numbers(transform.get("scale")?, rank)?;
    let origins = transform.get("translate").and_then(|list| numbers(list, rank));
    let named = |name: &Value| spec.axis_named(text(name)?);
    let names = transform.get("axes").and_then(Value::as_array);
    let order: Option<Vec<usize>> = names.and_then(|names| names.iter().map(named).collect());
    let order = order.filter(|order| (0..rank).all(|axis| order.contains(&axis)));
    let order = order.unwrap_or_else(|| (0..rank).collect());
    voxels(&order, &sizes, origins.as_deref(), &units(transform.get("units"), rank))
}

/// Reads the transformations of an OME-Zarr image: first those of the level, then those of all.
fn of_image(level: &ImageLevel<'_>, rank: usize) -> Option<Vec<VoxelAxis>> {
    let (mut sizes, mut origins) = (vec![1.0; rank], vec![0.0; rank]);
    let levels = level.dataset.get("coordinateTransformations")?;
    for list in [Some(levels), level.image.get("coordinateTransformations")].into_iter().flatten() {
        for step in list.as_array()? {
            transform(step, (&mut sizes, &mut origins))?;
        }
    }
    let axes = image_axes(level.image)?.as_array()?;
    let units: Vec<_> = axes.iter().map(|axis| axis.get("unit").and_then(unit)).collect();
    (units.len() == rank).then_some(())?;
    let order: Vec<usize> = (0..rank).collect();
    voxels(&order, &sizes, Some(&origins), &units)
}

/// Applies one transformation; `None` where it is another kind than scales and shifts.
fn transform(step: &Value, (sizes, origins): (&mut Numbers, &mut Numbers)) -> Option<()> {
    let rank = sizes.len();
    match text(step.get("type")?)? {
        "identity" => {}
        "scale" => {
            let factors = numbers(step.get("scale")?, rank)?;
            for (axis, factor) in factors.into_iter().enumerate() {
                sizes[axis] *= factor;
                origins[axis] *= factor;
            }
        }
        "translation" => {
            let shifts = numbers(step.get("translation")?, rank)?;
            for (origin, shift) in origins.iter_mut().zip(shifts) {
                *origin += shift;
            }
        }
        // Of 0.6; deeper ones have no meaning for an axis-aligned image.
        "sequence" => {
            for inner in step.get("transformations")?.as_array()? {
                (text(inner.get("type")?)? != "sequence").then_some(())?;
                transform(inner, (sizes, origins))?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// The voxels of the array's axes; `None` where a size is none.
fn voxels(
    order: &[usize],
    sizes: &[f64],
    origins: Option<&[f64]>,
    units: &[Option<LengthUnit>],
) -> Option<Vec<VoxelAxis>> {
    let mut found = vec![VoxelAxis { size: 1.0, origin: 0.0, unit: None }; order.len()];
    for (item, axis) in order.iter().enumerate() {
        let (size, origin) =
            (*sizes.get(item)?, origins.map_or(Some(0.0), |all| all.get(item).copied())?);
        if !(size.is_finite() && size > 0.0 && origin.is_finite()) {
            return None;
        }
        *found.get_mut(*axis)? =
            VoxelAxis { size, origin, unit: units.get(item).copied().flatten() };
    }
    Some(found)
}

fn number(value: &Value) -> Option<f64> {
    let of_token = || value.as_str().and_then(bare_token)?.parse().ok();
    value.as_f64().or_else(of_token)
}

/// A list of one number for each of `rank` axes.
fn numbers(value: &Value, rank: usize) -> Option<Numbers> {
    let list = value.as_array().filter(|list| list.len() == rank)?;
    list.iter().map(number).collect()
}

fn unit(value: &Value) -> Option<LengthUnit> {
    LengthUnit::parse(text(value)?).ok()
}

/// A unit for each axis, or one for all of them.
fn units(value: Option<&Value>, rank: usize) -> Vec<Option<LengthUnit>> {
    match value {
        Some(Value::Array(list)) => list.iter().map(unit).collect(),
        Some(one) => vec![unit(one); rank],
        None => vec![None; rank],
    }
}

#[cfg(test)]
mod tests {
    use rechunk_grid::DataType;
    use serde_json::json;

    use super::*;

    fn spec() -> ArraySpec {
        ArraySpec {
            shape: vec![10, 20, 30],
            data_type: DataType::Uint8,
            chunk_shape: vec![5, 5, 5],
            edges: None,
            fill_value: None,
            dimension_names: Some(["z", "y", "x"].map(|name| Some(name.to_owned())).to_vec()),
        }
    }

    fn in_words(axes: Option<Vec<VoxelAxis>>) -> String {
        let axis = |VoxelAxis { size, origin, unit }: &VoxelAxis| {
            format!("{size}@{origin}{}", unit.map_or_else(String::new, |unit| unit.to_string()))
        };
        axes.map_or_else(
            || "-".to_owned(),
            |all| all.iter().map(axis).collect::<Vec<_>>().join(" "),
        )
    }

    #[test]
    fn attributes_of_every_writer_are_read() {
        let fastest_first = [2, 1, 0];
        for (attributes, order, expected) in [
            (
                json!({"transform": {"axes": ["x", "y", "z"], "scale": [4, 5, 40],
                       "translate": [1, 2, 3], "units": ["nm", "nm", "nm"]}}),
                [0, 1, 2],
                "40@3nm 5@2nm 4@1nm",
            ),
            (
                json!({"transform": {"scale": [40, 5, 4], "units": ["nm", "nm", "um"]}}),
                fastest_first,
                "40@0nm 5@0nm 4@0um",
            ),
            (
                json!({"pixelResolution": {"dimensions": [4, 5, 40.5], "unit": "nm"}}),
                fastest_first,
                "40.5@0nm 5@0nm 4@0nm",
            ),
            (json!({"pixelResolution": [4, 5, 40]}), fastest_first, "40@0 5@0 4@0"),
            (
                json!({"resolution": [40, 5, 4], "offset": [400, 0, 0], "units": ["nm", "nm", "nm"]}),
                [0, 1, 2],
                "40@400nm 5@0nm 4@0nm",
            ),
            (json!({"voxel_size": [40, 5, 4], "units": "um"}), [0, 1, 2], "40@0um 5@0um 4@0um"),
            (
                json!({"nifti": {"pixdim": [1.0, 0.5, 0.6, 0.7, 2.0, 0, 0, 0], "xyzt_units": 10}}),
                fastest_first,
                "0.7@0mm 0.6@0mm 0.5@0mm",
            ),
            (json!({"resolution": [40, 0, 4]}), [0, 1, 2], "-"),
            (json!({"resolution": [40, 4]}), [0, 1, 2], "-"),
            (json!({"units": "K"}), [0, 1, 2], "-"),
        ] {
            let orders = Orders { attributes: order.to_vec(), header: order.to_vec() };
            let found = of_attributes(attributes.as_object().unwrap(), &spec(), &orders);
            assert_eq!(in_words(found), expected, "{attributes}");
        }
    }

    #[test]
    fn transformations_of_an_image_are_joined() {
        let axes = json!([{"name": "z", "unit": "micrometer"}, {"name": "y"}, {"name": "x", "unit": "nm"}]);
        let scale = |by: [f64; 3]| json!({"type": "scale", "scale": by});
        let shift = |by: [f64; 3]| json!({"type": "translation", "translation": by});
        let of = |dataset: Value, all: Value| {
            let image = json!({"axes": axes, "coordinateTransformations": all});
            let dataset = json!({"path": "0", "coordinateTransformations": dataset});
            in_words(of_image(&ImageLevel { path: "0", dataset: &dataset, image: &image }, 3))
        };
        let level = json!([scale([2.0, 1.0, 4.0]), shift([0.5, 0.0, 2.0])]);
        assert_eq!(of(level.clone(), json!([])), "2@0.5um 1@0 4@2nm");
        assert_eq!(of(level.clone(), json!([scale([10.0, 1.0, 1.0])])), "20@5um 1@0 4@2nm");
        let sequence = json!([{"type": "sequence", "transformations": level}]);
        assert_eq!(of(sequence, json!([])), "2@0.5um 1@0 4@2nm");
        assert_eq!(of(json!([{"type": "affine", "affine": []}]), json!([])), "-");
        assert_eq!(of(json!([scale([2.0, 1.0, 4.0])]), json!([{"type": "rotation"}])), "-");
    }
}
