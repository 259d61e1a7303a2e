//! Windows: from a tile of a stage's domain to the region of an array that it reads or writes.

use rechunk_grid::Region;
use serde::{Deserialize, Serialize};

/// Array elements for each domain element, along one axis: `elements` for every `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct Scale {
    /// Elements of the array.
    pub elements: u64,
    /// Elements of the domain.
    pub per: u64,
}

/// Elements that a window finds beyond the border of its array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Boundary {
    /// There are none: the window ends where the array does.
    #[default]
    Clip,
    /// They mirror those inside.
    Reflect,
    /// Each is the fill value.
    Constant,
    /// Each is the nearest inside.
    Edge,
}

/// Region of an array that belongs to a tile: the tile scaled, and padded on both sides. The
/// default is the tile itself.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Window {
    /// Scale along each axis; none: one to one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scale: Vec<Scale>,
    /// Array elements before the scaled tile, along each axis; none: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pad_before: Vec<u64>,
    /// Array elements behind the scaled tile, along each axis; none: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pad_after: Vec<u64>,
    /// Rule for what lies beyond the border of the array.
    #[serde(default, skip_serializing_if = "Boundary::is_clip")]
    pub boundary: Boundary,
}

/// A window within its array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windowed {
    /// Part of the window that lies in the array.
    pub region: Region,
    /// Elements of the window before the array, along each axis.
    pub clipped_before: Vec<u64>,
    /// Elements of the window behind the array, along each axis.
    pub clipped_after: Vec<u64>,
}

impl From<(u64, u64)> for Scale {
    fn from((elements, per): (u64, u64)) -> Self {
        Self { elements, per }
    }
}

impl From<Scale> for (u64, u64) {
    fn from(scale: Scale) -> Self {
        (scale.elements, scale.per)
    }
}

impl Boundary {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde asks")]
    fn is_clip(&self) -> bool {
        *self == Self::Clip
    }
}

impl Scale {
    /// One array element for each of the domain.
    const IDENTITY: Self = Self { elements: 1, per: 1 };

    /// Array elements that the domain elements from `start` to before `end` meet.
    fn of(self, start: u64, end: u64) -> (u64, u64) {
        let (elements, per) = (u128::from(self.elements), u128::from(self.per.max(1)));
        let from = u128::from(start) * elements / per;
        let to = (u128::from(end) * elements).div_ceil(per);
        let narrow = |at: u128| u64::try_from(at).unwrap_or(u64::MAX);
        (narrow(from), narrow(if end > start { to } else { from }))
    }
}

impl Window {
    /// A window one to one, padded along each axis.
    pub fn padded(before: &[u64], after: &[u64], boundary: Boundary) -> Self {
        let (pad_before, pad_after) = (before.to_vec(), after.to_vec());
        Self { scale: Vec::new(), pad_before, pad_after, boundary }
    }

    /// The region of every tile is the tile itself.
    pub fn is_identity(&self) -> bool {
        self.has_scale_one() && !self.is_padded()
    }

    /// Array and domain have as many elements along each axis.
    fn has_scale_one(&self) -> bool {
        self.scale.iter().all(|scale| scale.elements == scale.per)
    }

    /// The region of a tile has elements beside the tile's own.
    fn is_padded(&self) -> bool {
        self.pad_before.iter().chain(&self.pad_after).any(|&pad| pad > 0)
    }

    /// Scale along `axis`.
    fn scale(&self, axis: usize) -> Scale {
        self.scale.get(axis).copied().unwrap_or(Scale::IDENTITY)
    }

    /// Array elements before and behind the scaled tile, along `axis`.
    fn pads(&self, axis: usize) -> (u64, u64) {
        let of = |pads: &[u64]| pads.get(axis).copied().unwrap_or(0);
        (of(&self.pad_before), of(&self.pad_after))
    }

    /// Why it is no window of arrays of `rank` axes, if it is none.
    pub(crate) fn problem(&self, rank: usize) -> Option<&'static str> {
        let fits = |length: usize| length == 0 || length == rank;
        let has_rank =
            [self.scale.len(), self.pad_before.len(), self.pad_after.len()].map(fits) == [true; 3];
        if !has_rank {
            return Some("a window has other axes than its array");
        }
        let is_scale = |scale: &Scale| scale.elements > 0 && scale.per > 0;
        (!self.scale.iter().all(is_scale)).then_some("a window has a scale of 0")
    }

    /// The region of an array of `array_shape` that `tile` needs.
    pub fn region(&self, tile: &Region, array_shape: &[u64]) -> Windowed {
        let rank = tile.rank();
        let (mut start, mut shape) = (Vec::with_capacity(rank), Vec::with_capacity(rank));
        let (mut clipped_before, mut clipped_after) = (Vec::new(), Vec::new());
        for (axis, &extent) in array_shape.iter().enumerate().take(rank) {
            let (low, high) = self.scale(axis).of(tile.start[axis], tile.end(axis));
            let (before, after) = self.pads(axis);
            let from = low.saturating_sub(before).min(extent);
            let end = high.saturating_add(after);
            let to = end.min(extent).max(from);
            clipped_before.push(before.saturating_sub(low));
            clipped_after.push(end.saturating_sub(low.saturating_sub(before).max(extent)));
            start.push(from);
            shape.push(to - from);
        }
        Windowed { region: Region::new(start, shape), clipped_before, clipped_after }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn window(scale: (u64, u64), pads: (u64, u64)) -> Window {
        let (pad_before, pad_after) = (vec![pads.0], vec![pads.1]);
        Window { scale: vec![scale.into()], pad_before, pad_after, boundary: Boundary::Clip }
    }

    fn line(start: u64, length: u64) -> Region {
        Region::new(vec![start], vec![length])
    }

    proptest! {
        /// Element by element: those that share an end with the tile, and as many beside them.
        #[test]
        fn a_window_has_the_elements_of_its_tile_and_its_pads(
            (start, length) in (0_u64..30, 1_u64..12), scale in (1_u64..5, 1_u64..5),
            pads in (0_u64..6, 0_u64..6), extent in 1_u64..90,
        ) {
            let found = window(scale, pads).region(&line(start, length), &[extent]);
            // The domain element `d` stands for the array's [d * elements / per, (d+1) * …).
            let meets = |at: i64| {
                let at = u64::try_from(at).ok();
                at.is_some_and(|at| {
                    (at + 1) * scale.1 > start * scale.0 && at * scale.1 < (start + length) * scale.0
                })
            };
            let own: Vec<i64> = (0..1000).filter(|&at| meets(at)).collect();
            let low = own[0] - i64::try_from(pads.0).unwrap();
            let high = own[own.len() - 1] + i64::try_from(pads.1).unwrap();
            let all: Vec<i64> = (low..=high).collect();
            let before = all.iter().filter(|&&at| at < 0).count() as u64;
            let last = i64::try_from(extent).unwrap();
            let behind = all.iter().filter(|&&at| at >= last).count() as u64;
            let inside: BTreeSet<u64> = all
                .iter()
                .filter(|&&at| at >= 0 && at < last)
                .map(|&at| u64::try_from(at).unwrap())
                .collect();
            let region: BTreeSet<u64> = (found.region.start[0]..found.region.end(0)).collect();
            prop_assert_eq!(region, inside);
            prop_assert_eq!((found.clipped_before[0], found.clipped_after[0]), (before, behind));
        }

        #[test]
        fn the_identity_leaves_tiles_as_they_are(start in 0_u64..50, length in 0_u64..50) {
            let tile = line(start, length);
            let found = Window::default().region(&tile, &[100]);
            prop_assert_eq!(&found.region, &tile);
            prop_assert_eq!((found.clipped_before[0], found.clipped_after[0]), (0, 0));
        }

        /// Tiles beside each other have regions beside each other, without pads and where one
        /// element of the domain is whole elements of the array.
        #[test]
        fn regions_of_tiles_share_no_element(
            cut in 1_u64..20, length in 2_u64..20, elements in 1_u64..5,
        ) {
            let cut = cut.min(length - 1);
            let scaled = window((elements, 1), (0, 0));
            let all = scaled.region(&line(0, length), &[1000]).region;
            let first = scaled.region(&line(0, cut), &[1000]).region;
            let second = scaled.region(&line(cut, length - cut), &[1000]).region;
            prop_assert_eq!(first.end(0), second.start[0]);
            prop_assert_eq!(first.shape[0] + second.shape[0], all.shape[0]);
        }

        #[test]
        fn the_text_of_a_window_is_read_again(
            scale in (1_u64..5, 1_u64..5), pads in (0_u64..6, 0_u64..6),
        ) {
            let written = window(scale, pads);
            let text = serde_json::to_string(&written).unwrap();
            prop_assert_eq!(serde_json::from_str::<Window>(&text).unwrap(), written);
        }
    }

    #[test]
    fn large_numbers_do_not_overflow() {
        let tile = line(u64::MAX - 5, 5);
        let found = window((u64::MAX, 1), (u64::MAX, u64::MAX)).region(&tile, &[7]);
        assert!(found.region.end(0) <= 7);
        assert_eq!(serde_json::to_string(&Window::default()).unwrap(), "{}");
    }

    #[test]
    fn windows_of_other_axes_are_none() {
        assert_eq!(window((1, 1), (0, 0)).problem(1), None);
        assert!(window((1, 1), (0, 0)).problem(2).is_some());
        assert!(window((0, 1), (0, 0)).problem(1).is_some());
    }
}
