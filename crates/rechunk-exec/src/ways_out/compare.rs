//! The way into a comparison: a finished chunk is compared with the one that the target has.

use std::sync::Arc;

use rechunk_format::check_chunk_bytes;
use rechunk_kernel::wide;
use rechunk_store::Role;

use crate::Fault;
use crate::memory::lane::Lane;
use crate::stage::stage_run::StageRun;
use crate::stage::task::TaskRun;
use crate::units::frame;
use crate::units::unit::Finished;
use crate::ways_out::target::fetch_chunk;

/// Compares a unit.
pub(crate) async fn unit(
    task: &Arc<TaskRun>,
    mut lane: Lane,
    unit: Finished,
) -> Result<Lane, Fault> {
    let stage = Arc::clone(&task.stage);
    let other = stage.target();
    let encoded_bytes = other.layout().codec_cost().encoded_bytes_max;
    let (needs, held_bytes) = (stage.decoding_target(), stage.sent_bytes(unit.buffer.len()));
    stage.workers.make_room(&mut lane, encoded_bytes, needs, held_bytes, &task.buffers);
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
        check_chunk_bytes(decoded, unit.buffer.len()).map_err(fault)?;
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
