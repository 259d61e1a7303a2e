//! A checked problem and its formulas.

use rechunk_grid::ChunkGrid;

use super::axis::{Pieces, carry_max};
use super::counts::{Counts, SideCounts};
use super::files::Files;
use super::order::Placed;
use super::{KeepError, Problem, Schedule};
use crate::count::product;

/// A problem that was checked: shapes agree, and no count leaves 64 bits.
#[derive(Debug, Clone)]
pub struct Model {
    pub(super) shape: Vec<u64>,
    pub(super) source: Files,
    pub(super) target: Files,
    pub(super) memory_elements: u64,
    item_bytes: u64,
}

impl Model {
    /// Checks a problem.
    pub fn new(problem: &Problem) -> Result<Self, KeepError> {
        let shape = &problem.shape;
        let files = |what, block: &[u64], order: &[usize]| {
            ChunkGrid::new(shape, block)?;
            check_order(what, order, shape.len())?;
            let clipped = block.iter().zip(shape).map(|(&block, &extent)| block.min(extent.max(1)));
            let rows = order.iter().scan(1_u64, |slower, &axis| {
                let rows = *slower;
                *slower = rows.saturating_mul(shape[axis]);
                Some(rows)
            });
            let rows = rows.collect();
            Ok::<_, KeepError>(Files { block: clipped.collect(), order: order.to_vec(), rows })
        };
        let &Problem { item_bytes, memory_bytes, .. } = problem;
        let memory_elements = memory_bytes.checked_div(item_bytes).unwrap_or(0);
        if memory_elements == 0 {
            return Err(KeepError::NoElementFits { memory_bytes, item_bytes });
        }
        Ok(Self {
            shape: shape.clone(),
            source: files("the source's order", &problem.source_block, &problem.source_order)?,
            target: files("the target's order", &problem.target_block, &problem.target_order)?,
            memory_elements,
            item_bytes,
        })
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Checks that a schedule is one of this array.
    pub fn check(&self, schedule: &Schedule) -> Result<(), KeepError> {
        let rank = self.rank();
        let wrong = |why| Err(KeepError::NotOfThisArray { why });
        if schedule.buffer.len() != rank || schedule.kept.len() != rank {
            return wrong("another number of axes");
        }
        let fits = |(&buffer, &extent): (&u64, &u64)| (1..=extent.max(1)).contains(&buffer);
        if !schedule.buffer.iter().zip(&self.shape).all(fits) {
            return wrong("a buffer is empty or larger than the array");
        }
        check_order("the order of the buffers", &schedule.step_axes, rank)
    }

    /// A schedule of `buffer`s in the order that needs least memory.
    pub fn schedule(&self, buffer: &[u64], kept: &[bool]) -> Schedule {
        let step_axes = self.by_carry(buffer, kept);
        Schedule { buffer: buffer.to_vec(), kept: kept.to_vec(), step_axes }
    }

    /// Axes of the loop over buffers, slowest first, in the order of the least bound.
    fn by_carry(&self, buffer: &[u64], kept: &[bool]) -> Vec<usize> {
        let carry = |axis: usize| {
            let (extent, block) = (self.shape[axis], self.target.block[axis]);
            if kept[axis] { carry_max(extent, buffer[axis], block) } else { 0 }
        };
        let stored = self.source.order.iter().enumerate();
        let mut placed: Vec<Placed> = stored
            .map(|(stored, &axis)| {
                let (extent, buffer) = (self.shape[axis], buffer[axis]);
                Placed { axis, stored, extent, buffer, carry: carry(axis) }
            })
            .collect();
        placed.sort_unstable_by(Placed::slower_first);
        placed.iter().map(|place| place.axis).collect()
    }

    /// Number of buffers.
    pub fn buffers(&self, schedule: &Schedule) -> u64 {
        crate::count::cells(&self.shape, &schedule.buffer)
    }

    /// Exact opens and runs of both sides.
    pub fn counts(&self, schedule: &Schedule) -> Counts {
        let (read, written): (Vec<_>, Vec<_>) = (0..self.rank())
            .map(|axis| {
                let (extent, buffer) = (self.shape[axis], schedule.buffer[axis]);
                let (source, target) = (self.source.block[axis], self.target.block[axis]);
                let written = if schedule.kept[axis] {
                    Pieces::uncut(extent, target)
                } else {
                    Pieces::new(extent, target, buffer)
                };
                (Pieces::new(extent, source, buffer), written)
            })
            .unzip();
        Counts {
            source: SideCounts::new(&self.shape, &self.source, &read),
            target: SideCounts::new(&self.shape, &self.target, &written),
        }
    }

    /// The most that is carried over a buffer end, by axis, kept or not, elements.
    pub fn carries(&self, buffer: &[u64]) -> Vec<u64> {
        let axes = self.shape.iter().zip(buffer).zip(&self.target.block);
        axes.map(|((&extent, &buffer), &block)| carry_max(extent, buffer, block)).collect()
    }

    /// Bound of the elements that a schedule holds, proved.
    ///
    /// What axis `s` carries lies on all of the faster axes and within a buffer on the slower
    /// ones: `|B| + Σ carry_s · Π faster R · Π slower B` over the kept axes.
    pub fn memory_bound(&self, schedule: &Schedule) -> u64 {
        let carries = self.carries(&schedule.buffer);
        let mut held = 1_u64;
        let mut faster = 1_u64;
        for &axis in schedule.step_axes.iter().rev() {
            let carry = if schedule.kept[axis] { carries[axis] } else { 0 };
            held = held
                .saturating_mul(schedule.buffer[axis])
                .saturating_add(carry.saturating_mul(faster));
            faster = faster.saturating_mul(self.shape[axis]);
        }
        held
    }

    /// Elements that buffers and carried pieces may have together.
    pub fn memory_elements(&self) -> u64 {
        self.memory_elements
    }

    /// Elements as bytes.
    pub fn bytes(&self, elements: u64) -> u64 {
        elements.saturating_mul(self.item_bytes)
    }

    /// Source and target files: no schedule has fewer seeks.
    pub fn files(&self) -> u64 {
        let files = |side: &Files| crate::count::cells(&self.shape, &side.block);
        files(&self.source).saturating_add(files(&self.target))
    }

    /// Bound of the seeks of all schedules, even if they read again. It is `N / sqrt(M c)` for `N`
    /// elements, `M` in memory and `c` that a source and a target file share at most.
    ///
    /// While `2 M` elements are written, at least `M` are read too; `r` runs read and `w` written
    /// share at most `r w c` elements, so that `r + w ≥ 2 sqrt(M / c)`.
    pub fn seeks_bound(&self) -> f64 {
        let elements = product(self.shape.iter().copied()) as f64;
        let shared = self.source.block.iter().zip(&self.target.block).map(|(a, b)| *a.min(b));
        elements / (self.memory_elements as f64 * product(shared) as f64).sqrt()
    }
}

/// True if `order` has every axis of an array of `rank` axes once.
pub fn is_order(order: &[usize], rank: usize) -> bool {
    let mut axes = order.to_vec();
    axes.sort_unstable();
    axes.iter().copied().eq(0..rank)
}

fn check_order(what: &'static str, order: &[usize], rank: usize) -> Result<(), KeepError> {
    if is_order(order, rank) {
        Ok(())
    } else {
        Err(KeepError::NotAnOrder { what, axes: order.to_vec(), rank })
    }
}
