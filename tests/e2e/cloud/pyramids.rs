//! Levels of an image in a store: made anew, and killed meanwhile.

use std::path::Path;
use std::time::Duration;

use rechunk_testkit::{Filter, Moment};

use super::{S3, small};
use crate::harness::{copy_directory, rechunk, tree};

/// Requests that a run is killed at.
const POINTS: u64 = 12;
const LEVEL: [&str; 2] = ["--factors", "1,2,2"];

/// A store has no renames: the old level goes first, and the image is then one without it.
#[test]
fn a_level_is_made_anew_whenever_it_is_killed() {
    let s3 = S3::new();
    let (raw, made, here) = (s3.folder.at("raw.zarr"), s3.folder.at("made"), s3.folder.at("here"));
    small().write(&raw);
    let levels = ["--factors", "1,2,2;1,4,4", "--method", "max", "-q"];
    rechunk(&[&["pyramid", &raw, &made][..], &levels].concat()).ok();
    copy_directory(Path::new(&made), Path::new(&here));
    rechunk(&[&["pyramid", &here, &here, "--overwrite", "-q"][..], &LEVEL].concat()).ok();
    let objects = |place: &Path| -> Vec<(String, String)> {
        tree(place).into_iter().filter(|(_, digest)| !digest.is_empty()).collect()
    };
    let (expected, image) = (objects(Path::new(&here)), s3.server.url("image.zarr"));
    assert_ne!(expected, objects(Path::new(&made)));
    let run = |more: &[&str]| {
        let run = ["pyramid", &image, &image, "--threads", "2", "-q"];
        s3.run(&[&run[..], &LEVEL, more].concat())
    };
    let place = s3.disk("image.zarr");
    copy_directory(Path::new(&made), &place);
    s3.server.clear_requests();
    run(&["--overwrite"]).go().ok();
    assert_eq!(objects(&place), expected);
    s3.assert_clean();
    let requests = s3.server.requests().len() as u64;
    let mut without = 0;
    for point in 0..POINTS {
        s3.forget("image.zarr");
        copy_directory(Path::new(&made), &place);
        let nth = 1 + point * (requests - 1) / POINTS;
        let moment = if point % 2 == 0 { Moment::Before } else { Moment::After };
        let hold = s3.server.hold_nth(Filter::any(), nth, moment);
        let mut running = run(&["--overwrite"]).start();
        assert!(hold.wait(Duration::from_mins(1)).is_some(), "request {nth} was never made");
        running.kill().unwrap();
        running.wait().unwrap();
        hold.abandon();
        let said = std::fs::read_to_string(place.join("zarr.json")).unwrap();
        let (is_named, is_there) =
            (said.contains("\"path\": \"s1\""), place.join("s1/zarr.json").exists());
        assert!(
            is_there || !is_named,
            "{moment:?} of request {nth}: a level is named that is not there"
        );
        without += u64::from(!is_named);
        let resumed = run(&["--resume"]).go();
        if resumed.code == 4 {
            // Nothing had begun: the level is one of another method.
            resumed.says(&["--overwrite"]);
            run(&["--overwrite"]).go().ok();
        } else {
            resumed.ok();
        }
        assert_eq!(objects(&place), expected, "{moment:?} of request {nth}");
        s3.assert_clean();
    }
    assert!(without > 1, "too few kills came between: {without}");
}
