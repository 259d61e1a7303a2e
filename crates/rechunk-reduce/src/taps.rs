//! Weights of the elements that a Gaussian looks at.

use rechunk_grid::format_shape;

use crate::error::ReduceError;
use crate::method::{Method, sigma};
use crate::window::GaussianAxis;

/// Weights of a cell along an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Taps<'a> {
    /// Element of the first.
    pub(crate) start: usize,
    pub(crate) weights: &'a [f64],
}

/// An axis of a window that is checked.
#[derive(Debug)]
pub(crate) struct Axis {
    pub(crate) extent: usize,
    pub(crate) start: usize,
    pub(crate) cells: usize,
    pub(crate) factor: usize,
    halo: usize,
    /// Weights of the elements from the halo before a cell to that after it, not normalised.
    weights: Vec<f64>,
    /// As `weights`, of a sum of 1.
    normalised: Vec<f64>,
}

impl Axis {
    pub(crate) fn new(at: usize, axis: GaussianAxis) -> Result<Self, ReduceError> {
        let GaussianAxis { extent, start, cells, factor } = axis;
        if factor == 0 {
            return Err(ReduceError::Factor { axis: at });
        }
        let last = cells.saturating_sub(1).checked_mul(factor).and_then(|at| at.checked_add(start));
        if cells > 0 && last.is_none_or(|last| last >= extent) {
            return Err(ReduceError::Window { axis: at, start, cells, extent });
        }
        let too_large = |_| ReduceError::TooLarge { shape: format_shape(&[extent]) };
        let size = |value: u64| usize::try_from(value).map_err(too_large);
        let halo = Method::Gaussian.halo(factor);
        // Elements beyond the extent have no weight: a factor may be larger than any memory.
        let (before, after) = (halo.min(extent), (factor.saturating_add(halo)).min(extent));
        let weight = |offset: f64| {
            let distance = (offset - (factor as f64 - 1.0) / 2.0) / sigma(factor);
            (-0.5 * distance * distance).exp()
        };
        let weights: Vec<_> = if factor == 1 {
            vec![1.0]
        } else {
            let offsets = (1..=before).rev().map(|before| -(before as f64));
            offsets.chain((0..after).map(|after| after as f64)).map(weight).collect()
        };
        let mut normalised = weights.clone();
        normalise(&mut normalised);
        Ok(Self {
            extent: size(extent)?,
            start: size(start)?,
            cells: size(cells)?,
            factor: usize::try_from(factor).unwrap_or(usize::MAX),
            halo: size(before)?,
            weights,
            normalised,
        })
    }

    /// Whether it has the elements of the box as they are.
    pub(crate) fn is_as_is(&self) -> bool {
        self.factor == 1 && self.start == 0 && self.cells == self.extent
    }

    /// Weights of the cells of [`Axis::inner_cells`].
    pub(crate) fn normalised(&self) -> &[f64] {
        &self.normalised
    }

    /// Cells that no border of the box is near: they have all weights.
    pub(crate) fn inner_cells(&self) -> std::ops::Range<usize> {
        let before = self.halo.saturating_sub(self.start).div_ceil(self.factor);
        let used = (self.start + self.weights.len()).saturating_sub(self.halo);
        let end = match self.extent.checked_sub(used) {
            Some(rest) => (rest / self.factor + 1).min(self.cells),
            None => 0,
        };
        before.min(end)..end
    }

    /// Element of the first weight of a cell of [`Axis::inner_cells`].
    pub(crate) fn first_tap(&self, cell: usize) -> usize {
        (self.start + cell * self.factor).saturating_sub(self.halo)
    }

    /// Weights of a cell; `scratch` holds them at the border of the array.
    pub(crate) fn taps<'a>(&'a self, cell: usize, scratch: &'a mut Vec<f64>) -> Taps<'a> {
        let first = self.start + cell * self.factor;
        let cut_before = self.halo.saturating_sub(first);
        let start = first.saturating_sub(self.halo);
        let wanted = self.weights.len() - cut_before;
        let length = wanted.min(self.extent - start);
        if length == self.weights.len() {
            return Taps { start, weights: &self.normalised };
        }
        scratch.clear();
        scratch.extend_from_slice(&self.weights[cut_before..cut_before + length]);
        normalise(scratch);
        Taps { start, weights: scratch }
    }
}

fn normalise(weights: &mut [f64]) {
    let sum: f64 = weights.iter().sum();
    for weight in weights {
        *weight /= sum;
    }
}
