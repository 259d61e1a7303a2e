//! A target that is a version of a data set at a server: its array is there before anything is
//! written, and `new` is one that is made when a run begins.

use rechunk_grid::ArraySpec;
use rechunk_store::{Role, Store, is_versioned};
use serde_json::json;

use crate::error::store_error;
use crate::job::Job;
use crate::open::OpenArray;
use crate::placement::Placement;
use crate::request::CopyRequest;
use crate::target::open_target;
use crate::work_dir::Left;
use crate::{Error, Remedy};

/// Has a request say that its source goes into what is there, where the target is a version of a
/// data set.
pub(crate) fn into_version(mut request: CopyRequest) -> Result<CopyRequest, Error> {
    if !is_versioned(&request.target) {
        return Ok(request);
    }
    if let Some(Placement::Append(_)) = &request.placement {
        return Err(Error::Usage {
            message: format!("cannot append to {}: a data set keeps its shape", request.target),
            hint: Some("create a larger one, and write a part of it with --region".into()),
        });
    }
    if let Some(apply) = &mut request.apply {
        apply.update = true;
    } else if request.placement.is_none() {
        request.placement = Some(Placement::Whole);
    }
    Ok(request)
}

/// Adds to the error of a data set that is not there, or is of another shape or type, how one is
/// created that takes the source.
pub(crate) fn with_creation(error: Error, request: &CopyRequest, source: &OpenArray) -> Error {
    if !is_versioned(&request.target) {
        return error;
    }
    let hint = creation(&request.target, source.spec());
    let is_whole = request.placement == Some(Placement::Whole) || request.is_update();
    match error {
        Error::Store { source, .. } if source.is_missing_dataset() => Error::Conflict {
            location: request.target.clone(),
            reason: "is of a data set that is not there".to_owned(),
            hint: hint.map(Into::into),
        },
        Error::Conflict { hint: Some(Remedy::CastToTarget), .. } => error,
        Error::Conflict { location, reason, hint: _ } if hint.is_some() && is_whole => {
            Error::Conflict { location, reason, hint: hint.map(Into::into) }
        }
        error => error,
    }
}

/// The command that creates a data set which takes an array; `None` if none does, or the level is
/// not the finest.
fn creation(target: &str, array: &ArraySpec) -> Option<String> {
    let (base, rest) = target.split_once("/datasets/")?;
    let is_finest = rest.split('/').skip(1).take(3).all(|factor| factor == "1");
    let (outer, &[z, y, x]) = array.shape.split_last_chunk::<3>()?;
    // As they are looked for: by their names, else in the order of OME-Zarr.
    let usual = ["a", "t", "c"];
    let first = usual.len().checked_sub(outer.len())?;
    let mut counts = [1_u64; 3];
    for (axis, count) in outer.iter().enumerate() {
        let name = array.dimension_name(axis).unwrap_or(usual[first + axis]);
        counts[usual.iter().position(|usual| *usual == name)?] = *count;
    }
    let [angles, timepoints, channels] = counts;
    let body = json!({
        "voxelType": array.data_type.name(), "dimensions": [x, y, z], "timepoints": timepoints,
        "channels": channels, "angles": angles, "compression": "gzip",
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [64, 64, 64]}],
    });
    let base = base.strip_prefix("datastore+")?;
    is_finest.then(|| {
        format!(
            "create one that takes the source: curl -X POST {base}/datasets -H 'Content-Type: \
             application/json' -d '{body}'"
        )
    })
}

/// Refuses a target that takes one array, where a group is to be written.
pub(crate) fn check_takes_group(request: &CopyRequest) -> Result<(), Error> {
    if !is_versioned(&request.target) {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!("cannot write a group to {}: it is one level", request.target),
        hint: Some(
            "copy the array of each level to its own; or the finest one, and have the server \
             rebuild the others"
                .into(),
        ),
    })
}

/// Refuses to read a version that is still to be made.
pub(crate) fn check_is_made(location: &str, store: &Store) -> Result<(), Error> {
    if !store.is_new_version() {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!("{location}: `new` is a version that is written"),
        hint: Some("read a number, `latest` or `mixedLatest`".into()),
    })
}

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

/// Has a job that asks for a new version write the one that is made for it, or, where it goes on
/// with what is `left`, that of then. From here on its target has a number. Returns the target.
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
