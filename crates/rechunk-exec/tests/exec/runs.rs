//! Raw files, read and written in runs. Every byte is in its place, every open, run, seek and byte
//! is as the closed forms say, and no more is held than was reserved.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::*;
use rechunk_array::Array;
use rechunk_exec::{Event, ExecError, Execution, Fault, JOURNAL_KEY, Journal, Observer, Sink};
use rechunk_grid::{DataType, Endian};
use rechunk_plan::keep::{FilePart, Model, Schedule, SideCounts};
use rechunk_plan::{Kernel, Plan, Way};
use rechunk_store::{Meter, RoleTraffic, Store};
use tokio_util::sync::CancellationToken;

use crate::case::{execute, execute_observed, runtime};
use crate::journal::{CancelAfter, add_line, header, work_store};
use crate::run_case::{PreparedRuns, RunCase, RunSide, run_cases};

/// Traffic of one side is as the closed forms say.
fn assert_side(side: &RunSide, counts: &SideCounts, traffic: &RoleTraffic) {
    let at_start = if side.offset_bytes == 0 { counts.files } else { 0 };
    assert_eq!(traffic.opens, counts.opens, "opens");
    assert_eq!(traffic.runs, counts.runs, "runs");
    assert_eq!(traffic.seeks, counts.runs - at_start, "seeks");
    assert_eq!(traffic.get_requests + traffic.put_requests, counts.runs, "requests");
}

async fn assert_copies(case: &RunCase) {
    let plan = case.plan();
    let prepared = case.prepare();
    let meter = Meter::new();
    let watched = Arc::new(Watch::default());
    let observer = Arc::clone(&watched) as Arc<dyn Observer>;
    let execution = prepared.execution(&plan, &meter);
    let report = execute_observed(execution, None, observer, CancellationToken::new()).await;
    assert_eq!(report.unwrap().tasks_done, plan.task_count());
    assert_eq!(watched.bytes.load(Ordering::SeqCst), case.array_bytes());

    let traffic = meter.traffic();
    let model = Model::new(&case.problem()).unwrap();
    let counts = model.counts(plan.stages[0].schedule().unwrap());
    assert_side(&case.source, &counts.source, &traffic.source);
    assert_side(&case.target, &counts.target, &traffic.target);
    let bytes = case.array_bytes();
    let (read, written) = (&traffic.source, &traffic.target);
    assert_eq!((read.read_bytes, read.decoded_read_bytes), (bytes, bytes));
    assert_eq!((written.written_bytes, written.decoded_written_bytes), (bytes, bytes));
    if case.schedule.is_none() {
        let (planned, counted) = (&plan.estimate.source, &traffic.source);
        assert_eq!(
            (planned.opens, planned.runs, planned.seeks),
            (counted.opens, counted.runs, counted.seeks)
        );
        let (planned, counted) = (&plan.estimate.target, &traffic.target);
        assert_eq!(
            (planned.opens, planned.runs, planned.seeks),
            (counted.opens, counted.runs, counted.seeks)
        );
        assert_eq!(planned.put_requests, counted.put_requests);
    }
    prepared.assert_target(&case.files(&case.target)).await;
}

/// Adds up what is finished.
#[derive(Debug, Default)]
struct Watch {
    bytes: AtomicU64,
    done_before: AtomicU64,
}

impl Observer for Watch {
    fn event(&self, event: &Event) {
        match event {
            Event::Progress { decoded_bytes, .. } => {
                self.bytes.fetch_add(*decoded_bytes, Ordering::SeqCst);
            }
            Event::StageStarted { bytes_done, .. } => {
                self.done_before.store(*bytes_done, Ordering::SeqCst);
            }
            _ => {}
        }
    }
}

/// A journal that says that the first `steps` buffers are done.
async fn journal_at(prepared: &PreparedRuns, plan: &Plan, steps: u64) -> Journal {
    let directory = prepared.work_root().join("work");
    fs::create_dir_all(&directory).unwrap();
    let store = Store::open(directory.to_str().unwrap()).unwrap();
    drop(Journal::create(&store, header(plan), "test").await.unwrap());
    if steps > 0 {
        let line = format!(r#"{{"stage":0,"task":0,"steps":{steps}}}"#);
        add_line(&directory.join(JOURNAL_KEY), &line);
    }
    Journal::open(&store, "test").await.unwrap()
}

/// Files that an earlier run has marked as finished keep their bytes, though it would write others.
async fn assert_goes_on(case: &RunCase, steps: prop::sample::Index) {
    let plan = case.plan();
    let prepared = case.prepare();
    let buffers = case.buffers(&plan);
    let steps = steps.index(usize::try_from(buffers.count()).unwrap() + 1) as u64;
    let mut expected = case.files(&case.target);
    let offset_bytes = usize::try_from(case.target.offset_bytes).unwrap();
    // What is not marked as done may hold anything.
    let mut before = expected.clone();
    for (_, bytes) in &mut before {
        bytes[offset_bytes..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    let mut left_bytes = 0;
    for number in 0..buffers.count() {
        for block in buffers.write_blocks(number).filter(|block| block.is_last) {
            assert_eq!(buffers.last_buffer(&block), number);
            if number >= steps {
                left_bytes += block.region.elements() * case.data_type.item_bytes();
                continue;
            }
            let file = buffers.target_grid().indices().ordinal(&block.file);
            let file = usize::try_from(file).unwrap();
            for run in buffers.target_runs(&block) {
                let start = offset_bytes + usize::try_from(run.offset_bytes).unwrap();
                let end = start + usize::try_from(run.length_bytes).unwrap();
                before[file].1[start..end].fill(0x5A);
                expected[file].1[start..end].fill(0x5A);
            }
        }
    }
    for (key, bytes) in &before {
        fs::write(prepared.target_root().join(format!("{key}.part")), bytes).unwrap();
    }
    let journal = journal_at(&prepared, &plan, steps).await;
    let meter = Meter::new();
    execute(prepared.execution(&plan, &meter), Some(journal)).await.unwrap();
    prepared.assert_target(&expected).await;
    let traffic = meter.traffic();
    assert_eq!(traffic.target.written_bytes, left_bytes);
    // Every file part of a needed buffer that meets something unfinished, and no other.
    let is_left = |number, part: &FilePart| {
        buffers.write_blocks(number).any(|block| {
            buffers.last_buffer(&block) >= steps && block.region.intersect(&part.region).is_some()
        })
    };
    let opens = (0..buffers.count())
        .filter(|&number| buffers.is_needed(number, steps))
        .map(|number| buffers.reads(number).filter(|part| is_left(number, part)).count() as u64);
    assert_eq!(traffic.source.opens, opens.sum::<u64>());
}

async fn assert_resumes(case: &RunCase, cancels: &[u64]) {
    let plan = case.plan();
    let prepared = case.prepare();
    let directory = tempfile::tempdir().unwrap();
    let store = work_store(&directory);
    let mut journal = Journal::create(&store, header(&plan), "test").await.unwrap();
    for &events in cancels {
        let observer = CancelAfter::new(events);
        let token = observer.token.clone();
        let execution = prepared.execution(&plan, &Meter::new());
        match execute_observed(execution, Some(journal), observer, token).await {
            Ok(report) => assert_eq!(report.tasks_done, plan.task_count()),
            Err(error) => assert!(error.is_cancelled(), "{error}"),
        }
        journal = Journal::open(&store, "test").await.unwrap();
    }
    execute(prepared.execution(&plan, &Meter::new()), Some(journal)).await.unwrap();
    prepared.assert_target(&case.files(&case.target)).await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn any_schedule_equals_a_naive_copy(case in run_cases()) {
        runtime().block_on(assert_copies(&case));
    }

    #[test]
    fn no_byte_more_is_held_than_the_model_says(case in run_cases()) {
        let mut plan = case.plan();
        let held_bytes = plan.stages[0].resident_bytes;
        if case.schedule.is_some() && held_bytes > 0 {
            case.reserve(&mut plan, held_bytes - 1);
            let prepared = case.prepare();
            let ended = runtime().block_on(execute(prepared.execution(&plan, &Meter::new()), None));
            let error = ended.unwrap_err().to_string();
            prop_assert!(error.contains("holds more than it reserves"), "{}", error);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    #[test]
    fn finished_blocks_are_not_written_again(case in run_cases(), steps in any::<prop::sample::Index>()) {
        runtime().block_on(assert_goes_on(&case, steps));
    }

    #[test]
    fn a_cancelled_copy_goes_on(
        case in run_cases(), cancels in prop::collection::vec(1_u64..12, 0..3),
    ) {
        runtime().block_on(assert_resumes(&case, &cancels));
    }
}

/// Files that take many calls each.
fn large(lanes: u32, source: &[u64], target: &[u64], buffer: &[u64], kept: bool) -> RunCase {
    let flipped = RunSide { axes: vec![2, 0, 1], endian: Endian::Big, ..RunSide::plain(target) };
    RunCase {
        shape: vec![60, 70, 80],
        data_type: DataType::Float32,
        source: RunSide::plain(source),
        target: flipped,
        schedule: Some(Schedule {
            buffer: buffer.to_vec(),
            kept: vec![kept; 3],
            step_axes: vec![0, 1, 2],
        }),
        spare_bytes: 0,
        lanes,
        lane_bytes: 100_000,
    }
}

#[test]
fn lanes_share_large_files() {
    let cases = [
        // One file on either side, in one piece.
        large(4, &[60, 70, 80], &[60, 70, 80], &[60, 70, 80], true),
        // Split, merge and resplit.
        large(3, &[60, 70, 80], &[30, 35, 40], &[30, 70, 80], true),
        large(4, &[20, 35, 80], &[60, 70, 80], &[20, 70, 80], true),
        large(2, &[25, 70, 33], &[60, 30, 47], &[25, 70, 33], true),
        large(3, &[25, 70, 33], &[60, 30, 47], &[50, 70, 66], false),
    ];
    for case in cases {
        runtime().block_on(assert_copies(&case));
    }
}

/// A copy of many buffers that each complete something.
pub(crate) fn stream() -> RunCase {
    RunCase {
        shape: vec![40, 6],
        data_type: DataType::Uint16,
        source: RunSide::plain(&[1, 6]),
        target: RunSide { offset_bytes: 8, ..RunSide::plain(&[3, 2]) },
        schedule: Some(Schedule {
            buffer: vec![1, 6],
            kept: vec![true, true],
            step_axes: vec![0, 1],
        }),
        spare_bytes: 0,
        lanes: 2,
        lane_bytes: 1000,
    }
}

/// Takes its time, and cancels in the end.
struct Slow {
    cancel: Arc<CancelAfter>,
}

impl Observer for Slow {
    fn event(&self, event: &Event) {
        if matches!(event, Event::Progress { .. }) {
            std::thread::sleep(Duration::from_millis(15));
        }
        self.cancel.event(event);
    }
}

#[test]
fn a_long_copy_marks_its_buffers() {
    let case = stream();
    let plan = case.plan();
    runtime().block_on(async {
        let prepared = case.prepare();
        let directory = tempfile::tempdir().unwrap();
        let store = work_store(&directory);
        let journal = Journal::create(&store, header(&plan), "test").await.unwrap();
        let cancel = CancelAfter::new(30);
        let token = cancel.token.clone();
        let execution = prepared.execution(&plan, &Meter::new());
        let ended = execute_observed(execution, Some(journal), Arc::new(Slow { cancel }), token);
        assert!(ended.await.unwrap_err().is_cancelled());
        let journal = Journal::open(&store, "test").await.unwrap();
        let steps = journal.done().steps(0, 0);
        assert!((3..40).contains(&steps), "{steps}");
        let (meter, seen) = (Meter::new(), Arc::new(Watch::default()));
        let execution = prepared.execution(&plan, &meter);
        let observer = Arc::clone(&seen) as Arc<dyn Observer>;
        let report =
            execute_observed(execution, Some(journal), observer, CancellationToken::new()).await;
        report.unwrap();
        // Rows of the blocks that were finished are not read again.
        let rows_done = steps / 3 * 3;
        assert_eq!(meter.traffic().source.opens, 40 - rows_done);
        assert_eq!(seen.bytes.load(Ordering::SeqCst), (40 - rows_done) * 12);
        assert_eq!(seen.done_before.load(Ordering::SeqCst), rows_done * 12);
        prepared.assert_target(&case.files(&case.target)).await;
    });
}

fn run_spoilt(
    case: &RunCase,
    spoil: impl FnOnce(&PreparedRuns),
    change: impl FnOnce(&mut Execution),
) -> ExecError {
    let plan = case.plan();
    let prepared = case.prepare();
    spoil(&prepared);
    let mut execution = prepared.execution(&plan, &Meter::new());
    change(&mut execution);
    runtime().block_on(execute(execution, None)).unwrap_err()
}

#[test]
fn source_files_that_are_not_right_are_named() {
    let case = stream();
    let error =
        run_spoilt(&case, |files| fs::remove_file(files.source_path("c/7.0")).unwrap(), |_| {});
    assert!(error.is_source_fault() && !error.is_output_fault(), "{error}");
    assert!(error.to_string().contains("the source: file [7, 0]: c/7.0 is missing in"), "{error}");

    let error =
        run_spoilt(&case, |files| fs::write(files.source_path("c/8.0"), "x").unwrap(), |_| {});
    assert!(error.is_source_damage(), "{error}");
    assert!(error.to_string().contains("c/8.0 in ") && error.to_string().contains("has 1 bytes"));
}

#[test]
fn a_target_that_cannot_be_written_is_named() {
    let in_the_way = |files: &PreparedRuns| {
        fs::create_dir_all(files.target_root().join("c/2.1.part")).unwrap();
    };
    let error = run_spoilt(&stream(), in_the_way, |_| {});
    assert!(error.is_output_fault() && !error.is_source_fault(), "{error}");
    assert!(matches!(error, ExecError::Task { fault: Fault::Target(_), .. }), "{error}");
    assert!(error.to_string().contains("the target: file [2, 1]: c/2.1.part in"), "{error}");
    // A part that belongs to another array is left alone.
    let other = |files: &PreparedRuns| {
        fs::write(files.target_root().join("c/2.1.part"), [7; 500]).unwrap();
    };
    let error = run_spoilt(&stream(), other, |_| {});
    assert!(error.to_string().contains("has 500 bytes, but 20 are expected"), "{error}");
}

#[test]
fn plans_of_other_files_are_refused() {
    let refused = |change: &dyn Fn(&mut Execution), text: &str| {
        let error = run_spoilt(&stream(), |_| {}, |execution| change(execution)).to_string();
        assert!(error.contains(text), "{error}");
    };
    refused(
        &|e| e.plan.arrays[0].runs.as_mut().unwrap().offset_bytes = 1,
        "the source has raw files of",
    );
    refused(
        &|e| e.plan.arrays[1].runs.as_mut().unwrap().order.reverse(),
        "the target has raw files of",
    );
    refused(&|e| e.plan.arrays[1].runs = None, "the target has raw files of");
    let buffer = |e: &mut Execution| {
        let Kernel::Copy(Way::Runs(schedule)) = &mut e.plan.stages[0].kernel else { panic!() };
        schedule.buffer[0] = 0;
    };
    refused(&buffer, "does not fit the array");
    refused(&|e| e.plan.stages[0].tasks = 2, "not in one task");
    let compare = |e: &mut Execution| {
        let Sink::Write(array) = &e.sink else { panic!() };
        e.sink = Sink::Compare(array.clone());
    };
    refused(&compare, "to be compared");
}

#[test]
fn only_a_directory_has_files() {
    let error = run_spoilt(
        &stream(),
        |_| {},
        |execution| {
            let layout = Arc::clone(execution.source.layout());
            execution.source = Array::new(layout, Store::open("memory:").unwrap());
        },
    );
    assert!(error.to_string().ends_with("only a local directory can"), "{error}");
}
