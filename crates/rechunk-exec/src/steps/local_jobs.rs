//! Jobs that one thread does from beginning to end: chunks are fetched, decoded, copied, and
//! encoded and stored, without being handed on.

use std::sync::Arc;

use futures::future::FutureExt;

use crate::Fault;
use crate::cpu::Driven;
use crate::memory::lane::{Lane, LaneDone};
use crate::stage::in_place::SENT_AT_ONCE_BYTES;
use crate::stage::shards::elements_of;
use crate::stage::task::TaskRun;
use crate::stage::way_out::WayOut;
use crate::steps::{send_out, take_in};
use crate::units::unit::Finished;
use crate::ways_in::announce;
use crate::ways_out::pieces::TileFile;

/// All inputs of the job that passes on the shard of input `index`, if that is the first of them;
/// nothing if it is not.
pub(crate) fn of_shard(task: &TaskRun, index: &[u64]) -> Vec<Vec<u64>> {
    let Some(format) = task.stage.target().layout().shards() else { return vec![index.to_vec()] };
    let elements = elements_of(&task.tile, format, &format.shard_of(index));
    let chunks = task.stage.geometry.grain_grid().covering(&elements);
    if chunks.start == index { chunks.positions().collect() } else { Vec::new() }
}

/// Takes inputs in, one after the other, in one job, on threads that may block while a disk is
/// waited for. First announces the inputs that will be read after them.
pub(crate) async fn inputs(
    task: Arc<TaskRun>,
    lane: Lane,
    indices: Vec<Vec<u64>>,
    announced: Vec<Vec<u64>>,
) -> Result<LaneDone, Fault> {
    let (cpu, is_driven) = (task.stage.cpu.clone(), task.stage.in_place.reads());
    let work = several(task, lane, indices, announced);
    if is_driven { cpu.drive(work.boxed()).await } else { work.await }
}

/// Sends a unit out, in one job, up to where it waits for a write.
pub(crate) async fn unit(
    task: Arc<TaskRun>,
    lane: Lane,
    unit: Finished,
) -> Result<Driven<Lane>, Fault> {
    let cpu = task.stage.cpu.clone();
    cpu.begin(send_out::unit(task, lane, unit).boxed()).await
}

/// Writes a piece of an intermediate, in one job.
pub(crate) async fn piece(
    task: Arc<TaskRun>,
    lane: Lane,
    file: Arc<TileFile>,
    piece: Finished,
) -> Result<LaneDone, Fault> {
    let cpu = task.stage.cpu.clone();
    let work = async move {
        file.write(&task, piece).await?;
        Ok(LaneDone { lane, finished: Vec::new(), sent: Vec::new() })
    };
    cpu.drive(work.boxed()).await
}

async fn several(
    task: Arc<TaskRun>,
    mut lane: Lane,
    indices: Vec<Vec<u64>>,
    announced: Vec<Vec<u64>>,
) -> Result<LaneDone, Fault> {
    if task.stage.cpu.is_here() {
        for index in announced {
            if !announce::input(&task, &index) {
                break;
            }
        }
    }
    let sends = task.stage.in_place.writes && task.stage.way_out != WayOut::Pieces;
    let (mut finished, mut sent) = (Vec::new(), Vec::new());
    for index in indices {
        if task.stage.cpu.is_here() && !task.stage.in_place.reads() {
            // A disk is waited for: the rest goes to threads that may wait (see `CpuPool::drive`).
            tokio::task::yield_now().await;
        }
        let done = take_in::input(Arc::clone(&task), lane, index).await?;
        lane = done.lane;
        for unit in done.finished {
            if sends && unit.buffer.len() <= SENT_AT_ONCE_BYTES {
                sent.push(unit.without_elements());
                lane = send_out::unit(Arc::clone(&task), lane, unit).await?;
            } else {
                finished.push(unit);
            }
        }
    }
    Ok(LaneDone { lane, finished, sent })
}
