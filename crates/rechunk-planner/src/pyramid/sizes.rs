//! Memory of a task of a pyramid.

use rechunk_grid::Region;
use rechunk_plan::count::cells;
use rechunk_plan::{Held, MissingCells, PassInput, Side, cells_of, held_of, shard_state_bytes};
use rechunk_reduce::Method;

use super::geometry::{Geometry, PassRequest};
use crate::by_region::{Answers, bytes_of, read_bytes};

/// Bytes of an element while a Gaussian is computed: as it is read along one axis, and the next.
const GAUSSIAN_BYTES: u64 = 16;

/// Memory of the parts of a task.
pub(super) struct Sizes {
    pub answers: Answers,
    /// Bytes of the largest chunk on its way, stored and decoded.
    chunk_bytes: u64,
    /// Bytes of the box of a step.
    window_bytes: u64,
    /// Bytes of all else.
    rest_bytes: u64,
    /// There are threads, or answers to wait for, beside those of the tasks that run.
    may_read_ahead: bool,
}

/// Chunks and steps that a task has at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// Chunks on their way.
    pub chunks_at_once: u64,
    /// It reads a step while it computes and writes the one before.
    pub reads_ahead: bool,
}

/// Bytes of a chunk while it is written: complete, in the order of the array, and encoded.
fn written_bytes(side: &Side, item_bytes: u64) -> u64 {
    let chunk = side.chunk_bytes(item_bytes).saturating_mul(2);
    [chunk, side.encoded_bytes_max, side.encode_workspace_bytes]
        .into_iter()
        .fold(0, u64::saturating_add)
}

impl Sizes {
    /// `None` where a grid cannot be.
    pub(super) fn new(
        request: &PassRequest<'_>,
        geometry: &Geometry,
        (tile, step): (&[u64], &[u64]),
    ) -> Option<Self> {
        let (asked, pass) = (request.asked, request.pass);
        let item_bytes = asked.request.item_bytes;
        let levels = &asked.levels[pass.first..pass.end];
        let read = match pass.input {
            PassInput::Source => read_bytes(&asked.request.source, item_bytes),
            PassInput::Level(level) => read_bytes(&asked.levels[level].side, item_bytes),
            PassInput::Blocks(_) => bytes_of(&geometry.chunk, geometry.item_bytes),
        };
        let written = levels.iter().map(|level| written_bytes(&level.side, item_bytes));
        let chunk_bytes = written.max().unwrap_or(0).max(read);
        let held = held_of(&Region::whole(tile), step, &geometry.levels).ok()?;
        let window: Vec<u64> = (0..step.len())
            .map(|axis| {
                let grown = step[axis].saturating_add(geometry.halo[axis].saturating_mul(2));
                grown.min(geometry.domain[axis])
            })
            .collect();
        let is_masked = asked.missing == MissingCells::Skip;
        let mask_bytes = if is_masked { bytes_of(&window, 1) } else { 0 };
        let window_bytes = bytes_of(&window, geometry.item_bytes).saturating_add(mask_bytes);
        let mut rest_bytes = 0_u64;
        if asked.method == Method::Gaussian {
            rest_bytes = rest_bytes.saturating_add(bytes_of(&window, GAUSSIAN_BYTES));
        }
        let result_bytes = item_bytes.saturating_add(asked.block_item_bytes()).saturating_add(
            // Numbers of elements that are there.
            if is_masked { 9 } else { 0 },
        );
        let sharded = asked.request.target_uploads().map_or(0, |sent| sent.log_part_bytes);
        let of_step = Region::whole(step);
        for ((level, held), target) in geometry.levels.iter().zip(&held).zip(levels) {
            let cells = cells_of(&of_step, &level.factors);
            let Held { chunks, shards } = *held;
            let state = target.side.shard.as_ref().map_or(0, |shard| {
                let kept = shard_state_bytes(shard.index_bytes);
                kept.saturating_add(sharded.saturating_mul(2)).saturating_mul(shards + 1)
            });
            let parts = [
                bytes_of(&cells.shape, result_bytes),
                bytes_of(&level.chunk, item_bytes).saturating_mul(chunks + 1),
                state,
            ];
            rest_bytes = parts.into_iter().fold(rest_bytes, u64::saturating_add);
        }
        if asked.method.is_summed() && pass.input == PassInput::Source {
            // Sums of finer levels, which others write, are made on the way.
            for level in &asked.levels[..pass.first] {
                let cells = cells_of(&of_step, &level.factors);
                let sums = bytes_of(&cells.shape, asked.block_item_bytes());
                rest_bytes = rest_bytes.saturating_add(sums);
            }
        }
        if pass.leaves_blocks {
            let block = bytes_of(&geometry.block(tile), asked.block_item_bytes());
            rest_bytes = rest_bytes.saturating_add(block);
        }
        let answers = Answers::of(&asked.request.profile);
        let tasks = cells(&geometry.domain, tile);
        let waits = answers == Answers::Late || tasks < u64::from(asked.request.budget.threads);
        let may_read_ahead = waits && cells(tile, step) > 1;
        Some(Self { answers, chunk_bytes, window_bytes, rest_bytes, may_read_ahead })
    }

    pub(super) fn transfer_bytes(&self, chunks_at_once: u64) -> u64 {
        self.chunk_bytes.saturating_mul(chunks_at_once)
    }

    /// Ways of a task, the best first.
    pub(super) fn ways(&self) -> impl Iterator<Item = Way> + use<> {
        let ahead = if self.may_read_ahead { &[true, false][..] } else { &[false] };
        let most = self.answers.chunks_at_once();
        ahead.iter().flat_map(move |&reads_ahead| {
            (1..=most).rev().map(move |chunks_at_once| Way { chunks_at_once, reads_ahead })
        })
    }

    /// Most bytes that a task holds.
    pub(super) fn needed_bytes(&self, way: Way) -> u64 {
        let windows = self.window_bytes.saturating_mul(if way.reads_ahead { 2 } else { 1 });
        // A step is read while chunks of the one before are written.
        let chunks = way.chunks_at_once * if way.reads_ahead { 2 } else { 1 };
        windows.saturating_add(self.rest_bytes).saturating_add(self.transfer_bytes(chunks))
    }
}
