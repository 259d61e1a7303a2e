//! A pass of a pyramid: its tile, its steps, its memory and its traffic.

use rechunk_plan::count::{cells, lcm_capped, product};
use rechunk_plan::{
    ArrayId, Estimate, Figures, Kernel, Levels, PIECE_CHECKSUM_BYTES, Parallel, PassInput,
    PyramidPass, RoleEstimate, Stage, StageInput, StageOutput, StepLevel, Unit,
    price, priced, ratio,
};

use super::sizes::{Sizes, bytes_of};
use super::{PyramidPlanRequest, Staged};

/// Bytes of the elements of a step that tasks aim at: enough for the chunks of one level below.
const STEP_BYTES: u64 = 16 << 20;
/// A task that is lost should not cost more than the reading of so many bytes.
const TASK_BYTES: u64 = 256 << 20;
/// Tasks from which their size does not matter.
const TASKS_ENOUGH: u64 = 16;

/// Request for a pass.
pub(super) struct PassRequest<'a> {
    pub asked: &'a PyramidPlanRequest<'a>,
    pub pass: &'a PyramidPass,
    /// Shape of a block of the input, where the pass reads blocks.
    pub block: Option<&'a [u64]>,
    pub fixed_bytes: u64,
}

/// The pass as its tasks see it, in elements of its input.
pub(super) struct Geometry {
    /// Shape of its domain.
    pub domain: Vec<u64>,
    /// Levels that it writes.
    pub levels: Vec<StepLevel>,
    /// Shape of what is read at once.
    pub chunk: Vec<u64>,
    /// Elements beyond a step that are read with it.
    pub halo: Vec<u64>,
    /// Source elements of an element.
    pub factors: Vec<u64>,
    /// Bytes of an element.
    pub item_bytes: u64,
}

impl Geometry {
    fn new(request: &PassRequest<'_>) -> Self {
        let (asked, pass) = (request.asked, request.pass);
        let levels = asked.plan_levels();
        let side = &asked.request.source;
        let (factors, chunk, item_bytes) = match pass.input {
            PassInput::Source => (
                vec![1; asked.request.shape.len()],
                side.chunk_shape.clone(),
                asked.request.item_bytes,
            ),
            PassInput::Blocks(level) => (
                levels[level].factors.clone(),
                request.block.unwrap_or_default().to_vec(),
                asked.block_item_bytes(),
            ),
            PassInput::Level(level) => (
                levels[level].factors.clone(),
                asked.levels[level].side.chunk_shape.clone(),
                asked.request.item_bytes,
            ),
        };
        let domain = match pass.input {
            PassInput::Source => asked.extent(),
            PassInput::Blocks(_) => {
                let axes = asked.extent().into_iter().zip(&factors);
                axes.map(|(extent, factor)| extent.div_ceil(*factor)).collect()
            }
            PassInput::Level(level) => levels[level].shape.clone(),
        };
        let own = |level: usize| &levels[level];
        let step_level = |level: usize| StepLevel {
            factors: ratio(&own(level).factors, &factors),
            chunk: asked.levels[level].side.chunk_shape.clone(),
            shard: asked.levels[level].side.shard_shape().map(<[u64]>::to_vec),
            shape: own(level).shape.clone(),
            item_bytes: asked.request.item_bytes,
        };
        let step_levels: Vec<StepLevel> = (pass.first..pass.end).map(step_level).collect();
        let halo = (0..domain.len()).map(|axis| {
            let factors = step_levels.iter().map(|level| level.factors[axis]);
            factors.map(|factor| asked.method.halo(factor)).max().unwrap_or(0)
        });
        let halo = halo.collect();
        Self { domain, levels: step_levels, chunk, halo, factors, item_bytes }
    }

    /// Elements that the cells of all levels divide evenly.
    fn grain(&self) -> Vec<u64> {
        self.common(|level, axis| level.factors[axis])
    }

    fn common(&self, of: impl Fn(&StepLevel, usize) -> u64) -> Vec<u64> {
        let axes = self.domain.iter().enumerate().map(|(axis, &extent)| {
            let extent = extent.max(1);
            let parts = self.levels.iter().map(|level| of(level, axis).max(1));
            parts.fold(1, |common, part| lcm_capped(common, part, extent))
        });
        axes.collect()
    }

    /// Elements that no object of a level shares with its neighbours.
    fn unit(&self, levels: usize, with_shards: bool) -> Vec<u64> {
        let some = Self { levels: self.levels[..levels].to_vec(), ..self.without_levels() };
        some.common(|level, axis| {
            let unit = level.shard.as_ref().filter(|_| with_shards).unwrap_or(&level.chunk);
            unit[axis].saturating_mul(level.factors[axis])
        })
    }

    fn without_levels(&self) -> Self {
        Self {
            domain: self.domain.clone(),
            levels: Vec::new(),
            chunk: self.chunk.clone(),
            halo: self.halo.clone(),
            factors: self.factors.clone(),
            item_bytes: self.item_bytes,
        }
    }

    fn lcm(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let axes = self.domain.iter().zip(a.iter().zip(b));
        axes.map(|(&extent, (&a, &b))| lcm_capped(a.max(1), b.max(1), extent.max(1))).collect()
    }

    /// Steps have to end where tiles do.
    fn divides(&self, step: &[u64], tile: &[u64]) -> bool {
        let axes = step.iter().zip(tile).zip(&self.domain);
        axes.into_iter().all(|((&step, &tile), &extent)| tile.is_multiple_of(step) || tile >= extent)
    }
}

/// The cheapest tile and step of a pass that fit; else the least bytes that it needs.
pub(super) fn stage_of(request: &PassRequest<'_>) -> Result<Staged, u64> {
    let geometry = Geometry::new(request);
    let mut best: Option<Staged> = None;
    let mut least = u64::MAX;
    for tile in tiles(&geometry) {
        for step in steps(&geometry, &tile) {
            let sizes = Sizes::new(request, &geometry, (&tile, &step));
            let Some(sizes) = sizes else { continue };
            for chunks_at_once in (1..=sizes.chunks_at_once).rev() {
                let needed = sizes.needed_bytes(chunks_at_once);
                let all = needed.saturating_add(request.fixed_bytes);
                least = least.min(all);
                if all > request.asked.request.budget.memory_bytes {
                    continue;
                }
                let staged = staged(request, &geometry, (&tile, &step), (&sizes, chunks_at_once));
                let is_better = best.as_ref().is_none_or(|known| {
                    let key = |staged: &Staged| (staged.is_coarse, staged.estimate.seconds);
                    key(&staged) < key(known)
                });
                if is_better {
                    best = Some(staged);
                }
                break;
            }
        }
    }
    best.ok_or(least)
}

/// Tiles that no object is written by two of.
fn tiles(geometry: &Geometry) -> Vec<Vec<u64>> {
    let unit = geometry.unit(geometry.levels.len(), true);
    let aligned = geometry.lcm(&unit, &geometry.chunk);
    let mut found = vec![unit];
    if !found.contains(&aligned) {
        found.push(aligned);
    }
    found
}

/// Steps of a tile: of whole cells, of whole chunks of the input, of whole chunks of levels, and
/// larger ones as far as that pays.
fn steps(geometry: &Geometry, tile: &[u64]) -> Vec<Vec<u64>> {
    let grain = geometry.grain();
    let chunks = geometry.lcm(&grain, &geometry.chunk);
    let mut found: Vec<Vec<u64>> = Vec::new();
    let mut add = |step: Vec<u64>| {
        let step: Vec<u64> = step.iter().zip(tile).map(|(&step, &tile)| step.min(tile)).collect();
        if geometry.divides(&step, tile) && !found.contains(&step) {
            found.push(step);
        }
    };
    for base in [&grain, &chunks] {
        add(base.clone());
        for levels in 1..=geometry.levels.len() {
            add(geometry.lcm(base, &geometry.unit(levels, false)));
        }
        let mut grown: Vec<u64> = base.iter().zip(tile).map(|(&base, &tile)| base.min(tile)).collect();
        for axis in (0..grown.len()).rev() {
            while grown[axis] < tile[axis] {
                let mut more = grown.clone();
                more[axis] = more[axis].saturating_mul(2).min(tile[axis]);
                if bytes_of(&more, geometry.item_bytes) > STEP_BYTES || !geometry.divides(&more, tile) {
                    break;
                }
                grown = more;
            }
        }
        add(grown);
    }
    add(tile.to_vec());
    found
}

fn staged(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
    (sizes, chunks_at_once): (&Sizes, u64),
) -> Staged {
    let (asked, pass) = (request.asked, request.pass);
    let budget = &asked.request.budget;
    let needed = sizes.needed_bytes(chunks_at_once);
    let tasks = cells(&geometry.domain, tile);
    let room = budget.memory_bytes.saturating_sub(request.fixed_bytes) / needed.max(1);
    let threads = u64::from(budget.threads.max(1));
    let wanted = if sizes.is_late { threads.saturating_mul(2) } else { threads };
    let at_once = wanted.min(tasks).min(room).clamp(1, 4096);
    let tasks_at_once = u32::try_from(at_once).unwrap_or(1);
    let domain_bytes = bytes_of(&geometry.domain, geometry.item_bytes);
    let enough = domain_bytes.div_ceil(TASK_BYTES).min(TASKS_ENOUGH);
    let traffic = traffic(request, geometry, (tile, step));
    let figures = Figures {
        tasks,
        whole_tasks: tasks as f64,
        steps: cells(&geometry.domain, step).max(tasks),
        reading: chunks_at_once,
        decoding: chunks_at_once,
        writing: chunks_at_once,
        putting: chunks_at_once,
        traffic,
        ..Figures::default()
    };
    let parallel = Parallel { tasks_at_once, lanes: 1 };
    let estimate = priced(&figures.traffic, price(asked.request, &figures, parallel));
    let blocks = pass.leaves_blocks.then(|| blocks(asked, geometry, (pass, tile)));
    Staged {
        stage: stage(request, geometry, (tile, step), (tasks, tasks_at_once, needed)),
        estimate,
        blocks,
        is_coarse: tasks < enough,
        transfer_bytes: sizes.transfer_bytes(chunks_at_once),
    }
}

/// Shape of the blocks of the last level as an array, and of one of them.
fn blocks(
    asked: &PyramidPlanRequest<'_>,
    geometry: &Geometry,
    (pass, tile): (&PyramidPass, &[u64]),
) -> (Vec<u64>, Vec<u64>) {
    let last = pass.end - 1;
    let factors = &asked.levels[last].factors;
    let extent = asked.extent();
    let shape: Vec<u64> =
        extent.iter().zip(factors).map(|(&extent, &factor)| extent.div_ceil(factor.max(1))).collect();
    let relative = ratio(factors, &geometry.factors);
    let block = tile.iter().zip(relative).map(|(&tile, factor)| tile.div_ceil(factor.max(1)));
    (shape, block.collect())
}

fn stage(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
    (tasks, tasks_at_once, needed): (u64, u32, u64),
) -> Stage {
    let (asked, pass, rank) = (request.asked, request.pass, geometry.domain.len());
    let input = match pass.input {
        PassInput::Source => StageInput::new(ArrayId(0), Unit::Chunk),
        PassInput::Level(level) => StageInput::new(ArrayId(level + 1), Unit::Chunk),
        PassInput::Blocks(_) => StageInput::new(ArrayId(0), Unit::Piece),
    };
    let written = |level: usize| StageOutput::new(ArrayId(level + 1), Unit::Chunk);
    let mut outputs: Vec<StageOutput> = (pass.first..pass.end).map(written).collect();
    if pass.leaves_blocks {
        outputs.push(StageOutput::new(ArrayId(0), Unit::Piece));
    }
    Stage {
        name: "reduce".to_owned(),
        kernel: Kernel::Reduce(Levels { rule: asked.method.name().to_owned() }),
        inputs: vec![input],
        outputs,
        shape: geometry.domain.clone(),
        tile: tile.to_vec(),
        box_shape: Some(step.to_vec()),
        step_chunks: vec![1; rank],
        step_axes: (0..rank).collect(),
        tasks,
        tasks_at_once,
        lanes: 1,
        resident_bytes: needed,
        shard_state_bytes: 0,
        target_shard_bytes: 0,
        lane_bytes: 0,
        worker_bytes: 0,
        is_stepped: false,
        task_bytes: needed,
    }
}

/// Pairs of steps and units of the input that share an element, along an axis. Steps are grown by
/// the halo.
fn meetings(geometry: &Geometry, axis: usize, step: u64, unit: &dyn Fn(u64) -> u64) -> u64 {
    /// Most steps that are looked at one by one.
    const ONE_BY_ONE: u64 = 1 << 20;
    let (extent, halo) = (geometry.domain[axis], geometry.halo[axis]);
    let count = extent.div_ceil(step.max(1)).min(ONE_BY_ONE);
    let of = |number: u64| {
        let start = number.saturating_mul(step);
        let end = start.saturating_add(step).min(extent).saturating_add(halo).min(extent);
        unit(end.saturating_sub(1)) - unit(start.saturating_sub(halo)) + 1
    };
    (0..count).map(of).fold(0, u64::saturating_add)
}

fn traffic(
    request: &PassRequest<'_>,
    geometry: &Geometry,
    (tile, step): (&[u64], &[u64]),
) -> Estimate {
    let (asked, pass) = (request.asked, request.pass);
    let mut estimate = Estimate::default();
    let regular = |shape: &[u64]| {
        product((0..shape.len()).map(|axis| {
            let unit = shape[axis].max(1);
            meetings(geometry, axis, step[axis], &|at| at / unit)
        }))
    };
    let side = match pass.input {
        PassInput::Source => Some((&asked.request.source, asked.request.item_bytes)),
        PassInput::Level(level) => Some((&asked.levels[level].side, asked.request.item_bytes)),
        PassInput::Blocks(_) => None,
    };
    if let Some((side, item_bytes)) = side {
        let chunks = match &side.edges {
            None => regular(&side.chunk_shape),
            Some(edges) => product((0..geometry.domain.len()).map(|axis| {
                let regular = side.chunk_shape[axis].max(1);
                let unit = |at: u64| edges.axis(axis).map_or(at / regular, |axis| axis.position(at));
                meetings(geometry, axis, step[axis], &unit)
            })),
        };
        let indexes = side.shard_shape().map_or(0, regular);
        let index_bytes = side.shard.as_ref().map_or(0, |shard| shard.index_bytes);
        let read = RoleEstimate {
            get_requests: chunks.saturating_add(indexes),
            decoded_read_bytes: bytes_of(&side.chunk_shape, item_bytes).saturating_mul(chunks),
            read_bytes: side
                .encoded_bytes_expected
                .saturating_mul(chunks)
                .saturating_add(index_bytes.saturating_mul(indexes)),
            ..RoleEstimate::default()
        };
        match pass.input {
            PassInput::Level(_) => add(&mut estimate.target, &read),
            PassInput::Source | PassInput::Blocks(_) => add(&mut estimate.source, &read),
        }
    } else {
        let gets = regular(&geometry.chunk);
        let is_once = gets == cells(&geometry.domain, &geometry.chunk);
        let bytes = if is_once {
            bytes_of(&geometry.domain, geometry.item_bytes)
        } else {
            bytes_of(&geometry.chunk, geometry.item_bytes).saturating_mul(gets)
        };
        let read = RoleEstimate {
            get_requests: gets,
            decoded_read_bytes: bytes,
            read_bytes: bytes.saturating_add(gets.saturating_mul(PIECE_CHECKSUM_BYTES)),
            ..RoleEstimate::default()
        };
        add(&mut estimate.intermediate, &read);
    }
    for level in &asked.levels[pass.first..pass.end] {
        add(&mut estimate.target, &written(level, asked.request.item_bytes));
    }
    if pass.leaves_blocks {
        let (shape, _) = blocks(asked, geometry, (pass, tile));
        let puts = cells(&geometry.domain, tile);
        let bytes = bytes_of(&shape, asked.block_item_bytes());
        let put = RoleEstimate {
            put_requests: puts,
            decoded_written_bytes: bytes,
            written_bytes: bytes.saturating_add(puts.saturating_mul(PIECE_CHECKSUM_BYTES)),
            objects: puts,
            ..RoleEstimate::default()
        };
        add(&mut estimate.intermediate, &put);
    }
    estimate
}

fn add(sum: &mut RoleEstimate, next: &RoleEstimate) {
    let mut all = Estimate { source: sum.clone(), ..Estimate::default() };
    all.add(&Estimate { source: next.clone(), ..Estimate::default() });
    *sum = all.source;
}

fn written(level: &super::PyramidTarget, item_bytes: u64) -> RoleEstimate {
    let side = &level.side;
    let chunks = cells(&level.shape, &side.chunk_shape);
    let objects = side.shard_shape().map_or(chunks, |shard| cells(&level.shape, shard));
    let index_bytes = side.shard.as_ref().map_or(0, |shard| shard.index_bytes);
    RoleEstimate {
        put_requests: objects,
        decoded_written_bytes: bytes_of(&side.chunk_shape, item_bytes).saturating_mul(chunks),
        written_bytes: side
            .encoded_bytes_expected
            .saturating_mul(chunks)
            .saturating_add(index_bytes.saturating_mul(objects)),
        objects,
        ..RoleEstimate::default()
    }
}
