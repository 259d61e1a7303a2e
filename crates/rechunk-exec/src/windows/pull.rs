//! A pull task: pieces of blocks become whole objects of the target.

use std::sync::Arc;

use futures::future::FutureExt;
use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_apply::{Accumulator, BlockView, CombineError, Coverage, TaskOutput, VoxelBox};
use rechunk_kernel::fill;

use super::stage::WindowStage;
use super::{block, write};
use crate::Fault;
use crate::units::frame::buffer_bytes;

/// Pieces that are read ahead of the one that is added.
const AHEAD: usize = 2;

/// Runs pull task `number`.
pub(super) async fn run(stage: &Arc<WindowStage>, number: u64) -> Result<(), Fault> {
    let sum = stage.shared.drive(sum(Arc::clone(stage), number).boxed()).await?;
    let worker = Arc::clone(stage);
    let written = async move {
        let window = worker.work().job.reduction(number);
        finish(&worker, &window, sum).await
    };
    stage.shared.drive(written.boxed()).await
}

/// Adds the pieces of blocks that pull task `number` combines.
async fn sum(stage: Arc<WindowStage>, number: u64) -> Result<Accumulator, Fault> {
    let stage = &stage;
    let job = &stage.work().job;
    let window = job.reduction(number);
    let contributors: Vec<u64> = job.contributors(&window).ordinals().collect();
    let sum =
        Accumulator::new(&job.pull_combine(), &window).map_err(|error| combine_fault(&error))?;
    let pieces = stream::iter(contributors).map(|ordinal| {
        let stage = Arc::clone(stage);
        async move {
            let job = &stage.work().job;
            let task = job.task(ordinal);
            let Some(piece) = job.piece(&task, number) else { return Ok(None) };
            let found = block::get(&stage, &task, &piece).await?;
            Ok::<_, Fault>(Some((task, piece, found)))
        }
    });
    // In order: sums of floats are the same bits each time.
    let pieces = pieces.buffered(AHEAD);
    let sum = pieces.try_fold(sum, |mut sum, found| {
        let stage = Arc::clone(stage);
        async move {
            let Some((task, piece, found)) = found else { return Ok(sum) };
            let TaskOutput::Block { bytes, covered } = found else {
                sum.skip();
                return Ok(sum);
            };
            let worker = Arc::clone(&stage);
            let add = move || {
                let block = BlockView { bounds: &piece.bounds, bytes: &bytes };
                let weights = worker.work().job.task_weights(&task);
                let added = sum.add_covered(task.ordinal, block, covered.as_deref(), &weights);
                added.map_err(|error| combine_fault(&error))?;
                Ok(sum)
            };
            stage.shared.cpu.run(add).await
        }
    });
    sum.await
}

async fn finish(
    stage: &Arc<WindowStage>,
    window: &VoxelBox,
    sum: Accumulator,
) -> Result<(), Fault> {
    let region = write::region_of(window)?;
    let bytes = buffer_bytes(region.elements(), stage.shared.item_bytes)?;
    // Voxels in gaps, or that nothing was given for, stay as they are.
    let has_holes = sum.has_skipped() || stage.work().job.gap().iter().any(|&gap| gap > 0);
    let mut elements = if has_holes {
        write::before(stage, &region).await?
    } else {
        let mut elements = vec![0; bytes];
        fill(&stage.fill, &mut elements);
        elements
    };
    let add = move || {
        let coverage = sum.finish(&mut elements).map_err(|error| combine_fault(&error))?;
        Ok((coverage, elements))
    };
    let (coverage, elements) = stage.shared.cpu.run(add).await?;
    if coverage == Coverage::Nothing {
        write::leave_out(stage, window)?;
        stage.shared.progress(rechunk_kernel::wide(bytes));
        return Ok(());
    }
    write::out(stage, window, &elements).await
}

fn combine_fault(error: &CombineError) -> Fault {
    Fault::Plan { reason: format!("blocks cannot be combined: {error}") }
}
