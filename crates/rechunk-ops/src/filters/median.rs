//! Medians of a box window.

use std::ops::Range;
use std::sync::Arc;

use rechunk_grid::DataType;

use super::window::{halo, reaches};
use crate::element::{Element, Key, for_elements, supported};
use crate::error::OpError;
use crate::info::{OperationInfo, Parameter};
use crate::operation::{Operation, check_run};
use crate::settings::{PerAxis, Settings, bad_setting, identity};
use crate::view::{BoxView, Outcome, TaskContext, elements_mut, extents};

pub(crate) const INFO: OperationInfo = OperationInfo::new(
    "median",
    "median of a box window: one of its elements, exactly; of bool, the majority",
    "the source's type",
    &[Parameter::new("size", "odd sizes, one or one for each axis", "elements of the window")],
);

/// Elements of a window at most.
const ELEMENTS_MAX: usize = 1 << 20;
/// Elements of a window of 16-bit integers from which on they are counted, not selected.
const COUNTED_FROM: usize = 100;

#[derive(Debug)]
struct Median {
    size: PerAxis<u64>,
}

pub(crate) fn build(settings: &Settings<'_>) -> Result<Arc<dyn Operation>, OpError> {
    Ok(Arc::new(Median { size: settings.window("size")? }))
}

/// A window that moves along a row: columns of keys leave and enter.
trait Moving<K: Key> {
    /// Forgets all keys.
    fn clear(&mut self);
    /// Adds a column; the oldest one leaves if the window is full.
    fn push(&mut self, column: impl Iterator<Item = K>);
    /// The median of a full window; the largest key if it is among them and `is_float`.
    fn median(&mut self, is_float: bool) -> K;
}

/// A window whose median is selected.
struct Selected<K> {
    /// Keys, column by column; the next one goes to `next`.
    ring: Vec<K>,
    next: usize,
    sorted: Vec<K>,
}

impl<K: Key> Selected<K> {
    fn new(elements: usize) -> Self {
        Self { ring: vec![K::MIN; elements], next: 0, sorted: vec![K::MIN; elements] }
    }
}

impl<K: Key> Moving<K> for Selected<K> {
    fn clear(&mut self) {
        self.next = 0;
    }

    fn push(&mut self, column: impl Iterator<Item = K>) {
        for key in column {
            self.ring[self.next] = key;
            self.next = (self.next + 1) % self.ring.len();
        }
    }

    fn median(&mut self, is_float: bool) -> K {
        if is_float && self.ring.contains(&K::MAX) {
            return K::MAX;
        }
        self.sorted.copy_from_slice(&self.ring);
        let middle = self.sorted.len() / 2;
        *self.sorted.select_nth_unstable(middle).1
    }
}

/// A window whose keys are counted: of 8 bits, or of 16 in large windows. As in Huang, Yang and
/// Tang, "A fast two-dimensional median filtering algorithm", 1979, with counts of groups of
/// values.
struct Counted<K> {
    ring: Vec<K>,
    next: usize,
    held: usize,
    counts: Vec<u32>,
    groups: Vec<u32>,
    group_bits: u32,
}

impl<K: Key> Counted<K> {
    fn new(elements: usize) -> Self {
        let bits = 8 * u32::try_from(size_of::<K>().min(2)).unwrap_or(2);
        let group_bits = bits / 2;
        Self {
            ring: vec![K::MIN; elements],
            next: 0,
            held: 0,
            counts: vec![0; 1 << bits],
            groups: vec![0; 1 << (bits - group_bits)],
            group_bits,
        }
    }

    /// Position of a key in the counts.
    fn index(key: K) -> usize {
        usize::try_from(key.to_u64()).unwrap_or(usize::MAX)
    }
}

impl<K: Key> Moving<K> for Counted<K> {
    fn clear(&mut self) {
        self.counts.fill(0);
        self.groups.fill(0);
        (self.next, self.held) = (0, 0);
    }

    fn push(&mut self, column: impl Iterator<Item = K>) {
        for key in column {
            if self.held == self.ring.len() {
                let leaving = Self::index(self.ring[self.next]);
                self.counts[leaving] -= 1;
                self.groups[leaving >> self.group_bits] -= 1;
            } else {
                self.held += 1;
            }
            self.ring[self.next] = key;
            self.next = (self.next + 1) % self.ring.len();
            let entering = Self::index(key);
            self.counts[entering] += 1;
            self.groups[entering >> self.group_bits] += 1;
        }
    }

    fn median(&mut self, is_float: bool) -> K {
        if is_float && self.counts.last().is_some_and(|&count| count > 0) {
            return K::MAX;
        }
        let mut rest = u32::try_from(self.ring.len() / 2).unwrap_or(u32::MAX);
        let mut group = 0;
        while rest >= self.groups[group] {
            rest -= self.groups[group];
            group += 1;
        }
        let mut index = group << self.group_bits;
        while rest >= self.counts[index] {
            rest -= self.counts[index];
            index += 1;
        }
        K::from_u64(index as u64)
    }
}

/// A box whose medians are computed.
struct Job<'a, T> {
    input: &'a [T],
    shape: &'a [usize],
    keep: &'a [Range<usize>],
    reaches: &'a [usize],
}

impl<T: Element> Job<'_, T> {
    fn elements(&self) -> usize {
        self.reaches.iter().map(|reach| 2 * reach + 1).product()
    }

    fn run(&self, out: &mut [T]) {
        if self.keep.iter().any(Range::is_empty) {
            return;
        }
        let elements = self.elements();
        match size_of::<T>() {
            1 => self.rows(&mut Counted::<T::Key>::new(elements), out),
            2 if elements >= COUNTED_FROM => {
                self.rows(&mut Counted::<T::Key>::new(elements), out);
            }
            _ => self.rows(&mut Selected::<T::Key>::new(elements), out),
        }
    }

    /// Moves a window along each row that is kept.
    fn rows(&self, window: &mut impl Moving<T::Key>, out: &mut [T]) {
        let last = self.shape.len() - 1;
        let (extent, reach, keep) = (self.shape[last], self.reaches[last], &self.keep[last]);
        let rows: usize = self.shape[..last].iter().product();
        let mut starts = Vec::new();
        for row in 0..rows {
            let Some(index) = self.index(row, last) else { continue };
            self.window_rows(&index, &mut starts);
            window.clear();
            let column = |at: usize| at.saturating_sub(reach).min(extent - 1);
            let keys = |at: usize| {
                let at = column(at);
                starts.iter().map(move |start| self.input[start + at].to_key())
            };
            for at in keep.start..keep.start + 2 * reach {
                window.push(keys(at));
            }
            let out = &mut out[row * extent..][..extent];
            for at in keep.clone() {
                window.push(keys(at + 2 * reach));
                out[at] = T::from_key(window.median(T::IS_FLOAT));
            }
        }
    }

    /// The index of a row over the axes before `last`, if it is kept.
    fn index(&self, mut row: usize, last: usize) -> Option<Vec<usize>> {
        let mut index = vec![0; last];
        for axis in (0..last).rev() {
            index[axis] = row % self.shape[axis];
            row /= self.shape[axis];
        }
        let is_kept = index.iter().zip(self.keep).all(|(at, keep)| keep.contains(at));
        is_kept.then_some(index)
    }

    /// Positions of the first elements of the rows of the window around a row.
    fn window_rows(&self, index: &[usize], starts: &mut Vec<usize>) {
        starts.clear();
        starts.push(0);
        for (axis, &at) in index.iter().enumerate() {
            let reach = self.reaches[axis];
            let extent = self.shape[axis];
            let near = (at..=at + 2 * reach).map(|row| row.saturating_sub(reach).min(extent - 1));
            let near: Vec<_> = near.collect();
            let all =
                starts.iter().flat_map(|start| near.iter().map(move |at| start * extent + at));
            *starts = all.collect();
        }
        let extent = self.shape[index.len()];
        for start in starts {
            *start *= extent;
        }
    }
}

impl Median {
    fn reaches(&self, rank: usize) -> Result<Vec<usize>, OpError> {
        let reaches = reaches(INFO.name, &self.size, rank)?;
        let elements: usize = reaches.iter().map(|reach| 2 * reach + 1).product();
        if elements <= ELEMENTS_MAX {
            return Ok(reaches);
        }
        let wanted = format!("the window of a median has at most {ELEMENTS_MAX} elements");
        Err(bad_setting(INFO.name, "size", &self.size.canonical(), wanted))
    }
}

impl Operation for Median {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn identity(&self) -> String {
        identity(INFO.name, 1, &[("size", self.size.canonical())])
    }

    fn halo(&self, rank: usize) -> Result<Vec<[u64; 2]>, OpError> {
        Ok(halo(&self.reaches(rank)?))
    }

    fn output_type(&self, input: DataType) -> Result<DataType, OpError> {
        supported(INFO.name, input)
    }

    fn scratch_bytes(&self, shape: &[u64], input: DataType) -> u64 {
        const COUNTS_BYTES: u64 = 4 * ((1 << 16) + (1 << 8));
        let Ok(reaches) = self.reaches(shape.len()) else { return 0 };
        let elements: u64 = reaches.iter().map(|&reach| 2 * reach as u64 + 1).product();
        // Two copies of a window, positions of its rows twice, and counts.
        elements * (2 * input.item_bytes() + 16) + COUNTS_BYTES
    }

    fn run(
        &self,
        inputs: &[BoxView<'_>],
        out: &mut [u8],
        context: &TaskContext,
    ) -> Result<Outcome, OpError> {
        let input = check_run(self, inputs, out, context)?;
        let mut reaches = self.reaches(input.shape.len())?;
        let (mut shape, mut keep) = (extents(input.shape), context.ranges());
        if shape.is_empty() {
            shape.push(1);
            keep.push(0..1);
            reaches.push(0);
        }
        for_elements!(INFO.name, input.data_type, T => {
            let elements = input.elements::<T>(INFO.name)?;
            let job = Job { input: elements, shape: &shape, keep: &keep, reaches: &reaches };
            job.run(elements_mut::<T>(INFO.name, out)?);
        });
        Ok(Outcome::Done)
    }
}
