//! Attributes that repeat what arrays say: sizes of dimensions, the affine transform of a raster,
//! its bounding box, the places of levels of an image. When an array is cut or grows, each kind is
//! carried, changed, or warned of.
//!
//! A kind is a module with one function and one row in [`REPEATS`].

mod affine;
mod geo_transform;
mod grown;
mod images;
mod layout;
mod nczarr;
mod rasters;
mod spatial;

use std::collections::BTreeSet;

use rechunk_grid::ArraySpec;
use serde_json::{Map, Value};

pub(crate) use grown::GrownGroups;

use crate::formats::Metadata;
use crate::member_location::paths_above;
use crate::open::OpenArray;

/// Change of one axis of an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AxisChange {
    /// The name of its dimension.
    name: Option<String>,
    /// The path of its dimension in the store, where NCZarr says it.
    reference: Option<String>,
    /// Elements before.
    before: u64,
    /// The first element that is kept.
    start: u64,
    /// Elements afterwards.
    after: u64,
}

impl AxisChange {
    fn is_changed(&self) -> bool {
        self.start != 0 || self.before != self.after
    }
}

/// Change of an array.
#[derive(Debug)]
struct ArrayChange {
    /// Its path in the group.
    path: String,
    axes: Vec<AxisChange>,
}

/// Changes of the arrays of a group.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    arrays: Vec<ArrayChange>,
    /// An array says its dimensions in its `.zarray`, as NCZarr of netCDF-C up to 4.9 does.
    is_of_old_nczarr: bool,
}

/// Change of a dimension.
#[derive(Debug, PartialEq, Eq)]
enum Dimension<'a> {
    /// No array has it.
    Unknown,
    /// All arrays with it agree.
    One(&'a AxisChange),
    /// They do not.
    Several,
}

/// A kind of attribute that repeats what arrays say.
struct Repeat {
    /// Changes the attributes of the node at a path; what it cannot change it says.
    follow: fn(&Changes, &str, &mut Map<String, Value>) -> Vec<String>,
    /// Whether a group has such attributes.
    is_in: fn(&Map<String, Value>) -> bool,
}

/// All kinds that are known.
const REPEATS: [Repeat; 5] = [
    Repeat { follow: nczarr::follow, is_in: nczarr::is_in },
    Repeat { follow: spatial::follow, is_in: spatial::is_in },
    Repeat { follow: geo_transform::follow, is_in: geo_transform::is_in },
    Repeat { follow: layout::follow, is_in: layout::is_in },
    Repeat { follow: images::follow, is_in: images::is_in },
];

/// Changes the attributes of the array or group at `path` to what is so afterwards. Says what is no
/// longer true and could not be changed.
pub(crate) fn follow(
    changes: &Changes,
    path: &str,
    attributes: &mut Map<String, Value>,
) -> Vec<String> {
    REPEATS.iter().flat_map(|repeat| (repeat.follow)(changes, path, attributes)).collect()
}

/// Whether some of these attributes repeat what arrays say.
pub(crate) fn is_in(attributes: &Map<String, Value>) -> bool {
    REPEATS.iter().any(|repeat| (repeat.is_in)(attributes))
}

/// [`follow`] of the attributes of an array of which a region is copied to `target`.
pub(crate) fn follow_selected(source: &OpenArray, target: &mut Metadata) -> Vec<String> {
    let mut changes = Changes::default();
    changes.add_selected("", source);
    if changes.is_any() { follow(&changes, "", target.attributes_mut()) } else { Vec::new() }
}

impl Changes {
    /// Adds an array of which a region is copied.
    pub(crate) fn add_selected(&mut self, path: &str, source: &OpenArray) {
        let references = nczarr::references(source.metadata.attributes());
        let mut whole = source.metadata.spec();
        let Some((shape, region)) = &source.region else {
            let kept = whole.shape.clone();
            return self.add(path, &whole, &references, |axis| (0, kept[axis]));
        };
        // What was selected from says its shape in the region only.
        whole.shape.clone_from(shape);
        self.add(path, &whole, &references, |axis| (region.start[axis], region.shape[axis]));
    }

    /// Adds an array that grows.
    pub(crate) fn add_grown(
        &mut self,
        path: &str,
        spec: &ArraySpec,
        attributes: &Map<String, Value>,
        (before, after): (&[u64], &[u64]),
    ) {
        let references = nczarr::references(attributes);
        let before = ArraySpec { shape: before.to_vec(), ..spec.clone() };
        self.add(path, &before, &references, |axis| (0, after[axis]));
    }

    fn add(
        &mut self,
        path: &str,
        before: &ArraySpec,
        references: &[String],
        kept: impl Fn(usize) -> (u64, u64),
    ) {
        let names = before.dimension_names.as_deref().unwrap_or_default();
        let axis = |axis: usize| {
            let (start, after) = kept(axis);
            AxisChange {
                name: names.get(axis).cloned().flatten(),
                reference: references.get(axis).cloned(),
                before: before.shape[axis],
                start,
                after,
            }
        };
        let axes = (0..before.shape.len()).map(axis).collect();
        self.arrays.push(ArrayChange { path: path.to_owned(), axes });
    }

    /// Whether anything changes.
    pub(crate) fn is_any(&self) -> bool {
        self.arrays.iter().flat_map(|array| &array.axes).any(AxisChange::is_changed)
    }

    /// Takes the document that says the shape of an array into account.
    pub(crate) fn add_shape_document(&mut self, document: &[u8]) {
        self.is_of_old_nczarr |= nczarr::is_in_document(document);
    }

    /// Whether the documents that make groups of directories may say dimensions.
    pub(crate) fn is_of_old_nczarr(&self) -> bool {
        self.is_of_old_nczarr
    }

    /// Whether an array is one of NCZarr.
    pub(crate) fn is_of_nczarr(&self) -> bool {
        let mut axes = self.arrays.iter().flat_map(|array| &array.axes);
        self.is_of_old_nczarr || axes.any(|axis| axis.reference.is_some())
    }

    /// The groups above arrays that change, the root (of an empty path) included.
    pub(crate) fn groups(&self) -> BTreeSet<String> {
        let changed =
            self.arrays.iter().filter(|array| array.axes.iter().any(AxisChange::is_changed));
        let above = changed.flat_map(|array| paths_above(&array.path)).map(str::to_owned);
        above.chain([String::new()]).collect()
    }

    /// Finds the dimension `name` as the node at `path` means it. It is its own, else that of the
    /// arrays directly in it, of those beside it, or of all below it.
    fn dimension(&self, path: &str, name: &str) -> Dimension<'_> {
        let parent = |of: &str| match of.rsplit_once('/') {
            Some((above, _)) => above.to_owned(),
            None => String::new(),
        };
        let beside = parent(path);
        let below = if path.is_empty() { String::new() } else { format!("{path}/") };
        let places: [&dyn Fn(&str) -> bool; 4] = [
            &|array| array == path,
            &|array| array != path && parent(array) == path,
            &|array| !path.is_empty() && parent(array) == beside,
            &|array| array.starts_with(&below),
        ];
        for place in places {
            let arrays = self.arrays.iter().filter(|array| place(&array.path));
            let mut axes = arrays
                .flat_map(|array| &array.axes)
                .filter(|axis| axis.name.as_deref() == Some(name));
            let Some(first) = axes.next() else { continue };
            let same = |axis: &AxisChange| {
                (axis.before, axis.start, axis.after) == (first.before, first.start, first.after)
            };
            return if axes.all(same) { Dimension::One(first) } else { Dimension::Several };
        }
        Dimension::Unknown
    }
}

/// The node at `path`, in a message.
fn in_words(path: &str) -> String {
    if path.is_empty() { "the attributes".to_owned() } else { format!("the attributes of {path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name of an axis, elements before, first kept, elements afterwards.
    type Axis<'a> = (&'a str, u64, u64, u64);

    /// Changes of arrays by path.
    pub(super) fn changes(arrays: &[(&str, &[Axis])]) -> Changes {
        let axis = |&(name, before, start, after): &(&str, u64, u64, u64)| AxisChange {
            name: Some(name.to_owned()),
            reference: None,
            before,
            start,
            after,
        };
        let array = |(path, axes): &(&str, &[_])| ArrayChange {
            path: (*path).to_owned(),
            axes: axes.iter().map(axis).collect(),
        };
        Changes { arrays: arrays.iter().map(array).collect(), is_of_old_nczarr: false }
    }

    #[test]
    fn dimensions_are_looked_for_from_near_to_far() {
        let changes = changes(&[
            ("r10/b", &[("y", 100, 10, 20), ("x", 100, 0, 100)]),
            ("r10/y", &[("y", 100, 10, 20)]),
            ("r10/ref", &[]),
            ("r20/b", &[("y", 50, 5, 10)]),
            ("t", &[("time", 4, 0, 4)]),
        ]);
        let start = |path, name| match changes.dimension(path, name) {
            Dimension::One(axis) => Some(axis.start),
            Dimension::Unknown | Dimension::Several => None,
        };
        assert_eq!(start("r10", "y"), Some(10));
        assert_eq!(start("r10/ref", "y"), Some(10));
        assert_eq!(start("r20", "y"), Some(5));
        assert_eq!(start("", "time"), Some(0));
        assert_eq!(changes.dimension("", "y"), Dimension::Several);
        assert_eq!(changes.dimension("", "z"), Dimension::Unknown);
        assert!(changes.is_any());
        let groups: Vec<String> = changes.groups().into_iter().collect();
        assert_eq!(groups, ["", "r10", "r20"]);
    }
}
