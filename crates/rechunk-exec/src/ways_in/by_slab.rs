//! Reads elements that are stored as they are, in a file: slab by slab, on one thread, through a
//! small buffer into units. A buffer for all of a chunk or a piece would be new pages for most of
//! them, and in no cache when it is copied out of.

use rechunk_array::Array;
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_plan::StageGeometry;
use rechunk_store::Role;

use crate::Fault;
use crate::fill::piece_checksum::Sum;
use crate::fill::spread::{end_parts, spread, spread_part};
use crate::memory::lane::Lane;
use crate::stage::piece_place::PiecePlace;
use crate::stage::task::TaskRun;
use crate::stage::way_in::WayIn;
use crate::units::frame::buffer_bytes;
use crate::units::input::{Brought, Input};
use crate::units::slabs::Slabs;
use crate::units::unit::Finished;

/// Most bytes of a slab, unless an element has more. A second-level cache has room for it, or
/// nearly, and units are not looked for too often.
const SLAB_BYTES: usize = 1 << 20;

/// Inputs of more bytes than this come so, where they are files or ranges of some; `None` where a
/// stage has none that large.
pub(crate) fn slab_bytes(
    way_in: &WayIn,
    source: &Array,
    geometry: &StageGeometry,
) -> Option<usize> {
    let bytes_max = match way_in {
        WayIn::Pieces => geometry.piece_bytes_max(),
        WayIn::Plain(plain) if source.has_whole_objects() => plain.part_bytes_max,
        _ => 0,
    };
    (bytes_max > wide(SLAB_BYTES)).then_some(SLAB_BYTES)
}

/// Takes input `index` in, by this thread, if it comes so and is larger than a slab. Returns the
/// units that are complete; `None` if nothing was done.
pub(crate) async fn input(
    task: &TaskRun,
    lane: &mut Lane,
    index: &[u64],
) -> Result<Option<Vec<Finished>>, Fault> {
    let stage = &task.stage;
    let Some(slab_bytes) = stage.slab_bytes.filter(|_| stage.cpu.is_here()) else {
        return Ok(None);
    };
    let Some(input) = task.input(index)?.filter(|input| input.wanted.len() > slab_bytes) else {
        return Ok(None);
    };
    let finished = if stage.way_in.reads_source() {
        chunk(task, lane, index, &input).await
    } else {
        piece(task, lane, index, &input).await
    };
    finished.map(Some)
}

/// A piece of the intermediate.
async fn piece(
    task: &TaskRun,
    lane: &mut Lane,
    index: &[u64],
    input: &Input,
) -> Result<Vec<Finished>, Fault> {
    let stage = &task.stage;
    let store = stage.intermediate()?;
    let place = PiecePlace::of_input(stage, index, input);
    let (offset, bytes) = place.range;
    let reader = store.open_range(&place.key, offset, bytes).await;
    let mut reader = reader.map_err(|error| place.unread(error))?;
    let mut sum = Sum::of_place(stage, &input.region);
    let axes: Vec<usize> = (0..input.region.rank()).collect();
    let (slabs, room_bytes) = slabs(input, &input.region, &axes, stage.item_bytes)?;
    let mut at = 0;
    for slab in slabs {
        let (slab, range) = input.part(slab, stage.item_bytes);
        let read = reader.read_into(range.len(), room_bytes, &mut lane.encoded);
        read.map_err(|error| place.unread(error))?;
        at = range.end;
        sum.add(&lane.encoded);
        spread_part(task, &slab, Brought::Piece(&lane.encoded, &[]))?;
    }
    let left_bytes = buffer_bytes(bytes, 1)?.saturating_sub(at);
    let read = reader.read_into(left_bytes, left_bytes, &mut lane.encoded);
    read.map_err(|error| place.unread(error))?;
    store.meter().add_decoded_read(Role::Intermediate, wide(input.bytes));
    // No unit is complete before that: what is damaged goes no further.
    let Some(marks) = sum.check(&lane.encoded) else {
        return Err(place.damaged(store));
    };
    end_parts(task, input, Brought::Piece(&[], marks))
}

/// Reads the part of a source chunk that the tile takes, and spreads it over the units.
async fn chunk(
    task: &TaskRun,
    lane: &mut Lane,
    index: &[u64],
    input: &Input,
) -> Result<Vec<Finished>, Fault> {
    let (stage, source) = (&task.stage, &task.stage.run.execution.source);
    let wanted = wide(input.wanted.start)..wide(input.wanted.end);
    let opened = source.open_elements(index, wide(input.bytes), wanted).await;
    let opened = opened.map_err(Fault::Source)?;
    source.store().meter().add_decoded_read(Role::Source, input.decoded_bytes);
    let (Some(mut reader), Some(held)) = (opened, &input.held) else {
        return spread(task, input, Brought::Nothing);
    };
    let axes = &source.layout().element_order().axes;
    let (slabs, room_bytes) = slabs(input, held, axes, stage.item_bytes)?;
    let (needs, buffers) = (stage.decoding()?, &task.buffers);
    stage.workers.make_room(lane, wide(room_bytes), needs, 0, buffers);
    let mut read_into = |bytes, lane: &mut Lane| {
        let read = reader.read_into(bytes, room_bytes, &mut lane.encoded);
        read.map_err(|error| Fault::Source(source.store_error(index, error)))
    };
    let mut at = 0;
    for slab in slabs {
        let (slab, range) = input.part(slab, stage.item_bytes);
        // Rows that the tile does not take: what is wanted is one range, as the plan counts it.
        while at < range.start {
            let bytes = room_bytes.min(range.start - at);
            read_into(bytes, lane)?;
            at += bytes;
        }
        read_into(range.len(), lane)?;
        at = range.end;
        spread_part(task, &slab, Brought::Chunk(&lane.encoded))?;
    }
    end_parts(task, input, Brought::Chunk(&[]))
}

/// Cuts `region` of an input into slabs, in the order of its elements (`axes`, slowest first). Also
/// returns the most bytes from the first element of a slab to its last.
fn slabs(
    input: &Input,
    region: &Region,
    axes: &[usize],
    item_bytes: usize,
) -> Result<(Slabs, usize), Fault> {
    let within = (item_bytes, SLAB_BYTES);
    let (elements_max, bytes_max) = input.frame.elements_within(&region.shape, axes, within);
    let slabs = Slabs::new(region, axes, elements_max).map_err(Fault::Grid)?;
    Ok((slabs, bytes_max))
}
