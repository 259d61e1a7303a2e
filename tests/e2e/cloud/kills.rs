//! Killed right before or after any of its requests, the same command with `--resume` goes on at
//! once and ends with the same target.

use std::time::Duration;

use rechunk_testkit::{Filter, Hold, Moment, RequestRecord};

use super::{S3, assert_same, is_temporary};
use crate::arrays::RawArray;
use crate::harness::{copy_directory, on_two_threads};
use crate::report::number;

/// Kills of each job in the normal run.
const POINTS: usize = 16;

/// A copy to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Job {
    shape: [u64; 3],
    chunks: [u64; 3],
    options: &'static [&'static str],
    before: Before,
}

/// Objects at the target's place before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// An array, which is replaced.
    Array,
    /// Leftovers of an interrupted run of the same job, which are thrown away.
    Interrupted,
}

const PUSH_PULL: Job = Job {
    shape: [12, 8, 16],
    chunks: [3, 8, 16],
    options: &["--chunks", "12,4,4", "--strategy", "push-pull"],
    before: Before::Nothing,
};

const SHARDED: Job = Job {
    options: &["--chunks", "6,4,4", "--shards", "12,8,8", "--strategy", "pull"],
    ..PUSH_PULL
};

/// By the store itself: 40 chunks, more than a task moves otherwise.
const COPIED: Job = Job {
    shape: [40, 8, 16],
    chunks: [1, 8, 16],
    options: &["--chunks", "keep"],
    before: Before::Nothing,
};

const REPLACEMENT: Job = Job {
    options: &["--chunks", "12,4,4", "--strategy", "pull"],
    before: Before::Array,
    ..PUSH_PULL
};

const STARTED_OVER: Job = Job { before: Before::Interrupted, ..REPLACEMENT };

/// The intermediate is gone with the process.
const IN_MEMORY: Job = Job {
    options: &["--chunks", "12,4,4", "--strategy", "push-pull", "--temp", "memory:"],
    ..PUSH_PULL
};

impl Job {
    /// A server with the source, and what is where the target goes.
    fn server(self) -> S3 {
        let s3 = S3::with(&RawArray::v3(&self.shape, &self.chunks));
        let before = s3.folder.path().join("before");
        match self.before {
            Before::Nothing => std::fs::create_dir(before).unwrap(),
            Before::Array => {
                RawArray::v3(&[6, 6], &[3, 3]).write(&before.join("t.zarr").display().to_string());
            }
            Before::Interrupted => {
                let writes = Filter::any().method("PUT").key("t.zarr/c/*");
                kill_at(&s3, s3.server.hold_nth(writes, 6, Moment::After), self.options);
                for key in ["t.zarr", "t.zarr.rechunk"] {
                    copy_directory(&s3.disk(key), &before.join(key));
                }
            }
        }
        put_back(&s3);
        s3.server.clear_requests();
        s3
    }

    fn first(self) -> &'static [&'static str] {
        if self.before == Before::Nothing { &[] } else { &["--overwrite"] }
    }

    /// Requests of an undisturbed run.
    fn requests(self) -> u64 {
        let s3 = self.server();
        s3.copy("t.zarr", &[self.options, self.first()].concat()).go().ok();
        s3.assert_copied("t.zarr");
        u64::try_from(s3.server.requests().len()).unwrap()
    }
}

/// Whether the target looks like an array that is there.
fn looks_finished(s3: &S3) -> bool {
    s3.disk("t.zarr/zarr.json").exists()
}

/// Everything as before a run.
fn put_back(s3: &S3) {
    for key in ["t.zarr", "t.zarr.rechunk"] {
        let (before, place) = (s3.folder.path().join("before").join(key), s3.disk(key));
        if place.exists() {
            std::fs::remove_dir_all(&place).unwrap();
        }
        if before.exists() {
            copy_directory(&before, &place);
        }
    }
}

/// Runs the copy and kills it where it is held, which is never answered; what was held, if it came.
fn kill_at(s3: &S3, hold: Hold, options: &[&str]) -> Option<RequestRecord> {
    let mut copy = s3.copy("t.zarr", options).start();
    let held = hold.wait(Duration::from_mins(1));
    copy.kill().unwrap();
    copy.wait().unwrap();
    hold.abandon();
    held
}

/// Kills the copy at the `nth` request and resumes it; whether any task was resumed.
fn kill_and_resume(s3: &S3, job: Job, nth: u64, moment: Moment) -> bool {
    let how = format!("{moment:?} of request {nth} of {job:?}");
    put_back(s3);
    let hold = s3.server.hold_nth(Filter::any(), nth, moment);
    let Some(held) = kill_at(s3, hold, &[job.options, job.first()].concat()) else {
        panic!("{how} was never made")
    };
    let how = format!("{how}: {} {} {}", held.method, held.key, held.query);
    let is_job = s3.disk("t.zarr.rechunk/job.json").exists();
    if looks_finished(s3) && job.before != Before::Array {
        assert_same(&s3.disk("source.zarr"), &s3.disk("t.zarr"));
    }
    let done = s3.copy("t.zarr", &[job.options, &["--resume"]].concat()).go();
    if done.code == 4 && looks_finished(s3) {
        // Before its first act, or after its last one: an array, and nobody's job.
        assert!(!is_job, "{how}: {}", done.stderr);
        if job.before == Before::Array {
            s3.copy("t.zarr", &[job.options, &["--overwrite"]].concat()).go().ok();
        }
        s3.assert_copied("t.zarr");
        return false;
    }
    assert_eq!(done.code, 0, "{how}: {}", done.stderr);
    let left: Vec<String> = s3.objects().into_iter().filter(|key| is_temporary(key)).collect();
    assert!(left.is_empty(), "{how}: left behind: {left:?}");
    s3.assert_copied("t.zarr");
    number(&done.json(), "tasks.resumed") > 0
}

/// Kills a job before and after every `step`-th request, beginning with the `first`.
fn survives(job: Job, step: usize) {
    let requests = job.requests();
    let points: Vec<u64> = (1..=requests).step_by(step).collect();
    let halves: Vec<&[u64]> = points.chunks(points.len().div_ceil(2)).collect();
    let resumed: usize = on_two_threads(&halves, |half| {
        let s3 = job.server();
        let at = |(number, &nth): (usize, &u64)| {
            let moments: &[Moment] = match (step, number % 2) {
                (1, _) => &[Moment::Before, Moment::After],
                (_, 0) => &[Moment::Before],
                _ => &[Moment::After],
            };
            moments.iter().filter(|&&moment| kill_and_resume(&s3, job, nth, moment)).count()
        };
        half.iter().enumerate().map(at).sum::<usize>()
    })
    .into_iter()
    .sum();
    println!("{} of {requests} requests, {resumed} times with tasks done", points.len());
    assert!(resumed > 0 || job == IN_MEMORY, "no kill came after a mark: resuming is not tested");
}

/// At [`POINTS`] of its requests.
fn survives_some(job: Job) {
    let requests = usize::try_from(job.requests()).unwrap();
    survives(job, requests.div_ceil(POINTS).max(2));
}

#[test]
fn a_push_pull_survives_kills_at_its_requests() {
    survives_some(PUSH_PULL);
}

#[test]
fn shards_survive_kills_at_their_requests() {
    survives_some(SHARDED);
}

#[test]
fn copies_inside_the_store_survive_kills_at_their_requests() {
    survives_some(COPIED);
}

#[test]
fn a_replacement_survives_kills_at_its_requests() {
    survives_some(REPLACEMENT);
}

/// Leftovers of an interrupted run are thrown away, and that is interrupted too.
#[test]
fn starting_over_survives_kills_at_its_requests() {
    survives_some(STARTED_OVER);
}

#[test]
fn an_intermediate_in_memory_survives_kills_at_its_requests() {
    survives_some(IN_MEMORY);
}

/// `just test-cloud`.
#[test]
#[ignore = "long"]
fn every_request_of_every_job() {
    for job in [PUSH_PULL, SHARDED, COPIED, REPLACEMENT, STARTED_OVER, IN_MEMORY] {
        survives(job, 1);
    }
}

/// Ctrl-C.
#[test]
fn an_interrupt_ends_at_130_and_can_be_resumed() {
    let s3 = PUSH_PULL.server();
    let hold = s3.server.hold_nth(Filter::any().method("PUT").key("t.zarr/c/*"), 3, Moment::Before);
    let copy = s3.copy("t.zarr", PUSH_PULL.options);
    std::thread::scope(|scope| {
        let copying = copy.start();
        hold.wait(Duration::from_mins(1)).expect("a chunk is written");
        let pid = copying.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
        assert!(sent.success());
        let waiting = scope.spawn(|| copying.wait_with_output().unwrap());
        // What is in flight is waited for.
        std::thread::sleep(Duration::from_millis(300));
        hold.release();
        let output = waiting.join().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert!(said.contains("--resume"), "{said}");
    });
    assert!(!looks_finished(&s3));
    let done = s3.copy("t.zarr", &[PUSH_PULL.options, &["--resume"]].concat()).go().ok();
    assert!(number(&done.json(), "tasks.resumed") > 0);
    s3.assert_copied("t.zarr");
}
