//! Are two arrays equal, element by element? Runs a one-pass plan whose units are compared with
//! the other array's chunks instead of being written: any two grids, bounded memory.

mod by_digest;
mod encoded;
mod groups;

use std::cmp::Ordering;
use std::sync::Arc;

use rechunk_array::Array;
use rechunk_exec::{Event, Execution, NullObserver, Observer, Sink, run};
use rechunk_format::Layout;
use rechunk_format::variable::VariableLayout;
use rechunk_grid::{Region, WriteEmpty};
use rechunk_plan::{Plan, PlanRequest, Profile, Strategy};
use rechunk_planner::{PlanError, Planned, plan};
use rechunk_store::{Meter, Role, Store, Stores};
use serde::Serialize;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::axes::Axes;
use crate::carried::both_stored;
use crate::chunk_keys;
use crate::error::store_error;
use crate::formats::Fact;
use crate::formats::raw::is_headerless;
use crate::gzip_file::unpack;
use crate::open::{OpenArray, OpenOptions, open_array, open_store};
use crate::plan_request::{array_at, side, source_side};
use crate::request::Planning;
use crate::sample::{sample, sample_ratio};
use crate::undertaking::MISSING_BEFORE_LISTING;
use crate::variable::{bound, can_be_cut, item_bytes_of};

pub(crate) use by_digest::check_copy;
pub use groups::{Compared, GroupComparison, MemberComparison, verify_any};

/// The outcome of a comparison.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// No element differs.
    pub equal: bool,
    /// Elements that differ.
    pub differing_elements: u64,
    /// Elements compared.
    pub elements: u64,
    /// Position of the first difference in C order.
    pub first_difference: Option<Vec<u64>>,
    /// The chunk of the second array it lies in; of the first, where those of the second differ in
    /// length.
    pub first_region: Option<Region>,
}

impl Comparison {
    /// An error if they differ.
    pub(crate) fn into_result(self) -> Result<(), Error> {
        if self.equal {
            return Ok(());
        }
        Err(Error::VerifyFailed {
            count: self.differing_elements,
            first: self.first_difference.unwrap_or_default(),
        })
    }
}

/// Compares the arrays at two locations. `options` are of both of them, but the description of a
/// file without a header is of those that are one.
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
/// use std::sync::Arc;
/// use rechunk::{CancellationToken, NullObserver, OpenOptions, Planning, Stores, verify};
///
/// let (options, planning) = (OpenOptions::default(), Planning::default());
/// let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
/// let stores = Stores::default();
/// let found = verify(&source, &source, &options, &planning, observer, cancel, &stores).await?;
/// assert!(found.equal && found.elements == 24);
/// # Ok(())
/// # }
/// ```
pub async fn verify(
    a: &str,
    b: &str,
    options: &OpenOptions,
    planning: &Planning,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
    stores: &Stores,
) -> Result<Comparison, Error> {
    let stores = &stores.with_meter(&Meter::new());
    let (of_a, of_b) = options_of_each(a, b, options, stores).await?;
    let (mut a, mut b) = (open_array(a, &of_a, stores).await?, open_array(b, &of_b, stores).await?);
    if options.axes.is_none() {
        a = turned_like(a, &b, stores).await?;
        b = turned_like(b, &a, stores).await?;
    }
    let (a, b) = squeezed_alike(a, b)?;
    if let Some(difference) = incomparable(&a, &b) {
        let (a, b) = (a.location, b.location);
        return Err(Error::Unlike { a, b, difference });
    }
    let (mut a, mut b) = second_of_one_shape(a, b);
    for array in [&mut a, &mut b] {
        let (settled, said) = chunk_keys::settled(array.clone()).await?;
        if let Some(said) = said {
            observer.event(&Event::Warning { text: format!("{}: {said}", array.location) });
        }
        *array = settled;
    }
    let folders = (Unpacked::of(&a)?, Unpacked::of(&b)?);
    let (a, b) = (folders.0.open(a).await?, folders.1.open(b).await?);
    let of = |array: &OpenArray| array_at(array.array.layout(), array.array.store(), Role::Target);
    if let Some((a, b)) = both_stored(&a, &b)? {
        let (observer, cancel) = (Arc::clone(&observer), cancel.clone());
        let stored = compare_with(&a, &of(&b), planning, observer, cancel).await?;
        if stored.equal {
            return Ok(stored);
        }
        // Other numbers may stand for the same elements.
    }
    compare_with(&a, &of(&b), planning, observer, cancel).await
}

/// Options for each of two arrays. The description of a file without a header is of one of them at
/// least.
async fn options_of_each(
    a: &str,
    b: &str,
    options: &OpenOptions,
    stores: &Stores,
) -> Result<(OpenOptions, OpenOptions), Error> {
    // The first is the source: what is said of its documents is of it alone.
    let both = (options.clone(), OpenOptions { source_format: None, ..options.clone() });
    if options.raw.is_none() {
        return Ok(both);
    }
    let is_raw_a = is_headerless(a, &open_store(a, stores)?).await?;
    let is_raw_b = is_headerless(b, &open_store(b, stores)?).await?;
    let without = || OpenOptions { raw: None, ..options.clone() };
    Ok(match (is_raw_a, is_raw_b) {
        (true, false) => (both.0, without()),
        (false, true) => (without(), both.1),
        _ => both,
    })
}

/// A folder that lives as long as a compressed file is read, where there is one.
struct Unpacked(Option<TempDir>);

impl Unpacked {
    #[expect(clippy::disallowed_methods, reason = "an error names the directory")]
    fn of(array: &OpenArray) -> Result<Self, Error> {
        let folder = array.packed.as_ref().map(|_| TempDir::new()).transpose();
        folder.map(Self).map_err(|error| Error::State {
            path: std::env::temp_dir().display().to_string(),
            reason: format!("{} cannot be unpacked there: {error}", array.location),
        })
    }

    /// The array as what it unpacks to.
    async fn open(&self, array: OpenArray) -> Result<OpenArray, Error> {
        let Some(folder) = &self.0 else { return Ok(array) };
        let path = folder.path().display().to_string();
        let store = Store::open(&path).map_err(|source| store_error("open", &path, source))?;
        unpack(&array, &store).await
    }
}

/// `array` with its axes as a copy of it, or what it is a copy of, notes that they were turned.
pub(crate) async fn turned_like(
    array: OpenArray,
    other: &OpenArray,
    stores: &Stores,
) -> Result<OpenArray, Error> {
    let is_fastest_first = |array: &OpenArray| array.metadata.format().has(Fact::FastestFirst);
    let noted = Axes::noted(other.metadata.attributes());
    if !is_fastest_first(&array) || is_fastest_first(other) || noted.is_none() {
        return Ok(array);
    }
    let source_format = Some(array.metadata.format());
    let options = OpenOptions { axes: noted, source_format, ..OpenOptions::default() };
    open_array(&array.location, &options, stores).await
}

/// Reads the one of more axes without those of length 1 that the format of the other has no place
/// for.
fn squeezed_alike(a: OpenArray, b: OpenArray) -> Result<(OpenArray, OpenArray), Error> {
    let (of_a, of_b) = (a.metadata.format(), b.metadata.format());
    Ok(match a.spec().shape.len().cmp(&b.spec().shape.len()) {
        Ordering::Greater => (a.squeezed_for(of_b)?, b),
        Ordering::Less => (a, b.squeezed_for(of_a)?),
        Ordering::Equal => (a, b),
    })
}

/// Orders two arrays so that the chunks of the second are of one shape, if those of either are. It
/// is compared chunk by chunk, and such plans are found sooner.
fn second_of_one_shape(a: OpenArray, b: OpenArray) -> (OpenArray, OpenArray) {
    let differs = |array: &OpenArray| array.spec().edges.is_some();
    // Elements that are not decoded are compared as they are stored.
    let is_second = !differs(&a) && differs(&b) && is_decoded(&a, b.array.layout().as_ref());
    if is_second { (b, a) } else { (a, b) }
}

/// True if two arrays that are open hold the same elements; false too if they cannot be compared.
/// Of `small` ones all is done where it is asked for: no threads are started.
pub(crate) async fn compare_opened(
    (a, b): (OpenArray, OpenArray),
    small: bool,
    planning: &Planning,
    cancel: &CancellationToken,
) -> Result<bool, Error> {
    // The type that elements are read as, which is another than that of the metadata where they are
    // cast.
    let (x, y) = (a.spec(), b.spec());
    if x.shape != y.shape || x.data_type != y.data_type {
        return Ok(false);
    }
    let (a, b) = second_of_one_shape(a, b);
    let folders = (Unpacked::of(&a)?, Unpacked::of(&b)?);
    let (a, b) = (folders.0.open(a).await?, folders.1.open(b).await?);
    let other = array_at(b.array.layout(), b.array.store(), Role::Target);
    if a.spec().data_type.is_variable() || !small {
        return compare(&a, &other, planning, cancel).await.map(|comparison| comparison.equal);
    }
    let mut plan = plan_comparison(&a, other.layout().as_ref(), planning).await?.plan;
    plan.threads = 0;
    let comparison = compare_by(plan, &a, &other, Arc::new(NullObserver), cancel.clone()).await?;
    Ok(comparison.equal)
}

/// Compares `a` with `other`, which has the same shape and type.
pub(crate) async fn compare(
    a: &OpenArray,
    other: &Array,
    planning: &Planning,
    cancel: &CancellationToken,
) -> Result<Comparison, Error> {
    // What it reads is no part of the copy that was predicted.
    let meter = Meter::new();
    let uncounted =
        |array: &Array| array_at(array.layout(), &array.store().with_meter(&meter), Role::Source);
    let source = OpenArray { array: uncounted(&a.array), ..a.clone() };
    let observer = Arc::new(NullObserver);
    compare_with(&source, &uncounted(other), planning, observer, cancel.clone()).await
}

/// Can `a` be compared with what will be laid out as `other` within the budget? To be asked before
/// a copy that is to be verified: a refusal must not come after the work.
pub(crate) async fn check_fits(
    a: &OpenArray,
    other: &dyn Layout,
    planning: &Planning,
) -> Result<(), Error> {
    if a.spec().data_type.is_variable() {
        return Ok(());
    }
    plan_comparison(a, other, planning).await.map(|_| ())
}

/// Elements of both arrays can be told apart, whether or not they differ in length.
fn is_decoded(a: &OpenArray, other: &dyn Layout) -> bool {
    !a.spec().data_type.is_variable() || can_be_cut(a.array.layout().as_ref(), other)
}

fn incomparable(a: &OpenArray, b: &OpenArray) -> Option<String> {
    let (x, y) = (a.spec(), b.spec());
    if x.shape != y.shape {
        return Some(format!("their shapes are {:?} and {:?}", x.shape, y.shape));
    }
    let (x, y) = (a.metadata.data_type_name(), b.metadata.data_type_name());
    // Versions have other names for the same type, where elements differ in length.
    let is_variable = a.spec().data_type.is_variable() && b.spec().data_type.is_variable();
    let kinds = [a, b].map(|array| array.array.layout().variable().map(VariableLayout::kind));
    let is_alike = is_variable && !matches!(kinds, [Some(a), Some(b)] if a != b);
    (x != y && !is_alike).then(|| format!("their data types are {x} and {y}"))
}

async fn compare_with(
    a: &OpenArray,
    other: &Array,
    planning: &Planning,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
) -> Result<Comparison, Error> {
    if !is_decoded(a, other.layout().as_ref()) {
        return encoded::compare(a, other, &cancel).await;
    }
    let planned = plan_comparison(a, other.layout().as_ref(), planning).await?;
    compare_by(planned.plan, a, other, observer, cancel).await
}

async fn compare_by(
    plan: Plan,
    a: &OpenArray,
    other: &Array,
    observer: Arc<dyn Observer>,
    cancel: CancellationToken,
) -> Result<Comparison, Error> {
    let elements = a.spec().shape.iter().product();
    let execution = Execution {
        plan,
        tasks: None,
        source: array_at(a.array.layout(), a.array.store(), Role::Control),
        sink: Sink::Compare(other.clone()),
        intermediate: None,
        write_empty: WriteEmpty::Always,
        takes_digest: false,
        in_place: false,
        list_after_missing: Some(MISSING_BEFORE_LISTING),
        ops: Vec::new(),
        windows: None,
        levels: Vec::new(),
    };
    let report = run(Arc::new(execution), None, observer, cancel).await.map_err(Error::compare)?;
    let differences = report.differences.unwrap_or_default();
    Ok(Comparison {
        equal: differences.count == 0,
        differing_elements: differences.count,
        elements,
        first_difference: differences.first,
        first_region: differences.first_region,
    })
}

/// The cheapest one-pass plan: nothing may be written, so no intermediate.
async fn plan_comparison(
    a: &OpenArray,
    other: &dyn Layout,
    planning: &Planning,
) -> Result<Planned, Error> {
    let budget = planning.budget();
    let (ratio, item_bytes) = if a.spec().data_type.is_variable() {
        let found = sample(a, false).await?;
        let looked = item_bytes_of(a, &found.found, budget.memory_bytes);
        (found.ratio, looked.await?)
    } else {
        (sample_ratio(a).await?, a.spec().item_bytes())
    };
    let mut source = source_side(&a.array, &a.location, ratio);
    let mut target = side(other, ratio);
    if a.spec().data_type.is_variable() {
        bound(&mut source, a.array.layout().as_ref(), item_bytes)
            .map_err(Error::target_metadata)?;
        bound(&mut target, other, item_bytes).map_err(Error::target_metadata)?;
    }
    // A unit is compared with a chunk that is fetched and decoded beside it.
    let chunk_bytes = target.chunk_bytes(item_bytes);
    target.is_raw = false;
    target.encode_workspace_bytes = chunk_bytes.saturating_add(target.decode_workspace_bytes);
    let mut request = PlanRequest {
        shape: a.spec().shape.clone(),
        item_bytes,
        source,
        target,
        is_variable: a.spec().data_type.is_variable(),
        same_encoding: false,
        same_shards: false,
        store_can_copy: false,
        keeps_absence: false,
        budget,
        profile: only_read(planning.profile([&a.location, "", ""])?),
        strategy: Strategy::Pull,
        intermediate_grid: planning.intermediate_grid,
        intermediate_in_memory: false,
    };
    let pull = plan(&request);
    request.strategy = Strategy::Keep;
    let keep = plan(&request);
    let cheaper = match (pull, keep) {
        (Ok(pull), Ok(keep)) => Ok(less_memory_of_like(pull, keep)),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(pull), Err(keep)) => Err(neither(pull, keep)),
    };
    cheaper.map_err(|error| Error::no_plan(request.budget.memory_bytes, error))
}

/// The cheaper of two plans; of two that cost about the same the one that needs less memory. Its
/// tasks are smaller, and of arrays of which little is stored whole tasks are passed over.
fn less_memory_of_like(pull: Planned, keep: Planned) -> Planned {
    const LIKE: f64 = 1.05;
    let seconds = |planned: &Planned| planned.plan.estimate.seconds;
    let bytes = |planned: &Planned| planned.plan.memory.planned_peak_bytes;
    let (less, more) = if bytes(&keep) < bytes(&pull) { (keep, pull) } else { (pull, keep) };
    if seconds(&less) <= seconds(&more) * LIKE { less } else { more }
}

/// A profile for who writes nothing: no memory is kept for objects on their way.
fn only_read(mut profile: Profile) -> Profile {
    profile.target.multipart = None;
    profile
}

/// The error of a comparison that neither strategy can do: nobody has asked for one of the two.
fn neither(pull: PlanError, keep: PlanError) -> PlanError {
    match (pull, keep) {
        (
            PlanError::DoesNotFit { budget_bytes, minimum_bytes, .. },
            PlanError::DoesNotFit { minimum_bytes: other_bytes, .. },
        ) => PlanError::DoesNotFit {
            strategy: Strategy::Auto,
            budget_bytes,
            minimum_bytes: minimum_bytes.min(other_bytes),
        },
        (pull, _) => pull,
    }
}
