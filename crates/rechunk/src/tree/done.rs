//! Arrays of a group that an earlier run has done, and those that begin again.

use rechunk_store::Store;

use super::grown::is_written;
use super::plans::Figures;
use crate::complete::holds;
use crate::error::store_error;
use crate::job::Job;
use crate::place::work_dir;
use crate::target::{is_array, open_target};
use crate::{Error, Remedy};

/// True for an array that is sooner begun again than its state is kept. It is small, nothing of it
/// is left elsewhere, and its objects are each sent at once. One that an earlier run has left the
/// state of keeps it.
pub(super) async fn keeps_no_state(job: &Job, resumes: bool) -> Result<bool, Error> {
    let plan = &job.planned.plan;
    let may = Figures::of(plan).is_small()
        && plan.stages.len() == 1
        && plan.estimate.target.part_requests == 0
        && job.source.packed.is_none()
        && job.target.file_name().is_none();
    if !may || !resumes {
        return Ok(may);
    }
    let target = open_target(&job.request.target, &job.stores)?;
    Ok(!target.is_volatile() && !has_state(job, &target).await?)
}

/// True if an earlier run has left the state of an array beside its target; false in memory.
async fn has_state(job: &Job, target: &Store) -> Result<bool, Error> {
    let location = &job.request.target;
    let Some(work) = work_dir(location, target, &job.stores)? else { return Ok(false) };
    let there = work.store.exists_anything().await;
    there.map_err(|source| store_error("look at", location, source))
}

/// True if an earlier run has done all there is to do for an array, but for what is done for all.
pub(super) async fn is_done(job: &Job, group_is_written: bool) -> Result<bool, Error> {
    if job.growth.is_some() {
        is_written(job, group_is_written).await
    } else {
        is_complete(job).await
    }
}

/// True if an earlier run has completed the array: its metadata is there, and its work directory,
/// which is removed after that, is not.
async fn is_complete(job: &Job) -> Result<bool, Error> {
    let location = &job.request.target;
    let target = open_target(location, &job.stores)?;
    if target.is_volatile() || !is_array(&target).await? || has_state(job, &target).await? {
        return Ok(false);
    }
    if holds(&target, &job.target.documents()).await? {
        return Ok(true);
    }
    Err(Error::Conflict {
        location: location.clone(),
        reason: "is another array than the interrupted run writes".to_owned(),
        hint: Some(Remedy::RemoveOrOverwrite),
    })
}
