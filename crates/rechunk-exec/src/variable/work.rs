//! Work of a task, and what becomes of it.

use std::sync::Arc;

use bytes::Bytes;
use rechunk_format::variable::VariablePart;
use rechunk_grid::Region;

use super::account::Held;

/// A part of a target chunk, and its memory.
#[derive(Debug)]
pub(super) struct HeldPart {
    pub part: VariablePart,
    pub _held: Option<Held>,
}

/// Parts of target chunks, each with the index of its chunk.
pub(super) type Parts = Vec<(Vec<u64>, HeldPart)>;

/// A target chunk, or what has been read of it.
#[derive(Debug)]
pub(super) struct Unit {
    pub index: Vec<u64>,
    /// Its elements that lie in the array.
    pub region: Region,
    pub parts: Vec<HeldPart>,
}

/// A source chunk that is to be read.
#[derive(Debug)]
pub(super) struct Input {
    pub index: Vec<u64>,
    /// Target chunks that want some of it, each with that part of its elements.
    pub wanted: Arc<Vec<(Vec<u64>, Region)>>,
    /// Its encoded bytes, if they were read before there was no room.
    pub fetched: Option<(Bytes, Held)>,
}

/// Work that may find no room.
#[derive(Debug)]
pub(super) enum Work {
    Read(Input),
    Send(Unit),
}

/// End of a piece of work.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Parts of target chunks were read.
    Parts(Parts),
    /// A target chunk is stored, compared, or left out.
    Sent(Vec<u64>),
    /// There is no room for it beside what is held.
    NoRoom(Work, Lack),
}

/// Memory that there was not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lack {
    /// At least so many bytes were missing.
    pub bytes: u64,
}

impl Lack {
    /// That `needed` bytes are more than the `available`.
    pub(super) fn of(needed: u64, available: u64) -> Self {
        Self { bytes: needed.saturating_sub(available).max(1) }
    }
}
