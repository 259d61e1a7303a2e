//! A job as it is saved, to be run or gone on with later.

use std::collections::BTreeMap;
use std::time::SystemTime;

use rechunk_plan::{Kernel, Plan};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::Error;
use crate::apply::OperationRequest;
use crate::formats::hex;
use crate::growth::Growth;
use crate::is_copy::is_copy;
use crate::request::CopyRequest;
use crate::sample::Sampled;
use crate::state_place::JOB_KEY;

pub(crate) const JOB_VERSION: u32 = 1;
/// Member of a saved job that has the checksum of all others.
const CHECKSUM: &str = "checksum";

/// A job with its plan: what `plan --out` writes, and what a run leaves to be resumed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedJob {
    /// Version of this form.
    pub version: u32,
    /// Request that it was planned from.
    pub request: CopyRequest,
    /// SHA-256 of the source's metadata documents when it was planned, hex.
    pub source_identity: String,
    /// SHA-256 of the target's metadata documents, hex.
    pub target_identity: String,
    /// The plan, of this version or of one that is converted.
    #[serde(deserialize_with = "plan_of_any_version")]
    pub plan: Plan,
    /// Findings about a few objects of the source when it was planned, which are not looked for
    /// again; `None` where a run has to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sampled: Option<Sampled>,
    /// When it was planned: the source must not be written after that.
    #[serde(default = "now")]
    pub planned_at: SystemTime,
    /// Time at which a run went on with it, having found that nothing read before was written since
    /// it was planned. Later reads were held against this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<SystemTime>,
    /// The target's metadata documents, by key: which objects of it are chunks.
    #[serde(default)]
    pub target_documents: BTreeMap<String, String>,
    /// The run replaces an array that existed.
    #[serde(default)]
    pub replaces: bool,
    /// Place of the source in a target that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// The directory that `--temp` names was not there before: it goes with the intermediate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub makes_temp: bool,
    /// It is part of the copy of a group, which makes its array known with others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_tree: bool,
    /// Name of the parts that it is open to: many processes do it, and none holds the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<String>,
}

impl SavedJob {
    /// Its JSON form. Refuses a job that applies a function, which no file can hold.
    pub fn to_json(&self) -> Result<Vec<u8>, Error> {
        let operation = self.request.apply.as_ref().map(|apply| &apply.operation);
        if let Some(OperationRequest::Function(function)) = operation {
            return Err(Error::Usage {
                message: format!(
                    "the plan cannot be saved: it applies the function `{}` of this program",
                    function.name
                ),
                hint: Some("run it here".into()),
            });
        }
        serde_json::to_vec_pretty(self)
            .map_err(|error| Error::State { path: JOB_KEY.to_owned(), reason: error.to_string() })
    }

    /// Reads the JSON form; `path` is for messages.
    pub fn from_json(path: &str, bytes: &[u8]) -> Result<Self, Error> {
        let document = serde_json::from_slice(bytes);
        Self::from_document(path, document.map_err(|error| not_a_plan(path, &error.to_string()))?)
    }

    pub(crate) fn from_document(path: &str, document: Value) -> Result<Self, Error> {
        let wrong = |reason: String| not_a_plan(path, &reason);
        let job: Self =
            serde_json::from_value(document).map_err(|error| wrong(error.to_string()))?;
        if job.version != JOB_VERSION {
            return Err(wrong(format!("its version {} is not known", job.version)));
        }
        check_saved_plan(&job.plan).map_err(wrong)?;
        job.growth.iter().try_for_each(Growth::check).map_err(wrong)?;
        Ok(job)
    }

    /// Its JSON form with a checksum of it, for a file that nobody but a later run reads.
    pub(crate) fn to_checked_json(&self) -> Result<Vec<u8>, Error> {
        let state = |error: serde_json::Error| Error::State {
            path: JOB_KEY.to_owned(),
            reason: error.to_string(),
        };
        let mut value = serde_json::to_value(self).map_err(state)?;
        let checksum = checksum_of(&value);
        if let Some(members) = value.as_object_mut() {
            members.insert(CHECKSUM.to_owned(), checksum.into());
        }
        serde_json::to_vec_pretty(&value).map_err(state)
    }

    /// Reads what [`SavedJob::to_checked_json`] has written; what older versions wrote has no
    /// checksum.
    pub(crate) fn from_checked_json(path: &str, bytes: &[u8]) -> Result<Self, Error> {
        let document = serde_json::from_slice(bytes);
        let mut value: Value = document.map_err(|error| not_a_plan(path, &error.to_string()))?;
        if let Some(said) = value.as_object_mut().and_then(|members| members.remove(CHECKSUM))
            && said != Value::String(checksum_of(&value))
        {
            return Err(Error::State {
                path: path.to_owned(),
                reason: "is damaged: it has not the checksum that it says".to_owned(),
            });
        }
        Self::from_document(path, value)
    }

    /// Difference between this job and another, in words; `None` if they are the same job.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.request.source != other.request.source {
            return Some(format!("its source is {}", self.request.source));
        }
        if self.request.select != other.request.select {
            let of = |job: &Self| {
                let select = job.request.select.as_ref();
                select.map_or_else(|| "all".to_owned(), ToString::to_string)
            };
            return Some(format!("it copies the region {}, not {}", of(self), of(other)));
        }
        let deciding = |job: &Self| job.request.apply.as_ref().map(|apply| apply.deciding());
        if deciding(self) != deciding(other) {
            let of = |job: &Self| {
                let apply = job.request.apply.as_ref();
                apply.map_or_else(|| "a copy".to_owned(), |apply| apply.operation.name().to_owned())
            };
            let (mine, theirs) = (of(self), of(other));
            if mine != theirs {
                return Some(format!("its operation is `{mine}`, not `{theirs}`"));
            }
            return Some("it applies another operation, or the same in other boxes".to_owned());
        }
        if self.request.pyramid != other.request.pyramid {
            return Some("it makes other levels, or makes them in another way".to_owned());
        }
        if self.growth != other.growth {
            let of = |job: &Self| {
                let growth = job.growth.as_ref();
                growth.map_or_else(|| "writes a new array".to_owned(), |to| to.summary.clone())
            };
            return Some(format!("it {}, this one {}", of(self), of(other)));
        }
        if self.growth.is_some() && self.in_tree != other.in_tree {
            let of = |job: &Self| if job.in_tree { "a whole group" } else { "one array" };
            return Some(format!("it is of {}, this one of {}", of(self), of(other)));
        }
        if self.request.cast != other.request.cast {
            let of = |job: &Self| {
                let cast = job.request.cast.as_ref();
                cast.map_or_else(|| "they are".to_owned(), ToString::to_string)
            };
            return Some(format!("it reads elements as {}, not as {}", of(self), of(other)));
        }
        if self.source_identity != other.source_identity {
            return Some("the metadata of the source has changed".to_owned());
        }
        if self.target_identity != other.target_identity {
            return Some(self.target_difference(other));
        }
        if self.request.write_empty != other.request.write_empty {
            return Some("it was begun with another --write-empty".to_owned());
        }
        let (mine, theirs) = (&self.request.planning, &other.request.planning);
        if theirs.strategy != rechunk_plan::Strategy::Auto && self.plan.kind != theirs.strategy {
            return Some(format!("its plan is {}", self.plan.kind));
        }
        if mine.intermediate_grid != theirs.intermediate_grid {
            return Some("its intermediate grid differs".to_owned());
        }
        None
    }

    /// Difference between the targets of two jobs, which are not the same, in words.
    fn target_difference(&self, other: &Self) -> String {
        let chunks = |job: &Self| {
            let shards = job.plan.target().shard.as_ref();
            let shards = shards.map_or(String::new(), |shards| format!(" in shards {shards:?}"));
            format!("{:?}{shards}", job.plan.target().chunk)
        };
        let keys = |job: &Self| job.target_documents.keys().cloned().collect::<Vec<_>>().join(", ");
        let (mine, theirs) = (chunks(self), chunks(other));
        if mine != theirs {
            return format!("its target has chunks {mine}, not {theirs}");
        }
        let (mine, theirs) = (keys(self), keys(other));
        if mine != theirs {
            return format!("its target is of another format ({mine}, not {theirs})");
        }
        "its target has other codecs, another layout of its keys, or other attributes".to_owned()
    }
}

/// Refuses a plan that is none, or that this program cannot carry out.
pub(crate) fn check_saved_plan(plan: &Plan) -> Result<(), String> {
    plan.check()?;
    // Nothing that is copied has another kernel.
    let is_foreign =
        |stage: &&rechunk_plan::Stage| is_copy(plan) && !matches!(stage.kernel, Kernel::Copy(_));
    match plan.stages.iter().find(is_foreign) {
        Some(stage) => Err(format!("this program has no kernel {}", stage.kernel)),
        None => Ok(()),
    }
}

/// The refusal of a document at `path`.
pub(crate) fn not_a_plan(path: &str, reason: &str) -> Error {
    Error::Usage {
        message: format!("{path} is not a saved plan: {reason}"),
        hint: Some("make one with `rechunk plan SOURCE TARGET --chunks … --out FILE`".into()),
    }
}

/// The checksum of a document: members in their order, white space aside. Members are removed and
/// added at its end, so that the others keep their order.
fn checksum_of(document: &Value) -> String {
    hex(&Sha256::digest(document.to_string()))[..32].to_owned()
}

/// Reads a plan, whatever version of its form it has.
fn plan_of_any_version<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Plan, D::Error> {
    rechunk_plan::read_plan(Value::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The time of planning of a job whose file says none.
#[expect(clippy::disallowed_methods, reason = "such files were written before times were")]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flipped bit in a number, a name or the checksum makes another job, or none.
    #[test]
    fn any_damage_of_a_saved_job_is_seen() {
        let text = serde_json::to_vec_pretty(&serde_json::json!({"a": [1, 2.5], "b": {"c": "d"}}));
        let value: Value = serde_json::from_slice(&text.unwrap()).unwrap();
        let sum = checksum_of(&value);
        let others = [r#"{"a":[1,2.5],"b":{"c":"e"}}"#, r#"{"a":[3,2.5],"b":{"c":"d"}}"#];
        for other in others.map(|text| serde_json::from_str::<Value>(text).unwrap()) {
            assert_ne!(checksum_of(&other), sum);
        }
        let same = r#" {"a": [1, 2.5], "b": {"c": "d"}} "#;
        assert_eq!(checksum_of(&serde_json::from_str(same).unwrap()), sum);
    }
}
