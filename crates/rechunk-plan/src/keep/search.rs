//! The search for the schedule with the fewest seeks that fits the memory.
//!
//! Lengths of a buffer are taken from a list per axis ([`super::lengths`]), every set of kept axes
//! is tried, and one axis at a time is also filled with what memory is left. Seeks are closed forms
//! and come first; memory is looked at only where they would be an improvement. What the bound of
//! memory refuses closely is looked at again exactly.

use super::baseline::{Baseline, common};
use super::best::{Best, Found};
use super::length::{Length, set_of_all};
use super::lengths::{lengths, whole_lengths};
use super::walk::{SUBSET_AXES_MAX, Walk};
use super::{KeepError, Model, Problem};

/// The schedule with the fewest seeks that was found; of several, the one that holds least.
pub fn search(problem: &Problem) -> Result<Found, KeepError> {
    let model = Model::new(problem)?;
    Ok(model.search())
}

/// Lengths per axis, at most.
const LENGTHS_MAX: usize = 48;
/// Buffers with a set of kept axes that are looked at, about.
const CANDIDATES_MAX: usize = 900_000;
/// Buffers of whole source files that are looked at, about.
const FILES_MAX: usize = 120_000;
/// Buffers with one axis left to be filled, which costs more.
const FILLED_MAX: usize = 60_000;

impl Model {
    /// See [`search`].
    pub fn search(&self) -> Found {
        let mut best = Best::new(self);
        if self.shape.contains(&0) || self.shape.is_empty() {
            return best.found();
        }
        best.try_known();
        if best.reach_files() {
            return best.found();
        }
        let axes = self.tables(CANDIDATES_MAX, 0);
        Walk::new(&mut best, &axes).every_buffer();
        best.fill_an_axis();
        best.improve();
        best.look_exactly();
        best.found()
    }

    /// Computes all lengths of every axis, or as few as can be looked at. That is about
    /// `candidates_max` buffers with a set of kept axes, if `filled` axes have one length.
    fn tables(&self, candidates_max: usize, filled: usize) -> Vec<Vec<Length>> {
        let mut most = LENGTHS_MAX;
        loop {
            let axes: Vec<Vec<u64>> =
                (0..self.rank()).map(|axis| lengths(self, axis, most)).collect();
            let sets = 1_usize << self.rank().min(SUBSET_AXES_MAX);
            let ways = if filled > 0 { self.rank() } else { 1 };
            let mut counts: Vec<usize> = axes.iter().map(Vec::len).collect();
            counts.sort_unstable();
            let buffers = counts[filled..].iter().fold(sets * ways, |n, &m| n.saturating_mul(m));
            if buffers <= candidates_max || most <= 2 {
                let of = |(axis, list): (usize, Vec<u64>)| {
                    list.into_iter().map(|length| Length::new(self, axis, length)).collect()
                };
                return axes.into_iter().enumerate().map(of).collect();
            }
            most -= most / 8 + 1;
        }
    }
}

impl Best<'_> {
    /// The baselines, with and without keeping.
    fn try_known(&mut self) {
        let all = set_of_all(self.model.rank());
        for baseline in
            [Baseline::Naive, Baseline::Clustered, Baseline::Multiple, Baseline::KeepDraft]
        {
            let Some(schedule) = baseline.schedule(self.model) else { continue };
            let kept = (schedule.kept.iter().enumerate())
                .fold(0, |set, (axis, &kept)| set | u64::from(kept) << axis);
            for kept in [kept, all, 0] {
                self.take_lengths(&schedule.buffer, kept);
            }
        }
    }

    /// Tries to read every file at once and write it at once. Returns whether that is possible, and
    /// if so takes the least memory: buffers of whole source files, all axes kept.
    fn reach_files(&mut self) -> bool {
        let rank = self.model.rank();
        let mut most = LENGTHS_MAX;
        while most > 2 && most.saturating_pow(u32::try_from(rank).unwrap_or(u32::MAX)) > FILES_MAX {
            most -= most / 8 + 1;
        }
        let whole: Vec<Vec<Length>> = (0..rank)
            .map(|axis| {
                let list = whole_lengths(self.model, axis, most).into_iter();
                list.map(|length| Length::new(self.model, axis, length)).collect()
            })
            .collect();
        Walk::new(self, &whole).only_all().every_buffer();
        self.columns(set_of_all(rank));
        self.seeks == self.files
    }

    /// Columns of common ends that are streamed along one axis carry nothing on the others.
    fn columns(&mut self, all: u64) {
        let common = common(self.model);
        for axis in 0..common.len() {
            let mut buffer = common.clone();
            buffer[axis] = self.model.source.block[axis];
            self.take_lengths(&buffer, all);
        }
    }

    /// Fills one axis with the memory that the others leave.
    fn fill_an_axis(&mut self) {
        let axes = self.model.tables(FILLED_MAX, 1);
        for axis in 0..axes.len() {
            let mut others = axes.clone();
            others[axis] = vec![Length::new(self.model, axis, 1)];
            Walk::new(self, &others).filling(axis).every_buffer();
        }
    }

    /// Looks at all lengths of one axis at a time, as long as that helps.
    fn improve(&mut self) {
        const ROUNDS: usize = 4;
        const LENGTHS: usize = 20_000;
        let rank = self.model.rank();
        let most = (LENGTHS / rank.pow(3)).clamp(8, 256);
        let tables: Vec<Vec<u64>> = (0..rank).map(|axis| lengths(self.model, axis, most)).collect();
        for _ in 0..ROUNDS {
            let before = (self.seeks, self.elements);
            for axis in 0..rank {
                for &length in &tables[axis] {
                    let mut buffer = self.buffer.clone();
                    buffer[axis] = length;
                    for other in 0..=rank {
                        let kept = if other == rank { self.kept } else { self.kept ^ (1 << other) };
                        self.take_lengths(&buffer, kept);
                    }
                }
            }
            if before == (self.seeks, self.elements) {
                break;
            }
        }
    }
}
