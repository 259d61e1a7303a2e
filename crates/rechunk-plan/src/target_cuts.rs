//! Counts over a target whose chunks differ in length. Boxes that are filled are groups of whole
//! chunks there, and have ends of their own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use rechunk_grid::{AxisChunks, AxisEdges, Edges};

use crate::axis_cuts::AxisCuts;
use crate::memory::SteppedAxis;

/// One axis on which target chunks differ in length.
#[derive(Debug)]
pub struct TargetAxis<'a> {
    edges: &'a AxisEdges,
    extent: u64,
    chunks: AxisCuts<'a>,
    /// Ends of the boxes by the most elements of one.
    boxes: RefCell<HashMap<u64, Rc<[u64]>>>,
}

impl<'a> TargetAxis<'a> {
    pub(crate) fn new(edges: &'a AxisEdges, extent: u64) -> Self {
        let chunks = AxisCuts::new(edges, extent, 1);
        Self { edges, extent, chunks, boxes: RefCell::default() }
    }

    /// Number of chunks.
    pub fn count(&self) -> u64 {
        self.edges.count()
    }

    /// True if every chunk ends where an input does: a chunk of the source, which has edges along
    /// `axis` or is of `input` elements.
    pub fn ends_in_source(&self, input: u64, source: Option<&Edges>, axis: usize) -> bool {
        let ends = self.edges.ends().iter().filter(|end| **end < self.extent);
        match source.and_then(|edges| edges.axis(axis)) {
            None => ends.into_iter().all(|end| end.is_multiple_of(input)),
            Some(source) if source.held().is_some() => false,
            Some(source) => ends.into_iter().all(|end| source.ends().binary_search(end).is_ok()),
        }
    }

    /// Elements of all chunks, also those beyond the end of the axis.
    pub(crate) fn stored(&self) -> u64 {
        self.edges.ends().last().copied().unwrap_or(0)
    }

    /// Lengths of chunks, elements, and how many have each.
    pub(crate) fn lengths(&self) -> Vec<(u64, u64)> {
        let mut counts = std::collections::BTreeMap::new();
        for (length, count) in self.edges.runs() {
            *counts.entry(length).or_insert(0) += count;
        }
        counts.into_iter().collect()
    }

    /// Ends of the boxes of at most `most` elements, the last that of the axis.
    pub fn box_ends(&self, most: u64) -> Rc<[u64]> {
        let mut known = self.boxes.borrow_mut();
        let found = known.entry(most).or_insert_with(|| {
            // What was checked with the target's grid cannot fail here.
            let groups = self.edges.grouped(0, self.extent, most);
            let ends: Vec<u64> = match groups {
                Ok(AxisChunks::Edges(edges)) => edges.ends().to_vec(),
                Ok(AxisChunks::Regular(length)) => {
                    (1..=self.extent.div_ceil(length.max(1))).map(|at| at * length).collect()
                }
                Err(_) => vec![self.extent],
            };
            ends.into_iter().map(|end| end.min(self.extent)).collect()
        });
        Rc::clone(found)
    }

    /// Most elements of a box.
    pub fn box_max(&self, most: u64) -> u64 {
        boxes(&self.box_ends(most)).map(|(start, end)| end - start).max().unwrap_or(0)
    }

    /// Most chunks of a box.
    pub(crate) fn chunks_max(&self, most: u64) -> u64 {
        let ends = self.box_ends(most);
        let chunks = |(start, end): (u64, u64)| {
            self.edges.position(end.saturating_sub(1)) + 1 - self.edges.position(start)
        };
        boxes(&ends).map(chunks).max().unwrap_or(1)
    }

    /// Most chunks that an interval of `extent` elements meets, wherever it starts.
    pub(crate) fn touched_max(&self, extent: u64) -> u64 {
        self.chunks.touched_max(extent.max(1))
    }

    /// The axis of a box of at most `most` elements, as [`SteppedAxis::new`] has it for a regular
    /// one. `source` are its cuts, where inputs differ in length too; else they have `input`
    /// elements.
    pub(crate) fn stepped(
        &self,
        (most, is_whole): (u64, bool),
        source: Option<&AxisCuts<'_>>,
        (input, step_chunks): (u64, u64),
    ) -> SteppedAxis {
        let units = self.chunks_max(most);
        let tile = self.box_max(most);
        let inputs = match source {
            Some(source) => source.touched_max(tile),
            None => tile.div_ceil(input) + u64::from(!is_whole),
        };
        if step_chunks >= inputs {
            return SteppedAxis { units, touched: units, carries: false, is_whole: true };
        }
        let window = match source {
            Some(source) => source.window_max(step_chunks),
            None => input.saturating_mul(step_chunks),
        };
        let touched = self.touched_max(window).min(units);
        SteppedAxis { units, touched, carries: true, is_whole: false }
    }

    /// Number of pairs (box, cell of a regular grid) that share an element along the axis.
    pub(crate) fn pairs(&self, most: u64, cell: u64) -> u64 {
        let met = |(start, end): (u64, u64)| (end - 1) / cell - start / cell + 1;
        boxes(&self.box_ends(most)).map(met).fold(0, u64::saturating_add)
    }

    /// Number of pairs (box, chunk of an axis with edges) with an element in common, and the
    /// elements of the chunks of all pairs.
    pub(crate) fn pairs_with(&self, most: u64, source: &AxisEdges) -> (u64, u64) {
        let ends = self.box_ends(most);
        boxes(&ends).fold((0, 0), |(pairs, elements), (start, end)| {
            let (first, last) = (source.position(start), source.position(end - 1));
            let from = source.chunk(first).map_or(start, |(start, _)| start);
            let to = source.chunk(last).map_or(end, |(start, length)| start + length);
            (pairs + (last - first + 1), elements + (to - from))
        })
    }

    /// Number of parts that chunks and a regular grid of `cell` cut the axis into.
    pub(crate) fn parts(&self, cell: u64) -> u64 {
        self.pairs(1, cell)
    }

    /// Chunks that lie wholly in `from..end`, and their elements.
    pub(crate) fn inside(&self, from: u64, end: u64) -> (u64, u64) {
        let is_inside = |&(start, stop): &(u64, u64)| start >= from && stop.min(self.extent) <= end;
        let chunks = self.edges.chunks().filter(is_inside);
        chunks.fold((0, 0), |(count, elements), (start, stop)| (count + 1, elements + stop - start))
    }
}

/// Start and end of each box, of those that have these ends; none that is empty.
fn boxes(ends: &[u64]) -> impl Iterator<Item = (u64, u64)> + '_ {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends.iter().copied()).filter(|(start, end)| start < end)
}
