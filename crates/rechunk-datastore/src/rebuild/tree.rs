//! Levels of a data set, and those that each is made of.

use rechunk_plan::{ArrayId, LevelsFrom, PyramidLevel, parent_level};
use rechunk_reduce::Method;

use crate::{Dataset, DatastoreError};

/// The levels of a data set, as a pyramid of them.
#[derive(Debug)]
pub(super) struct Tree {
    /// Numbers of levels beside the finest, finer ones first.
    coarse: Vec<usize>,
    levels: Vec<PyramidLevel>,
    /// Rule by which elements become fewer, as a pyramid takes it where nothing is said.
    pub method: Method,
}

impl Tree {
    /// Refuses data sets without a finest level of factors 1.
    pub(super) fn of(dataset: &Dataset) -> Result<Self, DatastoreError> {
        dataset.level_at([1; 3])?;
        let all = &dataset.resolution_levels;
        let mut coarse: Vec<usize> =
            (0..all.len()).filter(|&number| all[number].resolutions != [1; 3]).collect();
        coarse.sort_by_key(|&number| (all[number].volume(), all[number].resolutions));
        let levels = coarse.iter().map(|&number| {
            let (mut factors, mut shape) =
                (all[number].resolutions, all[number].dimensions(dataset.dimensions));
            factors.reverse();
            shape.reverse();
            PyramidLevel {
                array: ArrayId(number),
                factors: factors.to_vec(),
                shape: shape.to_vec(),
            }
        });
        let levels = levels.collect();
        let method = Method::usual(dataset.data_type()?);
        Ok(Self { coarse, levels, method })
    }

    /// Numbers of the levels beside the finest, finer ones first.
    pub(super) fn coarse(&self) -> impl Iterator<Item = usize> {
        self.coarse.iter().copied()
    }

    /// Factors of a level and of the levels that its sums are added from, coarsest first; in C
    /// order.
    pub(super) fn chain(&self, number: usize) -> Vec<Vec<u64>> {
        let mut at = self.coarse.iter().position(|&coarse| coarse == number);
        let mut chain = Vec::new();
        while let Some(level) = at {
            chain.push(self.levels[level].factors.clone());
            at = parent_level(&self.levels, level, (self.method, LevelsFrom::S0));
        }
        chain
    }
}
