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

impl Sizes {
    /// Gives axes the units that are said, if there is one for each.
    pub(crate) fn set_units(&self, axes: &mut [Axis]) {
        let units = self.units.as_ref().filter(|units| units.len() == axes.len());
        for (axis, unit) in axes.iter_mut().zip(units.into_iter().flatten()) {
            axis.unit = Some(unit.clone()).filter(|unit| !unit.is_empty());
        }
    }
}

/// The object `transform` of COSEM, in C order; `None` if it says no scale.
fn cosem_transform(value: &Value) -> Option<Sizes> {
    let scale = value.get("scale").and_then(numbers)?;
    let fits = |length: usize| length == scale.len();
    let list = |key: &str| value.get(key).and_then(texts).filter(|list| fits(list.len()));
    let translation = value.get("translate").and_then(numbers).filter(|list| fits(list.len()));
    Some(Sizes { translation, names: list("axes"), units: list("units"), scale: Some(scale) })
}

/// A list in C order; N5 says the fastest axis first.
fn turn<T>(mut list: Vec<T>, is_fortran_order: bool) -> Vec<T> {
    if is_fortran_order {
        list.reverse();
    }
    list
}

/// Sizes of elements in attributes of a group or array: `transform` before `pixelResolution`
/// before `resolution`. Lists but those of `transform` have the fastest axis first if
/// `is_fortran_order`, as in N5.
fn n5_sizes(attributes: &Map<String, Value>, is_fortran_order: bool) -> Sizes {
    if let Some(sizes) = attributes.get("transform").and_then(cosem_transform) {
        return sizes;
    }
    let list = |key: &str| Some(turn(numbers(attributes.get(key)?)?, is_fortran_order));
    let words = |key: &str| Some(turn(texts(attributes.get(key)?)?, is_fortran_order));
    let pixel = attributes.get("pixelResolution");
    let dimensions = pixel.and_then(|pixel| pixel.get("dimensions")).and_then(numbers);
    let scale = dimensions.map(|list| turn(list, is_fortran_order));
    let scale = scale.or_else(|| list("pixelResolution"));
    let scale = scale.or_else(|| list("resolution"));
    let one_unit = pixel.and_then(|pixel| text(pixel.get("unit")));
    let one_unit = one_unit.or_else(|| text(attributes.get("unit")));
    let one_unit = one_unit.or_else(|| text(attributes.get("units")));
    let rank = scale.as_ref().map(Vec::len);
    let units = words("units").or_else(|| Some(vec![one_unit?; rank?]));
    Sizes { scale, translation: list("offset"), names: words("axes"), units }
}

/// Axes of names and units where they are known, else the usual ones of the rank.
fn n5_axes(sizes: &Sizes, rank: usize) -> Vec<Axis> {
    let names = sizes.names.as_ref().filter(|names| names.len() == rank);
    let mut axes = match names {
        Some(names) => names.iter().map(|name| Axis::of_name(name)).collect(),
        None => Axis::of_rank(rank),
    };
    sizes.set_units(&mut axes);
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
    let sizes = n5_sizes(attributes, true);
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

/// Scale and translation of an array of its own attributes, which may be a coarser level. Lists
/// are as for [`n5_sizes`].
pub(crate) fn n5_array_place(
    attributes: &Map<String, Value>,
    rank: usize,
    is_fortran_order: bool,
) -> Sizes {
    let mut said = n5_sizes(attributes, is_fortran_order);
    let fits = |list: &Vec<f64>| list.len() == rank;
    said.scale = said.scale.filter(fits);
    said.translation = said.translation.filter(fits);
    let factors = attributes.get("downsamplingFactors").and_then(sizes);
    let factors = factors.filter(|list| list.len() == rank);
    let factors = factors.map(|list| turn(list, is_fortran_order));
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
