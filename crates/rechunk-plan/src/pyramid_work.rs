//! Pyramid of a plan: its levels, and the passes that write them.

use std::fmt;
use std::ops::Range;

use rechunk_grid::Region;
use rechunk_reduce::{Method, Rounding};
use serde::{Deserialize, Serialize};

use crate::ArrayId;

/// Rule for cells of which some elements lie in chunks that are not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingCells {
    /// Such elements count as the fill value.
    #[default]
    Fill,
    /// Only elements that are stored count.
    Skip,
}

/// Array from which a level is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelsFrom {
    /// The source: a value is rounded once, however coarse the level is.
    #[default]
    S0,
    /// The level before, as it is written.
    Previous,
}

/// A level of a pyramid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PyramidLevel {
    /// Its array. Where axes of the image are split off, that of all of them together.
    pub array: ArrayId,
    /// Source elements of a cell along each axis.
    pub factors: Vec<u64>,
    /// Shape, elements.
    pub shape: Vec<u64>,
}

/// Array that a pass reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassInput {
    /// The source.
    Source,
    /// Blocks that the pass before has left: of this level, results that were not rounded.
    Blocks(usize),
    /// A level that an earlier pass has written.
    Level(usize),
}

/// A pass over the data: a stage of the plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PyramidPass {
    /// Array that it reads.
    pub input: PassInput,
    /// First level that it writes.
    pub first: usize,
    /// Level behind the last one that it writes.
    pub end: usize,
    /// It leaves blocks of its last level for the next pass.
    pub leaves_blocks: bool,
    /// Steps of a task that are read, computed and written at once.
    pub steps_at_once: u32,
}

/// Pyramid: data of a plan beside tiles and steps, which are those of its stages in elements of
/// their input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PyramidWork {
    /// Rule by which elements become fewer.
    pub method: Method,
    /// Rule by which means become integers.
    pub rounding: Rounding,
    /// Array from which a level is computed.
    pub from: LevelsFrom,
    /// Rule for chunks that are not stored.
    pub missing: MissingCells,
    /// Elements of the source that count along each axis, from its start.
    pub extent: Vec<u64>,
    /// The levels, finest first.
    pub levels: Vec<PyramidLevel>,
    /// The passes, one for each stage.
    pub passes: Vec<PyramidPass>,
    /// Bytes of chunks that a task has on their way at once, stored and decoded.
    pub transfer_bytes: u64,
}

impl MissingCells {
    /// Every rule.
    pub const ALL: [Self; 2] = [Self::Fill, Self::Skip];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::Skip => "skip",
        }
    }

    /// The rule of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.name() == name)
    }
}

impl LevelsFrom {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::S0, Self::Previous];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::S0 => "s0",
            Self::Previous => "previous",
        }
    }

    /// The choice of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|from| from.name() == name)
    }
}

impl fmt::Display for MissingCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for LevelsFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Finer level from whose results a level follows exactly: the coarsest whose cells make up its
/// own. `None`: the elements of the source. Whatever the plan, so that sums of floats are the same
/// bits.
pub fn parent_level(
    levels: &[PyramidLevel],
    level: usize,
    (method, from): (Method, LevelsFrom),
) -> Option<usize> {
    if from == LevelsFrom::Previous {
        return level.checked_sub(1);
    }
    if !method.is_summed() && !method.is_chained() {
        return None;
    }
    let own = &levels[level].factors;
    (0..level).rev().find(|&finer| {
        let finer = &levels[finer].factors;
        let divides = finer.iter().zip(own).all(|(&finer, &own)| own.is_multiple_of(finer.max(1)));
        divides && finer.iter().any(|&factor| factor > 1)
    })
}

impl PyramidWork {
    /// Finer level from whose results level `level` follows ([`parent_level`]).
    pub fn parent(&self, level: usize) -> Option<usize> {
        parent_level(&self.levels, level, (self.method, self.from))
    }

    /// Source elements of an element of the array that pass `pass` reads, along each axis.
    pub fn input_factors(&self, pass: usize) -> Vec<u64> {
        self.factors_of(self.passes[pass].input)
    }

    /// Source elements of an element of `input` along each axis.
    pub fn factors_of(&self, input: PassInput) -> Vec<u64> {
        match input {
            PassInput::Source => vec![1; self.extent.len()],
            PassInput::Blocks(level) | PassInput::Level(level) => {
                self.levels[level].factors.clone()
            }
        }
    }

    /// Elements of its input that a cell of level `level` has in pass `pass`, along each axis.
    pub fn relative(&self, pass: usize, level: usize) -> Vec<u64> {
        ratio(&self.levels[level].factors, &self.input_factors(pass))
    }

    /// Shape of level `level` with all cells that the source has elements of, also those that its
    /// array leaves out.
    pub fn cells(&self, level: usize) -> Vec<u64> {
        let axes = self.extent.iter().zip(&self.levels[level].factors);
        axes.map(|(&extent, &factor)| extent.div_ceil(factor.max(1))).collect()
    }

    /// Number of elements of each cell `start..start + count` of level `level` along `axis`, among
    /// those from which it is computed.
    pub fn counts(&self, level: usize, axis: usize, start: u64, count: u64) -> Vec<u64> {
        let (extent, factor) = match (self.from, self.parent(level)) {
            (LevelsFrom::Previous, Some(parent)) => {
                let parent = &self.levels[parent];
                let factor = self.levels[level].factors[axis] / parent.factors[axis].max(1);
                (parent.shape[axis], factor)
            }
            _ => (self.extent[axis], self.levels[level].factors[axis]),
        };
        let of = |cell: u64| extent.saturating_sub(cell.saturating_mul(factor)).min(factor);
        (start..start.saturating_add(count)).map(of).collect()
    }

    /// Elements beyond a step that pass `pass` reads, before and behind it along each axis.
    pub fn halo(&self, pass: usize) -> Vec<u64> {
        self.halo_of(&self.passes[pass])
    }

    /// Elements beyond a step that `pass` reads, before and behind it along each axis. It need not
    /// be one of [`PyramidWork::passes`].
    pub fn halo_of(&self, pass: &PyramidPass) -> Vec<u64> {
        let factors = self.factors_of(pass.input);
        let mut halo = vec![0; self.extent.len()];
        for level in &self.levels[pass.first..pass.end] {
            for (halo, factor) in halo.iter_mut().zip(ratio(&level.factors, &factors)) {
                *halo = (*halo).max(self.method.halo(factor));
            }
        }
        halo
    }

    /// Tells if each of `levels` follows from results of level `finer`, or of a level between them.
    /// Its cells are then made of whole cells of `finer`.
    pub fn levels_follow(&self, levels: Range<usize>, finer: usize) -> bool {
        let of_finer = &self.levels[finer].factors;
        levels.into_iter().all(|level| {
            let axes = self.levels[level].factors.iter().zip(of_finer);
            self.parent(level).is_some_and(|parent| parent >= finer)
                && axes.into_iter().all(|(own, finer)| own.is_multiple_of((*finer).max(1)))
        })
    }
}

/// Quotients of factors along each axis.
pub fn ratio(factors: &[u64], of: &[u64]) -> Vec<u64> {
    factors.iter().zip(of).map(|(&factor, &of)| factor / of.max(1)).collect()
}

/// The cells of `factors` elements that a box of elements meets; it starts where one does.
pub fn cells_of(elements: &Region, factors: &[u64]) -> Region {
    let axes = (0..elements.rank()).map(|axis| {
        let factor = factors[axis].max(1);
        let start = elements.start[axis] / factor;
        (start, elements.end(axis).div_ceil(factor) - start)
    });
    let (start, shape) = axes.unzip();
    Region::new(start, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(
        factors: &[&[u64]],
        shapes: &[&[u64]],
        extent: &[u64],
        from: LevelsFrom,
    ) -> PyramidWork {
        let levels = factors.iter().zip(shapes).map(|(factors, shape)| PyramidLevel {
            array: ArrayId(0),
            factors: factors.to_vec(),
            shape: shape.to_vec(),
        });
        PyramidWork {
            method: Method::Mean,
            rounding: Rounding::HalfAway,
            from,
            missing: MissingCells::Fill,
            extent: extent.to_vec(),
            levels: levels.collect(),
            passes: Vec::new(),
            transfer_bytes: 1,
        }
    }

    #[test]
    fn a_level_follows_from_the_coarsest_whose_cells_make_up_its_own() {
        let levels: [&[u64]; 4] = [&[1, 1], &[1, 2], &[2, 3], &[2, 6]];
        let shapes: [&[u64]; 4] = [&[7, 9], &[7, 5], &[4, 3], &[4, 2]];
        let work = work(&levels, &shapes, &[7, 9], LevelsFrom::S0);
        let parents: Vec<_> = (0..4).map(|level| work.parent(level)).collect();
        assert_eq!(parents, [None, None, None, Some(2)]);
        assert_eq!(work.counts(3, 1, 0, 2), [6, 3]);
        assert_eq!(work.cells(2), [4, 3]);
        let mode = PyramidWork { method: Method::Mode, ..work.clone() };
        assert_eq!(mode.parent(3), None);
        let previous = PyramidWork { from: LevelsFrom::Previous, ..work };
        assert_eq!(previous.parent(1), Some(0));
        assert_eq!(previous.counts(3, 1, 0, 2), [2, 1], "of the 3 of the level before");
    }

    #[test]
    fn cells_of_a_box_are_those_that_it_meets() {
        let found = cells_of(&Region::new(vec![4, 6], vec![3, 1]), &[2, 3]);
        assert_eq!(found, Region::new(vec![2, 2], vec![2, 1]));
    }
}
