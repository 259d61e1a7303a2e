//! Parts as `rechunk status` shows them: once, again and again, and as a page.

use std::io::{BufRead, BufReader};

use crate::harness::{Run, rechunk, tree};
use crate::parts::{PLANS, Plan};
use crate::report::number;

#[test]
fn status_is_watched_until_all_is_done() {
    let plan = Plan::new(PLANS[0].0);
    plan.part(0, "0/2").go().ok();
    let target = plan.folder.at("t.zarr");
    let mut watch = Run::rechunk(&["status", &target, "--watch=100ms"]).start();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut wait_for = |text: &str| {
        let is_it = |line: String| {
            assert!(!line.contains('\x1b'), "a pipe is no screen: {line:?}");
            line.contains(text)
        };
        assert!(lines.any(is_it), "no line has {text:?}");
    };
    wait_for("is open to parts");
    wait_for("parts   1 done");
    plan.part(0, "1/2").go().ok();
    wait_for("parts   2 done");
    plan.part(1, "0/1").go().ok();
    wait_for("parts   3 done");
    plan.finish();
    wait_for("no run has left anything");
    assert!(watch.wait().unwrap().success());
}

#[test]
fn status_shows_parts_and_clean_gives_them_up() {
    let plan = Plan::new(PLANS[0].0);
    plan.part(0, "0/2").go().ok();
    let target = plan.folder.at("t.zarr");
    let status = rechunk(&["status", &target, "--json"]).ok().json();
    assert_eq!((status["state"].as_str(), number(&status, "parts")), (Some("open"), 1));
    assert_eq!(status["workers"].as_array().unwrap().len(), 0);
    assert_eq!(number(&status, "marked"), status["stages"][0]["done"].as_u64().unwrap());
    assert!(number(&status, "marked") > 0);
    assert!(rechunk(&["status", &target]).ok().stdout.contains("open to parts"));
    let html = plan.folder.at("status.html");
    rechunk(&["status", &target, "--html", &html]).ok();
    let page = std::fs::read_to_string(&html).unwrap();
    let done = number(&status, "marked");
    for text in ["open to parts", "parts done", "push", &format!("<td class=\"n\">{done}</td>")] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("http-equiv=\"refresh\""), "nobody watches");
    rechunk(&["status", &target, "--html", &format!("{target}/x.html")]).ends_with(2);
    // A run of all of it is another thing.
    plan.run(&[]).go().ends_with(4).says(&["in parts", "--finish"]);
    plan.run(&["--resume"]).go().ends_with(4);
    plan.run(&["--overwrite"]).go().ends_with(4);
    rechunk(&["clean", &target]).ok();
    assert_eq!(tree(plan.folder.path()).keys().filter(|key| key.starts_with("t.zarr")).count(), 0);
    plan.run(&[]).go().ok();
    plan.assert_copied();
}
