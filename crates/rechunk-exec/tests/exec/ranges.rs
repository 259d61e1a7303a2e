//! Runs of ranges of tasks: however a plan is cut, they do together what one run does.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::Index;
use rechunk_exec::{ArrayDigest, ExecError, Fault, Journal, NullObserver, TaskRange};
use rechunk_grid::DataType;
use rechunk_kernel::Digest;
use rechunk_plan::{Plan, Strategy as Kind};
use rechunk_store::{Meter, RoleTraffic, Store, Traffic};
use tokio_util::sync::CancellationToken;

use crate::by_slab;
use crate::case::{Case, Prepared, execute, execute_observed, runtime};
use crate::journal::{CancelAfter, header, work_store};
use crate::run_case::{RunCase, run_cases};
use crate::strategies::all_cases;

/// Cuts of a stage, and the order in which its ranges are run.
type Cuts = Vec<(Index, u64)>;

/// The ranges of a stage, cut and ordered as `cuts` say.
fn ranges(plan: &Plan, stage: usize, cuts: &Cuts) -> Vec<TaskRange> {
    let tasks = plan.stages[stage].tasks;
    let at = |cut: &Index| cut.index(usize::try_from(tasks).unwrap() + 1) as u64;
    let mut ends: Vec<u64> = cuts.iter().map(|(cut, _)| at(cut)).chain([0, tasks]).collect();
    ends.sort_unstable();
    let ranges = ends.windows(2).map(|ends| TaskRange::new(stage, ends[0]..ends[1]));
    let mut ranges: Vec<TaskRange> = ranges.collect();
    ranges.sort_by_key(|range| cuts.get(usize::try_from(range.start).unwrap()).map(|cut| cut.1));
    ranges
}

/// Counts that do not depend on how a plan is cut. Each run lists a sparse source anew, so listings
/// and the requests that a list spares may differ: what is missing counts as asked for all the
/// same. Parts of uploads, shard indexes and steps belong to one task each, and are never shared.
fn counts(traffic: &Traffic) -> [RoleTraffic; 3] {
    [traffic.source, traffic.intermediate, traffic.target]
        .map(|role| RoleTraffic { http_attempts: 0, ..role })
}

/// All objects of a store, by key.
async fn objects(store: &Store) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for (key, _) in store.list_first("", 100_000).await.unwrap() {
        let bytes = store.get(&key, 1 << 30).await.unwrap().unwrap();
        found.push((key, bytes.to_vec()));
    }
    found.sort_unstable();
    found
}

/// Runs all of `plan`; its traffic and digest.
async fn run_whole(case: &Case, plan: &Plan, prepared: &Prepared) -> (Traffic, ArrayDigest) {
    let meter = Meter::new();
    let report = execute(prepared.execution(case, plan, &meter), None).await.unwrap();
    (meter.traffic(), report.digest.unwrap())
}

async fn assert_cut(case: &Case, plan: &Plan, cuts: &Cuts, is_journaled: bool) {
    let whole = case.prepare().await;
    let (expected, digest) = run_whole(case, plan, &whole).await;
    let prepared = case.prepare().await;
    let directory = tempfile::tempdir().unwrap();
    let store = work_store(&directory);
    if is_journaled {
        drop(Journal::create(&store, header(plan), "test").await.unwrap());
    }
    let (mut sum, mut traffic) = (Digest::default(), Traffic::default());
    for stage in 0..plan.stages.len() {
        for tasks in ranges(plan, stage, cuts) {
            let journal = if is_journaled {
                Some(Journal::open(&store, "test").await.unwrap())
            } else {
                None
            };
            let meter = Meter::new();
            let mut execution = prepared.execution(case, plan, &meter);
            execution.tasks = Some(tasks);
            let report = execute(execution, journal).await.unwrap();
            let done = (report.tasks_total, report.tasks_done, report.tasks_resumed);
            assert_eq!(done, (tasks.len(), tasks.len(), 0));
            if let Some(part) = report.digest {
                assert_eq!((stage, part.method), (0, digest.method));
                sum += part.value;
            }
            traffic.add(&meter.traffic());
        }
    }
    assert_eq!(sum, digest.value, "{plan:?}");
    assert_eq!(counts(&traffic), counts(&expected), "{plan:?}");
    assert_eq!(case.read_all(&case.target, &prepared.target).await, whole.elements);
    let cut = objects(prepared.target.store()).await;
    let whole = objects(whole.target.store()).await;
    if case.target.shards.is_none() {
        assert!(cut == whole, "other bytes: {plan:?}");
    }
    let keys =
        |objects: &[(String, Vec<u8>)]| objects.iter().map(|o| o.0.clone()).collect::<Vec<_>>();
    assert_eq!(keys(&cut), keys(&whole), "chunks in a shard lie in the order they came in");
    if is_journaled {
        let done = Journal::read(&store).await.unwrap().done;
        assert_eq!(done.digest(0), Some(sum));
        assert!((0..plan.stages.len()).all(|stage| done.count(stage) == plan.stages[stage].tasks));
    }
}

/// Runs a range that is cancelled, and then ranges that overlap it.
async fn assert_overlap(case: &Case, plan: &Plan, cuts: &Cuts, events: u64) {
    let prepared = case.prepare().await;
    let directory = tempfile::tempdir().unwrap();
    let store = work_store(&directory);
    drop(Journal::create(&store, header(plan), "test").await.unwrap());
    for stage in 0..plan.stages.len() {
        let whole = TaskRange::new(stage, 0..plan.stages[stage].tasks);
        let parts = ranges(plan, stage, cuts);
        for (number, tasks) in parts.into_iter().chain([whole]).enumerate() {
            let journal = Journal::open(&store, "test").await.unwrap();
            let before = journal.done().count_in(&tasks);
            let mut execution = prepared.execution(case, plan, &Meter::new());
            execution.tasks = Some(tasks);
            let observer = CancelAfter::new(if number == 0 { events } else { u64::MAX });
            let token = observer.token.clone();
            match execute_observed(execution, Some(journal), observer, token).await {
                Ok(report) => assert_eq!(report.tasks_resumed, before),
                Err(error) => assert!(number == 0 && error.is_cancelled(), "{error}"),
            }
        }
    }
    assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
    if let Some(digest) = Journal::read(&store).await.unwrap().done.digest(0)
        && !plan.stages[0].passes_through()
    {
        assert_eq!(digest, case.digest(&prepared.elements));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn ranges_in_any_order_do_what_one_run_does(
        case in all_cases(prop::sample::select(&Kind::KINDS[..])),
        cuts in prop::collection::vec((any::<Index>(), any::<u64>()), 0..5),
        is_journaled in any::<bool>(),
    ) {
        if let Some(plan) = case.plan() {
            runtime().block_on(assert_cut(&case, &plan, &cuts, is_journaled));
        }
    }

    #[test]
    fn ranges_that_overlap_do_no_task_twice(
        case in all_cases(prop::sample::select(&Kind::KINDS[..])),
        cuts in prop::collection::vec((any::<Index>(), any::<u64>()), 0..4),
        events in 1_u64..6,
    ) {
        if let Some(plan) = case.plan() {
            runtime().block_on(assert_overlap(&case, &plan, &cuts, events));
        }
    }

    #[test]
    fn raw_files_in_runs_are_one_range(case in run_cases()) {
        runtime().block_on(assert_runs(&case));
    }
}

async fn assert_runs(case: &RunCase) {
    let plan = case.plan();
    let prepared = case.prepare();
    let tasks = plan.stages[0].tasks;
    for (range, is_whole) in
        [(TaskRange::new(0, 0..0), tasks == 0), (TaskRange::new(0, 0..tasks), true)]
    {
        let mut execution = prepared.execution(&plan, &Meter::new());
        execution.tasks = Some(range);
        match execute(execution, None).await {
            Ok(report) => assert!(is_whole && report.tasks_done == tasks),
            Err(error) => {
                assert!(!is_whole && error.to_string().contains("cannot be cut"), "{error}");
            }
        }
    }
    prepared.assert_target(&case.files(&case.target)).await;
}

/// Runs a range of a plan of two stages, with a journal that marks nothing.
async fn refused(range: impl FnOnce(&Plan) -> TaskRange) -> String {
    let case = by_slab::case(&[70, 180], DataType::Float32, Kind::PushPull);
    let plan = case.plan().unwrap();
    assert_eq!(plan.stages.len(), 2);
    let prepared = case.prepare().await;
    let directory = tempfile::tempdir().unwrap();
    let journal = Journal::create(&work_store(&directory), header(&plan), "test").await.unwrap();
    let mut execution = prepared.execution(&case, &plan, &Meter::new());
    execution.tasks = Some(range(&plan));
    let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
    let error = execute_observed(execution, Some(journal), observer, cancel).await.unwrap_err();
    assert!(matches!(error, ExecError::Run(Fault::Plan { .. })), "{error:?}");
    assert!(objects(prepared.target.store()).await.is_empty());
    error.to_string()
}

#[tokio::test]
async fn a_range_that_is_none_is_refused() {
    type RangeOf = fn(&Plan) -> TaskRange;
    let cases: [(RangeOf, &str); 4] = [
        (|_| TaskRange::new(2, 0..1), "it has 2 stages, and no stage 2"),
        (|plan| TaskRange::new(0, 0..plan.stages[0].tasks + 1), "tasks, not those from 0 to"),
        (|_| TaskRange { stage: 0, start: 1, end: 0 }, "not those from 1 to 0"),
        (|_| TaskRange::new(1, 0..1), "stage 1 reads what stage 0 writes"),
    ];
    for (range, said) in cases {
        let error = refused(range).await;
        assert!(error.contains(said), "{error}");
    }
}
