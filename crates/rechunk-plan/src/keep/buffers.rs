//! Where the buffers of a schedule are and what each meets: computed on demand, never listed.

use rechunk_grid::{ChunkGrid, IndexIter, Region};

use super::{KeepError, Problem, Runs, Schedule};

/// The buffers of a schedule, in the order they are read, and what they read and write.
#[derive(Debug, Clone)]
pub struct Buffers {
    grid: ChunkGrid,
    source: ChunkGrid,
    target: ChunkGrid,
    kept: Vec<bool>,
    step_axes: Vec<usize>,
    source_order: Vec<usize>,
    target_order: Vec<usize>,
    item_bytes: u64,
}

/// A part of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePart {
    /// Index of the file in its grid.
    pub file: Vec<u64>,
    /// The elements, in the array.
    pub region: Region,
}

/// Block that is written at once: a target file, on axes that are not kept cut where buffers end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteBlock {
    /// Index of the target file in its grid.
    pub file: Vec<u64>,
    /// The elements, in the array.
    pub region: Region,
    /// The buffer is the first that meets it.
    pub is_first: bool,
    /// The buffer is the last that meets it: it is complete, and written.
    pub is_last: bool,
}

impl Buffers {
    /// The buffers of a schedule; the memory of the problem does not matter.
    pub fn new(problem: &Problem, schedule: &Schedule) -> Result<Self, KeepError> {
        let unlimited = Problem { memory_bytes: u64::MAX, ..problem.clone() };
        super::Model::new(&unlimited)?.check(schedule)?;
        let grid = |block: &[u64]| ChunkGrid::new(&problem.shape, block);
        Ok(Self {
            grid: grid(&schedule.buffer)?,
            source: grid(&problem.source_block)?,
            target: grid(&problem.target_block)?,
            kept: schedule.kept.clone(),
            step_axes: schedule.step_axes.clone(),
            source_order: problem.source_order.clone(),
            target_order: problem.target_order.clone(),
            item_bytes: problem.item_bytes,
        })
    }

    /// Number of buffers.
    pub fn count(&self) -> u64 {
        self.grid.count()
    }

    /// The grid of source files.
    pub fn source_grid(&self) -> &ChunkGrid {
        &self.source
    }

    /// The grid of target files.
    pub fn target_grid(&self) -> &ChunkGrid {
        &self.target
    }

    /// The elements of buffer `number`, counted in the order of reading.
    pub fn region(&self, number: u64) -> Region {
        self.grid.region(&self.index(number))
    }

    /// The parts of source files that make up buffer `number`.
    pub fn reads(&self, number: u64) -> impl Iterator<Item = FilePart> {
        let buffer = self.region(number);
        let files = self.source.covering(&buffer).positions_in(&self.source_order);
        files.filter_map(move |file| {
            let region = self.source.region(&file).intersect(&buffer)?;
            Some(FilePart { file, region })
        })
    }

    /// The write blocks that buffer `number` meets.
    pub fn write_blocks(&self, number: u64) -> WriteBlocks<'_> {
        let buffer = self.region(number);
        let files = self.target.covering(&buffer).positions_in(&self.target_order);
        WriteBlocks { buffers: self, buffer, files }
    }

    /// The last buffer that a write block meets: it is written when that has been read.
    pub fn last_buffer(&self, block: &WriteBlock) -> u64 {
        let buffer = self.grid.chunk_shape();
        let last = |axis| (block.region.end(axis) - 1) / buffer[axis];
        let last: Vec<u64> = (0..block.region.rank()).map(last).collect();
        self.number(&last)
    }

    /// Returns whether buffer `number` has to be read again to go on with `next`. It has, if it
    /// meets a write block that is not done once all those are whose last buffer comes before
    /// `next`.
    pub fn is_needed(&self, number: u64, next: u64) -> bool {
        if number >= next {
            return number < self.count();
        }
        if next >= self.count() {
            return false;
        }
        // Of all blocks that it meets, the one at the far end of every axis is done last.
        let buffer = self.region(number);
        let far: Vec<u64> = (0..buffer.rank()).map(|axis| buffer.end(axis) - 1).collect();
        let last: Vec<u64> = (0..far.len()).map(|axis| self.last_along(axis, far[axis])).collect();
        self.number(&last) >= next
    }

    /// The first buffer that has to be read to go on with `next` (see [`Buffers::is_needed`]).
    pub fn first_needed(&self, next: u64) -> u64 {
        (0..next).find(|&number| self.is_needed(number, next)).unwrap_or(next)
    }

    /// The runs of bytes of `region` in source file `file`, of which it must be a part.
    pub fn source_runs(&self, part: &FilePart) -> Runs {
        let file = self.source.region(&part.file);
        Runs::new(&file, &part.region, &self.source_order, self.item_bytes)
    }

    /// The runs of bytes of a write block in its target file.
    pub fn target_runs(&self, block: &WriteBlock) -> Runs {
        let file = self.target.region(&block.file);
        Runs::new(&file, &block.region, &self.target_order, self.item_bytes)
    }

    /// Place in the grid of buffer `number`.
    fn index(&self, number: u64) -> Vec<u64> {
        let mut rest = number;
        let mut index = vec![0; self.step_axes.len()];
        for &axis in self.step_axes.iter().rev() {
            let count = self.grid.count_along(axis);
            index[axis] = rest % count;
            rest /= count;
        }
        index
    }

    /// The number of the buffer at a place in the grid.
    fn number(&self, index: &[u64]) -> u64 {
        self.step_axes
            .iter()
            .fold(0, |number, &axis| number * self.grid.count_along(axis) + index[axis])
    }

    /// Along `axis`, the last buffer that the write block of element `at` meets.
    fn last_along(&self, axis: usize, at: u64) -> u64 {
        let buffer = self.grid.chunk_shape()[axis];
        if !self.kept[axis] {
            return at / buffer;
        }
        let block = self.target.chunk_shape()[axis];
        let end = ((at / block + 1) * block).min(self.grid.array_shape()[axis]);
        (end - 1) / buffer
    }
}

/// Iterator over the write blocks that a buffer meets.
#[derive(Debug, Clone)]
pub struct WriteBlocks<'a> {
    buffers: &'a Buffers,
    buffer: Region,
    files: IndexIter,
}

impl Iterator for WriteBlocks<'_> {
    type Item = WriteBlock;

    fn next(&mut self) -> Option<WriteBlock> {
        let file = self.files.next()?;
        let mut region = self.buffers.target.region(&file);
        let (mut is_first, mut is_last) = (true, true);
        for axis in 0..file.len() {
            if self.buffers.kept[axis] {
                is_first &= region.start[axis] >= self.buffer.start[axis];
                is_last &= region.end(axis) <= self.buffer.end(axis);
            } else {
                let low = region.start[axis].max(self.buffer.start[axis]);
                region.shape[axis] = region.end(axis).min(self.buffer.end(axis)) - low;
                region.start[axis] = low;
            }
        }
        Some(WriteBlock { file, region, is_first, is_last })
    }
}
