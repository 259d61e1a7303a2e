//! Exact reads of a source, from sums along each axis: no task is listed.

use std::iter::Sum;
use std::ops::Range;

use rechunk_grid::{AxisEdges, Edges};
use serde::{Deserialize, Serialize};

use crate::boundary::Boundary;
use crate::counts::{chunks_met, product, unsigned};
use crate::error::{ApplyError, ErrorCode};
use crate::floor_sum::Floors;
use crate::plan::ApplyPlan;
use crate::source::source_span;
use crate::tiles::signed;
use crate::voxel_box::{Span, VoxelBox};

/// A source: its shape and the extents of what is read at once, elements.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceGrid {
    /// Shape.
    pub shape: Vec<u64>,
    /// Extents of a chunk, or of whatever is read at once.
    pub chunk: Vec<u64>,
    /// Ends of chunks along the axes on which they differ in length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Edges>,
}

impl SourceGrid {
    /// A grid of chunks of one shape.
    pub fn regular(shape: Vec<u64>, chunk: Vec<u64>) -> Self {
        Self { shape, chunk, edges: None }
    }

    /// Number of chunks that a box of the source meets, in part.
    pub fn chunks_met(&self, bounds: &VoxelBox) -> u64 {
        let met = bounds.axes.iter().enumerate().map(|(axis, span)| {
            let range = span.start.unsigned_abs()..span.end.unsigned_abs();
            u64::try_from(self.axis(axis).met(&range).chunks).unwrap_or(u64::MAX)
        });
        met.fold(1, u64::saturating_mul)
    }

    fn axis(&self, axis: usize) -> SourceAxis<'_> {
        SourceAxis {
            extent: self.shape[axis],
            chunk: self.chunk[axis].max(1),
            edges: self.edges.as_ref().and_then(|edges| edges.axis(axis)),
        }
    }
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
    /// Elements of the chunks of `by_call`, those at the border whole; no more than fit 64 bits.
    pub elements_by_call: u64,
    /// Elements of the chunks of `by_task`.
    pub elements_by_task: u64,
}

/// Chunks of a source along an axis.
#[derive(Clone, Copy)]
struct SourceAxis<'a> {
    extent: u64,
    chunk: u64,
    /// Ends of chunks that differ in length.
    edges: Option<&'a AxisEdges>,
}

impl SourceAxis<'_> {
    fn count(&self) -> u128 {
        self.edges.map_or(self.extent.div_ceil(self.chunk), AxisEdges::count).into()
    }

    /// Chunks that a range meets, in part, and their elements along the axis.
    fn met(&self, range: &Range<u64>) -> Met {
        let Some(edges) = self.edges.filter(|_| !range.is_empty()) else {
            return Met::regular(chunks_met(range, self.chunk), self.chunk);
        };
        let (chunks, elements) = edges.met(range.start, range.end - 1);
        Met { chunks: chunks.into(), elements: elements.into() }
    }

    /// As [`SourceAxis::met`], for a range that may reach beyond the axis; each range inside by
    /// itself.
    fn met_within(&self, span: Span, boundary: Boundary) -> Met {
        let intervals = boundary.intervals(span, self.extent);
        intervals.iter().map(|range| self.met(range)).sum()
    }
}

/// Chunks that are met along an axis, and their elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Met {
    chunks: u128,
    elements: u128,
}

impl Met {
    fn regular(chunks: u128, chunk: u64) -> Self {
        Self { chunks, elements: chunks.saturating_mul(chunk.into()) }
    }
}

impl Sum for Met {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            chunks: sum.chunks.saturating_add(one.chunks),
            elements: sum.elements.saturating_add(one.elements),
        })
    }
}

/// Most ranges that are looked at one by one along an axis with chunks of different lengths.
/// Further ones count as these do on average.
const ONE_BY_ONE: u64 = 1 << 20;

impl ApplyPlan {
    /// Exact reads of a source, of which voxels beyond its border are found by `boundary`.
    ///
    /// ```
    /// use rechunk_apply::{ApplySpec, Boundary, LevelSpec, SourceGrid, prepare};
    /// use rechunk_grid::DataType;
    /// let level = LevelSpec::new([32]).crop([1]);
    /// let plan = prepare(&ApplySpec::new(&[96], &[32], DataType::Uint8, vec![level]))?;
    /// let source = SourceGrid::regular(vec![96], vec![32]);
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
        let by_call: Vec<Met> = (0..rank).map(by_call).collect();
        let by_task: Vec<Met> = (0..rank).map(by_task).collect();
        let chunks =
            |axes: &[Met]| product(axes.iter().map(|met| met.chunks), "source chunk reads");
        let elements = |axes: &[Met]| {
            let all = axes.iter().map(|met| met.elements).fold(1, u128::saturating_mul);
            u64::try_from(all).unwrap_or(u64::MAX)
        };
        Ok(SourceReads {
            chunks: product((0..rank).map(|axis| source.axis(axis).count()), "source chunks")?,
            by_call: chunks(&by_call)?,
            by_task: chunks(&by_task)?,
            elements_by_call: elements(&by_call),
            elements_by_task: elements(&by_task),
        })
    }

    /// Reads of chunks of a source for a range of target voxels, over all its repeats.
    fn chunk_reads(
        &self,
        axis: usize,
        (source, boundary): (&SourceGrid, Boundary),
        span: Span,
        (repeats, step): (u64, u64),
    ) -> Met {
        let (chunks, scale) = (source.axis(axis), self.scale[axis]);
        let nth = |k: u64| {
            let by = i64::try_from(k.saturating_mul(step)).unwrap_or(i64::MAX);
            let moved = Span::new(span.start.saturating_add(by), span.end.saturating_add(by));
            source_span(moved, scale)
        };
        if chunks.edges.is_some() {
            let looked_at = repeats.min(ONE_BY_ONE);
            let met: Met = (0..looked_at).map(|k| chunks.met_within(nth(k), boundary)).sum();
            let all = |sum: u128| sum.saturating_mul(repeats.into()) / u128::from(looked_at.max(1));
            return Met { chunks: all(met.chunks), elements: all(met.elements) };
        }
        let (extent, chunk) = (chunks.extent, chunks.chunk);
        // Those that reach beyond the source one by one, the others in between by a sum.
        let first = repeats_before(repeats, |k| nth(k).start < 0);
        let behind = repeats_before(repeats, |k| nth(k).end <= signed(extent)).max(first);
        let outer = (0..first).chain(behind..repeats);
        let outer: Met = outer.map(|k| chunks.met_within(nth(k), boundary)).sum();
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
        let inner = unsigned(to.sum(0, last) - from.sum(0, last) + from.count);
        [outer, Met::regular(inner, chunk)].into_iter().sum()
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
