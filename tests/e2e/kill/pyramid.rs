//! A pyramid that is killed: its levels are those of an undisturbed run, in the image and its
//! documents, or nothing looks finished.

use super::job::{Job, Kill};
use crate::arrays::RawArray;
use crate::harness::{looks_finished, tree};

fn pyramid(
    source: &RawArray,
    factors: &'static str,
    chunks: &'static str,
    memory: &'static str,
) -> Job {
    let options =
        ["--factors", factors, "--chunks", chunks, "--max-mem", memory, "--as", "ome-zarr-0.5"];
    Job::of("pyramid", source, &options, "1000")
}

/// Kills a job at so many points spread over its run, and resumes it. Returns how many of these
/// runs found tasks that were done.
fn resumed_of(job: &Job, points: u64) -> u64 {
    let mut resumed = 0;
    for round in 1..=points {
        let at = 1 + (round - 1) * (job.calls - 1) / (points - 1);
        let kill = Kill { at, is_torn: round % 4 >= 2, loses: round % 2 == 1 };
        let target = job.target(round);
        let done = job.kill(&target, kill, &[]);
        assert!([137, 0].contains(&done.code), "{kill:?}: {done:?}");
        let image = target.join("t.zarr");
        if done.code == 137 {
            if image.join("zarr.json").exists() {
                assert_eq!(job.contents(&image), job.whole, "{kill:?}: it looks finished");
            }
            let done = job.resume(&target).ok();
            resumed += u64::from(done.json()["tasks"]["resumed"].as_u64().unwrap_or(0) > 0);
        }
        assert!(looks_finished(&image.join("s0").display().to_string()), "{kill:?}");
        assert_eq!(job.contents(&image), job.whole, "{kill:?}: other than an undisturbed run");
        let left: Vec<_> =
            tree(&target).into_keys().filter(|key| key.contains(".rechunk")).collect();
        assert!(left.is_empty(), "{kill:?}: left behind: {left:?}");
        std::fs::remove_dir_all(target).unwrap();
    }
    resumed
}

#[test]
fn a_pyramid_survives_every_kill() {
    let source = RawArray::v3(&[64, 96, 128], &[16, 24, 32]).of_uint16();
    let job = pyramid(&source, "1,2,2;2,4,4", "8,12,16", "64MiB");
    let passes = job.report["pyramid"]["passes"].as_array().unwrap();
    assert!(passes[0]["tasks"].as_u64().unwrap() > 8, "{passes:?}");
    let resumed = resumed_of(&job, 9);
    assert!(resumed > 2, "{resumed} kills came after a mark: the test does not test resuming");
}

/// Blocks of sums go from one pass to the next.
#[test]
fn a_pyramid_of_two_passes_survives_every_kill() {
    let source = RawArray::v3(&[64, 96, 128], &[5, 96, 128]).of_uint16();
    let job = pyramid(&source, "1,2,2;2,4,4;4,8,8;64,96,128", "16,24,32", "3MiB");
    let passes = job.report["pyramid"]["passes"].as_array().unwrap();
    assert!(passes.len() > 1, "{passes:?}");
    resumed_of(&job, 6);
}
