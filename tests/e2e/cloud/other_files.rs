//! Files beside the arrays of a group in buckets: there, within and back, with requests as planned,
//! large ones in parts.

use std::fs;

use rechunk_testkit::Operation;

use super::S3;
use crate::harness::rechunk;
use crate::other_files::{assert_counted, assert_has_files, group, prints};
use crate::report::number;

#[test]
fn other_files_go_into_buckets_and_back() {
    let s3 = S3::new();
    let source = s3.folder.at("source");
    group(&source, "zarr3");
    let [there, again] = ["there.zarr", "again.zarr"].map(|name| s3.server.url(name));
    for (from, to) in [(&source, &there), (&there, &again)] {
        let copy = ["copy", from, to, "--json", "--verify", "--threads", "2"];
        let report = s3.run(&copy).go().ok().json();
        assert_counted(&report);
        assert_eq!(number(&report, "others.files"), 9);
        // The large file takes two parts.
        assert_eq!(number(&report, "estimate.target.part_requests"), 3);
    }
    s3.assert_clean();
    let puts = s3.server.requests().into_iter().filter(|request| {
        request.operation == Operation::Put && request.key.ends_with("METADATA.ome.xml")
    });
    assert_eq!(puts.count(), 2);
    let back = s3.folder.at("back.zarr");
    s3.run(&["copy", &again, &back, "-q"]).go().ok();
    assert_has_files(&back, |_| true);
    prints(&rechunk(&["verify", &source, &back]).ok(), &["2 arrays and 9 other files"]);
    let info = s3.run(&["info", &there, "--json"]).go().ok().json();
    assert_eq!(number(&info, "others.files"), 9);
    s3.run(&["verify", &source, &again]).go().ok();
    let lost = s3.disk("again.zarr/OME/METADATA.ome.xml");
    fs::remove_file(lost).unwrap();
    let verified = s3.run(&["verify", &source, &again]).go().ends_with(6);
    prints(&verified, &["METADATA.ome.xml"]);
}
