//! An accumulator: contributions of task boxes to a region become one value per voxel.

use crate::form::{Combine, Lane, Rule, ValueForm};
use crate::ramp::TileWeights;
use crate::voxel_box::VoxelBox;

use super::float_sum::FloatSum;
use super::integer_sum::IntegerSum;
use super::largest::Largest;
use super::moved::Moved;
use super::parts::{BlockView, CombineError, Coverage};

enum State {
    Moved(Moved),
    Largest(Largest),
    Int64(IntegerSum<i64>),
    Int128(IntegerSum<i128>),
    Float64(FloatSum),
}

/// Combines contributions to the voxels of a region: by assignment, as the largest, or as the
/// weighted sum. It holds [`Combine::accumulator_bytes`] per voxel, and while it finishes
/// [`Combine::skip_bytes`] more if contributions are missing ([`Accumulator::skip`]).
///
/// - Integers are summed exactly and rounded once, half to even: neither the order of contributions
///   nor threads matter. Floats are summed in 64 bits, in ascending order of `ordinal`, which is
///   checked.
/// - Where all contributions are equal, the result is that value, of every type.
/// - NaN: the largest of values with a NaN is NaN, as by NumPy's `maximum`; a sum with a NaN is
///   NaN; both are the NaN of the type, whatever bits came in. An assigned NaN keeps its bits.
///   The larger of two zeros is the positive one.
///
/// ```
/// use rechunk_apply::{
///     Accumulator, ApplySpec, BlockView, Coverage, LevelSpec, Mode, prepare,
/// };
/// use rechunk_grid::DataType;
/// // Two work chunks of 4, overlapping in voxels 3 and 4.
/// let level = LevelSpec::new([4]).blend([1], Mode::Linear);
/// let plan = prepare(&ApplySpec::new(&[8], &[8], DataType::Uint8, vec![level]))?;
/// let region = plan.reduction(0);
/// let mut sum = Accumulator::new(&plan.pull_combine(), &region)?;
/// for ordinal in plan.contributors(&region).ordinals() {
///     let task = plan.task(ordinal);
///     let value = if ordinal == 0 { 9 } else { 18 };
///     let bytes = vec![value; task.keep.shape()[0] as usize];
///     let block = BlockView { bounds: &task.keep, bytes: &bytes };
///     sum.add(ordinal, block, &plan.task_weights(&task))?;
/// }
/// let mut result = vec![0; 8];
/// assert_eq!(sum.finish(&mut result)?, Coverage::Whole);
/// assert_eq!(result, [9, 9, 9, 12, 15, 18, 18, 18]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Accumulator {
    combine: Combine,
    region: VoxelBox,
    state: State,
    /// Number that was added last.
    last: Option<u64>,
    has_skipped: bool,
}

impl std::fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Accumulator")
            .field("combine", &self.combine)
            .field("region", &self.region)
            .field("last", &self.last)
            .finish_non_exhaustive()
    }
}

fn check_bytes(bounds: &VoxelBox, form: ValueForm, bytes: &[u8]) -> Result<(), CombineError> {
    let expected = bounds.elements().saturating_mul(form.item_bytes().into());
    if expected == bytes.len() as u128 {
        return Ok(());
    }
    Err(CombineError::Bytes { shape: bounds.shape(), found: bytes.len(), expected })
}

impl Accumulator {
    /// An accumulator over `region` without contributions.
    pub fn new(combine: &Combine, region: &VoxelBox) -> Result<Self, CombineError> {
        let state = match (combine.rule, combine.lane) {
            (Rule::Assign, _) => State::Moved(Moved::new(combine, region)?),
            (Rule::Max, _) => State::Largest(Largest::new(combine, region)?),
            (Rule::Sum, Lane::Int64) => State::Int64(IntegerSum::new(region)?),
            (Rule::Sum, Lane::Int128) => State::Int128(IntegerSum::new(region)?),
            (Rule::Sum, Lane::Float64) => State::Float64(FloatSum::new(combine, region)?),
        };
        let (combine, region) = (*combine, region.clone());
        Ok(Self { combine, region, state, last: None, has_skipped: false })
    }

    /// The region.
    pub fn region(&self) -> &VoxelBox {
        &self.region
    }

    /// Adds the part of `block` that lies in the region and in the task box of `weights`.
    /// `ordinal` is the number of the task; sums of floats are added in ascending order.
    pub fn add(
        &mut self,
        ordinal: u64,
        block: BlockView<'_>,
        weights: &TileWeights,
    ) -> Result<(), CombineError> {
        self.add_covered(ordinal, block, None, weights)
    }

    /// Adds a block as [`Accumulator::add`] does, of which only the boxes `covered` have values.
    ///
    /// These have no voxel in common, and the rest counts as skipped; `None`: all of it has values.
    pub fn add_covered(
        &mut self,
        ordinal: u64,
        block: BlockView<'_>,
        covered: Option<&[VoxelBox]>,
        weights: &TileWeights,
    ) -> Result<(), CombineError> {
        check_bytes(block.bounds, self.combine.input, block.bytes)?;
        let expected = self.region.rank();
        for found in [block.bounds.rank(), weights.axes().len()] {
            if found != expected {
                return Err(CombineError::Axes { found, expected });
            }
        }
        self.in_order(ordinal)?;
        let window = block.bounds.intersect(&self.region).intersect(&weights.bounds());
        let Some(covered) = covered else { return self.add_window(block, window, weights) };
        self.skip();
        covered.iter().try_for_each(|part| self.add_window(block, window.intersect(part), weights))
    }

    fn add_window(
        &mut self,
        block: BlockView<'_>,
        window: VoxelBox,
        weights: &TileWeights,
    ) -> Result<(), CombineError> {
        let (combine, region) = (&self.combine, &self.region);
        match &mut self.state {
            State::Moved(state) => state.add(region, block, window),
            State::Largest(state) => state.add(combine, region, block, &window)?,
            State::Int64(state) => state.add(combine, region, block, window, weights)?,
            State::Int128(state) => state.add(combine, region, block, window, weights)?,
            State::Float64(state) => state.add(combine, region, block, window, weights)?,
        }
        Ok(())
    }

    fn in_order(&mut self, ordinal: u64) -> Result<(), CombineError> {
        let is_float = self.combine.rule == Rule::Sum && self.combine.lane == Lane::Float64;
        if let Some(after) = self.last.filter(|&last| is_float && ordinal <= last) {
            return Err(CombineError::Order { ordinal, after });
        }
        self.last = Some(ordinal);
        Ok(())
    }

    /// Tells that contributions are missing, because tasks had nothing to give. Sums then divide by
    /// the weights that are there, and voxels without any contribution get no value.
    pub fn skip(&mut self) {
        self.has_skipped = true;
    }

    /// Writes the values to `out`, the region's elements in the output form. Voxels without a
    /// contribution are left as they are.
    pub fn finish(self, out: &mut [u8]) -> Result<Coverage, CombineError> {
        check_bytes(&self.region, self.combine.output, out)?;
        let region = &self.region;
        match self.state {
            State::Moved(state) => state.finish(&self.combine, region, out),
            State::Largest(state) => state.finish(&self.combine, out),
            State::Int64(state) => state.finish(&self.combine, region, self.has_skipped, out),
            State::Int128(state) => state.finish(&self.combine, region, self.has_skipped, out),
            State::Float64(state) => state.finish(&self.combine, region, self.has_skipped, out),
        }
    }

    /// True if a contribution was left out.
    pub fn has_skipped(&self) -> bool {
        self.has_skipped
    }
}
