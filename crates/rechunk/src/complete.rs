//! Is what is at a target already the result of a job? A run that has ended leaves nothing that
//! says so: its documents have to be those that the job writes, and its elements those of the
//! source, by samples.

use std::time::SystemTime;

use rechunk_grid::{ChunkGrid, Region};
use rechunk_store::{Meter, Role, Store};
use tokio_util::sync::CancellationToken;

use crate::archive::target_location;
use crate::error::store_error;
use crate::formats::Metadata;
use crate::job::Job;
use crate::open::{OpenArray, OpenOptions, open_array};
use crate::sample::spread;
use crate::source_check::check_unwritten_since;
use crate::verify::{compare_opened, turned_like};
use crate::{Error, Remedy};
use rechunk_words::Cast;
use rechunk_words::RegionSpec;

/// Chunks that are compared of one array, at most.
pub(crate) const SAMPLES: usize = 8;

/// Arrays of at most so many bytes of elements are compared as a whole.
const ALL_BYTES_MAX: u64 = 8 << 20;

/// True if each document is at its key, byte by byte.
pub(crate) async fn holds(store: &Store, documents: &[(String, Vec<u8>)]) -> Result<bool, Error> {
    let control = store.with_role(Role::Control);
    for (key, expected) in documents {
        let limit = (expected.len() as u64).saturating_add(1 << 20);
        let found = control.get(key, limit).await;
        let found = found.map_err(|source| store_error("read", store.label(), source))?;
        if found.as_deref() != Some(expected) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// True if the array at `target` is the one that `job` writes. An error if it looks like that one,
/// and holds other elements or those of another state of the source, unless it is a copy and all of
/// it is to be verified (`is_verified`).
pub(crate) async fn is_result_of(
    job: &Job,
    target: &Store,
    is_verified: bool,
    cancel: &CancellationToken,
) -> Result<bool, Error> {
    if job.growth.is_some() {
        return Ok(false); // an array that has grown does not say by what
    }
    if job.target.file_name().is_none() && !holds(target, &job.target.documents()).await? {
        return Ok(false);
    }
    let opened = open_target_of(job).await?;
    if !is_file_like(&job.target, &opened.metadata) {
        return Ok(false);
    }
    if is_verified && job.is_copy() {
        return Ok(true);
    }
    check_elements_of(job, target, opened, SAMPLES, cancel).await.map(|()| true)
}

/// Refuses a target whose documents are those of `job` if its elements are not those of the source:
/// of at most `samples` of its chunks.
pub(crate) async fn check_elements(
    job: &Job,
    target: &Store,
    samples: usize,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    check_elements_of(job, target, open_target_of(job).await?, samples, cancel).await
}

async fn check_elements_of(
    job: &Job,
    target: &Store,
    opened: OpenArray,
    samples: usize,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    check_written(job, target).await?;
    if !job.is_copy() || job.request.lossy_codec(&job.target).is_some() {
        return Ok(()); // its elements are none of the source
    }
    let opened = if job.source.is_carried { opened.as_stored()? } else { opened };
    if !has_equal_samples(job, opened, samples, cancel).await? {
        let reason = "looks like the result of this copy, but holds other elements than its source";
        return Err(conflict(job, reason.to_owned()));
    }
    Ok(())
}

/// Refuses a complete target whose sources were written after it.
async fn check_written(job: &Job, target: &Store) -> Result<(), Error> {
    let Some(written) = written_at(&job.target, target).await? else { return Ok(()) };
    let others = job.applied.iter().flat_map(|applied| &applied.others);
    for source in [&job.source].into_iter().chain(others) {
        if let Some(what) = check_unwritten_since(source, written).await? {
            let reason = format!("is complete, but its source was written since: {what}");
            return Err(conflict(job, reason));
        }
    }
    Ok(())
}

fn conflict(job: &Job, reason: String) -> Error {
    let location = job.request.target.clone();
    Error::Conflict { location, reason, hint: Some(Remedy::Overwrite) }
}

async fn open_target_of(job: &Job) -> Result<OpenArray, Error> {
    let request = &job.request;
    // What is read here is no part of a copy.
    let stores = job.stores.with_meter(&Meter::new());
    let options =
        OpenOptions { axes: request.axes, is_member: job.in_tree, ..OpenOptions::default() };
    let opened = open_array(&target_location(&request.target), &options, &stores).await?;
    match request.axes {
        Some(_) => Ok(opened),
        None => turned_like(opened, &job.source, &stores).await,
    }
}

/// An array that is one file has no documents: its header says the same.
fn is_file_like(ours: &Metadata, found: &Metadata) -> bool {
    match (ours.header(), found.header()) {
        (Some(header), Some(other)) => header == other && ours.spec() == found.spec(),
        _ => ours.file_name().is_none(),
    }
}

/// When the target became complete: its last document, or its file, was written then.
async fn written_at(metadata: &Metadata, target: &Store) -> Result<Option<SystemTime>, Error> {
    let failed = |source| store_error("look at", target.label(), source);
    if metadata.file_name().is_some() {
        let found = target.local_root().and_then(|path| path.metadata().ok());
        return Ok(found.and_then(|found| found.modified().ok()));
    }
    let documents = metadata.documents();
    let Some((key, _)) = documents.last() else { return Ok(None) };
    target.with_role(Role::Control).modified(key).await.map_err(failed)
}

/// True if samples of the source are in the target as they are read. What cannot be cut is compared
/// as a whole.
async fn has_equal_samples(
    job: &Job,
    target: OpenArray,
    samples: usize,
    cancel: &CancellationToken,
) -> Result<bool, Error> {
    let (spec, planning) = (job.source.spec(), &job.request.planning);
    if spec.shape.contains(&0) {
        return Ok(true);
    }
    let is_whole = |array: &OpenArray| array.packed.is_some();
    if spec.data_type.is_variable()
        || spec.shape.is_empty()
        || is_whole(&job.source)
        || is_whole(&target)
    {
        return compare_opened((job.source.clone(), target), false, planning, cancel).await;
    }
    let source = Whole::of(job).await?;
    if spec.decoded_bytes().is_some_and(|bytes| bytes <= ALL_BYTES_MAX) {
        let whole = source.part(&Region::whole(&spec.shape))?;
        return compare_opened((whole, target), true, planning, cancel).await;
    }
    for region in sampled(&job.source, &target, samples)? {
        let part = target.clone().selected(Some(&RegionSpec::of_region(&region)))?;
        if !compare_opened((source.part(&region)?, part), true, planning, cancel).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Regions spread over an array, each within one chunk of the target and one of the source.
fn sampled(source: &OpenArray, target: &OpenArray, samples: usize) -> Result<Vec<Region>, Error> {
    let (from, to) = (source.grid()?, target.grid()?);
    let mut of_target = spread(&to.indices());
    // The last ones too: what is written last is what is missing.
    of_target.rotate_right(1);
    // Chunks of the source that no chunk of the target begins in are to be met too.
    let of_source = spread(&from.indices());
    let of_target = of_target.iter().take(samples).filter_map(|index| begun_in(&to, index, &from));
    let of_source = of_source.iter().take(samples).filter_map(|index| begun_in(&from, index, &to));
    Ok(of_target.chain(of_source).collect())
}

/// The part of a chunk of `grid` that lies in the chunk of `other` in which it begins.
fn begun_in(grid: &ChunkGrid, index: &[u64], other: &ChunkGrid) -> Option<Region> {
    let chunk = grid.region(index);
    let first = Region::new(chunk.start.clone(), vec![1; chunk.rank()]);
    other.region_of(&other.covering(&first)).intersect(&chunk)
}

/// The source of a job, to take regions of.
struct Whole {
    /// The stored array with all its axes, or the array of the job where that is all of it.
    array: OpenArray,
    /// Part of it that the job takes, where that is not all.
    part: Option<(OpenArray, Option<Cast>)>,
}

impl Whole {
    async fn of(job: &Job) -> Result<Self, Error> {
        let request = &job.request;
        if job.source.region.is_none() && request.cast.is_none() {
            return Ok(Self { array: job.source.with_meter(&Meter::new()), part: None });
        }
        let stores = job.stores.with_meter(&Meter::new());
        let options = OpenOptions {
            select: None,
            cast: None,
            squeezed_for: None,
            is_member: job.in_tree,
            ..request.open_options()
        };
        let array = open_array(&request.source, &options, &stores).await?;
        let array = if job.source.is_carried { array.as_stored()? } else { array };
        Ok(Self { array, part: Some((job.source.clone(), request.cast.clone())) })
    }

    fn part(&self, region: &Region) -> Result<OpenArray, Error> {
        let whole = self.array.clone();
        let Some((part, cast)) = &self.part else {
            return whole.selected(Some(&RegionSpec::of_region(region)));
        };
        let placed = RegionSpec::of_region(&part.in_whole(region));
        whole.selected(Some(&placed))?.without_axes_of(part)?.cast(cast.as_ref())
    }
}
