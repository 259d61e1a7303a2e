//! A pass of a pyramid in elements of its input.

use rechunk_plan::count::lcm_capped;
use rechunk_plan::{PassInput, PyramidPass, StepLevel, ratio};

use super::request::PyramidPlanRequest;

/// Request for a pass.
pub(super) struct PassRequest<'a> {
    pub asked: &'a PyramidPlanRequest<'a>,
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
    /// Source elements of an element.
    pub factors: Vec<u64>,
    /// Bytes of an element.
    pub item_bytes: u64,
}

impl Geometry {
    pub(super) fn new(request: &PassRequest<'_>) -> Self {
        let (asked, pass) = (request.asked, request.pass);
        let levels = asked.plan_levels();
        let side = &asked.request.source;
        let (factors, chunk, item_bytes) = match pass.input {
            PassInput::Source => (
                vec![1; asked.request.shape.len()],
                side.chunk_shape.clone(),
                asked.request.item_bytes,
            ),
            PassInput::Blocks(level) => (
                levels[level].factors.clone(),
                request.block.unwrap_or_default().to_vec(),
                asked.block_item_bytes(),
            ),
            PassInput::Level(level) => (
                levels[level].factors.clone(),
                asked.levels[level].side.chunk_shape.clone(),
                asked.request.item_bytes,
            ),
        };
        let domain = match pass.input {
            PassInput::Source => asked.extent(),
            PassInput::Blocks(_) => {
                let axes = asked.extent().into_iter().zip(&factors);
                axes.map(|(extent, factor)| extent.div_ceil(*factor)).collect()
            }
            PassInput::Level(level) => levels[level].shape.clone(),
        };
        let own = |level: usize| &levels[level];
        let step_level = |level: usize| StepLevel {
            factors: ratio(&own(level).factors, &factors),
            chunk: asked.levels[level].side.chunk_shape.clone(),
            shard: asked.levels[level].side.shard_shape().map(<[u64]>::to_vec),
            shape: own(level).shape.clone(),
            item_bytes: asked.request.item_bytes,
        };
        let step_levels: Vec<StepLevel> = (pass.first..pass.end).map(step_level).collect();
        let halo = (0..domain.len()).map(|axis| {
            let factors = step_levels.iter().map(|level| level.factors[axis]);
            factors.map(|factor| asked.method.halo(factor)).max().unwrap_or(0)
        });
        let halo = halo.collect();
        Self { domain, levels: step_levels, chunk, halo, factors, item_bytes }
    }

    /// Elements that the cells of all levels divide evenly.
    pub(super) fn grain(&self) -> Vec<u64> {
        self.common(|level, axis| level.factors[axis])
    }

    fn common(&self, of: impl Fn(&StepLevel, usize) -> u64) -> Vec<u64> {
        let axes = self.domain.iter().enumerate().map(|(axis, &extent)| {
            let extent = extent.max(1);
            let parts = self.levels.iter().map(|level| of(level, axis).max(1));
            parts.fold(1, |common, part| lcm_capped(common, part, extent))
        });
        axes.collect()
    }

    /// Elements that no object of a level shares with its neighbours.
    pub(super) fn unit(&self, levels: usize, with_shards: bool) -> Vec<u64> {
        let some = Self { levels: self.levels[..levels].to_vec(), ..self.without_levels() };
        some.common(|level, axis| {
            let unit = level.shard.as_ref().filter(|_| with_shards).unwrap_or(&level.chunk);
            unit[axis].saturating_mul(level.factors[axis])
        })
    }

    fn without_levels(&self) -> Self {
        Self {
            domain: self.domain.clone(),
            levels: Vec::new(),
            chunk: self.chunk.clone(),
            halo: self.halo.clone(),
            factors: self.factors.clone(),
            item_bytes: self.item_bytes,
        }
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
}

/// Shape of the blocks of the last level as an array, and of one of them.
pub(super) fn blocks(
    asked: &PyramidPlanRequest<'_>,
    geometry: &Geometry,
    (pass, tile): (&PyramidPass, &[u64]),
) -> (Vec<u64>, Vec<u64>) {
    let last = pass.end - 1;
    let factors = &asked.levels[last].factors;
    let extent = asked.extent();
    let shape: Vec<u64> = extent
        .iter()
        .zip(factors)
        .map(|(&extent, &factor)| extent.div_ceil(factor.max(1)))
        .collect();
    let relative = ratio(factors, &geometry.factors);
    let block = tile.iter().zip(relative).map(|(&tile, factor)| tile.div_ceil(factor.max(1)));
    (shape, block.collect())
}

pub(super) fn bytes_of(shape: &[u64], item_bytes: u64) -> u64 {
    shape.iter().fold(item_bytes, |bytes, &extent| bytes.saturating_mul(extent))
}
