//! Empty objects that stand for folders, as consoles and file managers make them: nothing, wherever
//! they are.

use std::fs;
use std::path::PathBuf;

use rechunk_testkit::{FOLDER_MARKER, GcsServer, S3Server, ServerOptions};

use super::{assert_same, run, small};
use crate::arrays::{RawArray, write_json};
use crate::harness::Run;
use crate::report::number;

/// A server with one bucket.
enum Bucket {
    S3(S3Server),
    Gcs(GcsServer),
}

impl Bucket {
    fn all() -> [Self; 2] {
        let options = ServerOptions::default();
        [
            Self::S3(S3Server::start(&options).unwrap()),
            Self::Gcs(GcsServer::start(&options).unwrap()),
        ]
    }

    fn url(&self, key: &str) -> String {
        match self {
            Self::S3(server) => server.url(key),
            Self::Gcs(server) => server.url(key),
        }
    }

    fn disk(&self, key: &str) -> PathBuf {
        match self {
            Self::S3(server) => server.root().join(S3Server::BUCKET).join(key),
            Self::Gcs(server) => server.root().join(GcsServer::BUCKET).join(key),
        }
    }

    /// An object `FOLDER/`, or one of Hadoop.
    fn mark(&self, folder: &str) {
        if folder.ends_with("$folder$") {
            fs::create_dir_all(self.disk(folder).parent().unwrap()).unwrap();
            fs::write(self.disk(folder), "").unwrap();
            return;
        }
        fs::create_dir_all(self.disk(folder)).unwrap();
        fs::write(self.disk(folder).join(FOLDER_MARKER), "").unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Run {
        let environment = match self {
            Self::S3(server) => server.environment(),
            Self::Gcs(server) => server.environment(),
        };
        run(arguments, &[environment])
    }

    /// Everything below a key is gone from the disk.
    fn forget(&self, key: &str) {
        fs::remove_dir_all(self.disk(key)).unwrap();
    }
}

const MARKED: [&[&str]; 6] = [
    &["t.zarr"],
    &["t.zarr", "t.zarr/c", "t.zarr/c/0"],
    &["t.zarr/sub"],
    &["t.zarr/sub/deeper"],
    &["t.zarr/sub_$folder$"],
    &["t.zarr", "t.zarr/a b", "t.zarr/c_$folder$"],
];

#[test]
fn a_marked_folder_is_no_target_in_the_way() {
    for bucket in Bucket::all() {
        small().write(&bucket.disk("source.zarr").display().to_string());
        for marked in MARKED {
            for folder in marked {
                bucket.mark(folder);
            }
            let copy = ["copy", &bucket.url("source.zarr"), &bucket.url("t.zarr")];
            let options = ["--chunks", "24,8,16", "--verify"];
            bucket.run(&[&copy[..], &options].concat()).go().ok();
            assert_same(&bucket.disk("source.zarr"), &bucket.disk("t.zarr"));
            // An array is in the way, whatever is marked.
            bucket.run(&copy).go().ends_with(4);
            bucket.run(&[&copy[..], &["--overwrite"]].concat()).go().ok();
            bucket.forget("t.zarr");
        }
    }
}

#[test]
fn a_group_with_marked_folders_is_what_is_in_it() {
    for bucket in Bucket::all() {
        let array = small();
        write_json(
            &bucket.disk("g.zarr/zarr.json"),
            &serde_json::json!({"zarr_format": 3, "node_type": "group", "attributes": {}}),
        );
        for path in ["g.zarr/a", "g.zarr/deep/b"] {
            array.write(&bucket.disk(path).display().to_string());
        }
        for folder in ["g.zarr", "g.zarr/a", "g.zarr/a/c", "g.zarr/deep", "g.zarr/empty"] {
            bucket.mark(folder);
        }
        bucket.mark("t.zarr");
        bucket.mark("t.zarr/a");
        let source = bucket.url("g.zarr");
        let info = bucket.run(&["info", &source, "--json"]).go().ok().json();
        let members: Vec<&str> = info["members"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["path"].as_str().unwrap())
            .collect();
        assert_eq!(members, ["a", "deep/b"]);
        let of_array = bucket.run(&["info", &bucket.url("g.zarr/a"), "--json"]).go().ok().json();
        assert_eq!(of_array["foreign"]["count"], 0, "{of_array}");
        let report =
            bucket.run(&["copy", &source, &bucket.url("t.zarr"), "--json"]).go().ok().json();
        let copied: Vec<&str> = report["arrays"]
            .as_array()
            .unwrap()
            .iter()
            .map(|a| a["path"].as_str().unwrap())
            .collect();
        assert_eq!(copied, ["a", "deep/b"]);
        for path in ["a", "deep/b"] {
            let [from, to] = ["g.zarr", "t.zarr"].map(|root| bucket.disk(root).join(path));
            assert_same(&from, &to);
        }
        // In N5 a directory is a group; a marker alone is none.
        bucket.run(&["copy", &source, &bucket.url("c.n5")]).go().ok();
        bucket.mark("c.n5/empty");
        bucket.mark("c.n5/also/empty");
        let n5 = ["copy", &bucket.url("c.n5"), &bucket.url("u.zarr"), "--json"];
        let report = bucket.run(&n5).go().ok().json();
        assert_eq!(report["groups"], serde_json::json!(["deep"]));
        assert!(!bucket.disk("u.zarr/empty").exists());
    }
}

/// A marker is no chunk, no array and nothing: what is only marked is not there.
#[test]
fn what_is_only_marked_is_not_there() {
    for bucket in Bucket::all() {
        for marked in MARKED {
            for folder in marked {
                bucket.mark(folder);
            }
            let done = bucket.run(&["info", &bucket.url("t.zarr")]).go().ends_with(3);
            done.says(&["there is nothing at this location"]);
            bucket.forget("t.zarr");
        }
        // Chunks that are missing are missing, whatever their folders are.
        let array = RawArray::v3(&[24, 32, 48], &[4, 32, 48]);
        array.write(&bucket.disk("s.zarr").display().to_string());
        fs::remove_file(bucket.disk("s.zarr/c/2/0/0")).unwrap();
        bucket.mark("s.zarr/c/2/0");
        let copy = ["copy", &bucket.url("s.zarr"), &bucket.url("t.zarr"), "--chunks", "24,8,16"];
        let report = bucket.run(&[&copy[..], &["--json"]].concat()).go().ok().json();
        assert_eq!(number(&report, "missing.chunks"), 1);
        assert_same(&bucket.disk("s.zarr"), &bucket.disk("t.zarr"));
    }
}
