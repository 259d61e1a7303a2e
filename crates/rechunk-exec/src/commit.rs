//! The way out: a finished target chunk is encoded and stored, or compared.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_store::Role;

use crate::Fault;
use crate::frame::{self, check_length, wide};
use crate::stage_run::StageRun;
use crate::task::{Lane, LaneDone, TaskRun};
use crate::unit::Finished;

/// Sends a finished unit out.
pub(crate) async fn unit(
    task: Arc<TaskRun>,
    mut lane: Lane,
    unit: Finished,
) -> Result<LaneDone, Fault> {
    make_room(&task.stage, &mut lane);
    let region = unit.region.clone();
    if task.stage.compares() {
        lane = compare(&task, lane, unit).await?;
    } else {
        write(&task, unit).await?;
    }
    task.stage.progress(&region);
    Ok(LaneDone { lane, finished: Vec::new() })
}

/// A lane is paid for the way in or for the way out, whichever holds more, not for both: what it
/// decoded into is given up if what is needed now would not fit beside it.
fn make_room(stage: &StageRun, lane: &mut Lane) {
    let cost = stage.target().layout().codec_cost();
    let needs = if stage.compares() {
        cost.encoded_bytes_max.saturating_add(cost.decode_workspace_bytes)
    } else {
        let encoded = if cost.is_raw { 0 } else { cost.encoded_bytes_max };
        encoded.saturating_add(cost.encode_workspace_bytes)
    };
    if wide(lane.scratch.capacity()).saturating_add(needs) > stage.stage.lane_bytes {
        lane.scratch = Vec::new();
    }
}

async fn write(task: &Arc<TaskRun>, unit: Finished) -> Result<(), Fault> {
    let stage = &task.stage;
    let target = stage.target();
    let meter = target.store().meter();
    let unit_bytes = unit.buffer.len();
    meter.add_decoded_written(Role::Target, wide(unit_bytes));
    let job = Arc::clone(task);
    let index = unit.index;
    let (index, encoded) = stage.run.cpu.run(move || encode(&job, index, unit.buffer)).await?;
    let Some(encoded) = encoded else {
        meter.add_put_skipped(Role::Target);
        return Ok(());
    };
    let kept = encoded.is_unit.then(|| encoded.bytes.clone());
    target.write_chunk(&index, encoded.bytes).await.map_err(Fault::Target)?;
    if let Some(kept) = kept {
        recycle(task, kept);
    }
    Ok(())
}

struct Outgoing {
    bytes: Bytes,
    /// The bytes are the unit's buffer itself.
    is_unit: bool,
}

/// The encoded chunk; `None` if it holds only the fill value and is to be left out.
fn encode(
    task: &TaskRun,
    index: Vec<u64>,
    buffer: Vec<u8>,
) -> Result<(Vec<u64>, Option<Outgoing>), Fault> {
    let stage = &task.stage;
    if stage.skip_empty && rechunk_kernel::is_all(&stage.target_fill, &buffer) {
        task.buffers.give(buffer);
        return Ok((index, None));
    }
    let unit_bytes = buffer.len();
    let target = stage.target();
    let fault = |error| Fault::Target(target.decode_error(&index, error));
    let encoded = target.layout().encode(buffer).map_err(fault)?;
    let is_unit = encoded.buffer.is_none();
    match encoded.buffer {
        Some(buffer) if buffer.len() == unit_bytes => task.buffers.give(buffer),
        Some(_) => task.buffers.gone(unit_bytes),
        None => {}
    }
    Ok((index, Some(Outgoing { bytes: encoded.bytes, is_unit })))
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
    let encoded = other.read_chunk(&unit.index).await.map_err(Fault::Target)?;
    other.store().meter().add_decoded_read(Role::Target, wide(unit.buffer.len()));
    let task = Arc::clone(task);
    stage
        .run
        .cpu
        .run(move || {
            compare_buffers(&task.stage, &mut lane, &unit, encoded.as_ref())?;
            task.buffers.give(unit.buffer);
            Ok(lane)
        })
        .await
}

fn compare_buffers(
    stage: &StageRun,
    lane: &mut Lane,
    unit: &Finished,
    encoded: Option<&Bytes>,
) -> Result<(), Fault> {
    let frame = stage.unit_frame(&unit.index, &unit.region)?;
    let differences = match encoded {
        None => frame::compare_with_fill(&stage.target_fill, &unit.region, &unit.buffer, &frame)?,
        Some(encoded) => {
            let other = stage.target();
            let fault = |error| Fault::Target(other.decode_error(&unit.index, error));
            let decoded = other.layout().decode(encoded, &mut lane.scratch).map_err(fault)?;
            check_length(decoded, unit.buffer.len()).map_err(fault)?;
            if decoded == unit.buffer {
                return Ok(()); // the usual case, padding included
            }
            frame::compare(stage.item_bytes, &unit.region, &unit.buffer, decoded, &frame)?
        }
    };
    stage.run.add_differences(&unit.region, &differences);
    Ok(())
}
