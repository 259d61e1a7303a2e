//! The way out: a finished target chunk is encoded and stored, or compared.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_store::Role;

use crate::Fault;
use crate::frame::{self, check_length, wide};
use crate::stage_run::StageRun;
use crate::task::{Lane, LaneDone, TaskRun};
use crate::unit::Finished;

/// Sends a unit out that was completed in `step`.
pub(crate) async fn unit(
    task: Arc<TaskRun>,
    mut lane: Lane,
    unit: Finished,
    step: u64,
) -> Result<LaneDone, Fault> {
    let (encoded_bytes, mut workspace_bytes) = needs(&task.stage);
    if task.stage.stage.is_stepped {
        workspace_bytes = workspace_bytes.saturating_add(wide(unit.buffer.len()));
    }
    lane.make_room(encoded_bytes, 0, workspace_bytes, task.stage.stage.lane_bytes);
    let region = unit.region.clone();
    if task.stage.compares() {
        lane = compare(&task, lane, unit).await?;
    } else {
        lane = write(&task, lane, unit).await?;
    }
    task.stage.progress(&region);
    Ok(LaneDone { lane, finished: Vec::new(), sent_in: Some(step) })
}

/// What sending a chunk out takes of a lane: its stored form, and what the codecs allocate.
fn needs(stage: &StageRun) -> (u64, u64) {
    let cost = stage.target().layout().codec_cost();
    match (stage.compares(), cost.is_raw) {
        (true, _) => (cost.encoded_bytes_max, cost.decode_workspace_bytes),
        (false, true) => (0, cost.encode_workspace_bytes),
        (false, false) => (cost.encoded_bytes_max, cost.encode_workspace_bytes),
    }
}

async fn write(task: &Arc<TaskRun>, mut lane: Lane, unit: Finished) -> Result<Lane, Fault> {
    let stage = &task.stage;
    let target = stage.target();
    let meter = target.store().meter();
    meter.add_decoded_written(Role::Target, wide(unit.buffer.len()));
    let job = Arc::clone(task);
    let encoding = move || {
        let outgoing = encode(&job, &mut lane, &unit.index, unit.buffer)?;
        Ok((lane, unit.index, outgoing))
    };
    let (mut lane, index, outgoing) = stage.cpu.run(encoding).await?;
    let Some(outgoing) = outgoing else {
        meter.add_put_skipped(Role::Target);
        return Ok(lane);
    };
    let kept = outgoing.bytes.clone();
    target.write_chunk(&index, outgoing.bytes).await.map_err(Fault::Target)?;
    if outgoing.is_unit {
        recycle(task, kept);
    } else if kept.is_unique() {
        lane.encoded = Vec::from(kept);
    }
    Ok(lane)
}

struct Outgoing {
    bytes: Bytes,
    /// The bytes are the unit's buffer itself.
    is_unit: bool,
}

/// The encoded chunk; `None` if it holds only the fill value and is to be left out.
fn encode(
    task: &TaskRun,
    lane: &mut Lane,
    index: &[u64],
    buffer: Vec<u8>,
) -> Result<Option<Outgoing>, Fault> {
    let stage = &task.stage;
    if stage.skip_empty && rechunk_kernel::is_all(&stage.target_fill, &buffer) {
        task.buffers.give(buffer);
        return Ok(None);
    }
    let layout = stage.target().layout();
    if layout.codec_cost().is_raw {
        return Ok(Some(Outgoing { bytes: Bytes::from(buffer), is_unit: true }));
    }
    let fault = |error| Fault::Target(stage.target().decode_error(index, error));
    layout.encode(&buffer, &mut lane.encoded).map_err(fault)?;
    task.buffers.give(buffer);
    let bytes = Bytes::from(std::mem::take(&mut lane.encoded));
    Ok(Some(Outgoing { bytes, is_unit: false }))
}

/// Takes a buffer that was stored as it is back, unless the store has kept it.
pub(crate) fn recycle(task: &TaskRun, bytes: Bytes) {
    let length = bytes.len();
    if bytes.is_unique() {
        task.buffers.give(Vec::from(bytes));
    } else {
        task.buffers.gone(length);
    }
}

async fn compare(task: &Arc<TaskRun>, mut lane: Lane, unit: Finished) -> Result<Lane, Fault> {
    let stage = Arc::clone(&task.stage);
    let other = stage.target();
    let found = other.read_chunk_into(&unit.index, &mut lane.encoded).await;
    let found = found.map_err(Fault::Target)?;
    other.store().meter().add_decoded_read(Role::Target, wide(unit.buffer.len()));
    let task = Arc::clone(task);
    stage
        .cpu
        .run(move || {
            compare_buffers(&task.stage, &mut lane, &unit, found)?;
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
    let differences = if found {
        let other = stage.target();
        let fault = |error| Fault::Target(other.decode_error(&unit.index, error));
        let decoded = other.layout().decode(&lane.encoded, &mut lane.scratch).map_err(fault)?;
        check_length(decoded, unit.buffer.len()).map_err(fault)?;
        if decoded == unit.buffer {
            return Ok(()); // the usual case, padding included
        }
        frame::compare(stage.item_bytes, &unit.region, &unit.buffer, decoded, &frame)?
    } else {
        frame::compare_with_fill(&stage.target_fill, &unit.region, &unit.buffer, &frame)?
    };
    stage.run.add_differences(&unit.region, &differences);
    Ok(())
}
