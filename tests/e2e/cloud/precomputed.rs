//! Precomputed volumes in a store: objects that are compressed under the names of chunks.

use std::fs;

use rechunk_testkit::Operation;
use serde_json::Value;

use super::S3;
use crate::arrays::RawArray;
use crate::report::{assert_done, number};

/// Puts a volume with compressed chunks into the bucket, as cloud-volume leaves it: gzip under the
/// name of the chunk. Every second chunk is stored as it is. Returns the bytes of all.
fn put_volume(s3: &S3) -> u64 {
    let source = s3.disk("source.zarr").display().to_string();
    let [packed, bare] = ["packed", "bare"].map(|name| s3.folder.at(name));
    for (target, codec) in [(&packed, "gzip"), (&bare, "raw")] {
        let copy = ["copy", &source, target, "--format", "precomputed", "--chunks", "3,5,4"];
        s3.run(&[&copy[..], &["--codec", codec]].concat()).go().ok();
    }
    let place = s3.disk("volume/1_1_1");
    fs::create_dir_all(&place).unwrap();
    fs::copy(s3.folder.path().join("bare/info"), s3.disk("volume/info")).unwrap();
    let mut stored = 0;
    let chunks = fs::read_dir(s3.folder.path().join("bare/1_1_1")).unwrap();
    let mut names: Vec<String> =
        chunks.map(|chunk| chunk.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    for (number, name) in names.iter().enumerate() {
        let from = if number % 2 == 0 {
            s3.folder.path().join(format!("packed/1_1_1/{name}.gz"))
        } else {
            s3.folder.path().join("bare/1_1_1").join(name)
        };
        stored += fs::copy(from, place.join(name)).unwrap();
    }
    stored
}

#[test]
fn compressed_objects_are_read_and_counted_as_stored() {
    let s3 = S3::with(&RawArray::v3(&[7, 11, 9], &[7, 11, 9]).of_uint16());
    let stored = put_volume(&s3);
    let volume = s3.server.url("volume");
    s3.run(&["verify", &volume, &s3.server.url("source.zarr")]).go().ok();
    s3.server.clear_requests();
    let target = s3.server.url("t.zarr");
    let report = s3.run(&["copy", &volume, &target, "--json"]).go().ok().json();
    assert_done(&report);
    assert_eq!(number(&report, "traffic.source.read_bytes"), stored);
    assert_eq!(number(&report, "traffic.source.get_requests"), 3 * 3 * 3);
    let sent = s3.server.requests().into_iter().filter(|request| {
        request.operation == Operation::Get && request.key.starts_with("volume/1_1_1/")
    });
    assert_eq!(sent.map(|request| request.response_body_bytes).sum::<u64>(), stored);
    s3.run(&["verify", &target, &s3.server.url("source.zarr")]).go().ok();
    // Chunks of which some are compressed are no chunks of a volume that says nothing of it.
    let again = s3.server.url("again");
    s3.run(&["copy", &volume, &again, "--format", "precomputed"]).go().ok();
    let bare = fs::read(s3.folder.path().join("bare/1_1_1/0-4_0-5_0-3")).unwrap();
    assert_eq!(fs::read(s3.disk("again/1_1_1/0-4_0-5_0-3")).unwrap(), bare);
}

#[test]
fn a_volume_is_written_to_a_store() {
    let s3 = S3::with(&RawArray::v3(&[7, 11, 9], &[7, 11, 9]).of_uint16());
    let copy = |codec| {
        let options = ["--format", "precomputed", "--chunks", "3,5,4", "--codec", codec];
        s3.copy("volume", &options).go()
    };
    copy("gzip").ends_with(2).says(&["only written to disks"]);
    let report: Value = copy("png").ok().json();
    assert_done(&report);
    assert_eq!(number(&report, "traffic.target.put_requests"), 3 * 3 * 3);
    s3.run(&["verify", &s3.server.url("volume"), &s3.server.url("source.zarr")]).go().ok();
    s3.assert_clean();
}
