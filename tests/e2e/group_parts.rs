//! The plan of a group, saved, and done by many processes: shares go over all arrays.

use serde_json::{Value, json};

use crate::arrays::RawArray;
use crate::harness::{Done, Folder, Run, rechunk, tree};
use crate::parts::do_with_kills;
use crate::report::number;

/// Options that give each array two stages, of few or many tasks, or of none.
const OPTIONS: [&str; 8] = [
    "--var",
    "a: chunks 24,4,4",
    "--var",
    "deep/b: chunks 8,8,8",
    "--strategy",
    "push-pull",
    "--max-mem",
    "24MiB",
];

/// A plan of a group of four arrays, saved in a folder.
pub(crate) struct Plan {
    folder: Folder,
}

impl Plan {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        let source = folder.at("s.zarr");
        for group in ["", "/deep"] {
            std::fs::create_dir_all(format!("{source}{group}")).unwrap();
            let document =
                json!({"zarr_format": 3, "node_type": "group", "attributes": {"g": group}});
            std::fs::write(format!("{source}{group}/zarr.json"), document.to_string()).unwrap();
        }
        for (path, shape, chunks) in [
            ("a", &[24, 32, 48][..], &[4, 32, 48][..]),
            ("deep/b", &[24, 16, 48], &[4, 16, 48]),
            ("deep/none", &[0, 4], &[1, 4]),
            ("x", &[48], &[48]),
        ] {
            RawArray::v3(shape, chunks).write(&format!("{source}/{path}"));
        }
        let plan = Self { folder };
        plan.save(&OPTIONS);
        plan
    }

    fn save(&self, options: &[&str]) -> Done {
        let (source, target) = (self.folder.at("s.zarr"), self.folder.at("t.zarr"));
        let file = self.folder.at("plan.json");
        let plan = ["plan", &source, &target, "--out", &file, "--threads", "2", "--json"];
        rechunk(&[&plan[..], options].concat()).ok()
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        Run::rechunk(&[&["run", &self.folder.at("plan.json"), "--json"], arguments].concat())
    }

    fn part(&self, stage: usize, part: &str) -> Run {
        self.run(&["--stage", &stage.to_string(), "--part", part])
    }

    /// The target has the elements of the source, and nothing else is left.
    #[track_caller]
    pub(crate) fn assert_copied(&self) {
        rechunk(&["verify", &self.folder.at("s.zarr"), &self.folder.at("t.zarr")]).ok();
        let keys = tree(self.folder.path());
        let left = |key: &&String| key.contains(".rechunk") || key.contains('#');
        assert_eq!(keys.keys().find(left), None);
    }
}

const COUNTED: [&str; 6] = [
    "traffic.source.get_requests",
    "traffic.source.read_bytes",
    "traffic.intermediate.get_requests",
    "traffic.intermediate.written_bytes",
    "traffic.target.put_requests",
    "traffic.target.decoded_written_bytes",
];

#[test]
fn parts_of_a_group_do_what_one_run_does() {
    let (plan, one) = (Plan::new(), Plan::new());
    let begun = plan.run(&["--begin"]).go().ok().json();
    assert_eq!((&begun["begun"], begun["stages"].as_array().unwrap().len()), (&json!(true), 2));
    assert_eq!(plan.run(&["--begin"]).go().ok().json()["begun"], false);
    let whole = one.run(&[]).go().ok().json();
    one.assert_copied();
    let mut parts: Vec<Value> = Vec::new();
    for stage in 0..2 {
        for part in ["2/3", "0/3", "1/3"] {
            parts.push(plan.part(stage, part).go().ok().json());
        }
    }
    let marked: u64 = parts.iter().map(|part| number(part, "tasks.marked")).sum();
    assert_eq!(marked, number(&whole, "tasks.total"));
    for counted in COUNTED {
        let sum: u64 = parts.iter().map(|part| number(part, counted)).sum();
        assert_eq!(sum, number(&whole, counted), "{counted}");
    }
    let status = rechunk(&["status", &plan.folder.at("t.zarr"), "--json"]).ok().json();
    assert_eq!((status["state"].as_str(), number(&status, "marked")), (Some("open"), marked));
    let finished = plan.run(&["--finish"]).go().ok().json();
    assert_eq!(number(&finished, "tasks.resumed"), number(&whole, "tasks.total"));
    plan.assert_copied();
    let trees = [&plan, &one].map(|plan| tree(&plan.folder.path().join("t.zarr")));
    assert_eq!(trees[0], trees[1]);
    for late in [plan.part(1, "0/3"), plan.run(&["--begin"])] {
        let late = late.go().ok().json();
        assert!(late["already_complete"] == true || late["complete"] == true, "{late}");
    }
    plan.run(&["--finish"]).go().ok();
}

#[test]
fn what_is_missing_of_a_group_is_named_by_its_array() {
    let plan = Plan::new();
    plan.run(&["--finish"]).go().ends_with(7).says(&["not begun"]);
    plan.part(1, "0/1").go().ends_with(7).says(&["a", "stage 0"]);
    plan.part(0, "0/2").go().ok();
    plan.run(&["--finish"]).go().ends_with(7).says(&["deep/b: ", "stage 0"]);
    plan.part(2, "0/1").go().ends_with(2).says(&["no stage 2"]);
    plan.save(&["--chunks", "12,4,4"]);
    plan.part(0, "0/1").go().ends_with(4).says(&["another job"]);
    plan.save(&OPTIONS);
    // A run of all of it finds what is open to parts.
    plan.run(&["--resume"]).go().ends_with(4).says(&["in parts"]);
    rechunk(&["clean", &plan.folder.at("t.zarr")]).ok();
    let keys = tree(plan.folder.path());
    let left: Vec<&String> = keys.keys().filter(|key| key.starts_with("t.zarr")).collect();
    assert!(left.is_empty(), "{left:?}");
    plan.run(&[]).go().ok();
    plan.assert_copied();
}

#[test]
fn killed_parts_of_a_group_cost_what_they_had_not_marked() {
    for seed in 0..3 {
        let plan = Plan::new();
        do_with_kills(|stage, part| plan.part(stage, part), 2, 12, seed);
        plan.run(&["--finish", "--verify"]).go().ok();
        plan.assert_copied();
    }
}

#[test]
fn an_array_that_one_process_has_to_write_is_left_to_the_end() {
    let plan = Plan::new();
    plan.save(&[&OPTIONS[..], &["--temp", "memory:"]].concat());
    let begun = plan.run(&["--begin"]).go().ok().json();
    assert_eq!(begun["left_to_finish"], json!(["a", "deep/b", "deep/none", "x"]));
    plan.part(0, "0/1").go().ok();
    let report = plan.run(&["--finish"]).go().ok().json();
    assert!(number(&report, "tasks.done") > number(&report, "tasks.resumed"));
    plan.assert_copied();
}

#[test]
fn the_plan_of_a_group_that_has_changed_is_refused() {
    let plan = Plan::new();
    let path = plan.folder.path().join("plan.json");
    let text = std::fs::read_to_string(&path).unwrap();
    for (damage, says) in [
        (text.replacen("\"version\": 1", "\"version\": 9", 1), "version 9"),
        (text.replacen("deep/b", "../b", 1), "../b"),
        (text[..text.len() / 2].to_owned(), "not a saved plan"),
    ] {
        std::fs::write(&path, damage).unwrap();
        plan.run(&["--part", "0/1", "--stage", "0"]).go().ends_with(2).says(&[says]);
    }
    std::fs::write(&path, text).unwrap();
    RawArray::v3(&[25], &[5]).write(&plan.folder.at("s.zarr/x"));
    let refused = plan.run(&["--part", "0/1", "--stage", "0"]).go();
    refused.ends_with(4).says(&["array x", "plan again"]);
    assert!(!plan.folder.path().join("t.zarr.rechunk").exists());
}
