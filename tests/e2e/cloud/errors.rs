//! Refusals of a store are shown, with advice.

use std::slice::from_ref;
use std::time::{Duration, Instant};

use rechunk_testkit::{HttpServer, S3Server, ServerOptions};

use super::{Environment, S3, run, small};
use crate::arrays::RawArray;
use crate::harness::tree;

/// The environment of a server, but for these.
fn but(s3: &S3, others: &[(&'static str, &str)]) -> Environment {
    let mut environment = s3.server.environment();
    environment.retain(|(name, _)| !others.iter().any(|(other, _)| other == name));
    let others = others.iter().filter(|(_, value)| !value.is_empty());
    environment.extend(others.map(|(name, value)| (*name, (*value).to_owned())));
    environment
}

#[test]
fn who_is_not_let_in_is_told() {
    let s3 = S3::with(&small());
    let (source, target) = (s3.server.url("source.zarr"), s3.server.url("t.zarr"));
    let local = s3.folder.at("local.zarr");
    small().write(&local);
    let wrong = but(&s3, &[("AWS_SECRET_ACCESS_KEY", "wrong")]);
    let started = Instant::now();
    for arguments in [
        vec!["info", &source],
        vec!["copy", &source, &target],
        vec!["copy", &local, &target],
        vec!["plan", &source, &target],
    ] {
        let done = run(&arguments, from_ref(&wrong)).go().fails();
        done.says(&["403", "credentials", "rechunk-test"]);
    }
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

/// The metadata service of a cloud machine is not waited for where there is none, nor where it
/// says nothing.
#[test]
fn without_credentials_it_ends_soon() {
    let s3 = S3::with(&small());
    let silent = HttpServer::start(&ServerOptions::default()).unwrap();
    silent.set_latency(Duration::from_hours(1));
    let keys = [("AWS_ACCESS_KEY_ID", ""), ("AWS_SECRET_ACCESS_KEY", "")];
    let silence = silent.endpoint();
    for service in [silence.as_str(), "http://127.0.0.1:9"] {
        let none = but(&s3, &[keys[0], keys[1], ("AWS_METADATA_ENDPOINT", service)]);
        let source = s3.server.url("source.zarr");
        let started = Instant::now();
        let done = run(&["info", &source], from_ref(&none)).go().fails();
        let took = started.elapsed();
        assert!(took < Duration::from_secs(10), "{took:?}: {}", done.stderr);
        done.says(&["no credentials", "skip_signature"]);
        let unsigned = ["info", &source, "--store-option", "skip_signature=true"];
        run(&unsigned, &[none]).go().fails().says(&["403"]);
    }
}

#[test]
fn a_bucket_or_an_array_that_is_not_there_is_named() {
    let s3 = S3::with(&small());
    let target = s3.server.url("t.zarr");
    for source in ["s3://no-such-bucket/source.zarr", "s3://rechunk-test/nothing.zarr"] {
        s3.run(&["info", source]).go().ends_with(3).says(&[source]);
        s3.run(&["copy", source, &target]).go().ends_with(3).says(&[source]);
    }
    let (source, elsewhere) = (s3.server.url("source.zarr"), "s3://no-such-bucket/t.zarr");
    s3.run(&["copy", &source, elsewhere]).go().fails().says(&["no-such-bucket"]);
    assert_eq!(s3.objects().len(), 7);
}

#[test]
fn options_that_no_store_has_are_refused() {
    let s3 = S3::with(&small());
    let source = s3.server.url("source.zarr");
    for option in ["no_such_option=1", "endpoint", "s3://rechunk-test,nonsense=1"] {
        s3.run(&["info", &source, "--store-option", option])
            .go()
            .ends_with(2)
            .says(&["--store-option"]);
    }
    assert_eq!(s3.server.requests().len(), 0);
}

#[test]
fn a_target_that_exists_is_left_alone_or_replaced() {
    let s3 = S3::with(&small());
    let old = RawArray::v2(&[6, 6], &[3, 3]);
    old.write(&s3.disk("t.zarr").display().to_string());
    let before = tree(&s3.disk(""));
    let options = ["--chunks", "24,8,16"];
    s3.copy("t.zarr", &options).go().ends_with(4).says(&["t.zarr", "--overwrite"]);
    assert_eq!(tree(&s3.disk("")), before);
    s3.copy("t.zarr", &[&options[..], &["--overwrite"]].concat()).go().ok();
    assert!(!s3.disk("t.zarr/.zarray").exists(), "a part of the old array is left");
    s3.assert_copied("t.zarr");
    // What is not an array is not replaced, and neither is a whole bucket.
    std::fs::create_dir_all(s3.disk("mine")).unwrap();
    std::fs::write(s3.disk("mine/diary.txt"), "dear").unwrap();
    s3.copy("mine", &[&options[..], &["--overwrite"]].concat()).go().ends_with(4);
    let bucket = format!("s3://{}", S3Server::BUCKET);
    let source = s3.server.url("source.zarr");
    s3.run(&["copy", &source, &bucket, "--overwrite"]).go().fails();
    assert!(s3.disk("mine/diary.txt").exists());
}

/// A group with documents that cannot be understood is still a group: nothing below it is removed.
#[test]
fn a_group_that_cannot_be_understood_is_not_replaced() {
    for (key, text) in [(".zgroup", "{}"), (".zgroup", ""), ("zarr.json", "{\"zarr_format\"")] {
        let s3 = S3::with(&small());
        RawArray::v2(&[6, 6], &[3, 3]).write(&s3.disk("group/x").display().to_string());
        std::fs::write(s3.disk("group").join(key), text).unwrap();
        let before = tree(&s3.disk(""));
        for format in ["zarr2", "zarr3"] {
            let options = ["--chunks", "24,8,16", "--overwrite", "--format", format];
            s3.copy("group", &options).go().ends_with(4).says(&["is a group"]);
            assert_eq!(tree(&s3.disk("")), before, "{key} {text}");
        }
    }
}

/// A source is never written, and not below itself.
#[test]
fn a_target_in_the_source_is_refused() {
    let s3 = S3::with(&small());
    let before = tree(&s3.disk(""));
    for target in ["source.zarr", "source.zarr/", "source.zarr/t.zarr"] {
        s3.copy(target, &["--overwrite", "--chunks", "24,8,16"]).go().fails();
        assert_eq!(tree(&s3.disk("")), before, "{target}");
    }
}
