//! Where the tasks of a stage are: computed from the plan on demand, never listed.

use std::ops::Range;

use rechunk_grid::{ChunkGrid, GridError, IndexIter, Region};

use crate::absence::AbsenceMarks;
use crate::count::{pairs_between, product};
use crate::{Plan, Stage};

/// Length of the checksum that every piece of an intermediate ends with, bytes.
pub const PIECE_CHECKSUM_BYTES: u64 = 4;

/// The grids of one stage.
#[derive(Debug, Clone)]
pub struct StageGeometry {
    tiles: ChunkGrid,
    boxes: ChunkGrid,
    input: ChunkGrid,
    grain: ChunkGrid,
    output: ChunkGrid,
    commit: ChunkGrid,
    step_chunks: Vec<u64>,
    step_axes: Vec<usize>,
    item_bytes: u64,
    output_is_pieces: bool,
    /// Marks of absence that pieces to be read keep behind their elements.
    read_marks: Option<AbsenceMarks>,
    /// And those that are written.
    written_marks: Option<AbsenceMarks>,
}

impl Plan {
    /// Returns where the tasks of stage `stage` are and what they read and write.
    pub fn geometry(&self, stage: usize) -> Result<StageGeometry, GridError> {
        StageGeometry::new(self, &self.stages[stage])
    }
}

impl StageGeometry {
    fn new(plan: &Plan, stage: &Stage) -> Result<Self, GridError> {
        let (read_in, written) = (stage.read_in(plan), stage.output(plan));
        // Boxes that are filled with target chunks of different lengths are groups of them.
        let of_boxes =
            |shape: &[u64]| ChunkGrid::of_groups(&stage.shape, shape, stage.target_edges(plan));
        let read = stage.input(plan);
        // A source that has edges has no shards.
        let input = |chunk: &[u64]| ChunkGrid::with_edges(&read.shape, chunk, read.edges.as_ref());
        let output = |unit: &[u64]| match read_in {
            Some(_) => {
                let edges = stage.reader(plan).and_then(|reader| reader.target_edges(plan));
                ChunkGrid::of_groups(&written.shape, unit, edges)
            }
            None => ChunkGrid::with_edges(&written.shape, unit, written.edges.as_ref()),
        };
        Ok(Self {
            tiles: of_boxes(&stage.tile)?,
            boxes: of_boxes(stage.filled())?,
            input: input(stage.fetch_shape(plan))?,
            grain: input(stage.grain_shape(plan))?,
            output: output(stage.unit_shape(plan))?,
            commit: output(stage.commit_shape(plan))?,
            step_chunks: stage.step_chunks.clone(),
            step_axes: stage.step_axes.clone(),
            item_bytes: written.item_bytes,
            output_is_pieces: !stage.writes_target(),
            read_marks: marks(plan, stage.filled())?,
            written_marks: match read_in {
                Some(read_in) => marks(plan, read_in)?,
                None => None,
            },
        })
    }

    /// Number of tasks.
    pub fn task_count(&self) -> u64 {
        self.tiles.count()
    }

    /// The region task `task` owns.
    pub fn tile(&self, task: u64) -> Region {
        self.tiles.region(&self.tiles.indices().position(task))
    }

    /// Elements of the tasks from `start` to before `end`.
    pub fn elements_of(&self, start: u64, end: u64) -> u64 {
        self.tiles.elements_before(end).saturating_sub(self.tiles.elements_before(start))
    }

    /// The tasks that own some of `region`, which lies in the array, in no order.
    pub fn tasks_meeting(&self, region: &Region) -> impl Iterator<Item = u64> {
        let tiles = self.tiles.indices();
        self.tiles.covering(region).positions().map(move |tile| tiles.ordinal(&tile))
    }

    /// Regions that the tasks from `start` to before `end` own, as boxes that share no element.
    pub fn owned_by(&self, start: u64, end: u64) -> Vec<Region> {
        let boxes = self.tiles.indices().boxes_between(start, end).into_iter();
        boxes.map(|tiles| self.tiles.region_of(&tiles)).collect()
    }

    /// Counts the meetings of chunks of `grid`, a regular one, with the boxes of tasks that own
    /// `region` (see [`StageGeometry::boxes`]). A chunk is met by each box that shares an element
    /// with it.
    pub fn meetings(&self, region: &Region, grid: &ChunkGrid) -> u64 {
        let boxes = self.boxes.covering(region);
        product((0..region.rank()).map(|axis| {
            if self.boxes.edges().is_some_and(|edges| edges.axis(axis).is_some()) {
                return self.meetings_along(axis, boxes.start[axis]..boxes.end(axis), grid);
            }
            let filled = (self.boxes.chunk_shape()[axis], boxes.start[axis]..boxes.end(axis));
            pairs_between(grid.array_shape()[axis], filled, grid.chunk_shape()[axis])
        }))
    }

    /// Counts the meetings along `axis` of chunks of a regular grid with boxes that have edges.
    fn meetings_along(&self, axis: usize, boxes: Range<u64>, grid: &ChunkGrid) -> u64 {
        let (chunk, extent) = (grid.chunk_shape()[axis], grid.array_shape()[axis]);
        let edges = self.boxes.edges().and_then(|edges| edges.axis(axis));
        let met = |at| {
            let (start, end) = edges?.reach(at, extent)?;
            (end > start).then(|| (end - 1) / chunk - start / chunk + 1)
        };
        boxes.filter_map(met).fold(0, u64::saturating_add)
    }

    /// The regions of a tile that are filled one after the other: the tile itself, or parts of its
    /// shards. What is said of tiles below is said of each of them.
    pub fn boxes(&self, tile: &Region) -> impl Iterator<Item = Region> {
        let indices = self.boxes.covering(tile).positions();
        indices.map(|index| self.boxes.region(&index))
    }

    /// The grid of inputs, what is fetched at a time (source chunks or shards, or the boxes the
    /// stage before wrote).
    pub fn input_grid(&self) -> &ChunkGrid {
        &self.input
    }

    /// The grid of what is decoded and copied at a time: the inputs, or where they are shards, the
    /// chunks inside.
    pub fn grain_grid(&self) -> &ChunkGrid {
        &self.grain
    }

    /// The grid of what becomes visible at once: the units, or where they lie in shards, those.
    pub fn commit_grid(&self) -> &ChunkGrid {
        &self.commit
    }

    /// The shard (else the unit) that unit `index` becomes visible with: its elements in `tile`.
    pub fn commit_region(&self, index: &[u64], tile: &Region) -> Option<Region> {
        if self.output.edges().is_some() {
            return self.output.region(index).intersect(tile); // each is an object of its own
        }
        let shapes = self.output.chunk_shape().iter().zip(self.commit.chunk_shape());
        let commit: Vec<u64> =
            index.iter().zip(shapes).map(|(index, (unit, commit))| index * unit / commit).collect();
        self.commit.region(&commit).intersect(tile)
    }

    /// The grid of output units (target chunks, or the boxes the next stage reads).
    pub fn output_grid(&self) -> &ChunkGrid {
        &self.output
    }

    /// The steps of a tile in the order they are taken: boxes of input chunk indices.
    pub fn steps(&self, tile: &Region) -> Steps {
        let inputs = self.input.covering(tile);
        let counts: Vec<u64> =
            (0..inputs.rank()).map(|a| inputs.shape[a].div_ceil(self.step_chunks[a])).collect();
        let order = Region::whole(&counts).positions_in(&self.step_axes);
        Steps { inputs, step_chunks: self.step_chunks.clone(), order }
    }

    /// The output units of a tile: a box of indices of [`StageGeometry::output_grid`].
    pub fn units(&self, tile: &Region) -> Region {
        self.output.covering(tile)
    }

    /// Elements of unit `index` that lie in `tile`. That is all of a target chunk (tiles end on
    /// chunk ends), a part of a box when the output is pieces.
    pub fn unit_region(&self, index: &[u64], tile: &Region) -> Option<Region> {
        self.output.region(index).intersect(tile)
    }

    /// Number of chunks (of [`StageGeometry::grain_grid`]) that touch a region: when that many
    /// pieces have been copied into a unit, it is complete.
    pub fn inputs_touching(&self, region: &Region) -> u64 {
        self.grain.covering(region).shape.iter().product()
    }

    /// Position, in steps, of the step of `tile` that brings the last piece of `region`.
    pub fn last_step(&self, tile: &Region, region: &Region) -> u64 {
        let touching = self.input.covering(region);
        self.step_of(tile, |axis| touching.end(axis) - 1)
    }

    /// Position, in steps, of the step of `tile` that brings the first piece of `region`.
    pub fn first_step(&self, tile: &Region, region: &Region) -> u64 {
        let touching = self.input.covering(region);
        self.step_of(tile, |axis| touching.start[axis])
    }

    /// Number of units of `tile` with their first piece from a step that takes `inputs`, a box of
    /// indices as [`StageGeometry::steps`] has them.
    pub fn units_begun(&self, tile: &Region, inputs: &Region) -> u64 {
        let Some(taken) = self.input.region_of(inputs).intersect(tile) else { return 0 };
        let units = self.output.covering(&taken);
        product((0..tile.rank()).map(|axis| {
            // A unit that begins before what is taken has met an input that came before, along this
            // axis.
            let begin = self.output.start_of(axis, units.start[axis]).max(tile.start[axis]);
            units.shape[axis] - u64::from(begin < taken.start[axis])
        }))
    }

    /// The step of `tile` that takes the input with this index along each axis.
    fn step_of(&self, tile: &Region, input: impl Fn(usize) -> u64) -> u64 {
        let inputs = self.input.covering(tile);
        self.step_axes.iter().fold(0, |ordinal, &axis| {
            let count = inputs.shape[axis].div_ceil(self.step_chunks[axis]);
            ordinal * count + (input(axis) - inputs.start[axis]) / self.step_chunks[axis]
        })
    }

    /// Bytes of the intermediate object of a tile: its elements, exactly, and what is kept behind
    /// each piece.
    pub fn object_bytes(&self, tile: &Region) -> u64 {
        let marks = self.written_marks.as_ref().map_or(0, |marks| marks.object_bytes(tile));
        let checksums = self.output.covering(tile).elements().saturating_mul(PIECE_CHECKSUM_BYTES);
        let elements = tile.elements().saturating_mul(self.item_bytes);
        elements.saturating_add(marks).saturating_add(checksums)
    }

    /// Place of the piece for `part`, a box of this stage, in the `object` that the stage before
    /// wrote. Returns offset and length, bytes, with the marks and the checksum behind its
    /// elements.
    pub fn piece_range(&self, object: &Region, part: &Region) -> (u64, u64) {
        let elements = piece_offset_elements(object, part).saturating_mul(self.item_bytes);
        let length = part.elements().saturating_mul(self.item_bytes);
        let pieces = self.boxes.covering(object).ordinal(&self.boxes.covering(part).start);
        let before = elements.saturating_add(pieces.saturating_mul(PIECE_CHECKSUM_BYTES));
        let own = length.saturating_add(PIECE_CHECKSUM_BYTES);
        let Some(marks) = &self.read_marks else { return (before, own) };
        let (marks_before, marks) = (marks.before(object, part), marks.of(part).elements());
        (before.saturating_add(marks_before), own.saturating_add(marks))
    }

    /// Bytes of the largest piece that is read, with what is kept behind its elements.
    pub fn piece_bytes_max(&self) -> u64 {
        let sides = self.input.chunk_shape().iter().zip(self.boxes.chunk_shape());
        let shape: Vec<u64> = sides.map(|(&object, &part)| object.min(part)).collect();
        let elements = shape.iter().fold(self.item_bytes, |bytes, &n| bytes.saturating_mul(n));
        let marks = self.read_marks.as_ref().map_or(0, |marks| marks.bytes_max(&shape));
        elements.saturating_add(marks).saturating_add(PIECE_CHECKSUM_BYTES)
    }

    /// Where a piece is marked for what was absent in the source: the target chunks that `region`
    /// meets, as a box of indices. One byte each, in C order, says whether any of that part was
    /// stored. `None` where nothing is marked.
    pub fn absence_marks(&self, region: &Region) -> Option<Region> {
        self.read_marks.as_ref().map(|marks| marks.of(region))
    }

    /// True if the output is pieces of an intermediate.
    pub fn writes_pieces(&self) -> bool {
        self.output_is_pieces
    }
}

/// Marks of absence in pieces for `boxes`, if they have any.
fn marks(plan: &Plan, boxes: &[u64]) -> Result<Option<AbsenceMarks>, GridError> {
    if !plan.keeps_absence {
        return Ok(None);
    }
    let target = plan.target();
    let chunks = ChunkGrid::with_edges(&target.shape, &target.chunk, target.edges.as_ref())?;
    Ok(Some(AbsenceMarks::new(chunks, boxes)))
}

/// Iterator over the steps of a tile.
#[derive(Debug, Clone)]
pub struct Steps {
    inputs: Region,
    step_chunks: Vec<u64>,
    order: IndexIter,
}

impl Iterator for Steps {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let step = self.order.next()?;
        let mut start = Vec::with_capacity(step.len());
        let mut shape = Vec::with_capacity(step.len());
        for (axis, position) in step.iter().enumerate() {
            let low = self.inputs.start[axis] + position * self.step_chunks[axis];
            start.push(low);
            shape.push(self.step_chunks[axis].min(self.inputs.end(axis) - low));
        }
        Some(Region::new(start, shape))
    }
}

/// Where the piece `piece` starts in the intermediate object of `tile`, in elements.
///
/// An object holds the pieces `tile ∩ box` of all reading boxes, boxes in C order, each piece's
/// elements in C order. The elements before a piece are, axis by axis from the slowest, those of
/// the pieces that come earlier on that axis and lie in the same row of boxes on all slower axes.
pub fn piece_offset_elements(tile: &Region, piece: &Region) -> u64 {
    let mut offset = 0;
    let mut same_row = 1; // extents of this piece on the slower axes
    for axis in 0..tile.rank() {
        let faster: u64 = tile.shape[axis + 1..].iter().product();
        offset += same_row * (piece.start[axis] - tile.start[axis]) * faster;
        same_row *= piece.shape[axis];
    }
    offset
}
