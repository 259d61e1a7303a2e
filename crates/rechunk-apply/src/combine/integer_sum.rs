//! Weighted sums of integers, or of fractions of them: exact.

use rechunk_grid::DataType;

use crate::form::{Combine, Encoding, Rule};
use crate::ramp::{AxisWeights, TileWeights};
use crate::voxel_box::{Span, VoxelBox};

use super::element::{Truth, Widen};
use super::lane::Whole;
use super::parts::{BlockView, CombineError, Coverage, size};
use super::rows::rows;
use super::weights::{Added, along, of_row};

/// Sums in a lane, of which each voxel has one.
pub(super) struct IntegerSum<L> {
    sums: Vec<L>,
    added: Added,
}

/// Adds a block to sums: region, block, window, and weights along each axis.
type Adder<L> = fn(&mut [L], &VoxelBox, BlockView<'_>, &VoxelBox, &[Vec<L>]);

/// A lane that integers of certain forms are added to.
pub(super) trait Summed: Whole {
    /// Adds blocks of elements of this form; `None` if they do not fit the lane.
    fn adder(encoding: Encoding, data_type: DataType) -> Option<Adder<Self>>;
}

/// The types that both lanes hold.
macro_rules! narrow_adder {
    ($lane:ty, $encoding:expr, $data_type:expr, $($wide:pat => $adder:expr),*) => {
        match ($encoding, $data_type) {
            (Encoding::Fixed64, _) | (Encoding::Plain, DataType::Int64) => {
                Some(add::<$lane, i64>)
            }
            (Encoding::Plain, DataType::Bool) => Some(add::<$lane, Truth>),
            (Encoding::Plain, DataType::Uint8) => Some(add::<$lane, u8>),
            (Encoding::Plain, DataType::Uint16) => Some(add::<$lane, u16>),
            (Encoding::Plain, DataType::Uint32) => Some(add::<$lane, u32>),
            (Encoding::Plain, DataType::Int8) => Some(add::<$lane, i8>),
            (Encoding::Plain, DataType::Int16) => Some(add::<$lane, i16>),
            (Encoding::Plain, DataType::Int32) => Some(add::<$lane, i32>),
            $($wide => Some($adder),)*
            _ => None,
        }
    };
}

impl Summed for i64 {
    fn adder(encoding: Encoding, data_type: DataType) -> Option<Adder<Self>> {
        narrow_adder!(i64, encoding, data_type,)
    }
}

impl Summed for i128 {
    fn adder(encoding: Encoding, data_type: DataType) -> Option<Adder<Self>> {
        narrow_adder!(i128, encoding, data_type,
            (Encoding::Plain, DataType::Uint64) => add::<i128, u64>,
            (Encoding::Fixed128, _) => add::<i128, i128>)
    }
}

fn numerators<L: Whole>(axis: &AxisWeights, span: Span) -> Vec<L> {
    axis.numerators(span).into_iter().map(|numerator| L::of(numerator.into())).collect()
}

fn add<L: Whole, T: Widen<L>>(
    sums: &mut [L],
    region: &VoxelBox,
    block: BlockView<'_>,
    window: &VoxelBox,
    along: &[Vec<L>],
) {
    let item = size_of::<T>();
    let one = [L::of(1)];
    rows(window, block.bounds, region, |row| {
        let (outer, last) = of_row(row, along, &one, |a, b| L::ZERO.plus(a, b));
        let from = &block.bytes[row.one * item..(row.one + row.length) * item];
        let to = &mut sums[row.two..row.two + row.length];
        for ((sum, value), &weight) in to.iter_mut().zip(T::read(from)).zip(last) {
            *sum = sum.plus(value.widen(), L::ZERO.plus(outer, weight));
        }
    });
}

impl<L: Summed> IntegerSum<L> {
    pub(super) fn new(region: &VoxelBox) -> Result<Self, CombineError> {
        size(region, size_of::<L>() as u64)?;
        Ok(Self { sums: vec![L::ZERO; size(region, 1)?], added: Added::default() })
    }

    pub(super) fn add(
        &mut self,
        combine: &Combine,
        region: &VoxelBox,
        block: BlockView<'_>,
        window: VoxelBox,
        weights: &TileWeights,
    ) -> Result<(), CombineError> {
        let data_type = combine.input.data_type;
        let adder = L::adder(combine.input.encoding, data_type);
        let adder = adder.ok_or(CombineError::Type { data_type, rule: Rule::Sum })?;
        let along = along(&window, weights, numerators::<L>);
        adder(&mut self.sums, region, block, &window, &along);
        self.added.push(window, weights);
        Ok(())
    }

    pub(super) fn finish(
        self,
        combine: &Combine,
        region: &VoxelBox,
        has_skipped: bool,
        out: &mut [u8],
    ) -> Result<Coverage, CombineError> {
        if !has_skipped {
            self.added.check(combine, region)?;
            write(combine, self.sums.into_iter(), out)?;
            return Ok(Coverage::Whole);
        }
        let whole = L::of(combine.denominator);
        let units = (L::ZERO, L::of(1));
        let left = self.added.sums(region, units, numerators::<L>, L::plus)?;
        let item = usize::try_from(combine.output.item_bytes()).unwrap_or(usize::MAX).max(1);
        let mut covered = 0;
        let voxels = self.sums.into_iter().zip(left).zip(out.chunks_exact_mut(item));
        for ((sum, left), out) in voxels.filter(|((_, left), _)| *left != L::ZERO) {
            covered += 1;
            if left == whole {
                write(combine, std::iter::once(sum), out)?;
            } else {
                write_part(combine, sum, left, out)?;
            }
        }
        Ok(Coverage::of(covered, region.elements()))
    }
}

fn refused(combine: &Combine) -> CombineError {
    CombineError::Type { data_type: combine.output.data_type, rule: combine.rule }
}

/// Writes sums: rounded, or as fractions for the level above.
fn write<L: Whole>(
    combine: &Combine,
    sums: impl Iterator<Item = L>,
    out: &mut [u8],
) -> Result<(), CombineError> {
    let data_type = combine.output.data_type;
    let divisor = L::of(combine.denominator.saturating_mul(combine.input.denominator));
    let is_done = match combine.output.encoding {
        Encoding::Plain => L::store(data_type, sums.map(|sum| sum.rounded(divisor)), out),
        Encoding::Fixed64 | Encoding::Fixed128 => {
            L::write(out, sums);
            true
        }
        Encoding::Float64 => false,
    };
    if is_done { Ok(()) } else { Err(refused(combine)) }
}

/// Writes a sum that has only `left` of its weights.
fn write_part<L: Whole>(
    combine: &Combine,
    sum: L,
    left: L,
    out: &mut [u8],
) -> Result<(), CombineError> {
    let data_type = combine.output.data_type;
    let value = match combine.output.encoding {
        // Rounded once.
        Encoding::Plain => {
            let divisor = left.times(L::of(combine.input.denominator));
            if L::store(data_type, std::iter::once(sum.rounded(divisor)), out) {
                return Ok(());
            }
            return Err(refused(combine));
        }
        // A fraction of all weights, as if none were missing.
        Encoding::Fixed64 | Encoding::Fixed128 => sum.scaled(L::of(combine.denominator), left),
        Encoding::Float64 => return Err(refused(combine)),
    };
    L::write(out, std::iter::once(value));
    Ok(())
}
