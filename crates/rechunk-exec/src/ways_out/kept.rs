//! Keeps the target's elements of a chunk that the source does not hold: the chunk is read before
//! it is written.

use std::sync::Arc;

use rechunk_format::check_chunk_bytes;
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_store::Role;

use crate::Fault;
use crate::memory::lane::Lane;
use crate::stage::stage_run::StageRun;
use crate::stage::task::TaskRun;
use crate::units::frame;
use crate::units::unit::Finished;
use crate::ways_out::target::fetch_chunk;

/// Puts what stays into a unit that has all that the source holds of it. Done again after the chunk
/// was written it changes nothing.
pub(crate) async fn put_in(
    task: &Arc<TaskRun>,
    mut lane: Lane,
    mut unit: Finished,
) -> Result<(Lane, Finished), Fault> {
    let stage = &task.stage;
    let kept = stage.kept(&unit.region);
    if kept.is_empty() {
        return Ok((lane, unit));
    }
    let found = fetch_chunk(task, &unit.index, &mut lane.encoded).await?;
    let meter = stage.target().store().meter();
    meter.add_decoded_read(Role::Target, wide(unit.buffer.len()));
    // Where absent is not the same as empty: it was there.
    unit.stored.any |= found;
    let job = Arc::clone(task);
    let work = move || {
        let stage = &job.stage;
        let copy = |lane: &mut Lane| copy(stage, lane, &mut unit, &kept, found);
        stage.workers.serve(&mut lane, stage.decoding_target(), copy)?;
        Ok((lane, unit))
    };
    stage.cpu.run(work).await
}

fn copy(
    stage: &StageRun,
    lane: &mut Lane,
    unit: &mut Finished,
    kept: &[Region],
    found: bool,
) -> Result<(), Fault> {
    let frame = stage.unit_frame(&unit.index, &unit.region)?;
    if !found {
        let fill = |part| frame::fill(&stage.target_fill, part, (&mut unit.buffer[..], &frame));
        return kept.iter().try_for_each(fill);
    }
    let Lane { encoded, scratch, .. } = lane;
    let target = stage.target();
    let fault = |error| Fault::Target(target.decode_error(&unit.index, error));
    let decoded = target.layout().decode(&unit.index, encoded, scratch).map_err(fault)?;
    check_chunk_bytes(decoded, unit.buffer.len()).map_err(fault)?;
    let copy = |part| {
        let (old, new) = ((decoded, &frame), (&mut unit.buffer[..], &frame));
        frame::copy(stage.item_bytes, part, old, new, 1)
    };
    kept.iter().try_for_each(copy)
}
