//! A job: a source opened, a target specified, a plan made. Nothing is written here.

use std::sync::Arc;
use std::time::SystemTime;

use rechunk_format::Layout;
use rechunk_plan::PlanRequest;
use rechunk_planner::{Planned, cheapest, plan};
use rechunk_store::{Meter, Stores, is_versioned};

use crate::Error;
use crate::advice::MoreMemory;
use crate::apply::{ApplyReport, Opened};
use crate::archive::Archive;
use crate::around::Around;
use crate::carried::Carried;
use crate::dataset_creation::with_creation;
use crate::formats::Metadata;
use crate::growth::{self, Asked, Begun, Change, Growth, Trust};
use crate::gzip_file::unpacked_name;
use crate::is_copy::is_copy;
use crate::open::OpenArray;
use crate::pyramid::PyramidJob;
use crate::report::Report;
use crate::request::CopyRequest;
use crate::sample::{Sample, Sampled, sample};
use crate::specified::Specified;
use crate::variable;

/// A planned copy.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Job {
    /// Request that it was planned from.
    pub request: CopyRequest,
    /// The source.
    pub source: OpenArray,
    /// Place of the source in a target that exists; `None`: it becomes a new one.
    pub growth: Option<Growth>,
    /// Metadata of the target.
    pub target: Metadata,
    /// Layout of the target, or of what is written of it.
    pub target_layout: Arc<dyn Layout>,
    /// Request to the planner: to plan again under other conditions ([`crate::what_if`]).
    pub plan_request: Box<PlanRequest>,
    /// The plan and its rivals.
    pub planned: Planned,
    /// Losses of the target against the source, in sentences.
    pub warnings: Vec<String>,
    /// Harmless choices that may surprise: in sentences.
    pub notes: Vec<String>,
    /// Results for the times in `--chunks` and `--shards`: `time=30D (720)`.
    pub times: Vec<String>,
    /// Savings by a modest multiple of the memory, where they are most of a long time.
    pub more_memory: Option<MoreMemory>,
    /// Operation that is applied, where it is no copy.
    pub(crate) applied: Option<Opened>,
    /// Levels that are written, where it is no copy.
    pub(crate) pyramid: Option<PyramidJob>,
    pub(crate) stores: Stores,
    /// When it was planned.
    pub(crate) planned_at: SystemTime,
    /// When the run was planned that it goes on with.
    pub(crate) begun_at: SystemTime,
    /// True for a part of the copy of a group. The group's run makes the groups above it, and
    /// describes it in consolidated metadata when all arrays are complete.
    pub(crate) in_tree: bool,
    /// No state of it is kept: a run of the group that is gone on with begins this array, a small
    /// one, again.
    pub(crate) keeps_no_state: bool,
    /// The directory that `--temp` names was not there before.
    pub(crate) makes_temp: bool,
    /// Change of metadata that makes the new shape of the target known.
    pub(crate) change: Option<Change>,
    /// Location of the version that its run has made, where the target was to be a new one.
    pub(crate) version_made: Option<String>,
    /// It was planned as a run that had begun, and not ended, was to do it.
    pub(crate) is_begun: bool,
    /// Findings about a few objects of the source when it was planned.
    pub(crate) sampled: Sampled,
    /// Indices of objects that were looked for when it was planned, where none of them was there.
    pub(crate) asked_in_vain: Vec<Vec<u64>>,
    /// The chunks of the source lie under other keys than its documents say.
    pub(crate) has_other_keys: bool,
    /// [`Job::check_target`] has found that the target is the result of this job already.
    pub(crate) is_complete: bool,
    /// Findings of [`Job::check_target`] around the target, for the run that follows.
    pub(crate) around: Option<Box<Around>>,
}

impl Job {
    /// Report of the plan before it is run.
    pub fn plan_report(&self) -> Report {
        Report {
            apply: ApplyReport::of(&self.planned.plan),
            growth: self.growth.clone(),
            more_memory: self.more_memory.clone(),
            notes: self.notes.clone(),
            version_made: self.version_made.clone(),
            archive: self.archive().map(|archive| archive.planned_report()),
            ..Report::of_plan(&self.planned, &self.warnings)
        }
    }

    /// Where its requests and bytes are counted, also while it runs and when it has failed.
    pub fn meter(&self) -> Arc<Meter> {
        Arc::clone(self.stores.meter())
    }

    /// The filters that stay and are not undone, if there are some.
    pub fn carried(&self) -> Option<Carried> {
        if !self.source.is_carried {
            return None;
        }
        let filters = self.target.zarr()?.number_filters();
        Some(Carried {
            data_type: self.target.data_type_name(),
            stored_type: self.target_layout.spec().data_type.name(),
            filters: filters.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + "),
        })
    }

    /// Its target holds the elements of its source: nothing is applied, and no levels are made.
    pub(crate) fn is_copy(&self) -> bool {
        is_copy(&self.planned.plan)
    }

    /// The target is one file that is compressed as a whole.
    pub(crate) fn is_packed(&self) -> bool {
        self.target.file_name().is_some() && unpacked_name(&self.request.target).is_some()
    }

    /// The ZIP file that all of its target is.
    pub(crate) fn archive(&self) -> Option<Archive> {
        Archive::whole(&self.request.target).filter(|_| !self.in_tree)
    }

    /// Plans the copy of an open source into a new target.
    pub(crate) async fn plan_new(
        request: CopyRequest,
        source: OpenArray,
        stores: Stores,
    ) -> Result<Self, Error> {
        let specified = Box::pin(Specified::new(request, source, stores)).await?;
        Box::pin(Self::plan_target(specified)).await
    }

    /// [`Job::plan`] where the source goes into what is there; `begun`: as an interrupted run was
    /// to do it. `path`: of an array in a group, whose other arrays are somebody else's to compare.
    pub(crate) async fn plan_growth(
        request: CopyRequest,
        source: OpenArray,
        stores: Stores,
        begun: Option<Begun>,
        path: Option<&str>,
    ) -> Result<Self, Error> {
        let Some(placement) = &request.placement else {
            return Box::pin(Self::plan_new(request, source, stores)).await;
        };
        growth::check_request(&request, placement)?;
        let trust = Trust::of(&request);
        let location = request.target.trim_end_matches('/');
        let name = location.rsplit('/').next().unwrap_or(location).to_owned();
        // What a data set says of itself was said before, and stays.
        let is_trusted = is_versioned(&request.target) || trust.means(path.unwrap_or(&name));
        let target = growth::open_existing(&request, &stores).await;
        let target = target.map_err(|error| with_creation(error, &request, source.spec()))?;
        let (source, note) = growth::counted(source, &target.0, &request, &stores).await?;
        let seen = (source.clone(), target.0.clone());
        let (is_member, begun_growth) = (path.is_some(), begun.as_ref());
        let asked = Asked {
            request: &request,
            placement,
            begun: begun_growth,
            is_trusted,
            is_member,
            stores: &stores,
        };
        let grown = Box::pin(growth::specify(&asked, source, target)).await;
        let grown = grown.map_err(|error| with_creation(error, &request, seen.0.spec()))?;
        if !is_trusted {
            growth::check_order(&request.target, &seen.0, &seen.1, &grown.growth).await?;
        }
        drop(seen);
        let target = (grown.target, grown.layout);
        let specified = Specified::as_found(request.clone(), grown.source, target, stores.clone());
        let planned = Self::plan_target(specified);
        let job = Self {
            growth: Some(grown.growth),
            change: Some(grown.change),
            is_begun: begun.is_some(),
            notes: note.into_iter().collect(),
            times: grown.said.into_iter().collect(),
            ..Box::pin(planned).await?
        };
        Ok(job)
    }

    /// Looks at a few objects of the source, and plans.
    pub(crate) async fn plan_target(specified: Specified) -> Result<Self, Error> {
        let (request, source) = (&specified.request, &specified.source);
        let is_small = |bytes: u64| bytes <= SMALL_MEMBER_BYTES;
        let is_sparing = request.is_member && source.spec().decoded_bytes().is_some_and(is_small);
        let mut sample = sample(source, is_sparing).await?;
        if specified.goes_by_element(sample.ratio)? {
            let memory_bytes = request.planning.budget().memory_bytes;
            let looked = variable::item_bytes_of(source, &sample.found, memory_bytes);
            sample.item_bytes = Some(looked.await?);
        }
        Self::plan_sampled(specified, sample)
    }

    /// Plans with what was found of the source.
    pub(crate) fn plan_sampled(specified: Specified, sample: Sample) -> Result<Self, Error> {
        let (request, source) = (&specified.request, &specified.source);
        let Sample { ratio, item_bytes, found, missing, begun_at: planned_at } = sample;
        let asked_in_vain = if found.is_empty() { missing } else { Vec::new() };
        let sampled = Sampled { ratio, item_bytes, found };
        let plan_request = specified.plan_request(&sampled)?;
        if let Some(applied) = &specified.applied {
            let target = specified.target_layout.as_ref();
            let (planned, warnings) = applied.plan(&plan_request, source.spec(), Some(target))?;
            let mut job = Self::of(specified, (plan_request, planned), sampled, planned_at);
            job.warnings.extend(warnings);
            return Ok(Self { asked_in_vain, ..job });
        }
        if let Some(pyramid) = &specified.pyramid {
            let planned = pyramid.plan(&plan_request, source.spec())?;
            let job = Self::of(specified, (plan_request, planned), sampled, planned_at);
            return Ok(Self { asked_in_vain, ..job });
        }
        let search = if request.planning.candidates { plan } else { cheapest };
        let planned = search(&plan_request)
            .map_err(|error| Error::no_plan(plan_request.budget.memory_bytes, error))?;
        let more_memory = MoreMemory::advice(&plan_request, &planned);
        let job = Self::of(specified, (plan_request, planned), sampled, planned_at);
        Ok(Self { more_memory, asked_in_vain, ..job })
    }

    /// The copy of what is `specified` by a plan.
    pub(crate) fn of(
        specified: Specified,
        (plan_request, planned): (PlanRequest, Planned),
        sampled: Sampled,
        planned_at: SystemTime,
    ) -> Self {
        let Specified {
            request,
            source,
            target,
            target_layout,
            warnings,
            notes,
            times,
            applied,
            pyramid,
            stores,
        } = specified;
        Self {
            more_memory: None,
            request,
            source,
            growth: None,
            target,
            target_layout,
            plan_request: Box::new(plan_request),
            planned,
            warnings,
            notes,
            times,
            applied,
            pyramid,
            stores,
            planned_at,
            begun_at: planned_at,
            in_tree: false,
            keeps_no_state: false,
            makes_temp: false,
            change: None,
            version_made: None,
            is_begun: false,
            sampled,
            has_other_keys: false,
            asked_in_vain: Vec::new(),
            is_complete: false,
            around: None,
        }
    }
}

/// Largest member of a group, bytes of elements, that is small: fewer of its chunks are looked at,
/// and it is copied beside others.
pub(crate) const SMALL_MEMBER_BYTES: u64 = 8 << 20;
