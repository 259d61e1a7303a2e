//! Where a run reads, writes and keeps its state, and whether it may start.

use futures::FutureExt;
use rechunk_store::{Role, Store, Stores};

use crate::archive::{building_place, check_above};
use crate::archive_packing::note_zip;
use crate::around::Around;
use crate::consolidated;
use crate::error::store_error;
use crate::formats::{METADATA_KEYS, Metadata};
use crate::growth::Begun;
use crate::intermediate::{Outside, check_temp, intermediate, makes_temp, remove_outside_of};
use crate::job::Job;
use crate::may_start::may_start;
use crate::request::{Existing, Running};
use crate::resumption::{check_target_of, go_on, rebuilt, resume_job};
use crate::saved_job::SavedJob;
use crate::settled::settle;
use crate::target::{
    GroupAbove, InTheWay, check_apart, check_file, groups_above, in_the_way, is_array, open_target,
};
use crate::work_dir::{Left, WorkDir};
use crate::writer_lock::{WriterLock, held_by};
use crate::{Error, Remedy};

/// Where a run reads, writes and keeps its state.
#[derive(Debug)]
pub(crate) struct Place {
    /// The target's own place.
    pub target: Store,
    /// Where chunks are written: the target, or where its replacement is built.
    pub chunks: Store,
    /// Groups to create above the target.
    pub groups: Vec<GroupAbove>,
    /// Journal and saved job; `None` in memory.
    pub work: Option<WorkDir>,
    pub intermediate: Option<Store>,
    /// An intermediate outside the work directory.
    pub temp_to_remove: Option<Outside>,
    pub replaces: bool,
    pub resumes: bool,
    /// Held until the run ends, so that no other process writes the same target.
    pub lock: Option<WriterLock>,
    /// Warnings about what was found.
    pub warnings: Vec<String>,
}

/// Opens the target and checks what is around it; also what is there itself, for [`may_start`].
pub(crate) async fn check_place(job: &Job) -> Result<(Around, InTheWay), Error> {
    let location = &job.request.target;
    check_apart(&job.request.source, location, "target")?;
    check_temp(job)?;
    let target = open_target(location, &job.stores)?;
    let work = if job.keeps_no_state { None } else { work_dir(location, &target, &job.stores)? };
    if let Some(work) = &work {
        // What is there is removed at the end.
        check_apart(&job.request.source, work.location(), "target")?;
    }
    check_file(location, &target, &job.target)?;
    let format = job.target.format();
    let groups = async {
        let is_made = job.growth.is_none() && !job.in_tree;
        if is_made { groups_above(&target, format).await } else { Ok(Vec::new()) }
    };
    let described = async {
        if job.in_tree { Ok(()) } else { consolidated::check(location, &target, format).await }
    };
    // At once, because answers may take long.
    let (groups, described, left, found) = futures::join!(
        groups.boxed(),
        described.boxed(),
        left_of(work.as_ref()).boxed(),
        in_the_way_of(job, &target).boxed()
    );
    described?;
    let left = left?;
    check_no_parts(location, &left)?;
    let left = rebuilt(job, &target, work.as_ref(), left).await?;
    let groups = groups?;
    check_above(location, !groups.is_empty())?;
    Ok((Around { target, groups, work, left }, found))
}

/// Looks for anything in the way of a new array. Nothing is, where an array is to grow, or in a
/// group where nothing was, or what an earlier run of its copy has written.
async fn in_the_way_of(job: &Job, target: &Store) -> InTheWay {
    if job.growth.is_some() || job.keeps_no_state {
        return Ok(None);
    }
    in_the_way(&job.request.target, target, job.target.file_name().is_some()).await
}

/// Opens the directory of the state of a run; `None` in memory.
pub(crate) fn work_dir(
    location: &str,
    target: &Store,
    stores: &Stores,
) -> Result<Option<WorkDir>, Error> {
    if target.is_volatile() { Ok(None) } else { WorkDir::of(location, stores).map(Some) }
}

/// Growth of the array at `location` that a run was to do, if one was interrupted or left traces.
pub(crate) async fn begun_growth(location: &str, stores: &Stores) -> Result<Option<Begun>, Error> {
    let target = open_target(location, stores)?;
    let work = work_dir(location, &target, stores)?;
    let (saved, is_written) = match left_of(work.as_ref()).await? {
        Left::Unfinished(saved) => (saved, false),
        Left::Done(Some(saved)) => (saved, true),
        Left::Nothing | Left::Done(None) | Left::Late | Left::Damaged(_) => return Ok(None),
    };
    Ok(saved.growth.map(|growth| Begun { growth, is_written }))
}

/// Leftovers of an earlier run in a work directory, if there is one.
pub(crate) async fn left_of(work: Option<&WorkDir>) -> Result<Left, Error> {
    match work {
        Some(work) => work.left().await,
        None => Ok(Left::Nothing),
    }
}

fn resumes(left: &Left, running: Running) -> bool {
    matches!(left, Left::Unfinished(_)) && running.existing == Existing::Resume
}

impl Place {
    /// Checks that the run may start and writes its first traces: the lock and the saved job.
    pub(crate) async fn prepare(job: &mut Job, running: Running) -> Result<Self, Error> {
        let location = job.request.target.clone();
        let checked = job.around.take();
        let (Around { target, groups, work, left }, found) = if let Some(around) = checked {
            (*around, None)
        } else {
            let (around, found) = check_place(job).await?;
            (around, Some(found))
        };
        // What is refused is refused before anything is written.
        if let Some(found) = found
            && !resumes(&left, running)
            && let Err(error) = may_start(job, running, &target, &left, found).await
        {
            // What is in the way may be what another run writes now: then that is to be said.
            let writer = match &work {
                Some(work) => work.writer().await.ok().flatten(),
                None => None,
            };
            return Err(writer.map_or(error, |writer| held_by(&location, writer)));
        }
        let Some(work) = work else {
            return Self::begin(job, running, (target, groups, None), false).await;
        };
        let lock = work.lock(&location).await?;
        let was_late = matches!(left, Left::Late);
        let place = (target, groups, Some(work.clone()));
        let begun = Box::pin(Self::begin(job, running, place, was_late));
        let begun = lock.while_held(&location, begun).await;
        match begun {
            Ok(place) => Ok(Self { lock: Some(lock), ..place }),
            Err(error) => {
                // That it was refused is what is to be said.
                let _ = work.unlock(lock).await;
                Err(error)
            }
        }
    }

    /// The rest, when no other run writes the target: one that did may have ended since.
    /// `was_late`: before the lock there was what a run has sent too late.
    async fn begin(
        job: &mut Job,
        running: Running,
        (target, groups, work): (Store, Vec<GroupAbove>, Option<WorkDir>),
        was_late: bool,
    ) -> Result<Self, Error> {
        if let Some(change) = &job.change {
            // Another run may have appended since the plan was made.
            change.check_unchanged(&job.request.target, &target).await?;
        }
        let left = async {
            match &work {
                // Segments of its journal would take numbers from that of this one.
                Some(work) => match work.left_since().await? {
                    Left::Nothing if was_late => Ok::<_, Error>(Left::Late),
                    left => Ok(left),
                },
                None => Ok(Left::Nothing),
            }
        };
        // At once, because answers may take long.
        let (left, found) = futures::join!(left.boxed(), in_the_way_of(job, &target).boxed());
        let left = left?;
        check_no_parts(&job.request.target, &left)?;
        let left = rebuilt(job, &target, work.as_ref(), left).await?;
        let (resumes, replaces) = match &left {
            Left::Unfinished(saved) if resumes(&left, running) => {
                resume_job(job, saved)?;
                check_target_of(job, saved, &target, work.as_ref()).await?;
                (true, saved.replaces)
            }
            _ => (false, start_over(job, running, &target, work.as_ref(), &left, found).await?),
        };
        let target = building_place(&job.request.target, target, &job.stores)?;
        let target = settle(job, target, if resumes { Some(&left) } else { None }).await?;
        // A store without rename cannot build the new array beside the old one.
        let goes_first = replaces && target.local_root().is_none();
        let replaces = replaces && !goes_first;
        let mut chunks = chunks_at(job, work.as_ref(), &target, replaces)?;
        if !resumes {
            job.makes_temp = makes_temp(job).await?;
        }
        let (intermediate, temp_to_remove) = intermediate(job, work.as_ref())?;
        let mut warnings = Vec::new();
        if let Some(work) = &work {
            chunks = work.noting_uploads(&chunks)?;
            if let (true, Left::Unfinished(saved)) = (resumes, &left) {
                let is_kept = !intermediate.as_ref().is_some_and(Store::is_volatile);
                warnings = go_on(job, work, saved, (&target, &chunks), is_kept).await?;
            }
            if !resumes {
                let mut saved = job.saved();
                saved.replaces = replaces || goes_first;
                work.save_job(&saved).await?;
            }
        }
        if goes_first {
            remove_old(&job.request.target, &target, work.as_ref()).await?;
        }
        Ok(Self {
            target,
            chunks,
            groups,
            work,
            intermediate,
            temp_to_remove,
            replaces,
            resumes,
            lock: None,
            warnings,
        })
    }

    /// The place of a job that another process has begun, held by `lock`. Nothing is looked at, and
    /// nothing written.
    pub(crate) fn join(
        job: &Job,
        saved: &SavedJob,
        target: Store,
        work: WorkDir,
        lock: WriterLock,
    ) -> Result<Self, Error> {
        // Never of a ZIP file, which is put in the place of another when it is packed.
        let replaces = saved.replaces && target.local_root().is_some();
        let target = building_place(&job.request.target, target, &job.stores)?;
        let chunks = work.noting_uploads(&chunks_at(job, Some(&work), &target, replaces)?)?;
        let (intermediate, temp_to_remove) = intermediate(job, Some(&work))?;
        Ok(Self {
            target,
            chunks,
            groups: Vec::new(),
            work: Some(work),
            intermediate,
            temp_to_remove,
            replaces,
            resumes: true,
            lock: Some(lock),
            warnings: Vec::new(),
        })
    }

    /// An error if another run has taken the target from this one.
    pub(crate) async fn check_lock(&self) -> Result<(), Error> {
        match &self.lock {
            Some(lock) => lock.check(self.target.label()).await,
            None => Ok(()),
        }
    }

    /// Ends a run that has failed: another one need not wait until nothing is heard of this one.
    pub(crate) async fn give_up(&mut self) {
        let (Some(work), Some(lock)) = (&self.work, self.lock.take()) else { return };
        // While it is ours. After another run has taken it, its uploads are there too.
        if lock.check(self.target.label()).await.is_ok()
            && let Err(error) = work.abort_uploads().await
        {
            tracing::warn!(%error, "unfinished uploads could not be given up");
        }
        if let Err(error) = work.unlock(lock).await {
            tracing::warn!(%error, "the target could not be given up");
        }
    }

    /// Other processes write it too, each a part.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self.lock, Some(WriterLock::Part(_)))
    }

    /// The intermediate went with the process that wrote it: what the journal says is done is not.
    pub(crate) fn is_volatile(&self) -> bool {
        self.intermediate.as_ref().is_some_and(Store::is_volatile)
    }

    /// A run killed after the new array took the old one's place: only leftovers remain.
    pub(crate) async fn is_replaced(&self) -> Result<bool, Error> {
        let (Some(work), true) = (&self.work, self.replaces) else { return Ok(false) };
        let exists = async |store: &Store| {
            let found = store.exists_anything().await;
            found.map_err(|source| store_error("look at", store.label(), source))
        };
        Ok(!exists(&self.chunks).await?
            && exists(&work.replaced()?).await?
            && is_array(&self.target).await?)
    }

    /// The new array takes the old one's place; a kill between the two renames is mended by a
    /// resume.
    pub(crate) async fn replace(&self) -> Result<(), Error> {
        let (Some(work), true) = (&self.work, self.replaces) else { return Ok(()) };
        let failed = |source| store_error("replace", self.target.label(), source);
        if self.target.exists_anything().await.map_err(failed)? {
            Store::rename(&self.target, &work.replaced()?).await.map_err(failed)?;
        }
        Store::rename(&self.chunks, &self.target).await.map_err(failed)
    }
}

/// The place where chunks are written.
fn chunks_at(
    job: &Job,
    work: Option<&WorkDir>,
    target: &Store,
    replaces: bool,
) -> Result<Store, Error> {
    Ok(match (work, folder(target, &job.target)?) {
        (Some(work), Some(_)) if job.is_packed() => work.staging()?.with_role(Role::Target),
        // One file is built beside its place, and takes it when it is whole.
        (_, Some((folder, _))) => folder,
        (Some(work), None) if replaces => work.staging()?.with_role(Role::Target),
        _ => target.clone(),
    })
}

/// Refuses a job that many processes do now.
fn check_no_parts(location: &str, left: &Left) -> Result<(), Error> {
    match left {
        Left::Unfinished(saved) if saved.parts.is_some() => Err(Error::Conflict {
            location: location.to_owned(),
            reason: "is being written in parts".to_owned(),
            hint: Some(Remedy::PartsOrClean),
        }),
        _ => Ok(()),
    }
}

/// The directory that a target of one file is in, and its name there; `None` for other targets.
pub(crate) fn folder(
    target: &Store,
    metadata: &Metadata,
) -> Result<Option<(Store, String)>, Error> {
    if metadata.file_name().is_none() {
        return Ok(None);
    }
    let parent = target.parent();
    parent.map_err(|source| store_error("open the folder of", target.label(), source))
}

/// [`may_start`], and removes what earlier runs have left; returns whether the new array is to
/// take the place of an old one.
async fn start_over(
    job: &Job,
    running: Running,
    target: &Store,
    work: Option<&WorkDir>,
    left: &Left,
    mut found: InTheWay,
) -> Result<bool, Error> {
    let location = &job.request.target;
    let file = folder(target, &job.target)?;
    if let (Some(work), Left::Unfinished(_) | Left::Damaged(_)) = (work, left)
        && work.put_back(target).await?
    {
        found = in_the_way_of(job, target).await;
    }
    let replaces = may_start(job, running, target, left, found).await?;
    if let (Some((folder, name)), Left::Unfinished(_) | Left::Damaged(_) | Left::Done(Some(_))) =
        (&file, left)
    {
        // What a run that is given up has written of it: before that run is forgotten.
        let removed = folder.with_role(Role::Control).delete(&format!("{name}.part")).await;
        removed.map_err(|source| store_error("remove", location, source))?;
    }
    if let Left::Unfinished(saved) | Left::Done(Some(saved)) = left {
        remove_outside_of(saved, &job.stores).await?;
    }
    if let Some(work) = work {
        work.clear(left).await?;
    }
    let archive = job.archive();
    if let (Some(work), Some(archive)) = (work, &archive) {
        note_zip(archive, running.existing == Existing::Overwrite, work).await?;
    }
    // One file takes the place of another at the end.
    Ok(replaces && file.is_none() && archive.is_none())
}

/// Removes the array that a new one replaces, what makes it one before its chunks. The job is saved
/// before, and its journal begun after that, so that a run that is killed meanwhile can go on.
async fn remove_old(location: &str, target: &Store, work: Option<&WorkDir>) -> Result<(), Error> {
    if let Some(work) = work
        && work.has_journal().await?
    {
        return Ok(()); // it is gone, and what is there is the new one
    }
    let old = target.with_role(Role::Control);
    let failed = |source| store_error("remove", location, source);
    for key in METADATA_KEYS {
        old.delete(key).await.map_err(failed)?;
    }
    old.delete_prefix("").await.map_err(failed)
}
