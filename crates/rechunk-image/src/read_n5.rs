//! Images as BigDataViewer, N5 viewers and COSEM describe them in N5 groups.

use serde_json::{Map, Value};

use crate::axis::Axis;
use crate::dialect::Dialect;
use crate::found::{FoundImage, FoundLevel};
use crate::image::level_transform;
use crate::placement::Placement;
use crate::values::{
    AXES_MAX, LEVELS_MAX, numbers, path, reversed, sizes, tell, text, texts, without,
};

/// Keys of an image in an N5 group.
const KEYS: [&str; 9] = [
    "downsamplingFactors",
    "scales",
    "multiscales",
    "axes",
    "units",
    "resolution",
    "pixelResolution",
    "multiScale",
    "dataType",
];

/// Sizes of elements and units that N5 attributes say; lists are in C order.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sizes {
    pub scale: Option<Vec<f64>>,
    pub translation: Option<Vec<f64>>,
    pub names: Option<Vec<String>>,
    pub units: Option<Vec<String>>,
}

/// The object `transform` of COSEM, in C order; `None` if it says no scale.
pub(crate) fn cosem_transform(value: &Value) -> Option<Sizes> {
    let scale = value.get("scale").and_then(numbers)?;
    let fits = |length: usize| length == scale.len();
    let list = |key: &str| value.get(key).and_then(texts).filter(|list| fits(list.len()));
    let translation = value.get("translate").and_then(numbers).filter(|list| fits(list.len()));
    Some(Sizes { translation, names: list("axes"), units: list("units"), scale: Some(scale) })
}

/// Sizes of elements in attributes of an N5 group or array: `transform` before
/// `pixelResolution` before `resolution`.
pub(crate) fn n5_sizes(attributes: &Map<String, Value>) -> Sizes {
    if let Some(sizes) = attributes.get("transform").and_then(cosem_transform) {
        return sizes;
    }
    let list = |key: &str| attributes.get(key).and_then(numbers).map(|list| reversed(&list));
    let words = |key: &str| attributes.get(key).and_then(texts).map(|list| reversed(&list));
    let pixel = attributes.get("pixelResolution");
    let dimensions = pixel.and_then(|pixel| pixel.get("dimensions")).and_then(numbers);
    let scale = dimensions.map(|list| reversed(&list)).or_else(|| list("pixelResolution"));
    let scale = scale.or_else(|| list("resolution"));
    let one_unit = pixel.and_then(|pixel| text(pixel.get("unit")));
    let one_unit = one_unit.or_else(|| text(attributes.get("unit")));
    let one_unit = one_unit.or_else(|| text(attributes.get("units")));
    let rank = scale.as_ref().map(Vec::len);
    let units = words("units").or_else(|| Some(vec![one_unit?; rank?]));
    Sizes { scale, translation: list("offset"), names: words("axes"), units }
}

/// Axes of names and units where they are known, else the usual ones of the rank.
pub(crate) fn n5_axes(sizes: &Sizes, rank: usize) -> Vec<Axis> {
    let names = sizes.names.as_ref().filter(|names| names.len() == rank);
    let mut axes = match names {
        Some(names) => names.iter().map(|name| Axis::of_name(name)).collect(),
        None => Axis::of_rank(rank),
    };
    let units = sizes.units.as_ref().filter(|units| units.len() == rank);
    for (axis, unit) in axes.iter_mut().zip(units.into_iter().flatten()) {
        axis.unit = Some(unit.clone()).filter(|unit| !unit.is_empty());
    }
    axes
}

/// A level whose elements are blocks of those of level 0.
fn block_level(path: String, factors: &[f64], sizes: &Sizes) -> FoundLevel {
    let rank = factors.len();
    let fits = |list: &&Vec<f64>| list.len() == rank;
    let ones = vec![1.0; rank];
    let base = sizes.scale.as_ref().filter(fits).unwrap_or(&ones);
    let zeros = vec![0.0; rank];
    let offset = sizes.translation.as_ref().filter(fits).unwrap_or(&zeros);
    let mut place = Placement { scale: Vec::new(), translation: Vec::new() };
    for (axis, factor) in factors.iter().enumerate() {
        place.scale.push(base[axis] * factor);
        place.translation.push(offset[axis] + (factor - 1.0) / 2.0 * base[axis]);
    }
    FoundLevel::at(path, place)
}

/// A list of factors for each level, in C order.
fn factor_lists(value: &Value) -> Option<Vec<Option<Vec<f64>>>> {
    let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= LEVELS_MAX)?;
    let lists = list.iter().map(|factors| numbers(factors).map(|factors| reversed(&factors)));
    let lists: Vec<_> = lists.collect();
    lists.iter().any(Option::is_some).then_some(lists)
}

/// Images whose levels are `s0`, `s1` … below `under`.
fn of_factors(
    dialect: Dialect,
    attributes: &Map<String, Value>,
    lists: Vec<Option<Vec<f64>>>,
    under: &str,
) -> FoundImage {
    let mut found = FoundImage::empty(dialect);
    let sizes = n5_sizes(attributes);
    let rank = lists.iter().flatten().map(Vec::len).next().unwrap_or(0).min(AXES_MAX);
    found.axes = n5_axes(&sizes, rank);
    for (at, factors) in lists.into_iter().enumerate() {
        let path = format!("{under}s{at}");
        let level = if let Some(factors) = factors.filter(|factors| factors.len() == rank) {
            block_level(path, &factors, &sizes)
        } else {
            tell(&mut found.problems, format!("level {path:?} has no factors of {rank} axes"));
            FoundLevel { path, scale: None, translation: None }
        };
        found.levels.push(level);
    }
    found
}

/// The `multiscales` of COSEM, of which each level has a `transform`.
fn of_transforms(attributes: &Map<String, Value>) -> Option<FoundImage> {
    let image = attributes.get("multiscales")?.as_array()?.first()?;
    let datasets = image.get("datasets")?.as_array()?;
    let mut found = FoundImage::empty(Dialect::N5Viewer);
    let transform = |dataset: &Value| dataset.get("transform").and_then(cosem_transform);
    let first = datasets.iter().find_map(transform)?;
    let rank = first.scale.as_ref().map_or(0, Vec::len);
    found.axes = n5_axes(&first, rank);
    for (at, dataset) in datasets.iter().take(LEVELS_MAX).enumerate() {
        let Some(path) = path(dataset.get("path")) else {
            tell(&mut found.problems, format!("level {at} has no path below the group"));
            continue;
        };
        let sizes = transform(dataset).unwrap_or_default();
        let scale = sizes.scale.filter(|scale| scale.len() == rank);
        if scale.is_none() {
            tell(&mut found.problems, format!("level {path:?} has no scale of {rank} axes"));
        }
        let translation = sizes.translation.filter(|list| list.len() == rank);
        found.levels.push(FoundLevel { path, scale, translation });
    }
    found.name = text(image.get("name"));
    Some(found)
}

/// The image of an N5 group: of COSEM, of a setup of BigDataViewer, or of an N5 viewer.
pub(crate) fn read_n5(attributes: &Map<String, Value>) -> Option<FoundImage> {
    let lists = |key: &str| attributes.get(key).and_then(factor_lists);
    let found = of_transforms(attributes).or_else(|| {
        lists("scales").map(|lists| of_factors(Dialect::N5Viewer, attributes, lists, ""))
    });
    let mut found = found.or_else(|| {
        let lists = lists("downsamplingFactors")?;
        // Setups say the type of their elements, groups of N5 viewers do not.
        Some(if attributes.contains_key("dataType") {
            of_factors(Dialect::BdvN5, attributes, lists, "timepoint0/")
        } else {
            of_factors(Dialect::N5Viewer, attributes, lists, "")
        })
    })?;
    found.name = found.name.or_else(|| text(attributes.get("name")));
    found.rest = without(attributes, &KEYS);
    found.is_label = found.rest.contains_key("image-label");
    Some(found.with_base())
}

/// Scale and translation of an array of its own attributes, which may be a coarser level.
pub(crate) fn n5_array_place(attributes: &Map<String, Value>, rank: usize) -> Sizes {
    let mut said = n5_sizes(attributes);
    let fits = |list: &Vec<f64>| list.len() == rank;
    said.scale = said.scale.filter(fits);
    said.translation = said.translation.filter(fits);
    let factors = attributes.get("downsamplingFactors").and_then(sizes);
    let factors = factors.map(|factors| reversed(&factors)).filter(|list| list.len() == rank);
    // The size of a pixel is that of level 0, everything else is the array's own.
    let is_own = attributes.get("transform").and_then(cosem_transform).is_some()
        || attributes.get("pixelResolution").is_none();
    if let (Some(base), Some(factors), false) = (&said.scale, factors, is_own) {
        let origin = said.translation.clone().unwrap_or_else(|| vec![0.0; rank]);
        let (scale, translation) = level_transform(base, &origin, &factors, true);
        said.scale = Some(scale);
        said.translation = Some(translation);
    }
    said
}

/// The image of N5 arrays that describe themselves: levels in their order, each with its path and
/// attributes. `None` if no level beside the first says factors or a `transform`.
///
/// ```
/// use rechunk_image::read_n5_levels;
/// let of = |attributes: serde_json::Value| attributes.as_object().unwrap().clone();
/// let levels = [
///     ("s0".to_owned(), of(serde_json::json!({"pixelResolution": [4, 4, 40]}))),
///     ("s1".to_owned(), of(serde_json::json!({"downsamplingFactors": [2, 2, 1]}))),
/// ];
/// let image = read_n5_levels(&levels).unwrap();
/// assert_eq!(image.levels[1].scale, Some(vec![40.0, 8.0, 8.0]));
/// ```
pub fn read_n5_levels(levels: &[(String, Map<String, Value>)]) -> Option<FoundImage> {
    let factors = |attributes: &Map<String, Value>| {
        attributes.get("downsamplingFactors").and_then(numbers).map(|list| reversed(&list))
    };
    let own =
        |attributes: &Map<String, Value>| attributes.get("transform").and_then(cosem_transform);
    let rank_of = |attributes: &Map<String, Value>| {
        let scale = own(attributes).and_then(|sizes| sizes.scale);
        scale.or_else(|| factors(attributes)).map(|list| list.len())
    };
    let rank = levels.iter().skip(1).find_map(|(_, attributes)| rank_of(attributes))?;
    let base = n5_sizes(&levels.first()?.1);
    let mut found = FoundImage::empty(Dialect::N5Viewer);
    found.axes = n5_axes(&base, rank);
    for (at, (path, attributes)) in levels.iter().take(LEVELS_MAX).enumerate() {
        let path = path.clone();
        let fits = |list: &Vec<f64>| list.len() == rank;
        let sizes = own(attributes).filter(|sizes| sizes.scale.as_ref().is_some_and(fits));
        let factors = factors(attributes).or_else(|| (at == 0).then(|| vec![1.0; rank]));
        let level = if let Some(Sizes { scale, translation, .. }) = sizes {
            FoundLevel { path, scale, translation }
        } else if let Some(factors) = factors.filter(fits) {
            block_level(path, &factors, &base)
        } else {
            tell(&mut found.problems, format!("level {path:?} has no factors of {rank} axes"));
            FoundLevel { path, scale: None, translation: None }
        };
        found.levels.push(level);
    }
    Some(found.with_base())
}
