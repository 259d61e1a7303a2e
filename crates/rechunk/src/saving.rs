//! A job as it is saved, and a saved one as a job again.

use std::time::SystemTime;

use rechunk_plan::Plan;
use rechunk_planner::Planned;
use rechunk_store::{Meter, Stores};
use sha2::{Digest, Sha256};

use crate::archive_target;
use crate::job::Job;
use crate::open::open_array;
use crate::plan_request::temp_is_memory;
use crate::request::{CopyRequest, takes_parts};
use crate::sample::Sampled;
use crate::saved_job::{JOB_VERSION, SavedJob};
use crate::specified::Specified;
use crate::{Error, Remedy};

impl Job {
    /// The job and its plan, to be saved and run later or elsewhere.
    pub fn saved(&self) -> SavedJob {
        SavedJob {
            version: JOB_VERSION,
            request: self.request.clone(),
            source_identity: self.source.identity.clone(),
            target_identity: target_identity(self),
            plan: self.planned.plan.clone(),
            sampled: self.is_known_source().then(|| self.sampled.clone()),
            planned_at: self.begun_at,
            checked_at: None,
            target_documents: self.target.documents().into_iter().map(text_of).collect(),
            replaces: false,
            growth: self.growth.clone(),
            makes_temp: self.makes_temp,
            in_tree: self.in_tree,
            parts: None,
        }
    }

    /// Opens the source of a saved job and takes over its plan; `temp` is where the intermediate
    /// goes instead. Nothing is planned: a source whose metadata is not that of the plan is
    /// refused.
    pub async fn from_saved(
        mut saved: SavedJob,
        temp: Option<&str>,
        stores: &Stores,
    ) -> Result<Self, Error> {
        if let Some(temp) = temp {
            if saved.plan.stages.len() > 1 {
                check_other_temp(&saved.request, temp)?;
            }
            saved.request.temp = Some(temp.to_owned());
        }
        saved.request.planning.candidates = false; // the saved plan is taken, whatever others cost
        let is_new = saved.request.placement.is_none() && !saved.request.is_update();
        let sampled = saved.sampled.take().filter(|_| is_new);
        let mut job = match sampled {
            Some(sampled) => Box::pin(Self::as_planned(&saved, sampled, stores)).await?,
            None => Self::prepare(saved.request.clone(), stores).await?,
        };
        let now = job.saved();
        if let Some(difference) = saved.difference(&now) {
            return Err(Error::Conflict {
                location: saved.request.target.clone(),
                reason: format!("cannot follow the saved plan: {difference}"),
                hint: Some("plan again".into()),
            });
        }
        job.adopt(saved.plan)?;
        Ok(job)
    }

    /// The job of a saved one, whose source is opened and of which nothing else is looked at.
    async fn as_planned(
        saved: &SavedJob,
        sampled: Sampled,
        stores: &Stores,
    ) -> Result<Self, Error> {
        let stores = stores.with_meter(&Meter::new());
        let request = saved.request.clone();
        #[expect(clippy::disallowed_methods, reason = "a source that is written later is refused")]
        let opened_at = SystemTime::now();
        let source = open_array(&request.source, &request.open_options(), &stores).await?;
        let specified = Box::pin(Specified::new(request, source, stores)).await?;
        let plan_request = specified.plan_request(&sampled)?;
        let budget_bytes = plan_request.budget.memory_bytes;
        let mut plan = saved.plan.clone();
        plan.memory.budget_bytes = budget_bytes;
        let planned = Planned { plan, candidates: Vec::new() };
        archive_target::of_array(Self::of(specified, (plan_request, planned), sampled, opened_at))
    }

    /// True if a process that takes this plan over need not look at chunks of the source. Some were
    /// there, under the keys that its documents say, or nobody had to ask.
    fn is_known_source(&self) -> bool {
        self.asked_in_vain.is_empty() && !self.has_other_keys
    }

    /// Takes over a plan made earlier, if its memory is allowed now.
    pub(crate) fn adopt(&mut self, plan: Plan) -> Result<(), Error> {
        let budget = self.planned.plan.memory.budget_bytes;
        let mut plan = plan;
        if !plan.fit_to(budget) {
            return Err(Error::Conflict {
                location: self.request.target.clone(),
                reason: format!(
                    "was begun with a plan that needs {} bytes of memory, more than the {budget} \
                     allowed now",
                    plan.memory.planned_peak_bytes
                ),
                hint: Some(Remedy::MemoryOf { bytes: plan.memory.planned_peak_bytes }),
            });
        }
        self.planned.plan = plan;
        self.planned.candidates.clear();
        Ok(())
    }
}

/// Refuses another place for the intermediate of a saved plan, if that is of another kind.
pub(crate) fn check_other_temp(request: &CopyRequest, temp: &str) -> Result<(), Error> {
    let planned = request.temp.as_deref().unwrap_or(&request.target);
    let takes = |temp: &str| (temp_is_memory(temp), takes_parts(temp));
    if takes(temp) == takes(planned) {
        return Ok(());
    }
    let reason = "takes other memory than the saved plan, whose intermediate is of another kind";
    Err(Error::Conflict {
        location: temp.to_owned(),
        reason: reason.to_owned(),
        hint: Some("plan again with this --temp".into()),
    })
}

/// A metadata document as it is saved.
fn text_of((key, bytes): (String, Vec<u8>)) -> (String, String) {
    (key, String::from_utf8_lossy(&bytes).into_owned())
}

/// SHA-256 over what will be written as the target's metadata.
fn target_identity(job: &Job) -> String {
    let mut hash = Sha256::new();
    for (key, bytes) in job.target.documents() {
        hash.update(key.as_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.update(job.target_layout.format_name().as_bytes());
    if job.source.is_carried {
        // A plan counts bytes of what is stored.
        hash.update(b"carried");
    }
    if let Some(said) = job.target.identity_in_files() {
        // A file says in its header what others say in documents.
        hash.update(said);
    }
    crate::formats::hex(&hash.finalize())
}
