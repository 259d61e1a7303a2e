//! The best schedule so far, and how another is compared with it.

use super::axis::carry_max;
use super::counts::runs;
use super::exact::EXACT_BUFFERS_MAX;
use super::length::{Buffer, Length, is_kept};
use super::order::Placed;
use super::{Counts, Model, Schedule};
use crate::count::{cells, product};

/// Schedules that are looked at exactly, at most.
const EXACT_MAX: usize = 256;
/// Factor by which the bound of a schedule may exceed the memory if it is looked at exactly.
const EXACT_FACTOR: u64 = 4;

/// A schedule, its counts and its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The schedule.
    pub schedule: Schedule,
    /// Opens and runs of both sides.
    pub counts: Counts,
    /// Most bytes that it holds.
    pub memory_bytes: u64,
    /// That number is exact; else it is the bound.
    pub memory_is_exact: bool,
}

/// The best schedule so far, and those that may be better.
#[derive(Debug)]
pub(super) struct Best<'a> {
    pub model: &'a Model,
    pub files: u64,
    pub source_files: u64,
    /// Opens and runs if every target file is written at once.
    least_written: u64,
    pub seeks: u64,
    pub elements: u64,
    is_exact: bool,
    pub buffer: Vec<u64>,
    pub kept: u64,
    /// Fewer seeks, but the bound of memory refuses: seeks, bound, buffer, kept.
    refused: Vec<(u64, u64, Vec<u64>, u64)>,
    placed: Vec<Placed>,
    stored: Vec<usize>,
}

impl<'a> Best<'a> {
    /// Starts with the one that always works: a part of a row, written through.
    pub(super) fn new(model: &'a Model) -> Self {
        let mut buffer = vec![1; model.rank()];
        if let Some(&fastest) = model.source.order.last() {
            buffer[fastest] = model.shape[fastest].clamp(1, model.memory_elements);
        }
        let mut stored = vec![0; model.rank()];
        for (place, &axis) in model.source.order.iter().enumerate() {
            stored[axis] = place;
        }
        let mut best = Self {
            model,
            files: model.files(),
            source_files: cells(&model.shape, &model.source.block),
            least_written: cells(&model.shape, &model.target.block).saturating_mul(2),
            seeks: u64::MAX,
            elements: u64::MAX,
            is_exact: false,
            buffer: buffer.clone(),
            kept: 0,
            refused: Vec::new(),
            placed: Vec::with_capacity(model.rank()),
            stored,
        };
        best.take_lengths(&buffer, 0);
        best
    }

    pub(super) fn found(&self) -> Found {
        let kept: Vec<bool> = (0..self.model.rank())
            .map(|axis| is_kept(self.kept, axis) && self.carry(axis, self.buffer[axis]) > 0)
            .collect();
        let schedule = self.model.schedule(&self.buffer, &kept);
        let elements =
            if self.is_exact { self.elements } else { self.model.memory_bound(&schedule) };
        Found {
            counts: self.model.counts(&schedule),
            memory_bytes: self.model.bytes(elements),
            memory_is_exact: self.is_exact,
            schedule,
        }
    }

    fn carry(&self, axis: usize, length: u64) -> u64 {
        carry_max(self.model.shape[axis], length, self.model.target.block[axis])
    }

    /// Seeks of a schedule with `read_seeks` (see [`Best::read_seeks`]), at least.
    pub(super) fn seeks_with(&self, read_seeks: u64) -> u64 {
        read_seeks.saturating_add(self.least_written).saturating_sub(self.files)
    }

    /// Opens and runs of the source.
    pub(super) fn read_seeks(&self, lengths: &[Length]) -> u64 {
        let opens = product(lengths.iter().map(|length| length.read.all));
        let source = &self.model.source;
        opens.saturating_add(runs(source, |axis| lengths[axis].read))
    }

    /// Opens and runs of the target.
    pub(super) fn write_seeks(&self, (lengths, kept): Buffer<'_>) -> u64 {
        let pieces = |axis: usize| {
            if is_kept(kept, axis) { lengths[axis].uncut } else { lengths[axis].cut }
        };
        let opens = product((0..lengths.len()).map(|axis| pieces(axis).all));
        let target = &self.model.target;
        opens.saturating_add(runs(target, pieces))
    }

    /// The bound of memory in its best order, elements.
    pub(super) fn bound(&mut self, (lengths, kept): Buffer<'_>) -> u64 {
        let Self { model, placed, stored, .. } = self;
        placed.clear();
        placed.extend(lengths.iter().map(|length| Placed {
            axis: length.axis,
            stored: stored[length.axis],
            extent: model.shape[length.axis],
            buffer: length.extent,
            carry: if is_kept(kept, length.axis) { length.carry } else { 0 },
        }));
        placed.sort_unstable_by(Placed::slower_first);
        let (mut held, mut faster) = (1_u64, 1_u64);
        for place in placed.iter().rev() {
            held = held.saturating_mul(place.buffer).saturating_add(place.carry * faster);
            faster *= place.extent;
        }
        held
    }

    pub(super) fn take_lengths(&mut self, buffer: &[u64], kept: u64) {
        let lengths: Vec<Length> = (buffer.iter().enumerate())
            .map(|(axis, &length)| Length::new(self.model, axis, length))
            .collect();
        let read = self.read_seeks(&lengths);
        self.take((&lengths, kept), read);
    }

    /// Takes a schedule if it is better; `read_seeks` are those of [`Best::read_seeks`].
    pub(super) fn take(&mut self, buffer: Buffer<'_>, read_seeks: u64) {
        let seeks = read_seeks.saturating_add(self.write_seeks(buffer)).saturating_sub(self.files);
        if seeks > self.seeks {
            return;
        }
        let elements = self.bound(buffer);
        let lengths = || buffer.0.iter().map(|length| length.extent);
        if elements <= self.model.memory_elements {
            let volume = || product(self.buffer.iter().copied());
            let is_better = (seeks, elements) < (self.seeks, self.elements)
                || (seeks, elements) == (self.seeks, self.elements)
                    && product(lengths()) > volume();
            if is_better {
                (self.seeks, self.elements, self.kept) = (seeks, elements, buffer.1);
                self.buffer.clear();
                self.buffer.extend(lengths());
            }
            return;
        }
        let limit = self.model.memory_elements.saturating_mul(EXACT_FACTOR);
        if seeks < self.seeks
            && elements <= limit
            && cells(&self.model.shape, &lengths().collect::<Vec<_>>()) <= EXACT_BUFFERS_MAX
        {
            self.refuse(seeks, elements, lengths().collect(), buffer.1);
        }
    }

    /// Keeps a schedule whose exact memory may fit.
    fn refuse(&mut self, seeks: u64, bound: u64, buffer: Vec<u64>, kept: u64) {
        const REFUSED_MAX: usize = 16 * EXACT_MAX;
        let schedule = self.model.schedule(&buffer, &self.kept_axes(kept));
        if self.model.memory_at_most_carried(&schedule) > self.model.memory_elements {
            return;
        }
        self.refused.push((seeks, bound, buffer, kept));
        if self.refused.len() >= REFUSED_MAX {
            self.refused.sort();
            self.refused.dedup();
            self.refused.truncate(REFUSED_MAX / 2);
        }
    }

    fn kept_axes(&self, kept: u64) -> Vec<bool> {
        (0..self.model.rank()).map(|axis| is_kept(kept, axis)).collect()
    }

    /// Takes the first of the refused that fits after all.
    pub(super) fn look_exactly(&mut self) {
        let mut refused = std::mem::take(&mut self.refused);
        refused.sort();
        refused.dedup();
        for (seeks, _, buffer, kept) in refused.into_iter().take(EXACT_MAX) {
            if seeks >= self.seeks {
                break;
            }
            let schedule = self.model.schedule(&buffer, &self.kept_axes(kept));
            let exact = self.model.memory_exact(&schedule, EXACT_BUFFERS_MAX);
            if let Some(elements) = exact.filter(|&exact| exact <= self.model.memory_elements) {
                (self.seeks, self.elements, self.is_exact) = (seeks, elements, true);
                (self.buffer, self.kept) = (buffer, kept);
            }
        }
    }
}
