//! The copy of a group as it is saved, to be run later, as a whole or in parts.

use std::collections::BTreeMap;

use rechunk_plan::Plan;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::request::CopyRequest;
use crate::saved_job::{check_saved_plan, not_a_plan};
use crate::tree::{SavedTree, Selection, TreeJob};

const GROUP_VERSION: u32 = 1;
/// Member that only the saved copy of a group has.
pub(crate) const GROUP: &str = "group";

/// The copy of a group with the plans of its arrays: what is saved of the plan of a group.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedGroup {
    version: u32,
    group: SavedTree,
    /// Plans by the paths of their arrays, of this version or of one that is converted.
    plans: BTreeMap<String, Value>,
}

impl SavedGroup {
    /// Saves a planned copy. Refuses a group of more arrays than have their plans held.
    pub(crate) fn of(job: &TreeJob) -> Result<Self, Error> {
        if job.array_count() > job.arrays.len() {
            return Err(Error::Usage {
                message: format!(
                    "the plan of {} has {} arrays: at most {} are saved",
                    job.request.source,
                    job.array_count(),
                    job.arrays.len()
                ),
                hint: Some("save plans of some of them at a time".into()),
            });
        }
        let plan = |array: &crate::TreeArray| {
            let plan = serde_json::to_value(&array.job.planned.plan);
            plan.map(|plan| (array.path.clone(), plan))
        };
        let plans = job.arrays.iter().map(plan).collect::<Result<_, _>>();
        let plans = plans.map_err(|error| state(&error))?;
        Ok(Self { version: GROUP_VERSION, group: SavedTree::new(job), plans })
    }

    /// Its JSON form.
    pub fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec_pretty(self).map_err(|error| state(&error))
    }

    /// Reads the JSON form; `path` is for messages.
    pub(crate) fn from_document(path: &str, document: Value) -> Result<Self, Error> {
        let wrong = |reason: String| not_a_plan(path, &reason);
        let saved: Self =
            serde_json::from_value(document).map_err(|error| wrong(error.to_string()))?;
        if saved.version != GROUP_VERSION {
            return Err(wrong(format!("its version {} is not known", saved.version)));
        }
        saved.group.check().map_err(|error| wrong(error.to_string()))?;
        Ok(saved)
    }

    /// The request for the whole group.
    pub fn request(&self) -> &CopyRequest {
        self.group.request()
    }

    /// Which arrays, and what differs for some.
    pub(crate) fn selection(&self) -> &Selection {
        self.group.selection()
    }

    /// The group with the documents of its arrays, as they were planned.
    pub(crate) fn group(&self) -> &SavedTree {
        &self.group
    }

    /// The plan of the array at `path`.
    pub(crate) fn plan(&self, path: &str) -> Result<Plan, Error> {
        let wrong = |reason: String| not_a_plan(path, &reason);
        let document = self.plans.get(path).cloned();
        let document = document.ok_or_else(|| wrong("its plan is missing".to_owned()))?;
        let plan = rechunk_plan::read_plan(document).map_err(|error| wrong(error.to_string()))?;
        check_saved_plan(&plan).map_err(wrong)?;
        Ok(plan)
    }
}

fn state(error: &serde_json::Error) -> Error {
    Error::State { path: GROUP.to_owned(), reason: error.to_string() }
}
