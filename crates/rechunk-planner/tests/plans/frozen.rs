//! Plans of ten thousand drawn requests, held against what version 2 of the plan gave for them.
//!
//! A line of `frozen.txt` is two hashes of a hundred plans: of those for one worker, and of those
//! for several. `RECHUNK_FROZEN_SHOW=LINE` prints those of a line, `RECHUNK_FROZEN_BLESS=1` writes
//! the file anew: only where other plans are meant.

use std::fmt::Write;
use std::path::Path;

use rechunk_grid::{AxisChunks, Edges};
use rechunk_plan::{
    Estimate, IntermediateGrid, Multipart, Parts, PartsSide, Plan, PlanRequest, Profile, RunsSide,
    StoreProfile, Strategy as Kind, Unit,
};
use rechunk_planner::plan;

use crate::requests::{Axis, into_lengths, into_shards, request, split};

const REQUESTS: u64 = 10_000;
const REQUESTS_OF_A_LINE: u64 = 100;

#[test]
fn drawn_requests_have_the_plans_that_they_had() {
    let shown = std::env::var("RECHUNK_FROZEN_SHOW").ok().and_then(|line| line.parse::<u64>().ok());
    let mut found = String::new();
    for line in 0..REQUESTS / REQUESTS_OF_A_LINE {
        let (mut of_one, mut of_several) = (Fnv::new(), Fnv::new());
        for number in 0..REQUESTS_OF_A_LINE {
            let request = drawn(line * REQUESTS_OF_A_LINE + number);
            let text = essence(&request);
            let hash = if request.budget.workers == 1 { &mut of_one } else { &mut of_several };
            hash.add(&text);
            if shown == Some(line + 1) {
                println!("{text}");
            }
        }
        writeln!(found, "{:016x} {:016x}", of_one.0, of_several.0).unwrap();
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plans/frozen.txt");
    if std::env::var_os("RECHUNK_FROZEN_BLESS").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    let differing: Vec<usize> = (1..)
        .zip(found.lines().zip(expected.lines()))
        .filter_map(|(line, (found, expected))| (found != expected).then_some(line))
        .collect();
    assert!(differing.is_empty(), "plans of lines {differing:?} have changed");
    assert_eq!(found.lines().count(), expected.lines().count());
}

/// Every kind of plan is among the drawn ones, and every way of reading and writing.
#[test]
fn drawn_requests_have_plans_of_all_kinds() {
    let texts: Vec<String> = (0..REQUESTS).step_by(5).map(|at| essence(&drawn(at))).collect();
    let words = [
        "passthrough",
        "direct",
        "keep",
        "pull",
        "push-pull",
        "multistage",
        "memory",
        "SourceShards",
        "TargetShards",
        "by store",
        "edges",
        "held",
        "buffer",
        "box",
        "keeps absence",
        "uploads",
        "DoesNotFit",
        "NotApplicable",
    ];
    for word in words {
        let count = texts.iter().filter(|text| text.contains(word)).count();
        assert!(count > 3, "{count} of {} plans have {word}", texts.len());
    }
}

/// FNV-1a.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Numbers that follow from a seed (`splitmix64`).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        let at = self.below(all.len() as u64);
        all[usize::try_from(at).unwrap()]
    }
}

fn axis(draw: &mut Draw, is_large: bool) -> Axis {
    let scale = if is_large { 1 + draw.below(400) } else { 1 };
    let chunk =
        |draw: &mut Draw| (1 + draw.below(15)) * if is_large { 1 + draw.below(20) } else { 1 };
    let source = chunk(draw);
    let target = if draw.one_in(4) { source } else { chunk(draw) };
    (draw.below(40) * scale, source, target, 1 + draw.below(4), 1 + draw.below(4))
}

#[expect(clippy::same_functions_in_if_condition, reason = "each draws anew")]
fn drawn(seed: u64) -> PlanRequest {
    let mut draw = Draw(seed.wrapping_mul(0x1_0000_0001));
    let is_large = draw.one_in(3);
    let axes: Vec<Axis> = (0..draw.below(4)).map(|_| axis(&mut draw, is_large)).collect();
    let (shape, source, target) = split(&axes);
    let fixed_bytes = (1 << 20) + 2 * (128 << 10);
    let extra_bytes = match draw.below(4) {
        0 => draw.below(3_000),
        1 => draw.below(60_000),
        2 => draw.below(4 << 20),
        _ => 256 << 20,
    };
    let mut request = request(&shape, &source, &target, fixed_bytes + extra_bytes);
    if draw.one_in(3) {
        request.target.chunk_shape = request.source.chunk_shape.clone();
    }
    if draw.one_in(3) {
        let shards = (draw.one_in(2), draw.one_in(2));
        into_shards(&mut request, &axes, shards);
        if draw.one_in(3) {
            request.target = request.source.clone();
            request.same_shards = true;
        }
    } else if !is_large && draw.one_in(4) {
        let runs = |draw: &mut Draw| {
            (0..=draw.below(6)).map(|_| (1 + draw.below(15), 1 + draw.below(3))).collect()
        };
        let lists = (0..4).map(|_| runs(&mut draw)).collect();
        into_lengths(&mut request, &lists);
    } else if draw.one_in(6) && !axes.is_empty() {
        into_region(&mut draw, &mut request);
    } else if draw.one_in(6) {
        into_raw_files(&mut draw, &mut request);
    } else if draw.one_in(6) {
        let blocks = Parts::Blocks { block_bytes: 64, are_read_apart: draw.one_in(2) };
        let parts = if draw.one_in(2) { Parts::Elements } else { blocks };
        let order = (0..request.shape.len()).collect();
        request.source.parts = Some(PartsSide { parts, order });
        request.source.is_raw = draw.one_in(2);
    }
    request.same_encoding = draw.one_in(2);
    request.store_can_copy = draw.one_in(3);
    request.keeps_absence = draw.one_in(3);
    request.item_bytes = draw.of(&[1, 2, 4, 8, 16]);
    let grids = [IntermediateGrid::Exact, IntermediateGrid::Min];
    request.intermediate_grid = draw.of(&grids);
    request.intermediate_in_memory = draw.one_in(5);
    request.budget.threads = draw.of(&[1, 2, 4, 16]);
    request.budget.workers = draw.of(&[1, 1, 3]);
    request.budget.concurrency = if draw.one_in(3) { Some(draw.of(&[1, 4, 32])) } else { None };
    let profile = draw.of(&["local", "s3", "gcs", "hdd"]);
    if let Some(store) = StoreProfile::built_in(profile) {
        request.profile = Profile::uniform(&store);
    }
    if draw.one_in(4) {
        let (threshold_bytes, part_bytes) = (draw.below(300), 1 + draw.below(299));
        request.profile.target.multipart = Some(Multipart { threshold_bytes, part_bytes });
    }
    request.strategy = match draw.below(3) {
        0 => Kind::Auto,
        _ => draw.of(&Kind::KINDS),
    };
    request
}

/// Gives the source only a part of the array.
fn into_region(draw: &mut Draw, request: &mut PlanRequest) {
    let mut edges = Vec::new();
    for axis in 0..request.shape.len() {
        let (extent, chunk) = (request.shape[axis], request.source.chunk_shape[axis]);
        let before = draw.below(9);
        request.shape[axis] = before + extent + draw.below(9);
        let runs = [(chunk, extent.div_ceil(chunk.max(1)).max(1))];
        let held = AxisChunks::of_runs(axis, extent, runs)
            .and_then(|cut| cut.within(axis, request.shape[axis], (before, before + extent)));
        match held {
            Ok(cut) => {
                request.source.chunk_shape[axis] = cut.longest();
                edges.push(cut.into_edges());
            }
            Err(_) => edges.push(None),
        }
    }
    request.source.edges = Edges::new(edges);
}

/// Makes both sides raw files.
fn into_raw_files(draw: &mut Draw, request: &mut PlanRequest) {
    let shape = request.shape.clone();
    for side in [&mut request.source, &mut request.target] {
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if draw.one_in(2) {
            order.reverse();
        }
        side.runs = Some(RunsSide {
            block_shape: side.chunk_shape.clone(),
            order,
            offset_bytes: draw.of(&[0, 128]),
        });
        side.is_raw = true;
    }
}

/// Everything that a plan says, as text.
fn essence(request: &PlanRequest) -> String {
    let planned = match plan(request) {
        Ok(planned) => planned,
        Err(error) => return format!("{error:?}\n"),
    };
    let plan = &planned.plan;
    let mut text = format!("{} {} {:?}", plan.kind, plan.threads, plan.memory);
    arrays(&mut text, plan);
    for (number, stage) in plan.stages.iter().enumerate() {
        write!(text, "\n{} {}", stage.name, way(plan, number)).unwrap();
        write!(text, " {:?} {:?}", stage.fetch_shape(plan), stage.unit_shape(plan)).unwrap();
        write!(text, " tile {:?} box {:?}", stage.tile, stage.box_shape).unwrap();
        write!(text, " steps {:?} {:?}", stage.step_chunks, stage.step_axes).unwrap();
        write!(text, " tasks {} {}", stage.tasks, stage.tasks_at_once).unwrap();
        write!(text, " lanes {} {}", stage.lanes, stage.lane_bytes).unwrap();
        write!(text, " bytes {} {}", stage.resident_bytes, stage.shard_state_bytes).unwrap();
        write!(text, " {} {}", stage.target_shard_bytes, stage.worker_bytes).unwrap();
        write!(text, " {} {}", stage.task_bytes, stage.is_stepped).unwrap();
        if let Some(runs) = schedule(plan, number) {
            let (kept, axes) = (&runs.kept, &runs.step_axes);
            write!(text, " buffer {:?} {kept:?} {axes:?}", runs.buffer).unwrap();
        }
    }
    let Estimate { source, intermediate, target, seconds, usd, price } = &plan.estimate;
    let traffic = [source, intermediate, target];
    write!(text, "\n{traffic:?} {seconds:?} {usd:?} Price {{ get_usd: {:?}", price.get_usd)
        .unwrap();
    write!(text, ", put_usd: {:?}, part_usd: {:?}", price.put_usd, price.part_usd).unwrap();
    write!(text, ", copy_usd: {:?}, egress_usd: {:?}", price.copy_usd, price.egress_usd).unwrap();
    text.push_str(" }\n");
    writeln!(text, "{:?} {}", plan.priced_by, plan.fingerprint).unwrap();
    text
}

/// The arrays of a plan.
fn arrays(text: &mut String, plan: &Plan) {
    let (source, target) = (plan.source(), plan.target());
    let (from, to) = (&source.chunk, &target.chunk);
    write!(text, " {:?} {} {from:?} {to:?}", source.shape, source.item_bytes).unwrap();
    if let Some(edges) = &source.edges {
        let held = edges.held(&source.shape).map(|held| format!("held {held:?}"));
        write!(text, " edges {edges:?} {}", held.unwrap_or_default()).unwrap();
    }
    write!(text, " {:?} {:?}", source.shard, target.shard).unwrap();
    write!(text, " {:?} {:?}", source.runs, target.runs).unwrap();
    if plan.keeps_absence {
        text.push_str(" keeps absence");
    }
    for uploads in
        [target.uploads, plan.intermediate().and_then(|array| array.uploads)].into_iter().flatten()
    {
        write!(text, " uploads {uploads:?}").unwrap();
    }
}

/// Inputs and outputs of a stage, and how they are copied, in the words of version 2.
fn way(plan: &Plan, stage: usize) -> String {
    let stage = &plan.stages[stage];
    let copied = if stage.is_copied_by_store() { " by store" } else { "" };
    let input = match stage.input_unit() {
        Unit::Chunk => "SourceChunks".to_owned(),
        Unit::Shard => "SourceShards".to_owned(),
        Unit::Piece => format!("Pieces {{ written_in: {:?} }}", stage.fetch_shape(plan)),
    };
    let output = match stage.output_unit() {
        Unit::Chunk => "TargetChunks".to_owned(),
        Unit::Shard => "TargetShards".to_owned(),
        Unit::Piece => format!("Pieces {{ read_in: {:?} }}", stage.unit_shape(plan)),
    };
    format!("{input} {output} {}{copied}", stage.passes_through())
}

fn schedule(plan: &Plan, stage: usize) -> Option<&rechunk_plan::keep::Schedule> {
    plan.stages[stage].schedule()
}
