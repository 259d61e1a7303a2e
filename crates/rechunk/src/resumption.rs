//! Going on where an interrupted run has stopped. Is it the same job, is its finished part still
//! there, and of a source that is still the same?

use rechunk_exec::{DoneSet, Journal};
use rechunk_grid::Region;
use rechunk_store::{Role, Store};

use crate::Error;
use crate::archive::{Archive, building_place};
use crate::chunk_objects::remove_keys_of;
use crate::error::store_error;
use crate::formats::Documents;
use crate::gzip_file::{has_stale_unpacked, part_of};
use crate::intermediate::check_same_temp;
use crate::job::Job;
use crate::may_start::other_job;
use crate::place::Place;
use crate::saved_job::SavedJob;
use crate::source_check::check_read;
use crate::target::{check_still_its, is_array};
use crate::work_dir::{Left, WorkDir};

/// Goes on with the plan an interrupted run left, if it is the same job.
pub(crate) fn resume_job(job: &mut Job, saved: &SavedJob) -> Result<(), Error> {
    if let Some(difference) = saved.difference(&job.saved()) {
        return Err(other_job(&job.request.target, &difference));
    }
    check_same_temp(&job.request, saved)?;
    job.request.temp.clone_from(&saved.request.temp);
    job.makes_temp = saved.makes_temp;
    job.begun_at = saved.planned_at;
    job.adopt(saved.plan.clone())
}

/// Returns what is left, with an unreadable job put together again from this one, if the journal
/// was begun by the same plan.
pub(crate) async fn rebuilt(
    job: &Job,
    target: &Store,
    work: Option<&WorkDir>,
    left: Left,
) -> Result<Left, Error> {
    let (Left::Damaged(_), Some(work), None) = (&left, work, &job.growth) else { return Ok(left) };
    let Ok(contents) = Journal::read(&work.store).await else { return Ok(left) };
    if contents.header.fingerprint != job.planned.plan.fingerprint {
        return Ok(left);
    }
    let is_there = async |store: Store| {
        let found = store.exists_anything().await;
        found.map_err(|source| store_error("look at", store.label(), source))
    };
    // What is to be packed is built in place of a replacement.
    let is_local = target.local_root().is_some()
        && job.target.file_name().is_none()
        && Archive::of(&job.request.target).is_none();
    // What is replaced is there until the new array is whole, which is built beside it.
    let replaces = is_local
        && (is_there(work.staging()?).await?
            || is_there(work.replaced()?).await?
            || contents.done.is_empty() && is_array(target).await?);
    // What was read was looked at when the job was saved.
    let planned_at = work.saved_at().await?.unwrap_or(job.planned_at);
    Ok(Left::Unfinished(SavedJob { planned_at, replaces, ..job.saved() }))
}

/// Refuses what has become something else since, at the target of a run that is gone on with.
pub(crate) async fn check_target_of(
    job: &Job,
    saved: &SavedJob,
    target: &Store,
    work: Option<&WorkDir>,
) -> Result<(), Error> {
    // An old array is there until it is exchanged, or removed before the journal is begun.
    let is_old = match work {
        _ if !saved.replaces => false,
        Some(work) if target.local_root().is_none() => !work.has_journal().await?,
        _ => true,
    };
    if is_old || job.growth.is_some() || job.target.file_name().is_some() {
        return Ok(());
    }
    let documents = Documents::of_saved(&saved.target_documents);
    // A ZIP file is built elsewhere: what is at its place is looked at when it is packed.
    let built = building_place(&job.request.target, target.clone(), &job.stores)?;
    check_still_its(&job.request.target, &built, &documents).await
}

/// Takes the first steps of a run that goes on. The finished part of the earlier one counts if it
/// is there, and of a source that is still the same (`is_kept`: and was not lost with that
/// process). Else its chunks go: one that is left out now would stay.
pub(crate) async fn go_on(
    job: &Job,
    work: &WorkDir,
    saved: &SavedJob,
    (target, chunks): (&Store, &Store),
    is_kept: bool,
) -> Result<Vec<String>, Error> {
    work.abort_uploads().await?;
    // What is read from now on is of a state that is looked at now.
    let (mut counts, mut is_looked_at) = (false, true);
    let mut warnings = Vec::new();
    if work.has_journal().await? {
        let contents = work.read_journal(&saved.plan.fingerprint).await?;
        if contents.damaged_lines > 0 {
            warnings.push(format!(
                "{} lines of the journal of the interrupted run are damaged: what they marked as done is done again",
                contents.damaged_lines
            ));
        }
        let done = contents.done;
        if job.growth.is_none() && is_gone(job, work, &done, target, chunks).await? {
            work.forget().await?;
        } else if is_kept {
            is_looked_at = check_source_of(job, saved, &done, work).await?;
            counts = true;
        }
    }
    if is_looked_at {
        work.save_job(&SavedJob { checked_at: Some(job.planned_at), ..saved.clone() }).await?;
    }
    if job.target.file_name().is_some() {
        return Ok(warnings);
    }
    let failed = |source| store_error("sweep", chunks.label(), source);
    chunks.remove_staging().await.map_err(failed)?;
    if !counts && job.growth.is_none() && !is_array(chunks).await? {
        let control = chunks.with_role(Role::Control);
        remove_keys_of(&control, &job.target_layout, |_| true).await.map_err(failed)?;
    }
    Ok(warnings)
}

impl Job {
    /// Has what an interrupted run has written of a target be written again, where that was found
    /// to be damaged since (`error`). What is to be said of it; `None` if it was not that.
    pub(crate) async fn take_back_damaged(
        &self,
        place: &Place,
        error: &Error,
    ) -> Result<Option<String>, Error> {
        let (Some(work), true) = (&place.work, place.resumes && error.is_of_damaged_target())
        else {
            return Ok(None);
        };
        if place.is_replaced().await? || place.check_lock().await.is_err() {
            return Ok(None);
        }
        let plan = &self.planned.plan;
        let last = plan.stages.len().saturating_sub(1);
        if work.read_journal(&plan.fingerprint).await?.done.is_empty() {
            return Ok(None);
        }
        let text = format!(
            "the target is not what the interrupted run wrote{}: its chunks are written again ({error})",
            self.chunk_in(error)
        );
        tracing::warn!("{text}");
        work.forget_stage(&plan.fingerprint, last).await?;
        let is_file = self.target.file_name().is_some();
        if self.growth.is_none() && !is_file && !is_array(&place.chunks).await? {
            // One that is left out now would stay.
            let control = place.chunks.with_role(Role::Control);
            let removed = remove_keys_of(&control, &self.target_layout, |_| true).await;
            removed.map_err(|source| store_error("sweep", place.chunks.label(), source))?;
        }
        Ok(Some(text))
    }

    /// The chunk of the target with the first element that differs, in words.
    fn chunk_in(&self, error: &Error) -> String {
        let Error::VerifyFailed { first, .. } = error else { return String::new() };
        let Ok(grid) = self.target_layout.spec().grid() else { return String::new() };
        let element = Region::new(first.clone(), vec![1; first.len()]);
        if first.len() != grid.rank() {
            return String::new();
        }
        let chunk = grid.covering(&element).start;
        format!(" in chunk {chunk:?}")
    }
}

/// Refuses a source of which what was read was written since. True if all of it could be looked at.
async fn check_source_of(
    job: &Job,
    saved: &SavedJob,
    done: &DoneSet,
    work: &WorkDir,
) -> Result<bool, Error> {
    let since = saved.checked_at.unwrap_or(saved.planned_at);
    if has_stale_unpacked(&job.source, &work.unpacked()?) {
        return Err(other_job(&job.request.target, "the file of its source was replaced"));
    }
    check_read(job, done, since).await
}

/// True if the journal says that some of the target is written, and nothing of it is there:
/// somebody has removed it. What was done is not, then. (What has taken the place of an old array
/// is at the target.)
async fn is_gone(
    job: &Job,
    work: &WorkDir,
    done: &DoneSet,
    target: &Store,
    chunks: &Store,
) -> Result<bool, Error> {
    let failed = |source| store_error("look at", chunks.label(), source);
    let stages = &job.planned.plan.stages;
    let last = stages.len().saturating_sub(1);
    let is_there = match chunks.local_root().zip(job.target.file_name()) {
        Some((folder, name)) => {
            let file = folder.join(name);
            // The file itself may be an older one, unless all is written.
            let is_whole = stages.last().is_some_and(|s| done.count(last) == s.tasks);
            part_of(&file).symlink_metadata().is_ok() || is_whole && file.symlink_metadata().is_ok()
        }
        None => !chunks.is_empty().await.map_err(failed)?,
    };
    let aside = work.replaced()?;
    let is_exchanged = aside.exists_anything().await.map_err(failed)?
        && target.exists_anything().await.map_err(failed)?;
    Ok(!is_there && !is_exchanged && done.largest().any(|(stage, _)| stage == last))
}
