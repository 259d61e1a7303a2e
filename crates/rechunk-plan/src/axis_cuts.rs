//! One axis on which chunks differ in length: what regular grids have closed forms for is found by
//! walking the list, each question once.

use std::cell::RefCell;
use std::collections::HashMap;

use rechunk_grid::AxisEdges;

use crate::count::{cells_touched_max, gcd};
use crate::memory::{CellAxis, SteppedAxis};

/// Most cuts that are looked at to find a box that ends on cuts.
const LOOKS_MAX: u64 = 1 << 22;

/// One axis on which chunks differ in length.
#[derive(Debug)]
pub struct AxisCuts<'a> {
    edges: &'a AxisEdges,
    extent: u64,
    /// All ends but the last are multiples of it.
    grain: u64,
    /// Extent of the smallest box all of whose ends are ends of chunks and of target objects.
    common: u64,
    /// Extent of the smallest box all of whose ends are ends of chunks.
    aligned: u64,
    pairs: Memo<(u64, u64)>,
    touched: Memo<u64>,
    windows: Memo<u64>,
}

/// Answers by what was asked for.
#[derive(Debug, Default)]
struct Memo<V>(RefCell<HashMap<u64, V>>);

impl<V: Copy> Memo<V> {
    fn get(&self, key: u64, compute: impl FnOnce() -> V) -> V {
        *self.0.borrow_mut().entry(key).or_insert_with(compute)
    }
}

impl<'a> AxisCuts<'a> {
    pub(crate) fn new(edges: &'a AxisEdges, extent: u64, commit: u64) -> Self {
        let inner = edges.ends().split_last().map_or(&[][..], |(_, inner)| inner);
        Self {
            edges,
            extent,
            grain: inner.iter().fold(0, |grain, &end| gcd(grain, end)).max(1),
            common: common(inner, extent, commit.max(1)),
            aligned: common(inner, extent, 1),
            pairs: Memo::default(),
            touched: Memo::default(),
            windows: Memo::default(),
        }
    }

    /// Number of chunks.
    pub fn count(&self) -> u64 {
        self.edges.count()
    }

    /// Ends of the chunks.
    pub(crate) fn edges(&self) -> &'a AxisEdges {
        self.edges
    }

    /// Extent of the smallest box whose ends are all ends of chunks and of target objects.
    pub fn common(&self) -> u64 {
        self.common
    }

    /// Extent of the smallest box whose ends are all ends of chunks.
    pub fn aligned(&self) -> u64 {
        self.aligned
    }

    /// First element and end of what each chunk stands for.
    fn reaches(&self) -> impl Iterator<Item = (u64, u64)> {
        (0..self.count()).filter_map(|at| self.edges.reach(at, self.extent))
    }

    /// Number of pairs (box of `box_extent`, source chunk) that share an element along the axis,
    /// and the elements of the chunks of all pairs.
    pub fn pairs(&self, box_extent: u64) -> (u64, u64) {
        self.pairs.get(box_extent, || {
            let stored = self.edges.chunks().map(|(start, end)| end - start);
            self.reaches().zip(stored).fold((0_u64, 0_u64), |(pairs, elements), (reach, stored)| {
                let met = (reach.1 - 1) / box_extent - reach.0 / box_extent + 1;
                let own = met.saturating_mul(stored);
                (pairs.saturating_add(met), elements.saturating_add(own))
            })
        })
    }

    /// Most chunks that an interval of `extent` elements meets, wherever it starts.
    pub(crate) fn touched_max(&self, extent: u64) -> u64 {
        self.touched.get(extent, || {
            let ends = self.edges.ends();
            let (mut last, mut most) = (0, 0);
            for (first, &end) in ends.iter().enumerate() {
                // It meets most if it starts with the last element of a chunk.
                let until = end.saturating_add(extent - 1).min(self.extent);
                while last + 1 < ends.len() && ends[last] < until {
                    last += 1;
                }
                most = most.max(last - first + 1);
            }
            most as u64
        })
    }

    /// End of the last chunk, or of the gap behind it.
    fn end(&self) -> u64 {
        self.edges.ends().last().map_or(self.extent, |end| (*end).max(self.extent))
    }

    /// Most elements that `chunks` neighbouring chunks have.
    pub(crate) fn window_max(&self, chunks: u64) -> u64 {
        self.windows.get(chunks, || {
            let ends = self.edges.ends();
            let step = usize::try_from(chunks.min(self.count())).unwrap_or(ends.len()).max(1);
            // A gap at the end is met with the last chunk; one that is padded has no more than
            // before.
            let end = |at: usize| if at + 1 < ends.len() { ends[at] } else { self.end() };
            let window = |(first, (start, _)): (usize, (u64, u64))| end(first + step - 1) - start;
            self.reaches().enumerate().map(window).max().unwrap_or(0)
        })
    }

    /// The axis as [`SteppedAxis::new`] has it for a regular one.
    pub(crate) fn stepped(&self, tile: u64, unit: u64, step_chunks: u64) -> SteppedAxis {
        let units = tile.div_ceil(unit);
        if step_chunks >= self.touched_max(tile) {
            return SteppedAxis { units, touched: units, carries: false, is_whole: true };
        }
        let window = self.window_max(step_chunks);
        let touched = cells_touched_max(window, self.grain, unit).min(units);
        SteppedAxis { units, touched, carries: !self.grain.is_multiple_of(unit), is_whole: false }
    }

    /// Sizes that bound the cells of `cell` that a tile needs at once.
    pub(crate) fn cells(&self, tile: u64, cell: u64, step_chunks: u64) -> CellAxis {
        CellAxis {
            tile,
            is_whole: tile >= self.extent,
            start_grain: tile,
            grain: self.grain,
            window: self.window_max(step_chunks),
            is_one_step: step_chunks >= self.touched_max(tile),
            cell,
        }
    }
}

/// Finds the smallest end that is a multiple of `commit` and whose multiples are all ends too.
/// Otherwise the axis, whose end is an end of every grid.
fn common(inner: &[u64], extent: u64, commit: u64) -> u64 {
    let mut looks = 0;
    for &end in inner.iter().filter(|end| end.is_multiple_of(commit)) {
        let mut multiple = end;
        while multiple < extent && inner.binary_search(&multiple).is_ok() {
            multiple = multiple.saturating_add(end);
            looks += 1;
        }
        if multiple >= extent {
            return end;
        }
        looks += 1;
        if looks > LOOKS_MAX {
            break;
        }
    }
    extent
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rechunk_grid::{AxisChunks, ChunkGrid, Edges, Region};

    /// Lengths that are not all equal, or gaps at the ends, and an extent that the last of them
    /// reaches.
    fn axes() -> impl Strategy<Value = (AxisEdges, u64)> {
        let runs = prop::collection::vec((1_u64..9, 1_u64..4), 1..8);
        let gap = prop_oneof![Just(0), 0_u64..12];
        (runs, 0_u64..8, gap.clone(), gap).prop_filter_map("regular", |(runs, short, a, b)| {
            let all: u64 = runs.iter().map(|(length, count)| length * count).sum();
            let held = all.saturating_sub(short).max(1);
            let extent = a + held + b;
            let chunks = AxisChunks::of_runs(0, held, runs).unwrap();
            let edges = chunks.within(0, extent, (a, a + held)).unwrap().into_edges()?;
            Some((edges, extent))
        })
    }

    fn grid(edges: &AxisEdges, extent: u64) -> ChunkGrid {
        let all = Edges::new(vec![Some(edges.clone())]);
        ChunkGrid::with_edges(&[extent], &[edges.longest()], all.as_ref()).unwrap()
    }

    fn boxes(extent: u64, length: u64) -> impl Iterator<Item = Region> {
        (0..extent.div_ceil(length))
            .map(move |at| Region::new(vec![at * length], vec![length.min(extent - at * length)]))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn pairs_are_counted((edges, extent) in axes(), length in 1_u64..70) {
            let cuts = AxisCuts::new(&edges, extent, 1);
            let grid = grid(&edges, extent);
            let (mut pairs, mut elements, mut most) = (0, 0, 0);
            for part in boxes(extent, length) {
                let met = grid.covering(&part);
                pairs += met.elements();
                most = most.max(met.elements());
                elements += met.positions().map(|at| grid.chunk(&at).elements()).sum::<u64>();
            }
            prop_assert_eq!(cuts.pairs(length), (pairs, elements));
            prop_assert!(most <= cuts.touched_max(length));
            // And no interval at all meets more; some interval meets as many.
            let most = (0..extent)
                .map(|at| Region::new(vec![at], vec![length.min(extent - at)]))
                .map(|part| grid.covering(&part).elements());
            prop_assert_eq!(most.max(), Some(cuts.touched_max(length)));
        }

        #[test]
        fn common_boxes_end_on_cuts((edges, extent) in axes(), commit in 1_u64..12) {
            let cuts = AxisCuts::new(&edges, extent, commit);
            // The last chunk ends with the axis, or stands for the gap behind it.
            let (_, ends) = edges.ends().split_last().unwrap();
            let fits = |length: &u64| {
                let mut all = (0..extent.div_ceil(*length)).skip(1).map(|k| k * length);
                length.is_multiple_of(commit) && all.all(|end| ends.contains(&end))
            };
            let smallest = (1..extent).find(fits).unwrap_or(extent);
            prop_assert_eq!(cuts.common(), smallest);
            prop_assert_eq!(cuts.aligned(), AxisCuts::new(&edges, extent, 1).common());
        }
    }
}
