//! The way out: the write blocks that a buffer completes.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::{BoxFuture, FutureExt};
use rechunk_grid::Region;
use rechunk_kernel::wide;
use rechunk_plan::keep::WriteBlock;
use rechunk_store::{AS_IN_PAGE_BYTES, Role, WriteBatch};

use super::held::{Carried, Complete, Full};
use super::lanes::{Bounce, Crew, crews, over};
use super::pass::Pass;
use super::side::Place;
use crate::Fault;
use crate::units::frame::{self, Frame};

/// Writes all write blocks that are complete with a buffer, as many at a time as there are lanes.
/// The pieces of the others are carried on. Returns how many were written.
pub(super) async fn complete(
    pass: &Arc<Pass>,
    mut full: Full,
    carried: &mut Carried,
    lanes: &mut Vec<Bounce>,
) -> Result<u64, Fault> {
    let number = full.number();
    let blocks = || pass.buffers.write_blocks(number);
    let last = blocks().filter(|block| block.is_last).take(lanes.len()).count();
    let mut crews = crews(lanes, last);
    let mut written = 0;
    let complete = blocks().filter_map(|block| carried.take_over(pass, &mut full, block));
    over(&mut crews, complete, |crew, complete| {
        let work: BoxFuture<'static, Result<Crew, Fault>> =
            file(Arc::clone(pass), crew, complete).boxed();
        written += 1;
        Ok(work)
    })
    .await?;
    lanes.extend(crews.into_iter().flatten());
    Ok(written)
}

/// A write block on its way out.
#[derive(Debug)]
struct Outgoing {
    block: WriteBlock,
    pieces: Vec<Piece>,
}

#[derive(Debug)]
struct Piece {
    region: Region,
    frame: Frame,
    bytes: Bytes,
}

/// Writes one block.
async fn file(pass: Arc<Pass>, mut crew: Crew, complete: Complete) -> Result<Crew, Fault> {
    let target = &pass.target;
    let out = Arc::new(Outgoing::new(&pass, complete)?);
    let file = target.array.open_part(&out.block.file).await.map_err(Fault::Target)?;
    let elements = pass.buffers.target_grid().region(&out.block.file);
    let lane_bytes = pass.stage.stage.lane_bytes;
    let room_bytes = lane_bytes.saturating_sub(wide(AS_IN_PAGE_BYTES));
    let slabs = target.slabs(&elements, &out.block.region, room_bytes)?;
    let mut sent = 0;
    over(&mut crew, slabs, |mut bounce, slab| {
        // A block of one piece is written straight out of it.
        let place = if out.lone().is_some() { Place::Piece(sent) } else { Place::LaneAsInFile };
        let bytes = target.put_runs((&elements, &slab), place, &mut bounce, lane_bytes)?;
        sent += bytes.len();
        let batch = file.batch(std::mem::take(&mut bounce.runs));
        let batch = batch.map_err(|error| out.fault(&pass, error))?;
        Ok(send_out(&pass, &out, batch, bounce, (slab, bytes)))
    })
    .await?;
    let bytes = out.block.region.elements().saturating_mul(wide(pass.item_bytes()));
    target.array.store().meter().add_decoded_written(Role::Target, bytes);
    Ok(crew)
}

/// Writes a slab of a block, whose bytes are there in the lane, or in its only piece.
async fn send_out(
    pass: &Arc<Pass>,
    out: &Arc<Outgoing>,
    batch: WriteBatch,
    mut bounce: Bounce,
    (slab, range): (Region, Range<usize>),
) -> Result<Bounce, Fault> {
    if let Some(bytes) = out.lone() {
        let written = batch.write(bytes.clone()).await;
        (bounce.runs, _) = written.map_err(|error| out.fault(pass, error))?;
    } else {
        let bytes = range.len();
        let (job_pass, job_out, job_slab) = (Arc::clone(pass), Arc::clone(out), slab.clone());
        let job = move || {
            job_out.gather(&job_pass, &job_slab, &mut bounce.bytes[range])?;
            Ok(bounce)
        };
        bounce = pass.copy(bytes, job).await?;
        let written = batch.write(Bytes::from(std::mem::take(&mut bounce.bytes))).await;
        let (runs, bytes) = written.map_err(|error| out.fault(pass, error))?;
        (bounce.runs, bounce.bytes) = (runs, Vec::from(bytes));
    }
    pass.stage.progress(&slab);
    Ok(bounce)
}

impl Outgoing {
    fn new(pass: &Pass, Complete { block, pieces }: Complete) -> Result<Self, Fault> {
        let piece = |(region, bytes)| {
            let frame = pass.target.frame(&region)?;
            Ok(Piece { region, frame, bytes })
        };
        let pieces = pieces.into_iter().map(piece).collect::<Result<_, Fault>>()?;
        Ok(Self { block, pieces })
    }

    /// The bytes of the only piece, which are those of the block, packed.
    fn lone(&self) -> Option<&Bytes> {
        if let [piece] = &self.pieces[..] { Some(&piece.bytes) } else { None }
    }

    /// Copies the elements of `slab` out of the pieces, packed in the target's order.
    fn gather(&self, pass: &Pass, slab: &Region, bytes: &mut [u8]) -> Result<(), Fault> {
        let target = pass.target.frame(slab)?;
        for piece in &self.pieces {
            let Some(common) = piece.region.intersect(slab) else { continue };
            let source = (&piece.bytes[..], &piece.frame);
            frame::copy(pass.item_bytes(), &common, source, (bytes, &target), 1)?;
        }
        Ok(())
    }

    fn fault(&self, pass: &Pass, error: rechunk_store::StoreError) -> Fault {
        Fault::Target(pass.target.array.file_error(&self.block.file, error))
    }
}
