//! Plans of certain arrays.

use rechunk_grid::{AxisChunks, Edges};
use rechunk_plan::{
    ArrayRole, Kernel, Parts, PartsSide, Plan, PlanRequest, Profile, ShardSide, Side, StoreProfile,
    Strategy as Kind, Way,
};
use rechunk_planner::{PlanError, Planned, cheapest, plan};

use crate::checks::assert_least;
use crate::requests::{into_shards, request, split};

/// A search from nothing ended in boxes that another, with one byte less than those take, came
/// below.
#[test]
fn nothing_fits_in_less_than_what_is_named_as_the_least() {
    let axes = [(15, 5, 5, 3, 3), (13, 6, 6, 2, 3), (11, 12, 1, 4, 1)];
    let (shape, source, target) = split(&axes);
    let mut request = request(&shape, &source, &target, (1 << 20) + 2 * (128 << 10));
    into_shards(&mut request, &axes, (true, false));
    request.keeps_absence = true;
    for strategy in Kind::KINDS.into_iter().chain([Kind::Auto]) {
        request.strategy = strategy;
        assert_least(&mut request);
    }
}

#[test]
fn where_one_pass_is_cheaper_than_any_intermediate_none_is_searched_for() {
    let kinds = |planned: Planned| {
        let kinds = planned.candidates.iter().map(|candidate| candidate.kind);
        kinds.filter(|kind| [Kind::PushPull, Kind::Multistage].contains(kind)).count()
    };
    let one_pass = request(&[4000, 4000], &[40, 40], &[400, 400], 64 << 20);
    assert_eq!(kinds(cheapest(&one_pass).unwrap()), 0);
    assert!(kinds(plan(&one_pass).unwrap()) > 1);
    let two_passes = request(&[672, 361, 720], &[24, 361, 720], &[672, 19, 20], 171_000_000);
    assert!(kinds(cheapest(&two_passes).unwrap()) > 1);
}

/// Parts of chunks of a cheap codec, which passes over blocks that are not wanted, are read several
/// times. That is sooner done than writing and reading an intermediate.
#[test]
fn parts_of_chunks_are_taken_again_where_an_intermediate_costs_more() {
    let mut request = request(&[1460, 720, 1440], &[1, 720, 1440], &[1460, 30, 30], 1_000_000_000);
    for side in [&mut request.source, &mut request.target] {
        "blosc-lz4".clone_into(&mut side.codec);
        side.is_raw = false;
    }
    let of = |request: &PlanRequest| plan(request).unwrap().plan;
    let whole = of(&request);
    let order = vec![0, 1, 2];
    request.source.parts = Some(PartsSide {
        order,
        parts: Parts::Blocks { block_bytes: 1 << 19, are_read_apart: true },
    });
    let parts = of(&request);
    assert_eq!((whole.kind, parts.kind), (Kind::PushPull, Kind::Pull));
    let forced = |parts: bool| {
        let mut request = PlanRequest { strategy: Kind::Pull, ..request.clone() };
        request.source.parts = request.source.parts.filter(|_| parts);
        of(&request).estimate
    };
    let (parts, whole) = (forced(true), forced(false));
    // Twice what is there, one block in eight beside each part, instead of once for each of the
    // eight boxes.
    assert!(parts.source.read_bytes * 4 < whole.source.read_bytes);
    assert_eq!(parts.source.get_requests, whole.source.get_requests);
    assert_eq!(parts.source.decoded_read_bytes, whole.source.decoded_read_bytes);
    assert!(parts.seconds < whole.seconds);

    for order in [vec![], vec![0, 1], vec![0, 1, 1], vec![0, 1, 3], vec![0, 1, 2, 0]] {
        request.source.parts = Some(PartsSide { order, parts: Parts::Elements });
        let refused = plan(&request).unwrap_err();
        assert!(matches!(refused, PlanError::OutOfRange { what: "the storage order", .. }));
    }
    request.source.parts = Some(PartsSide { order: vec![2, 0, 1], parts: Parts::Elements });
    plan(&request).unwrap();
}

/// Without a codec a chunk can be larger than the memory, and no intermediate is needed.
#[test]
fn parts_of_plain_chunks_are_all_that_is_held() {
    let chunk = [600, 600, 600];
    let mut request = request(&chunk, &chunk, &[75, 75, 75], 128_000_000);
    let refused = plan(&request).unwrap_err();
    assert!(matches!(refused, PlanError::DoesNotFit { .. }), "{refused}");
    request.source.parts = Some(PartsSide { order: vec![0, 1, 2], parts: Parts::Elements });
    let plan = plan(&request).unwrap().plan;
    assert_eq!((plan.kind, plan.stages.len()), (Kind::Pull, 1));
    let slab_bytes = 75 * 600 * 600 * 4;
    assert!(plan.stages[0].lane_bytes <= slab_bytes, "{plan:?}");
    plan.check().unwrap();
}

/// Copies by the store are a request for each object, and no bytes. Whoever moves them, the same
/// objects are written, in no more memory than moving them takes.
#[test]
fn a_store_copies_whole_objects_only() {
    let mut request = request(&[50, 40], &[8, 16], &[8, 16], 64 << 20);
    request.profile = Profile::uniform(&StoreProfile::built_in("s3").unwrap());
    request.strategy = Kind::Passthrough;
    let of = |request: &PlanRequest, can_copy| {
        plan(&PlanRequest { store_can_copy: can_copy, ..request.clone() }).unwrap().plan
    };
    let (moved, copied) = (of(&request, false), of(&request, true));
    assert!(copied.stages[0].is_copied_by_store() && !moved.stages[0].is_copied_by_store());
    let estimate = &copied.estimate;
    assert_eq!((estimate.target.copy_requests, estimate.target.objects), (21, 21));
    assert_eq!((estimate.source.get_requests, estimate.target.put_requests), (0, 0));
    assert_eq!((estimate.source.read_bytes, estimate.target.written_bytes), (0, 0));
    assert_eq!((estimate.requests(), moved.estimate.requests()), (21, 42));
    assert!(estimate.seconds < moved.estimate.seconds && estimate.usd < moved.estimate.usd);
    assert_eq!(copied.fingerprint, moved.fingerprint, "equal objects in equal tasks");
    assert_eq!(copied.stages[0].lane_bytes, moved.stages[0].lane_bytes);
    copied.check().unwrap();

    // Chunks have to be decoded, or their cuts differ.
    let other = PlanRequest { same_encoding: false, strategy: Kind::Auto, ..request.clone() };
    assert_eq!(of(&other, true).estimate.target.copy_requests, 0);
    // Whole shards are copied, chunks into or out of them are not.
    let shard = |index_bytes| {
        let shape = vec![16, 32];
        Some(ShardSide { shape, index_bytes, index_first: false, tables: None })
    };
    for (source, target, copies) in [
        (shard(68), shard(68), 8),
        (shard(68), None, 0),
        (None, shard(68), 0),
        (shard(68), shard(64), 0),
    ] {
        let mut request = request.clone();
        request.same_shards = source == target;
        (request.source.shard, request.target.shard) = (source, target);
        let plan = of(&request, true);
        assert_eq!(plan.estimate.target.copy_requests, copies, "{plan:?}");
        assert_eq!(plan.stages[0].is_copied_by_store(), copies > 0);
        plan.check().unwrap();
    }
    // S3 copies no object of more than 5 GiB at once.
    for (elements, copies) in [(5 << 28, 2), ((5 << 28) + 1, 0)] {
        let mut request = request.clone();
        (request.shape, request.budget.memory_bytes) = (vec![elements + 1], 100 << 30);
        (request.source, request.target) = (Side::raw(&[elements], 4), Side::raw(&[elements], 4));
        assert_eq!(of(&request, true).estimate.target.copy_requests, copies);
    }
    // A plan that says so of something else was not made by this planner.
    let mut in_shards = request.clone();
    in_shards.target.shard = shard(68);
    let mut wrong = of(&in_shards, true);
    wrong.stages[0].kernel = Kernel::Copy(Way::ByStore);
    wrong.fingerprint = wrong.computed_fingerprint();
    assert!(wrong.check().unwrap_err().contains("no whole objects"));
    // Nor one of more threads than can be had.
    let wrong = Plan { threads: 1 << 31, ..moved.clone() };
    assert!(wrong.check().unwrap_err().contains("threads"));
    // Nor one of chunks and shards that are none of the array, though no stage looks at them.
    let rank = moved.source().shape.len();
    for shape in [vec![0; rank], vec![], vec![1; rank + 1]] {
        for part in 0..4 {
            let mut wrong = Plan { stages: Vec::new(), ..moved.clone() };
            match part {
                0 | 1 => wrong.arrays[part].chunk.clone_from(&shape),
                _ => wrong.arrays[part - 2].shard = Some(shape.clone()),
            }
            wrong.fingerprint = wrong.computed_fingerprint();
            assert!(wrong.check().is_err(), "{part} {shape:?}");
        }
    }
}

/// Everything that is put aside in memory is paid for, also what is behind the elements and what
/// further passes put aside.
#[test]
fn intermediates_in_memory_are_paid_for() {
    for (strategy, memory_bytes) in [(Kind::PushPull, 8 << 20), (Kind::Multistage, 16 << 20)] {
        let mut request = request(&[1000, 1000], &[1, 1000], &[1000, 1], memory_bytes);
        (request.strategy, request.intermediate_in_memory) = (strategy, true);
        let plan = plan(&request).unwrap().plan;
        let kept_bytes = plan.estimate.intermediate.written_bytes;
        assert!(kept_bytes > 4_000_000 * (plan.stages.len() as u64 - 1), "{plan:?}");
        let (base, memory) = ((1 << 20) + 2 * (128 << 10), &plan.memory);
        assert_eq!(memory.fixed_bytes, base + kept_bytes);
        let largest = plan.stages.iter().map(|stage| stage.peak_bytes(plan.threads));
        assert_eq!(memory.planned_peak_bytes, memory.fixed_bytes + largest.max().unwrap());
        assert!(memory.planned_peak_bytes <= memory_bytes);
    }
}

/// Chunks of 2 MiB take 6 MiB to decode. With lanes that hold that, eight of them are in flight in
/// 128 MiB and no more.
#[test]
fn many_chunks_are_in_flight_where_few_are_decoded() {
    let mut request = request(&[120, 1024, 1024], &[1, 1024, 1024], &[120, 64, 64], 128 << 20);
    (request.item_bytes, request.strategy) = (2, Kind::PushPull);
    request.profile = Profile::uniform(&StoreProfile::built_in("s3").unwrap());
    for side in [&mut request.source, &mut request.target] {
        side.is_raw = false;
        side.encoded_bytes_max = 2 * side.chunk_shape.iter().product::<u64>();
        side.encoded_bytes_expected = side.encoded_bytes_max / 2;
        (side.decode_workspace_bytes, side.encode_workspace_bytes) = (6 << 20, 6 << 20);
    }
    let planned = plan(&request).unwrap().plan;
    planned.check().unwrap();
    let push = &planned.stages[0];
    assert_eq!(push.worker_bytes, 8 << 20, "{push:?}");
    assert_eq!(push.lane_bytes, 2 << 20);
    assert!(push.lanes * push.tasks_at_once >= 16, "{push:?}");
    let peaks = planned.stages.iter().map(|stage| stage.peak_bytes(planned.threads));
    let memory = &planned.memory;
    assert_eq!(memory.planned_peak_bytes, memory.fixed_bytes + peaks.max().unwrap());
    // With as many threads as lanes, lanes that pay for all are as good.
    request.budget.threads = 16;
    let push = plan(&request).unwrap().plan.stages.remove(0);
    assert!(push.worker_bytes == 0 || push.lanes * push.tasks_at_once > 16, "{push:?}");
    // What is resumed with less memory keeps within that.
    let mut less = planned.clone();
    assert!(less.fit_to(64 << 20));
    assert!(less.memory.planned_peak_bytes <= 64 << 20);
    less.check().unwrap();
    assert!(less.stages[0].lanes < planned.stages[0].lanes);
    let needs = planned.stages[0].resident_bytes + (10 << 20) + planned.memory.fixed_bytes;
    assert!(!planned.clone().fit_to(needs - 1) && planned.clone().fit_to(needs.max(64 << 20)));
}

#[test]
fn a_satellite_archive_of_a_billion_chunks_plans_within_two_gigabytes() {
    let mut request =
        request(&[1_000_000, 18_000, 36_000], &[1, 600, 1200], &[10_000, 100, 100], 2_000_000_000);
    request.profile = Profile::uniform(&StoreProfile::built_in("s3").unwrap());
    let planned = plan(&request).unwrap();
    assert_eq!(planned.plan.estimate.target.put_requests, 100 * 180 * 360);
    assert!(planned.plan.memory.planned_peak_bytes <= 2_000_000_000);
    assert!(serde_json::to_string(&planned.plan).unwrap().len() < 8192);
}

/// Where little of such an array is stored, nothing is done for most tasks; the others took hours.
#[test]
fn tasks_of_arrays_of_billions_of_chunks_are_small() {
    for (shape, source, target) in [
        (&[1_000_000, 1_000_000, 1000][..], &[64, 64, 64][..], &[1, 256, 1000][..]),
        (&[1 << 31, 1 << 31], &[1024, 1024], &[512, 2048]),
        (&[1_000_000, 1_000_000], &[1000, 1], &[1, 1000]),
    ] {
        let planned = plan(&request(shape, source, target, 256 << 20)).unwrap();
        let stage = &planned.plan.stages[0];
        let axes = 0..shape.len();
        let pieces = axes.map(|axis| stage.tile[axis].div_ceil(source[axis].min(target[axis])));
        let pieces: u64 = pieces.product();
        assert!(pieces <= 1 << 20, "{pieces} in a task of {:?}", stage.tile);
        let chunks: u64 = shape.iter().zip(source).map(|(n, chunk)| n.div_ceil(*chunk)).product();
        assert_eq!(planned.plan.estimate.source.get_requests, chunks, "read once");
    }
}

/// A million chunks of one element were filled at once, in 200 MiB more than was planned.
#[test]
fn what_finds_tiny_chunks_is_paid_for() {
    let request =
        PlanRequest { strategy: Kind::Memory, ..request(&[1 << 20], &[1 << 20], &[1], 64 << 20) };
    let refused = plan(&request).unwrap_err();
    let needs_more = matches!(
        refused,
        PlanError::DoesNotFit { minimum_bytes, .. } if minimum_bytes > 210 << 20
    );
    assert!(needs_more, "{refused}");
}

/// Daily data in monthly chunks, a century of it on a large grid, to be read as time series.
fn months(memory_bytes: u64, with_leap_years: bool) -> PlanRequest {
    let of_year = |year: u64| {
        let february = if with_leap_years && year.is_multiple_of(4) { 29 } else { 28 };
        [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].map(|days| (days, 1))
    };
    let runs: Vec<(u64, u64)> = (0..100).flat_map(of_year).collect();
    let days = runs.iter().map(|run| run.0).sum();
    let cut = AxisChunks::of_runs(0, days, runs).unwrap();
    let mut request = request(&[days, 1800, 3600], &[31, 600, 600], &[3650, 60, 60], memory_bytes);
    request.source.edges = Edges::new(vec![cut.into_edges(), None, None]);
    request
}

#[test]
fn months_are_read_once_where_memory_allows_it() {
    for (memory_bytes, with_leap_years, most_read_twice) in
        // Where years are equal, boxes end on months. Where they are not, months at the end of a
        // box are read for both.
        [(6 << 30, false, 0), (6 << 30, true, 1), (1 << 30, false, 0), (1 << 30, true, 10)]
    {
        let request = months(memory_bytes, with_leap_years);
        let planned = plan(&request).unwrap();
        let source = &planned.plan.estimate.source;
        let all = 1200 * 3 * 6;
        let most = all + all * most_read_twice / 100;
        assert!(
            source.get_requests <= most,
            "{} of {all}: {:?}",
            source.get_requests,
            planned.plan
        );
        if most_read_twice == 0 {
            let elements: u64 = request.shape.iter().product();
            assert_eq!(source.decoded_read_bytes, elements * 4);
        }
    }
    let request = PlanRequest { strategy: Kind::Keep, ..months(16 << 30, true) };
    assert_eq!(plan(&request).unwrap().plan.estimate.source.get_requests, 1200 * 3 * 6);
}

/// The most edges there may be, in an awkward list.
#[test]
fn a_million_edges_plan_in_seconds() {
    let runs = (0..1 << 20).map(|i| (1 + i % 977, 1));
    let shape = [(0..1 << 20).map(|i| 1 + i % 977).sum(), 4000];
    let cut = AxisChunks::of_runs(0, shape[0], runs).unwrap();
    let mut request = request(&shape, &[cut.longest(), 1000], &[1000, 100], 1 << 30);
    request.source.edges = Edges::new(vec![cut.into_edges(), None]);
    let started = std::time::Instant::now();
    let planned = plan(&request).unwrap();
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    let json = serde_json::to_string(&planned.plan).unwrap();
    assert!(json.len() < 8 << 20, "{} bytes", json.len());
    assert_eq!(serde_json::from_str::<Plan>(&json).unwrap(), planned.plan);
}

/// The search is local, but its result with more memory costs hardly more than that with less. It
/// was 3 % at most where this was measured (216 budgets of 8 arrays; 55 % before the memory was
/// divided for each stage in the search itself).
#[test]
fn more_memory_hardly_ever_costs_more() {
    let stores = [StoreProfile::local(), StoreProfile::built_in("s3").unwrap()];
    let cuts: [[&[u64]; 3]; 3] = [
        [&[1000, 1000, 1000], &[10, 500, 500], &[1000, 50, 50]],
        [&[500, 50, 721, 1440], &[1, 50, 721, 1440], &[500, 1, 20, 20]],
        [&[2000, 361, 720], &[24, 361, 720], &[2000, 19, 20]],
    ];
    let with = |threads| cuts.iter().flat_map(move |cuts| [(cuts, 0, threads), (cuts, 1, threads)]);
    for ([shape, source, target], store, threads) in [2, 8].into_iter().flat_map(with) {
        let store = &stores[store];
        let mut least = f64::INFINITY;
        let mut memory_bytes = 24 << 20;
        while memory_bytes < 16 << 30 {
            let mut asked = request(shape, source, target, memory_bytes);
            asked.profile = Profile::uniform(store);
            asked.budget.threads = threads;
            if let Ok(planned) = plan(&asked) {
                let seconds = planned.plan.estimate.seconds;
                assert!(seconds <= least * 1.05, "{seconds} after {least} s: {memory_bytes} B");
                least = least.min(seconds);
            }
            memory_bytes += memory_bytes / 3;
        }
        assert!(least.is_finite(), "{shape:?} fits somewhere");
    }
}

/// Larger steps gain nothing when they are large. Their memory is left for reading ahead, and a run
/// that is killed has marked most of what it did.
#[test]
fn ample_memory_is_not_filled_for_nothing() {
    let planned = plan(&request(&[4000, 4000], &[40, 40], &[400, 400], 16 << 30)).unwrap().plan;
    let stage = &planned.stages[0];
    let inputs: u64 = stage.tile.iter().map(|tile| tile.div_ceil(40)).product();
    let step: u64 = stage.step_chunks.iter().product();
    assert!((32..=inputs / 4).contains(&step), "{stage:?}");
    assert!(stage.resident_bytes * 4 < 4000 * 4000 * 4, "{stage:?}");
}

#[test]
fn two_tasks_at_once_are_better_than_one_of_twice_the_size() {
    for threads in [2, 8, 16] {
        let (source, target) = ([24, 361, 720], [672, 19, 20]);
        let mut asked = request(&[672, 361, 720], &source, &target, 171_000_000);
        asked.budget.threads = threads;
        let planned = plan(&asked).unwrap().plan;
        assert_eq!(planned.kind, Kind::PushPull);
        assert!(planned.stages.iter().all(|stage| stage.tasks_at_once >= 2), "{threads} threads");
    }
}

/// A plan that was edited, its fingerprint too, has an intermediate of its own making nowhere.
#[test]
fn an_intermediate_is_what_the_next_stage_reads() {
    let mut request = request(&[50, 40], &[7, 40], &[50, 3], 64 << 20);
    request.strategy = Kind::PushPull;
    let planned = plan(&request).unwrap().plan;
    planned.check().unwrap();
    assert_eq!(planned.arrays[1].role, ArrayRole::Intermediate);
    let edits: [fn(&mut Plan); 7] = [
        |plan| plan.arrays[1].shard = Some(plan.arrays[1].chunk.clone()),
        |plan| plan.arrays[1].edges = edges_of(&plan.arrays[1].shape),
        |plan| plan.arrays.push(plan.arrays[1].clone()),
        |plan| plan.arrays[1].chunk[0] += 1,
        |plan| plan.arrays[1].shape[0] += 1,
        |plan| plan.stages[1].inputs[0] = plan.stages[0].inputs[0].clone(),
        |plan| plan.stages.swap(0, 1),
    ];
    for (number, edit) in edits.into_iter().enumerate() {
        let mut wrong = planned.clone();
        edit(&mut wrong);
        assert_ne!(wrong, planned);
        wrong.fingerprint = wrong.computed_fingerprint();
        assert!(wrong.check().is_err(), "{number}");
    }
}

/// Two chunks of different lengths along the first axis.
fn edges_of(shape: &[u64]) -> Option<Edges> {
    let cut = AxisChunks::of_runs(0, shape[0], [(1, 1), (shape[0] - 1, 1)]).unwrap();
    let mut axes = vec![None; shape.len()];
    axes[0] = cut.into_edges();
    Edges::new(axes)
}
