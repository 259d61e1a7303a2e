//! The way into the target: a finished chunk is encoded and stored.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_grid::Region;
use rechunk_store::Role;

use crate::Fault;
use crate::memory::lane::Lane;
use crate::stage::task::TaskRun;
use crate::units::unit::Finished;
use crate::ways_out::kept;
use crate::ways_out::target::store;

/// Encodes and stores a unit.
pub(crate) async fn unit(
    task: &Arc<TaskRun>,
    mut lane: Lane,
    unit: Finished,
) -> Result<Lane, Fault> {
    let stage = &task.stage;
    if !unit.buffer.is_empty() {
        make_room(task, &mut lane, &unit);
    }
    let (mut lane, unit) = kept::put_in(task, lane, unit).await?;
    let meter = stage.target().store().meter();
    let own = Region::new(unit.index.clone(), vec![1; unit.index.len()]);
    meter.add_decoded_written(Role::Target, stage.target_bytes_of(&own));
    if unit.buffer.is_empty() {
        store(task, &unit.index, None).await?;
        return Ok(lane); // nothing of it is there: no thread has anything to do
    }
    let job = Arc::clone(task);
    let encoding = move || {
        let index = unit.index.clone();
        let encode = |lane: &mut Lane| encode(&job, lane, unit);
        let outgoing = job.stage.workers.serve(&mut lane, job.stage.encoding(), encode)?;
        Ok((lane, index, outgoing))
    };
    let (mut lane, index, outgoing) = stage.cpu.run(encoding).await?;
    let (bytes, is_unit) = match outgoing {
        Some(outgoing) => (Some(outgoing.bytes), outgoing.is_unit),
        None => (None, false),
    };
    let Some(kept) = store(task, &index, bytes).await? else { return Ok(lane) };
    if is_unit {
        task.buffers.recycle(kept);
    } else {
        lane.recycle(kept);
    }
    Ok(lane)
}

/// Makes room in a lane for a chunk's stored form. Also for the stored chunk if that is decoded
/// before, and for the unit where steps overlap.
fn make_room(task: &TaskRun, lane: &mut Lane, unit: &Finished) {
    let stage = &task.stage;
    let cost = stage.target().layout().codec_cost();
    let (encoded_bytes, needs) = if stage.kept(&unit.region).is_empty() {
        (if cost.is_raw { 0 } else { cost.encoded_bytes_max }, stage.encoding())
    } else {
        (cost.encoded_bytes_max, stage.decoding_target().or(stage.encoding()))
    };
    let held_bytes = stage.sent_bytes(unit.buffer.len());
    stage.workers.make_room(lane, encoded_bytes, needs, held_bytes, &task.buffers);
}

struct Outgoing {
    bytes: Bytes,
    /// The bytes are the unit's buffer itself.
    is_unit: bool,
}

/// The encoded chunk; `None` if it holds only the fill value and is to be left out.
fn encode(task: &TaskRun, lane: &mut Lane, unit: Finished) -> Result<Option<Outgoing>, Fault> {
    let stage = &task.stage;
    let Finished { index, buffer, stored, .. } = unit;
    let may_skip = stage.skips_stored || (stage.skips_absent && !stored.any);
    if may_skip && rechunk_kernel::is_all(&stage.target_fill, &buffer) {
        task.buffers.give(buffer);
        return Ok(None);
    }
    let layout = stage.target().layout();
    if layout.codec_cost().is_raw {
        return Ok(Some(Outgoing { bytes: Bytes::from(buffer), is_unit: true }));
    }
    let fault = |error| Fault::Target(stage.target().decode_error(&index, error));
    layout.encode(&index, &buffer, &mut lane.encoded).map_err(fault)?;
    task.buffers.give(buffer);
    Ok(Some(Outgoing { bytes: lane.take_encoded(), is_unit: false }))
}
