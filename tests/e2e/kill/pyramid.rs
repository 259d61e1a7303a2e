//! A pyramid that is killed: its levels are those of an undisturbed run, in the image and its
//! documents, or nothing looks finished.

use super::job::{Job, Kill};
use crate::arrays::RawArray;
use crate::harness::{looks_finished, tree};

/// Two passes: blocks of sums go from one to the other.
fn pyramid() -> Job {
    let source = RawArray::v3(&[64, 96, 128], &[5, 96, 128]).of_uint16();
    let levels = ["--factors", "1,2,2;2,4,4;4,8,8;8,24,16", "--as", "ome-zarr-0.5"];
    let options = [&levels[..], &["--chunks", "16,24,32", "--max-mem", "4MiB"]].concat();
    let job = Job::of("pyramid", &source, &options, "1000");
    assert_eq!(job.report["pyramid"]["levels"].as_array().unwrap().len(), 5);
    assert!(job.report["pyramid"]["passes"].as_array().unwrap().len() > 1, "{}", job.report);
    job
}

#[test]
fn a_pyramid_survives_every_kill() {
    const POINTS: u64 = 24;
    let job = pyramid();
    let mut resumed = 0;
    for round in 1..=POINTS {
        let at = 1 + (round - 1) * (job.calls - 1) / (POINTS - 1);
        let kill = Kill { at, is_torn: round % 4 >= 2, loses: round % 2 == 1 };
        let target = job.target(round);
        let done = job.kill(&target, kill, &[]);
        assert!([137, 0].contains(&done.code), "{kill:?}: {done:?}");
        let image = target.join("t.zarr");
        if done.code == 137 {
            let is_whole = image.join("zarr.json").exists();
            if is_whole {
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
    assert!(resumed > 2, "no kill came after a mark: the test does not test resuming");
}
