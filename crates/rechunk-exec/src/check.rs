//! Does the plan fit the arrays? Asked once, before anything moves.

use rechunk_format::ShardFormat;
use rechunk_plan::{PLAN_VERSION, RunsSide, Stage, StageInput, StageOutput};

use crate::journal::DoneSet;
use crate::units::frame::wide;
use crate::{Execution, Fault, Sink, begin};

/// Refuses what would go wrong later, or quietly.
pub(crate) fn check(execution: &Execution, done: &DoneSet) -> Result<(), Fault> {
    check_arrays(execution)?;
    check_stages(execution)?;
    for (stage, task) in done.largest() {
        let tasks = execution.plan.stages.get(stage).map_or(0, |stage| stage.tasks);
        require(task < tasks, || {
            format!("the journal marks task {task} of stage {stage}, which has {tasks}")
        })?;
    }
    Ok(())
}

fn check_arrays(execution: &Execution) -> Result<(), Fault> {
    let plan = &execution.plan;
    require(plan.version == PLAN_VERSION, || {
        format!("it has version {}, this program knows {PLAN_VERSION}", plan.version)
    })?;
    let source = execution.source.layout().spec();
    let target = execution.sink.array().layout().spec();
    for (name, spec, chunk) in
        [("source", source, &plan.source_chunk), ("target", target, &plan.target_chunk)]
    {
        require(spec.shape == plan.shape, || {
            format!("the {name} has shape {:?}, the plan {:?}", spec.shape, plan.shape)
        })?;
        require(spec.chunk_shape == *chunk, || {
            format!("the {name} has chunks of {:?}, the plan {chunk:?}", spec.chunk_shape)
        })?;
        let (has, planned) = match name {
            "source" => (execution.source.layout().shards(), &plan.source_shard),
            _ => (execution.sink.array().layout().shards(), &plan.target_shard),
        };
        require(has.map(ShardFormat::shard_shape) == planned.as_deref(), || {
            let has = has.map(ShardFormat::shard_shape);
            format!("the {name} has shards of {has:?}, the plan {planned:?}")
        })?;
        require(spec.item_bytes() == plan.item_bytes, || {
            let (found, planned) = (spec.item_bytes(), plan.item_bytes);
            format!("an element of the {name} has {found} bytes, the plan's {planned}")
        })?;
        let fill = spec.fill_value.as_ref();
        require(fill.is_none_or(|fill| wide(fill.bytes.len()) == plan.item_bytes), || {
            format!("the fill value of the {name} is not one element")
        })?;
    }
    require(source.edges == plan.source_edges, || {
        "the source's chunks have other lengths than the plan's".to_owned()
    })?;
    require(target.edges.is_none(), || {
        "the target's chunks differ in length, which is not planned for".to_owned()
    })?;
    require(source.data_type == target.data_type, || {
        format!(
            "the source has {}, the target {}",
            source.data_type.name(),
            target.data_type.name()
        )
    })
}

fn check_stages(execution: &Execution) -> Result<(), Fault> {
    let plan = &execution.plan;
    let available = plan.memory.planned_peak_bytes.saturating_sub(plan.memory.fixed_bytes);
    let last = plan.stages.len().checked_sub(1);
    require(last.is_some(), || "it has no stages".to_owned())?;
    for (number, stage) in plan.stages.iter().enumerate() {
        require(stage.task_bytes <= available, || {
            format!("stage {number} needs {} bytes a task, {available} are there", stage.task_bytes)
        })?;
        let needed = stage.peak_bytes(plan.threads);
        require(needed <= available, || {
            format!("stage {number} needs {needed} bytes, {available} are there")
        })?;
        require(stage.lanes > 0 && stage.tasks_at_once > 0, || {
            format!("stage {number} has no lanes or runs no tasks")
        })?;
        let (reads_source, writes_target) = (stage.input.is_source(), stage.output.is_target());
        let in_place = reads_source == (number == 0) && writes_target == (Some(number) == last);
        require(in_place, || format!("stage {number} does not fit the one beside it"))?;
        require(writes_target || execution.intermediate.is_some(), || {
            "it has an intermediate, but there is no store for one".to_owned()
        })?;
        check_lanes(execution, number)?;
        if stage.passthrough {
            check_passthrough(execution)?;
        }
        require(stage.passthrough || !stage.copied_by_store, || {
            format!("stage {number} has objects copied that are to be decoded")
        })?;
        if stage.runs.is_some() {
            check_runs(execution, number)?;
        }
        let takes_apart = stage.input == StageInput::SourceShards;
        require(!takes_apart || plan.source_shard.is_some(), || {
            format!("stage {number} reads shards, but the source has none")
        })?;
        if stage.output == StageOutput::TargetShards {
            check_same_shards(execution, stage)?;
        }
    }
    Ok(())
}

/// Refuses lanes that have no room for what is fetched: the plan may count on parts of chunks that
/// have none.
fn check_lanes(execution: &Execution, number: usize) -> Result<(), Fault> {
    let stage = &execution.plan.stages[number];
    let way_in = begin::way_in(stage, execution);
    if !way_in.takes_chunks() {
        return Ok(());
    }
    let needed = way_in.fetched_bytes_max(&execution.source);
    require(stage.lane_bytes >= needed, || {
        let lane_bytes = stage.lane_bytes;
        format!("stage {number} fetches up to {needed} bytes into lanes of {lane_bytes}")
    })
}

/// Refuses a schedule for other files than those of the arrays.
fn check_runs(execution: &Execution, number: usize) -> Result<(), Fault> {
    let plan = &execution.plan;
    let stage = &plan.stages[number];
    require(matches!(execution.sink, Sink::Write(_)), || {
        "runs of raw files are copied, but elements are to be compared".to_owned()
    })?;
    require(plan.stages.len() == 1 && stage.tasks <= 1 && !stage.passthrough, || {
        "runs of raw files are copied, but not in one task".to_owned()
    })?;
    let sides = [
        ("source", execution.source.layout(), &plan.source_runs),
        ("target", execution.sink.array().layout(), &plan.target_runs),
    ];
    for (name, layout, planned) in sides {
        let found = layout.runs().map(|runs| RunsSide {
            block_shape: runs.block_shape.clone(),
            order: runs.axes.clone(),
            offset_bytes: runs.offset_bytes,
        });
        require(found.is_some() && found == *planned, || {
            format!("the {name} has raw files of {found:?}, the plan {planned:?}")
        })?;
    }
    let buffers = plan.buffers(number);
    buffers.map(drop).map_err(|error| Fault::Plan { reason: error.to_string() })
}

fn check_same_shards(execution: &Execution, stage: &Stage) -> Result<(), Fault> {
    let (source, target) = (execution.source.layout(), execution.sink.array().layout());
    let is_copied = stage.passthrough && stage.input == StageInput::SourceShards;
    require(is_copied && source.shards() == target.shards(), || {
        "whole shards are copied, but source and target have others".to_owned()
    })
}

fn check_passthrough(execution: &Execution) -> Result<(), Fault> {
    let (source, target) = (execution.source.layout(), execution.sink.array().layout());
    require(!matches!(execution.sink, Sink::Compare(_)), || {
        "encoded chunks are copied, but elements are to be compared".to_owned()
    })?;
    require(source.spec().chunk_shape == target.spec().chunk_shape, || {
        "encoded chunks are copied, but source and target have chunks of other shapes".to_owned()
    })?;
    require(source.encoding_identity() == target.encoding_identity(), || {
        "encoded chunks are copied, but source and target encode differently".to_owned()
    })?;
    // A chunk that is missing in the source will be missing in the target.
    require(source.spec().fill_value == target.spec().fill_value, || {
        "encoded chunks are copied, but source and target have different fill values".to_owned()
    })
}

fn require(holds: bool, reason: impl FnOnce() -> String) -> Result<(), Fault> {
    if holds { Ok(()) } else { Err(Fault::Plan { reason: reason() }) }
}
