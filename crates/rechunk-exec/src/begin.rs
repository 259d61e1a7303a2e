//! Chooses, once for each stage and once for each task, the way its data take.

use std::sync::Arc;

use rechunk_grid::WriteEmpty;
use rechunk_kernel::Digest;
use rechunk_plan::{Stage, StageGeometry, Unit};

use crate::cpu::CpuPool;
use crate::memory::workers::Workers;
use crate::raw_runs;
use crate::stage::busy_tasks::BusyTasks;
use crate::stage::context::RunContext;
use crate::stage::digest::{DigestSum, StageDigest};
use crate::stage::in_place::InPlace;
use crate::stage::plain::PlainInput;
use crate::stage::shards::{SourceIndexes, TargetShards};
use crate::stage::stage_op::StageOp;
use crate::stage::stage_run::StageRun;
use crate::stage::task::{Begun, TaskRun};
use crate::stage::way_in::WayIn;
use crate::stage::way_out::WayOut;
use crate::steps::slot::Slot;
use crate::steps::{ahead, announced, flow};
use crate::units::unit::Units;
use crate::variable::{self, state::VariableState};
use crate::ways_in::{by_slab, store_copies};
use crate::{Execution, Fault, Sink};

/// Chooses the way of the inputs of a stage.
pub(crate) fn way_in(stage: &Stage, execution: &Execution) -> WayIn {
    if stage.schedule().is_some() {
        return WayIn::Runs;
    }
    if stage.is_variable() {
        return WayIn::Variable;
    }
    let source = &execution.source;
    let shards = match stage.input_unit() {
        Unit::Piece => return WayIn::Pieces,
        Unit::Shard => source.layout().shards().cloned(),
        Unit::Chunk => None,
    };
    match shards {
        Some(format) if stage.passes_through() => WayIn::StoredShards(format),
        None if stage.passes_through() => WayIn::StoredChunks,
        Some(format) => WayIn::Shards(format),
        // A digest of chunks as they are stored takes all of each.
        None if matches!(execution.sink, Sink::Digest { of_encoded_chunks: true, .. }) => {
            WayIn::Chunks
        }
        None => PlainInput::of(stage, source).map_or(WayIn::Chunks, WayIn::Plain),
    }
}

/// Chooses the way of the finished units of a stage.
fn way_out(geometry: &StageGeometry, execution: &Execution) -> WayOut {
    match execution.sink {
        _ if geometry.writes_pieces() => WayOut::Pieces,
        Sink::Write(_) => WayOut::Write,
        Sink::Compare(_) => WayOut::Compare,
        Sink::Digest { .. } => WayOut::Nothing,
    }
}

/// Begins stage `number` of a run.
pub(crate) fn stage(run: Arc<RunContext>, number: usize) -> Result<StageRun, Fault> {
    let execution = &run.execution;
    let stage = execution.plan.stages[number].clone();
    let geometry = execution.plan.geometry(number).map_err(Fault::Grid)?;
    let item = stage.output(&execution.plan).item_bytes;
    let item_bytes = usize::try_from(item).map_err(|_| Fault::BufferTooLarge { elements: 1 })?;
    let (way_in, way_out) = (way_in(&stage, execution), way_out(&geometry, execution));
    let source = execution.source.layout();
    let target = execution.sink.array().layout();
    let endian = target.element_order().endian;
    let data_type = source.spec().data_type;
    let swaps = way_in.reads_source() && source.element_order().endian != endian;
    let swap_bytes = if swaps { data_type.swap_bytes() } else { 1 };
    // More threads than lanes would have nothing to do. A plan without any has its jobs run in
    // place.
    let planned = execution.plan.threads;
    let threads = stage.workers(planned).min(u64::from(planned));
    let variable = match way_in {
        WayIn::Variable => Some(Arc::new(VariableState::new(&stage, execution)?)),
        _ => None,
    };
    let digest = match execution.sink {
        Sink::Compare(_) => StageDigest::None,
        Sink::Write(_) if !execution.takes_digest => StageDigest::None,
        Sink::Digest { of_encoded_chunks: true, .. } => StageDigest::of_encoded_chunks(),
        Sink::Write(_) | Sink::Digest { .. } => {
            StageDigest::new(&way_in, &execution.source, item_bytes)
        }
    };
    let cpu = CpuPool::new(u32::try_from(threads).unwrap_or(1))?;
    let (source_fill, target_fill) =
        (source.spec().fill_item(endian), target.spec().fill_item(endian));
    let op = StageOp::of(&stage, execution, data_type, endian);
    // What is absent here and there has to read the same.
    let (has_fill, is_same_fill) = match &variable {
        Some(_) => VariableState::fills(source.as_ref(), target.as_ref()),
        None => (target.spec().fill_value.is_some(), source_fill == target_fill && op.is_none()),
    };
    let skips_absent = (has_fill || variable.is_some())
        && is_same_fill
        && execution.write_empty != WriteEmpty::Always;
    let edges = source.spec().edges.as_ref();
    let held = edges.and_then(|edges| edges.held(&execution.plan.source().shape));
    let leaves_absent_out = skips_absent && way_out == WayOut::Write && held.is_none();
    let in_place = InPlace::new(&stage, (&way_in, way_out), execution, &geometry, &cpu);
    let next_inputs = in_place.next_inputs(planned);
    let slab_bytes = by_slab::slab_bytes(&way_in, &execution.source, &geometry);
    Ok(StageRun {
        store_copies: store_copies::is_possible(&stage, way_out, execution, &digest).into(),
        announced_inputs: announced::inputs_max(&way_in, execution, &geometry, next_inputs),
        slab_bytes: slab_bytes.filter(|_| in_place.reads_files()),
        in_place,
        busy: BusyTasks::new(execution, &way_in, leaves_absent_out, is_same_fill),
        ahead_lanes: ahead::lanes(execution, &stage, &way_in),
        variable,
        workers: Workers::new(&stage),
        digest,
        cpu,
        tasks: execution.tasks_of(number),
        number,
        geometry,
        held,
        way_in,
        op,
        way_out,
        item_bytes,
        swap_bytes: usize::try_from(swap_bytes).unwrap_or(1),
        skips_stored: match execution.write_empty {
            WriteEmpty::Always => false,
            // What is stored says more than what is absent.
            WriteEmpty::Auto => has_fill && !source.tells_absence(),
            WriteEmpty::Never => has_fill,
        },
        skips_absent,
        leaves_absent_out,
        source_fill,
        target_fill,
        stage,
        run,
    })
}

/// Runs a task. `slot` is fit for use again only if this succeeds. Returns the digest of what the
/// whole task took from the source, if that is known and the stage takes one.
pub(crate) async fn task(
    stage: Arc<StageRun>,
    slot: &mut Slot,
    number: u64,
    begun: Begun,
) -> Result<Option<Digest>, Fault> {
    slot.buffers.set_open(true);
    if matches!(stage.way_in, WayIn::Runs) {
        raw_runs::task::run(stage, Arc::clone(&slot.buffers), number, begun.steps).await?;
        return Ok(None);
    }
    let mut digest = stage.digest.method().map(|_| Digest::default());
    let shards = Arc::new(TargetShards::default());
    let owned = stage.geometry.tile(number);
    for tile in stage.geometry.boxes(&owned) {
        let task = Arc::new(TaskRun {
            number,
            is_last: stage.is_last(number) && tile == owned,
            tile,
            units: Units::default(),
            buffers: Arc::clone(&slot.buffers),
            indexes: SourceIndexes::default(),
            shards: Arc::clone(&shards),
            steps_done: begun.steps,
            digest_before: begun.digest,
            digest: DigestSum::default(),
            stage: Arc::clone(&stage),
        });
        let of_units = match &stage.way_in {
            WayIn::Variable => variable::task::run(&task).await?,
            _ => flow::run(&task, &mut slot.lanes).await?,
        };
        digest = digest.zip(of_units).map(|(sum, new)| sum + new + task.digest.get());
    }
    Ok(digest)
}
