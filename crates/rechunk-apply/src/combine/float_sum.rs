//! Weighted sums of floats, in 64 bits and in ascending order of tasks.

use std::cmp::Ordering;

use half::f16;
use rechunk_grid::DataType;

use crate::form::{Combine, Encoding, Rule};
use crate::ramp::{AxisWeights, TileWeights};
use crate::voxel_box::VoxelBox;

use super::element::{Element, Widen};
use super::parts::{BlockView, CombineError, Coverage, size};
use super::rounded::floats;
use super::rows::rows;
use super::weights::{Added, along, of_row};

/// Contributions that a voxel has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    Equal,
    Different,
}

pub(super) struct FloatSum {
    sums: Vec<f64>,
    /// First contribution of each voxel, and whether others differ from it; where a sum of equal
    /// contributions could be off in its last bit.
    first: Option<Vec<(f64, Seen)>>,
    added: Added,
}

fn add<T: Widen<f64>>(
    state: &mut FloatSum,
    region: &VoxelBox,
    block: BlockView<'_>,
    window: &VoxelBox,
    along: &[Vec<f64>],
) {
    let item = size_of::<T>();
    rows(window, block.bounds, region, |row| {
        let (outer, last) = of_row(row, along, &[1.0], |a, b| a * b);
        let from = &block.bytes[row.one * item..(row.one + row.length) * item];
        let to = row.two..row.two + row.length;
        let sums = state.sums[to.clone()].iter_mut();
        for ((sum, value), &weight) in sums.zip(T::read(from)).zip(last) {
            *sum += value.widen() * (outer * weight);
        }
        let Some(first) = &mut state.first else { return };
        for ((first, seen), value) in first[to].iter_mut().zip(T::read(from)) {
            let value = value.widen();
            match *seen {
                Seen::Nothing => (*first, *seen) = (value, Seen::Equal),
                Seen::Equal if (*first).partial_cmp(&value) == Some(Ordering::Equal) => {}
                Seen::Equal | Seen::Different => *seen = Seen::Different,
            }
        }
    });
}

impl FloatSum {
    pub(super) fn new(combine: &Combine, region: &VoxelBox) -> Result<Self, CombineError> {
        size(region, combine.accumulator_bytes())?;
        let elements = size(region, 1)?;
        let first = combine.keeps_first().then(|| vec![(0.0, Seen::Nothing); elements]);
        // Negative, so that a sum of negative zeros is one.
        Ok(Self { sums: vec![-0.0; elements], first, added: Added::default() })
    }

    pub(super) fn add(
        &mut self,
        combine: &Combine,
        region: &VoxelBox,
        block: BlockView<'_>,
        window: VoxelBox,
        weights: &TileWeights,
    ) -> Result<(), CombineError> {
        let along = along(&window, weights, AxisWeights::weights);
        let add = match (combine.input.encoding, combine.input.data_type) {
            (Encoding::Float64, _) | (Encoding::Plain, DataType::Float64) => add::<f64>,
            (Encoding::Plain, DataType::Float16) => add::<f16>,
            (Encoding::Plain, DataType::Float32) => add::<f32>,
            (_, data_type) => return Err(CombineError::Type { data_type, rule: Rule::Sum }),
        };
        add(self, region, block, &window, &along);
        self.added.push(window, weights);
        Ok(())
    }

    pub(super) fn finish(
        mut self,
        combine: &Combine,
        region: &VoxelBox,
        has_skipped: bool,
        out: &mut [u8],
    ) -> Result<Coverage, CombineError> {
        if !has_skipped {
            if combine.denominator < u128::MAX {
                self.added.check(combine, region)?;
            }
            self.keep_equal();
            write(combine, self.sums.into_iter(), out)?;
            return Ok(Coverage::Whole);
        }
        let plus = |sum: f64, a: f64, b: f64| sum + a * b;
        let left = self.added.sums(region, (0.0, 1.0), AxisWeights::weights, plus)?;
        for (sum, &left) in self.sums.iter_mut().zip(&left).filter(|(_, left)| **left > 0.0) {
            *sum /= left;
        }
        self.keep_equal();
        let item = usize::try_from(combine.output.item_bytes()).unwrap_or(usize::MAX).max(1);
        let mut covered = 0;
        let voxels = self.sums.into_iter().zip(left).zip(out.chunks_exact_mut(item));
        for ((sum, _), out) in voxels.filter(|((_, left), _)| *left > 0.0) {
            covered += 1;
            write(combine, std::iter::once(sum), out)?;
        }
        Ok(Coverage::of(covered, region.elements()))
    }

    /// Puts the value of equal contributions in place of their sum.
    fn keep_equal(&mut self) {
        let Some(first) = &self.first else { return };
        for (sum, &(first, seen)) in self.sums.iter_mut().zip(first) {
            if seen == Seen::Equal {
                *sum = first;
            }
        }
    }
}

fn write(
    combine: &Combine,
    sums: impl Iterator<Item = f64>,
    out: &mut [u8],
) -> Result<(), CombineError> {
    let data_type = combine.output.data_type;
    let is_done = match combine.output.encoding {
        Encoding::Plain => floats(data_type, sums, out),
        Encoding::Float64 => {
            f64::write(out, sums);
            true
        }
        Encoding::Fixed64 | Encoding::Fixed128 => false,
    };
    if is_done { Ok(()) } else { Err(CombineError::Type { data_type, rule: Rule::Sum }) }
}
