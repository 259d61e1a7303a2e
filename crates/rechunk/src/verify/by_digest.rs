//! Does a target hold what was read from its source? Reads the target alone, where the copy has a
//! digest of what it read.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_exec::{ArrayDigest, Execution, NullObserver, Sink, run};
use rechunk_format::{PlacedLayout, RegionLayout};
use rechunk_grid::WriteEmpty;
use rechunk_plan::{Plan, PlanRequest, Strategy};
use rechunk_planner::plan;
use rechunk_store::{Meter, Role};
use tokio_util::sync::CancellationToken;

use super::compare;
use crate::Error;
use crate::open::OpenArray;
use crate::plan_request::{array_at, side};
use crate::request::Planning;
use crate::sample::spread;
use crate::undertaking::MISSING_BEFORE_LISTING;
use crate::variable::{by_element, item_bytes};

/// Checks that `written`, which was copied from `source` and is to be at `location`, has the digest
/// of what was read. Without a digest, and to find where the two differ, they are compared element
/// by element.
pub(crate) async fn check_copy(
    source: &OpenArray,
    written: &Array,
    digest: Option<&ArrayDigest>,
    location: &str,
    planning: &Planning,
    cancel: &CancellationToken,
) -> Result<(), Error> {
    let mut found = None;
    if let (Some(digest), Some(filled)) = (digest, filled(source, written))
        && let Some(plan) = plan_reading(&filled, written, digest, location, planning).await?
    {
        found = read(&filled, written, plan, digest.is_of_encoded_chunks(), cancel).await?;
        if found.as_ref() == Some(digest) {
            return Ok(());
        }
    }
    compare(source, written, planning, cancel).await?.into_result()?;
    match (found, digest) {
        (Some(found), Some(expected)) => Err(Error::DigestDiffers {
            location: location.to_owned(),
            found: found.value.to_string(),
            expected: expected.value.to_string(),
        }),
        _ => Ok(()),
    }
}

/// Returns the part of `written` that is of the source. That is all of it, or where some stays as
/// it was, the part that the source holds. `None` if that cannot be read by itself: chunks of
/// shards.
fn filled(source: &OpenArray, written: &Array) -> Option<Array> {
    let spec = source.spec();
    let Some(held) = spec.edges.as_ref().and_then(|edges| edges.held(&spec.shape)) else {
        return Some(written.clone());
    };
    let part = Some(written.layout()).filter(|layout| layout.shards().is_none())?;
    let part = Arc::new(RegionLayout::new(Arc::clone(part), &held).ok()?);
    let placed = PlacedLayout::new(part, &held.start, &spec.shape).ok()?;
    Some(Array::new(Arc::new(placed), written.store().clone()))
}

/// The digest of an array, which is what counts of `written`; every chunk is decoded, whatever it
/// is a digest of.
async fn read(
    array: &Array,
    written: &Array,
    plan: Plan,
    of_encoded_chunks: bool,
    cancel: &CancellationToken,
) -> Result<Option<ArrayDigest>, Error> {
    // What it reads is no part of the copy that was predicted.
    let store = array.store().with_meter(&Meter::new());
    let execution = Execution {
        plan,
        tasks: None,
        source: array_at(array.layout(), &store, Role::Source),
        sink: Sink::Digest {
            array: array_at(written.layout(), &store, Role::Target),
            of_encoded_chunks,
        },
        intermediate: None,
        write_empty: WriteEmpty::Auto,
        takes_digest: true,
        in_place: false,
        list_after_missing: Some(MISSING_BEFORE_LISTING),
        ops: Vec::new(),
        windows: None,
        levels: Vec::new(),
    };
    let report = run(Arc::new(execution), None, Arc::new(NullObserver), cancel.clone()).await;
    Ok(report.map_err(Error::compare)?.digest)
}

/// The plan to read an array and decode what can be decoded. `None` if the budget does not allow
/// it.
async fn plan_reading(
    array: &Array,
    written: &Array,
    digest: &ArrayDigest,
    location: &str,
    planning: &Planning,
) -> Result<Option<Plan>, Error> {
    let layout = array.layout().as_ref();
    let spec = layout.spec();
    let source = side(layout, 1.0);
    let mut target = side(written.layout().as_ref(), 1.0);
    // Nothing is encoded.
    (target.is_raw, target.encode_workspace_bytes) = (true, 0);
    let is_variable = spec.data_type.is_variable();
    // Elements of variable length are decoded where a digest was taken of them.
    let is_encoded = is_variable && digest.is_of_encoded_chunks();
    let mut request = PlanRequest {
        shape: spec.shape.clone(),
        item_bytes: spec.item_bytes(),
        is_variable: false,
        source,
        target,
        same_encoding: is_encoded,
        same_shards: is_encoded,
        store_can_copy: false,
        keeps_absence: false,
        budget: planning.budget(),
        profile: planning.profile([location, "", ""])?,
        strategy: Strategy::Passthrough,
        intermediate_grid: planning.intermediate_grid,
        intermediate_in_memory: false,
    };
    if is_variable && !is_encoded {
        let objects = array.object_grid().map(|grid| spread(&grid.indices())).unwrap_or_default();
        // What it reads is no part of the copy that was predicted.
        let uncounted = array.with_store(array.store().with_meter(&Meter::new()));
        let looked = item_bytes(&uncounted, objects, request.budget.memory_bytes);
        let item_bytes = Box::pin(looked).await;
        let layouts = (layout, written.layout().as_ref());
        by_element(&mut request, layouts, item_bytes).map_err(Error::target_metadata)?;
        (request.target.is_raw, request.target.encode_workspace_bytes) = (true, 0);
    }
    let strategies = if is_encoded {
        &[Strategy::Passthrough][..]
    } else {
        &[Strategy::Direct, Strategy::Pull, Strategy::Keep]
    };
    let first = strategies.iter().find_map(|&strategy| {
        request.strategy = strategy;
        plan(&request).ok()
    });
    Ok(first.map(|planned| planned.plan))
}
