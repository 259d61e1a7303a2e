//! The version of a data set that a run writes: `new` is made when the run begins.

use rechunk_store::{Role, Store};

use crate::Error;
use crate::error::store_error;
use crate::job::Job;
use crate::target::open_target;
use crate::work_dir::Left;

/// Refuses to write what a source has, which is read meanwhile.
async fn check_apart(job: &Job, target: &Store) -> Result<(), Error> {
    let failed = |source| store_error("look at", target.label(), source);
    let others = job.applied.iter().flat_map(|applied| &applied.others);
    let written = target.version_name().await.map_err(failed)?;
    for source in others.chain([&job.source]) {
        let read = source.array.store().version_name().await.map_err(failed)?;
        let Some(read) = read else { continue };
        let is_same = written.as_ref() == Some(&read);
        // The newest blocks of a level are those that are written.
        let level = |location: &str| location.rsplit_once('/').map(|(level, _)| level.to_owned());
        let place = target.label().split_once('?').map_or(target.label(), |(place, _)| place);
        let is_mixed = read.ends_with("/mixedLatest")
            && level(&read) == level(place.trim_start_matches("datastore+").trim_end_matches('/'));
        if is_same || is_mixed {
            let location = target.label().to_owned();
            let reason = format!("has the blocks of {} that are read", source.location);
            let hint = "read one version by its number, and write another one: `new`";
            return Err(Error::Conflict { location, reason, hint: Some(hint.into()) });
        }
    }
    Ok(())
}

/// Makes the new version that a job asks for, and has the job write that; returns the target. Where
/// it goes on with what is `left`, it is the version of then.
pub(crate) async fn settle(
    job: &mut Job,
    target: Store,
    left: Option<&Left>,
) -> Result<Store, Error> {
    if !target.is_versioned() {
        return Ok(target);
    }
    check_apart(job, &target).await?;
    if !target.is_new_version() {
        return Ok(target);
    }
    let numbered = if let Some(Left::Unfinished(saved)) = left {
        saved.request.target.clone()
    } else {
        let made = target.with_role(Role::Control).make_version().await;
        let made =
            made.map_err(|source| store_error("begin a version of", target.label(), source))?;
        made.unwrap_or_else(|| job.request.target.clone())
    };
    tracing::info!(target = numbered, "the new version");
    job.version_made = Some(numbered.clone());
    job.request.target = numbered;
    open_target(&job.request.target, &job.stores)
}
