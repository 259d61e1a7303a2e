//! Exact reads of a source, from sums along each axis: no task is listed.

use serde::{Deserialize, Serialize};

use crate::boundary::Boundary;
use crate::counts::{chunks_met, product, unsigned};
use crate::error::{ApplyError, ErrorCode};
use crate::floor_sum::Floors;
use crate::plan::ApplyPlan;
use crate::source::source_span;
use crate::tiles::signed;
use crate::voxel_box::Span;

/// A source: its shape and the extents of what is read at once, elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceGrid {
    /// Shape.
    pub shape: Vec<u64>,
    /// Extents of a chunk, or of whatever is read at once.
    pub chunk: Vec<u64>,
}

/// Exact reads of one source. Where a box reaches beyond the source, the voxels inside count that
/// stand for those beyond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SourceReads {
    /// Chunks of the source.
    pub chunks: u64,
    /// Chunk reads if each call of the operation reads its own.
    pub by_call: u64,
    /// Chunk reads if a task reads each of its chunks once.
    pub by_task: u64,
}

/// Reads of chunks of an axis of `extent` for a range, each range inside by itself.
fn reads_of(span: Span, boundary: Boundary, extent: u64, chunk: u64) -> u128 {
    let intervals = boundary.intervals(span, extent);
    intervals.iter().map(|range| chunks_met(range, chunk)).sum()
}

impl ApplyPlan {
    /// Exact reads of a source, of which voxels beyond its border are found by `boundary`.
    ///
    /// ```
    /// use rechunk_apply::{ApplySpec, Boundary, LevelSpec, SourceGrid, prepare};
    /// use rechunk_grid::DataType;
    /// let level = LevelSpec::new([32]).crop([1]);
    /// let plan = prepare(&ApplySpec::new(&[96], &[32], DataType::Uint8, vec![level]))?;
    /// let source = SourceGrid { shape: vec![96], chunk: vec![32] };
    /// // Its own chunk, and those beside it.
    /// assert_eq!(plan.source_reads(&source, Boundary::Reflect)?.by_call, 2 + 3 + 2);
    /// assert_eq!(plan.source_reads(&source, Boundary::Wrap)?.by_call, 3 + 3 + 3);
    /// # Ok::<(), rechunk_apply::ApplyError>(())
    /// ```
    pub fn source_reads(
        &self,
        source: &SourceGrid,
        boundary: Boundary,
    ) -> Result<SourceReads, ApplyError> {
        let rank = self.rank();
        if source.shape.len() != rank || source.chunk.len() != rank {
            let message = format!("the source has {} axes, the job {rank}", source.shape.len());
            return Err(ApplyError::new(ErrorCode::Axes, message));
        }
        let by_call = |axis: usize| {
            self.over_leaves(axis, |span, repeats, step| {
                self.chunk_reads(axis, (source, boundary), span, (repeats, step))
            })
        };
        let by_task = |axis: usize| {
            self.over_tasks(
                axis,
                |task, keep| vec![self.leaves_hull(axis, task, keep)],
                |span, repeats, step| {
                    self.chunk_reads(axis, (source, boundary), span, (repeats, step))
                },
            )
        };
        let all = source.shape.iter().zip(&source.chunk);
        let all = all.map(|(&extent, &chunk)| u128::from(extent.div_ceil(chunk.max(1))));
        Ok(SourceReads {
            chunks: product(all, "source chunks")?,
            by_call: product((0..rank).map(by_call), "source chunk reads")?,
            by_task: product((0..rank).map(by_task), "source chunk reads")?,
        })
    }

    /// Reads of chunks of a source for a range of target voxels, over all its repeats.
    fn chunk_reads(
        &self,
        axis: usize,
        (source, boundary): (&SourceGrid, Boundary),
        span: Span,
        (repeats, step): (u64, u64),
    ) -> u128 {
        let (extent, chunk) = (source.shape[axis], source.chunk[axis].max(1));
        let scale = self.scale[axis];
        let nth = |k: u64| {
            let by = i64::try_from(k.saturating_mul(step)).unwrap_or(i64::MAX);
            let moved = Span::new(span.start.saturating_add(by), span.end.saturating_add(by));
            source_span(moved, scale)
        };
        // Those that reach beyond the source one by one, the others in between by a sum.
        let first = repeats_before(repeats, |k| nth(k).start < 0);
        let behind = repeats_before(repeats, |k| nth(k).end <= signed(extent)).max(first);
        let outer = (0..first).chain(behind..repeats);
        let outer: u128 = outer.map(|k| reads_of(nth(k), boundary, extent, chunk)).sum();
        let start = i128::from(span.start) + i128::from(first) * i128::from(step);
        let floors = |at: i128| Floors {
            count: (behind - first).into(),
            step: i128::from(step) * i128::from(scale.source),
            offset: at * i128::from(scale.source),
            divisor: i128::from(scale.target) * i128::from(chunk),
        };
        let length = i128::from(span.end) - i128::from(span.start);
        let (from, mut to) = (floors(start), floors(start + length));
        to.offset -= 1;
        let last = i128::from(extent);
        outer + unsigned(to.sum(0, last) - from.sum(0, last) + from.count)
    }
}

/// Numbers from 0 for which something is true, where it is true for no number after one for which
/// it is not.
fn repeats_before(repeats: u64, is_before: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, repeats);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}
