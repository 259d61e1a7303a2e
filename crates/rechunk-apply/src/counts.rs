//! Exact counts of a job, from sums along each axis: no task is listed.
//!
//! Task boxes of a level within a task are all combinations of those along each axis, so a count
//! is a product of sums along the axes. Along an axis the tasks but the outer ones are alike, and
//! sums over them follow from one.

use std::iter::Sum;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::bottom::AxisLeaf;
use crate::error::{ApplyError, ErrorCode};
use crate::floor_sum::Floors;
use crate::plan::{ApplyPlan, Way};
use crate::voxel_box::Span;

/// Exact counts of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counts {
    /// Tasks of the top level.
    pub tasks: u64,
    /// Calls of the operation.
    pub op_calls: u64,
    /// Target voxels that the operation computes, with pads.
    pub op_elements: u64,
    /// Source voxels that the operation gets, with pads; also those beyond the source.
    pub op_input_elements: u64,
    /// Voxels of the box that are kept, with gaps.
    pub kept_elements: u64,
    /// Blocks in the intermediate: one of each task, or none.
    pub blocks: u64,
    /// Elements of all blocks; pull tasks read each once.
    pub block_elements: u64,
    /// Bytes of all blocks.
    pub block_bytes: u64,
    /// Pull tasks.
    pub pull_tasks: u64,
    /// Reads of a part of a block by a pull task.
    pub pull_requests: u64,
    /// Array chunks that are written.
    pub target_chunks: u64,
    /// Array chunks of these that are written whole; the others have voxels that have to be kept.
    pub whole_target_chunks: u64,
}

impl Counts {
    /// Voxels computed for each that is kept.
    pub fn work_amplification(&self) -> f64 {
        self.op_elements as f64 / self.kept_elements.max(1) as f64
    }
}

/// Chunks of a target for what a job writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenChunks {
    /// Chunks of which elements are written.
    pub met: u64,
    /// Chunks of these that are written whole.
    pub whole: u64,
    /// All chunks that lie in the objects that are written.
    pub held: u64,
}

/// Sums along one axis.
#[derive(Debug, Clone, Copy, Default)]
struct AxisSums {
    calls: u128,
    elements: u128,
    input_elements: u128,
    keep: u128,
    pulls: u128,
}

/// Tasks of one axis: those that are alike, and the outer ones.
#[derive(Debug, Clone)]
struct AxisTasks {
    alike: Range<u64>,
    outer: [Range<u64>; 2],
}

fn too_many(name: &str) -> ApplyError {
    ApplyError::new(ErrorCode::TooLarge, format!("the job has more {name} than fit 64 bits"))
}

pub(crate) fn product(axes: impl Iterator<Item = u128>, name: &str) -> Result<u64, ApplyError> {
    let mut axes: Vec<u128> = axes.collect();
    // A zero makes the product zero whatever the others are.
    axes.sort_unstable();
    let product = axes.iter().try_fold(1_u128, |product, &axis| product.checked_mul(axis));
    product.and_then(|product| u64::try_from(product).ok()).ok_or_else(|| too_many(name))
}

pub(crate) fn unsigned(sum: i128) -> u128 {
    u128::try_from(sum).unwrap_or(0)
}

/// Chunks of an axis that a range of it meets, in part.
pub(crate) fn chunks_met(range: &Range<u64>, chunk: u64) -> u128 {
    let number = |at: u64| u128::from(at / chunk.max(1));
    if range.is_empty() { 0 } else { number(range.end - 1) - number(range.start) + 1 }
}

/// An axis of the target: its extent, those of an object, and of what is encoded by itself in it.
#[derive(Debug, Clone, Copy)]
struct AxisGrid {
    extent: u64,
    object: u64,
    chunk: u64,
}

/// Chunks of an axis, as [`WrittenChunks`] has them of all axes.
#[derive(Debug, Clone, Copy, Default)]
struct AxisChunks {
    met: u128,
    whole: u128,
    held: u128,
}

impl AxisGrid {
    /// Chunks for a range that is written.
    fn of(self, span: Span) -> AxisChunks {
        let (start, end) = (span.start.unsigned_abs(), span.end.unsigned_abs());
        let met = chunks_met(&(start..end), self.chunk);
        if met == 0 {
            return AxisChunks::default();
        }
        let starts_within = start % self.chunk != 0;
        let ends_within = end % self.chunk != 0 && end != self.extent;
        let is_one = met == 1 && (starts_within || ends_within);
        let partial = u128::from(starts_within) + u128::from(ends_within);
        let whole = if is_one { 0 } else { met.saturating_sub(partial) };
        let objects = start - start % self.object
            ..end.div_ceil(self.object).saturating_mul(self.object).min(self.extent);
        AxisChunks { met, whole, held: chunks_met(&objects, self.chunk) }
    }
}

impl ApplyPlan {
    fn axis_tasks(&self, axis: usize) -> AxisTasks {
        let (tiles, kept, all) = (&self.tiles[axis], self.kept.axes[axis], &self.tasks[axis]);
        let stride = i128::from(tiles.stride());
        // A whole work chunk, in case the first one is cut.
        let first = Span::new(tiles.tile(0).start, tiles.tile(0).start).grown(self.top_blend(axis));
        let chunk = i128::from(self.levels[self.top()].chunk[axis]);
        let start =
            (i128::from(kept.start) - i128::from(first.start) + stride - 1).div_euclid(stride);
        let end = (i128::from(kept.end) - i128::from(first.end) - chunk).div_euclid(stride) + 1;
        let narrow =
            |at: i128| u64::try_from(at.max(0)).unwrap_or(u64::MAX).clamp(all.start, all.end);
        let (start, end) = (narrow(start), narrow(end));
        if start >= end {
            return AxisTasks { alike: 0..0, outer: [all.clone(), 0..0] };
        }
        AxisTasks { alike: start..end, outer: [all.start..start, end..all.end] }
    }

    fn top_blend(&self, axis: usize) -> u64 {
        self.levels[self.top()].blend[axis]
    }

    /// Task box of task `k` along an axis, and the part that is kept.
    fn axis_task(&self, axis: usize, k: u64) -> (Span, Span) {
        let task = self.tiles[axis].task(k);
        (task, task.intersect(self.kept.axes[axis]))
    }

    fn axis_sums(&self, axis: usize) -> AxisSums {
        let tasks = self.axis_tasks(axis);
        let mut sums = AxisSums::default();
        let outer = tasks.outer.iter().flat_map(Clone::clone).map(|k| (k, 1));
        let alike = tasks.alike.end - tasks.alike.start;
        let inner = (alike > 0).then_some((tasks.alike.start, u128::from(alike)));
        for (k, times) in outer.chain(inner) {
            let (task, keep) = self.axis_task(axis, k);
            let leaves = self.axis_leaves(axis, task, keep);
            sums.calls += times * leaves.len() as u128;
            let elements = leaves.iter().map(|leaf| u128::from(leaf.padded.length()));
            sums.elements += times * elements.sum::<u128>();
            sums.keep += times * u128::from(keep.length());
        }
        sums.input_elements = self
            .over_leaves(axis, |span, repeats, step| self.input_lengths(axis, span, repeats, step));
        sums.pulls = self.axis_pulls(axis, &tasks);
        sums
    }

    /// Source voxels of a range that repeats.
    fn input_lengths(&self, axis: usize, span: Span, repeats: u64, step: u64) -> u128 {
        let scale = self.scale[axis];
        if scale.target == 1 {
            return u128::from(span.length()) * u128::from(scale.source) * u128::from(repeats);
        }
        let floors = |at: i128| Floors {
            count: repeats.into(),
            step: i128::from(step) * i128::from(scale.source),
            offset: at * i128::from(scale.source),
            divisor: scale.target.into(),
        };
        let (start, mut end) = (floors(span.start.into()), floors(span.end.into()));
        end.offset -= 1;
        let far = i128::from(i64::MAX);
        unsigned(end.sum(-far, far) - start.sum(-far, far) + i128::from(repeats))
    }

    /// Sum of a measure over the padded boxes of all calls along an axis. The measure takes a
    /// range, how often it repeats, and the voxels from one to the next.
    pub(crate) fn over_leaves<M: Sum<M>>(
        &self,
        axis: usize,
        measure: impl Fn(Span, u64, u64) -> M,
    ) -> M {
        self.over_tasks(
            axis,
            |task, keep| {
                let leaves = self.axis_leaves(axis, task, keep);
                leaves.iter().map(|leaf: &AxisLeaf| leaf.padded).collect()
            },
            measure,
        )
    }

    /// Sum of a measure over ranges that follow from each task of an axis.
    pub(crate) fn over_tasks<M: Sum<M>>(
        &self,
        axis: usize,
        ranges: impl Fn(Span, Span) -> Vec<Span>,
        measure: impl Fn(Span, u64, u64) -> M,
    ) -> M {
        let tasks = self.axis_tasks(axis);
        let of = |k: u64, repeats: u64| {
            let (task, keep) = self.axis_task(axis, k);
            let step = self.tiles[axis].stride();
            let ranges = ranges(task, keep);
            ranges.into_iter().map(|span| measure(span, repeats, step)).sum::<M>()
        };
        let outer = tasks.outer.iter().flat_map(Clone::clone).map(|k| of(k, 1));
        let alike = tasks.alike.end - tasks.alike.start;
        outer.chain((alike > 0).then(|| of(tasks.alike.start, alike))).sum()
    }

    fn axis_pulls(&self, axis: usize, tasks: &AxisTasks) -> u128 {
        let boxes = &self.reductions[axis];
        let met = |k: u64| {
            let range = boxes.meeting(self.axis_task(axis, k).1);
            u128::from(range.end - range.start)
        };
        let outer: u128 = tasks.outer.iter().flat_map(Clone::clone).map(met).sum();
        let alike = tasks.alike.end - tasks.alike.start;
        if alike == 0 {
            return outer;
        }
        let (_, keep) = self.axis_task(axis, tasks.alike.start);
        let (origin, stride) = boxes.grid();
        let numbers = |at: i64| {
            let floors = Floors {
                count: alike.into(),
                step: self.tiles[axis].stride().into(),
                offset: i128::from(at) - i128::from(origin),
                divisor: stride.into(),
            };
            floors.sum(0, i64::MAX.into())
        };
        outer + unsigned(numbers(keep.end - 1) - numbers(keep.start)) + u128::from(alike)
    }

    /// Exact counts of the job.
    ///
    /// ```
    /// use rechunk_apply::{ApplySpec, LevelSpec, Mode, prepare};
    /// use rechunk_grid::DataType;
    /// let levels = vec![
    ///     LevelSpec::new([1024, 1024]).crop([96, 96]).blend([32, 32], Mode::Linear),
    ///     LevelSpec::new([256, 256]).crop([24, 24]).blend([16, 16], Mode::Linear),
    /// ];
    /// let plan = prepare(&ApplySpec::new(&[1024, 1024], &[128, 128], DataType::Uint8, levels))?;
    /// let counts = plan.counts()?;
    /// assert_eq!((counts.tasks, counts.op_calls), (1, 25));
    /// assert_eq!(counts.op_elements, 25 * 336 * 336);
    /// # Ok::<(), rechunk_apply::ApplyError>(())
    /// ```
    pub fn counts(&self) -> Result<Counts, ApplyError> {
        let axes: Vec<AxisSums> = (0..self.rank()).map(|axis| self.axis_sums(axis)).collect();
        let over = |of: fn(&AxisSums) -> u128, name| product(axes.iter().map(of), name);
        let has_blocks = self.way == Way::Pull;
        let block_elements =
            if has_blocks { over(|axis| axis.keep, "voxels in blocks")? } else { 0 };
        let bytes = block_elements.checked_mul(self.block_form().item_bytes());
        let (target_chunks, whole_target_chunks) = match (&self.spec.target, self.way) {
            (None, _) => (0, 0),
            (Some(_), Way::Defer) => {
                let chunks = self.deferred_counts();
                let over =
                    |of: fn(&(u128, u128)) -> u128| product(chunks.iter().map(of), "array chunks");
                (over(|&(met, _)| met)?, over(|&(_, whole)| whole)?)
            }
            (Some(target), Way::Direct | Way::Pull) => {
                let found = self.written_chunks(&target.chunk)?;
                (found.met, found.whole)
            }
        };
        Ok(Counts {
            tasks: self.task_count,
            op_calls: over(|axis| axis.calls, "calls of the operation")?,
            op_elements: over(|axis| axis.elements, "voxels to compute")?,
            op_input_elements: over(|axis| axis.input_elements, "voxels to read")?,
            kept_elements: u64::try_from(self.kept.elements()).map_err(|_| too_many("voxels"))?,
            blocks: if has_blocks { self.task_count } else { 0 },
            block_elements,
            block_bytes: bytes.ok_or_else(|| too_many("bytes in blocks"))?,
            pull_tasks: self.reduction_count,
            pull_requests: match self.way {
                Way::Pull => over(|axis| axis.pulls, "reads of blocks")?,
                Way::Direct | Way::Defer => 0,
            },
            target_chunks,
            whole_target_chunks,
        })
    }

    /// Chunks of the target that are written, if it had chunks of this shape. A pull task writes
    /// all that it combines, a task that writes itself only the part of its work chunk.
    ///
    /// ```
    /// use rechunk_apply::{ApplySpec, LevelSpec, prepare};
    /// use rechunk_grid::DataType;
    /// let mut spec = ApplySpec::new(&[24], &[4], DataType::Uint8, vec![LevelSpec::new([4])]);
    /// spec.gap = vec![12];
    /// assert_eq!(prepare(&spec)?.written_chunks(&[2])?.met, 2 * 2);
    /// # Ok::<(), rechunk_apply::ApplyError>(())
    /// ```
    pub fn written_chunks(&self, chunk: &[u64]) -> Result<WrittenChunks, ApplyError> {
        let axes = self.chunk_counts(chunk);
        Ok(WrittenChunks {
            met: product(axes.iter().map(|axis| axis.met), "array chunks")?,
            whole: product(axes.iter().map(|axis| axis.whole), "array chunks")?,
            held: product(axes.iter().map(|axis| axis.held), "array chunks")?,
        })
    }

    /// Chunks that are written along each axis.
    fn chunk_counts(&self, chunk: &[u64]) -> Vec<AxisChunks> {
        let Some(target) = &self.spec.target else { return Vec::new() };
        let axes = target.shape.iter().zip(&target.chunk).zip(chunk).enumerate();
        axes.map(|(axis, ((&extent, &object), &chunk))| {
            let grid = AxisGrid { extent, object: object.max(1), chunk: chunk.max(1) };
            match self.way {
                Way::Pull | Way::Defer => grid.of(self.kept.axes[axis]),
                Way::Direct => self.direct_chunks(axis, grid),
            }
        })
        .collect()
    }

    /// Chunks of an axis that tasks write themselves: no two write the same one.
    fn direct_chunks(&self, axis: usize, grid: AxisGrid) -> AxisChunks {
        let tasks = self.axis_tasks(axis);
        let Range { start, end } = tasks.alike;
        // The last one may end where the array does, where a chunk that is cut is whole.
        let last = end.saturating_sub(1).max(start)..end;
        let outer = tasks.outer.iter().chain([&last]).flat_map(Clone::clone).map(|k| (k, 1));
        let period = self.tiles[axis].period(grid.object);
        let alike = (start..last.start.min(start.saturating_add(period)))
            .map(|k| (k, u128::from((last.start - k).div_ceil(period))));
        outer.chain(alike).fold(AxisChunks::default(), |sum, (k, times)| {
            let found = grid.of(self.axis_task(axis, k).1);
            AxisChunks {
                met: sum.met + times * found.met,
                whole: sum.whole + times * found.whole,
                held: sum.held + times * found.held,
            }
        })
    }

    /// Task boxes of each level, bottom first.
    pub fn level_counts(&self) -> Result<Vec<u64>, ApplyError> {
        let one = |_: Span, repeats: u64, _: u64| u128::from(repeats);
        let of_level = |level: usize| {
            let axes = (0..self.rank()).map(|axis| {
                self.over_tasks(
                    axis,
                    |task, keep| {
                        let boxes = self.axis_boxes(level, axis, task, keep);
                        boxes.iter().map(|of| of.task).collect()
                    },
                    one,
                )
            });
            product(axes, "task boxes")
        };
        (0..self.levels.len()).map(of_level).collect()
    }
}
