//! The plan of a chunk-wise apply: its stages, their memory and their traffic.

use rechunk_apply::{ApplyError, ApplyPlan, Boundary, SourceGrid, Way};
use rechunk_grid::Edges;
use rechunk_plan::{
    ApplyWork, ArrayId, ArrayRole, Blend, Estimate, Kernel, MissingChunks, OpSpec,
    PIECE_CHECKSUM_BYTES, PLAN_VERSION, Parallel, Plan, PlanArray, PlanMemory, PlanRequest, Reads,
    RoleEstimate, ShardSide, Side, Stage, StageInput, StageOutput, Strategy, Unit, fixed_bytes,
};

use crate::by_region::{
    Answers, ChunkReads, bytes_of, chunks_read, chunks_written, read_bytes, stage_estimate,
};
use crate::planned::candidate;
use crate::{CandidateOutcome, PlanError, Planned};

/// Pieces of blocks that a pull task holds: one that is added, and those read ahead of it.
const PIECES_HELD: u64 = 4;

/// A further source of an apply.
#[derive(Debug, Clone, PartialEq)]
pub struct ApplySource {
    /// Bytes of an element.
    pub item_bytes: u64,
    /// Layout.
    pub side: Side,
}

/// Request for the plan of an apply.
#[derive(Debug, Clone)]
pub struct ApplyPlanRequest<'a> {
    /// First source, target, stores and budget. Its element is that of the source.
    pub request: &'a PlanRequest,
    /// Further sources, of the shape of the first.
    pub others: &'a [ApplySource],
    /// Tasks, levels and arithmetic.
    pub job: ApplyPlan,
    /// The operation.
    pub op: OpSpec,
    /// Rule for voxels beyond the sources.
    pub boundary: Boundary,
    /// Rule for chunks that are not stored.
    pub missing: MissingChunks,
    /// Bytes that one call takes beside its windows and its result.
    pub scratch_bytes: u64,
    /// Most calls at once; `None`: as many as there are threads.
    pub calls_at_once: Option<u32>,
}

impl ApplyPlanRequest<'_> {
    /// Bytes of an element and layout of each source.
    fn sources(&self) -> impl Iterator<Item = (u64, &Side)> {
        let first = (self.request.item_bytes, &self.request.source);
        let others = self.others.iter().map(|other| (other.item_bytes, &other.side));
        std::iter::once(first).chain(others)
    }
}

/// Plans an apply. The counts of what it reads are exact but for sources that are stored as they
/// are, and for operations that give nothing for a box.
pub fn plan_apply(asked: &ApplyPlanRequest<'_>) -> Result<Planned, PlanError> {
    let sizes = Sizes::new(asked);
    let ways: &[Reads] = match asked.job.top() > 0 && asked.missing.skips() {
        true => &[Reads::Call],
        false if asked.job.top() == 0 => &[Reads::Task],
        false => &[Reads::Task, Reads::Call],
    };
    let mut minimum_bytes = u64::MAX;
    for &reads in ways {
        for chunks_at_once in (1..=sizes.answers.chunks_at_once()).rev() {
            let needs = sizes.needs(reads, chunks_at_once);
            let least = needs.iter().copied().max().unwrap_or(0).saturating_add(sizes.fixed_bytes);
            minimum_bytes = minimum_bytes.min(least);
            if least <= asked.request.budget.memory_bytes {
                return sizes.plan(reads, chunks_at_once, &needs).map_err(too_many);
            }
        }
    }
    Err(PlanError::DoesNotFit {
        strategy: Strategy::Apply,
        budget_bytes: asked.request.budget.memory_bytes,
        minimum_bytes,
    })
}

fn too_many(error: ApplyError) -> PlanError {
    PlanError::Apply { reason: error.message }
}

/// Memory of the parts of an apply.
struct Sizes<'a> {
    asked: &'a ApplyPlanRequest<'a>,
    fixed_bytes: u64,
    answers: Answers,
    /// Bytes of the largest chunk on its way, stored and decoded.
    chunk_bytes: u64,
    /// Bytes of an element of each source together.
    source_item_bytes: u64,
}

/// Bytes of an object while it is changed and written.
fn written_bytes(side: &Side, item_bytes: u64, part_bytes: u64) -> u64 {
    let chunk = side.chunk_bytes(item_bytes).saturating_mul(2);
    let encoded = side.encoded_bytes_max.saturating_mul(2);
    let workspace = side.decode_workspace_bytes.max(side.encode_workspace_bytes);
    let index = side.index_bytes().saturating_mul(2);
    let parts = if side.shard.is_some() { part_bytes } else { 0 };
    [chunk, encoded, workspace, index, parts].into_iter().fold(0, u64::saturating_add)
}

impl<'a> Sizes<'a> {
    fn new(asked: &'a ApplyPlanRequest<'a>) -> Self {
        let request = asked.request;
        let read = asked.sources().map(|(item, side)| read_bytes(side, item)).max().unwrap_or(0);
        let parts =
            request.target_uploads().map_or(0, |sent| sent.log_part_bytes.saturating_mul(2));
        let written = written_bytes(&request.target, asked.job.data_type().item_bytes(), parts);
        Self {
            asked,
            fixed_bytes: fixed_bytes(request),
            answers: Answers::of(&request.profile),
            chunk_bytes: read.max(written),
            source_item_bytes: asked.sources().map(|(item, _)| item).fold(0, u64::saturating_add),
        }
    }

    fn transfer_bytes(&self, chunks_at_once: u64) -> u64 {
        self.chunk_bytes.saturating_mul(chunks_at_once)
    }

    /// Most bytes that a task of each stage holds.
    fn needs(&self, reads: Reads, chunks_at_once: u64) -> Vec<u64> {
        let job = &self.asked.job;
        let memory = job.memory(self.source_item_bytes, self.asked.scratch_bytes);
        let transfer = self.transfer_bytes(chunks_at_once);
        // Read, and then filled beyond the border into another buffer.
        let window = bytes_of(&job.op_input_shape_max(), self.source_item_bytes);
        let whole = bytes_of(&self.task_read_max(), self.source_item_bytes);
        let skip = memory.task_skip_bytes;
        let computing = memory.task_bytes.saturating_add(skip).saturating_add(memory.block_bytes);
        let reading = match reads {
            _ if job.top() == 0 => window.saturating_mul(2).saturating_add(transfer).max(computing),
            Reads::Task => {
                let read = whole.saturating_mul(2).saturating_add(transfer);
                read.max(whole.saturating_add(computing))
            }
            Reads::Call => computing.saturating_add(window).saturating_add(transfer),
        };
        // A block is cut into its pieces before it is sent.
        let leaving = match job.way() {
            Way::Direct | Way::Defer => memory.block_bytes.saturating_add(transfer),
            Way::Pull => memory.block_bytes.saturating_mul(2),
        };
        let mut needs = vec![reading.max(leaving)];
        if job.way() == Way::Pull {
            let (pull, task) = (job.pull_shape_max(), job.task_shape_max(job.top()));
            let piece: Vec<u64> =
                pull.iter().zip(task).map(|(&pull, task)| pull.min(task)).collect();
            let pieces =
                bytes_of(&piece, job.block_form().item_bytes()).saturating_mul(PIECES_HELD);
            let result = bytes_of(&pull, job.data_type().item_bytes());
            let summing = memory.pull_bytes.saturating_add(memory.pull_skip_bytes);
            needs.push(summing.saturating_add(pieces).max(result.saturating_add(transfer)));
        }
        needs
    }

    /// Largest box of the source that a task reads, voxels: a bound.
    fn task_read_max(&self) -> Vec<u64> {
        let job = &self.asked.job;
        let levels = job.levels();
        let task = job.task_shape_max(job.top());
        let axes = task.into_iter().enumerate().map(|(axis, extent)| {
            let below = levels.iter().take(job.top());
            let pads = below.fold(levels[0].crop[axis], |pads, level| {
                pads.saturating_add(level.region_crop[axis]).saturating_add(level.blend[axis])
            });
            let extent = extent.saturating_add(pads.saturating_mul(2));
            let scale = job.scale()[axis];
            extent.saturating_mul(scale.source).div_ceil(scale.target).saturating_add(1)
        });
        axes.collect()
    }

    fn plan(
        &self,
        reads: Reads,
        chunks_at_once: u64,
        needs: &[u64],
    ) -> Result<Planned, ApplyError> {
        let (asked, request, job) = (self.asked, self.asked.request, &self.asked.job);
        let room_bytes = request.budget.memory_bytes.saturating_sub(self.fixed_bytes);
        let traffic = self.traffic(reads)?;
        let (mut stages, mut estimate, mut peak_bytes) = (Vec::new(), Estimate::default(), 0);
        let shapes = [job.task_shape(), job.reduction_shape()];
        for (number, (&needed, (shape, traffic))) in
            needs.iter().zip(shapes.into_iter().zip(traffic)).enumerate()
        {
            let is_op = number == 0;
            let tasks = if is_op { job.task_count() } else { job.reduction_count() };
            let calls = asked.calls_at_once.filter(|_| is_op).map_or(u64::MAX, u64::from);
            let most = calls.min(tasks).min(room_bytes / needed.max(1));
            let tasks_at_once = self.answers.tasks_at_once(request, most);
            let (name, kernel) = if is_op {
                ("apply", Kernel::Op(asked.op.clone()))
            } else {
                let rule = job.levels()[job.top()].mode.name().to_owned();
                ("combine", Kernel::Combine(Blend { rule }))
            };
            let has_blocks = job.way() == Way::Pull;
            let input = if is_op { (0, Unit::Chunk) } else { (1, Unit::Piece) };
            let output = match (is_op, has_blocks) {
                (true, true) => (1, Unit::Piece),
                (true, false) => (1, Unit::Chunk),
                (false, _) => (2, Unit::Chunk),
            };
            let input = StageInput::new(ArrayId(input.0), input.1);
            let output = StageOutput::new(ArrayId(output.0), output.1);
            let arrays = (vec![input], vec![output]);
            let stage = Stage {
                tasks,
                tasks_at_once,
                resident_bytes: needed,
                task_bytes: needed,
                ..Stage::new(name, kernel, arrays, (shape, vec![1; job.rank()]))
            };
            peak_bytes = peak_bytes.max(stage.peak_bytes(request.budget.threads));
            let parallel = Parallel { tasks_at_once, lanes: 1 };
            let once = (tasks, tasks);
            estimate.add(&stage_estimate(request, traffic, once, (chunks_at_once, parallel)));
            stages.push(stage);
        }
        let work = ApplyWork {
            job: job.clone(),
            boundary: asked.boundary,
            missing: asked.missing,
            reads,
            transfer_bytes: self.transfer_bytes(chunks_at_once),
        };
        let mut plan = Plan {
            version: PLAN_VERSION,
            kind: Strategy::Apply,
            arrays: self.arrays(),
            keeps_absence: false,
            stages,
            pyramid: None,
            apply: Some(Box::new(work)),
            memory: PlanMemory {
                budget_bytes: request.budget.memory_bytes,
                planned_peak_bytes: peak_bytes.saturating_add(self.fixed_bytes),
                fixed_bytes: self.fixed_bytes,
            },
            threads: request.budget.threads,
            estimate,
            priced_by: Some(request.profile.names()),
            fingerprint: String::new(),
        };
        plan.fingerprint = plan.computed_fingerprint();
        let outcome = CandidateOutcome::Chosen {
            estimate: plan.estimate.clone(),
            memory_bytes: plan.memory.planned_peak_bytes,
        };
        let boxes = job.levels().iter().rev().map(|level| level.chunk.clone()).collect();
        let mut chosen = candidate(Strategy::Apply, boxes, outcome);
        chosen.passes = plan.stages.len();
        Ok(Planned { plan, candidates: vec![chosen] })
    }

    fn arrays(&self) -> Vec<PlanArray> {
        let (request, job) = (self.asked.request, &self.asked.job);
        let side = |role, shape: &[u64], item_bytes, side: &Side| {
            PlanArray::of_side(role, shape.to_vec(), item_bytes, side)
        };
        let shape = &request.shape;
        let mut arrays = vec![side(ArrayRole::Source, shape, request.item_bytes, &request.source)];
        if job.way() == Way::Pull {
            let item_bytes = job.block_form().item_bytes();
            arrays.push(PlanArray {
                uploads: request.intermediate_uploads(),
                ..PlanArray::new(
                    ArrayRole::Intermediate,
                    job.task_shape(),
                    item_bytes,
                    vec![1; job.rank()],
                )
            });
        }
        let item_bytes = job.data_type().item_bytes();
        let left = job.deferred();
        let shape = left.as_ref().map_or(shape, |left| &left.shape);
        let target = side(ArrayRole::Target, shape, item_bytes, &request.target);
        arrays.push(PlanArray { uploads: request.target_uploads(), ..target });
        arrays
    }

    /// Traffic of the stages.
    fn traffic(&self, reads: Reads) -> Result<Vec<Estimate>, ApplyError> {
        let job = &self.asked.job;
        let counts = job.counts()?;
        let source = self.source_traffic(reads)?;
        if job.target().is_none() {
            return Ok(vec![Estimate { source, ..Estimate::default() }]);
        }
        let target = self.target_traffic(counts.target_chunks, counts.whole_target_chunks)?;
        if job.way() != Way::Pull {
            return Ok(vec![Estimate { source, target, ..Estimate::default() }]);
        }
        let tails = counts.pull_requests.saturating_mul(PIECE_CHECKSUM_BYTES);
        let bytes = counts.block_bytes.saturating_add(tails);
        let put = RoleEstimate {
            put_requests: counts.blocks,
            decoded_written_bytes: counts.block_bytes,
            written_bytes: bytes,
            objects: counts.blocks,
            ..RoleEstimate::default()
        };
        let get = RoleEstimate {
            get_requests: counts.pull_requests,
            decoded_read_bytes: counts.block_bytes,
            read_bytes: bytes,
            ..RoleEstimate::default()
        };
        Ok(vec![
            Estimate { source, intermediate: put, ..Estimate::default() },
            Estimate { intermediate: get, target, ..Estimate::default() },
        ])
    }

    fn source_traffic(&self, reads: Reads) -> Result<RoleEstimate, ApplyError> {
        let request = self.asked.request;
        let mut sum = RoleEstimate::default();
        for (item_bytes, side) in self.asked.sources() {
            let count = |chunk: &[u64], edges: Option<&Edges>| {
                let (shape, chunk) = (request.shape.clone(), chunk.to_vec());
                let grid = SourceGrid { shape, chunk, edges: edges.cloned() };
                let found = self.asked.job.source_reads(&grid, self.asked.boundary)?;
                let (chunks, elements) = match reads {
                    Reads::Task => (found.by_task, found.elements_by_task),
                    Reads::Call => (found.by_call, found.elements_by_call),
                };
                Ok::<_, ApplyError>(ChunkReads { chunks, elements })
            };
            let chunks = count(&side.chunk_shape, side.edges.as_ref())?;
            // Where chunks differ in length, indexes are of one shape.
            let index = side.shard.as_ref().map(ShardSide::index_shape);
            let indexes = index.map_or(Ok(0), |index| Ok(count(index, None)?.chunks))?;
            sum.add(&chunks_read(side, item_bytes, chunks, indexes));
        }
        Ok(sum)
    }

    fn target_traffic(&self, objects: u64, whole: u64) -> Result<RoleEstimate, ApplyError> {
        let (request, job) = (self.asked.request, &self.asked.job);
        let (side, item_bytes) = (&request.target, job.data_type().item_bytes());
        // Deferred blocks lie in chunks that are objects.
        if job.way() == Way::Defer {
            return Ok(RoleEstimate {
                get_requests: objects.saturating_sub(whole),
                ..chunks_written(side, item_bytes, objects, objects)
            });
        }
        let chunks = job.written_chunks(&side.chunk_shape)?;
        let mut sum = chunks_written(side, item_bytes, chunks.met, objects);
        let indexes = |objects: u64| if side.shard.is_some() { objects } else { 0 };
        // What is not written of an object is read: chunks of it that are not written whole.
        let kept = chunks.held.saturating_sub(chunks.whole);
        let kept = ChunkReads::regular(side, kept);
        let kept = chunks_read(side, item_bytes, kept, indexes(objects.saturating_sub(whole)));
        sum.add(&RoleEstimate { decoded_read_bytes: 0, ..kept });
        // Elements in gaps stay as they are: they are read, to be written with the others.
        if job.way() == Way::Pull && job.gap().iter().any(|&gap| gap > 0) {
            let met = ChunkReads::regular(side, chunks.met);
            sum.add(&chunks_read(side, item_bytes, met, indexes(objects)));
        }
        Ok(sum)
    }
}
