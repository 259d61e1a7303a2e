//! Raw files on both sides: runs of bytes, read and written buffer by buffer.
//!
//! Of each buffer, its part of every target file it meets (a *piece*) has exactly its bytes of
//! memory, in a block with others that are written after the same buffer. What is read goes through
//! a bounded buffer, the bounce, straight into the pieces, and out of them through a bounce into
//! the target files. Pieces live until the write blocks of all in their block are complete: nothing
//! else holds elements.
//!
//! The method is the keep strategy of Guédon, Glatard and Hayot-Sasson ("A heuristic to
//! repartition large multi-dimensional arrays with reduced disk seeking").

mod held;
mod lanes;
mod marks;
mod read;
mod side;
mod write;

use std::sync::Arc;

use rechunk_plan::keep::{Buffers, WriteBlock};

use crate::Fault;
use crate::pool::BufferPool;
use crate::stage_run::StageRun;
use held::{Carried, Full, Held};
use lanes::Bounce;
use marks::Marks;
use side::Side;

/// Copies of so many bytes are made where they come up; to hand them over would take longer.
const COPIED_IN_PLACE_BYTES: usize = 16 << 10;

/// State that all lanes of a task share.
#[derive(Debug)]
struct Pass {
    stage: Arc<StageRun>,
    buffers: Buffers,
    source: Side,
    target: Side,
    pool: Arc<BufferPool>,
    /// Buffers an earlier run is done with: the write blocks they completed are not touched again.
    buffers_done: u64,
}

/// Runs a task that reads and writes runs. Its buffers come out of `pool`, which holds what the
/// plan has reserved for them.
pub(crate) async fn run_task(
    stage: Arc<StageRun>,
    pool: Arc<BufferPool>,
    number: u64,
    steps_done: u64,
) -> Result<(), Fault> {
    let pass = Arc::new(Pass {
        buffers: buffers(&stage)?,
        source: Side::new(&stage.run.execution.source)?,
        target: Side::new(stage.target())?,
        pool,
        buffers_done: steps_done,
        stage,
    });
    let mut lanes: Vec<Bounce> = (0..pass.stage.stage.lanes).map(|_| Bounce::default()).collect();
    let mut carried = Carried::default();
    let mut marks = Marks::new(&pass.stage, number);
    let needed = |buffer: &u64| pass.buffers.is_needed(*buffer, steps_done);
    let mut needed = (0..pass.buffers.count()).filter(needed).peekable();
    let mut announced = None;
    read::announce(&pass, needed.peek(), &mut announced);
    while let Some(buffer) = needed.next() {
        let held = Arc::new(Held::new(&pass, buffer)?);
        read::buffer(&pass, &held, &mut lanes).await?;
        if needed.peek().is_none() && pass.stage.is_last(number) {
            pass.pool.set_open(false);
        }
        read::announce(&pass, needed.peek(), &mut announced);
        let full = Full::new(&pass, held)?;
        let written = write::complete(&pass, full, &mut carried, &mut lanes).await?;
        marks.done(buffer, written);
    }
    Ok(())
}

/// Bytes of the elements that the first `steps` buffers of a stage have completed.
pub(crate) fn bytes_done(stage: &StageRun, steps: u64) -> Result<u64, Fault> {
    let buffers = buffers(stage)?;
    let elements = |buffer| -> u64 {
        let complete = buffers.write_blocks(buffer).filter(|block| block.is_last);
        complete.map(|block| block.region.elements()).sum()
    };
    let elements: u64 = (0..steps.min(buffers.count())).map(elements).sum();
    Ok(elements.saturating_mul(stage.run.execution.plan.item_bytes))
}

fn buffers(stage: &StageRun) -> Result<Buffers, Fault> {
    let buffers = stage.run.execution.plan.buffers(stage.number);
    let buffers = buffers.map_err(|error| Fault::Plan { reason: error.to_string() })?;
    buffers.ok_or_else(|| Fault::Plan { reason: "it has no schedule for runs".to_owned() })
}

impl Pass {
    /// An earlier run has not written the block.
    fn is_left(&self, block: &WriteBlock) -> bool {
        self.buffers_done == 0 || self.buffers.last_buffer(block) >= self.buffers_done
    }

    fn item_bytes(&self) -> usize {
        self.stage.item_bytes
    }

    /// Copies `bytes` bytes by `job`.
    async fn copy<T: Send + 'static>(
        &self,
        bytes: usize,
        job: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if bytes <= COPIED_IN_PLACE_BYTES { job() } else { self.stage.cpu.run(job).await }
    }
}
