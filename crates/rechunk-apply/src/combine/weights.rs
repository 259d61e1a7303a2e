//! Weights of the contributions to a region.

use crate::form::Combine;
use crate::ramp::{AxisWeights, TileWeights};
use crate::voxel_box::{Span, VoxelBox};

use super::parts::{CombineError, size};
use super::rows::{Row, rows};

/// Weights of a window along each axis.
pub(super) fn along<L>(
    window: &VoxelBox,
    weights: &TileWeights,
    of: impl Fn(&AxisWeights, Span) -> Vec<L>,
) -> Vec<Vec<L>> {
    weights.axes().iter().zip(&window.axes).map(|(axis, &span)| of(axis, span)).collect()
}

/// Weights of the voxels of a row: the product of the outer ones, and those along the last axis.
pub(super) fn of_row<'a, L: Copy>(
    row: Row<'_>,
    along: &'a [Vec<L>],
    one: &'a [L; 1],
    times: impl Fn(L, L) -> L,
) -> (L, &'a [L]) {
    let Some((last, outer)) = along.split_last() else { return (one[0], one) };
    let axes = outer.iter().zip(row.outer);
    (axes.fold(one[0], |product, (weights, &at)| times(product, weights[at])), last)
}

/// Contributions so far: their windows and weights.
#[derive(Default)]
pub(super) struct Added(Vec<(VoxelBox, TileWeights)>);

impl Added {
    /// Notes a contribution.
    pub(super) fn push(&mut self, window: VoxelBox, weights: &TileWeights) {
        if !window.is_empty() {
            self.0.push((window, weights.clone()));
        }
    }

    /// Sum of the weights of each voxel of `region`; `plus` gives `sum + a * b`.
    pub(super) fn sums<L: Copy>(
        &self,
        region: &VoxelBox,
        (zero, one): (L, L),
        of: impl Fn(&AxisWeights, Span) -> Vec<L>,
        plus: impl Fn(L, L, L) -> L,
    ) -> Result<Vec<L>, CombineError> {
        let mut sums = vec![zero; size(region, 1)?];
        let one = [one];
        for (window, weights) in &self.0 {
            let along = along(window, weights, &of);
            rows(window, region, region, |row| {
                let (outer, last) = of_row(row, &along, &one, |a, b| plus(zero, a, b));
                let to = &mut sums[row.two..row.two + row.length];
                for (sum, &weight) in to.iter_mut().zip(last) {
                    *sum = plus(*sum, outer, weight);
                }
            });
        }
        Ok(sums)
    }

    /// Sum of all numerators, modulo 2^128: enough to tell a contribution that is missing.
    fn total(&self) -> u128 {
        let windows = self.0.iter().map(|(window, weights)| {
            let along = along(window, weights, AxisWeights::numerators);
            let axes = along
                .iter()
                .map(|axis| axis.iter().fold(0, |sum: u128, &one| sum.wrapping_add(one.into())));
            axes.fold(1, u128::wrapping_mul)
        });
        windows.fold(0, u128::wrapping_add)
    }

    /// Refuses weights that do not add up to 1 over the region.
    pub(super) fn check(&self, combine: &Combine, region: &VoxelBox) -> Result<(), CombineError> {
        let all = region.elements().wrapping_mul(combine.denominator);
        if self.total() == all {
            return Ok(());
        }
        Err(CombineError::Incomplete { shape: region.shape() })
    }
}
