//! A task of runs: buffer by buffer, read and then written.

use std::sync::Arc;

use rechunk_kernel::wide;

use super::held::{Carried, Full, Held};
use super::lanes::Bounce;
use super::marks::Marks;
use super::pass::{Pass, buffers};
use super::{read, write};
use crate::Fault;
use crate::memory::pool::BufferPool;
use crate::stage::stage_run::StageRun;

/// Runs a task that reads and writes runs. Its buffers come out of `pool`, which holds what the
/// plan has reserved for them.
pub(crate) async fn run(
    stage: Arc<StageRun>,
    pool: Arc<BufferPool>,
    number: u64,
    steps_done: u64,
) -> Result<(), Fault> {
    let pass = Arc::new(Pass::new(stage, pool, steps_done)?);
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
    Ok(elements.saturating_mul(wide(stage.item_bytes)))
}
