//! Does the plan fit the arrays? Asked once, before anything moves.

use rechunk_format::ShardFormat;
use rechunk_kernel::wide;
use rechunk_plan::{ArrayRole, Kernel, PLAN_VERSION, RunsSide, Stage, Unit};

use crate::journal::DoneSet;
use crate::{Execution, Fault, Sink, begin, pyramid, variable, windows};

/// Refuses what would go wrong later, or quietly.
pub(crate) fn check(execution: &Execution, done: &DoneSet) -> Result<(), Fault> {
    if let Some(work) = &execution.plan.apply {
        check_version(execution)?;
        windows::check::check(execution, work)?;
    } else if let Some(work) = &execution.plan.pyramid {
        check_version(execution)?;
        pyramid::check::check(execution, work)?;
    } else {
        check_arrays(execution)?;
        check_stages(execution)?;
    }
    for (stage, task) in done.largest() {
        let tasks = execution.plan.stages.get(stage).map_or(0, |stage| stage.tasks);
        require(task < tasks, || {
            format!("the journal marks task {task} of stage {stage}, which has {tasks}")
        })?;
    }
    Ok(())
}

/// Refuses a range of tasks that is none of the plan, or cuts what is one range. Also one whose
/// input is missing, as far as `done` can say so: it is `None` where no journal is kept.
pub(crate) fn check_tasks(execution: &Execution, done: Option<&DoneSet>) -> Result<(), Fault> {
    let Some(tasks) = &execution.tasks else { return Ok(()) };
    let (stages, number) = (&execution.plan.stages, tasks.stage);
    let Some(stage) = stages.get(number) else {
        let reason = format!("it has {} stages, and no stage {number}", stages.len());
        return Err(Fault::Plan { reason });
    };
    require(tasks.start <= tasks.end && tasks.end <= stage.tasks, || {
        let (start, end) = (tasks.start, tasks.end);
        format!("stage {number} has {} tasks, not those from {start} to {end}", stage.tasks)
    })?;
    require(stage.schedule().is_none() || tasks.len() == stage.tasks, || {
        format!("stage {number} moves raw files in runs, by one task: it cannot be cut")
    })?;
    let Some(done) = done else { return Ok(()) };
    for (before, stage) in stages.iter().enumerate().take(number) {
        let left = stage.tasks.saturating_sub(done.count(before));
        require(left == 0, || {
            format!("stage {number} reads what stage {before} writes: {left} tasks are not done")
        })?;
    }
    Ok(())
}

fn check_version(execution: &Execution) -> Result<(), Fault> {
    let found = execution.plan.version;
    require(found == PLAN_VERSION, || {
        format!("it has version {found}, this program knows {PLAN_VERSION}")
    })
}

fn check_arrays(execution: &Execution) -> Result<(), Fault> {
    check_version(execution)?;
    let plan = &execution.plan;
    for role in [ArrayRole::Source, ArrayRole::Target] {
        let count = plan.arrays.iter().filter(|array| array.role == role).count();
        require(count == 1, || {
            let role = if role == ArrayRole::Source { "sources" } else { "targets" };
            format!("it has {count} {role}, this program takes one")
        })?;
    }
    let source = execution.source.layout().spec();
    let target = execution.sink.array().layout().spec();
    for (name, spec, array) in
        [("source", source, plan.source()), ("target", target, plan.target())]
    {
        let chunk = &array.chunk;
        require(spec.shape == array.shape, || {
            format!("the {name} has shape {:?}, the plan {:?}", spec.shape, array.shape)
        })?;
        require(spec.chunk_shape == *chunk, || {
            format!("the {name} has chunks of {:?}, the plan {chunk:?}", spec.chunk_shape)
        })?;
        let has = match array.role {
            ArrayRole::Source => execution.source.layout().shards(),
            _ => execution.sink.array().layout().shards(),
        };
        let planned = &array.shard;
        require(has.map(ShardFormat::shard_shape) == planned.as_deref(), || {
            let has = has.map(ShardFormat::shard_shape);
            format!("the {name} has shards of {has:?}, the plan {planned:?}")
        })?;
        // Of elements that differ in length the plan says what is expected.
        let is_expected = spec.data_type.is_variable();
        require(is_expected || spec.item_bytes() == array.item_bytes, || {
            let (found, planned) = (spec.item_bytes(), array.item_bytes);
            format!("an element of the {name} has {found} bytes, the plan's {planned}")
        })?;
        let fill = spec.fill_value.as_ref();
        require(fill.is_none_or(|fill| wide(fill.bytes.len()) == array.item_bytes), || {
            format!("the fill value of the {name} is not one element")
        })?;
    }
    require(source.edges == plan.source().edges, || {
        "the source's chunks have other lengths than the plan's".to_owned()
    })?;
    require(target.edges == plan.target().edges, || {
        "the target's chunks have other lengths than the plan's".to_owned()
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
        check_kernel(execution, number)?;
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
        let (reads_source, writes_target) = (stage.reads_source(), stage.writes_target());
        let in_place = reads_source == (number == 0) && writes_target == (Some(number) == last);
        require(in_place, || format!("stage {number} does not fit the one beside it"))?;
        require(writes_target || execution.intermediate.is_some(), || {
            "it has an intermediate, but there is no store for one".to_owned()
        })?;
        check_lanes(execution, number)?;
        if stage.passes_through() {
            check_passthrough(execution)?;
        }
        if stage.is_variable() {
            variable::state::check(execution)?;
        }
        if stage.schedule().is_some() {
            check_runs(execution, number)?;
        }
        let takes_apart = stage.input_unit() == Unit::Shard;
        require(!takes_apart || stage.input(plan).shard.is_some(), || {
            format!("stage {number} reads shards, but the source has none")
        })?;
        if stage.output_unit() == Unit::Shard {
            check_same_shards(execution, stage)?;
        }
    }
    Ok(())
}

/// Refuses kernels that nothing here computes, and windows that are more than their tiles.
fn check_kernel(execution: &Execution, number: usize) -> Result<(), Fault> {
    let stage = &execution.plan.stages[number];
    let data_type = execution.source.layout().spec().data_type;
    let is_known = match &stage.kernel {
        Kernel::Copy(_) => true,
        Kernel::Op(spec) => execution.op(spec, data_type).is_some(),
        Kernel::Combine(_) | Kernel::Reduce(_) => false,
    };
    require(is_known, || {
        format!("stage {number} has the kernel {}, which this program has not", stage.kernel)
    })?;
    let ([input], [output]) = (&stage.inputs[..], &stage.outputs[..]) else {
        return require(false, || format!("stage {number} has not one input and one output"));
    };
    require(input.window.is_identity() && output.window.is_identity(), || {
        format!(
            "stage {number} ({}) reads or writes windows that differ from its tiles, which this \
             program does not do",
            stage.kernel
        )
    })?;
    let shapes = [&stage.input(&execution.plan).shape, &stage.output(&execution.plan).shape];
    require(shapes == [&stage.shape; 2], || {
        format!("stage {number} has tiles of {:?}, its arrays have shapes {shapes:?}", stage.shape)
    })
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
    require(plan.stages.len() == 1 && stage.tasks <= 1, || {
        "runs of raw files are copied, but not in one task".to_owned()
    })?;
    let sides = [
        ("source", execution.source.layout(), &plan.source().runs),
        ("target", execution.sink.array().layout(), &plan.target().runs),
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
    let is_copied = stage.passes_through() && stage.input_unit() == Unit::Shard;
    require(is_copied && source.shards() == target.shards(), || {
        "whole shards are copied, but source and target have others".to_owned()
    })
}

fn check_passthrough(execution: &Execution) -> Result<(), Fault> {
    let (source, target) = (execution.source.layout(), execution.sink.array().layout());
    require(!matches!(execution.sink, Sink::Compare(_)), || {
        "encoded chunks are copied, but elements are to be compared".to_owned()
    })?;
    let (from, to) = (source.spec(), target.spec());
    require(from.chunk_shape == to.chunk_shape && from.edges == to.edges, || {
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
