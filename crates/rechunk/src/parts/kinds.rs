//! Jobs that parts can do, and those of which only one process can.

use rechunk_store::Store;

use crate::job::Job;
use crate::may_start::other_job;
use crate::place::work_dir;
use crate::plan_request::temp_is_memory;
use crate::saved_job::SavedJob;
use crate::target::open_target;
use crate::work_dir::WorkDir;
use crate::{Error, Remedy};

/// Refuses a job that cannot be divided among processes.
pub(crate) fn check_kind(job: &Job) -> Result<(), Error> {
    let refuse = |reason: &str, hint: &'static str| {
        Err(Error::Usage {
            message: format!("{} cannot be written in parts: {reason}", job.request.target),
            hint: Some(Remedy::from(hint)),
        })
    };
    let plan = &job.planned.plan;
    if job.growth.is_some() {
        return refuse(
            "it is put into an array that exists, as one change",
            "run the plan as a whole",
        );
    }
    if job.source.packed.is_some() || job.is_packed() {
        return refuse(
            "a file that is compressed as a whole has one writer",
            "run the plan as a whole",
        );
    }
    if plan.stages.iter().any(|stage| stage.schedule().is_some()) {
        return refuse(
            "the plan moves raw files in runs, by one task after the other",
            "plan again for several workers: then a plan is taken that can be divided",
        );
    }
    let temp = job.request.temp.as_deref().unwrap_or_default();
    if plan.stages.len() > 1 && temp_is_memory(temp) {
        return refuse(
            "its intermediate is in the memory of one process",
            "plan again with an intermediate that all processes reach",
        );
    }
    Ok(())
}

/// Refuses a job at the target that was begun with another plan.
pub(crate) fn check_plan(job: &Job, saved: &SavedJob) -> Result<(), Error> {
    if saved.plan.fingerprint == job.planned.plan.fingerprint {
        return Ok(());
    }
    Err(other_job(&job.request.target, "its plan is another one"))
}

/// The target, and its work directory. Refuses a target that processes cannot share.
pub(crate) fn shared_place(job: &Job) -> Result<(Store, WorkDir), Error> {
    let location = &job.request.target;
    let target = open_target(location, &job.stores)?;
    match work_dir(location, &target, &job.stores)? {
        Some(work) => Ok((target, work)),
        None => Err(no_shared_target(location)),
    }
}

/// Refuses a target that processes cannot share.
pub(crate) fn no_shared_target(target: &str) -> Error {
    Error::Usage {
        message: format!("{target} cannot be written in parts: it is in the memory of one process"),
        hint: Some("name a target that all processes reach".into()),
    }
}
