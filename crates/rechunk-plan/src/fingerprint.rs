//! The fingerprint of a plan.

use sha2::{Digest, Sha256};

use crate::{
    ApplyWork, ArrayId, ArrayRole, Kernel, Plan, PlanArray, PyramidWork, Stage, Unit, Way,
};

/// Form of the text that is hashed. It is that of version 2 of the plan, so that a run of a program
/// of that version can be gone on with: raise it only where the same fields decide other objects.
const FINGERPRINT_FORM: u64 = 2;

impl Plan {
    /// The fingerprint that its contents have; [`Plan::fingerprint`] is what it says.
    pub fn computed_fingerprint(&self) -> String {
        of(self)
    }
}

/// Hashes, with SHA-256, everything that decides which objects are written by which task. That is
/// geometry, not parallelism, so that a run may be resumed with other `--threads`, `--concurrency`
/// or memory.
fn of(plan: &Plan) -> String {
    let axes = |axes: &[usize]| -> Vec<u64> { axes.iter().map(|&axis| axis as u64).collect() };
    let mut hash = Sha256::new();
    let mut field = |name: &str, values: &[u64]| {
        hash.update(name.as_bytes());
        hash.update((values.len() as u64).to_le_bytes());
        for value in values {
            hash.update(value.to_le_bytes());
        }
    };
    let (source, target) = (plan.source(), plan.target());
    field(plan.kind.name(), &[FINGERPRINT_FORM, source.item_bytes]);
    field("shape", &source.shape);
    field("source", &source.chunk);
    field("target", &target.chunk);
    for (name, shard) in [("source shard", &source.shard), ("target shard", &target.shard)] {
        if let Some(shard) = shard {
            field(name, shard);
        }
    }
    for (name, runs) in [("source files", &source.runs), ("target files", &target.runs)] {
        if let Some(runs) = runs {
            field(name, &runs.block_shape);
            field("stored by", &axes(&runs.order));
            field("behind", &[runs.offset_bytes]);
        }
    }
    if plan.keeps_absence {
        field("keeps absence", &[]);
    }
    for axis in 0..source.shape.len() {
        if let Some(edges) = source.edges.as_ref().and_then(|edges| edges.axis(axis)) {
            field("source edges", &[axis as u64]);
            field("ends", edges.ends());
            if let Some((first, end)) = edges.held() {
                field("held", &[first, end]);
            }
        }
    }
    for stage in &plan.stages {
        field(&stage.name, &[u64::from(stage.passes_through())]);
        field("tile", &stage.tile);
        if let Some(shape) = &stage.box_shape {
            field("box", shape);
        }
        field("step", &stage.step_chunks);
        field("axes", &axes(&stage.step_axes));
        field("tasks", &[stage.tasks]);
        if let Some(schedule) = stage.schedule() {
            field("buffer", &schedule.buffer);
            let kept: Vec<u64> = schedule.kept.iter().map(|&kept| u64::from(kept)).collect();
            field("kept", &kept);
            field("buffer axes", &axes(&schedule.step_axes));
        }
        match stage.input_unit() {
            Unit::Chunk => field("from source", &[]),
            Unit::Shard => field("from source shards", &[]),
            Unit::Piece => field("from", &stage.input(plan).chunk),
        }
        match stage.output_unit() {
            Unit::Chunk => field("to target", &[]),
            Unit::Shard => field("to target shards", &[]),
            Unit::Piece => field("to", stage.unit_shape(plan)),
        }
    }
    if !is_copy_of_one_array(plan) {
        let apply = plan.apply.as_deref().into_iter().map(apply_text);
        let stages = plan.stages.iter().map(stage_text);
        let pyramid = plan.pyramid.as_deref().into_iter().map(pyramid_text);
        for text in plan.arrays.iter().map(array_text).chain(stages).chain(apply).chain(pyramid) {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        use std::fmt::Write;
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        text
    })
}

/// One array is copied into another of its shape, stage after stage: all that such a plan says of
/// its arrays is hashed by name.
fn is_copy_of_one_array(plan: &Plan) -> bool {
    let of_role = |role| plan.arrays.iter().filter(move |array| array.role == role).count();
    let (source, target) = (plan.source(), plan.target());
    let is_same =
        |array: &PlanArray| array.shape == source.shape && array.item_bytes == source.item_bytes;
    // Source, intermediates in their order, target.
    let is_in_order = |(number, stage): (usize, &Stage)| {
        let input = stage.inputs.iter().map(|input| (input.array, input.window.is_identity()));
        let output = stage.outputs.iter().map(|output| (output.array, output.window.is_identity()));
        matches!(stage.kernel, Kernel::Copy(_))
            && stage.shape == source.shape
            && input.eq([(ArrayId(number), true)])
            && output.eq([(ArrayId(number + 1), true)])
    };
    of_role(ArrayRole::Source) == 1
        && of_role(ArrayRole::Target) == 1
        && target.edges.is_none()
        && plan.arrays.iter().all(is_same)
        && plan.stages.iter().enumerate().all(is_in_order)
}

/// All that decides what is read and written of an array; not the form in which it is sent.
fn array_text(array: &PlanArray) -> String {
    text(&PlanArray { uploads: None, ..array.clone() })
}

/// Kernel, arrays, windows and domain of a stage. Who copies encoded chunks does not matter.
fn stage_text(stage: &Stage) -> String {
    let by_store = Kernel::Copy(Way::ByStore);
    let kernel = if stage.kernel == by_store { &Kernel::Copy(Way::Encoded) } else { &stage.kernel };
    text(&(kernel, &stage.inputs, &stage.outputs, &stage.shape))
}

/// All that decides what an apply computes; not the memory that it has.
fn apply_text(work: &ApplyWork) -> String {
    text(&(&work.job, work.boundary, work.missing))
}

/// All that decides what the levels of a pyramid hold; not the memory that it has.
fn pyramid_text(work: &PyramidWork) -> String {
    let mut work = PyramidWork { transfer_bytes: 0, ..work.clone() };
    work.passes.iter_mut().for_each(|pass| pass.steps_at_once = 1);
    text(&work)
}

/// JSON with its members in the order they are declared in.
fn text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default() // nothing of it can fail
}
