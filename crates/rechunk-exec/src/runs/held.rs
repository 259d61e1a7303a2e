//! Pieces: the only elements a task holds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rechunk_grid::Region;
use rechunk_plan::keep::WriteBlock;

use super::Pass;
use crate::Fault;
use crate::frame::{self, Frame, buffer_bytes};

/// The pieces of the buffer that is read.
#[derive(Debug)]
pub(super) struct Held {
    number: u64,
    region: Region,
    /// Indices of the target files it meets.
    files: Region,
    /// By place among `files`, in C order.
    pieces: Vec<Mutex<Piece>>,
}

/// A buffer's part of a target file.
#[derive(Debug, Default)]
struct Piece {
    /// Of its elements; none where an earlier run has written them.
    bytes: usize,
    /// Empty until the first elements come: making memory takes as long as copying into it, and is
    /// done by the threads that copy.
    elements: Vec<u8>,
}

/// A write block that all of is in memory.
#[derive(Debug)]
pub(super) struct Complete {
    pub block: WriteBlock,
    /// Disjoint parts of it, and their elements, packed.
    pub pieces: Vec<(Region, Vec<u8>)>,
}

impl Held {
    /// The pieces of buffer `number`, with memory reserved for them.
    pub(super) fn new(pass: &Pass, number: u64) -> Result<Self, Fault> {
        let region = pass.buffers.region(number);
        let files = pass.buffers.target_grid().covering(&region);
        let pieces = (0..files.elements()).map(|_| Mutex::default()).collect();
        let mut held = Self { number, region, files, pieces };
        for block in pass.buffers.write_blocks(number).filter(|block| pass.is_left(block)) {
            let Some(piece) = block.region.intersect(&held.region) else { continue };
            let bytes = buffer_bytes(piece.elements(), pass.item_bytes())?;
            if !pass.pool.reserve(bytes) {
                let reason = "its schedule holds more than it reserves".to_owned();
                return Err(Fault::Plan { reason });
            }
            if let Some(place) = held.place(&block.file) {
                held.pieces[place] = Mutex::new(Piece { bytes, elements: Vec::new() });
            }
        }
        Ok(held)
    }

    /// Which buffer it is.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn place(&self, file: &[u64]) -> Option<usize> {
        usize::try_from(self.files.ordinal(file)).ok().filter(|&place| place < self.pieces.len())
    }

    /// The piece of target file `file`.
    fn piece(&self, file: &[u64]) -> Option<&Mutex<Piece>> {
        self.place(file).map(|place| &self.pieces[place])
    }

    /// Some of `region`, which lies in the buffer, is to be written.
    pub(super) fn wants(&self, pass: &Pass, region: &Region) -> bool {
        // A piece that is being copied into is wanted.
        let is_wanted = |piece: &Mutex<Piece>| piece.try_lock().map_or(true, |p| p.bytes > 0);
        let files = pass.buffers.target_grid().covering(region);
        pass.buffers_done == 0
            || files.positions().any(|file| self.piece(&file).is_some_and(is_wanted))
    }

    /// Copies the elements of `slab`, packed in the source's order, into the pieces they are of.
    pub(super) fn scatter(&self, pass: &Pass, slab: &Region, bytes: &[u8]) -> Result<(), Fault> {
        let source = pass.source.frame(slab)?;
        let mut busy = Vec::new();
        for file in pass.buffers.target_grid().covering(slab).positions() {
            let Some(piece) = self.piece(&file) else { continue };
            match piece.try_lock() {
                Ok(mut piece) => self.put_in(pass, &file, slab, (bytes, &source), &mut piece)?,
                Err(TryLockError::Poisoned(_)) => {} // a job has panicked, which ends the run
                Err(TryLockError::WouldBlock) => busy.push((file, piece)), // come back to it
            }
        }
        for (file, piece) in busy {
            self.put_in(pass, &file, slab, (bytes, &source), &mut lock(piece))?;
        }
        Ok(())
    }

    fn put_in(
        &self,
        pass: &Pass,
        file: &[u64],
        slab: &Region,
        source: (&[u8], &Frame),
        piece: &mut Piece,
    ) -> Result<(), Fault> {
        if piece.bytes == 0 {
            return Ok(());
        }
        // On axes that are not kept, write blocks end where buffers do: on all, this is the piece.
        let region = pass.buffers.target_grid().region(file).intersect(&self.region);
        let Some(region) = region else { return Ok(()) };
        let Some(common) = region.intersect(slab) else { return Ok(()) };
        let target = pass.target.frame(&region)?;
        if piece.elements.is_empty() {
            piece.elements = pass.pool.reserved(piece.bytes);
        }
        let elements = (&mut piece.elements[..], &target);
        frame::copy(pass.item_bytes(), &common, source, elements, pass.stage.swap_bytes)
    }
}

/// Pieces of earlier buffers whose write blocks go on.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// By the first element of their write block: the buffer each is of, and its elements.
    blocks: HashMap<u64, Vec<(u64, Vec<u8>)>>,
}

impl Carried {
    /// Takes over the piece of `block` that the buffer has. The block, if it is complete now.
    pub(super) fn take_over(
        &mut self,
        pass: &Pass,
        held: &Held,
        block: WriteBlock,
    ) -> Option<Result<Complete, Fault>> {
        let piece = std::mem::take(&mut *lock(held.piece(&block.file)?));
        let piece = match piece {
            Piece { bytes: 0, .. } => return None,
            Piece { elements, .. } if elements.is_empty() => return Some(Err(not_read(&block))),
            Piece { elements, .. } => elements,
        };
        let array = Region::whole(pass.buffers.target_grid().array_shape());
        let first = array.ordinal(&block.region.start);
        if !block.is_last {
            self.blocks.entry(first).or_default().push((held.number, piece));
            return None;
        }
        let mut pieces = self.blocks.remove(&first).unwrap_or_default();
        pieces.push((held.number, piece));
        let located = pieces.into_iter().filter_map(|(buffer, piece)| {
            Some((pass.buffers.region(buffer).intersect(&block.region)?, piece))
        });
        Some(Ok(Complete { pieces: located.collect(), block }))
    }
}

fn not_read(block: &WriteBlock) -> Fault {
    Fault::Plan { reason: format!("it reads nothing of what goes to file {:?}", block.file) }
}

fn lock(piece: &Mutex<Piece>) -> MutexGuard<'_, Piece> {
    // A job that panicked has ended the run; nobody writes what it left.
    piece.lock().unwrap_or_else(PoisonError::into_inner)
}
