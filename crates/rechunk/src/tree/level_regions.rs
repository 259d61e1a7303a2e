//! Regions of levels of images: a selection means elements of level 0, and coarser levels show the
//! same part.

use std::collections::BTreeMap;

use rechunk_grid::ArraySpec;
use rechunk_image::{FoundImage, read_image};
use rechunk_words::{RegionSpec, Slice};
use rechunk_zarr::GroupMetadata;

use crate::member_location::member_path;

/// Elements of level 0 for one of a level, by the names of axes.
type Factors = BTreeMap<String, f64>;

/// Coarser levels of the images of a group, by their paths.
#[derive(Debug, Default)]
pub(crate) struct LevelRegions {
    factors: BTreeMap<String, Factors>,
    /// Names of the axes of the group's own image.
    axes: Vec<String>,
}

impl LevelRegions {
    /// Those that a group and groups below it describe.
    pub(crate) fn of(root: &GroupMetadata, groups: &BTreeMap<String, GroupMetadata>) -> Self {
        let groups = groups.iter().map(|(path, group)| (&**path, group));
        let mut all = Self::default();
        for (path, group) in std::iter::once(("", root)).chain(groups) {
            let Some(image) = read_image(&group.attributes) else { continue };
            let names = image.axes.iter().map(|axis| axis.name.clone());
            if path.is_empty() {
                all.axes = names.clone().collect();
            }
            let names: Vec<String> = names.collect();
            for level in 1..image.levels.len() {
                let factors = factors(&image, level).unwrap_or_default();
                let of_axes = names.iter().cloned().zip(factors).collect();
                all.factors.insert(member_path(path, &image.levels[level].path), of_axes);
            }
        }
        all
    }

    /// The selection by names, where it has an entry for each axis of the group's own image.
    pub(crate) fn named(&self, select: &RegionSpec) -> Option<RegionSpec> {
        let RegionSpec::Positional(slices) = select else { return None };
        let is_of_image = slices.len() == self.axes.len() && !slices.is_empty();
        let named = || self.axes.iter().cloned().zip(slices.iter().copied()).collect();
        is_of_image.then(|| RegionSpec::Named(named()))
    }

    /// The region of the array at `path` that shows what `select` means of level 0: all elements
    /// that have a part of it.
    pub(crate) fn of_level(&self, path: &str, spec: &ArraySpec, select: RegionSpec) -> RegionSpec {
        let (Some(factors), RegionSpec::Named(named)) = (self.factors.get(path), &select) else {
            return select;
        };
        let scaled = |(name, slice): &(String, Slice)| {
            let extent = spec.axis_named(name).map(|axis| spec.shape[axis]);
            let slice = match (factors.get(name), extent) {
                (Some(factor), Some(extent)) => coarser(*slice, *factor, extent),
                _ => *slice,
            };
            (name.clone(), slice)
        };
        RegionSpec::Named(named.iter().map(scaled).collect())
    }
}

/// Factors of a level, by axis. `None` where the image does not say them.
fn factors(image: &FoundImage, level: usize) -> Option<Vec<f64>> {
    let (base, scale) = (image.base_scale.as_ref()?, image.levels[level].scale.as_ref()?);
    let factors: Vec<f64> = scale.iter().zip(base).map(|(of, by)| of / by).collect();
    let is_coarser = |factor: &f64| factor.is_finite() && *factor >= 1.0;
    (factors.len() == image.axes.len() && factors.iter().all(is_coarser)).then_some(factors)
}

/// A slice of level 0 as one of an axis of `extent` elements, of which each is `factor` of those.
#[expect(clippy::cast_possible_truncation, reason = "numbers of elements, and clipped")]
fn coarser(slice: Slice, factor: f64, extent: u64) -> Slice {
    // Scales are decimal: 0.3 / 0.1 is not quite 3.
    let factor = if (factor - factor.round()).abs() < 1e-6 { factor.round() } else { factor };
    if factor <= 1.0 {
        return slice;
    }
    let extent = i64::try_from(extent).unwrap_or(i64::MAX);
    let below = |at: i64| (at as f64 / factor).floor() as i64;
    let above = |at: i64| (at as f64 / factor).ceil() as i64;
    // What level 0 has behind whole cells is in none: the last one is next to it.
    let last = (extent - 1).max(0);
    let first = |at: i64| if at < 0 { below(at).max(-extent) } else { below(at).min(last) };
    let behind = |at: i64| if at < 0 { above(at) } else { above(at).min(extent) };
    match slice {
        Slice::Element(at) => {
            let start = first(at);
            let stop = start + 1;
            Slice::Range { start: Some(start), stop: Some(stop).filter(|stop| *stop != 0) }
        }
        Slice::Range { start, stop } => {
            let stop = stop.map(behind);
            Slice::Range { start: start.map(first), stop: stop.filter(|stop| *stop != 0) }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_levels_hold_those_of_level_0() {
        let range = |start, stop| Slice::Range { start, stop };
        for (slice, factor, extent, wanted) in [
            (range(Some(10), Some(20)), 2.0, 50, range(Some(5), Some(10))),
            (range(Some(11), Some(21)), 2.0, 50, range(Some(5), Some(11))),
            (range(None, Some(20)), 3.0, 33, range(None, Some(7))),
            (range(Some(-20), None), 3.0, 33, range(Some(-7), None)),
            (range(Some(-20), Some(-1)), 3.0, 33, range(Some(-7), None)),
            (range(Some(99), Some(100)), 3.0, 33, range(Some(32), Some(33))),
            (Slice::Element(7), 4.0, 25, range(Some(1), Some(2))),
            (Slice::Element(-1), 4.0, 25, range(Some(-1), None)),
            (range(Some(10), Some(20)), 1.0, 100, range(Some(10), Some(20))),
            (range(Some(6), Some(9)), 0.3 / 0.1, 33, range(Some(2), Some(3))),
        ] {
            assert_eq!(coarser(slice, factor, extent), wanted, "{slice:?} {factor}");
        }
    }
}
