//! The literature's strategies as named baselines: what a schedule is compared with.
//!
//! `naive`, `clustered` and `multiple` are those of Hayot-Sasson et al., "Sequential algorithms to
//! split and merge ultra-high resolution 3D images" (2017); `keep-paper` is that of Guédon et al.,
//! "A heuristic to repartition large multi-dimensional arrays with reduced disk seeking" (2020);
//! `keep-draft` is an earlier, greedy form of it. All are written here from descriptions.

use std::cmp::Reverse;

use super::exact::EXACT_BUFFERS_MAX;
use super::{Model, Schedule};
use crate::count::{lcm_capped, product};

/// A strategy to compare with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// A source file at a time, written through.
    Naive,
    /// As many whole blocks as fit, then rows of them, then slabs; written through.
    Clustered,
    /// Contiguous ranges of the array, written through.
    Multiple,
    /// The greedy heuristic: axis by axis the least length that covers a target block.
    KeepDraft,
    /// Lengths that divide the array, all axes kept, fewest seeks.
    KeepPaper,
}

impl Baseline {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Naive, Self::Clustered, Self::Multiple, Self::KeepDraft, Self::KeepPaper];

    /// The word used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Clustered => "clustered",
            Self::Multiple => "multiple",
            Self::KeepDraft => "keep-draft",
            Self::KeepPaper => "keep-paper",
        }
    }

    /// The baseline of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|baseline| baseline.name() == name)
    }

    /// Its schedule; `None` where it has no answer.
    pub fn schedule(self, model: &Model) -> Option<Schedule> {
        if model.shape.contains(&0) {
            let buffer: Vec<u64> = model.shape.iter().map(|&extent| extent.max(1)).collect();
            return Some(model.schedule(&buffer, &vec![false; buffer.len()]));
        }
        match self {
            Self::Naive => written_through(model, &model.source.block),
            Self::Clustered => clustered(model),
            Self::Multiple => grown(model, &vec![1; model.rank()]),
            Self::KeepDraft => Some(keep_draft(model)),
            Self::KeepPaper => keep_paper(model),
        }
    }
}

fn written_through(model: &Model, buffer: &[u64]) -> Option<Schedule> {
    let fits = product(buffer.iter().copied()) <= model.memory_elements;
    fits.then(|| model.schedule(buffer, &vec![false; buffer.len()]))
}

fn clustered(model: &Model) -> Option<Schedule> {
    let is_split = model.source.block == model.shape;
    grown(model, if is_split { &model.target.block } else { &model.source.block })
}

/// As many whole `block`s as fit along the fastest axis, then, if that spans it, along the next.
fn grown(model: &Model, block: &[u64]) -> Option<Schedule> {
    let mut buffer = block.to_vec();
    for &axis in model.source.order.iter().rev() {
        let others =
            product(buffer.iter().enumerate().filter(|(a, _)| *a != axis).map(|(_, b)| *b));
        let most = model.memory_elements / others;
        let is_slowest = model.source.order.first() == Some(&axis);
        if most >= model.shape[axis] && !is_slowest {
            buffer[axis] = model.shape[axis];
            continue;
        }
        buffer[axis] = ((most / block[axis]).max(1) * block[axis]).min(model.shape[axis]);
        break;
    }
    written_through(model, &buffer)
}

/// The least multiple of source files that covers a target file, by axis.
pub(super) fn covering(model: &Model) -> Vec<u64> {
    let axes = model.source.block.iter().zip(&model.target.block).zip(&model.shape);
    axes.map(|((&source, &target), &extent)| {
        source.saturating_mul(target.div_ceil(source)).min(extent.max(1))
    })
    .collect()
}

fn keep_draft(model: &Model) -> Schedule {
    let covering = covering(model);
    let (mut buffer, mut kept) = (vec![1; model.rank()], vec![false; model.rank()]);
    let fits = |buffer: &[u64], kept: &[bool]| {
        model.memory_bound(&model.schedule(buffer, kept)) <= model.memory_elements
    };
    for &axis in model.source.order.iter().rev() {
        buffer[axis] = covering[axis];
        kept[axis] = true;
        if fits(&buffer, &kept) {
            continue;
        }
        kept[axis] = false;
        if fits(&buffer, &kept) {
            continue;
        }
        // Not kept, an axis adds to the bound in proportion to its length.
        buffer[axis] = 1;
        let one = model.memory_bound(&model.schedule(&buffer, &kept));
        buffer[axis] = (model.memory_elements / one).clamp(1, covering[axis]);
        break;
    }
    model.schedule(&buffer, &kept)
}

/// Buffers that the paper's strategy is asked to look at, at most.
const SHAPES_MAX: usize = 20_000;

fn keep_paper(model: &Model) -> Option<Schedule> {
    let covering = covering(model);
    let kept = vec![true; model.rank()];
    let in_storage_order = |buffer: &[u64]| Schedule {
        buffer: buffer.to_vec(),
        kept: kept.clone(),
        step_axes: model.source.order.clone(),
    };
    let fits = |schedule: &Schedule| {
        let buffer_fits = product(schedule.buffer.iter().copied()) <= model.memory_elements;
        buffer_fits
            && (model.memory_bound(schedule) <= model.memory_elements
                || (model.memory_exact(schedule, EXACT_BUFFERS_MAX))
                    .is_some_and(|elements| elements <= model.memory_elements))
    };
    let first = in_storage_order(&covering);
    if fits(&first) {
        return Some(first);
    }
    let Some((_, slower)) = model.source.order.split_last() else { return Some(first) };
    let mut shapes = vec![covering.clone()];
    for &axis in slower {
        let mut lengths = divisors(model.shape[axis]);
        lengths.retain(|&length| length <= covering[axis]);
        shapes = shapes
            .iter()
            .flat_map(|shape| {
                lengths.iter().map(move |&length| {
                    let mut shape = shape.clone();
                    shape[axis] = length;
                    shape
                })
            })
            .take(SHAPES_MAX)
            .collect();
    }
    let mut schedules: Vec<(u64, Schedule)> = shapes
        .iter()
        .map(|shape| {
            let schedule = in_storage_order(shape);
            let counts = model.counts(&schedule);
            (counts.source.paper().saturating_add(counts.target.paper()), schedule)
        })
        .collect();
    // Of as many seeks, the larger buffer.
    let volume = |schedule: &Schedule| product(schedule.buffer.iter().copied());
    schedules.sort_by_key(|(paper, schedule)| (*paper, Reverse(volume(schedule))));
    schedules.into_iter().map(|(_, schedule)| schedule).find(fits)
}

/// Divisors of a number, ascending.
pub(super) fn divisors(of: u64) -> Vec<u64> {
    /// Larger ones than its square have no small partner.
    const SMALL_MAX: u64 = 1 << 16;
    let small = (1..=SMALL_MAX).take_while(|d| d.saturating_mul(*d) <= of);
    let small: Vec<u64> = small.filter(|d| of.is_multiple_of(*d)).collect();
    let mut all: Vec<u64> = small.iter().map(|d| of / d).chain(small.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Ends that both sides have, by axis: no target file lies across them.
pub(super) fn common(model: &Model) -> Vec<u64> {
    let axes = model.source.block.iter().zip(&model.target.block).zip(&model.shape);
    axes.map(|((&source, &target), &extent)| lcm_capped(source, target, extent.max(1))).collect()
}
