//! Elements that are stored as they are, in a file: they go slab by slab through a small buffer into the units they meet, on
//! one thread. A buffer for all of a chunk or a piece would be new pages for most of them, and in no cache when it is
//! copied out of.

use rechunk_grid::Region;
use rechunk_plan::StageInput;
use rechunk_store::{Role, Store};

use crate::Fault;
use crate::frame::{buffer_bytes, wide};
use crate::gather::{self, Brought, Input, PiecePlace};
use crate::lane::Lane;
use crate::piece_checksum::{self, Sum};
use crate::slabs::Slabs;
use crate::task::TaskRun;
use crate::unit::Finished;

/// Most bytes of a slab: a second-level cache has room for it, or nearly, and units are not looked for too often.
const SLAB_BYTES: usize = 1 << 20;

/// Takes input `index` in, by this thread, if it comes so and is larger than a slab. Returns the units that are complete;
/// `None` if nothing was done.
pub(crate) async fn input(
    task: &TaskRun,
    lane: &mut Lane,
    index: &[u64],
) -> Result<Option<Vec<Finished>>, Fault> {
    let (stage, source) = (&task.stage, &task.stage.run.execution.source);
    let store = match stage.stage.input {
        StageInput::Pieces { .. } => Some(stage.intermediate()?),
        StageInput::SourceChunks if stage.plain.is_some() && source.has_whole_objects() => {
            Some(source.store())
        }
        StageInput::SourceChunks | StageInput::SourceShards => None,
    };
    if !stage.cpu.is_here() || !store.is_some_and(Store::writes_in_place) {
        return Ok(None);
    }
    let input = Input::new(task, index)?.filter(|input| input.wanted.len() > SLAB_BYTES);
    match (input, &stage.stage.input) {
        (None, _) => Ok(None),
        (Some(input), StageInput::Pieces { .. }) => {
            piece(task, lane, index, &input).await.map(Some)
        }
        (Some(input), _) => chunk(task, lane, index, &input).await.map(Some),
    }
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
    let PiecePlace { key, range } = gather::piece_place(stage, index, input);
    let mut reader = store.open_range(&key, range.0, range.1).await.map_err(Fault::Intermediate)?;
    let mut sum = Sum::of_place(stage, &input.region);
    let axes: Vec<usize> = (0..input.region.rank()).collect();
    let mut at = 0;
    for slab in slabs(input, &input.region, &axes, stage.item_bytes)? {
        let (slab, range) = input.part(slab, at, stage.item_bytes);
        reader
            .read_into(range.len(), SLAB_BYTES, &mut lane.encoded)
            .map_err(Fault::Intermediate)?;
        at = range.end;
        sum.add(&lane.encoded);
        gather::spread_part(task, &slab, Brought::Piece(&lane.encoded, &[]))?;
    }
    let left_bytes = buffer_bytes(range.1, 1)?.saturating_sub(at);
    reader.read_into(left_bytes, left_bytes, &mut lane.encoded).map_err(Fault::Intermediate)?;
    store.meter().add_decoded_read(Role::Intermediate, wide(input.bytes));
    // No unit is complete before that: what is damaged goes no further.
    let Some(marks) = sum.check(&lane.encoded) else {
        return Err(piece_checksum::damaged(stage, &key, range));
    };
    gather::end_parts(task, input, Brought::Piece(&[], marks))
}

/// What the tile takes of a source chunk.
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
        return gather::spread(task, input, Brought::Nothing);
    };
    let needs = stage.decoding()?;
    stage.workers.make_room(lane, wide(SLAB_BYTES), needs, 0, &task.buffers);
    let mut at = 0;
    for slab in slabs(input, held, &source.layout().element_order().axes, stage.item_bytes)? {
        let (slab, range) = input.part(slab, at, stage.item_bytes);
        let read = reader.read_into(range.len(), SLAB_BYTES, &mut lane.encoded);
        read.map_err(|error| Fault::Source(source.store_error(index, error)))?;
        at = range.end;
        gather::spread_part(task, &slab, Brought::Chunk(&lane.encoded))?;
    }
    gather::end_parts(task, input, Brought::Chunk(&[]))
}

/// `region` of an input in slabs, as its elements follow each other in the order of `axes`, slowest first.
fn slabs(
    input: &Input,
    region: &Region,
    axes: &[usize],
    item_bytes: usize,
) -> Result<Slabs, Fault> {
    // With what lies between rows that the tile does not take all of.
    let bytes = input.frame().bytes_of(region, item_bytes).len();
    let elements_max = region.elements().saturating_mul(wide(SLAB_BYTES)) / wide(bytes).max(1);
    Slabs::new(region, axes, elements_max).map_err(Fault::Grid)
}
