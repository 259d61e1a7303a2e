//! Images as the Zarr conventions `multiscales` and `spatial` describe them.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::affine::Affine;
use crate::axis::{Axis, AxisKind};
use crate::dialect::Dialect;
use crate::found::{FoundImage, FoundLevel};
use crate::placement::Placement;
use crate::values::{LEVELS_MAX, numbers, path, tell, text, texts, without};

/// An affine of `spatial:transform`, from corners of pixels.
fn affine(attributes: &Map<String, Value>, is_node: bool) -> Option<Affine> {
    let said = attributes.get("spatial:transform").and_then(numbers)?.try_into().ok()?;
    // Grids registered by nodes say the centre of the first pixel.
    let corner = if is_node { [-0.5; 2] } else { [0.0; 2] };
    Some(Affine(said).coarser([1.0; 2], corner))
}

/// Place of the centre of the first pixel, rows first.
fn centre(affine: Affine) -> Placement {
    Placement { scale: affine.steps().to_vec(), translation: affine.at([0.5; 2]).to_vec() }
}

/// Steps from the level that one was derived from: factors, and an offset in its elements.
fn relative(entry: &Map<String, Value>, rank: usize) -> Option<(Vec<f64>, Option<Vec<f64>>)> {
    // Drafts of the convention had both beside the path.
    let transform = entry.get("transform").and_then(Value::as_object).unwrap_or(entry);
    let along = |key: &str| transform.get(key).and_then(numbers).filter(|list| list.len() == rank);
    let translation = along("translation");
    let scale = along("scale").or_else(|| translation.as_ref().map(|_| vec![1.0; rank]));
    Some((scale?, translation))
}

fn axes(attributes: &Map<String, Value>, layout: &[Value]) -> Vec<Axis> {
    let named = attributes.get("spatial:dimensions").and_then(texts);
    let axes = named.map(|names| {
        let axis = |name: &String| Axis { kind: AxisKind::Space, ..Axis::of_name(name) };
        names.iter().map(axis).collect()
    });
    let rank = || {
        let scale = layout.iter().find_map(|entry| numbers(entry.get("transform")?.get("scale")?));
        scale.map_or(2, |scale| scale.len())
    };
    axes.unwrap_or_else(|| Axis::of_rank(rank()))
}

/// Place of a level of which steps from another one are said. Offsets are of the first corner if
/// `is_corner`, else of the centre of the first element.
fn derived(
    source: &Placement,
    (scale, translation): &(Vec<f64>, Option<Vec<f64>>),
    is_corner: bool,
) -> Placement {
    let mut place = source.clone();
    for (axis, factor) in scale.iter().enumerate() {
        let step = source.scale[axis];
        let offset = translation.as_ref().map_or(0.0, |offsets| offsets[axis]);
        let middle = if is_corner { (factor - 1.0) / 2.0 } else { 0.0 };
        place.translation[axis] += step * (offset + middle);
        place.scale[axis] *= factor;
    }
    place
}

/// The image of `multiscales.layout`; its axes are the spatial ones, the last of the arrays'.
pub(crate) fn read_geozarr(attributes: &Map<String, Value>) -> Option<FoundImage> {
    let multiscales = attributes.get("multiscales")?.as_object()?;
    let layout = multiscales.get("layout")?.as_array()?;
    let mut found = FoundImage::empty(Dialect::GeoZarr);
    found.axes = axes(attributes, layout);
    let rank = found.axes.len();
    let is_node = text(attributes.get("spatial:registration")).as_deref() == Some("node");
    let of_group = affine(attributes, is_node).filter(|_| rank == 2);
    let mut entries = layout.iter().filter_map(Value::as_object);
    let is_spatial = of_group.is_some() || entries.any(|entry| affine(entry, is_node).is_some());
    let mut places = BTreeMap::<String, Placement>::new();
    for (at, entry) in layout.iter().take(LEVELS_MAX).enumerate() {
        let entry = entry.as_object();
        let path = entry.and_then(|entry| path(entry.get("asset").or_else(|| entry.get("group"))));
        let (Some(entry), Some(path)) = (entry, path) else {
            tell(&mut found.problems, format!("level {at} has no asset below the group"));
            continue;
        };
        let own = affine(entry, is_node).filter(|_| rank == 2);
        let absolute = own.or_else(|| of_group.filter(|_| found.levels.is_empty()));
        if found.levels.is_empty() {
            found.spatial_transform = absolute.map(|affine| affine.0);
        }
        let source = text(entry.get("derived_from").or_else(|| entry.get("from_group")));
        let source = source.and_then(|source| places.get(source.trim_matches('/')));
        let step = relative(entry, rank);
        // Without the convention `spatial`, a missing offset may be 0 or half a block.
        let is_placed = is_spatial || step.as_ref().is_some_and(|(_, offset)| offset.is_some());
        let place = absolute.map(centre).or_else(|| {
            let unplaced = Placement::identity(rank);
            Some(derived(source.unwrap_or(&unplaced), &step?, is_spatial && !is_node))
        });
        let mut level = FoundLevel { path: path.clone(), scale: None, translation: None };
        if let Some(place) = place {
            level.scale = Some(place.scale.clone());
            level.translation = is_placed.then(|| place.translation.clone());
            places.insert(path, place);
        } else {
            tell(&mut found.problems, format!("level {path:?} says no transform"));
        }
        found.levels.push(level);
    }
    if layout.is_empty() || layout.len() > LEVELS_MAX {
        tell(&mut found.problems, format!("the image has {} levels", layout.len()));
    }
    found.method = text(multiscales.get("resampling_method"));
    found.rest = without(attributes, &["multiscales"]);
    Some(found.with_base())
}
