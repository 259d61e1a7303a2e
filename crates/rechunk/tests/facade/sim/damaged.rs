//! Intermediates that are damaged between two stages: their tasks are done again, and no others.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use rechunk::{
    Begun, CancellationToken, Class, CopyRequest, Error, Existing, Job, NullObserver, Remedy,
    Report, Running, Stores, Strategy, TaskRange,
};
use rechunk_testkit::{SimClient, SimEnd, SimFaults, SimStore};
use tokio::time::sleep;

use crate::sim::array::{check_complete, disk, source, watch};
use crate::sim::process::{request, stores};
use crate::sim::two_at_once::WORK;

/// Ways in which objects are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Damage {
    Flipped,
    Cut,
    Emptied,
    Removed,
}

const DAMAGES: [Damage; 4] = [Damage::Flipped, Damage::Cut, Damage::Emptied, Damage::Removed];

impl Damage {
    /// The object when it is damaged.
    fn of(self, mut bytes: Vec<u8>) -> Option<Vec<u8>> {
        let end = bytes.len();
        match self {
            Self::Flipped => bytes[end - 6] ^= 8, // of the last piece
            Self::Cut => bytes.truncate(end - 1),
            Self::Emptied => bytes.clear(),
            Self::Removed => return None,
        }
        Some(bytes)
    }

    fn befall_file(self, path: &Path) {
        match self.of(fs::read(path).unwrap()) {
            Some(bytes) => fs::write(path, bytes).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
    }

    fn befall(self, disk: &SimStore, key: &str) {
        match self.of(disk.object(key).unwrap().to_vec()) {
            Some(bytes) => disk.put(key, Bytes::from(bytes)),
            None => disk.clear(key),
        }
    }
}

async fn begin(request: CopyRequest, stores: &Stores) -> Result<Begun, Error> {
    begin_to(request, stores, true).await
}

async fn begin_to(mut request: CopyRequest, stores: &Stores, verify: bool) -> Result<Begun, Error> {
    request.planning.box_bytes = Some(200); // several tasks
    let mut job = Job::prepare(request, stores).await?;
    job.planned.plan.threads = 0; // in place: threads would end in any order
    let mut running = Running::new(Existing::Resume);
    running.verify = verify;
    job.begin(running, Arc::new(NullObserver), CancellationToken::new()).await
}

/// Does all tasks of the stages before the last one; which ones these are.
async fn push(begun: &mut Begun) -> Vec<TaskRange> {
    let last = begun.job().planned.plan.stages.len() - 1;
    let before: Vec<TaskRange> = begun.left().into_iter().filter(|l| l.stage < last).collect();
    for tasks in &before {
        begun.work(Some(*tasks)).await.unwrap();
    }
    before
}

/// Key of the object of a task, below the intermediate.
fn object(stage: usize, task: u64) -> String {
    format!("stage{stage}/{task:09}")
}

/// The warnings about objects that were made again.
fn made_again(report: &Report) -> Vec<String> {
    let is_of_them = |text: &&String| text.contains("made it again") || text.contains("were made");
    report.warnings.iter().filter(is_of_them).cloned().collect()
}

fn assert_made_again(report: &Report, stage: usize, task: u64) {
    let said = made_again(report);
    let by = format!("was damaged: task {task} of stage {stage} has made it again");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(&object(stage, task)) && said[0].ends_with(&by), "{said:?}");
    assert_eq!(report.verified, Some(true));
    let tasks = report.tasks.unwrap();
    assert_eq!(tasks.done, tasks.total);
}

/// The files below `folder`, but for what is beside the target.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect()
}

/// A folder with the source, and what a copy of it that nothing befalls is and takes.
struct Local {
    folder: tempfile::TempDir,
    strategy: Strategy,
    right: BTreeMap<String, Vec<u8>>,
    report: Report,
    /// Tasks before the last stage, by stage.
    pushed: Vec<TaskRange>,
}

impl Local {
    async fn new(strategy: Strategy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("source.zarr")).unwrap();
        for (key, bytes) in source() {
            fs::write(folder.path().join(key), bytes).unwrap();
        }
        let request = local(folder.path(), strategy, "right.zarr");
        let mut begun = begin(request, &Stores::default()).await.unwrap();
        let pushed = push(&mut begun).await;
        begun.work(None).await.unwrap();
        let report = begun.finish().await.unwrap();
        let right = files(&folder.path().join("right.zarr"));
        Self { folder, strategy, right, report, pushed }
    }

    fn request(&self) -> CopyRequest {
        local(self.folder.path(), self.strategy, "target.zarr")
    }

    /// The path of the object of a task.
    fn object(&self, stage: usize, task: u64) -> std::path::PathBuf {
        self.folder.path().join("target.zarr.rechunk/intermediate").join(object(stage, task))
    }

    fn assert_right(&self) {
        let target = self.folder.path().join("target.zarr");
        assert_eq!(files(&target), self.right);
        assert!(!self.folder.path().join("target.zarr.rechunk").exists());
        fs::remove_dir_all(target).unwrap();
    }

    /// Number of objects of the intermediate that a run has written.
    fn puts(report: &Report) -> u64 {
        report.traffic.as_ref().unwrap().intermediate.put_requests
    }
}

fn local(folder: &Path, strategy: Strategy, target: &str) -> CopyRequest {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut request = request(strategy);
    (request.source, request.target) = (at("source.zarr"), at(target));
    request
}

#[tokio::test]
async fn a_damaged_object_is_made_again_by_its_task_alone() {
    for (strategy, stages) in [(Strategy::PushPull, 1), (Strategy::Multistage, 2)] {
        let local = Local::new(strategy).await;
        assert_eq!(local.pushed.len(), stages);
        assert!(local.pushed.iter().all(|tasks| tasks.len() > 3), "{:?}", local.pushed);
        for (tasks, damage) in local.pushed.iter().flat_map(|t| DAMAGES.map(|damage| (t, damage))) {
            for task in tasks.start..tasks.end {
                let what = format!("{strategy} {damage:?} {} {task}", tasks.stage);
                let mut begun = begin(local.request(), &Stores::default()).await.unwrap();
                for before in local.pushed.iter().filter(|before| before.stage <= tasks.stage) {
                    begun.work(Some(*before)).await.unwrap();
                }
                damage.befall_file(&local.object(tasks.stage, task));
                let done = begun.work(None).await.unwrap();
                // Those of later stages; that one was done before.
                let later = local.report.tasks.unwrap().total
                    - local.pushed[..=tasks.stage].iter().map(TaskRange::len).sum::<u64>();
                assert_eq!(done.tasks.done - done.tasks.resumed, later, "{what}");
                let report = begun.finish().await.unwrap();
                assert_made_again(&report, tasks.stage, task);
                assert_eq!(Local::puts(&report), Local::puts(&local.report) + 1, "{what}");
                local.assert_right();
            }
        }
    }
}

#[tokio::test]
async fn a_resumed_run_makes_damaged_objects_again() {
    for strategy in [Strategy::PushPull, Strategy::Multistage] {
        let local = Local::new(strategy).await;
        for damage in DAMAGES {
            let mut begun = begin(local.request(), &Stores::default()).await.unwrap();
            let pushed = push(&mut begun).await;
            let last = begun.left()[0];
            begun.work(Some(TaskRange::new(last.stage, 0..last.len() / 2))).await.unwrap();
            drop(begun);
            let (stage, task) = (last.stage - 1, pushed.last().unwrap().end - 1);
            damage.befall_file(&local.object(stage, task));
            let mut begun = begin(local.request(), &Stores::default()).await.unwrap();
            let done = begun.work(None).await.unwrap();
            assert_eq!(done.tasks.done - done.tasks.resumed, last.len() - last.len() / 2);
            let report = begun.finish().await.unwrap();
            assert_made_again(&report, stage, task);
            assert_eq!(Local::puts(&report), 1);
            local.assert_right();
        }
    }
}

/// Down to the source, where all of them are damaged.
#[tokio::test]
async fn all_objects_are_made_again_stage_by_stage() {
    for strategy in [Strategy::PushPull, Strategy::Multistage] {
        let local = Local::new(strategy).await;
        for damage in DAMAGES {
            let mut begun = begin(local.request(), &Stores::default()).await.unwrap();
            let pushed = push(&mut begun).await;
            let all = pushed.iter().flat_map(|t| (t.start..t.end).map(|task| (t.stage, task)));
            let all: Vec<(usize, u64)> = all.collect();
            for (stage, task) in &all {
                damage.befall_file(&local.object(*stage, *task));
            }
            begun.work(None).await.unwrap();
            let report = begun.finish().await.unwrap();
            let said = made_again(&report);
            assert_eq!(said.len(), all.len().min(6), "{said:?}");
            if all.len() > 5 {
                let others = format!("and {} more objects", all.len() - 5);
                assert!(said[5].starts_with(&others), "{said:?}");
            }
            assert_eq!(Local::puts(&report), 2 * Local::puts(&local.report));
            local.assert_right();
        }
    }
}

/// It ends with the error, and a resume tries again.
#[tokio::test]
async fn a_disk_that_damages_everything_ends_a_run() {
    let disk = disk(7);
    let written: Arc<Mutex<BTreeMap<String, u32>>> = Arc::default();
    let counted = Arc::clone(&written);
    disk.watch(move |_, key, _| {
        *counted.lock().unwrap().entry(key.to_owned()).or_default() += 1;
    });
    let faults = SimFaults { flipped: 100, checked: &["/stage0/"], ..SimFaults::NONE };
    for attempt in 1..=2 {
        disk.set_faults(faults, Duration::ZERO);
        let client = disk.client();
        let mut begun = begin(request(Strategy::PushPull), &stores(&client)).await.unwrap();
        let error = begun.work(None).await.unwrap_err();
        begun.leave().await;
        let Error::Run { source, done, resumed, total, .. } = &error else { panic!("{error}") };
        assert!(source.is_intermediate_damage(), "{source}");
        assert_eq!(error.remedy(), Some(Remedy::ResumeToWrite));
        assert_eq!(error.class(), Class::Failed);
        assert!(*resumed <= *done && *done < *total && (*resumed > 0) == (attempt > 1));
        let made = written.lock().unwrap();
        let made = made.iter().filter(|(key, _)| key.contains("/stage0/")).map(|(_, times)| *times);
        assert_eq!(made.max(), Some(1 + 2 * attempt), "twice in each run");
    }
    disk.set_faults(SimFaults::NONE, Duration::ZERO);
    let mut begun = begin(request(Strategy::PushPull), &stores(&disk.client())).await.unwrap();
    begun.work(None).await.unwrap();
    let report = begun.finish().await.unwrap();
    assert_eq!(made_again(&report), Vec::<String>::new());
    check_complete(&disk).unwrap();
}

/// Begins, when the lease of one that has died is over.
async fn begin_in_time(client: &SimClient, strategy: Strategy) -> Result<Begun, Error> {
    loop {
        match begin_to(request(strategy), &stores(client), false).await {
            Err(error) if error.to_string().contains("last heard of") => {
                sleep(Duration::from_secs(5)).await;
            }
            other => return other,
        }
    }
}

/// Pushes to `disk`, and damages an object of each stage; the keys of these.
async fn pushed_and_damaged(disk: &SimStore, strategy: Strategy, damage: Damage) -> Vec<String> {
    let client = disk.client();
    let mut begun = begin(request(strategy), &stores(&client)).await.unwrap();
    let pushed = push(&mut begun).await;
    let last = begun.left()[0];
    begun.work(Some(TaskRange::new(last.stage, 0..1))).await.unwrap();
    begun.leave().await;
    let keys = pushed.iter().map(|t| format!("{WORK}intermediate/{}", object(t.stage, t.end - 1)));
    let keys: Vec<String> = keys.collect();
    for key in &keys {
        damage.befall(disk, key);
    }
    keys
}

/// The order of what is written, on a store without files: first the task is forgotten.
async fn is_resumed_after_every_kill(strategy: Strategy) {
    let mut died = 0;
    for (number, damage) in (0..).zip(DAMAGES) {
        for call in (1 + 2 * number..400).step_by(7) {
            let disk = disk(call);
            let findings = watch(&disk);
            let keys = pushed_and_damaged(&disk, strategy, damage).await;
            let client = disk.client();
            let end = if call % 2 == 0 { SimEnd::Before(call) } else { SimEnd::After(call) };
            client.die_at(end);
            let copy = async {
                let mut begun = begin_in_time(&client, strategy).await?;
                begun.work(None).await?;
                begun.finish().await
            };
            let is_dead = tokio::select! {
                biased;
                () = client.died() => true,
                ended = Box::pin(copy) => ended.map(|_| false).unwrap(),
            };
            client.die();
            if is_dead {
                died += 1;
                let client = disk.client();
                let mut begun = begin_in_time(&client, strategy).await.unwrap();
                begun.work(None).await.unwrap();
                let again = begun.finish().await.unwrap();
                let puts = again.traffic.unwrap().intermediate.put_requests;
                assert!(puts <= keys.len() as u64, "{strategy} {damage:?} {call}: {puts}");
            }
            check_complete(&disk).unwrap();
            assert_eq!(*findings.lock().unwrap(), Vec::<String>::new());
            if !is_dead {
                break;
            }
        }
    }
    assert!(died > 25, "{died} died");
}

#[tokio::test(start_paused = true)]
async fn a_kill_at_any_moment_of_two_stages_is_resumed() {
    Box::pin(is_resumed_after_every_kill(Strategy::PushPull)).await;
}

#[tokio::test(start_paused = true)]
async fn a_kill_at_any_moment_of_more_stages_is_resumed() {
    Box::pin(is_resumed_after_every_kill(Strategy::Multistage)).await;
}

/// On a store without files: a task is not done, before its object is written anew.
#[tokio::test(start_paused = true)]
async fn a_task_is_forgotten_before_its_object_is_replaced() {
    for strategy in [Strategy::PushPull, Strategy::Multistage] {
        let disk = disk(3);
        let keys = pushed_and_damaged(&disk, strategy, Damage::Flipped).await;
        let order: Arc<Mutex<Vec<(String, Bytes)>>> = Arc::default();
        let put = Arc::clone(&order);
        disk.watch(move |_, key, bytes| put.lock().unwrap().push((key.to_owned(), bytes.clone())));
        let mut begun = begin(request(strategy), &stores(&disk.client())).await.unwrap();
        begun.work(None).await.unwrap();
        begun.finish().await.unwrap();
        check_complete(&disk).unwrap();
        let order = order.lock().unwrap();
        assert!(order.iter().any(|(put, _)| Some(put) == keys.last()));
        for key in &keys {
            // Of the stages before the last but one, it may be an object that is not read again.
            let Some(at) = order.iter().position(|(put, _)| put == key) else { continue };
            let (stage, task) = key.rsplit_once("stage").unwrap().1.split_once('/').unwrap();
            let task: u64 = task.parse().unwrap();
            let line = format!(r#"{{"stage":{stage},"task":{task},"undone":true}}"#);
            let is_undone =
                |(_, bytes): &(String, Bytes)| String::from_utf8_lossy(bytes).contains(&line);
            assert!(order[..at].iter().any(is_undone), "{line} {:?}", order.iter().map(|o| &o.0));
        }
    }
}
