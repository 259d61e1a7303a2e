//! A walk through buffers of given lengths.

use super::best::Best;
use super::length::{Length, set_of_all};

/// Lengths one walk looks at, at most: with dozens of axes even two of each are too many.
const STEPS_MAX: u64 = 1_000_000;
/// Axes beyond which sets of kept axes are not listed.
pub(super) const SUBSET_AXES_MAX: usize = 6;

/// A walk through all buffers of given lengths.
#[derive(Debug)]
pub(super) struct Walk<'b, 'a> {
    best: &'b mut Best<'a>,
    axes: &'b [Vec<Length>],
    lengths: Vec<Length>,
    /// All axes are kept, nothing else is tried.
    only_all: bool,
    /// This axis is filled with the memory that is left.
    filled: Option<usize>,
    /// Lengths that may still be looked at.
    left: u64,
}

impl<'b, 'a> Walk<'b, 'a> {
    pub(super) fn new(best: &'b mut Best<'a>, axes: &'b [Vec<Length>]) -> Self {
        let lengths = Vec::with_capacity(axes.len());
        // Each look takes longer, and every axis is filled.
        let beyond = axes.len().saturating_sub(SUBSET_AXES_MAX).max(1) as u64;
        let left = STEPS_MAX / (beyond * beyond);
        Self { best, axes, lengths, only_all: false, filled: None, left }
    }

    /// Tries no schedule but those that keep all axes.
    pub(super) fn only_all(self) -> Self {
        Self { only_all: true, ..self }
    }

    /// Fills `axis` with the memory that is left, whatever its lengths are.
    pub(super) fn filling(self, axis: usize) -> Self {
        Self { filled: Some(axis), ..self }
    }

    /// Shows all of them to the best so far.
    pub(super) fn every_buffer(&mut self) {
        self.from(1, self.best.source_files);
    }

    /// All lengths of the axes that have none yet. The others make a buffer of `volume` elements;
    /// if no other axis cuts a file, `opens` of the source are left.
    fn from(&mut self, volume: u64, opens: u64) {
        let Some(lengths) = self.axes.get(self.lengths.len()) else {
            return self.take();
        };
        for length in lengths {
            let Some(left) = self.left.checked_sub(1) else { return };
            self.left = left;
            let volume = volume.saturating_mul(length.extent);
            if volume > self.best.model.memory_elements {
                break; // lengths ascend
            }
            // Every open has a run; what is filled has its length still to come.
            let opens = match self.filled {
                Some(axis) if axis == length.axis => opens,
                _ => opens / length.files * length.read.all,
            };
            if self.best.seeks_with(opens.saturating_mul(2)) > self.best.seeks {
                continue;
            }
            self.lengths.push(*length);
            self.from(volume, opens);
            self.lengths.pop();
        }
    }

    fn take(&mut self) {
        if let Some(axis) = self.filled {
            return self.fill(axis);
        }
        let read = self.best.read_seeks(&self.lengths);
        if self.best.seeks_with(read) > self.best.seeks {
            return;
        }
        for kept in self.sets() {
            self.best.take((&self.lengths, kept), read);
        }
    }

    /// The sets of kept axes to try: of those that carry something, all subsets.
    fn sets(&self) -> Sets {
        let all = set_of_all(self.lengths.len());
        let carrying = self.lengths.iter().filter(|length| length.carry > 0);
        let carrying = carrying.fold(0_u64, |set, length| set | 1 << length.axis);
        let is_many = carrying.count_ones() as usize > SUBSET_AXES_MAX;
        let which = match (self.only_all, is_many) {
            (true, _) => Which::All,
            (false, true) => Which::AllAndNone,
            (false, false) => Which::Subsets,
        };
        Sets { next: Some(carrying), carrying, always: all & !carrying, which }
    }

    /// Tries the largest lengths of `axis` that fit what the others leave.
    fn fill(&mut self, axis: usize) {
        let model = self.best.model;
        let others = self.lengths.clone();
        let (extent, memory) = (model.shape[axis], model.memory_elements);
        let (source, target) = (model.source.block[axis], model.target.block[axis]);
        for kept in self.sets() {
            // With nothing carried on this axis, it stands outside: memory grows in proportion.
            let mut lengths = others.clone();
            lengths[axis].carry = 0;
            let one = self.best.bound((&lengths, kept));
            let most = (memory / one.max(1)).min(extent);
            if most == 0 {
                continue;
            }
            let even = extent.div_ceil(extent.div_ceil(most));
            for length in [most, even, most / source * source, most / target * target] {
                if length == 0 {
                    continue;
                }
                lengths[axis] = Length::new(model, axis, length);
                let read = self.best.read_seeks(&lengths);
                if self.best.seeks_with(read) > self.best.seeks {
                    continue;
                }
                self.best.take((&lengths, kept & !(1 << axis)), read);
                self.best.take((&lengths, kept | 1 << axis), read);
            }
        }
    }
}

/// Which sets of kept axes are tried.
#[derive(Debug, Clone, Copy)]
enum Which {
    All,
    AllAndNone,
    Subsets,
}

/// Iterator over sets of kept axes, the largest first.
#[derive(Debug, Clone)]
struct Sets {
    next: Option<u64>,
    carrying: u64,
    always: u64,
    which: Which,
}

impl Iterator for Sets {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let set = self.next?;
        self.next = match self.which {
            _ if set == 0 => None,
            Which::All => None,
            Which::AllAndNone => Some(0),
            Which::Subsets => Some((set - 1) & self.carrying),
        };
        Some(set | self.always)
    }
}
