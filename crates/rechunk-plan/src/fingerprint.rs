//! The fingerprint of a plan.

use sha2::{Digest, Sha256};

use crate::{Plan, StageInput, StageOutput};

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
    field(plan.kind.name(), &[u64::from(plan.version), plan.item_bytes]);
    field("shape", &plan.shape);
    field("source", &plan.source_chunk);
    field("target", &plan.target_chunk);
    for (name, shard) in
        [("source shard", &plan.source_shard), ("target shard", &plan.target_shard)]
    {
        if let Some(shard) = shard {
            field(name, shard);
        }
    }
    for (name, runs) in [("source files", &plan.source_runs), ("target files", &plan.target_runs)] {
        if let Some(runs) = runs {
            field(name, &runs.block_shape);
            field("stored by", &axes(&runs.order));
            field("behind", &[runs.offset_bytes]);
        }
    }
    if plan.keeps_absence {
        field("keeps absence", &[]);
    }
    for axis in 0..plan.shape.len() {
        if let Some(edges) = plan.source_edges.as_ref().and_then(|edges| edges.axis(axis)) {
            field("source edges", &[axis as u64]);
            field("ends", edges.ends());
            if let Some((first, end)) = edges.held() {
                field("held", &[first, end]);
            }
        }
    }
    for stage in &plan.stages {
        field(&stage.name, &[u64::from(stage.passthrough)]);
        field("tile", &stage.tile);
        if let Some(shape) = &stage.box_shape {
            field("box", shape);
        }
        field("step", &stage.step_chunks);
        field("axes", &axes(&stage.step_axes));
        field("tasks", &[stage.tasks]);
        if let Some(schedule) = &stage.runs {
            field("buffer", &schedule.buffer);
            let kept: Vec<u64> = schedule.kept.iter().map(|&kept| u64::from(kept)).collect();
            field("kept", &kept);
            field("buffer axes", &axes(&schedule.step_axes));
        }
        match &stage.input {
            StageInput::SourceChunks => field("from source", &[]),
            StageInput::SourceShards => field("from source shards", &[]),
            StageInput::Pieces { written_in } => field("from", written_in),
        }
        match &stage.output {
            StageOutput::TargetChunks => field("to target", &[]),
            StageOutput::TargetShards => field("to target shards", &[]),
            StageOutput::Pieces { read_in } => field("to", read_in),
        }
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut text, byte| {
        use std::fmt::Write;
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        text
    })
}
