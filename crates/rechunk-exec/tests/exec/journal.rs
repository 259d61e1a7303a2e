//! Runs that end too early and go on.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use rechunk_array::Array;
use rechunk_exec::{ArrayDigest, DoneSet, Event, JOURNAL_KEY, Journal, JournalHeader, Observer};
use rechunk_grid::{DataType, Region, WriteEmpty};
use rechunk_plan::{Plan, Strategy as Kind};
use rechunk_store::{Meter, Store, Traffic};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::case::{Case, Prepared, SideCase, execute, execute_observed, runtime};
use crate::layout::{Codec, TestLayout};
use crate::strategies::all_cases;

/// Cancels when so many units and tasks are done.
#[derive(Debug)]
pub(crate) struct CancelAfter {
    left: AtomicU64,
    pub token: CancellationToken,
}

impl CancelAfter {
    pub(crate) fn new(events: u64) -> Arc<Self> {
        Arc::new(Self { left: AtomicU64::new(events), token: CancellationToken::new() })
    }
}

impl Observer for CancelAfter {
    fn event(&self, event: &Event) {
        let counts = matches!(event, Event::Progress { .. } | Event::TaskDone { .. });
        if counts && self.left.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.token.cancel();
        }
    }
}

pub(crate) fn work_store(directory: &tempfile::TempDir) -> Store {
    Store::open(directory.path().to_str().unwrap()).unwrap()
}

pub(crate) fn header(plan: &Plan) -> JournalHeader {
    JournalHeader::new(&plan.fingerprint, json!({"from": "a", "to": "b"}))
}

/// Chunks of the target and objects of the intermediate that are still to be written.
fn puts_left(plan: &Plan, done: &DoneSet) -> (u64, u64) {
    let (mut chunks, mut objects) = (0, 0);
    for stage in 0..plan.stages.len() {
        let geometry = plan.geometry(stage).unwrap();
        for task in (0..geometry.task_count()).filter(|&task| !done.contains(stage, task)) {
            if geometry.writes_pieces() {
                objects += 1;
                continue;
            }
            let tile = geometry.tile(task);
            let steps = done.steps(stage, task);
            let regions: Vec<Region> = geometry
                .commit_grid()
                .covering(&tile)
                .positions()
                .filter_map(|index| geometry.commit_grid().region(&index).intersect(&tile))
                .collect();
            let regions = regions.into_iter();
            chunks += regions.filter(|r| geometry.last_step(&tile, r) >= steps).count() as u64;
        }
    }
    (chunks, objects)
}

async fn resume(case: &Case, plan: &Plan, prepared: &Prepared, journal: Journal) -> Traffic {
    let (traffic, digest) = resume_digest(case, plan, prepared, journal).await;
    assert!(digest.is_some(), "every mark has one");
    traffic
}

/// Goes on to the end; what was moved, and the digest of the source if it is known.
async fn resume_digest(
    case: &Case,
    plan: &Plan,
    prepared: &Prepared,
    journal: Journal,
) -> (Traffic, Option<ArrayDigest>) {
    let meter = Meter::new();
    let done = journal.done().clone();
    let report = execute(prepared.execution(case, plan, &meter), Some(journal)).await.unwrap();
    let resumed: u64 = (0..plan.stages.len()).map(|stage| done.count(stage)).sum();
    assert_eq!((report.tasks_done, report.tasks_resumed), (plan.task_count(), resumed));
    let traffic = meter.traffic();
    let puts = traffic.target.put_requests + traffic.target.put_skipped;
    let left = puts_left(plan, &done);
    assert_eq!((puts, traffic.intermediate.put_requests), left, "of {done:?}");
    if let Some(digest) = report.digest.as_ref().filter(|_| !plan.stages[0].passes_through()) {
        assert_eq!(digest.value, case.digest(&prepared.elements), "after {done:?}");
    }
    (traffic, report.digest)
}

async fn assert_resumes(case: &Case, plan: &Plan, cancels: &[u64]) {
    let directory = tempfile::tempdir().unwrap();
    let store = work_store(&directory);
    let prepared = case.prepare().await;
    let mut journal = Journal::create(&store, header(plan), "test").await.unwrap();
    for &events in cancels {
        let observer = CancelAfter::new(events);
        let execution = prepared.execution(case, plan, &Meter::new());
        let token = observer.token.clone();
        let ended = execute_observed(execution, Some(journal), observer, token).await;
        match ended {
            Ok(report) => assert_eq!(report.tasks_done, plan.task_count()),
            Err(error) => assert!(error.is_cancelled(), "{error}"),
        }
        journal = Journal::open(&store, "test").await.unwrap();
        assert_eq!(*journal.header(), header(plan));
    }
    resume(case, plan, &prepared, journal).await;
    assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
    let contents = Journal::read(&store).await.unwrap();
    assert_eq!(puts_left(plan, &contents.done), (0, 0));
    assert_eq!(contents.damaged_bytes, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn a_cancelled_run_goes_on_where_it_was(
        case in all_cases(prop::sample::select(&Kind::KINDS[..])),
        cancels in prop::collection::vec(1_u64..12, 0..3),
    ) {
        if let Some(plan) = case.plan() {
            runtime().block_on(assert_resumes(&case, &plan, &cancels));
        }
    }

    #[test]
    fn a_damaged_journal_is_believed_up_to_the_damage(
        case in all_cases(prop::sample::select(&[Kind::Pull, Kind::PushPull][..])),
        at in any::<prop::sample::Index>(), cut in any::<bool>(),
    ) {
        if let Some(plan) = case.plan() {
            runtime().block_on(assert_survives_damage(&case, &plan, at, cut));
        }
    }

    #[test]
    fn finished_steps_of_a_task_are_not_done_again(
        case in all_cases(Just(Kind::Keep)), steps in any::<prop::sample::Index>(),
    ) {
        if let Some(plan) = case.plan() {
            runtime().block_on(assert_resumes_steps(&case, &plan, steps));
        }
    }
}

async fn assert_survives_damage(case: &Case, plan: &Plan, at: prop::sample::Index, cut: bool) {
    let directory = tempfile::tempdir().unwrap();
    let store = work_store(&directory);
    let prepared = case.prepare().await;
    let journal = Journal::create(&store, header(plan), "test").await.unwrap();
    let execution = prepared.execution(case, plan, &Meter::new());
    execute(execution, Some(journal)).await.unwrap();

    let path = directory.path().join(JOURNAL_KEY);
    let mut bytes = std::fs::read(&path).unwrap();
    let whole = Journal::read(&store).await.unwrap().done;
    let first_line = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    if first_line < bytes.len() {
        let at = first_line + at.index(bytes.len() - first_line);
        if cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 0x20;
        }
        std::fs::write(&path, &bytes).unwrap();
    }
    let read = Journal::read(&store).await.unwrap();
    let journal = Journal::open(&store, "test").await.unwrap();
    assert_eq!(*journal.done(), read.done);
    for stage in 0..plan.stages.len() {
        let ranges: Vec<_> = read.done.ranges(stage).collect();
        assert!(ranges.iter().all(|&(a, b)| (a..b).all(|task| whole.contains(stage, task))));
    }
    resume(case, plan, &prepared, journal).await;
    assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
    // What was added after the damage can be read.
    let contents = Journal::read(&store).await.unwrap();
    assert_eq!((contents.damaged_bytes, puts_left(plan, &contents.done)), (0, (0, 0)));
}

/// Adds a line to a journal as an earlier run would have.
pub(crate) fn add_line(path: &Path, json: &str) {
    let mut text = std::fs::read_to_string(path).unwrap();
    writeln!(text, "{json} #{:08x}", crc32c::crc32c(json.as_bytes())).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Copies the object that chunk `index` is in from one array to another of the same layout, if it
/// is there.
async fn copy_chunk(from: &Array, to: &Array, index: &[u64]) {
    let key = from.layout().chunk_key(index);
    if let Some(object) = from.store().get(&key, u64::MAX).await.unwrap() {
        to.store().put(&key, vec![object]).await.unwrap();
    }
}

async fn assert_resumes_steps(case: &Case, plan: &Plan, steps: prop::sample::Index) {
    let geometry = plan.geometry(0).unwrap();
    if geometry.task_count() == 0 {
        return;
    }
    let prepared = case.prepare().await;
    execute(prepared.execution(case, plan, &Meter::new()), None).await.unwrap();
    let again = case.prepare().await;
    let tile = geometry.tile(0);
    let all: Vec<Region> = geometry.steps(&tile).collect();
    let steps = steps.index(all.len() + 1) as u64;
    let (mut open, mut finished) = (Vec::new(), Vec::new());
    for index in geometry.units(&tile).positions() {
        let region = geometry.unit_region(&index, &tile).unwrap();
        let commit = geometry.commit_region(&index, &tile).unwrap();
        let is_done = geometry.last_step(&tile, &commit) < steps;
        if is_done { finished.push(index) } else { open.push(region) }
    }
    for index in &finished {
        copy_chunk(&prepared.target, &again.target, index).await;
    }
    let directory = tempfile::tempdir().unwrap();
    let store = work_store(&directory);
    drop(Journal::create(&store, header(plan), "test").await.unwrap());
    let line = format!(r#"{{"stage":0,"task":0,"steps":{steps}}}"#);
    add_line(&directory.path().join(JOURNAL_KEY), &line);
    let journal = Journal::open(&store, "test").await.unwrap();
    assert_eq!(journal.done().steps(0, 0), steps);

    // The line that was added has no digest, as those of earlier versions.
    let (traffic, digest) = resume_digest(case, plan, &again, journal).await;
    assert_eq!(digest.is_some(), steps == 0);
    assert_eq!(case.read_all(&case.target, &again.target).await, prepared.elements);
    if case.source.shards.is_some() {
        return; // indexes and shards are read besides
    }
    // Of the first task only the inputs that meet an unfinished unit are read.
    let grid = geometry.input_grid();
    let meets = |index: &Vec<u64>| open.iter().any(|r| r.intersect(&grid.region(index)).is_some());
    let first = geometry.input_grid().covering(&tile).positions().filter(meets).count() as u64;
    let others = (1..geometry.task_count()).map(|task| grid.covering(&geometry.tile(task)));
    let expected = first + others.map(|inputs| inputs.elements()).sum::<u64>();
    assert_eq!(traffic.source.get_requests + traffic.source.get_missing, expected);
}

/// A stream of many slow steps in one task.
fn slow_stream() -> Case {
    let side = |chunk: u64, codec| SideCase::plain(&[chunk], codec);
    Case {
        shape: vec![97],
        data_type: DataType::Uint16,
        source: side(3, Codec::Runs),
        target: side(5, Codec::Raw),
        kind: Kind::Keep,
        threads: 1,
        spare_bytes: 0,
        write_empty: WriteEmpty::Always,
        missing: 0,
        seed: 1,
    }
}

#[test]
fn a_long_task_marks_its_steps() {
    assert_marks_steps(&slow_stream());
}

/// Of a unit whose shard is not complete, neither the elements nor the digest count.
#[test]
fn a_long_task_of_shards_marks_its_steps() {
    let mut case = slow_stream();
    case.target.shards = Some((vec![3], false));
    assert_marks_steps(&case);
}

fn assert_marks_steps(case: &Case) {
    let mut plan = case.plan().unwrap();
    // One task for the whole array, one chunk a step, whatever the planner finds best today.
    let stage = &mut plan.stages[0];
    (stage.tile, stage.step_chunks, stage.tasks) = (vec![97], vec![1], 1);
    stage.resident_bytes = stage.resident_bytes.max(40);
    (stage.box_shape, stage.is_stepped) = (None, true);
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let store = work_store(&directory);
        let mut prepared = case.prepare().await;
        let mut layout: TestLayout = case.layout(&case.source);
        layout.delay = Duration::from_millis(20);
        prepared.source = Array::new(Arc::new(layout), prepared.source.store().clone());

        let journal = Journal::create(&store, header(&plan), "test").await.unwrap();
        let observer = CancelAfter::new(14);
        let token = observer.token.clone();
        let execution = prepared.execution(case, &plan, &Meter::new());
        let ended = execute_observed(execution, Some(journal), observer, token).await;
        assert!(ended.unwrap_err().is_cancelled());
        let journal = Journal::open(&store, "test").await.unwrap();
        assert!((1..33).contains(&journal.done().steps(0, 0)), "{:?}", journal.done());
        let traffic = resume(case, &plan, &prepared, journal).await;
        assert!(traffic.source.get_requests < 33);
        assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
    });
}

#[test]
fn a_journal_of_another_plan_is_refused() {
    let case = slow_stream();
    let plan = case.plan().unwrap();
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let store = work_store(&directory);
        drop(Journal::create(&store, header(&plan), "test").await.unwrap());
        add_line(&directory.path().join(JOURNAL_KEY), r#"{"stage":0,"task":999999}"#);
        let journal = Journal::open(&store, "test").await.unwrap();
        let prepared = case.prepare().await;
        let execution = prepared.execution(&case, &plan, &Meter::new());
        let error = execute(execution, Some(journal)).await.unwrap_err();
        assert!(error.to_string().contains("task 999999"), "{error}");
    });
}

#[test]
fn an_intermediate_that_was_deleted_is_named() {
    let case = Case { kind: Kind::PushPull, ..slow_stream() };
    let plan = case.plan().unwrap();
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let store = work_store(&directory);
        drop(Journal::create(&store, header(&plan), "test").await.unwrap());
        let line = format!(r#"{{"stage":0,"task":0,"tasks":{}}}"#, plan.stages[0].tasks);
        add_line(&directory.path().join(JOURNAL_KEY), &line);
        let journal = Journal::open(&store, "test").await.unwrap();
        let prepared = case.prepare().await;
        let execution = prepared.execution(&case, &plan, &Meter::new());
        let error = execute(execution, Some(journal)).await.unwrap_err();
        assert!(error.is_output_fault() && !error.is_source_fault(), "{error}");
        assert!(error.to_string().contains("stage0/000000000"), "{error}");
    });
}

#[test]
fn what_is_no_journal_is_said() {
    runtime().block_on(async {
        let directory = tempfile::tempdir().unwrap();
        let store = work_store(&directory);
        let error = Journal::open(&store, "test").await.unwrap_err().to_string();
        assert!(error.contains("no journal"), "{error}");
        std::fs::write(directory.path().join(JOURNAL_KEY), "{}\n").unwrap();
        let error = Journal::open(&store, "test").await.unwrap_err().to_string();
        assert!(error.contains("first line"), "{error}");
    });
}
