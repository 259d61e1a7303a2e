//! Whether a fresh run may start where something is.

use rechunk_store::Store;

use crate::archive_packing::check_replaced_zip;
use crate::gzip_file::part_of;
use crate::job::Job;
use crate::request::{Existing, Running};
use crate::target::{InTheWay, check_no_group, check_replaceable, refuse_found};
use crate::work_dir::Left;
use crate::{Error, Remedy};

/// Refuses a target at which a run was interrupted.
pub(crate) fn unfinished(location: &str) -> Error {
    Error::Conflict {
        location: location.to_owned(),
        reason: "holds an interrupted (or running) job".to_owned(),
        hint: Some(Remedy::ResumeOrOverwrite),
    }
}

/// Decides whether a fresh run may put its source into what is there.
pub(crate) fn may_grow(job: &Job, running: Running, left: &Left) -> Result<bool, Error> {
    let location = &job.request.target;
    match (left, running.existing) {
        (_, Existing::Overwrite) => Err(overwrites()),
        (Left::Damaged(reason), _) => Err(damaged(location, reason)),
        (Left::Unfinished(_), Existing::Refuse) => Err(begun_before(location)),
        (Left::Done(Some(_)), Existing::Refuse) => Err(refuse_growth(
            location,
            "holds what is left of a run that has written all",
            Remedy::EndOrClean,
        )),
        (Left::Done(Some(saved)), Existing::Resume) => match saved.difference(&job.saved()) {
            Some(difference) => Err(other_job(location, &difference)),
            None => Ok(false),
        },
        // The arrays of a group are begun so; of the group the same is asked.
        (Left::Nothing | Left::Done(None) | Left::Late, Existing::Resume) if !job.in_tree => {
            Err(nothing_begun(location))
        }
        // The run that it was planned to go on with has ended meanwhile.
        (Left::Nothing | Left::Done(None) | Left::Late, _) if job.is_begun && !job.in_tree => {
            Err(ended_meanwhile(location))
        }
        _ => Ok(false),
    }
}

fn refuse_growth(location: &str, reason: &str, hint: impl Into<Remedy>) -> Error {
    let (reason, hint) = (reason.to_owned(), Some(hint.into()));
    Error::Conflict { location: location.to_owned(), reason, hint }
}

/// A target that is to stay cannot be replaced.
pub(crate) fn overwrites() -> Error {
    Error::Usage {
        message: "--overwrite replaces the target, which --append, --region and a data set keep"
            .to_owned(),
        hint: Some("leave one of them out".into()),
    }
}

/// An interrupted run is to be gone on with first.
pub(crate) fn begun_before(location: &str) -> Error {
    refuse_growth(location, "holds an interrupted (or running) job", Remedy::ResumeOrClean)
}

/// Error that the plan was of a run that has ended since.
pub(crate) fn ended_meanwhile(location: &str) -> Error {
    refuse_growth(
        location,
        "was being written by another run, which has ended meanwhile",
        "run again: then what it has written is seen",
    )
}

/// After success there is no run left to go on with, and the source is not to be appended twice.
pub(crate) fn nothing_begun(location: &str) -> Error {
    refuse_growth(
        location,
        "holds no interrupted run to go on with: it was complete, or has not begun",
        Remedy::LookFirst,
    )
}

/// Decides whether a fresh run may start; returns whether it replaces what is at the target, which
/// is what was `found` there.
pub(crate) async fn may_start(
    job: &Job,
    running: Running,
    target: &Store,
    left: &Left,
    found: InTheWay,
) -> Result<bool, Error> {
    if job.growth.is_some() {
        return may_grow(job, running, left);
    }
    let (location, existing) = (&job.request.target, running.existing);
    let is_file = job.target.file_name().is_some();
    let is_begun = matches!(left, Left::Unfinished(_) | Left::Damaged(_));
    if let (Left::Damaged(reason), Existing::Refuse | Existing::Resume) = (left, existing) {
        return Err(damaged(location, reason));
    }
    if is_begun && existing == Existing::Refuse {
        return Err(unfinished(location));
    }
    if is_file && !is_begun && !matches!(left, Left::Done(Some(_))) {
        check_part(location, target)?;
    }
    // What is found is what an earlier run has built of it, and not what it would replace.
    if let (Existing::Overwrite, true, Some(archive)) = (existing, is_begun, job.archive()) {
        check_replaced_zip(&archive, &job.stores).await?;
    }
    let absent = refuse_found(location, target, is_file, found).await;
    let replaces = absent.is_err();
    if existing != Existing::Overwrite {
        absent?;
    } else if replaces && is_begun {
        check_no_group(location, target).await?;
    } else if replaces {
        check_replaceable(location, target, is_file).await?;
    }
    Ok(replaces)
}

/// Refuses a file under way that no run of ours has left: it is somebody's.
fn check_part(location: &str, target: &Store) -> Result<(), Error> {
    let Some(path) = target.local_root() else { return Ok(()) };
    if part_of(path).symlink_metadata().is_err() {
        return Ok(());
    }
    Err(Error::Conflict {
        location: format!("{}.part", location.trim_end_matches('/')),
        reason: "is in the way: the array is written under this name until it is complete"
            .to_owned(),
        hint: Some("no run that could be resumed has left it: move it away".into()),
    })
}

/// An interrupted run of something else is there.
pub(crate) fn other_job(location: &str, difference: &str) -> Error {
    Error::Conflict {
        location: location.to_owned(),
        reason: format!("holds an interrupted run of another job: {difference}"),
        hint: Some(
            "resume that with the same arguments, or give it up with `rechunk clean TARGET`".into(),
        ),
    }
}

/// The job that a run was to do is not known any more.
pub(crate) fn damaged(location: &str, reason: &str) -> Error {
    Error::Conflict {
        location: location.to_owned(),
        reason: format!("holds an interrupted run that cannot be gone on with: {reason}"),
        hint: Some(Remedy::ResumeAsBegun),
    }
}
