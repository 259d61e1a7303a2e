//! The pages of `--html` as a browser shows them: on a phone and on a screen, light and dark.

use std::path::Path;

use crate::arrays::{RawArray, write_json};
use crate::browser::{Shown, chromium};
use crate::harness::{Folder, Run, fixture, ostia, rechunk};

const PHONE: (u32, u32) = (390, 844);
const SCREEN: (u32, u32) = (1280, 900);

/// The pages of a plan, of a run with names that are too long, and of a group.
fn pages(folder: &Folder) -> Vec<(&'static str, String)> {
    let at = |name: &str| folder.at(name);
    let (plan, run, group) = (at("plan.html"), at("run.html"), at("group.html"));
    let options = ["--source-profile", "s3", "--target-profile", "s3", "--max-mem", "4MiB"];
    let chunks = ["--chunks", "time=-1,latitude=6,longitude=36", "--html"];
    rechunk(&[&["plan", &ostia()], &chunks[..], &[&plan], &options].concat()).ok();
    let (source, target) = (at("a-name-without-any-place-to-break-it-in-two.zarr"), at("t.zarr"));
    let array = RawArray::v3(&[60, 64, 96], &[4, 64, 96]);
    array.write(&source);
    let (name, mut document) = array.metadata();
    document["dimension_names"] = serde_json::json!(["t".repeat(70), "<b>&", "x"]);
    write_json(&Path::new(&source).join(name), &document);
    let copy = ["copy", &source, &target, "--chunks", "60,8,8", "--strategy", "push-pull"];
    rechunk(&[&copy[..], &["--max-mem", "5MiB", "--html", &run]].concat()).ok();
    let tree = fixture("ostia_monthly.zarr");
    rechunk(&[&["copy", &tree, &at("g.zarr")], &chunks[..], &[&group]].concat()).ok();
    let read = |path: &str| std::fs::read_to_string(path).unwrap();
    vec![("plan", read(&plan)), ("run", read(&run)), ("group", read(&group))]
}

#[test]
fn pages_fit_phones_and_screens_and_no_words_lie_on_each_other() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new();
    for (name, page) in pages(&folder) {
        // What is in closed details is shown too.
        let opened = page.replace("<details ", "<details open=\"open\" ");
        for (width, height) in [PHONE, SCREEN] {
            let shown = Shown { browser: &browser, page: &opened, width, height, is_dark: false };
            let seen = shown.measured();
            println!("{name} at {width}: {seen}");
            assert_eq!(seen["client_width"], width);
            assert_eq!(seen["scroll_width"], width, "{name} is wider than {width} pixels");
            assert!(seen["height"].as_u64().unwrap() > 2 * u64::from(height));
            assert!(seen["drawings"].as_u64().unwrap() >= 4, "{seen}");
            assert_eq!(seen["overlaps"], serde_json::json!([]), "{name} at {width}");
            assert_eq!(seen["button"], u64::from(name == "group"), "the script of {name}");
        }
    }
}

#[test]
fn the_page_of_parts_fits_phones_and_screens() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new();
    let [source, target, plan, html] =
        ["s.zarr", "t.zarr", "plan.json", "p.html"].map(|n| folder.at(n));
    RawArray::v3(&[60, 64, 96], &[4, 64, 96]).write(&source);
    let options = ["--strategy", "push-pull", "--max-mem", "5MiB", "--out", &plan];
    rechunk(&[&["plan", &source, &target, "--chunks", "60,8,8"], &options[..]].concat()).ok();
    rechunk(&["run", &plan, "--stage", "0", "--part", "0/2"]).ok();
    let part = ["run", &plan, "--stage", "0", "--part", "1/2", "--bwlimit", "20k"];
    let mut killed = Run::rechunk(&part).start();
    loop {
        let status = rechunk(&["status", &target, "--json"]).ok().json();
        // It is there before it has said who it is.
        if status["workers"][0]["pid"].is_u64() {
            break;
        }
        assert!(killed.try_wait().unwrap().is_none(), "it has ended before it was seen");
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    rechunk(&["status", &target, "--html", &html]).ok();
    let page = std::fs::read_to_string(&html).unwrap();
    assert!(page.contains("stopped: process"), "{page}");
    for (width, height) in [PHONE, SCREEN] {
        let shown = Shown { browser: &browser, page: &page, width, height, is_dark: false };
        let seen = shown.measured();
        println!("parts at {width}: {seen}");
        assert_eq!(seen["scroll_width"], width);
        assert_eq!(seen["overlaps"], serde_json::json!([]), "at {width}");
    }
}

#[test]
fn pages_follow_the_readers_colours() {
    let Some(browser) = chromium() else { return };
    let folder = Folder::new();
    let pages = pages(&folder);
    let (_, page) = &pages[1];
    for (width, height) in [PHONE, SCREEN] {
        for is_dark in [false, true] {
            let picture = Shown { browser: &browser, page, width, height, is_dark }.picture();
            assert_eq!((picture.width, picture.height), (width as usize, height as usize));
            let lightness = picture.lightness();
            println!("{width} × {height}, dark {is_dark}: lightness {lightness:.0}");
            let expected = if is_dark { 15.0..80.0 } else { 190.0..252.0 };
            assert!(expected.contains(&lightness), "{lightness}");
            let bands = picture.bands_in_use(6);
            assert_eq!(bands, 6, "of 6 parts of the page {bands} have something on them");
        }
    }
}
