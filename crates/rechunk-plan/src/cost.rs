//! Exact counts of a stage. What they cost under a profile is in `price.rs`.

mod resident;

use crate::axis_cuts::AxisCuts;
use crate::border::count_kept;
use crate::count::{cells, product, whole_tasks};
use crate::cuts::{Boxes, Cuts};
use crate::geometry::PIECE_CHECKSUM_BYTES;
use crate::memory::{CellAxis, LaneBytes, resident_cells, units_state_bytes};
use crate::object_lengths::{over_lengths, scaled};
use crate::parts::{Taken, part_bytes_max, plain_read_bytes};
use crate::piece_tails::{marks_max, tails};
use crate::side::shard_state_bytes;
use crate::stage::steps_overlap;
use crate::uploads::{Uploads, over_cells};
use crate::{DraftInput, DraftOutput, Estimate, PlanRequest, Way};

/// A stage before memory has been divided: what is read and written, in which boxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageDraft {
    /// Input of the stage.
    pub input: DraftInput,
    /// Output of the stage.
    pub output: DraftOutput,
    /// Way that elements take.
    pub way: Way,
    /// The region one task owns.
    pub tile: Vec<u64>,
    /// Box of the tile that is filled at a time, where that is not all: a part of a shard.
    pub box_shape: Option<Vec<u64>>,
    /// Input chunks taken at once along each axis within a tile.
    pub step_chunks: Vec<u64>,
    /// Axes of the loop over steps, slowest first.
    pub step_axes: Vec<usize>,
}

/// The counts of a drafted stage that cost and memory follow from.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Number of tasks.
    pub tasks: u64,
    /// Bytes of the array over those of a whole task: as many tasks as there would be, were the
    /// last ones no smaller.
    pub whole_tasks: f64,
    /// Steps of all tasks together, about: boxes that end inside of a step may take one more, the
    /// last ones fewer.
    pub steps: u64,
    /// Traffic of all tasks, without its price.
    pub traffic: Estimate,
    /// Chunks that the lanes of a task can share while reading.
    pub reading: u64,
    /// Chunks that they can share while decoding: those of a step, for the next one waits.
    pub decoding: u64,
    /// Chunks that they can share while encoding.
    pub writing: u64,
    /// Objects that they can share while writing.
    pub putting: u64,
    /// A task may take more than one step.
    pub is_stepped: bool,
    /// The most units that are resident at once.
    pub resident_units: u64,
    /// The part of a task's units that leave while others are taken in, from 0 to 1: those that are
    /// not resident with the most. 0 where steps do not overlap.
    pub flow: f64,
    /// The part of the decoded bytes read that codecs pass over, because no box takes anything of
    /// their blocks, from 0 to 1.
    pub passed_over: f64,
    /// Output buffers of one task and what finds them, bytes.
    pub resident_bytes: u64,
    /// Indexes of the shards that one task reads and writes, and unsent parts of shards, bytes.
    pub shard_state_bytes: u64,
    /// Bytes kept of one target shard; 0 without.
    pub target_shard_bytes: u64,
    /// Bytes of a lane, and of a thread that decodes or encodes.
    pub lane: LaneBytes,
    /// The tile clipped to the array, without padding.
    pub tile_bytes: u64,
}

impl Figures {
    /// Bytes that a task holds beside its lanes.
    pub fn held_bytes(&self) -> u64 {
        self.resident_bytes.saturating_add(self.shard_state_bytes)
    }
}

impl StageDraft {
    /// Shape of the elements that are filled at a time.
    pub fn filled(&self) -> &[u64] {
        self.box_shape.as_ref().unwrap_or(&self.tile)
    }

    /// Exact counts and memory of the stage.
    pub fn figures(&self, request: &PlanRequest, cuts: &Cuts<'_>) -> Figures {
        let shape = &request.shape;
        let item = request.item_bytes;
        let array_bytes = product(shape.iter().copied()).saturating_mul(item);
        let tiles = self.boxes(&self.tile);
        let mut figures = Figures { tasks: cuts.boxes(request, tiles), ..Figures::default() };
        figures.whole_tasks = whole_tasks(shape, &self.tile);
        let clipped = self.filled().iter().zip(shape).map(|(&tile, &extent)| tile.min(extent));
        figures.tile_bytes = product(clipped).saturating_mul(item);
        self.count_input(request, cuts, array_bytes, &mut figures);
        self.count_output(request, cuts, array_bytes, &mut figures);
        if self.way == Way::ByStore {
            only_copies(&mut figures.traffic);
        } else {
            self.count_parts(request, cuts, &mut figures.traffic);
        }
        let rank = shape.len();
        let input = self.fetch_shape(request);
        let unit = self.unit_shape(request);
        let inputs = |a: usize| match self.cuts(cuts, a) {
            // On average: this is for the price alone.
            Some(of_axis) => {
                let pairs = cuts.pairs_on(request, self.boxes(self.filled()), a).0;
                pairs.div_ceil(of_axis.count().min(shape[a].div_ceil(self.filled()[a])))
            }
            None => self.filled()[a].min(shape[a]).div_ceil(input[a]).max(1),
        };
        let steps = product((0..rank).map(|a| inputs(a).div_ceil(self.step_chunks[a])));
        figures.steps = steps.saturating_mul(cells(shape, self.filled()));
        let filled = self.boxes(self.filled());
        let units = (0..rank).map(|a| cuts.units_max(request, filled, (a, unit[a])).max(1));
        let units = product(units);
        figures.reading = product((0..rank).map(|a| self.step_chunks[a].min(inputs(a))));
        figures.decoding = figures.reading;
        if steps_overlap(figures.is_stepped, self.input.unit(), figures.shard_state_bytes) {
            figures.flow = 1.0 - (figures.resident_units as f64 / units as f64).min(1.0);
        }
        figures.writing = units;
        if figures.is_stepped {
            // What one step completes is sent out while the next is taken in.
            let per_step = figures.reading.saturating_add(units / steps.max(1));
            (figures.reading, figures.writing) = (per_step, per_step);
        }
        figures.putting = figures.writing.min(self.objects(request, cuts));
        figures
    }

    /// Its boxes of this shape.
    fn boxes<'b>(&self, shape: &'b [u64]) -> Boxes<'b> {
        Boxes { shape, of_target: !matches!(self.output, DraftOutput::Pieces { .. }) }
    }

    /// The cuts of what is read along `axis`, if they are not regular.
    fn cuts<'a>(&self, cuts: &'a Cuts<'a>, axis: usize) -> Option<&'a AxisCuts<'a>> {
        cuts.axis(axis).filter(|_| self.input.is_source())
    }

    fn count_input(
        &self,
        request: &PlanRequest,
        cuts: &Cuts<'_>,
        array_bytes: u64,
        figures: &mut Figures,
    ) {
        let item = request.item_bytes;
        match &self.input {
            DraftInput::SourceChunks | DraftInput::SourceShards => {
                self.count_source(request, cuts, figures);
            }
            DraftInput::Pieces { written_in } => {
                let role = &mut figures.traffic.intermediate;
                role.get_requests = cuts.pairs_with(request, self.boxes(self.filled()), written_in);
                let tails = tails(request, cuts, self.boxes(self.filled()), written_in);
                role.read_bytes = array_bytes.saturating_add(tails);
                role.decoded_read_bytes = array_bytes;
                let piece =
                    self.filled().iter().zip(written_in).map(|(&tile, &from)| tile.min(from));
                let piece: Vec<u64> = piece.collect();
                figures.lane = LaneBytes::passing(
                    product(piece.iter().copied())
                        .saturating_mul(item)
                        .saturating_add(marks_max(request, cuts, &piece))
                        .saturating_add(PIECE_CHECKSUM_BYTES),
                );
            }
        }
    }

    fn count_source(&self, request: &PlanRequest, cuts: &Cuts<'_>, figures: &mut Figures) {
        let (side, boxes) = (&request.source, self.boxes(self.filled()));
        let chunk_bytes = side.chunk_bytes(request.item_bytes);
        let (chunks, elements) = cuts.pairs(request, boxes);
        let shards = side.shard.as_ref();
        let shards = shards.map(|shard| (shard, cuts.pairs_with(request, boxes, &shard.shape)));
        let expected = side.encoded_bytes_expected;
        let taken = Taken::new(request, cuts, boxes);
        let role = &mut figures.traffic.source;
        let fetched_bytes = match (&self.input, shards) {
            (DraftInput::SourceShards, Some((shard, shards))) => {
                role.get_requests = shards;
                let whole = expected.saturating_mul(side.shard_chunks());
                let whole = whole.saturating_add(shard.index_bytes);
                role.read_bytes = shards.saturating_mul(whole);
                // Its index is decoded beside it, by every lane for itself.
                let object_bytes = side.object_bytes_max(request.item_bytes);
                object_bytes.saturating_add(side.shard_state_bytes())
            }
            (_, Some((shard, shards))) => {
                let indexes = match &shard.tables {
                    Some(tables) => cuts.pairs_with(request, boxes, &tables.shape),
                    None => shards,
                };
                let (requests, bytes) = side.index_traffic(indexes);
                role.get_requests = chunks.saturating_add(requests);
                role.read_bytes = chunks.saturating_mul(expected).saturating_add(bytes);
                let held = self.shards_held(request, cuts, shard.index_shape());
                let state_bytes = shard_state_bytes(shard.found_by_bytes());
                figures.shard_state_bytes = held.saturating_mul(state_bytes);
                side.encoded_bytes_max
            }
            (_, None) => {
                role.get_requests = chunks;
                role.read_bytes = taken.read_of(match side.edges {
                    Some(_) => {
                        scaled(expected, elements, product(side.chunk_shape.iter().copied()))
                    }
                    None => chunks.saturating_mul(expected),
                });
                match side.plain_order().filter(|_| !self.way.is_encoded()) {
                    Some(order) => {
                        if side.edges.is_none() {
                            role.read_bytes = plain_read_bytes(request, cuts, order, boxes);
                        }
                        part_bytes_max(&side.chunk_shape, order, self.filled(), request.item_bytes)
                    }
                    None => side.encoded_bytes_max,
                }
            }
        };
        if self.way.is_encoded() {
            let mut held_bytes = fetched_bytes;
            // Taken apart, a shard's chunks are copied out one by one.
            if self.input == DraftInput::SourceShards && self.output == DraftOutput::TargetChunks {
                held_bytes = fetched_bytes.saturating_add(side.encoded_bytes_max);
            }
            figures.lane = LaneBytes::passing(held_bytes);
        } else {
            role.decoded_read_bytes = elements.saturating_mul(request.item_bytes);
            figures.passed_over = 1.0 - taken.decoded;
            figures.lane = LaneBytes::decoding(side, fetched_bytes, chunk_bytes);
        }
    }

    /// Objects of the target that a task writes; no bound for pieces.
    fn objects(&self, request: &PlanRequest, cuts: &Cuts<'_>) -> u64 {
        match self.output {
            DraftOutput::Pieces { .. } => u64::MAX,
            DraftOutput::TargetChunks | DraftOutput::TargetShards => {
                let (tile, unit) = (self.boxes(&self.tile), request.target.commit_shape());
                let units = |axis| cuts.units_max(request, tile, (axis, unit[axis]));
                product((0..unit.len()).map(units)).max(1)
            }
        }
    }

    /// Shards of `shape` that a task needs at once, from its first input to its last.
    fn shards_held(&self, request: &PlanRequest, cuts: &Cuts<'_>, shape: &[u64]) -> u64 {
        let input = self.fetch_shape(request);
        resident_cells(self.step_axes.iter().map(|&axis| {
            let extent = request.shape[axis].max(1);
            let tile = self.filled()[axis].min(extent);
            // Groups of chunks that differ in length begin anywhere.
            let start_grain = match cuts.target_axis(axis) {
                Some(_) if self.boxes(&self.tile).of_target => 1,
                _ => tile,
            };
            if let Some(cuts) = self.cuts(cuts, axis) {
                let cells = cuts.cells(tile, shape[axis], self.step_chunks[axis]);
                return CellAxis { start_grain, ..cells };
            }
            let is_whole = self.filled()[axis] >= extent;
            let window = input[axis].saturating_mul(self.step_chunks[axis]);
            let is_one_step =
                window >= tile.saturating_add(input[axis]) || is_whole && window >= tile;
            let (grain, cell) = (input[axis], shape[axis]);
            CellAxis { tile, is_whole, start_grain, grain, window, is_one_step, cell }
        }))
    }

    fn fetch_shape<'a>(&'a self, request: &'a PlanRequest) -> &'a [u64] {
        self.input.chunk(&request.source.chunk_shape, request.source.shard_shape())
    }

    fn unit_shape<'a>(&'a self, request: &'a PlanRequest) -> &'a [u64] {
        self.output.unit_shape(&request.target.chunk_shape, request.target.shard_shape())
    }

    fn count_output(
        &self,
        request: &PlanRequest,
        cuts: &Cuts<'_>,
        array_bytes: u64,
        figures: &mut Figures,
    ) {
        match &self.output {
            DraftOutput::TargetChunks | DraftOutput::TargetShards => {
                self.count_target(request, cuts, figures);
            }
            DraftOutput::Pieces { read_in } => {
                // A group of target chunks is read at a time, where these differ in length.
                let boxes = Boxes { shape: read_in, of_target: true };
                let tails = tails(request, cuts, boxes, &self.tile);
                let role = &mut figures.traffic.intermediate;
                role.put_requests = figures.tasks;
                role.objects = figures.tasks;
                role.written_bytes = array_bytes.saturating_add(tails);
                role.decoded_written_bytes = array_bytes;
                let pieces = product((0..self.tile.len()).map(|axis| {
                    let tile = self.tile[axis];
                    let met = cuts.target_axis(axis).map(|target| target.touched_max(tile));
                    met.unwrap_or_else(|| tile.div_ceil(read_in[axis]) + 1)
                }));
                // A checksum is as small as what finds its piece.
                let state_bytes = units_state_bytes(pieces, self.tile.len());
                let marks = pieces.saturating_mul(marks_max(request, cuts, read_in));
                figures.resident_bytes =
                    figures.tile_bytes.saturating_add(marks).saturating_add(state_bytes);
            }
        }
    }

    fn count_target(&self, request: &PlanRequest, cuts: &Cuts<'_>, figures: &mut Figures) {
        let (side, shape) = (&request.target, &request.shape);
        let chunk_bytes = side.chunk_bytes(request.item_bytes);
        let chunks = cuts.target_objects(request, &side.chunk_shape);
        let elements = cuts.target_elements(request);
        let (units, is_stepped) = self.resident(request, cuts);
        let role = &mut figures.traffic.target;
        role.put_requests = cuts.target_objects(request, side.commit_shape());
        let files = side.file_shape.as_ref().map(|file| cuts.target_objects(request, file));
        role.objects = files.unwrap_or(role.put_requests);
        let expected = side.encoded_bytes_expected;
        role.written_bytes = match side.edges {
            Some(_) => scaled(expected, elements, product(side.chunk_shape.iter().copied())),
            None => chunks.saturating_mul(expected),
        };
        // The state of a shard that was completed in an earlier step is paid for by the lane; so is
        // that of a whole shard that turns out to be too large, and is copied chunk by chunk.
        let state_bytes = request.target_shard_state_bytes();
        figures.target_shard_bytes = state_bytes;
        if let (Some(shard), DraftOutput::TargetChunks) = (&side.shard, &self.output) {
            let indexes = role.objects.saturating_mul(shard.index_bytes);
            role.written_bytes = role.written_bytes.saturating_add(indexes);
            let held = if self.box_shape.is_some() {
                self.objects(request, cuts) // each box may add to all of them
            } else {
                self.shards_held(request, cuts, &shard.shape)
            };
            let held_bytes = held.saturating_mul(state_bytes);
            figures.shard_state_bytes = figures.shard_state_bytes.saturating_add(held_bytes);
        }
        if self.way.is_encoded() {
            role.written_bytes = figures.traffic.source.read_bytes;
            figures.lane = figures.lane.and(state_bytes);
            return;
        }
        role.decoded_written_bytes = elements.saturating_mul(request.item_bytes);
        count_kept(request, cuts, role);
        (figures.is_stepped, figures.resident_units) = (is_stepped, units);
        let unit_bytes = if is_stepped { chunk_bytes.saturating_add(state_bytes) } else { 0 };
        figures.lane = figures.lane.or(LaneBytes::encoding(side, unit_bytes));
        let state_bytes = units_state_bytes(units, shape.len());
        figures.resident_bytes = units.saturating_mul(chunk_bytes).saturating_add(state_bytes);
    }

    /// Counts the requests of multipart uploads.
    fn count_parts(&self, request: &PlanRequest, cuts: &Cuts<'_>, traffic: &mut Estimate) {
        let (shape, side) = (&request.shape, &request.target);
        if let DraftOutput::Pieces { .. } = self.output {
            let Some(uploads) = request.intermediate_uploads() else { return };
            let role = &mut traffic.intermediate;
            // What lies behind the elements of pieces differs a little from object to object.
            let tail_bytes = role.written_bytes.saturating_sub(role.decoded_written_bytes);
            let tail_bytes = tail_bytes.checked_div(role.objects).unwrap_or(0);
            let grain = vec![1; shape.len()];
            let bytes = |elements: u64| {
                elements.saturating_mul(request.item_bytes).saturating_add(tail_bytes)
            };
            let requests = |elements| uploads.whole.requests(bytes(elements));
            role.part_requests = over_cells(shape, &self.tile, &grain, requests);
            return;
        }
        let Some(uploads) = request.target_uploads() else { return };
        let index_bytes = side.index_bytes();
        let is_log = side.shard.is_some() && self.output == DraftOutput::TargetChunks;
        let requests = |chunks: u64| {
            let bytes = chunks.saturating_mul(side.encoded_bytes_expected);
            object_requests(&uploads, is_log, bytes.saturating_add(index_bytes))
        };
        traffic.target.part_requests = if side.edges.is_some() {
            let all = product(side.chunk_shape.iter().copied());
            let bytes = |elements| scaled(side.encoded_bytes_expected, elements, all);
            over_lengths(request, cuts, |elements| uploads.whole.requests(bytes(elements)))
        } else {
            over_cells(shape, side.commit_shape(), &side.chunk_shape, requests)
        };
    }
}

/// Counts objects that the store copies itself as copies, not as reads and writes. (The memory is
/// for reading and writing all the same, for a store that turns out not to copy.)
fn only_copies(traffic: &mut Estimate) {
    let (source, target) = (&mut traffic.source, &mut traffic.target);
    target.copy_requests = std::mem::take(&mut target.put_requests);
    (source.get_requests, source.read_bytes, target.written_bytes) = (0, 0, 0);
}

/// Requests of the upload of one object beside the one that completes it.
fn object_requests(uploads: &Uploads, is_log: bool, object_bytes: u64) -> u64 {
    if is_log { uploads.log_requests(object_bytes) } else { uploads.whole.requests(object_bytes) }
}
