//! Elements that differ in length: the size they are expected to have, and the plan for it.

use std::sync::Arc;

use rechunk_array::{Array, Within};
use rechunk_format::{FormatError, Layout};
use rechunk_grid::Region;
use rechunk_plan::{PlanRequest, Side, Strategy};
use rechunk_store::Role;

use crate::Error;
use crate::open::OpenArray;

/// Bytes expected of an element where no chunk was found to look at.
const UNSEEN_BYTES: u64 = 64;
/// Bytes that an element takes in memory beside itself: where it is, in two tables.
const BESIDE_BYTES: u64 = 12;
/// Least share of the budget, and most bytes, of a chunk that is looked at.
const LOOKED_AT_SHARE: u64 = 4;
const LOOKED_AT_BYTES_MAX: u64 = 256 << 20;
/// Largest element that is planned for; what is larger is found out by the run.
const ITEM_BYTES_MAX: u64 = 1 << 20;

/// Whether elements of both arrays can be told apart, and are of one kind.
pub(crate) fn can_be_cut(source: &dyn Layout, target: &dyn Layout) -> bool {
    match (source.variable(), target.variable()) {
        (Some(source), Some(target)) => source.kind() == target.kind(),
        _ => false,
    }
}

/// Bytes that an element of `array` is expected to take in memory. It is a quarter more than in the
/// fullest of the chunks that were looked at: those in `objects`, and of a shard the longest. Reads
/// them one by one, none larger than a share of `memory_bytes`. What cannot be read or decoded is
/// left to the run, which says so.
pub(crate) async fn item_bytes(array: &Array, objects: Vec<Vec<u64>>, memory_bytes: u64) -> u64 {
    let store = array.store().with_role(Role::Control);
    let array = Array::new(Arc::clone(array.layout()), store);
    let limit = (memory_bytes / LOOKED_AT_SHARE).min(LOOKED_AT_BYTES_MAX);
    let mut most = 0_u64;
    for index in objects {
        let bytes = looked_at(&array, &index, limit).await;
        most = most.max(bytes.ok().flatten().unwrap_or(0));
    }
    let expected = if most == 0 { UNSEEN_BYTES } else { most.saturating_add(most / 4) };
    expected.saturating_add(BESIDE_BYTES).min(ITEM_BYTES_MAX)
}

/// [`item_bytes`] of a source, of whose objects a sample has found those with the numbers `found`.
pub(crate) async fn item_bytes_of(
    source: &OpenArray,
    found: &[u64],
    memory_bytes: u64,
) -> Result<u64, Error> {
    let objects = source.object_grid()?.indices();
    let objects = found.iter().map(|&number| objects.position(number)).collect();
    Ok(Box::pin(item_bytes(&source.array, objects, memory_bytes)).await)
}

/// Bytes of an element of a chunk in object `object`, with its length, rounded up. `None` if there
/// is no chunk.
async fn looked_at(
    array: &Array,
    object: &[u64],
    limit: u64,
) -> Result<Option<u64>, rechunk_array::ArrayError> {
    let layout = array.layout();
    let Some(variable) = layout.variable() else { return Ok(None) };
    let (index, within) = match layout.shards() {
        None => (object.to_vec(), array.read_chunk_within(object, limit).await?),
        Some(format) => {
            let Some(found) = array.read_index(format, object).await? else { return Ok(None) };
            let chunks = Region::whole(format.chunks()).positions().map(|within| {
                let axes = within.iter().zip(object).zip(format.chunks());
                axes.map(|((within, shard), chunks)| shard * chunks + within).collect::<Vec<u64>>()
            });
            let entries = chunks.filter_map(|at| Some((found.entry(format.slot(&at))?, at)));
            let longest = entries.max_by_key(|((_, length), _)| *length);
            let Some((entry, at)) = longest else { return Ok(None) };
            let within = array.read_entry_within(&at, entry, limit).await?;
            (at, within)
        }
    };
    let Ok(grid) = layout.spec().grid() else { return Ok(None) };
    let held = grid.region(&index).elements().max(1);
    let encoded = match within {
        Within::Missing => return Ok(None),
        // It has more when it is decoded; how much, the run finds out.
        Within::TooLarge(bytes) => return Ok(Some(bytes.div_ceil(held))),
        Within::Read(encoded) => encoded,
    };
    let fault = |error: FormatError| array.decode_error(&index, error);
    let mut stream = Vec::new();
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut bound = encoded.len().max(64 << 10).min(most);
    loop {
        if variable.decode(&encoded, bound, &mut stream).map_err(fault)? {
            let bytes = u64::try_from(stream.len()).unwrap_or(u64::MAX);
            return Ok(Some(bytes.div_ceil(held)));
        }
        if bound >= most {
            return Ok(Some(limit.div_ceil(held)));
        }
        bound = bound.saturating_mul(2).min(most);
    }
}

/// Has elements that differ in length copied one by one, by what is expected of them.
pub(crate) fn by_element(
    request: &mut PlanRequest,
    (source, target): (&dyn Layout, &dyn Layout),
    item_bytes: u64,
) -> Result<(), FormatError> {
    request.is_variable = true;
    request.item_bytes = item_bytes;
    (request.same_encoding, request.same_shards) = (false, false);
    (request.store_can_copy, request.keeps_absence) = (false, false);
    bound(&mut request.source, source, item_bytes)?;
    bound(&mut request.target, target, item_bytes)
}

/// Bounds the chunks of a side by what is expected of them.
pub(crate) fn bound(
    side: &mut Side,
    layout: &dyn Layout,
    item_bytes: u64,
) -> Result<(), FormatError> {
    let Some(variable) = layout.variable() else { return Ok(()) };
    let cost = variable.cost(side.chunk_bytes(item_bytes))?;
    side.is_raw = false;
    side.parts = None;
    side.encoded_bytes_max = cost.encoded_bytes_max.max(1);
    side.encoded_bytes_expected = side.encoded_bytes_expected.clamp(1, side.encoded_bytes_max);
    side.decode_workspace_bytes = cost.decode_workspace_bytes;
    side.encode_workspace_bytes = cost.encode_workspace_bytes;
    Ok(())
}

/// Whether plans of this strategy go through an intermediate, which has no place for elements that
/// differ in length.
pub(crate) fn is_staged(strategy: Strategy) -> bool {
    matches!(strategy, Strategy::PushPull | Strategy::Multistage)
}
