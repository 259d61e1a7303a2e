//! Pieces: the only elements a task holds.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use bytes::Bytes;
use rechunk_grid::Region;
use rechunk_plan::keep::WriteBlock;

use super::pass::Pass;
use crate::Fault;
use crate::memory::pool::BufferPool;
use crate::units::frame::{self, Frame, buffer_bytes};

/// Pieces that are written after the same buffer are put into blocks of so many bytes, but for the
/// last. An allocator gives smaller ones places in pages that it shares among blocks of one size,
/// and keeps a page while one of them is in use: pieces have many sizes, which change from buffer
/// to buffer.
const BLOCK_BYTES: usize = 1 << 20;
/// Bytes above which a piece begins a block, and so a page of memory. From there a file can be
/// written past the system's cache.
const LARGE_BYTES: usize = 512 << 10;

/// The pieces of the buffer that is read.
#[derive(Debug)]
pub(super) struct Held {
    number: u64,
    region: Region,
    /// Indices of the target files it meets.
    files: Region,
    /// By place among `files`, in C order; `None` where an earlier run has written them.
    pieces: Vec<Option<InBlock>>,
    blocks: Vec<Block>,
}

/// Place of a buffer's part of a target file.
#[derive(Debug, Clone)]
struct InBlock {
    block: usize,
    bytes: Range<usize>,
}

/// Memory of pieces that are written after the same buffer.
#[derive(Debug, Default)]
struct Block {
    bytes: usize,
    filling: Mutex<Filling>,
}

#[derive(Debug, Default)]
struct Filling {
    /// Empty until the first elements come: making memory takes as long as copying into it, and is
    /// done by the threads that copy.
    elements: Vec<u8>,
    copied_bytes: usize,
}

/// The pieces of a buffer that all has been read of.
#[derive(Debug)]
pub(super) struct Full {
    held: Arc<Held>,
    /// As there.
    pieces: Vec<Option<Bytes>>,
}

/// A write block that all of is in memory.
#[derive(Debug)]
pub(super) struct Complete {
    pub block: WriteBlock,
    /// Disjoint parts of it, and their elements, packed.
    pub pieces: Vec<(Region, Bytes)>,
}

impl Held {
    /// The pieces of buffer `number`, with memory reserved for them.
    pub(super) fn new(pass: &Pass, number: u64) -> Result<Self, Fault> {
        let region = pass.buffers.region(number);
        let files = pass.buffers.target_grid().covering(&region);
        let pieces = (0..files.elements()).map(|_| None).collect();
        let mut held = Self { number, region, files, pieces, blocks: Vec::new() };
        // By the buffer after which their pieces are written.
        let mut open = HashMap::new();
        for block in pass.buffers.write_blocks(number).filter(|block| pass.is_left(block)) {
            let Some(piece) = block.region.intersect(&held.region) else { continue };
            let bytes = buffer_bytes(piece.elements(), pass.item_bytes())?;
            if !pass.pool.reserve(bytes) {
                let reason = "its schedule holds more than it reserves".to_owned();
                return Err(Fault::Plan { reason });
            }
            let last = pass.buffers.last_buffer(&block);
            let has_room = |at: usize| bytes <= LARGE_BYTES && held.blocks[at].bytes < BLOCK_BYTES;
            let at = open.get(&last).copied().filter(|&at| has_room(at)).unwrap_or_else(|| {
                held.blocks.push(Block::default());
                held.blocks.len() - 1
            });
            open.insert(last, at);
            let into = &mut held.blocks[at];
            let place = InBlock { block: at, bytes: into.bytes..into.bytes + bytes };
            into.bytes = place.bytes.end;
            if let Some(file) = held.number_of(&block.file) {
                held.pieces[file] = Some(place);
            }
        }
        Ok(held)
    }

    /// Which buffer it is.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    fn number_of(&self, file: &[u64]) -> Option<usize> {
        usize::try_from(self.files.ordinal(file)).ok().filter(|&number| number < self.pieces.len())
    }

    /// The piece of target file `file`, if it is to be written.
    fn piece(&self, file: &[u64]) -> Option<&InBlock> {
        self.pieces[self.number_of(file)?].as_ref()
    }

    /// Some of `region`, which lies in the buffer, is to be written.
    pub(super) fn wants(&self, pass: &Pass, region: &Region) -> bool {
        let files = pass.buffers.target_grid().covering(region);
        pass.buffers_done == 0 || files.positions().any(|file| self.piece(&file).is_some())
    }

    /// Copies the elements of `slab`, packed in the source's order, into the pieces they are of.
    pub(super) fn scatter(&self, pass: &Pass, slab: &Region, bytes: &[u8]) -> Result<(), Fault> {
        let source = pass.source.frame(slab)?;
        let mut busy = Vec::new();
        for file in pass.buffers.target_grid().covering(slab).positions() {
            let Some(place) = self.piece(&file) else { continue };
            let block = &self.blocks[place.block];
            match block.filling.try_lock() {
                Ok(mut filling) => {
                    self.put_in(pass, (&file, place), slab, (bytes, &source), &mut filling)?;
                }
                Err(TryLockError::Poisoned(_)) => {} // a job has panicked, which ends the run
                Err(TryLockError::WouldBlock) => busy.push((file, place)), // come back to it
            }
        }
        for (file, place) in busy {
            let mut filling = self.blocks[place.block].lock();
            self.put_in(pass, (&file, place), slab, (bytes, &source), &mut filling)?;
        }
        Ok(())
    }

    fn put_in(
        &self,
        pass: &Pass,
        (file, place): (&[u64], &InBlock),
        slab: &Region,
        source: (&[u8], &Frame),
        filling: &mut Filling,
    ) -> Result<(), Fault> {
        // On axes that are not kept, write blocks end where buffers do: on all, this is the piece.
        let region = pass.buffers.target_grid().region(file).intersect(&self.region);
        let Some(region) = region else { return Ok(()) };
        let Some(common) = region.intersect(slab) else { return Ok(()) };
        let target = pass.target.frame(&region)?;
        if filling.elements.is_empty() {
            filling.elements = pass.pool.reserved(self.blocks[place.block].bytes);
        }
        filling.copied_bytes += buffer_bytes(common.elements(), pass.item_bytes())?;
        let elements = (&mut filling.elements[place.bytes.clone()], &target);
        frame::copy(pass.item_bytes(), &common, source, elements, pass.stage.swap_bytes)
    }
}

impl Block {
    fn lock(&self) -> MutexGuard<'_, Filling> {
        // A job that panicked has ended the run; nobody writes what it left.
        self.filling.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Full {
    /// The pieces of a buffer, all of whose files have been read.
    pub(super) fn new(pass: &Pass, held: Arc<Held>) -> Result<Self, Fault> {
        let full = |block: &Block| {
            let Filling { elements, copied_bytes } = std::mem::take(&mut *block.lock());
            if copied_bytes != block.bytes {
                let reason = format!("it reads {copied_bytes} of {} bytes it holds", block.bytes);
                return Err(Fault::Plan { reason });
            }
            Ok(Bytes::from_owner(Memory { elements, pool: Arc::clone(&pass.pool) }))
        };
        let blocks = held.blocks.iter().map(full).collect::<Result<Vec<_>, Fault>>()?;
        let piece = |place: &InBlock| blocks[place.block].slice(place.bytes.clone());
        let pieces = held.pieces.iter().map(|place| place.as_ref().map(piece)).collect();
        Ok(Self { held, pieces })
    }

    /// Which buffer it is.
    pub(super) fn number(&self) -> u64 {
        self.held.number
    }

    /// The elements of the piece of target file `file`, if it is to be written and has not been
    /// taken.
    fn take(&mut self, file: &[u64]) -> Option<Bytes> {
        self.pieces[self.held.number_of(file)?].take()
    }
}

/// Memory of a block. It goes back to the pool with the last of its pieces.
#[derive(Debug)]
struct Memory {
    elements: Vec<u8>,
    pool: Arc<BufferPool>,
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.elements
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.elements));
    }
}

/// Pieces of earlier buffers whose write blocks go on.
#[derive(Debug, Default)]
pub(super) struct Carried {
    /// By the first element of their write block: the buffer each is of, and its elements.
    blocks: HashMap<u64, Vec<(u64, Bytes)>>,
}

impl Carried {
    /// Takes over the piece of `block` that the buffer has. The block, if it is complete now.
    pub(super) fn take_over(
        &mut self,
        pass: &Pass,
        full: &mut Full,
        block: WriteBlock,
    ) -> Option<Complete> {
        let piece = full.take(&block.file)?;
        let array = Region::whole(pass.buffers.target_grid().array_shape());
        let first = array.ordinal(&block.region.start);
        if !block.is_last {
            self.blocks.entry(first).or_default().push((full.number(), piece));
            return None;
        }
        let mut pieces = self.blocks.remove(&first).unwrap_or_default();
        pieces.push((full.number(), piece));
        let located = pieces.into_iter().filter_map(|(buffer, piece)| {
            Some((pass.buffers.region(buffer).intersect(&block.region)?, piece))
        });
        Some(Complete { pieces: located.collect(), block })
    }
}
