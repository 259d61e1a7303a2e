//! Steps of a task of a pyramid: boxes of its input in an order in which few chunks are filled at
//! the same time.

use std::collections::BTreeMap;

use rechunk_grid::{ChunkGrid, GridError, Region};

use crate::Plan;
use crate::count::product;
use crate::pyramid_work::cells_of;

/// Most steps of a task that are looked at one by one.
const STEPS_MAX: u64 = 1 << 12;

/// A level as the steps of a pass see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepLevel {
    /// Elements of the input of a cell, along each axis.
    pub factors: Vec<u64>,
    /// Shape of a chunk, elements of the level.
    pub chunk: Vec<u64>,
    /// Shape of a shard, where chunks lie in shards.
    pub shard: Option<Vec<u64>>,
    /// Shape of the level, elements.
    pub shape: Vec<u64>,
    /// Bytes of an element.
    pub item_bytes: u64,
}

impl Plan {
    /// Levels that stage `stage` of a pyramid writes, as its steps see them.
    pub fn step_levels(&self, stage: usize) -> Vec<StepLevel> {
        let Some(work) = &self.pyramid else { return Vec::new() };
        let Some(pass) = work.passes.get(stage) else { return Vec::new() };
        let level = |number: usize| {
            let array = self.array(work.levels[number].array);
            StepLevel {
                factors: work.relative(stage, number),
                chunk: array.chunk.clone(),
                shard: array.shard.clone(),
                shape: array.shape.clone(),
                item_bytes: array.item_bytes,
            }
        };
        (pass.first..pass.end.min(work.levels.len())).map(level).collect()
    }
}

/// Most that a task holds of a level at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Chunks that are not complete.
    pub chunks: u64,
    /// Shards that are not complete.
    pub shards: u64,
}

/// The steps of a task that owns `tile` of its input: boxes of `step` that cover it. Those of one
/// chunk or shard of a level follow each other, coarser levels before finer ones.
pub fn pyramid_steps(
    tile: &Region,
    step: &[u64],
    levels: &[StepLevel],
) -> Result<Vec<Region>, GridError> {
    let grid = ChunkGrid::new(&tile.shape, step)?;
    let boxes = grid.indices().positions().map(|index| {
        let mut found = grid.region(&index);
        for (start, from) in found.start.iter_mut().zip(&tile.start) {
            *start += from;
        }
        found
    });
    let mut steps: Vec<Region> = boxes.collect();
    steps.sort_by_cached_key(|found| key(found, levels));
    Ok(steps)
}

/// Place of a step in the order of a task: the chunks that its start lies in.
fn key(step: &Region, levels: &[StepLevel]) -> Vec<u64> {
    let mut key = Vec::new();
    let mut add = |level: &StepLevel, unit: &[u64]| {
        let axes = step.start.iter().zip(&level.factors).zip(unit);
        key.extend(axes.map(|((start, factor), unit)| start / factor.saturating_mul(*unit).max(1)));
    };
    for level in levels.iter().rev() {
        if let Some(shard) = &level.shard {
            add(level, shard);
        }
    }
    for level in levels.iter().rev() {
        add(level, &level.chunk);
    }
    key.extend(&step.start);
    key
}

/// The most that a task holds of each level while it takes its steps; of one with very many steps,
/// a bound.
pub fn held_of(tile: &Region, step: &[u64], levels: &[StepLevel]) -> Result<Vec<Held>, GridError> {
    let count =
        product(tile.shape.iter().zip(step).map(|(&tile, &step)| tile.div_ceil(step.max(1))));
    if count > STEPS_MAX {
        let all = |level: &StepLevel, unit: &[u64]| {
            let cells = cells_of(tile, &level.factors);
            product(
                cells.shape.iter().zip(unit).map(|(&cells, &unit)| cells.div_ceil(unit.max(1)) + 1),
            )
        };
        let bound = |level: &StepLevel| Held {
            chunks: all(level, &level.chunk),
            shards: level.shard.as_ref().map_or(0, |shard| all(level, shard)),
        };
        return Ok(levels.iter().map(bound).collect());
    }
    let steps = pyramid_steps(tile, step, levels)?;
    let mut held = Vec::with_capacity(levels.len());
    for level in levels {
        let chunks = most_open(&steps, level, &level.chunk)?;
        let shards = match &level.shard {
            Some(shard) => most_open(&steps, level, shard)?,
            None => 0,
        };
        held.push(Held { chunks, shards });
    }
    Ok(held)
}

/// Most units of a level that are begun and not complete after a step, or that a step completes
/// which others have begun.
fn most_open(steps: &[Region], level: &StepLevel, unit: &[u64]) -> Result<u64, GridError> {
    let grid = ChunkGrid::new(&level.shape, unit)?;
    let mut left: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
    let mut most = 0;
    for step in steps {
        let cells = cells_of(step, &level.factors);
        let Some(cells) = cells.intersect(&Region::whole(&level.shape)) else { continue };
        let mut ended = Vec::new();
        for index in grid.covering(&cells).positions() {
            let region = grid.region(&index);
            let Some(common) = region.intersect(&cells) else { continue };
            if common == region {
                continue; // it comes and goes with this step
            }
            let of_unit = left.entry(index.clone()).or_insert_with(|| region.elements());
            *of_unit = of_unit.saturating_sub(common.elements());
            if *of_unit == 0 {
                ended.push(index);
            }
        }
        most = most.max(left.len());
        for index in ended {
            left.remove(&index);
        }
    }
    Ok(u64::try_from(most).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(factor: u64, chunk: u64, shape: u64) -> StepLevel {
        StepLevel {
            factors: vec![factor; 2],
            chunk: vec![chunk; 2],
            shard: None,
            shape: vec![shape; 2],
            item_bytes: 1,
        }
    }

    #[test]
    fn chunks_of_coarser_levels_are_filled_one_after_the_other() {
        let levels = [level(2, 4, 32), level(4, 4, 16), level(8, 4, 8)];
        let tile = Region::whole(&[64, 64]);
        let held = held_of(&tile, &[8, 8], &levels).unwrap();
        let chunks: Vec<u64> = held.iter().map(|held| held.chunks).collect();
        assert_eq!(chunks, [0, 1, 1]);
        let steps = pyramid_steps(&tile, &[8, 8], &levels).unwrap();
        assert_eq!(steps.len(), 64);
        let mut starts: Vec<_> = steps.iter().map(|step| step.start.clone()).collect();
        starts.sort();
        starts.dedup();
        assert_eq!(starts.len(), 64);
        // Row by row, a row of chunks is open.
        let held = held_of(&tile, &[8, 64], &levels).unwrap();
        assert_eq!(held[2].chunks, 2);
    }

    #[test]
    fn what_is_cut_by_the_end_is_complete_all_the_same() {
        let levels = [level(2, 4, 5), level(4, 4, 3)];
        let held = held_of(&Region::whole(&[10, 10]), &[4, 4], &levels).unwrap();
        assert_eq!(held.iter().map(|held| held.chunks).collect::<Vec<_>>(), [1, 1]);
    }
}
