//! Output for scripts: one JSON object on stdout, whatever becomes of a command.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::arrays::RawArray;
use crate::harness::{Folder, Run, ostia, rechunk};
use crate::report::number;

#[test]
fn an_error_is_an_object_too() {
    let folder = Folder::new();
    let (source, target) = (ostia(), folder.at("t.zarr"));
    let copy = ["copy", &source, &target, "--chunks", "-1,6,36", "--json"];
    rechunk(&copy).ok();
    for (more, code, message, hint) in [
        (&[][..], 4, "exists and is not empty", "--overwrite"),
        (&["--overwrite", "--max-mem", "1KiB"], 5, "no plan within", "--max-mem"),
    ] {
        let error = rechunk(&[&copy[..], more].concat()).ends_with(code).json()["error"].clone();
        assert_eq!(error["exit_code"], json!(code));
        assert!(error["message"].as_str().unwrap().contains(message), "{error}");
        assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
        assert!(error["causes"].is_array());
    }
    let nothing = folder.at("nothing.zarr");
    for command in ["info", "status"] {
        let done = rechunk(&[command, &nothing, "--json"]);
        let object: Value = done.json();
        assert_eq!(object.get("error").is_some(), done.code != 0, "{object}");
    }
    // Without it nothing but data is there.
    assert!(rechunk(&["info", &nothing]).ends_with(3).stdout.is_empty());
}

#[test]
fn arrays_that_cannot_be_equal_are_not() {
    let folder = Folder::new();
    let (a, b) = (folder.at("a.zarr"), folder.at("b.zarr"));
    RawArray::v3(&[4, 4], &[2, 2]).write(&a);
    RawArray::v3(&[4, 5], &[2, 2]).write(&b);
    let object = rechunk(&["verify", &a, &b, "--json"]).ends_with(6).json();
    assert_eq!(object["equal"], json!(false));
    assert!(object["difference"].as_str().unwrap().contains("their shapes are"), "{object}");
}

/// The report beside the journal: of a run that was interrupted, and of one whose state is to stay.
#[test]
fn the_report_is_kept_beside_the_journal() {
    let folder = Folder::new();
    let (source, target) = (folder.at("s.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[24, 16, 16], &[1, 16, 16]).of_uint16().write(&source);
    let report = format!("{target}.rechunk/report.json");
    let copy = ["copy", &source, &target, "--chunks", "12,4,4", "--strategy", "push-pull"];
    let copy = [&copy[..], &["--max-mem", "4MiB", "--threads", "1", "-q"]].concat();
    let mut slow = Run::rechunk(&[&copy[..], &["--bwlimit", "4kB"]].concat()).start();
    while !Path::new(&format!("{target}.rechunk/journal")).exists() {
        assert!(slow.try_wait().unwrap().is_none(), "it has ended");
        sleep(Duration::from_millis(5));
    }
    sleep(Duration::from_millis(300));
    let id = slow.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(slow.wait().unwrap().code(), Some(130));
    let kept = || serde_json::from_slice::<Value>(&fs::read(&report).unwrap()).unwrap();
    let interrupted = kept();
    let (total, done) = (number(&interrupted, "tasks.total"), number(&interrupted, "tasks.done"));
    assert!(done < total, "{interrupted}");
    assert_eq!(number(&interrupted, "tasks.resumed"), 0);
    let resumed =
        rechunk(&[&copy[..], &["--resume", "--keep-temp", "--json"]].concat()).ok().json();
    let kept = kept();
    assert_eq!(kept["tasks"], resumed["tasks"]);
    assert_eq!(kept["traffic"], resumed["traffic"]);
    assert_eq!(kept["plan"], resumed["plan"]);
}

/// Files that are asked for and cannot be had are refused, not left out.
#[test]
fn a_plan_that_is_not_written_is_refused() {
    let folder = Folder::new();
    let (source, out) = (ostia(), folder.at("out"));
    let shape = ["plan", "--shape", "10,10", "--dtype", "int16", "--source-chunks", "2,2"];
    let shape = [&shape[..], &["--chunks", "5,5"]].concat();
    let array = ["plan", &source, "t.zarr", "--chunks", "-1,6,36", "--baseline", "ppc"];
    for (command, option) in
        [(&shape[..], "--out"), (&array[..], "--out"), (&array, "--svg"), (&array, "--html")]
    {
        rechunk(&[command, &[option, &out]].concat()).ends_with(2).says(&[option]);
        assert!(!Path::new(&out).exists());
    }
}
