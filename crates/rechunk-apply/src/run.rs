//! Runs a task of the top level in memory: levels below it depth first, the operation at the
//! bottom.

use rechunk_grid::Region;
use thiserror::Error;

use crate::bottom::BottomTile;
use crate::combine::{Accumulator, BlockView, CombineError, Coverage, cut, fill};
use crate::covered::disjoint;
use crate::form::{Combine, ValueForm};
use crate::plan::ApplyPlan;
use crate::voxel_box::VoxelBox;

/// Values that an operation gives for a [`BottomTile`]: plain elements in C order, in the byte
/// order of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OpOutput {
    /// Those of [`BottomTile::padded`]; the crop is cut off by the driver.
    Padded(Vec<u8>),
    /// Those of [`BottomTile::task_box`].
    Cropped(Vec<u8>),
    /// There are none: nothing is to be written.
    Skip,
}

/// Result of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskOutput {
    /// Elements of [`crate::TopTask::keep`] in the form of [`ApplyPlan::block_form`].
    Block {
        /// Elements.
        bytes: Vec<u8>,
        /// Boxes without a common voxel that have values, where operations had nothing to give for
        /// others, which have the fill value; `None` if all have.
        covered: Option<Vec<VoxelBox>>,
    },
    /// No operation had something to give.
    Skipped,
}

/// Why a task failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError<E> {
    /// The operation failed.
    #[error("the operation failed")]
    Op(#[source] E),
    /// The operation gave another number of bytes than its box has.
    #[error("the operation gave {found} bytes for a box of shape {shape:?}, which has {expected}")]
    Shape {
        /// Shape of the box.
        shape: Vec<u64>,
        /// Bytes given.
        found: usize,
        /// Bytes expected.
        expected: u128,
    },
    /// Values could not be combined.
    #[error(transparent)]
    Combine(#[from] CombineError),
}

/// The driver of a task.
struct Driver<'a, E> {
    plan: &'a ApplyPlan,
    /// One plain element, for voxels without a value.
    fill: &'a [u8],
    op: &'a mut dyn FnMut(&BottomTile) -> Result<OpOutput, E>,
    /// Calls so far.
    calls: u64,
}

/// Runs task number `ordinal`: calls `op` for each box of the bottom level and combines the results
/// level by level. Calls are made depth first, in C order. The box that the operation reads is
/// [`BottomTile::read`]; reading it, and filling it beyond the source, is the caller's. `fill` is
/// one element for voxels that get no value because operations skip.
///
/// ```
/// use rechunk_apply::{ApplySpec, LevelSpec, Mode, OpOutput, TaskOutput, prepare, run_task};
/// use rechunk_grid::DataType;
/// let levels = vec![LevelSpec::new([8]), LevelSpec::new([4]).crop([1])];
/// let plan = prepare(&ApplySpec::new(&[16], &[8], DataType::Uint8, levels))?;
/// let mut read = Vec::new();
/// let output = run_task(&plan, 1, &[0], &mut |tile| {
///     read.push((tile.read.axes[0].start, tile.read.axes[0].end));
///     Ok::<_, std::convert::Infallible>(OpOutput::Padded(vec![7; 6]))
/// })?;
/// assert_eq!(read, [(7, 13), (11, 17)]);
/// assert_eq!(output, TaskOutput::Block { bytes: vec![7; 8], covered: None });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run_task<E>(
    plan: &ApplyPlan,
    ordinal: u64,
    fill: &[u8],
    op: &mut dyn FnMut(&BottomTile) -> Result<OpOutput, E>,
) -> Result<TaskOutput, RunError<E>> {
    let task = plan.task(ordinal);
    let mut driver = Driver { plan, fill, op, calls: 0 };
    driver.values(plan.top(), &task.chunk, &task.task_box, &task.keep)
}

impl<E> Driver<'_, E> {
    /// Values of the part `keep` of a task box of `level`.
    fn values(
        &mut self,
        level: usize,
        chunk: &VoxelBox,
        task_box: &VoxelBox,
        keep: &VoxelBox,
    ) -> Result<TaskOutput, RunError<E>> {
        let Some(lower) = level.checked_sub(1) else { return self.call(chunk, task_box, keep) };
        let below = self.plan.below(lower, task_box, keep);
        let combine = self.plan.levels()[lower].combine;
        let mut sum = Accumulator::new(&combine, keep)?;
        let mut covered: Vec<VoxelBox> = Vec::new();
        for (number, index) in (0..).zip(Region::from(&below.ranges[..]).positions()) {
            let axes = || below.tiles.iter().zip(&index);
            let chunk = VoxelBox::new(axes().map(|(tiles, &k)| tiles.tile(k)));
            let weights = self.plan.weights_at(below.level, &below.tiles, &index);
            let task_box = weights.bounds();
            let part = task_box.intersect(keep);
            match self.values(lower, &chunk, &task_box, &part)? {
                TaskOutput::Block { bytes, covered: parts } => {
                    let block = BlockView { bounds: &part, bytes: &bytes };
                    sum.add_covered(number, block, parts.as_deref(), &weights)?;
                    covered.extend(parts.unwrap_or_else(|| vec![part]));
                }
                TaskOutput::Skipped => sum.skip(),
            }
        }
        if covered.is_empty() {
            return Ok(TaskOutput::Skipped);
        }
        self.finished(sum, &combine, keep, &covered)
    }

    fn finished(
        &mut self,
        sum: Accumulator,
        combine: &Combine,
        keep: &VoxelBox,
        covered: &[VoxelBox],
    ) -> Result<TaskOutput, RunError<E>> {
        let mut bytes = zeros(keep, combine.output)?;
        if sum.has_skipped() {
            fill(combine.output, self.fill, &mut bytes)?;
        }
        let covered = match sum.finish(&mut bytes)? {
            Coverage::Whole => None,
            Coverage::Part | Coverage::Nothing => Some(disjoint(covered)),
        };
        Ok(TaskOutput::Block { bytes, covered })
    }

    /// Calls the operation and cuts what is kept out of its result.
    fn call(
        &mut self,
        chunk: &VoxelBox,
        task_box: &VoxelBox,
        keep: &VoxelBox,
    ) -> Result<TaskOutput, RunError<E>> {
        let (chunk, task_box, keep) = (chunk.clone(), task_box.clone(), keep.clone());
        let tile = self.plan.bottom_tile(self.calls, chunk, task_box, keep);
        self.calls += 1;
        let output = (self.op)(&tile).map_err(RunError::Op)?;
        let (bounds, bytes) = match output {
            OpOutput::Padded(bytes) => (&tile.padded, bytes),
            OpOutput::Cropped(bytes) => (&tile.task_box, bytes),
            OpOutput::Skip => return Ok(TaskOutput::Skipped),
        };
        let form = ValueForm::plain(self.plan.data_type());
        let expected = bounds.elements().saturating_mul(form.item_bytes().into());
        if expected != bytes.len() as u128 {
            let (shape, found) = (bounds.shape(), bytes.len());
            return Err(RunError::Shape { shape, found, expected });
        }
        if *bounds == tile.keep {
            return Ok(TaskOutput::Block { bytes, covered: None });
        }
        let block = BlockView { bounds, bytes: &bytes };
        let bytes = cut(block, &tile.keep, form.item_bytes())?;
        Ok(TaskOutput::Block { bytes, covered: None })
    }
}

fn zeros(bounds: &VoxelBox, form: ValueForm) -> Result<Vec<u8>, CombineError> {
    let bytes = bounds.elements().saturating_mul(form.item_bytes().into());
    let length = usize::try_from(bytes).ok().filter(|&length| isize::try_from(length).is_ok());
    let length = length.ok_or_else(|| CombineError::Memory { shape: bounds.shape(), bytes })?;
    Ok(vec![0; length])
}
