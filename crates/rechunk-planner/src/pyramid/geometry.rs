//! A pass of a pyramid in elements of its input.

use rechunk_grid::Region;
use rechunk_plan::count::lcm_capped;
use rechunk_plan::{PassInput, PyramidPass, PyramidWork, StepLevel, cells_of, ratio};

use super::request::{PyramidPlanRequest, PyramidTarget};

/// Request for a pass.
pub(super) struct PassRequest<'a> {
    pub asked: &'a PyramidPlanRequest<'a>,
    /// The pyramid, whose passes are looked for.
    pub work: &'a PyramidWork,
    pub pass: &'a PyramidPass,
    /// Shape of a block of the input, where the pass reads blocks.
    pub block: Option<&'a [u64]>,
    pub fixed_bytes: u64,
}

/// The pass as its tasks see it, in elements of its input.
pub(super) struct Geometry {
    /// Shape of its domain.
    pub domain: Vec<u64>,
    /// Levels that it writes.
    pub levels: Vec<StepLevel>,
    /// Shape of what is read at once.
    pub chunk: Vec<u64>,
    /// Elements beyond a step that are read with it.
    pub halo: Vec<u64>,
    /// Bytes of an element.
    pub item_bytes: u64,
}

impl Geometry {
    pub(super) fn new(request: &PassRequest<'_>) -> Self {
        let (asked, work, pass) = (request.asked, request.work, request.pass);
        let stored_bytes = asked.request.item_bytes;
        let (domain, chunk, item_bytes) = match pass.input {
            PassInput::Source => {
                (work.extent.clone(), asked.request.source.chunk_shape.clone(), stored_bytes)
            }
            PassInput::Blocks(level) => {
                let block = request.block.unwrap_or_default();
                (work.cells(level), block.to_vec(), asked.block_item_bytes())
            }
            PassInput::Level(level) => {
                let level = &asked.levels[level];
                (level.shape.clone(), level.side.chunk_shape.clone(), stored_bytes)
            }
        };
        let factors = work.factors_of(pass.input);
        let step_level = |level: &PyramidTarget| StepLevel {
            factors: ratio(&level.factors, &factors),
            chunk: level.side.chunk_shape.clone(),
            shard: level.side.shard_shape().map(<[u64]>::to_vec),
            shape: level.shape.clone(),
            item_bytes: stored_bytes,
        };
        let levels = asked.levels[pass.first..pass.end].iter().map(step_level).collect();
        Self { domain, levels, chunk, halo: work.halo_of(pass), item_bytes }
    }

    /// Elements that the cells of all levels divide evenly.
    pub(super) fn grain(&self) -> Vec<u64> {
        self.common(&self.levels, |level, axis| level.factors[axis])
    }

    fn common(&self, levels: &[StepLevel], of: impl Fn(&StepLevel, usize) -> u64) -> Vec<u64> {
        let axes = self.domain.iter().enumerate().map(|(axis, &extent)| {
            let extent = extent.max(1);
            let parts = levels.iter().map(|level| of(level, axis).max(1));
            parts.fold(1, |common, part| lcm_capped(common, part, extent))
        });
        axes.collect()
    }

    /// Elements that no object of the first `levels` levels shares with its neighbours.
    pub(super) fn unit(&self, levels: usize, with_shards: bool) -> Vec<u64> {
        self.common(&self.levels[..levels], |level, axis| {
            let unit = level.shard.as_ref().filter(|_| with_shards).unwrap_or(&level.chunk);
            unit[axis].saturating_mul(level.factors[axis])
        })
    }

    pub(super) fn lcm(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let axes = self.domain.iter().zip(a.iter().zip(b));
        axes.map(|(&extent, (&a, &b))| lcm_capped(a.max(1), b.max(1), extent.max(1))).collect()
    }

    /// Steps have to end where tiles do.
    pub(super) fn divides(&self, step: &[u64], tile: &[u64]) -> bool {
        let axes = step.iter().zip(tile).zip(&self.domain);
        axes.into_iter()
            .all(|((&step, &tile), &extent)| tile.is_multiple_of(step) || tile >= extent)
    }

    /// Shape of the block of its last level that a task leaves of `tile`.
    pub(super) fn block(&self, tile: &[u64]) -> Vec<u64> {
        let last = self.levels.last();
        last.map_or_else(Vec::new, |last| cells_of(&Region::whole(tile), &last.factors).shape)
    }
}
