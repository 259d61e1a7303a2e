//! One plan, many processes: shares of stages, done anywhere, at any time, and more than once.

use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};

use crate::arrays::RawArray;
use crate::harness::{Done, Folder, Run, rechunk, tree};
use crate::report::number;

/// Options of a plan, and whether its target has the same bytes each time. Chunks lie in a shard in
/// the order in which they came in.
pub(crate) const PLANS: [(&[&str], bool); 7] = [
    (&["--chunks", "24,4,4", "--strategy", "push-pull", "--max-mem", "24MiB"], true),
    (&["--chunks", "24,4,4", "--strategy", "multistage", "--max-mem", "24MiB"], true),
    (&["--chunks", "24,4,4", "--strategy", "pull"], true),
    (&["--chunks", "8,32,48", "--strategy", "direct"], true),
    (&["--chunks", "24,8,48", "--strategy", "keep"], true),
    (&[], true),
    (&["--chunks", "4,8,8", "--shards", "8,32,48"], false),
];

/// A plan of a small array, saved in a folder.
pub(crate) struct Plan {
    pub folder: Folder,
    options: Vec<&'static str>,
}

impl Plan {
    pub(crate) fn new(options: &[&'static str]) -> Self {
        let folder = Folder::new();
        RawArray::v3(&[24, 32, 48], &[4, 32, 48]).write(&folder.at("s.zarr"));
        let plan = Self { folder, options: options.to_vec() };
        plan.save("t.zarr", &[]);
        plan
    }

    pub(crate) fn save(&self, target: &str, more: &[&str]) -> Done {
        let (source, target) = (self.folder.at("s.zarr"), self.folder.at(target));
        let file = self.folder.at("plan.json");
        let plan = ["plan", &source, &target, "--out", &file, "--threads", "2", "--json"];
        rechunk(&[&plan[..], &self.options, more].concat()).ok()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::rechunk(&[&["run", &self.folder.at("plan.json"), "--json"], arguments].concat())
    }

    pub(crate) fn part(&self, stage: usize, part: &str) -> Run {
        self.run(&["--stage", &stage.to_string(), "--part", part])
    }

    pub(crate) fn stages(&self) -> usize {
        self.tasks().len()
    }

    /// Number of tasks of each stage.
    fn tasks(&self) -> Vec<u64> {
        let text = std::fs::read(self.folder.path().join("plan.json")).unwrap();
        let plan: Value = serde_json::from_slice(&text).unwrap();
        let stages = plan["plan"]["stages"].as_array().unwrap();
        stages.iter().map(|stage| stage["tasks"].as_u64().unwrap()).collect()
    }

    pub(crate) fn finish(&self) -> Done {
        self.run(&["--finish"]).go().ok()
    }

    /// The target has the elements of the source, and nothing else is left.
    #[track_caller]
    pub(crate) fn assert_copied(&self) {
        rechunk(&["verify", &self.folder.at("s.zarr"), &self.folder.at("t.zarr")]).ok();
        assert!(!self.folder.path().join("t.zarr.rechunk").exists());
        let keys = tree(&self.folder.path().join("t.zarr"));
        assert!(!keys.keys().any(|key| key.contains('#')), "{keys:?}");
    }
}

/// The numbers that parts and one run have to have in common.
const COUNTED: [&str; 8] = [
    "traffic.source.get_requests",
    "traffic.source.read_bytes",
    "traffic.intermediate.get_requests",
    "traffic.intermediate.read_bytes",
    "traffic.intermediate.put_requests",
    "traffic.intermediate.written_bytes",
    "traffic.target.put_requests",
    "traffic.target.decoded_written_bytes",
];

#[test]
fn parts_of_every_kind_do_what_one_run_does() {
    for (options, is_exact) in PLANS {
        let plan = Plan::new(options);
        let one = Plan::new(options);
        let whole = one.run(&[]).go().ok().json();
        let mut parts = Vec::new();
        for stage in 0..plan.stages() {
            for part in ["2/3", "0/3", "1/3"] {
                parts.push(plan.part(stage, part).go().ok().json());
            }
        }
        let marked: u64 = parts.iter().map(|part| number(part, "tasks.marked")).sum();
        assert_eq!(marked, number(&whole, "tasks.total"), "{options:?}");
        for counted in COUNTED {
            let sum: u64 = parts.iter().map(|part| number(part, counted)).sum();
            assert_eq!(sum, number(&whole, counted), "{options:?}: {counted}");
        }
        let finished = plan.finish().json();
        assert_eq!(number(&finished, "tasks.done"), number(&whole, "tasks.total"));
        assert_eq!(number(&finished, "tasks.resumed"), number(&whole, "tasks.total"));
        plan.assert_copied();
        let trees = [&plan, &one].map(|plan| tree(&plan.folder.path().join("t.zarr")));
        assert!(!is_exact || trees[0] == trees[1], "{options:?}");
    }
}

#[test]
fn what_is_not_ready_is_exit_7_and_can_be_waited_for() {
    let plan = Plan::new(PLANS[0].0);
    plan.run(&["--finish"]).go().ends_with(7).says(&["push", "pull"]);
    assert!(!plan.folder.path().join("t.zarr.rechunk").exists());
    plan.part(1, "0/1").go().ends_with(7).says(&["stage 0", "--wait"]);
    plan.run(&["--finish"]).go().ends_with(7).says(&["not done", "--wait"]);
    plan.run(&["--finish", "--wait=100ms"]).go().ends_with(7);
    let late = plan.run(&["--stage", "1", "--part", "0/1", "--wait"]).start();
    let last = plan.run(&["--finish", "--wait=2m"]).start();
    std::thread::sleep(Duration::from_millis(300));
    plan.part(0, "0/1").go().ok();
    assert!(ended(late) && ended(last));
    plan.assert_copied();
}

fn ended(mut process: Child) -> bool {
    process.wait().unwrap().success()
}

#[test]
fn parts_run_twice_at_once_and_late_and_shares_may_change() {
    let plan = Plan::new(PLANS[0].0);
    plan.run(&["--begin"]).go().ok();
    assert_eq!(plan.run(&["--begin"]).go().ok().json()["begun"], false);
    let at_once: Vec<Child> = (0..4).map(|_| plan.part(0, "0/2").start()).collect();
    assert!(at_once.into_iter().all(ended));
    let again = plan.part(0, "0/2").go().ok().json();
    assert_eq!(number(&again, "tasks.resumed"), number(&again, "tasks.total"));
    assert_eq!(number(&again, "traffic.source.get_requests"), 0);
    let rest = plan.part(0, "0/1").go().ok().json();
    assert_eq!(number(&rest, "tasks.resumed"), number(&again, "tasks.total"));
    for part in ["0/5", "1/5", "2/5", "3/5", "4/5"] {
        plan.part(1, part).go().ok();
    }
    plan.finish();
    plan.finish();
    let late = plan.part(1, "0/5").go().ok().json();
    assert_eq!(late["already_complete"], true);
    assert_eq!(plan.run(&["--begin"]).go().ok().json()["complete"], true);
    plan.assert_copied();
}

fn signal(process: &Child, signal: &str) {
    let id = process.id().to_string();
    assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
}

/// Has eight processes do all shares of each stage, and kills some, until all have ended well.
pub(crate) fn do_with_kills(
    do_part: impl Fn(usize, &str) -> Run,
    stages: usize,
    kills: u64,
    seed: u64,
) -> u64 {
    let (mut killed, mut state) = (0, seed);
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for stage in 0..stages {
        let mut shares: Vec<String> = (0..8).map(|part| format!("{part}/8")).collect();
        while !shares.is_empty() {
            let mut parts: Vec<(String, Child)> = shares
                .drain(..)
                .map(|share| (share.clone(), do_part(stage, &share).start()))
                .collect();
            for (_, part) in &mut parts {
                std::thread::sleep(Duration::from_millis(draw(30)));
                if draw(8) == 0 {
                    signal(part, "-STOP");
                    std::thread::sleep(Duration::from_millis(draw(100)));
                    signal(part, "-CONT");
                }
                if killed < kills && draw(2) == 0 {
                    part.kill().unwrap();
                    killed += 1;
                }
            }
            for (share, part) in parts {
                let done = part.wait_with_output().unwrap();
                if done.status.code().is_none() {
                    shares.push(share); // killed
                } else {
                    let said = String::from_utf8_lossy(&done.stderr);
                    assert!(
                        done.status.success(),
                        "stage {stage}, {share}: {}, {said}",
                        done.status
                    );
                }
            }
        }
    }
    killed
}

#[test]
fn killed_parts_cost_what_they_had_not_marked() {
    for (number, (options, _)) in PLANS.into_iter().enumerate() {
        let plan = Plan::new(options);
        let seed = u64::try_from(number).unwrap();
        do_with_kills(|stage, part| plan.part(stage, part), plan.stages(), 10, seed);
        plan.finish();
        plan.assert_copied();
    }
}

#[test]
#[ignore = "minutes: just test-parts"]
fn two_hundred_kills_of_each_kind() {
    for (kind, (options, _)) in PLANS.into_iter().enumerate() {
        let mut killed = 0;
        for seed in 0..1000 {
            let plan = Plan::new(options);
            let kills = 200 - killed;
            let seed = seed * 100 + u64::try_from(kind).unwrap();
            killed +=
                do_with_kills(|stage, part| plan.part(stage, part), plan.stages(), kills, seed);
            let report = plan.finish().json();
            assert_eq!(number(&report, "tasks.resumed"), number(&report, "tasks.total"));
            plan.assert_copied();
            if killed >= 200 {
                break;
            }
        }
        println!("{options:?}: {killed} kills");
        assert!(killed >= 200);
    }
}

#[test]
fn a_part_that_was_stopped_goes_on_when_all_is_finished_without_it() {
    let plan = Plan::new(PLANS[0].0);
    plan.run(&["--begin"]).go().ok();
    let stopped = plan.part(0, "0/2").start();
    signal(&stopped, "-STOP");
    for stage in 0..2 {
        plan.part(stage, "0/1").go().ok();
    }
    plan.finish();
    signal(&stopped, "-CONT");
    let mut stopped = stopped;
    // It had not begun, or finds that all is done.
    assert_eq!(stopped.wait().unwrap().code(), Some(0));
    rechunk(&["clean", &plan.folder.at("t.zarr")]).ok();
    plan.assert_copied();
}

#[test]
fn an_interrupted_run_is_gone_on_with_in_parts() {
    let plan = Plan::new(PLANS[0].0);
    let mut run = plan.run(&["--bwlimit", "200k"]).start();
    let journal = plan.folder.path().join("t.zarr.rechunk/journal");
    while std::fs::read(&journal).map_or(0, |text| text.split(|&byte| byte == b'\n').count()) < 3 {
        std::thread::sleep(Duration::from_millis(5));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    let first = plan.part(0, "0/1").go().ok().json();
    assert!(number(&first, "tasks.resumed") > 0);
    plan.part(1, "0/1").go().ok();
    plan.finish();
    plan.assert_copied();
}

#[test]
fn an_array_that_is_there_is_replaced_when_parts_are_finished() {
    let plan = Plan::new(PLANS[0].0);
    RawArray::v3(&[6, 6], &[3, 3]).write(&plan.folder.at("t.zarr"));
    let before = tree(&plan.folder.path().join("t.zarr"));
    plan.part(0, "0/1").go().ends_with(4);
    plan.part(0, "0/1").go().ends_with(4);
    plan.run(&["--stage", "0", "--part", "0/1", "--overwrite"])
        .go()
        .ends_with(2)
        .says(&["--begin"]);
    plan.run(&["--begin", "--overwrite"]).go().ok();
    for stage in 0..2 {
        plan.part(stage, "0/1").go().ok();
        assert_eq!(tree(&plan.folder.path().join("t.zarr")), before);
    }
    plan.run(&["--finish", "--verify"]).go().ok();
    plan.assert_copied();
}

#[test]
fn digests_of_parts_verify_the_target() {
    let plan = Plan::new(PLANS[0].0);
    for (stage, part) in [(0, "0/2"), (0, "1/2"), (1, "0/2"), (1, "1/2")] {
        let stage = stage.to_string();
        plan.run(&["--stage", &stage, "--part", part, "--verify"]).go().ok();
    }
    let chunk = plan.folder.path().join("t.zarr/c/0/1/1");
    let sound = std::fs::read(&chunk).unwrap();
    let mut damaged = sound.clone();
    damaged[7] ^= 1;
    std::fs::write(&chunk, damaged).unwrap();
    // Found, and written again by whoever finishes.
    let report = plan.run(&["--finish", "--verify"]).go().ok().json();
    assert_eq!(report["verified"], true);
    assert!(report["warnings"].to_string().contains("written again"), "{}", report["warnings"]);
    assert_eq!(std::fs::read(&chunk).unwrap(), sound);
    plan.assert_copied();
}

#[test]
fn what_parts_cannot_do_is_refused_before_anything_is_written() {
    let plan = Plan::new(PLANS[0].0);
    let refused = |arguments: &[&str], code: i32, says: &[&str]| {
        plan.run(arguments).go().ends_with(code).says(says);
        assert!(!plan.folder.path().join("t.zarr.rechunk").exists(), "{arguments:?}");
    };
    refused(&["--stage", "2", "--part", "0/1"], 2, &["no stage 2"]);
    refused(&["--part", "0/1"], 2, &["--stage", "push"]);
    refused(&["--stage", "0", "--part", "3/3"], 2, &["begin with 0"]);
    refused(&["--stage", "0", "--part", "3"], 2, &["0/40"]);
    refused(&["--stage", "0"], 2, &["--part"]);
    refused(&["--stage", "0", "--tasks", "0..9999"], 2, &["no part 0..9999", "stage 0 has"]);
    refused(&["--stage", "0", "--tasks", "2..2"], 2, &["`2..2` is no range of tasks"]);
    refused(&["--stage", "0", "--tasks", "0/2"], 2, &["--part takes a share"]);
    refused(&["--stage", "0", "--tasks", "0..1", "--part", "0/2"], 2, &[]);
    refused(&["--tasks", "0..1", "--finish"], 2, &[]);
    refused(&["--wait"], 2, &["--part"]);
    refused(&["--begin", "--finish"], 2, &[]);
    let (source, file) = (plan.folder.at("s.zarr"), plan.folder.at("plan.json"));
    rechunk(&["plan", &source, "memory://t", "--out", &file, "--chunks", "24,4,4"]).ok();
    refused(&["--stage", "0", "--part", "0/1"], 2, &["memory"]);
    plan.save("t.zarr", &["--temp", "memory:"]);
    refused(&["--stage", "0", "--part", "0/1"], 2, &["memory", "intermediate"]);
    plan.save("t.zarr", &[]);
    let work = plan.folder.path().join("t.zarr.rechunk");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("notes.txt"), "mine").unwrap();
    plan.part(0, "0/1").go().ends_with(4).says(&["no run has written"]);
    assert_eq!(std::fs::read(work.join("notes.txt")).unwrap(), b"mine");
}

/// Tasks may be divided otherwise than by shares.
#[test]
fn tasks_are_done_by_their_numbers() {
    let plan = Plan::new(PLANS[0].0);
    let tasks = |stage: usize, numbers: &str| {
        plan.run(&["--stage", &stage.to_string(), "--tasks", numbers]).go()
    };
    let count = plan.tasks()[0];
    let last = format!("1..{count}");
    let report = tasks(0, &last).ok().json();
    assert_eq!((&report["part"], number(&report, "tasks.marked")), (&json!(last), count - 1));
    tasks(1, "0..1").ends_with(7);
    // Shares and numbers may be mixed: what is marked is not done again.
    let report = plan.part(0, "0/1").go().ok().json();
    assert_eq!(
        (number(&report, "tasks.total"), number(&report, "tasks.resumed")),
        (count, count - 1)
    );
    for task in 0..plan.tasks()[1] {
        tasks(1, &format!("{task}..{}", task + 1)).ok();
    }
    plan.finish();
    plan.assert_copied();
}

#[test]
fn another_plan_and_a_changed_source_are_refused() {
    let plan = Plan::new(PLANS[0].0);
    plan.part(0, "0/2").go().ok();
    let other = Plan { options: PLANS[2].0.to_vec(), ..plan };
    other.save("t.zarr", &[]);
    other.part(0, "0/1").go().ends_with(4).says(&["another"]);
    let plan = Plan { options: PLANS[0].0.to_vec(), ..other };
    plan.save("t.zarr", &[]);
    let chunk = plan.folder.path().join("s.zarr/c/5/0/0");
    let bytes = std::fs::read(&chunk).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(&chunk, bytes).unwrap();
    plan.part(0, "1/2").go().ends_with(3).says(&["c/5/0/0"]);
}

#[test]
fn a_damaged_piece_is_made_again_by_the_part_that_finds_it() {
    let plan = Plan::new(PLANS[0].0);
    plan.part(0, "0/1").go().ok();
    let pieces = plan.folder.path().join("t.zarr.rechunk/intermediate/stage0");
    let first = std::fs::read_dir(&pieces).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&first).unwrap();
    bytes[11] ^= 1;
    std::fs::write(&first, bytes).unwrap();
    let part = plan.part(1, "0/1").go().ok().json();
    assert!(part["warnings"].to_string().contains("made it again"), "{}", part["warnings"]);
    assert_eq!(number(&part, "traffic.intermediate.put_requests"), 1);
    plan.finish();
    plan.assert_copied();
}

#[test]
fn a_finish_that_is_killed_is_ended_by_another() {
    let plan = Plan::new(PLANS[0].0);
    for (stage, part) in [(0, "0/1"), (1, "0/1")] {
        plan.part(stage, part).go().ok();
    }
    // Verifying takes long, and comes when the parts are closed.
    let mut finish = plan.run(&["--finish", "--verify", "--bwlimit", "100k"]).start();
    let parts = plan.folder.path().join("t.zarr.rechunk/parts");
    while parts.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(200));
    finish.kill().unwrap();
    finish.wait().unwrap();
    assert!(plan.folder.path().join("t.zarr.rechunk/job.json").exists());
    let late = plan.part(1, "0/1").go().ok().json();
    assert_eq!(late["already_complete"], true);
    plan.finish();
    plan.assert_copied();
}

#[test]
fn a_part_that_fails_says_that_it_can_be_run_again() {
    let plan = Plan::new(PLANS[0].0);
    plan.run(&["--begin"]).go().ok();
    let chunks = plan.folder.path().join("t.zarr.rechunk/intermediate");
    std::fs::write(&chunks, "in the way").unwrap();
    plan.part(0, "0/1").go().fails().says(&["run the same command again"]);
    std::fs::remove_file(&chunks).unwrap();
    plan.part(0, "0/1").go().ok();
    plan.part(1, "0/1").go().ok();
    plan.finish();
    plan.assert_copied();
}
