//! The way in: the files a buffer is made of.

use std::ops::Range;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_plan::keep::FilePart;
use rechunk_store::{ReadBatch, ReadFile, Role};
use tokio::task::JoinHandle;

use super::held::Held;
use super::lanes::{Bounce, Crew, crews, over};
use super::pass::Pass;
use super::side::Place;
use crate::Fault;

/// Most bytes of a buffer that are announced, and most files they are in.
const ANNOUNCED_BYTES: u64 = 64 << 20;
const ANNOUNCED_FILES: usize = 256;

/// Reads a buffer: each file once, as many at a time as there are lanes.
pub(super) async fn buffer(
    pass: &Arc<Pass>,
    held: &Arc<Held>,
    lanes: &mut Vec<Bounce>,
) -> Result<(), Fault> {
    let parts = || pass.buffers.reads(held.number()).filter(|part| held.wants(pass, &part.region));
    let mut crews = crews(lanes, parts().take(lanes.len()).count());
    over(&mut crews, parts(), |crew, part| {
        let work: BoxFuture<'static, Result<Crew, Fault>> =
            file(Arc::clone(pass), Arc::clone(held), crew, part).boxed();
        Ok(work)
    })
    .await?;
    lanes.extend(crews.into_iter().flatten());
    Ok(())
}

/// Announces what the next buffer is made of, if there is one: the disk is read while the one
/// before is written. Where all seems to be in memory, one file is looked for there. Nobody waits
/// for it, but nothing is announced while what was `before` is under way.
pub(super) fn announce(pass: &Pass, next: Option<&u64>, before: &mut Option<JoinHandle<()>>) {
    let Some(&number) = next else { return };
    let (source, buffers) = (&pass.source, &pass.buffers);
    let store = source.array.store();
    let is_under_way = before.as_ref().is_some_and(|before| !before.is_finished());
    // Of a buffer that an earlier run is done with, not all files are read again.
    if !store.takes_announcements() || is_under_way || number < pass.buffers_done {
        return;
    }
    let mut left_bytes = ANNOUNCED_BYTES;
    let ranges = buffers.reads(number).take(ANNOUNCED_FILES).filter_map(|part| {
        let range = source.range(&buffers.source_grid().region(&part.file), &part.region)?;
        let bytes = (range.end - range.start).min(left_bytes);
        left_bytes -= bytes;
        (bytes > 0).then(|| (part.file, range.start..range.start + bytes))
    });
    let announced: Vec<_> =
        ranges.take(if store.reads_from_disk() { usize::MAX } else { 1 }).collect();
    let array = source.array.clone();
    *before = Some(tokio::task::spawn_blocking(move || {
        for (file, range) in announced {
            if !array.announce_file(&file, range) {
                break;
            }
        }
    }));
}

/// Reads the part of one file.
async fn file(
    pass: Arc<Pass>,
    held: Arc<Held>,
    mut crew: Crew,
    part: FilePart,
) -> Result<Crew, Fault> {
    let source = &pass.source;
    let file = source.array.open_file(&part.file).await.map_err(Fault::Source)?;
    let elements = pass.buffers.source_grid().region(&part.file);
    let lane_bytes = pass.stage.stage.lane_bytes;
    let slabs = source.slabs(&elements, &part.region, lane_bytes)?;
    over(&mut crew, slabs, |mut bounce, slab| {
        let bytes = source.put_runs((&elements, &slab), Place::Lane, &mut bounce, lane_bytes)?;
        let batch = batch(&pass, &part, &file, &mut bounce)?;
        let (pass, held) = (Arc::clone(&pass), Arc::clone(&held));
        Ok(take_in(pass, held, part.file.clone(), batch, bounce, (slab, bytes)))
    })
    .await?;
    let bytes = part.region.elements().saturating_mul(wide(pass.item_bytes()));
    source.array.store().meter().add_decoded_read(Role::Source, bytes);
    Ok(crew)
}

fn batch(
    pass: &Pass,
    part: &FilePart,
    file: &ReadFile,
    bounce: &mut Bounce,
) -> Result<ReadBatch, Fault> {
    let batch = file.batch(std::mem::take(&mut bounce.runs));
    batch.map_err(|error| Fault::Source(pass.source.array.file_error(&part.file, error)))
}

/// Reads a slab to its place in the lane, and copies it into the pieces. Works on one thread while
/// files are in memory: there the bytes are near. Otherwise threads that may wait read, more of
/// them than there are cores.
async fn take_in(
    pass: Arc<Pass>,
    held: Arc<Held>,
    file: Vec<u64>,
    batch: ReadBatch,
    mut bounce: Bounce,
    (slab, bytes): (Region, Range<usize>),
) -> Result<Bounce, Fault> {
    let (cpu, in_place) = (pass.stage.cpu.clone(), &pass.stage.in_place);
    let is_in_memory = in_place.reads() && !in_place.reads_from_disk();
    let work = async move {
        let read = batch.read(std::mem::take(&mut bounce.bytes)).await;
        (bounce.runs, bounce.bytes) =
            read.map_err(|error| Fault::Source(pass.source.array.file_error(&file, error)))?;
        let copied = Arc::clone(&pass);
        pass.copy(bytes.len(), move || {
            held.scatter(&copied, &slab, &bounce.bytes[bytes])?;
            Ok(bounce)
        })
        .await
    };
    if is_in_memory { cpu.drive(work.boxed()).await } else { work.await }
}
