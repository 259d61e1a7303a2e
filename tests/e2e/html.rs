//! Page of a plan and of its run, by `--html`. It says what `--json` says, loads nothing from
//! elsewhere and takes names for what they are.

use std::path::Path;

use rechunk_testkit::{Fault, Faults};
use serde_json::Value;

use crate::arrays::RawArray;
use crate::cloud::S3;
use crate::harness::{Folder, fixture, ostia, rechunk};
use crate::oracle::{self, World};
use crate::report::{number, text};

const BY_PIXEL: &str = "time=-1,latitude=6,longitude=36";

/// A page as two parsers see it; the file alone where there is no Python.
struct Page {
    source: String,
    seen: Option<Value>,
}

impl Page {
    #[track_caller]
    fn read(path: &str) -> Self {
        let source = std::fs::read_to_string(path).unwrap();
        let seen =
            oracle::available().then(|| oracle::ask(World::Z3, "tests/oracle/page.py", &[path]));
        let page = Self { source, seen };
        page.stands_alone();
        page
    }

    /// It names no other file and no other place, and runs nothing but its one script.
    #[track_caller]
    fn stands_alone(&self) {
        for mark in ["http://", "https://", "src=", "url(", "@import", "<link", "<base", "<iframe"]
        {
            assert!(!self.source.contains(mark), "{mark}");
        }
        assert_eq!(self.source.matches("<script").count(), 1);
        assert!(self.source.contains("name=\"viewport\""));
        assert!(self.source.contains("prefers-color-scheme:dark"));
        for attribute in self.list("attributes") {
            let [tag, name, value] = [0, 1, 2].map(|at| attribute[at].as_str().unwrap());
            assert!(!name.starts_with("on"), "{tag} {name}");
            if name == "href" {
                assert!(value.starts_with('#'), "{tag} {value}");
            }
        }
        // Heads fall one level at a time, from the one h1.
        let mut level = 0;
        for head in self.list("heads") {
            let next = head[0].as_str().unwrap()[1..].parse::<u32>().unwrap();
            assert!(next <= level + 1 && (next == 1) == (level == 0), "{head} after h{level}");
            level = next;
        }
    }

    fn list(&self, name: &str) -> Vec<Value> {
        self.seen.as_ref().map_or_else(Vec::new, |seen| seen[name].as_array().unwrap().clone())
    }

    /// It has each of these texts, in full between two tags.
    #[track_caller]
    fn says(&self, texts: &[&str]) -> &Self {
        for text in texts {
            assert!(self.source.contains(&format!(">{text}<")), "`{text}` is not on the page");
        }
        self
    }

    /// The rows of a table below its head.
    fn rows(&self, table: &str) -> Option<Vec<Vec<String>>> {
        let rows = self.seen.as_ref()?["tables"][table].as_array()?;
        let cells = |row: &Value| -> Vec<String> {
            row.as_array().unwrap().iter().map(|cell| cell.as_str().unwrap().to_owned()).collect()
        };
        Some(rows.iter().skip(1).map(cells).collect())
    }

    /// The row of a table that begins with `name` has these cells next.
    #[track_caller]
    fn has_row(&self, table: &str, name: &str, cells: &[&str]) {
        if self.seen.is_none() {
            return;
        }
        let rows = self.rows(table).unwrap_or_else(|| panic!("there is no table `{table}`"));
        let row = rows.iter().find(|row| row[0] == name);
        let row = row.unwrap_or_else(|| panic!("no row `{name}` in {rows:#?}"));
        assert_eq!(&row[1..=cells.len()], cells, "{row:?}");
    }
}

/// `1,234`.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let parts: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|d| str::from_utf8(d).unwrap()).collect();
    parts.join(",")
}

#[test]
fn the_page_of_a_plan_says_what_json_says() {
    let folder = Folder::new();
    let path = folder.at("plan.html");
    let plan =
        ["plan", &ostia(), "--chunks", BY_PIXEL, "--max-mem", "4MiB", "--html", &path, "--json"];
    let report =
        rechunk(&[&plan[..], &["--source-profile", "s3", "--target-profile", "s3"]].concat())
            .ok()
            .json();
    let page = Page::read(&path);
    page.says(&["planned", text(&report, "plan.kind"), "What is copied", "Plans considered"]);
    page.says(&[&grouped(number(&report, "estimate.source.get_requests"))]);
    for stage in report["plan"]["stages"].as_array().unwrap() {
        page.has_row("Stages of the plan", stage["name"].as_str().unwrap(), &[]);
        page.says(&[&grouped(number(stage, "tasks"))]);
    }
    let candidates = report["candidates"].as_array().unwrap();
    if let Some(rows) = page.rows("Plans considered") {
        assert_eq!(rows.len(), candidates.len());
        for (row, candidate) in rows.iter().zip(candidates) {
            assert_eq!(row[0], text(candidate, "kind"));
            match candidate["outcome"]["outcome"].as_str().unwrap() {
                "chosen" => assert_eq!(row[3], "chosen"),
                "dearer" => assert!(row[3].ends_with('×') && row[4].ends_with('$'), "{row:?}"),
                "does-not-fit" => assert!(row[1].starts_with("does not fit: it needs"), "{row:?}"),
                _ => assert!(row[1].starts_with("does not apply: "), "{row:?}"),
            }
        }
    }
    // The row of the given budget is the plan itself.
    if let Some(rows) = page.rows("Time and requests with other budgets") {
        let given = rows.iter().find(|row| row[1] == "given").unwrap();
        assert_eq!((&*given[0], &*given[3]), ("4.00 MiB", "1.00 ×"));
        assert_eq!(given[5], text(&report, "plan.kind"));
        let names: Vec<&str> = rows.iter().map(|row| row[1].as_str()).collect();
        assert_eq!(names, ["the least", "½", "given", "2 ×", "4 ×", "8 ×"]);
    }
}

#[test]
fn the_page_of_a_run_holds_what_was_counted_against_the_plan() {
    let folder = Folder::new();
    let (source, target, path) = (folder.at("s.zarr"), folder.at("t.zarr"), folder.at("run.html"));
    RawArray::v3(&[60, 64, 96], &[4, 64, 96]).write(&source);
    let copy = ["copy", &source, &target, "--chunks", "60,8,8", "--strategy", "push-pull"];
    let options = ["--max-mem", "5MiB", "--html", &path, "--json"];
    let report = rechunk(&[&copy[..], &options].concat()).ok().json();
    let page = Page::read(&path);
    page.says(&["done", "The run over time", "Measured against predicted"]);
    for (role, name, what) in [
        ("source", "get_requests", "source: GET requests"),
        ("intermediate", "put_requests", "intermediate: PUT requests"),
        ("intermediate", "get_requests", "intermediate: GET requests"),
        ("target", "put_requests", "target: PUT requests"),
    ] {
        let predicted = grouped(number(&report, &format!("estimate.{role}.{name}")));
        let counted = grouped(number(&report, &format!("traffic.{role}.{name}")));
        let cells = [predicted.as_str(), &counted, "as planned"];
        page.has_row("Measured against predicted", what, &cells);
    }
    let tasks = number(&report, "tasks.done");
    assert_eq!(page.source.matches("<rect class=\"t").count() as u64, tasks);
    let stages = report["plan"]["stages"].as_array().unwrap();
    if let Some(rows) = page.rows("Stages as they ran") {
        assert_eq!(rows.len(), stages.len());
        for (row, stage) in rows.iter().zip(stages) {
            assert_eq!(
                (&*row[0], &row[3]),
                (text(stage, "name"), &grouped(number(stage, "tasks")))
            );
        }
    }
    assert!(page.rows("Attempts and retries").is_none(), "there is no wire");
}

#[test]
fn a_dry_run_and_shapes_alone_have_a_page_and_touch_nothing() {
    let folder = Folder::new();
    let (target, path) = (folder.at("t.zarr"), folder.at("plan.html"));
    rechunk(&["copy", &ostia(), &target, "--chunks", BY_PIXEL, "--dry-run", "--html", &path]).ok();
    Page::read(&path).says(&["planned"]);
    assert!(!Path::new(&target).exists());
    let shapes =
        ["plan", "--shape", "6443,17999,36000", "--dtype", "int16", "--chunks", "6443,100,100"];
    let options = ["--source-chunks", "5,1799,3600", "--max-mem", "2GB", "--html", &path];
    rechunk(&[&shapes[..], &options].concat()).ok();
    let page = Page::read(&path);
    page.says(&["7.59 TiB", "push-pull"]);
    assert!(page.source.len() < 100_000, "{} bytes", page.source.len());
}

#[test]
fn a_file_that_cannot_be_written_is_known_before_anything_is_copied() {
    let folder = Folder::new();
    let (target, path) = (folder.at("t.zarr"), folder.at("nowhere/run.html"));
    let done = rechunk(&["copy", &ostia(), &target, "--chunks", BY_PIXEL, "--html", &path]);
    done.fails().says(&["nowhere/run.html"]);
    assert!(!Path::new(&target).exists());
}

#[test]
fn a_run_that_fails_leaves_the_page_of_what_happened() {
    let folder = Folder::new();
    let (source, target, path) = (folder.at("s.zarr"), folder.at("t.zarr"), folder.at("run.html"));
    let array = RawArray::v3(&[60, 64, 96], &[4, 64, 96]);
    array.write(&source);
    let chunk = Path::new(&source).join(array.key(&[14, 0, 0]));
    std::fs::write(&chunk, b"short").unwrap();
    let copy = ["copy", &source, &target, "--chunks", "60,8,8", "--strategy", "push-pull"];
    let options = ["--max-mem", "5MiB", "--threads", "1", "--html", &path];
    rechunk(&[&copy[..], &options].concat()).ends_with(3);
    let page = Page::read(&path);
    page.says(&["failed", "Measured against predicted", "The run over time"]);
    assert!(page.source.contains("s.zarr") && page.source.contains("c/14/0/0"));
    for tile in page.list("tiles").iter().filter(|tile| tile[1].as_str().unwrap().contains("task"))
    {
        let done: u64 = tile[0].as_str().unwrap().parse().unwrap();
        let all = tile[1].as_str().unwrap().split(' ').nth(1).unwrap().replace(',', "");
        assert!(done < all.parse().unwrap(), "{tile}");
    }
}

#[test]
fn names_of_others_stay_text() {
    let folder = Folder::new();
    let nasty = "<script>alert(\"1\")</script>&amp;'";
    let source = folder.at("<b>s&'\".zarr");
    let array = RawArray::v3(&[20, 30], &[4, 30]);
    array.write(&source);
    let (name, mut document) = array.metadata();
    document["dimension_names"] = serde_json::json!([nasty, "\u{202e}x\u{1b}[31m"]);
    document["attributes"] = serde_json::json!({ nasty: nasty });
    crate::arrays::write_json(&Path::new(&source).join(name), &document);
    let (target, path) = (folder.at("<i>t.zarr"), folder.at("p.html"));
    rechunk(&["copy", &source, &target, "--chunks", "20,5", "--html", &path]).ok();
    let page = Page::read(&path);
    assert!(!page.source.contains("<script>alert") && !page.source.contains("<b>s"));
    assert!(!page.source.contains('\u{202e}') && !page.source.contains('\u{1b}'));
    if let Some(seen) = &page.seen {
        let said = seen["text"].as_str().unwrap();
        assert!(said.contains(nasty) && said.contains("<b>s&'\".zarr"), "{said}");
        assert!(seen["title"].as_str().unwrap().contains("<b>s&'\".zarr"));
    }
}

#[test]
fn a_group_has_a_row_and_details_for_each_array() {
    let folder = Folder::new();
    let (target, path) = (folder.at("t.zarr"), folder.at("group.html"));
    let source = fixture("ostia_monthly.zarr");
    let group = [source.as_str(), target.as_str(), "--chunks", BY_PIXEL, "--html", &path, "--json"];
    for command in ["plan", "copy"] {
        let report = rechunk(&[&[command][..], &group].concat()).ok().json();
        let page = Page::read(&path);
        let arrays = report["arrays"].as_array().unwrap();
        page.says(&[if command == "plan" { "planned" } else { "done" }, "Each array"]);
        let ran = usize::from(command == "copy");
        if let Some(rows) = page.rows("Arrays of the group") {
            assert_eq!(rows.len(), arrays.len() + 1);
            let gets = number(&report, "estimate.source.get_requests");
            assert_eq!(rows[0][5 + ran], grouped(gets), "the sums come first");
            for (row, array) in rows[1..].iter().zip(arrays) {
                assert_eq!((&*row[0], &*row[3]), (text(array, "path"), text(array, "plan.kind")));
                assert_eq!(row[5 + ran], grouped(number(array, "estimate.source.get_requests")));
            }
            assert_eq!(page.seen.as_ref().unwrap()["details"], arrays.len());
        }
        assert!(page.source.len() < 1_000_000, "{} bytes", page.source.len());
    }
}

#[test]
fn retries_are_counted_on_the_page() {
    let s3 = S3::with(&RawArray::v3(&[24, 32, 48], &[4, 32, 48]));
    let path = s3.folder.at("run.html");
    s3.server.set_faults(Faults::none().with(Fault::InternalError, 0.3).seed(5));
    let report = s3.copy("t.zarr", &["--chunks", "24,8,16", "--html", &path]).go().ok().json();
    let page = Page::read(&path);
    let mut again = 0;
    for role in ["source", "target"] {
        let count = |name: &str| number(&report, &format!("traffic.{role}.{name}"));
        let attempts = count("http_attempts");
        let requests = ["get_requests", "get_missing", "put_requests", "part_requests"].map(count);
        let requests: u64 = requests.iter().sum();
        again += attempts - requests;
        let cells = [requests, attempts, attempts - requests].map(grouped);
        page.has_row("Attempts and retries", role, &cells.each_ref().map(String::as_str));
    }
    assert!(again > 0, "nothing was tried again: {report:#}");
    page.says(&["requests tried again"]);
    assert!(!page.source.contains("127.0.0.1"), "where the store is, is not on the page");
}
