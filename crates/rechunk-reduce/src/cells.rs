//! Cells of a box: their geometry, and walks over their rows.

use rechunk_grid::format_shape;

use crate::error::ReduceError;

/// Cells of a block, at most.
pub(crate) const BLOCK_CELLS: usize = 1024;
/// Longer axes of factor 1 are rows of their own.
const LANES_MAX: usize = 16;

/// An axis of a box.
#[derive(Debug, Clone, Copy)]
struct Axis {
    extent: usize,
    /// At most the extent, but at least 1.
    factor: usize,
    /// Elements between neighbours.
    stride: usize,
}

impl Axis {
    fn cells(self) -> usize {
        self.extent.div_ceil(self.factor)
    }

    /// Elements of a cell along the axis.
    fn length(self, cell: usize) -> usize {
        self.factor.min(self.extent - cell * self.factor)
    }

    /// Whether it has one cell.
    fn is_whole(self) -> bool {
        self.factor == self.extent
    }
}

/// A box that is cut into cells. Axes that behave as one are one here.
#[derive(Debug)]
pub(crate) struct Cells {
    outer: Vec<Axis>,
    last: Axis,
    /// Elements of a short axis of factor 1 after `last`, as the colours of pixels; 1 without it.
    lanes: usize,
    elements: usize,
    count: usize,
}

impl Cells {
    /// Cuts a box of `shape` elements; refuses factors that do not belong to it.
    pub(crate) fn new(shape: &[u64], factors: &[u64]) -> Result<Self, ReduceError> {
        if factors.len() != shape.len() {
            return Err(ReduceError::Rank { given: factors.len(), rank: shape.len() });
        }
        if let Some(axis) = factors.iter().position(|&factor| factor == 0) {
            return Err(ReduceError::Factor { axis });
        }
        let too_large = || ReduceError::TooLarge { shape: format_shape(shape) };
        let mut axes = Vec::<Axis>::with_capacity(shape.len());
        let (mut elements, mut cells) = (1_usize, 1_usize);
        let mut is_empty = false;
        for (&extent, &factor) in shape.iter().zip(factors) {
            let extent = usize::try_from(extent).map_err(|_| too_large())?;
            let factor = usize::try_from(factor).unwrap_or(usize::MAX).min(extent.max(1));
            if extent == 0 {
                is_empty = true;
                continue;
            }
            elements = elements.checked_mul(extent).ok_or_else(too_large)?;
            let axis = Axis { extent, factor, stride: 1 };
            cells *= axis.cells();
            join(&mut axes, axis);
        }
        let mut stride = 1;
        for axis in axes.iter_mut().rev() {
            axis.stride = stride;
            stride *= axis.extent;
        }
        let mut last = axes.pop().unwrap_or(Axis { extent: 1, factor: 1, stride: 1 });
        let mut lanes = 1;
        if last.factor == 1
            && last.extent <= LANES_MAX
            && let Some(before) = axes.pop()
        {
            lanes = last.extent;
            last = before;
        }
        let (elements, count) = if is_empty { (0, 0) } else { (elements, cells) };
        Ok(Self { outer: axes, last, lanes, elements, count })
    }

    /// Elements of the box.
    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// Number of cells.
    pub(crate) fn cells(&self) -> usize {
        self.count
    }

    /// Elements of the largest cell.
    pub(crate) fn volume(&self) -> u64 {
        self.outer.iter().chain([&self.last]).map(|axis| axis.factor as u64).product()
    }

    /// Calls `each` with blocks that hold every cell once, in C order.
    pub(crate) fn for_blocks(&self, mut each: impl FnMut(&Block<'_>)) {
        if self.count == 0 {
            return;
        }
        let axes = self.outer.len();
        let mut index = vec![0; axes];
        let mut lengths: Vec<_> =
            self.outer.iter().map(|axis| (axis.length(0), axis.stride)).collect();
        let (mut start, mut first_cell) = (0, 0);
        loop {
            self.for_blocks_of_row(&lengths, start, first_cell, &mut each);
            first_cell += self.last.cells() * self.lanes;
            let mut axis = axes;
            loop {
                if axis == 0 {
                    return;
                }
                axis -= 1;
                let of = self.outer[axis];
                index[axis] += 1;
                if index[axis] < of.cells() {
                    start += of.factor * of.stride;
                    lengths[axis].0 = of.length(index[axis]);
                    break;
                }
                start -= (index[axis] - 1) * of.factor * of.stride;
                index[axis] = 0;
                lengths[axis].0 = of.length(0);
            }
        }
    }

    /// Blocks of whole cells, and one of the cell that the end cuts.
    fn for_blocks_of_row(
        &self,
        axes: &[(usize, usize)],
        start: usize,
        first_cell: usize,
        each: &mut impl FnMut(&Block<'_>),
    ) {
        let rows: usize = axes.iter().map(|&(length, _)| length).product();
        let Axis { extent, factor, .. } = self.last;
        let lanes = self.lanes;
        let block = Block { axes, rows, start, first_cell, cells: 0, factor, lanes };
        let (whole, rest) = (extent / factor * lanes, extent % factor);
        let most = BLOCK_CELLS / lanes * lanes;
        let mut done = 0;
        while done < whole {
            let cells = (whole - done).min(most);
            each(&block.part(done, cells));
            done += cells;
        }
        if rest > 0 {
            each(&Block { factor: rest, ..block.part(whole, lanes) });
        }
    }
}

/// Elements of a box of these lengths; refuses more than can be addressed.
pub(crate) fn product(lengths: impl Iterator<Item = u64> + Clone) -> Result<usize, ReduceError> {
    let mut sizes = lengths.clone().map(usize::try_from);
    let product = sizes.try_fold(1_usize, |product, size| product.checked_mul(size.ok()?));
    product
        .ok_or_else(|| ReduceError::TooLarge { shape: format_shape(&lengths.collect::<Vec<_>>()) })
}

/// Adds an axis, or makes it and the one before it one, if that has the cells of both.
fn join(axes: &mut Vec<Axis>, axis: Axis) {
    if axis.extent == 1 {
        return;
    }
    match axes.last_mut() {
        Some(before) if before.factor == 1 && axis.factor == 1 => before.extent *= axis.extent,
        Some(before) if before.is_whole() && axis.is_whole() => {
            before.extent *= axis.extent;
            before.factor = before.extent;
        }
        _ => axes.push(axis),
    }
}

/// Cells that are neighbours along the last axis and have equally many elements.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    /// Length and stride, in elements, of a cell along the axes before the last.
    axes: &'a [(usize, usize)],
    rows: usize,
    start: usize,
    first_cell: usize,
    /// Number of cells, at most [`BLOCK_CELLS`]; a multiple of `lanes`.
    pub(crate) cells: usize,
    /// Elements of a cell along the last axis.
    pub(crate) factor: usize,
    /// Cells whose elements alternate: each element is as many after the one before it.
    pub(crate) lanes: usize,
}

impl Block<'_> {
    /// Elements of each cell.
    pub(crate) fn volume(&self) -> usize {
        self.rows * self.factor
    }

    /// Index of the first element.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Range of the cells among those of the box.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.first_cell..self.first_cell + self.cells
    }

    /// Elements of a row of all cells.
    pub(crate) fn row_length(&self) -> usize {
        self.cells * self.factor
    }

    /// Calls `each` with the index of the first element of each row, in C order.
    pub(crate) fn for_rows(&self, mut each: impl FnMut(usize)) {
        walk(self.axes, self.start, &mut each);
    }

    /// Calls `each` with the index of each element of a cell, in C order.
    pub(crate) fn for_elements(&self, cell: usize, mut each: impl FnMut(usize)) {
        let (pixel, lane) = (cell / self.lanes, cell % self.lanes);
        let first = pixel * self.lanes * self.factor + lane;
        self.for_rows(|start| {
            (0..self.factor).for_each(|at| each(start + first + at * self.lanes));
        });
    }

    /// Some of the cells; `from` and `cells` are multiples of `lanes`.
    pub(crate) fn part(&self, from: usize, cells: usize) -> Self {
        let (start, first_cell) = (self.start + from * self.factor, self.first_cell + from);
        Self { start, first_cell, cells, ..*self }
    }

    /// Calls `each` with blocks of at most `cells` cells, or of `lanes`, and their range in this.
    pub(crate) fn for_parts(
        &self,
        cells: usize,
        mut each: impl FnMut(&Self, std::ops::Range<usize>),
    ) {
        let most = (cells / self.lanes).max(1) * self.lanes;
        let mut from = 0;
        while from < self.cells {
            let cells = most.min(self.cells - from);
            each(&self.part(from, cells), from..from + cells);
            from += cells;
        }
    }
}

fn walk(axes: &[(usize, usize)], start: usize, each: &mut impl FnMut(usize)) {
    match *axes {
        [] => each(start),
        [(length, stride)] => (0..length).for_each(|at| each(start + at * stride)),
        [(length, stride), ref rest @ ..] => {
            (0..length).for_each(|at| walk(rest, start + at * stride, each));
        }
    }
}
