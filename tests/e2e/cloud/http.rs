//! Web servers: they are read by names that are known, and not written.

use std::time::{Duration, Instant};

use rechunk_testkit::{HttpServer, ServerOptions};

use super::{assert_same, run, small};
use crate::arrays::RawArray;
use crate::harness::{Done, Folder, fixture, rechunk};

struct Web {
    server: HttpServer,
    folder: Folder,
}

impl Web {
    fn new() -> Self {
        let server = HttpServer::start(&ServerOptions::default()).unwrap();
        Self { server, folder: Folder::new() }
    }

    fn disk(&self, key: &str) -> String {
        self.server.root().join(key).display().to_string()
    }
}

fn go(arguments: &[&str]) -> Done {
    run(arguments, &[]).go()
}

#[test]
fn a_web_server_is_not_written() {
    let web = Web::new();
    small().write(&web.disk("source.zarr"));
    let source = web.server.url("source.zarr");
    let target = web.server.url("t.zarr");
    go(&["copy", &source, &target]).ends_with(2).says(&["HTTP server", "t.zarr"]);
    let local = web.folder.at("t.zarr");
    let temp = ["--temp", &web.server.url("temp"), "--strategy", "push-pull"];
    let copy = ["copy", &source, &local, "--chunks", "24,8,16"];
    go(&[&copy[..], &temp].concat()).ends_with(2).says(&["HTTP server"]);
    assert!(!std::path::Path::new(&local).exists());
    assert!(
        web.server.requests().iter().all(|request| ["GET", "HEAD"].contains(&&*request.method))
    );
}

#[test]
fn arrays_and_groups_are_read_by_names_that_are_known() {
    let web = Web::new();
    small().write(&web.disk("source.zarr"));
    let source = web.server.url("source.zarr");
    let info = go(&["info", &source]).ok();
    assert!(info.stdout.contains("24"), "{}", info.stdout);
    let local = web.folder.at("t.zarr");
    go(&["copy", &source, &local, "--chunks", "24,8,16", "--verify"]).ok();
    assert_same(web.disk("source.zarr").as_ref(), local.as_ref());
    go(&["verify", &source, &local]).ok();
}

/// Members of a group are named by its consolidated metadata, or nowhere.
#[test]
fn a_group_is_read_by_its_consolidated_metadata() {
    let web = Web::new();
    let group = web.disk("g.zarr");
    rechunk(&["copy", &fixture("ostia_monthly.zarr"), &group]).ok();
    let (url, copied) = (web.server.url("g.zarr"), web.folder.at("g.zarr"));
    assert!(go(&["info", &url]).ok().stdout.contains("surface_temperature"));
    go(&["copy", &url, &copied]).ok();
    let same = |path: &str| {
        assert_same(format!("{group}/{path}").as_ref(), format!("{copied}/{path}").as_ref())
    };
    same("surface_temperature");
    same("time_bnds");
    let bare = "{\"zarr_format\": 3, \"node_type\": \"group\"}";
    std::fs::write(web.disk("g.zarr/zarr.json"), bare).unwrap();
    go(&["info", &url]).ok();
    let other = web.folder.at("other.zarr");
    go(&["copy", &url, &other])
        .ends_with(3)
        .says(&["no consolidated metadata", "name one of its arrays"]);
}

#[test]
fn where_there_is_nothing_it_is_said() {
    let web = Web::new();
    std::fs::create_dir_all(web.disk("empty")).unwrap();
    for path in ["nothing.zarr", "empty", ""] {
        let location = web.server.url(path);
        go(&["info", &location]).ends_with(3).says(&["none of zarr.json"]);
        go(&["copy", &location, &web.folder.at("t.zarr")]).ends_with(3);
    }
    web.server.stop();
    let location = web.server.url("source.zarr");
    go(&["info", &location, "--timeout", "1"]).fails().says(&["source.zarr"]);
}

/// As python's `http.server`: whatever range is asked for, it gives the whole file.
#[test]
fn a_server_that_ignores_ranges_is_found_out() {
    let web = Web::new();
    let (raw, source) = (web.folder.at("raw.zarr"), web.disk("source.zarr"));
    RawArray::v3(&[48, 128, 128], &[4, 128, 128]).write(&raw);
    // One shard of 3 MiB: it is not read whole within 2.
    let shards = ["--chunks", "4,32,32", "--shards", "48,128,128"];
    rechunk(&[&["copy", &raw, &source], &shards[..]].concat()).ok();
    let (url, target) = (web.server.url("source.zarr"), web.folder.at("t.zarr"));
    let copy = ["copy", &url, &target, "--shards", "none", "--max-mem", "2MiB"];
    web.server.set_ignore_ranges(true);
    let started = Instant::now();
    let done = go(&[&copy[..], &["--max-retries", "2"]].concat()).fails();
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    done.says(&["Range request not supported", "whole files", "source.zarr"]);
    web.server.set_ignore_ranges(false);
    go(&[&copy[..], &["--resume"]].concat()).ok();
    assert_same(raw.as_ref(), target.as_ref());
    // Whole chunks need none.
    web.server.set_ignore_ranges(true);
    small().write(&web.disk("plain.zarr"));
    let (url, plain) = (web.server.url("plain.zarr"), web.folder.at("plain.zarr"));
    go(&["copy", &url, &plain, "--chunks", "24,8,16"]).ok();
    assert_same(web.disk("plain.zarr").as_ref(), plain.as_ref());
}

/// References to whole files there: tasks take parts of what is sent whole.
#[test]
fn references_to_whole_files_need_no_ranges() {
    let web = Web::new();
    small().write(&web.disk("plain.zarr"));
    let mut refs = serde_json::Map::new();
    let document = std::fs::read_to_string(web.disk("plain.zarr/zarr.json")).unwrap();
    refs.insert("zarr.json".to_owned(), document.into());
    for chunk in 0..6 {
        let key = format!("c/{chunk}/0/0");
        let url = web.server.url(&format!("plain.zarr/{key}"));
        refs.insert(key, serde_json::json!([url]));
    }
    let references = web.folder.at("refs.json");
    let document = serde_json::json!({ "version": 1, "refs": refs });
    std::fs::write(&references, document.to_string()).unwrap();
    for (ignores, name) in [(true, "a.zarr"), (false, "b.zarr")] {
        web.server.set_ignore_ranges(ignores);
        let target = web.folder.at(name);
        let pull = ["--chunks", "24,8,16", "--strategy", "pull", "--max-mem", "2MiB"];
        go(&[&["copy", &references, &target], &pull[..]].concat()).ok();
        assert_same(web.disk("plain.zarr").as_ref(), target.as_ref());
    }
}
