//! Runs that are cancelled and gone on with, blocks that are damaged meanwhile, and targets that
//! are changed before they are verified.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rechunk::{
    Boundary, CancellationToken, Class, Error, Event, Existing, Format, Mode, Observer, Report,
};

use super::case::{Case, Level, run, running};
use super::reference::Op;
use super::volume::{Kind, Volume};
use crate::files::chunk_files;

fn plane(kind: Kind) -> Volume {
    Volume::new(kind, &[24, 36], &[7, 9])
}

/// Direct, by blocks, and by blocks that overlap; of one call for each task.
fn cases() -> [Case; 3] {
    let level = || Level::new(&[8, 6]).auto_crop();
    let direct = Case::new(plane(Kind::F32), Op::Gaussian(0.5), vec![level()]);
    let cut = Case::new(plane(Kind::U16), Op::Median(3), vec![level()]);
    let blended = Level::new(&[5, 6]).blend(&[2, 3], Mode::Quadratic);
    let blended = Case::new(plane(Kind::F32), Op::Gaussian(1.0), vec![blended]);
    [
        direct.to(Format::Zarr3, &[8, 6]),
        Case { region: Some(vec![(3, 20), (1, 32)]), ..cut.to(Format::Zarr2, &[5, 7]) },
        blended.to(Format::Zarr3, &[4, 6]).sharded(&[8, 12]),
    ]
}

/// Counts tasks of the first stage, and cancels when so many tasks of a stage are done.
#[derive(Debug)]
struct Stop {
    stage: usize,
    after: u64,
    begun: AtomicU64,
    done: AtomicU64,
    cancel: CancellationToken,
}

impl Observer for Stop {
    fn event(&self, event: &Event) {
        match event {
            Event::TaskStarted { stage: 0, .. } => {
                self.begun.fetch_add(1, Ordering::Relaxed);
            }
            Event::TaskDone { stage, .. }
                if *stage == self.stage
                    && self.done.fetch_add(1, Ordering::Relaxed) + 1 == self.after =>
            {
                self.cancel.cancel();
            }
            _ => {}
        }
    }
}

/// Begins a case and cancels it; calls that were begun.
async fn begin(case: &Case, folder: &Path, (stage, after): (usize, u64)) -> u64 {
    let cancel = CancellationToken::new();
    let (begun, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let stop = Arc::new(Stop { stage, after, begun, done, cancel: cancel.clone() });
    let job = case.job(folder, "target").await.unwrap();
    let error =
        job.run(running(Existing::Refuse), Arc::clone(&stop) as _, cancel).await.unwrap_err();
    assert_eq!(error.class(), Class::Interrupted, "{error:?}");
    stop.begun.load(Ordering::Relaxed)
}

async fn go_on(case: &Case, folder: &Path) -> Report {
    let job = case.job(folder, "target").await.unwrap();
    run(job, Existing::Resume).await.unwrap()
}

#[tokio::test]
async fn a_run_goes_on_where_it_was() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.write(folder);
        let report = case.run(folder, "whole").await;
        let whole = case.bytes(folder, "whole").await;
        let stages = report.plan.stages.len();
        for stage in 0..stages {
            for after in [1, 4] {
                let begun = begin(&case, folder, (stage, after)).await;
                let report = go_on(&case, folder).await;
                let calls = report.apply.as_ref().unwrap().op_calls + begun;
                let in_flight = u64::from(case.threads);
                assert!(calls <= case.calls() + in_flight, "{calls} calls: {case:?}");
                assert!(report.tasks.unwrap().resumed >= after, "{report:?}");
                assert_eq!(case.bytes(folder, "target").await, whole, "{case:?}");
                assert!(!folder.join("target.rechunk").exists());
                fs::remove_dir_all(folder.join("target")).unwrap();
            }
        }
        case.check_target(folder, "whole").await;
    }
}

/// The objects of blocks.
fn blocks(folder: &Path) -> Vec<PathBuf> {
    chunk_files(&folder.join("target.rechunk/intermediate"))
}

#[tokio::test]
async fn blocks_that_are_damaged_or_lost_are_made_again() {
    let [_, cut, blended] = cases();
    for case in [cut, blended] {
        for is_lost in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path();
            case.write(folder);
            begin(&case, folder, (0, case.calls())).await;
            let blocks = blocks(folder);
            let tasks = usize::try_from(case.calls()).unwrap();
            assert_eq!(blocks.len(), tasks, "one object for each task");
            // The last one: nothing was combined of it yet.
            let block = blocks.last().unwrap();
            if is_lost {
                fs::remove_file(block).unwrap();
            } else {
                let mut bytes = fs::read(block).unwrap();
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
                fs::write(block, bytes).unwrap();
            }
            let report = go_on(&case, folder).await;
            assert_eq!(report.apply.as_ref().unwrap().op_calls, 1, "{report:?}");
            assert!(!report.warnings.is_empty());
            case.check_target(folder, "target").await;
        }
    }
}

#[tokio::test]
async fn what_is_complete_can_be_resumed() {
    let [direct, cut, blended] = cases();
    for case in [direct, cut.clone(), blended, cut.to(Format::N5, &[5, 7])] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.write(folder);
        assert!(!case.run(folder, "target").await.already_complete);
        let report = go_on(&case, folder).await;
        assert!(report.already_complete, "{case:?}");
        assert_eq!(report.apply.as_ref().unwrap().op_calls, 0);
        // Of other settings, and of another operation.
        let boundary = Case { boundary: Boundary::Nearest, ..case.clone() };
        let other = Case { op: Op::Identity, ..case.clone() };
        for other in [boundary, other] {
            let job = other.job(folder, "target").await.unwrap();
            let error = run(job, Existing::Resume).await.unwrap_err();
            assert_eq!(error.class(), Class::Target, "{error:?}");
        }
        // Of a source that was written since.
        let chunk = chunk_files(&folder.join("source0.zarr")).pop().unwrap();
        let bytes = fs::read(&chunk).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&chunk, bytes).unwrap();
        let job = case.job(folder, "target").await.unwrap();
        let error = run(job, Existing::Resume).await.unwrap_err();
        assert!(error.to_string().contains("written since"), "{error}");
    }
}

/// Damages every chunk of a target when the last task is done.
#[derive(Debug)]
struct Damage {
    target: PathBuf,
    stages: usize,
}

impl Observer for Damage {
    fn event(&self, event: &Event) {
        if matches!(event, Event::StageDone { stage } if stage + 1 == self.stages) {
            let file = chunk_files(&self.target).pop().unwrap();
            let mut bytes = fs::read(&file).unwrap();
            bytes[0] ^= 1;
            fs::write(&file, bytes).unwrap();
        }
    }
}

#[tokio::test]
async fn verification_finds_a_chunk_that_was_changed() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.write(folder);
        let request = || {
            let mut request = case.request(folder, "target");
            request.codec = Some("none".parse().unwrap());
            request
        };
        let mut running = running(Existing::Refuse);
        running.verify = true;
        let job = rechunk::Job::prepare(request(), &rechunk::Stores::default()).await.unwrap();
        let stages = job.plan_report().plan.stages.len();
        let damage = Arc::new(Damage { target: folder.join("target"), stages });
        let error = job.run(running, damage, CancellationToken::new()).await.unwrap_err();
        let is_found = matches!(error, Error::VerifyFailed { .. } | Error::Compare { .. });
        assert!(is_found, "{error:?}");
        running.existing = Existing::Overwrite;
        let job = rechunk::Job::prepare(request(), &rechunk::Stores::default()).await.unwrap();
        let observer = Arc::new(rechunk::NullObserver);
        let report = job.run(running, observer, CancellationToken::new()).await.unwrap();
        assert_eq!(report.verified, Some(true));
        case.check_target(folder, "target").await;
    }
}
