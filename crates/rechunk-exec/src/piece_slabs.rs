//! A piece of the intermediate that goes slab by slab through a small buffer into the units it meets, on one thread. A
//! buffer for all of it would be new pages for most pieces, and in no cache when it is copied out of.

use rechunk_store::{Role, Store};

use crate::Fault;
use crate::frame::{buffer_bytes, wide};
use crate::gather::{self, Input, PiecePlace};
use crate::lane::Lane;
use crate::piece_checksum::{self, Sum};
use crate::slabs::Slabs;
use crate::task::TaskRun;
use crate::unit::Finished;

/// Most bytes of a slab: a second-level cache has room for it, or nearly, and units are not looked for too often.
const SLAB_BYTES: usize = 1 << 20;

/// The next pieces of a task may be read so, by this thread.
pub(crate) fn are_read_here(task: &TaskRun) -> bool {
    let stage = &task.stage;
    stage.cpu.is_here() && stage.intermediate().is_ok_and(Store::writes_in_place)
}

/// Takes piece `index` in, if it has more than one slab; `None` if it has not, or does not meet the task's tile.
pub(crate) async fn input(
    task: &TaskRun,
    lane: &mut Lane,
    index: &[u64],
) -> Result<Option<Vec<Finished>>, Fault> {
    let stage = &task.stage;
    let Some(input) = Input::new(task, index)?.filter(|input| input.bytes() > SLAB_BYTES) else {
        return Ok(None);
    };
    let store = stage.intermediate()?;
    let PiecePlace { key, range } = gather::piece_place(stage, index, &input);
    let mut piece = store.open_range(&key, range.0, range.1).await.map_err(Fault::Intermediate)?;
    let mut sum = Sum::of_place(stage, &input.region);
    let mut left_bytes = buffer_bytes(range.1, 1)?;
    let order: Vec<usize> = (0..input.region.rank()).collect();
    let elements_max = SLAB_BYTES / stage.item_bytes.max(1);
    let slabs = Slabs::new(&input.region, &order, wide(elements_max));
    for slab in slabs.map_err(Fault::Grid)? {
        let (slab, bytes) = input.part(slab, stage.item_bytes);
        piece.read_into(bytes, &mut lane.encoded).map_err(Fault::Intermediate)?;
        sum.add(&lane.encoded);
        left_bytes = left_bytes.saturating_sub(bytes);
        gather::spread_part(task, &slab, &lane.encoded)?;
    }
    piece.read_into(left_bytes, &mut lane.encoded).map_err(Fault::Intermediate)?;
    store.meter().add_decoded_read(Role::Intermediate, wide(input.bytes()));
    // No unit is complete before that: what is damaged goes no further.
    let Some(marks) = sum.check(&lane.encoded) else {
        return Err(piece_checksum::damaged(stage, &key, range));
    };
    gather::end_parts(task, &input, marks).map(Some)
}
