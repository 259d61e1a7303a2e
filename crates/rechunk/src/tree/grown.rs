//! Arrays of a group that have grown: makes them known, and looks after runs that did not get so
//! far.

use rechunk_store::{Role, Store, Stores};
use rechunk_zarr::ZarrVersion;

use super::coordinates::is_coordinate;
use super::saved::SavedTree;
use super::{TreeArray, TreeJob};
use crate::error::store_error;
use crate::formats::{Documents, Metadata};
use crate::growth::{Change, Growth, update_consolidated};
use crate::intermediate::remove_outside_of;
use crate::job::Job;
use crate::member_location::member_location;
use crate::place::work_dir;
use crate::repeats::GrownGroups;
use crate::target::open_target;
use crate::work_dir::{Left, WorkDir};
use crate::{Axes, Error, Remedy};

/// Changes of metadata that make the arrays known when all of them have their chunks.
#[derive(Debug)]
pub(super) struct GrownArrays {
    location: String,
    version: Option<ZarrVersion>,
    arrays: Vec<GrownArray>,
}

#[derive(Debug)]
struct GrownArray {
    path: String,
    location: String,
    is_coordinate: bool,
    change: Change,
    metadata: Metadata,
    /// Its intermediate, if it has one, is elsewhere.
    has_temp: bool,
}

impl GrownArrays {
    /// Those of a job; `keeps_temp`: their intermediates are to be left.
    pub(super) fn of(job: &TreeJob, keeps_temp: bool) -> Self {
        let array = |TreeArray { path, job }: &TreeArray| {
            Some(GrownArray {
                path: path.clone(),
                location: job.request.target.clone(),
                is_coordinate: is_coordinate(path, &job.target.spec()),
                change: job.change.clone()?,
                metadata: job.target.clone(),
                has_temp: job.request.temp.is_some() && !keeps_temp,
            })
        };
        let mut arrays: Vec<GrownArray> = job.arrays.iter().filter_map(array).collect();
        // Whoever reads meanwhile finds nothing at a coordinate that no data has.
        arrays.sort_by_key(|array| array.is_coordinate);
        let (location, version) = (job.request.target.clone(), job.format.zarr_version());
        Self { location, version, arrays }
    }

    /// Makes all known, and removes what says that each is written. Doing it again changes nothing.
    pub(super) async fn commit(
        &self,
        root: &Store,
        groups: &GrownGroups,
        work: Option<&WorkDir>,
        stores: &Stores,
    ) -> Result<(), Error> {
        for array in &self.arrays {
            array.check_written(stores).await.map_err(|error| error.of_member(&array.path))?;
        }
        // From here on new shapes are this run's doing.
        if let Some(work) = work {
            work.set_written().await?;
        }
        for array in &self.arrays {
            let store = open_target(&array.location, stores)?;
            let made = array.change.commit(&array.location, &store).await;
            made.map_err(|error| error.of_member(&array.path))?;
        }
        let described: Vec<(&str, &Metadata)> =
            self.arrays.iter().map(|array| (array.path.as_str(), &array.metadata)).collect();
        groups.commit(&self.location, root).await?;
        update_consolidated(&self.location, root, self.version, &described, groups).await?;
        for array in &self.arrays {
            let store = open_target(&array.location, stores)?;
            if let Some(work) = work_dir(&array.location, &store, stores)?
                && work.exists().await?
            {
                // A kill may have kept its run from that.
                if array.has_temp
                    && let Left::Done(Some(saved)) = work.left().await?
                {
                    remove_outside_of(&saved, stores).await?;
                }
                work.remove().await?;
            }
        }
        Ok(())
    }
}

impl GrownArray {
    /// Refuses to make known what somebody has given up meanwhile.
    async fn check_written(&self, stores: &Stores) -> Result<(), Error> {
        let store = open_target(&self.location, stores)?;
        if self.change.is_made(&self.location, &store).await? {
            return Ok(());
        }
        let Some(work) = work_dir(&self.location, &store, stores)? else { return Ok(()) };
        if let Left::Done(Some(_)) = work.left().await? {
            return Ok(());
        }
        Err(Error::Conflict {
            location: self.location.clone(),
            reason: "has lost what was written for it: somebody has cleaned up".to_owned(),
            hint: Some(Remedy::ResumeToWrite),
        })
    }
}

/// True if the run that is gone on with has written all chunks of an array that grows. The arrays
/// of its group are being made known if `group_is_written`.
pub(super) async fn is_written(job: &Job, group_is_written: bool) -> Result<bool, Error> {
    let location = &job.request.target;
    let store = open_target(location, &job.stores)?;
    let Some(work) = work_dir(location, &store, &job.stores)? else { return Ok(false) };
    match work.left().await? {
        Left::Done(Some(saved)) => Ok(saved.difference(&job.saved()).is_none()),
        Left::Nothing | Left::Done(None) | Left::Late if group_is_written => {
            is_known(location, job.growth.as_ref(), job.request.axes, &store).await
        }
        Left::Nothing | Left::Done(None) | Left::Late | Left::Unfinished(_) | Left::Damaged(_) => {
            Ok(false)
        }
    }
}

/// True if the array has grown to what it was to be.
async fn is_known(
    location: &str,
    growth: Option<&Growth>,
    axes: Option<Axes>,
    store: &Store,
) -> Result<bool, Error> {
    let Some(growth) = growth.filter(|growth| growth.axis.is_some()) else { return Ok(false) };
    let documents = Documents::fetch(&store.with_role(Role::Control)).await;
    let documents = documents.map_err(|source| store_error("look at", location, source))?;
    let array = documents.array(axes).ok().flatten();
    Ok(array.is_some_and(|array| array.spec().shape == growth.after))
}

/// Refuses members that another run has begun by itself, or has changed since they were looked at.
pub(super) async fn check_fresh(job: &TreeJob) -> Result<(), Error> {
    for TreeArray { path, job } in &job.arrays {
        let location = &job.request.target;
        let store = open_target(location, &job.stores)?;
        if let Some(change) = &job.change {
            let unchanged = change.check_unchanged(location, &store).await;
            unchanged.map_err(|error| error.of_member(path))?;
        }
        let Some(work) = work_dir(location, &store, &job.stores)? else { continue };
        if let Left::Unfinished(_) | Left::Damaged(_) | Left::Done(Some(_)) = work.left().await? {
            let error = Error::Conflict {
                location: location.clone(),
                reason: "holds what is left of another run".to_owned(),
                hint: Some(format!("`rechunk clean {location}` gives it up").into()),
            };
            return Err(error.of_member(path));
        }
    }
    Ok(())
}

/// Refuses to give up a run of which some arrays are known and others are not: they would not
/// agree.
pub(crate) async fn check_not_between(
    target: &str,
    saved: &SavedTree,
    work: &WorkDir,
    stores: &Stores,
) -> Result<(), Error> {
    if !work.is_written().await? {
        return Ok(()); // none is known by its doing
    }
    if saved.adds_levels() {
        return Err(Error::Conflict {
            location: target.to_owned(),
            reason: "holds a run that has written all levels and was about to name them".to_owned(),
            hint: Some(Remedy::ResumeSoon),
        });
    }
    let (mut known, mut unknown) = (0_u64, 0_u64);
    let axes = saved.axes();
    for (path, growth) in saved.clone().growths() {
        let Some(growth) = growth.filter(|growth| growth.axis.is_some()) else { continue };
        let location = member_location(target, &path);
        let store = open_target(&location, stores)?;
        if is_known(&location, Some(&growth), axes, &store).await? {
            known += 1;
        } else {
            unknown += 1;
        }
    }
    if known == 0 {
        return Ok(());
    }
    // Consolidated metadata comes after the last of them.
    Err(Error::Conflict {
        location: target.to_owned(),
        reason: format!(
            "holds a run that has written all and was about to say so: {known} of {} arrays have \
             their new shape",
            known + unknown
        ),
        hint: Some(Remedy::ResumeSoon),
    })
}
