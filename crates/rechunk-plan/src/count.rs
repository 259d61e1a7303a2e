//! Closed forms over regular grids on one axis, and products over axes.
//!
//! `R` is the extent of an axis, `a` and `b` are chunk extents of two grids over it.

use std::ops::Range;

/// Greatest common divisor; `gcd(0, b) = b`.
pub fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Least common multiple, capped at `cap` (the extent of the axis: the array's end is an end of
/// every grid).
pub fn lcm_capped(a: u64, b: u64, cap: u64) -> u64 {
    let lcm = u128::from(a / gcd(a, b).max(1)) * u128::from(b);
    u64::try_from(lcm.min(u128::from(cap))).unwrap_or(cap)
}

/// Counts the pairs (chunk of grid `a`, chunk of grid `b`) that share an element of an axis. So
/// many pieces has the common refinement.
pub fn pairs_along(extent: u64, a: u64, b: u64) -> u64 {
    pairs_between(extent, (a, 0..extent.div_ceil(a)), b)
}

/// [`pairs_along`] of some chunks of grid `a`, by their position.
pub(crate) fn pairs_between(extent: u64, (a, chunks): (u64, Range<u64>), b: u64) -> u64 {
    if chunks.is_empty() {
        return 0;
    }
    let (start, end) = (chunks.start * a, chunks.end.saturating_mul(a).min(extent));
    let cells = (end - 1) / b - start / b + 1;
    // A chunk of `b` is met once more for each inner cut of `a` that it does not make too.
    let both = b / gcd(a, b); // every so many cuts
    let shared = (chunks.end - 1) / both - chunks.start / both;
    cells + (chunks.end - chunks.start - 1) - shared
}

/// Number of pairs (box of grid `a`, box of grid `b`) of an array of `shape` that share an
/// element.
pub fn pairs(shape: &[u64], a: &[u64], b: &[u64]) -> u64 {
    product((0..shape.len()).map(|axis| pairs_along(shape[axis], a[axis], b[axis])))
}

/// Number of chunks of a grid.
pub fn cells(shape: &[u64], chunk: &[u64]) -> u64 {
    product(shape.iter().zip(chunk).map(|(&extent, &chunk)| extent.div_ceil(chunk)))
}

/// Largest number of cells of a grid of `cell` that an interval of length `window` can touch. It
/// starts at a multiple of `grain` somewhere in the axis.
pub fn cells_touched_max(window: u64, grain: u64, cell: u64) -> u64 {
    let g = gcd(grain, cell).max(1);
    (window + (cell - g)).div_ceil(cell)
}

/// Product that saturates: counts beyond 64 bits are all "too many".
pub fn product(factors: impl IntoIterator<Item = u64>) -> u64 {
    factors.into_iter().fold(1, u64::saturating_mul)
}

/// Number of tiles that cover an array, in whole ones: those at the ends of axes are parts of one.
pub(crate) fn whole_tasks(shape: &[u64], tile: &[u64]) -> f64 {
    tile.iter().zip(shape).fold(1.0, |count, (&tile, &extent)| {
        count * (extent.max(1) as f64 / tile.min(extent).max(1) as f64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn pairs_along_counts_pairs(extent in 0_u64..60, a in 1_u64..70, b in 1_u64..70) {
            let seen: BTreeSet<_> = (0..extent).map(|i| (i / a, i / b)).collect();
            prop_assert_eq!(pairs_along(extent, a, b), seen.len() as u64);
        }

        #[test]
        fn pairs_between_counts_those_of_some_chunks(
            extent in 1_u64..60, a in 1_u64..70, b in 1_u64..70, part in (0_u64..70, 0_u64..70),
        ) {
            let chunks = part.0..part.1.min(extent.div_ceil(a));
            let seen: BTreeSet<_> =
                (0..extent).map(|i| (i / a, i / b)).filter(|(i, _)| chunks.contains(i)).collect();
            prop_assert_eq!(pairs_between(extent, (a, chunks), b), seen.len() as u64);
        }

        #[test]
        fn no_window_touches_more_cells(
            window in 1_u64..30, grain in 1_u64..12, cell in 1_u64..12, start in 0_u64..40,
        ) {
            let low = start * grain;
            let touched = (low + window - 1) / cell - low / cell + 1;
            prop_assert!(touched <= cells_touched_max(window, grain, cell));
        }
    }
}
