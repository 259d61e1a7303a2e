//! Where the intermediate of a job is, and how it goes where `--temp` has put it elsewhere than
//! beside the target.

use rechunk_plan::Plan;
use rechunk_store::{Role, Store, Stores};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::error::store_error;
use crate::formats::hex;
use crate::job::Job;
use crate::plan_request::temp_is_memory;
use crate::real_path::canonical;
use crate::request::CopyRequest;
use crate::saved_job::SavedJob;
use crate::target::{check_apart, check_writable};
use crate::work_dir::WorkDir;

/// An intermediate outside of the work directory, which has to be removed by itself.
#[derive(Debug, Clone)]
pub(crate) struct Outside {
    store: Store,
    /// The directory that `--temp` names, if the job has made it.
    made: Option<Store>,
}

impl Outside {
    /// The one that a saved job has, if its plan has one and `--temp` puts it elsewhere.
    pub(crate) fn of_saved(saved: &SavedJob, stores: &Stores) -> Result<Option<Self>, Error> {
        Self::of(&saved.request, &saved.plan, saved.makes_temp, stores)
    }

    /// Intermediate of a request and its plan; `makes_temp`: the directory was not there before.
    pub(crate) fn of(
        request: &CopyRequest,
        plan: &Plan,
        makes_temp: bool,
        stores: &Stores,
    ) -> Result<Option<Self>, Error> {
        let Some(temp) = named_place(request, plan) else { return Ok(None) };
        let folder = open(temp, stores)?;
        let name = intermediate_name(request, plan);
        let store = folder.child(&name).map_err(|source| store_error("open", temp, source))?;
        Ok(Some(Self { store, made: makes_temp.then_some(folder) }))
    }

    /// True if it goes with the process.
    pub(crate) fn is_volatile(&self) -> bool {
        self.store.is_volatile()
    }

    /// True if something of it is there.
    pub(crate) async fn exists(&self) -> Result<bool, Error> {
        let found = self.store.exists_anything().await;
        found.map_err(|source| store_error("look at", self.store.label(), source))
    }

    /// Removes all of it, and the directory that was made for it if nothing else is in that.
    pub(crate) async fn remove(&self) -> Result<(), Error> {
        let failed = |source| store_error("remove", self.store.label(), source);
        self.store.delete_prefix("").await.map_err(failed)?;
        match &self.made {
            Some(folder) => folder.remove_empty().await.map_err(failed),
            None => Ok(()),
        }
    }
}

/// Removes the intermediate that a saved job has outside of its work directory. True if something
/// was there.
pub(crate) async fn remove_outside_of(saved: &SavedJob, stores: &Stores) -> Result<bool, Error> {
    let Some(outside) = Outside::of_saved(saved, stores)? else { return Ok(false) };
    let is_there = outside.exists().await?;
    // The directory may be left without it.
    outside.remove().await?;
    Ok(is_there)
}

/// True if the directory that `--temp` names is a local one and not there yet, so that the job
/// makes it.
pub(crate) async fn makes_temp(job: &Job) -> Result<bool, Error> {
    let Some(temp) = named_place(&job.request, &job.planned.plan) else { return Ok(false) };
    let folder = open(temp, &job.stores)?;
    if folder.local_root().is_none() {
        return Ok(false);
    }
    let found = folder.exists_anything().await;
    found.map(|found| !found).map_err(|source| store_error("look at", temp, source))
}

/// Refuses to go on with a run whose intermediate is in another place than this one names.
pub(crate) fn check_same_temp(request: &CopyRequest, saved: &SavedJob) -> Result<(), Error> {
    let Some(asked) = request.temp.as_deref() else { return Ok(()) };
    if saved.plan.stages.len() < 2 || is_same(Some(asked), saved.request.temp.as_deref()) {
        return Ok(());
    }
    let (place, hint) = match saved.request.temp.as_deref() {
        Some(temp) => (temp.to_owned(), format!("--temp {temp}")),
        None => ("the directory beside its target".to_owned(), "no --temp".to_owned()),
    };
    Err(Error::Conflict {
        location: request.target.clone(),
        reason: format!(
            "holds an interrupted run whose intermediate is in {place}, and not in {asked}"
        ),
        hint: Some(format!(
            "resume it with {hint}; `rechunk clean TARGET` gives it up, and then --temp may name another place"
        ).into()),
    })
}

fn is_same(a: Option<&str>, b: Option<&str>) -> bool {
    let real = |location: &str| match canonical(location) {
        Some(path) => path.display().to_string(),
        None => location.trim_end_matches('/').to_owned(),
    };
    match (a, b) {
        (Some(a), Some(b)) if temp_is_memory(a) && temp_is_memory(b) => true,
        (Some(a), Some(b)) => real(a) == real(b),
        (a, b) => a == b,
    }
}

/// The place that `--temp` names, where the plan has an intermediate and that does not stay in
/// memory.
fn named_place<'a>(request: &'a CopyRequest, plan: &Plan) -> Option<&'a str> {
    let temp = request.temp.as_deref().filter(|temp| !temp_is_memory(temp));
    temp.filter(|_| plan.stages.len() > 1)
}

fn open(temp: &str, stores: &Stores) -> Result<Store, Error> {
    let opened = stores.open(temp).map_err(|source| store_error("open", temp, source))?;
    Ok(opened.with_role(Role::Intermediate))
}

/// Name of the intermediate in a place that several jobs may share: one per target and source,
/// the same when the job is resumed.
fn intermediate_name(request: &CopyRequest, plan: &Plan) -> String {
    let mut hash = Sha256::new();
    for location in [&request.source, &request.target] {
        let real = canonical(location).map(|path| path.into_os_string().into_encoded_bytes());
        let bytes = real.unwrap_or_else(|| location.clone().into_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.update(&plan.fingerprint);
    format!("rechunk-{}", &hex(&hash.finalize())[..32])
}

/// Refuses a place for the intermediate that cannot be one, if the plan has one.
pub(crate) fn check_temp(job: &Job) -> Result<(), Error> {
    let Some(temp) = named_place(&job.request, &job.planned.plan) else { return Ok(()) };
    check_apart(&job.request.source, temp, "place for the intermediate")?;
    let store = job.stores.open(temp).map_err(|source| store_error("open", temp, source))?;
    check_writable(temp, &store)
}

/// Opens the place that was named for the intermediate, where the plan has one.
pub(crate) fn place_of_temp(job: &Job) -> Result<Option<Store>, Error> {
    let named = named_place(&job.request, &job.planned.plan);
    named.map(|temp| open(temp, &job.stores)).transpose()
}

/// The place of the intermediate, where the plan has one; and what is to be removed by itself,
/// because it lies outside the work directory.
pub(crate) fn intermediate(
    job: &Job,
    work: Option<&WorkDir>,
) -> Result<(Option<Store>, Option<Outside>), Error> {
    if job.planned.plan.stages.len() < 2 {
        return Ok((None, None));
    }
    // Again: a resumed job brings its own.
    check_temp(job)?;
    let (request, plan) = (&job.request, &job.planned.plan);
    if let Some(outside) = Outside::of(request, plan, job.makes_temp, &job.stores)? {
        return Ok((Some(outside.store.clone()), Some(outside)));
    }
    if let (None, Some(work)) = (&request.temp, work) {
        let store = work.intermediate()?.with_role(Role::Intermediate);
        return Ok((Some(work.noting_uploads(&store)?), None));
    }
    let name = intermediate_name(request, plan);
    let store = open(&format!("memory://{name}-{}", std::process::id()), &job.stores)?;
    let outside = Outside { store: store.clone(), made: None };
    Ok((Some(store), Some(outside)))
}
