//! Plans as version 2 of their form had them: one source, one target, flags at the stages. They are
//! read as plans of today; their fingerprints are what they were.

use rechunk_grid::Edges;
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::keep::Schedule;
use crate::plan::PLAN_VERSION;
use crate::{
    ArrayId, ArrayRole, Estimate, Kernel, Plan, PlanArray, PlanMemory, ProfileNames, RunsSide,
    Stage, StageInput, StageOutput, Strategy, Unit, Uploads, Way,
};

/// The version that is converted.
const VERSION: u64 = 2;

/// Why a document is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanFormError {
    /// It has a form of another version.
    #[error(
        "version {version} of a plan's form is not known, versions {VERSION} and {PLAN_VERSION} are: plan again"
    )]
    UnknownVersion {
        /// Its version.
        version: u64,
    },
    /// It has not the form that its version has.
    #[error("{reason}")]
    Malformed {
        /// Difference from the form.
        reason: String,
    },
}

/// Reads a plan of this version or of version 2. It has the form; [`Plan::check`] says whether it
/// is whole.
pub fn read_plan(document: Value) -> Result<Plan, PlanFormError> {
    let malformed = |reason: String| PlanFormError::Malformed { reason };
    match document.get("version").and_then(Value::as_u64) {
        Some(VERSION) => {
            let old: OldPlan =
                serde_json::from_value(document).map_err(|error| malformed(error.to_string()))?;
            old.plan().map_err(|reason| malformed(reason.to_owned()))
        }
        Some(version) if version != u64::from(PLAN_VERSION) => {
            Err(PlanFormError::UnknownVersion { version })
        }
        _ => serde_json::from_value(document).map_err(|error| malformed(error.to_string())),
    }
}

#[derive(Deserialize)]
struct OldPlan {
    kind: Strategy,
    shape: Vec<u64>,
    item_bytes: u64,
    source_chunk: Vec<u64>,
    #[serde(default)]
    source_edges: Option<Edges>,
    target_chunk: Vec<u64>,
    #[serde(default)]
    source_shard: Option<Vec<u64>>,
    #[serde(default)]
    target_shard: Option<Vec<u64>>,
    #[serde(default)]
    source_runs: Option<RunsSide>,
    #[serde(default)]
    target_runs: Option<RunsSide>,
    #[serde(default)]
    keeps_absence: bool,
    stages: Vec<OldStage>,
    memory: PlanMemory,
    threads: u32,
    estimate: Estimate,
    #[serde(default)]
    priced_by: Option<ProfileNames>,
    #[serde(default)]
    target_uploads: Option<Uploads>,
    #[serde(default)]
    intermediate_uploads: Option<Uploads>,
    fingerprint: String,
}

#[derive(Deserialize)]
struct OldStage {
    name: String,
    input: OldInput,
    output: OldOutput,
    passthrough: bool,
    #[serde(default)]
    copied_by_store: bool,
    tile: Vec<u64>,
    #[serde(default)]
    box_shape: Option<Vec<u64>>,
    step_chunks: Vec<u64>,
    step_axes: Vec<usize>,
    tasks: u64,
    tasks_at_once: u32,
    lanes: u32,
    resident_bytes: u64,
    #[serde(default)]
    shard_state_bytes: u64,
    #[serde(default)]
    target_shard_bytes: u64,
    lane_bytes: u64,
    #[serde(default)]
    worker_bytes: u64,
    is_stepped: bool,
    task_bytes: u64,
    #[serde(default)]
    runs: Option<Schedule>,
}

#[derive(Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
enum OldInput {
    SourceChunks,
    SourceShards,
    Pieces { written_in: Vec<u64> },
}

#[derive(Deserialize)]
#[serde(tag = "to", rename_all = "kebab-case")]
enum OldOutput {
    TargetChunks,
    TargetShards,
    Pieces { read_in: Vec<u64> },
}

impl OldPlan {
    fn plan(self) -> Result<Plan, &'static str> {
        self.check_chain()?;
        let array = |role, chunk| PlanArray::new(role, self.shape.clone(), self.item_bytes, chunk);
        let source = PlanArray {
            edges: self.source_edges,
            shard: self.source_shard,
            runs: self.source_runs,
            ..array(ArrayRole::Source, self.source_chunk)
        };
        let target = PlanArray {
            shard: self.target_shard,
            runs: self.target_runs,
            uploads: self.target_uploads,
            ..array(ArrayRole::Target, self.target_chunk)
        };
        let writing = self.stages.len().saturating_sub(1);
        let between = self.stages.iter().take(writing).map(|stage| PlanArray {
            uploads: self.intermediate_uploads,
            ..array(ArrayRole::Intermediate, stage.tile.clone())
        });
        let arrays = std::iter::once(source).chain(between).chain([target]).collect();
        let mut stages = Vec::with_capacity(self.stages.len());
        for (number, stage) in self.stages.into_iter().enumerate() {
            stages.push(stage.stage(number, &self.shape)?);
        }
        Ok(Plan {
            pyramid: None,
            apply: None,
            version: PLAN_VERSION,
            kind: self.kind,
            arrays,
            stages,
            memory: self.memory,
            threads: self.threads,
            keeps_absence: self.keeps_absence,
            estimate: self.estimate,
            priced_by: self.priced_by,
            fingerprint: self.fingerprint,
        })
    }

    /// Refuses stages that are no chain: each fact was there twice, at the stage that writes and at
    /// the stage that reads.
    fn check_chain(&self) -> Result<(), &'static str> {
        let last = self.stages.len().checked_sub(1).ok_or("it has no stages")?;
        for (number, stage) in self.stages.iter().enumerate() {
            let reads_what_was_written = match (&stage.input, number.checked_sub(1)) {
                (OldInput::Pieces { written_in }, Some(before)) => {
                    self.stages.get(before).is_some_and(|before| before.tile == *written_in)
                }
                (OldInput::SourceChunks | OldInput::SourceShards, None) => true,
                _ => false,
            };
            let writes_what_is_read = match &stage.output {
                OldOutput::Pieces { read_in } => self
                    .stages
                    .get(number + 1)
                    .is_some_and(|next| next.box_shape.as_ref().unwrap_or(&next.tile) == read_in),
                OldOutput::TargetChunks | OldOutput::TargetShards => number == last,
            };
            if !reads_what_was_written || !writes_what_is_read {
                return Err("a stage does not read what the one before it writes");
            }
        }
        Ok(())
    }
}

impl OldStage {
    fn stage(self, number: usize, shape: &[u64]) -> Result<Stage, &'static str> {
        let way = match (self.passthrough, self.copied_by_store, self.runs) {
            (false, false, None) => Way::Decoded,
            (true, false, None) => Way::Encoded,
            (true, true, None) => Way::ByStore,
            (false, false, Some(schedule)) => Way::Runs(schedule),
            _ => return Err("a stage copies in two ways at once"),
        };
        let read = match self.input {
            OldInput::SourceChunks => Unit::Chunk,
            OldInput::SourceShards => Unit::Shard,
            OldInput::Pieces { .. } => Unit::Piece,
        };
        let written = match self.output {
            OldOutput::TargetChunks => Unit::Chunk,
            OldOutput::TargetShards => Unit::Shard,
            OldOutput::Pieces { .. } => Unit::Piece,
        };
        Ok(Stage {
            name: self.name,
            kernel: Kernel::Copy(way),
            inputs: vec![StageInput::new(ArrayId(number), read)],
            outputs: vec![StageOutput::new(ArrayId(number.saturating_add(1)), written)],
            shape: shape.to_vec(),
            tile: self.tile,
            box_shape: self.box_shape,
            step_chunks: self.step_chunks,
            step_axes: self.step_axes,
            tasks: self.tasks,
            tasks_at_once: self.tasks_at_once,
            lanes: self.lanes,
            resident_bytes: self.resident_bytes,
            shard_state_bytes: self.shard_state_bytes,
            target_shard_bytes: self.target_shard_bytes,
            lane_bytes: self.lane_bytes,
            worker_bytes: self.worker_bytes,
            is_stepped: self.is_stepped,
            task_bytes: self.task_bytes,
        })
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read plans that old programs wrote")]
mod tests {
    use std::path::Path;

    use super::*;

    /// The plan of a saved job that a program of version 2 wrote.
    fn saved(name: &str) -> Value {
        let plans =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/plan_version_2/plans");
        let text = std::fs::read_to_string(plans.join(name)).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["plan"].take()
    }

    fn names() -> Vec<String> {
        let plans =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/plan_version_2/plans");
        let entries = std::fs::read_dir(plans).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "json")).collect()
    }

    #[test]
    fn every_old_plan_is_whole_and_keeps_its_fingerprint() {
        let names = names();
        assert!(names.len() >= 14, "{names:?}");
        for name in names {
            let old = saved(&name);
            let plan = read_plan(old.clone()).unwrap();
            assert_eq!(plan.version, PLAN_VERSION);
            assert_eq!(plan.check(), Ok(()), "{name}");
            assert_eq!(old["fingerprint"], plan.computed_fingerprint(), "{name}");
            assert_eq!(plan.arrays.len(), plan.stages.len() + 1, "{name}");
            // As it is written now, it is read again.
            let written = serde_json::to_value(&plan).unwrap();
            assert_eq!(read_plan(written).unwrap(), plan, "{name}");
        }
    }

    #[test]
    fn what_an_old_plan_says_is_found_at_its_arrays_and_kernels() {
        let plan = |name| read_plan(saved(name)).unwrap();
        assert!(plan("passthrough.json").stages[0].passes_through());
        assert!(plan("raw-runs.json").stages[0].schedule().is_some());
        assert!(plan("raw-runs.json").source().runs.is_some());
        assert!(plan("lengths.json").source().edges.is_some());
        assert!(plan("absence.json").keeps_absence);
        assert!(plan("shards.json").target().shard.is_some());
        assert_eq!(plan("whole-shards.json").stages[0].output_unit(), Unit::Shard);
        let two = plan("push-pull.json");
        let between = two.intermediate().unwrap();
        assert_eq!(between.chunk, two.stages[0].tile);
        assert_eq!(two.stages[0].unit_shape(&two), two.stages[1].filled());
    }

    #[test]
    fn stages_that_are_no_chain_are_refused() {
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut plan = saved("push-pull.json");
            change(&mut plan);
            read_plan(plan).unwrap_err().to_string()
        };
        let chain = "does not read what the one before it writes";
        assert!(
            refused(&|plan| plan["stages"][1]["input"]["written_in"][0] = 3.into()).contains(chain)
        );
        assert!(
            refused(&|plan| plan["stages"][0]["output"]["read_in"][0] = 3.into()).contains(chain)
        );
        assert!(refused(&|plan| plan["stages"] = Value::Array(Vec::new())).contains("no stages"));
        let both = |plan: &mut Value| plan["stages"][0]["copied_by_store"] = true.into();
        assert!(refused(&both).contains("two ways"));
        assert!(refused(&|plan| plan["shape"] = "24".into()).contains("invalid type"));
    }

    #[test]
    fn other_versions_are_refused_by_name() {
        for version in [0_u64, 1, 4, u64::MAX] {
            let mut plan = saved("direct.json");
            plan["version"] = version.into();
            let error = read_plan(plan).unwrap_err();
            assert_eq!(error, PlanFormError::UnknownVersion { version });
            assert!(error.to_string().contains(&format!("version {version} ")), "{error}");
        }
        let mut kernel = serde_json::to_value(read_plan(saved("direct.json")).unwrap()).unwrap();
        kernel["stages"][0]["kernel"] = serde_json::json!({"fold": {}});
        let error = read_plan(kernel).unwrap_err().to_string();
        assert!(error.contains("fold"), "{error}");
    }
}
