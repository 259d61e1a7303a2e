//! A job: a source opened, a target specified, a plan made. Nothing is written here.

use std::sync::Arc;
use std::time::SystemTime;

use rechunk_array::Array;
use rechunk_format::{IndexLocation, Layout, RunFormat};
use rechunk_grid::WriteEmpty;
use rechunk_plan::{
    Multipart, Parts, PartsSide, PlanRequest, Profile, RunsSide, ShardSide, Side, Strategy,
};
use rechunk_planner::{Planned, cheapest, plan};
use rechunk_store::{Meter, Role, Stores};

use crate::Error;
use crate::advice::MoreMemory;
use crate::around::Around;
use crate::calendar;
use crate::carried::{Carried, carry};
use crate::formats::Metadata;
use crate::growth::{self, Begun, Change, Growth, Trust};
use crate::gzip_file::unpacked_name;
use crate::open::OpenArray;
use crate::repeats;
use crate::report::Report;
use crate::request::{CopyRequest, is_local, takes_parts};
use crate::sample::sample;
use crate::specify::{cut_extents, specify_target};

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
    /// It was planned as a run that had begun, and not ended, was to do it.
    pub(crate) is_begun: bool,
    /// Numbers, in C order, of a few objects of the source that were there when it was planned.
    pub(crate) found: Vec<u64>,
    /// Indices of objects that were looked for when it was planned, where none of them was there.
    pub(crate) asked_in_vain: Vec<Vec<u64>>,
    /// [`Job::check_target`] has found that the target is the result of this job already.
    pub(crate) is_complete: bool,
    /// Findings of [`Job::check_target`] around the target, for the run that follows.
    pub(crate) around: Option<Box<Around>>,
}

impl Job {
    /// Report of the plan before it is run.
    pub fn plan_report(&self) -> Report {
        Report {
            growth: self.growth.clone(),
            more_memory: self.more_memory.clone(),
            notes: self.notes.clone(),
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

    /// The target is one file that is compressed as a whole.
    pub(crate) fn is_packed(&self) -> bool {
        self.target.file_name().is_some() && unpacked_name(&self.request.target).is_some()
    }

    /// Plans the copy of an open source into a new target.
    pub(crate) async fn plan_new(
        mut request: CopyRequest,
        source: OpenArray,
        stores: Stores,
    ) -> Result<Self, Error> {
        let times = Box::pin(calendar::resolve(&mut request, &source, &stores)).await?;
        let (mut target, mut warnings) = specify_target(&request, &source)?;
        // Of a group all arrays are looked at together.
        if request.select.is_some() && !request.is_member {
            warnings.extend(repeats::follow_selected(&source, &mut target));
        }
        let layout = |target: &Metadata| target.layout().map_err(Error::target_metadata);
        let (source, layout) = carry(source, &target, layout)?;
        let notes = cut_extents(&request, &source, &layout.spec().chunk_shape)?;
        let notes = notes.into_iter().collect();
        let planned = Self::plan_target(request, source, (target, layout), warnings, stores);
        Ok(Self { notes, times, ..Box::pin(planned).await? })
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
        let is_trusted = trust.means(path.unwrap_or(&name));
        let target = growth::open_existing(&request, &stores).await?;
        let (source, note) = growth::counted(source, &target.0, &request, &stores).await?;
        let seen = (source.clone(), target.0.clone());
        let grown =
            growth::specify(&request, placement, source, target, begun.as_ref(), is_trusted)?;
        if !is_trusted {
            growth::check_order(&request.target, &seen.0, &seen.1, &grown.growth).await?;
        }
        drop(seen);
        let target = (grown.target, grown.layout);
        let planned =
            Self::plan_target(request.clone(), grown.source, target, Vec::new(), stores.clone());
        let job = Self {
            growth: Some(grown.growth),
            change: Some(grown.change),
            is_begun: begun.is_some(),
            notes: note.into_iter().collect(),
            ..Box::pin(planned).await?
        };
        Ok(job)
    }

    async fn plan_target(
        request: CopyRequest,
        source: OpenArray,
        (target, target_layout): (Metadata, Arc<dyn Layout>),
        warnings: Vec<String>,
        stores: Stores,
    ) -> Result<Self, Error> {
        #[expect(clippy::disallowed_methods, reason = "a source that is written later is refused")]
        let planned_at = SystemTime::now();
        let is_small = |bytes: u64| bytes <= SMALL_MEMBER_BYTES;
        let is_sparing = request.is_member && source.spec().decoded_bytes().is_some_and(is_small);
        let sample = sample(&source, is_sparing).await?;
        let mut plan_request =
            plan_request(&request, &source, &target_layout, sample.ratio, &stores)?;
        let asked_in_vain = if sample.found.is_empty() { sample.missing } else { Vec::new() };
        if source.spec().data_type.is_variable() {
            force_passthrough(&source.location, &request, &mut plan_request)?;
        }
        let search = if request.planning.candidates { plan } else { cheapest };
        let planned = search(&plan_request)
            .map_err(|error| Error::no_plan(plan_request.budget.memory_bytes, error))?;
        let in_tree = false;
        let more_memory = MoreMemory::advice(&plan_request, &planned);
        Ok(Self {
            more_memory,
            request,
            source,
            growth: None,
            target,
            target_layout,
            plan_request: Box::new(plan_request),
            planned,
            warnings,
            notes: Vec::new(),
            times: Vec::new(),
            stores,
            planned_at,
            begun_at: planned_at,
            in_tree,
            keeps_no_state: false,
            makes_temp: false,
            change: None,
            is_begun: false,
            found: sample.found,
            asked_in_vain,
            is_complete: false,
            around: None,
        })
    }
}

/// Largest member of a group, bytes of elements, that is small: fewer of its chunks are looked at,
/// and it is copied beside others.
pub(crate) const SMALL_MEMBER_BYTES: u64 = 8 << 20;

/// Has an array that cannot be cut copied as it is: refuses requests that say otherwise.
fn force_passthrough(
    location: &str,
    request: &CopyRequest,
    plan_request: &mut PlanRequest,
) -> Result<(), Error> {
    let refuse = |reason: &str| Error::NotAnArray {
        location: location.to_owned(),
        reason: format!("elements of variable length are only copied chunk by chunk, {reason}"),
        hint: Some("leave the option out".into()),
    };
    if request.write_empty != WriteEmpty::Auto {
        return Err(refuse("so --write-empty cannot be chosen"));
    }
    if !matches!(request.planning.strategy, Strategy::Auto | Strategy::Passthrough) {
        return Err(refuse("which is the strategy `passthrough`"));
    }
    plan_request.strategy = Strategy::Passthrough;
    Ok(())
}

/// Makes the request to the planner; `ratio` is encoded over decoded bytes of the source, expected.
fn plan_request(
    request: &CopyRequest,
    source: &OpenArray,
    target: &Arc<dyn Layout>,
    ratio: f64,
    stores: &Stores,
) -> Result<PlanRequest, Error> {
    let layout = source.array.layout();
    let item_bytes = source.spec().item_bytes();
    let temp = request.temp.as_deref().unwrap_or(&request.target);
    let same_encoding = layout.encoding_identity() == target.encoding_identity()
        // A chunk that is missing has to read the same.
        && layout.spec().fill_value == target.spec().fill_value
        && request.write_empty == WriteEmpty::Auto;
    let mut sides = [
        source_side(&source.array, &request.source, ratio),
        side(target.as_ref(), if layout.codec_cost().is_raw { 0.7 } else { ratio }),
    ];
    if moves_runs(request) {
        sides[0].runs = layout.runs().map(runs_side);
        sides[1].runs = target.runs().map(runs_side);
    }
    let [source_side, mut target_side] = sides;
    if source_side.edges.as_ref().is_some_and(|edges| edges.held(&source.spec().shape).is_some()) {
        reads_kept(&mut target_side, target.as_ref());
    }
    Ok(PlanRequest {
        shape: source.spec().shape.clone(),
        item_bytes,
        source: source_side,
        target: target_side,
        same_encoding,
        same_shards: same_encoding && layout.shards() == target.shards(),
        store_can_copy: store_can_copy(request, &source.array, target, stores),
        keeps_absence: layout.tells_absence() && request.write_empty == WriteEmpty::Auto,
        budget: request.planning.budget(),
        profile: profile(request, temp, stores)?,
        strategy: request.planning.strategy,
        intermediate_grid: request.planning.intermediate_grid,
        intermediate_in_memory: temp_is_memory(temp),
    })
}

/// Adds the memory of target chunks that are read before they are written.
fn reads_kept(side: &mut Side, target: &dyn Layout) {
    let (spec, cost) = (target.spec(), target.codec_cost());
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>().saturating_mul(spec.item_bytes());
    side.is_raw = false;
    let workspace_bytes = cost.decode_workspace_bytes.max(cost.encode_workspace_bytes);
    side.encode_workspace_bytes = chunk_bytes.saturating_add(workspace_bytes);
}

/// The store that holds the source can copy its objects to the target itself, and may.
fn store_can_copy(
    request: &CopyRequest,
    source: &Array,
    target: &Arc<dyn Layout>,
    stores: &Stores,
) -> bool {
    // A location that cannot be opened is refused when it is to be written to.
    let opened = || stores.open(&request.target).ok();
    request.planning.store_copies
        && [&request.source, &request.target].iter().all(|location| takes_parts(location))
        && opened().is_some_and(|store| {
            let target = array_at(target, &store, Role::Target);
            target.store().can_copy_from(source.store())
                && target.has_whole_objects()
                && source.has_whole_objects()
        })
}

/// Profile of the stores. Object stores are sent large objects in parts, whatever a profile leaves
/// unsaid: else a shard would have to be held as a whole. None of them is faster than is allowed.
pub(crate) fn profile(
    request: &CopyRequest,
    temp: &str,
    stores: &Stores,
) -> Result<Profile, Error> {
    let mut profile = request.planning.profile([&request.source, temp, &request.target])?;
    for (store, location) in
        [(&mut profile.intermediate, temp), (&mut profile.target, request.target.as_str())]
    {
        if takes_parts(location) {
            store.multipart = Some(store.multipart.unwrap_or(Multipart::DEFAULT));
        }
    }
    if let Some(rate) = stores.bytes_per_second() {
        for store in [&mut profile.source, &mut profile.intermediate, &mut profile.target] {
            // What is read and what is written add up in the price, as they do in the limit.
            store.read_bytes_per_second = store.read_bytes_per_second.min(rate as f64);
            store.write_bytes_per_second = store.write_bytes_per_second.min(rate as f64);
        }
    }
    Ok(profile)
}

/// Runs of bytes of raw files are read and written, where both sides have them. That is on local
/// disks, by one process, and unless another way was asked for.
fn moves_runs(request: &CopyRequest) -> bool {
    matches!(request.planning.strategy, Strategy::Auto | Strategy::Keep)
        && request.planning.workers == 1
        && [&request.source, &request.target].iter().all(|location| is_local(location))
}

/// The files of a raw side, for the planner.
fn runs_side(runs: &RunFormat) -> RunsSide {
    RunsSide {
        block_shape: runs.block_shape.clone(),
        order: runs.axes.clone(),
        offset_bytes: runs.offset_bytes,
    }
}

/// Encoded over decoded bytes from which chunks are taken to be stored as they are, without blocks.
const STORED_RATIO: f64 = 0.98;

/// A source's costs for the planner; `ratio` is encoded over decoded bytes, expected.
pub(crate) fn source_side(source: &Array, location: &str, ratio: f64) -> Side {
    let parts = parts_side(source, location, ratio);
    Side { parts, ..side(source.layout().as_ref(), ratio) }
}

/// The parts of the source's chunks. Blocks of which nothing is wanted are not read where chunks
/// are files.
fn parts_side(source: &Array, location: &str, ratio: f64) -> Option<PartsSide> {
    let layout = source.layout();
    let order = layout.element_order().axes.clone();
    if source.plain().is_some() {
        return Some(PartsSide { order, parts: Parts::Elements });
    }
    let block_bytes = layout.block_bytes().filter(|_| ratio < STORED_RATIO)?;
    let are_read_apart = is_local(location) && layout.shards().is_none();
    Some(PartsSide { order, parts: Parts::Blocks { block_bytes, are_read_apart } })
}

/// `--temp memory:` (or a whole job in memory): the intermediate counts against the budget.
pub(crate) fn temp_is_memory(temp: &str) -> bool {
    temp == "memory:" || temp.starts_with("memory://")
}

/// A layout's costs for the planner; `ratio` is encoded over decoded bytes, expected.
pub(crate) fn side(layout: &dyn Layout, ratio: f64) -> Side {
    let spec = layout.spec();
    let cost = layout.codec_cost();
    let chunk_bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
    let expected = if cost.is_raw {
        chunk_bytes
    } else {
        // Rounded down from a fraction of a number that fits: no precision matters here.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an estimate")]
        let expected = (chunk_bytes as f64 * ratio) as u64;
        expected.clamp(1, cost.encoded_bytes_max)
    };
    let shard = layout.shards().map(|shards| ShardSide {
        shape: shards.shard_shape().to_vec(),
        index_bytes: shards.index_bytes(),
        index_first: shards.location() == IndexLocation::Start,
    });
    Side {
        chunk_shape: spec.chunk_shape.clone(),
        edges: spec.edges.clone(),
        shard,
        runs: None,
        parts: None,
        codec: cost.name.clone(),
        is_raw: cost.is_raw,
        encoded_bytes_max: cost.encoded_bytes_max,
        encoded_bytes_expected: expected,
        decode_workspace_bytes: cost.decode_workspace_bytes,
        encode_workspace_bytes: cost.encode_workspace_bytes,
    }
}

/// An array at a store.
pub(crate) fn array_at(
    layout: &Arc<dyn Layout>,
    store: &rechunk_store::Store,
    role: Role,
) -> Array {
    Array::new(Arc::clone(layout), store.with_role(role))
}
