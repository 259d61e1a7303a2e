//! The copy of an array or of a group, planned: whoever asks for one need not know which it is.

use std::sync::Arc;
use std::time::Duration;

use rechunk_exec::Observer;
use rechunk_store::{Meter, Stores};
use rechunk_words::StagePart;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::archive_target;
use crate::fixed_source::fixed_source;
use crate::growth::check_trust;
use crate::job::Job;
use crate::open::{Opened, left_out, open_node, open_store};
use crate::parts::{Ending, PartReport, PartsReport, Patience, StageTasks};
use crate::pyramid::prepare_pyramid;
use crate::report::Report;
use crate::request::{CopyRequest, Running};
use crate::saved_plan::SavedPlan;
use crate::saving::check_other_temp;
use crate::tree::{Selection, Source, TreeJob, TreeReport};

/// A planned copy: of an array, or of a group.
#[derive(Debug)]
pub enum Prepared {
    /// The source is an array.
    Array(Box<Job>),
    /// The source is a group.
    Tree(Box<TreeJob>),
}

/// The report of a copy, planned or done: of an array, or of a group.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum CopyReport {
    /// The source is an array.
    Array(Box<Report>),
    /// The source is a group.
    Tree(Box<TreeReport>),
}

impl From<Job> for Prepared {
    fn from(job: Job) -> Self {
        Self::Array(Box::new(job))
    }
}

impl Prepared {
    /// Opens the source and the target of a saved plan and takes that over; `temp` is where the
    /// intermediate goes instead.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| folder.path().join(name).display().to_string();
    /// # let (source, target) = (at("source.zarr"), at("target.zarr"));
    /// # std::fs::create_dir_all(source.clone() + "/sst")?;
    /// # std::fs::write(source.clone() + "/.zgroup", r#"{"zarr_format": 2}"#)?;
    /// # std::fs::write(source.clone() + "/sst/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
    /// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
    /// #     "fill_value": 0, "order": "C"}"#)?;
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use rechunk::{
    ///     CancellationToken, CopyRequest, Existing, NullObserver, Prepared, Running, SavedPlan,
    ///     Selection, Stores, prepare,
    /// };
    ///
    /// let mut request = CopyRequest::new(&source, &target); // a group
    /// request.chunks = "4,2".parse()?;
    /// let plan = prepare(request, Selection::default(), &Stores::default()).await?.saved()?;
    /// let file = plan.to_json()?;
    /// let open = async || {
    ///     let plan = SavedPlan::from_json("plan.json", &file)?;
    ///     Prepared::from_saved(plan, None, &Stores::default()).await
    /// };
    /// let running = Running::new(Existing::Refuse);
    /// for part in ["0/2", "1/2"] { // each in a process of its own
    ///     let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    ///     let part = (0, part.parse()?);
    ///     open().await?.run_part(part, running, Duration::ZERO, observer, cancel).await?;
    /// }
    /// let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    /// open().await?.finish_parts(running, Duration::ZERO, observer, cancel).await?;
    /// assert!(std::path::Path::new(&target).join("sst").exists());
    /// # Ok(())
    /// # }
    /// ```
    pub async fn from_saved(
        saved: SavedPlan,
        temp: Option<&str>,
        stores: &Stores,
    ) -> Result<Self, Error> {
        let saved = match saved {
            SavedPlan::Array(saved) => {
                return Ok(Job::from_saved(*saved, temp, stores).await?.into());
            }
            SavedPlan::Tree(saved) => saved,
        };
        let mut request = saved.request().clone();
        request.planning.candidates = false; // the saved plans are taken, whatever others cost
        if let Some(temp) = temp {
            check_other_temp(&request, temp)?;
            request.temp = Some(temp.to_owned());
        }
        let location = request.source.clone();
        let prepared = Box::pin(prepare(request, saved.selection().clone(), stores)).await?;
        let Self::Tree(mut job) = prepared else {
            return Err(Error::Conflict {
                location,
                reason: "cannot be copied by the saved plan: it was a group, and is an array"
                    .to_owned(),
                hint: Some("plan again".into()),
            });
        };
        job.adopt(&saved)?;
        Ok(Self::Tree(job))
    }

    /// The job and its plan, to be saved and run later or elsewhere ([`Job::saved`],
    /// [`TreeJob::saved`]).
    pub fn saved(&self) -> Result<SavedPlan, Error> {
        Ok(match self {
            Self::Array(job) => SavedPlan::Array(Box::new(job.saved())),
            Self::Tree(job) => SavedPlan::Tree(Box::new(job.saved()?)),
        })
    }

    /// The stages that parts divide.
    pub fn stages(&self) -> Vec<StageTasks> {
        match self {
            Self::Array(job) => {
                job.planned.plan.stages.iter().enumerate().map(StageTasks::of).collect()
            }
            Self::Tree(job) => job.stage_tasks(),
        }
    }

    /// Opens the job to parts ([`Job::begin_parts`], [`TreeJob::begin_parts`]).
    pub async fn begin_parts(self, running: Running) -> Result<PartsReport, Error> {
        match self {
            Self::Array(job) => Box::pin(job.begin_parts(running)).await,
            Self::Tree(job) => Box::pin(job.begin_parts(running)).await,
        }
    }

    /// Does a part of a stage ([`Job::run_part`], [`TreeJob::run_part`]).
    pub async fn run_part(
        self,
        part: (usize, StagePart),
        running: Running,
        wait: Duration,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<PartReport, Error> {
        match self {
            Self::Array(job) => Box::pin(job.run_part(part, running, wait, observer, cancel)).await,
            Self::Tree(job) => Box::pin(job.run_part(part, running, wait, observer, cancel)).await,
        }
    }

    /// Finishes a job that was done in parts ([`Job::finish_parts`], [`TreeJob::finish_parts`]).
    /// Where another process does so at the moment, that is waited for.
    pub async fn finish_parts(
        self,
        running: Running,
        wait: Duration,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<CopyReport, Error> {
        let (saved, stores) = (self.saved()?, self.stores().clone());
        let ending = match &self {
            Self::Array(job) => Ending::of(job)?,
            Self::Tree(job) => job.ending().await?,
        };
        let mut patience = Patience::new();
        let mut first = Some(self);
        loop {
            let attempt = async {
                let job = match first.take() {
                    Some(job) => job,
                    None => Self::from_saved(saved.clone(), None, &stores).await?,
                };
                job.finish_once(running, wait, Arc::clone(&observer), cancel.clone()).await
            };
            match Box::pin(attempt).await {
                Ok(done) => return Ok(done),
                Err(error) => ending.wait(&mut patience, error).await?,
            }
        }
    }

    async fn finish_once(
        self,
        running: Running,
        wait: Duration,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<CopyReport, Error> {
        match self {
            Self::Array(job) => {
                let report = Box::pin(job.finish_parts(running, wait, observer, cancel)).await?;
                Ok(CopyReport::Array(Box::new(report)))
            }
            Self::Tree(job) => {
                let report = Box::pin(job.finish_parts(running, wait, observer, cancel)).await?;
                Ok(CopyReport::Tree(Box::new(report)))
            }
        }
    }

    fn stores(&self) -> &Stores {
        match self {
            Self::Array(job) => &job.stores,
            Self::Tree(job) => &job.stores,
        }
    }

    /// The report of the plan before it is run.
    pub fn plan_report(&self) -> CopyReport {
        match self {
            Self::Array(job) => CopyReport::Array(Box::new(job.plan_report())),
            Self::Tree(job) => CopyReport::Tree(Box::new(TreeReport::of_plan(job))),
        }
    }

    /// Losses of the target against the source, and all else that is to be said before a run.
    pub fn warnings(&self) -> Vec<String> {
        match self {
            Self::Array(job) => job.warnings.clone(),
            Self::Tree(job) => job.all_warnings(),
        }
    }

    /// Refuses a source of which more is missing than is allowed ([`Job::check_missing`]).
    pub async fn check_missing(&mut self) -> Result<(), Error> {
        match self {
            Self::Array(job) => job.check_missing().await,
            Self::Tree(job) => job.check_missing().await,
        }
    }

    /// Checks, without writing anything, that the copy may be run ([`Job::check_target`]).
    pub async fn check_target(&mut self, running: Running) -> Result<(), Error> {
        match self {
            Self::Array(job) => Box::pin(job.check_target(running)).await,
            Self::Tree(job) => Box::pin(job.check_target(running)).await,
        }
    }

    /// Runs the copy. On an error what is done is kept, and may be gone on with.
    pub async fn run(
        self,
        running: Running,
        observer: Arc<dyn Observer>,
        cancel: CancellationToken,
    ) -> Result<CopyReport, Error> {
        match self {
            Self::Array(job) => {
                let report = Box::pin(job.run(running, observer, cancel)).await?;
                Ok(CopyReport::Array(Box::new(report)))
            }
            Self::Tree(job) => {
                let report = Box::pin(job.run(running, observer, cancel)).await?;
                Ok(CopyReport::Tree(Box::new(report)))
            }
        }
    }
}

/// Opens the source, an array or a group, and plans its copy. Reads metadata and a few chunk sizes;
/// writes nothing.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let at = |name: &str| folder.path().join(name).display().to_string();
/// # let (source, target) = (at("source.zarr"), at("target.zarr"));
/// # std::fs::create_dir(&source)?;
/// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
/// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
/// #     "fill_value": 0, "order": "C"}"#)?;
/// use rechunk::{CopyRequest, Prepared, Selection, Stores, prepare};
///
/// let request = CopyRequest::new(&source, &target);
/// match prepare(request, Selection::default(), &Stores::default()).await? {
///     Prepared::Array(job) => assert_eq!(job.plan_report().plan.target_chunks, [1, 6]),
///     Prepared::Tree(job) => println!("{} arrays", job.arrays.len()),
/// }
/// assert!(!std::path::Path::new(&target).exists());
/// # Ok(())
/// # }
/// ```
pub async fn prepare(
    request: CopyRequest,
    selection: Selection,
    stores: &Stores,
) -> Result<Prepared, Error> {
    check_trust(&request)?;
    archive_target::check_request(&request)?;
    let request = fixed_source(request, stores).await?;
    if let Some(pyramid) = request.pyramid.clone() {
        selection.check_unused()?;
        let job = Box::pin(prepare_pyramid(request, *pyramid, stores)).await?;
        let job = archive_target::of_tree(job)?;
        return Ok(Prepared::Tree(Box::new(job)));
    }
    let stores = stores.with_meter(&Meter::new());
    let store = open_store(&request.source, &stores)?;
    match open_node(&request.source, &request.open_options(), &store).await? {
        Opened::Array(array) => {
            selection.check_unused()?;
            let left_out = left_out(&array.location, &store).await?;
            let mut job = Job::plan(request, *array, stores).await?;
            job.warnings.extend(left_out);
            Ok(Prepared::Array(Box::new(archive_target::of_array(job)?)))
        }
        Opened::Group(documents, format) => {
            let source = Source { store, documents, format };
            let job = TreeJob::prepare(request, selection, &source, stores).await?;
            Ok(Prepared::Tree(Box::new(archive_target::of_tree(job)?)))
        }
    }
}
