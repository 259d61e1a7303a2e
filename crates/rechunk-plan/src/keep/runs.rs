//! The runs of contiguous bytes that a part of a file consists of.

use rechunk_grid::Region;

/// A run of contiguous bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// Where it starts in the file, bytes.
    pub offset_bytes: u64,
    /// Its length, bytes.
    pub length_bytes: u64,
    /// Its first element, in the array; its elements are a box of [`Runs::run_shape`] from there.
    pub start: Vec<u64>,
}

/// Iterator over the runs of a part of a file, by their offsets; no two could be one.
#[derive(Debug, Clone)]
pub struct Runs {
    part: Region,
    /// By axis: bytes between two neighbours in the file.
    strides: Vec<u64>,
    /// Offset of the part's first element, bytes.
    first_bytes: u64,
    /// Axes that runs are single places of, slowest first.
    outer: Vec<usize>,
    /// Elements of a run, the same for all.
    run_shape: Vec<u64>,
    length_bytes: u64,
    /// Next run, by axis, from the start of the part.
    next: Vec<u64>,
    is_done: bool,
}

impl Runs {
    /// Cuts `part` of a file into runs; it must lie in `file`, the file's box of the array. The
    /// file stores elements of `item_bytes` in the order of axes `order`, slowest first.
    pub fn new(file: &Region, part: &Region, order: &[usize], item_bytes: u64) -> Self {
        debug_assert!(file.contains(part));
        let mut strides = vec![0; order.len()];
        let (mut stride, mut first_bytes) = (item_bytes, 0);
        for &axis in order.iter().rev() {
            strides[axis] = stride;
            first_bytes += (part.start[axis] - file.start[axis]) * stride;
            stride *= file.shape[axis];
        }
        // From the fastest axis on: all of the file's axes it spans, and one more, are one run.
        let spanned = order.iter().rev().take_while(|&&axis| part.shape[axis] == file.shape[axis]);
        let outer = order[..order.len().saturating_sub(spanned.count() + 1)].to_vec();
        let mut run_shape = part.shape.clone();
        for &axis in &outer {
            run_shape[axis] = 1;
        }
        Self {
            length_bytes: run_shape.iter().product::<u64>() * item_bytes,
            next: vec![0; order.len()],
            is_done: part.is_empty(),
            part: part.clone(),
            strides,
            first_bytes,
            outer,
            run_shape,
        }
    }

    /// Number of runs of the part, those that were taken included.
    pub fn total(&self) -> u64 {
        if self.part.is_empty() {
            return 0;
        }
        self.outer.iter().map(|&axis| self.part.shape[axis]).product()
    }

    /// Elements of every run, a box in C order of the array's axes.
    pub fn run_shape(&self) -> &[u64] {
        &self.run_shape
    }

    /// Length of every run, bytes.
    pub fn run_bytes(&self) -> u64 {
        self.length_bytes
    }

    /// Where the next run starts in the file, bytes: [`Iterator::next`] for who has millions of
    /// them to go through and needs no more.
    pub fn next_offset(&mut self) -> Option<u64> {
        if self.is_done {
            return None;
        }
        let offset = self.next.iter().zip(&self.strides).map(|(at, stride)| at * stride);
        let offset_bytes = self.first_bytes + offset.sum::<u64>();
        self.is_done = true;
        for &axis in self.outer.iter().rev() {
            self.next[axis] += 1;
            if self.next[axis] < self.part.shape[axis] {
                self.is_done = false;
                break;
            }
            self.next[axis] = 0;
        }
        Some(offset_bytes)
    }
}

impl Iterator for Runs {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let start = self.part.start.iter().zip(&self.next).map(|(start, at)| start + at).collect();
        let offset_bytes = self.next_offset()?;
        Some(Run { offset_bytes, length_bytes: self.length_bytes, start })
    }
}
