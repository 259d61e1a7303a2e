//! Memory of a task of a pyramid.

use rechunk_grid::Region;
use rechunk_plan::count::cells;
use rechunk_plan::{Held, MissingCells, PassInput, Side, cells_of, held_of, shard_state_bytes};
use rechunk_reduce::Method;

use super::geometry::{Geometry, PassRequest};
use crate::by_region::{Answers, bytes_of, read_bytes};

/// Bytes of an element while a Gaussian is computed: as it is read along one axis, and the next.
const GAUSSIAN_BYTES: u64 = 16;

/// Most steps of a task at once.
const STEPS_MAX: u64 = 64;

/// Memory of the parts of a task.
pub(super) struct Sizes {
    pub answers: Answers,
    /// Bytes of the largest chunk on its way, stored and decoded.
    chunk_bytes: u64,
    /// Bytes of a step: the box that is read, its cells, and chunks that it completes.
    step_bytes: u64,
    /// Bytes of what the steps of a task fill.
    rest_bytes: u64,
    /// Steps at once from which all threads have work.
    steps_at_once: u32,
}

/// Chunks and steps that a task has at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Way {
    /// Chunks on their way.
    pub chunks_at_once: u64,
    /// Steps that are read, computed and written.
    pub steps_at_once: u32,
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
        let mut step_bytes = bytes_of(&window, geometry.item_bytes).saturating_add(mask_bytes);
        let mut rest_bytes = 0_u64;
        if asked.method == Method::Gaussian {
            step_bytes = step_bytes.saturating_add(bytes_of(&window, GAUSSIAN_BYTES));
        }
        // Elements of a level, also as those of chunks, and what they are made of.
        let result_bytes = item_bytes.saturating_mul(2).saturating_add(asked.block_item_bytes());
        // Numbers of elements that are there.
        let result_bytes = result_bytes.saturating_add(if is_masked { 9 } else { 0 });
        let sharded = asked.request.target_uploads().map_or(0, |sent| sent.log_part_bytes);
        let of_step = Region::whole(step);
        for ((level, held), target) in geometry.levels.iter().zip(&held).zip(levels) {
            let cells = cells_of(&of_step, &level.factors);
            let Held { chunks, shards } = *held;
            let state = target.side.shard.as_ref().map_or(0, |shard| {
                let kept = shard_state_bytes(shard.index_bytes);
                kept.saturating_add(sharded.saturating_mul(2)).saturating_mul(shards + 1)
            });
            step_bytes = step_bytes.saturating_add(bytes_of(&cells.shape, result_bytes));
            let begun = bytes_of(&level.chunk, item_bytes).saturating_mul(chunks + 1);
            rest_bytes = rest_bytes.saturating_add(begun).saturating_add(state);
        }
        if asked.method.is_summed() && pass.input == PassInput::Source {
            // Sums of finer levels, which others write, are made on the way.
            for level in &asked.levels[..pass.first] {
                let cells = cells_of(&of_step, &level.factors);
                let sums = bytes_of(&cells.shape, asked.block_item_bytes());
                step_bytes = step_bytes.saturating_add(sums);
            }
        }
        if pass.leaves_blocks {
            let block = bytes_of(&geometry.block(tile), asked.block_item_bytes());
            rest_bytes = rest_bytes.saturating_add(block);
        }
        let answers = Answers::of(&asked.request.profile);
        let (tasks, threads) = (cells(&geometry.domain, tile), asked.request.budget.threads);
        let steps_at_once = steps_at_once(answers, (tasks, threads), cells(tile, step));
        Some(Self { answers, chunk_bytes, step_bytes, rest_bytes, steps_at_once })
    }

    pub(super) fn transfer_bytes(&self, chunks_at_once: u64) -> u64 {
        self.chunk_bytes.saturating_mul(chunks_at_once)
    }

    /// Ways of a task, the best first.
    pub(super) fn ways(&self) -> impl Iterator<Item = Way> + use<> {
        let most = self.answers.chunks_at_once();
        (1..=self.steps_at_once).rev().flat_map(move |steps_at_once| {
            (1..=most).rev().map(move |chunks_at_once| Way { chunks_at_once, steps_at_once })
        })
    }

    /// Most bytes that a task holds.
    pub(super) fn needed_bytes(&self, way: Way) -> u64 {
        // Its chunks come in or go out.
        let step = self.step_bytes.saturating_add(self.transfer_bytes(way.chunks_at_once));
        step.saturating_mul(u64::from(way.steps_at_once)).saturating_add(self.rest_bytes)
    }
}

/// Steps of a task at once from which all threads have work while others wait: for a store, or for
/// a step before them.
fn steps_at_once(answers: Answers, (tasks, threads): (u64, u32), steps: u64) -> u32 {
    let each = u64::from(threads).div_ceil(tasks.max(1));
    let wanted = match answers {
        Answers::Prompt if each == 1 => 1,
        Answers::Prompt | Answers::Late => each.saturating_add(1),
    };
    u32::try_from(wanted.min(steps).clamp(1, STEPS_MAX)).unwrap_or(1)
}
