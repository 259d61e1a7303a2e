//! A task: it reads windows, runs levels and operation, and writes its part or leaves a block.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use futures::future::FutureExt;
use rechunk_apply::{BottomTile, OpOutput, RunError, TaskOutput, TopTask, VoxelBox, Way, run_task};
use rechunk_array::{Array, RegionRead};
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_plan::{Kernel, Reads};
use tokio::runtime::Handle;

use super::read::{cut, is_left_out, window, within};
use super::stage::WindowStage;
use super::window_op::{WindowCall, WindowInput};
use super::{block, write};
use crate::units::frame::{self, Frame};
use crate::{Fault, cpu};

/// Runs task `number`.
pub(super) async fn run(stage: &Arc<WindowStage>, number: u64) -> Result<(), Fault> {
    let output =
        stage.shared.drive(output(Arc::clone(stage), number, Handle::current()).boxed()).await?;
    let worker = Arc::clone(stage);
    let left = async move {
        let task = worker.work().job.task(number);
        leave(&worker, &task, output).await
    };
    stage.shared.drive(left.boxed()).await
}

/// Reads what task `number` needs, and computes its result.
async fn output(
    stage: Arc<WindowStage>,
    number: u64,
    runtime: Handle,
) -> Result<TaskOutput, Fault> {
    let job = &stage.work().job;
    let read = match stage.work().reads {
        Reads::Call => None,
        Reads::Task => {
            let bounds = job.task_read(&job.task(number));
            match windows(&stage, &bounds).await? {
                Some(elements) => Some((bounds, elements)),
                None => return Ok(TaskOutput::Skipped),
            }
        }
    };
    let worker = Arc::clone(&stage);
    stage.shared.cpu.run(move || compute(&worker, number, read, &runtime)).await
}

/// Elements of each source.
type Inputs = Vec<Vec<u8>>;

fn sources(stage: &WindowStage) -> impl Iterator<Item = (&Array, &Vec<u8>)> {
    let others = &stage.windows().others;
    let sources = std::iter::once(&stage.shared.run.execution.source).chain(others);
    sources.zip(&stage.windows().constants)
}

/// Reads a window of each source; `None` where the operation is not to be called.
async fn windows(stage: &WindowStage, bounds: &VoxelBox) -> Result<Option<Inputs>, Fault> {
    let (mut inputs, mut counts) = (Vec::new(), RegionRead::default());
    let count = stage.windows().others.len().saturating_add(1);
    for (source, constant) in sources(stage) {
        inputs.push(
            window(source, bounds, (stage.work(), &stage.shared.spare), constant, &mut counts)
                .await?,
        );
        if is_left_out(stage.work().missing, counts, inputs.len() == count) {
            return Ok(None);
        }
    }
    Ok(Some(inputs))
}

/// Runs the levels of a task in memory. Windows are cut out of what was `read` for all of the task,
/// or read for each call.
fn compute(
    stage: &WindowStage,
    number: u64,
    mut read: Option<(VoxelBox, Inputs)>,
    runtime: &Handle,
) -> Result<TaskOutput, Fault> {
    let job = &stage.work().job;
    let task = job.task(number);
    let mut call = |tile: &BottomTile| -> Result<OpOutput, Fault> {
        let inputs = match &mut read {
            // The only call of a task takes all of it.
            Some((bounds, all)) if *bounds == tile.read && job.top() == 0 => std::mem::take(all),
            Some((bounds, all)) => {
                let parts = all.iter().zip(sources(stage)).map(|(elements, (_, constant))| {
                    cut(elements, bounds, &tile.read, constant.len())
                });
                parts.collect::<Result<_, Fault>>()?
            }
            None => match stage.wait(runtime, windows(stage, &tile.read))? {
                Some(inputs) => inputs,
                None => return Ok(OpOutput::Skip),
            },
        };
        call_op(stage, &task, tile, inputs)
    };
    run_task(job, number, &stage.fill, &mut call).map_err(|error| match error {
        RunError::Op(fault) => fault,
        error => Fault::Op { name: name_of(stage), reason: error.to_string() },
    })
}

fn name_of(stage: &WindowStage) -> String {
    match &stage.shared.stage().kernel {
        Kernel::Op(spec) => spec.name.clone(),
        other => other.to_string(),
    }
}

/// Calls the operation. A panic in it is its failure.
fn call_op(
    stage: &WindowStage,
    task: &TopTask,
    tile: &BottomTile,
    elements: Inputs,
) -> Result<OpOutput, Fault> {
    let shape = tile.read.shape();
    let inputs = elements.into_iter().zip(sources(stage)).map(|(bytes, (source, _))| WindowInput {
        data_type: source.layout().spec().data_type,
        shape: shape.clone(),
        bytes,
    });
    let call = WindowCall { task, tile, inputs: inputs.collect() };
    let op = &stage.windows().op;
    let result = catch_unwind(AssertUnwindSafe(|| op.run(call)));
    let result = result
        .unwrap_or_else(|panic| Err(format!("it panicked: {}", cpu::message(panic.as_ref()))));
    result.map_err(|reason| {
        let reason = format!("task {}, box {}: {reason}", task.ordinal, box_text(&tile.task_box));
        Fault::Op { name: name_of(stage), reason }
    })
}

/// `0:8,4:12`: start and end of each axis.
fn box_text(bounds: &VoxelBox) -> String {
    let axes = bounds.axes.iter().map(|span| format!("{}:{}", span.start, span.end));
    axes.collect::<Vec<_>>().join(",")
}

/// Puts `parts` of a block of `bounds` into what is `there` of it.
fn with_parts(
    mut there: Vec<u8>,
    block: &[u8],
    (bounds, parts): (&VoxelBox, &[VoxelBox]),
    item_bytes: usize,
) -> Result<Vec<u8>, Fault> {
    let frame = Frame::of_region(&Region::whole(&bounds.shape()), item_bytes)?;
    for part in parts {
        let part = within(bounds, part);
        frame::copy(item_bytes, &part, (block, &frame), (&mut there, &frame), 1)?;
    }
    Ok(there)
}

/// Gives the result of a task its way.
async fn leave(stage: &WindowStage, task: &TopTask, output: TaskOutput) -> Result<(), Fault> {
    let way = stage.work().job.way();
    let finished = if way == Way::Defer { &task.keep } else { &task.chunk };
    let kept_bytes = u64::try_from(finished.intersect(&task.keep).elements()).unwrap_or(u64::MAX);
    let kept_bytes = kept_bytes.saturating_mul(wide(stage.shared.item_bytes));
    match (way, output) {
        (Way::Direct | Way::Defer, output) => {
            let left = (way == Way::Defer).then(|| stage.work().job.deferred_box(task));
            let bounds = left.as_ref().unwrap_or(&task.keep);
            if let TaskOutput::Block { bytes, covered } = output {
                let bytes = match covered {
                    None => bytes,
                    // What nothing was given for stays as it is.
                    Some(parts) => {
                        let there = write::before(stage, &write::region_of(bounds)?).await?;
                        with_parts(there, &bytes, (&task.keep, &parts), stage.shared.item_bytes)?
                    }
                };
                write::out(stage, bounds, &bytes).await?;
                stage.shared.spare.give(bytes);
            } else {
                write::leave_out(stage, bounds)?;
                stage.shared.progress(kept_bytes);
            }
            Ok(())
        }
        (Way::Pull, output) => {
            block::put(stage, task, output).await?;
            stage.shared.progress(kept_bytes);
            Ok(())
        }
    }
}
