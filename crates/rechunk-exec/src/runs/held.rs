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
    /// By place among `files`, in C order; without bytes where an earlier run has written it.
    pieces: Vec<Mutex<Vec<u8>>>,
}

/// A write block that all of is in memory.
#[derive(Debug)]
pub(super) struct Complete {
    pub block: WriteBlock,
    /// Disjoint parts of it, and their elements, packed.
    pub pieces: Vec<(Region, Vec<u8>)>,
}

impl Held {
    /// Takes memory for the pieces of buffer `number`.
    pub(super) fn new(pass: &Pass, number: u64) -> Result<Self, Fault> {
        let region = pass.buffers.region(number);
        let files = pass.buffers.target_grid().covering(&region);
        let pieces = (0..files.elements()).map(|_| Mutex::default()).collect();
        let mut held = Self { number, region, files, pieces };
        for block in pass.buffers.write_blocks(number).filter(|block| pass.is_left(block)) {
            let Some(piece) = block.region.intersect(&held.region) else { continue };
            let bytes = buffer_bytes(piece.elements(), pass.item_bytes())?;
            let buffer = pass.pool.take(bytes).ok_or_else(|| Fault::Plan {
                reason: "its schedule holds more than it reserves".to_owned(),
            })?;
            if let Some(place) = held.place(&block.file) {
                held.pieces[place] = Mutex::new(buffer);
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
    fn piece(&self, file: &[u64]) -> Option<&Mutex<Vec<u8>>> {
        self.place(file).map(|place| &self.pieces[place])
    }

    /// Some of `region`, which lies in the buffer, is to be written.
    pub(super) fn wants(&self, pass: &Pass, region: &Region) -> bool {
        // A piece that is being copied into is wanted.
        let is_wanted = |piece: &Mutex<Vec<u8>>| piece.try_lock().map_or(true, |p| !p.is_empty());
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
        piece: &mut [u8],
    ) -> Result<(), Fault> {
        if piece.is_empty() {
            return Ok(());
        }
        // On axes that are not kept, write blocks end where buffers do: on all, this is the piece.
        let region = pass.buffers.target_grid().region(file).intersect(&self.region);
        let Some(region) = region else { return Ok(()) };
        let Some(common) = region.intersect(slab) else { return Ok(()) };
        let target = pass.target.frame(&region)?;
        frame::copy(pass.item_bytes(), &common, source, (piece, &target), pass.stage.swap_bytes)
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
    ) -> Option<Complete> {
        let piece = std::mem::take(&mut *lock(held.piece(&block.file)?));
        if piece.is_empty() {
            return None;
        }
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
        Some(Complete { pieces: located.collect(), block })
    }
}

fn lock(piece: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    // A job that panicked has ended the run; nobody writes what it left.
    piece.lock().unwrap_or_else(PoisonError::into_inner)
}
