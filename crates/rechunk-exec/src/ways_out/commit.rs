//! The way out: a finished target chunk is encoded and stored, or compared.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_store::Role;

use crate::Fault;
use crate::memory::lane::Lane;
use crate::stage::stage_run::StageRun;
use crate::stage::task::TaskRun;
use crate::units::frame::{self, check_length, wide};
use crate::units::unit::Finished;
use crate::ways_out::kept;
use crate::ways_out::target::{fetch_chunk, store};

/// Sends a unit out.
pub(crate) async fn unit(
    task: Arc<TaskRun>,
    mut lane: Lane,
    unit: Finished,
) -> Result<Lane, Fault> {
    if task.stage.only_reads() {
        task.stage.progress(&unit.region);
        task.buffers.give(unit.buffer);
        return Ok(lane);
    }
    if task.stage.compares() || !unit.buffer.is_empty() {
        make_room(&task, &mut lane, &unit);
    }
    let region = unit.region.clone();
    if task.stage.compares() {
        lane = compare(&task, lane, unit).await?;
    } else {
        lane = write(&task, lane, unit).await?;
    }
    task.stage.progress(&region);
    Ok(lane)
}

/// Makes room in a lane for a chunk's stored form. Also for the stored chunk if that is decoded
/// before, and for the unit where steps overlap.
fn make_room(task: &TaskRun, lane: &mut Lane, unit: &Finished) {
    let stage = &task.stage;
    let cost = stage.target().layout().codec_cost();
    let (encoded_bytes, needs) = if stage.compares() {
        (cost.encoded_bytes_max, stage.decoding_target())
    } else if !stage.kept(&unit.region).is_empty() {
        (cost.encoded_bytes_max, stage.decoding_target().or(stage.encoding()))
    } else {
        (if cost.is_raw { 0 } else { cost.encoded_bytes_max }, stage.encoding())
    };
    let held_bytes = if stage.stage.is_stepped {
        wide(unit.buffer.len()).saturating_add(stage.target_shard_state_bytes())
    } else {
        0
    };
    stage.workers.make_room(lane, encoded_bytes, needs, held_bytes, &task.buffers);
}

async fn write(task: &Arc<TaskRun>, lane: Lane, unit: Finished) -> Result<Lane, Fault> {
    let stage = &task.stage;
    let (mut lane, unit) = kept::put_in(task, lane, unit).await?;
    let meter = stage.target().store().meter();
    meter.add_decoded_written(Role::Target, stage.target_chunk_bytes());
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

async fn compare(task: &Arc<TaskRun>, mut lane: Lane, unit: Finished) -> Result<Lane, Fault> {
    let stage = Arc::clone(&task.stage);
    let other = stage.target();
    let found = fetch_chunk(task, &unit.index, &mut lane.encoded).await?;
    if let Some(format) = other.layout().shards() {
        let shard =
            task.shards.of_chunk(&task.stage, format, &unit.index).map_err(Fault::Target)?;
        task.shards.done(&task.stage, &shard).await?;
    }
    other.store().meter().add_decoded_read(Role::Target, wide(unit.buffer.len()));
    let task = Arc::clone(task);
    stage
        .cpu
        .run(move || {
            let stage = &task.stage;
            let compare = |lane: &mut Lane| compare_buffers(stage, lane, &unit, found);
            stage.workers.serve(&mut lane, stage.decoding_target(), compare)?;
            task.buffers.give(unit.buffer);
            Ok(lane)
        })
        .await
}

fn compare_buffers(
    stage: &StageRun,
    lane: &mut Lane,
    unit: &Finished,
    found: bool,
) -> Result<(), Fault> {
    let frame = stage.unit_frame(&unit.index, &unit.region)?;
    // Nothing is known of what the source does not hold.
    let Some(region) = stage.source_part(&unit.region) else { return Ok(()) };
    let differences = if found {
        let other = stage.target();
        let fault = |error| Fault::Target(other.decode_error(&unit.index, error));
        let decoded =
            other.layout().decode(&unit.index, &lane.encoded, &mut lane.scratch).map_err(fault)?;
        check_length(decoded, unit.buffer.len()).map_err(fault)?;
        if decoded == unit.buffer {
            return Ok(()); // the usual case, padding included
        }
        frame::compare(stage.item_bytes, &region, &unit.buffer, decoded, &frame)?
    } else {
        frame::compare_with_fill(&stage.target_fill, &region, &unit.buffer, &frame)?
    };
    stage.run.add_differences(&region, &differences);
    Ok(())
}
