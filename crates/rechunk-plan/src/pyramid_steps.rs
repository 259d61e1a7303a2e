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
    if tile.rank() == 0 {
        return Ok(vec![tile.clone()]);
    }
    let starts = starts(tile, step, levels)?;
    Ok(starts.iter().map(|start| step_at(tile, step, start)).collect())
}

/// The step that begins at `start`.
fn step_at(tile: &Region, step: &[u64], start: &[u64]) -> Region {
    let shape = (0..start.len()).map(|axis| step[axis].min(tile.end(axis) - start[axis]));
    Region::new(start.to_vec(), shape.collect())
}

/// Lists of numbers of one length, one after the other: steps are many, and their lists short.
struct Lists {
    numbers: Vec<u64>,
    length: usize,
}

impl Lists {
    fn iter(&self) -> impl Iterator<Item = &[u64]> {
        self.numbers.chunks_exact(self.length.max(1))
    }
}

/// The starts of steps, in the order of [`pyramid_steps`].
fn starts(tile: &Region, step: &[u64], levels: &[StepLevel]) -> Result<Lists, GridError> {
    let grid = ChunkGrid::new(&tile.shape, step)?;
    let rank = tile.rank();
    let mut keys = Lists { numbers: Vec::new(), length: 0 };
    for index in grid.indices().positions() {
        let start = (0..rank).map(|axis| tile.start[axis] + index[axis] * step[axis]);
        let start: Vec<u64> = start.collect();
        let before = keys.numbers.len();
        push_key(&mut keys.numbers, &start, levels);
        keys.length = keys.numbers.len() - before;
    }
    let mut order: Vec<&[u64]> = keys.iter().collect();
    order.sort_unstable();
    let numbers = order.iter().flat_map(|key| &key[key.len() - rank..]).copied().collect();
    Ok(Lists { numbers, length: rank })
}

/// Adds the place of a step in the order of a task: the chunks that its start lies in, and `start`.
fn push_key(key: &mut Vec<u64>, start: &[u64], levels: &[StepLevel]) {
    let mut add = |level: &StepLevel, unit: &[u64]| {
        let axes = start.iter().zip(&level.factors).zip(unit);
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
    key.extend(start);
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
    let starts = starts(tile, step, levels)?;
    let mut held = Vec::with_capacity(levels.len());
    for level in levels {
        let most = |unit: &[u64]| {
            ChunkGrid::new(&level.shape, unit)
                .map(|_| most_open((tile, step, &starts), level, unit))
        };
        let chunks = most(&level.chunk)?;
        let shards = level.shard.as_deref().map(most).transpose()?.unwrap_or(0);
        held.push(Held { chunks, shards });
    }
    Ok(held)
}

/// Cells of a step along an axis, and the units of a level that they lie in.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
    /// Cells of a unit.
    unit: u64,
    /// Cells of the level.
    extent: u64,
}

impl Span {
    /// No unit is cut.
    fn is_whole(self) -> bool {
        let is_end = |at: u64| at.is_multiple_of(self.unit) || at == self.extent;
        self.start.is_multiple_of(self.unit) && is_end(self.end)
    }

    /// Units that share a cell with it: number, common cells, and cells of the unit.
    fn units(self) -> impl Iterator<Item = (u64, u64, u64)> {
        (self.start / self.unit..self.end.div_ceil(self.unit)).map(move |number| {
            let (from, to) = (number * self.unit, ((number + 1) * self.unit).min(self.extent));
            (number, self.end.min(to) - self.start.max(from), to - from)
        })
    }
}

/// Calls `each` with the number of each unit of some spans, its cells in them, and all its cells.
fn for_units(
    spans: &[Span],
    (number, common, cells): (u64, u64, u64),
    each: &mut impl FnMut(u64, u64, u64),
) {
    let Some((span, rest)) = spans.split_first() else { return each(number, common, cells) };
    let along = span.extent.div_ceil(span.unit);
    for (own, own_common, own_cells) in span.units() {
        let number = number.saturating_mul(along).saturating_add(own);
        for_units(rest, (number, common * own_common, cells * own_cells), each);
    }
}

/// Most units of a level that are begun and not complete after a step, or that a step completes
/// which others have begun.
fn most_open(
    (tile, step, starts): (&Region, &[u64], &Lists),
    level: &StepLevel,
    unit: &[u64],
) -> u64 {
    let mut left: BTreeMap<u64, u64> = BTreeMap::new();
    let mut most = 0;
    let (mut spans, mut ended) = (Vec::new(), Vec::new());
    for start in starts.iter() {
        spans.clear();
        spans.extend((0..start.len()).map(|axis| {
            let factor = level.factors[axis].max(1);
            let end = start[axis].saturating_add(step[axis]).min(tile.end(axis));
            let (unit, extent) = (unit[axis].max(1), level.shape[axis]);
            Span {
                start: start[axis] / factor,
                end: end.div_ceil(factor).min(extent),
                unit,
                extent,
            }
        }));
        let is_outside = spans.iter().any(|span| span.start >= span.end);
        if is_outside || spans.iter().all(|span| span.is_whole()) {
            continue; // none is touched, or each comes and goes with this step
        }
        for_units(&spans, (0, 1, 1), &mut |number, common, cells| {
            if common == cells {
                return;
            }
            let of_unit = left.entry(number).or_insert(cells);
            *of_unit = of_unit.saturating_sub(common);
            if *of_unit == 0 {
                ended.push(number);
            }
        });
        most = most.max(left.len());
        for number in ended.drain(..) {
            left.remove(&number);
        }
    }
    u64::try_from(most).unwrap_or(u64::MAX)
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

    /// Counts what is open chunk by chunk, element by element.
    fn counted(steps: &[Region], level: &StepLevel) -> u64 {
        let grid = ChunkGrid::new(&level.shape, &level.chunk).unwrap();
        let mut left: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        let mut most = 0;
        for step in steps {
            let cells = cells_of(step, &level.factors).intersect(&Region::whole(&level.shape));
            let mut in_step: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
            for cell in cells.iter().flat_map(Region::positions) {
                let chunk = cell.iter().zip(&level.chunk).map(|(at, chunk)| at / chunk).collect();
                *in_step.entry(chunk).or_default() += 1;
            }
            in_step.retain(|chunk, cells| *cells < grid.region(chunk).elements());
            for (chunk, cells) in in_step {
                let all = grid.region(&chunk).elements();
                *left.entry(chunk).or_insert(all) -= cells;
            }
            most = most.max(left.len());
            left.retain(|_, left| *left > 0);
        }
        most as u64
    }

    #[test]
    fn what_is_held_is_what_is_counted() {
        let mut state = 7_u64;
        let mut upto = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            1 + (state >> 33) % most
        };
        for _ in 0..300 {
            let extents: Vec<u64> = (0..upto(3)).map(|_| upto(12)).collect();
            let mut factors = vec![1; extents.len()];
            let mut levels = Vec::new();
            for _ in 0..upto(3) {
                for factor in &mut factors {
                    *factor *= upto(3);
                }
                let shape = extents.iter().zip(&factors);
                let ceil = upto(2) == 1;
                let shape: Vec<u64> = shape
                    .map(|(n, f)| if ceil { n.div_ceil(*f) } else { (n / f).max(1) })
                    .collect();
                let chunk = shape.iter().map(|&extent| upto(extent)).collect();
                let factors = factors.clone();
                levels.push(StepLevel { factors, chunk, shard: None, shape, item_bytes: 1 });
            }
            // Whole cells of all levels.
            let step: Vec<u64> = factors.iter().map(|factor| factor * upto(3)).collect();
            let tile = Region::whole(&extents);
            let steps = pyramid_steps(&tile, &step, &levels).unwrap();
            assert_eq!(steps.iter().map(Region::elements).sum::<u64>(), tile.elements());
            let held = held_of(&tile, &step, &levels).unwrap();
            for (level, held) in levels.iter().zip(held) {
                assert_eq!(held.chunks, counted(&steps, level), "{tile:?} {step:?} {level:?}");
            }
        }
    }

    #[test]
    fn what_is_cut_by_the_end_is_complete_all_the_same() {
        let levels = [level(2, 4, 5), level(4, 4, 3)];
        let held = held_of(&Region::whole(&[10, 10]), &[4, 4], &levels).unwrap();
        assert_eq!(held.iter().map(|held| held.chunks).collect::<Vec<_>>(), [1, 1]);
    }
}
