//! Copies that are begun, worked on range by range, dropped and left in between, and finished.

use std::sync::Arc;
use std::time::Duration;

use rechunk::{
    Begun, CancellationToken, Class, Error, Existing, Job, NullObserver, Report, Running, Stores,
    Strategy, TaskRange,
};
use rechunk_testkit::{Dice, SimClient, SimStore};
use tokio::time::sleep;

use crate::sim::array::{check_complete, disk, watch};
use crate::sim::process::{request, stores};
use crate::sim::two_at_once::WORK;

fn running(existing: Existing) -> Running {
    let mut running = Running::new(existing);
    running.verify = true;
    running
}

async fn begin(client: &SimClient, strategy: Strategy) -> Result<Begun, Error> {
    let mut job = Job::prepare(request(strategy), &stores(client)).await?;
    job.planned.plan.threads = 0; // in place: threads would end in any order
    let cancel = CancellationToken::new();
    job.begin(running(Existing::Resume), Arc::new(NullObserver), cancel).await
}

/// Begins, when the lease of one that was dropped is over.
async fn begin_in_time(client: &SimClient, strategy: Strategy) -> Begun {
    loop {
        match begin(client, strategy).await {
            Err(error) if error.to_string().contains("last heard of") => {
                sleep(Duration::from_secs(5)).await;
            }
            other => return other.unwrap(),
        }
    }
}

/// Some tasks of the first stage that has some left.
fn some(left: &[TaskRange], dice: &mut Dice) -> TaskRange {
    let of_stage: Vec<&TaskRange> = left.iter().filter(|l| l.stage == left[0].stage).collect();
    let range = dice.pick(&of_stage);
    let start = range.start + dice.below(range.len());
    TaskRange::new(range.stage, start..start + 1 + dice.below(range.end - start))
}

async fn assert_refused_twice(disk: &SimStore, strategy: Strategy) {
    let error = begin(&disk.client(), strategy).await.unwrap_err();
    assert!(error.to_string().contains("is being written by"), "{error}");
}

/// Copies by ranges until all is done, ending in between in any way; how often it was begun.
async fn copy_by_ranges(disk: &SimStore, dice: &mut Dice, strategy: Strategy) -> (u32, Report) {
    for begun in 1.. {
        let client = disk.client();
        let mut copy = begin_in_time(&client, strategy).await;
        assert_refused_twice(disk, strategy).await;
        for _ in 0..dice.within(1, 3) {
            let left = copy.left();
            if left.is_empty() {
                return (begun, copy.finish().await.unwrap());
            }
            let tasks = some(&left, dice);
            let report = copy.work(Some(tasks)).await.unwrap();
            assert_eq!((report.tasks.done, report.tasks.resumed), (tasks.len(), 0));
            assert!(
                report.traffic.target.put_requests + report.traffic.intermediate.put_requests > 0
            );
            let again = copy.work(Some(tasks)).await.unwrap();
            assert_eq!((again.tasks.done, again.tasks.resumed), (tasks.len(), tasks.len()));
            assert_eq!(again.traffic.target.put_requests, 0);
        }
        let is_left = !copy.left().is_empty();
        match dice.below(3) {
            0 if is_left => {
                let (stage, left) = (copy.left()[0].stage, copy.left());
                let left: u64 = left.iter().filter(|l| l.stage == stage).map(TaskRange::len).sum();
                let error = copy.finish().await.unwrap_err();
                assert_eq!(error.class(), Class::Target);
                let said = format!("{left} of ");
                assert!(error.to_string().contains(&said), "{error}");
                assert!(error.to_string().contains(&format!("tasks of stage {stage}")), "{error}");
            }
            0 | 1 => copy.leave().await,
            _ => {
                drop(copy);
                client.die();
            }
        }
    }
    unreachable!()
}

#[tokio::test(start_paused = true)]
async fn ranges_that_end_in_between_make_one_copy() {
    let mut times = 0;
    for seed in 0..40 {
        for strategy in [Strategy::Pull, Strategy::PushPull] {
            let disk = disk(seed);
            let findings = watch(&disk);
            let mut dice = Dice::new(seed);
            let copied = copy_by_ranges(&disk, &mut dice, strategy);
            let (begun, report) = Box::pin(copied).await;
            times += begun;
            check_complete(&disk).unwrap();
            assert_eq!(*findings.lock().unwrap(), Vec::<String>::new());
            assert_eq!(report.verified, Some(true));
            assert_eq!(report.tasks.unwrap().done, report.tasks.unwrap().total);
            let keys = disk.keys();
            assert!(!keys.iter().any(|key| key.starts_with(WORK)), "{keys:?}");
        }
    }
    assert!(times > 120, "begun {times} times");
}

/// In memory there is no journal, and on a disk no lease.
#[tokio::test]
async fn ranges_end_as_one_run_does() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.zarr");
    std::fs::create_dir(&source).unwrap();
    for (key, bytes) in crate::sim::array::source() {
        if key.ends_with("3.0") {
            continue; // of which a report says that it is missing
        }
        std::fs::write(folder.path().join(key), bytes).unwrap();
    }
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut reports = Vec::new();
    for (number, target) in [&*at("a.zarr"), &at("b.zarr"), "memory:"].into_iter().enumerate() {
        for strategy in [Strategy::Pull, Strategy::PushPull] {
            let mut request = request(strategy);
            (request.source, request.target) = (at("source.zarr"), format!("{target}{strategy}"));
            if target == "memory:" {
                request.target = target.to_owned();
            }
            let job = Job::prepare(request, &Stores::default()).await.unwrap();
            let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
            let running = running(Existing::Refuse);
            let report = if number == 0 {
                job.run(running, observer, cancel).await.unwrap()
            } else {
                let mut begun = job.begin(running, observer, cancel).await.unwrap();
                for all in begun.left() {
                    let half =
                        TaskRange::new(all.stage, all.start..all.start + all.len().div_ceil(2));
                    begun.work(Some(half)).await.unwrap();
                    begun.work(Some(all)).await.unwrap();
                }
                begun.work(None).await.unwrap();
                begun.finish().await.unwrap()
            };
            let missing = report.missing.as_ref().map(|missing| (missing.chunks, missing.of));
            let traffic = report.traffic.unwrap();
            let counts = (traffic.source.get_requests, traffic.target.put_requests);
            let tasks = report.tasks.unwrap();
            let digest = report.digest.clone().unwrap().value;
            reports.push((missing, counts, digest, (tasks.total, tasks.done, tasks.resumed)));
            assert_eq!(report.verified, Some(true));
        }
    }
    let (first, others) = reports.split_at(2);
    assert_eq!(first[0].0, Some((1, 5)));
    assert!(others.chunks(2).all(|other| other == first), "{reports:#?}");
}
