//! Plans that say what would be better, and targets that take what they mean.

use crate::harness::{Folder, ostia, rechunk};
use crate::report::number;

/// Scenes of 256 MiB that are to become series: with a little more memory the plan is another one.
#[test]
fn a_long_plan_says_what_more_memory_would_save() {
    let plan = |memory: &str, more: &[&str]| {
        let shapes = [
            "plan",
            "--shape",
            "10000,8192,8192",
            "--dtype",
            "float32",
            "--source-chunks",
            "1,8192,8192",
            "--chunks",
            "10000,32,32",
            "--source-profile",
            "s3",
            "--temp-profile",
            "s3",
            "--target-profile",
            "s3",
            "--max-mem",
            memory,
        ];
        rechunk(&[&shapes[..], more].concat()).ok()
    };
    for memory in ["300MiB", "340MiB", "400MiB"] {
        let said = plan(memory, &[]).stdout;
        assert!(said.contains("note") && said.contains("times as much memory"), "{said}");
        let report = plan(memory, &["--json"]).json();
        let advised = number(&report, "more_memory.memory_bytes");
        let seconds = report["more_memory"]["seconds"].as_f64().unwrap();
        assert!(seconds * 4.0 <= report["estimate"]["seconds"].as_f64().unwrap());
        let advised = plan(&advised.to_string(), &["--json"]).json();
        let found = advised["estimate"]["seconds"].as_f64().unwrap();
        assert!((found - seconds).abs() < 1e-6, "{found} and {seconds}");
    }
    for memory in ["2GiB", "4GiB"] {
        assert!(!plan(memory, &[]).stdout.contains("times as much memory"), "{memory}");
        assert!(plan(memory, &["--json"]).json().get("more_memory").is_none(), "{memory}");
    }
}

/// One chunk of all is what one file is, however it is said.
#[test]
fn one_file_takes_one_chunk_of_all() {
    let folder = Folder::new();
    for (name, format) in
        [("a.npy", "npy"), ("a.nii", "nii"), ("a.nii.gz", "nii"), ("a.img", "raw")]
    {
        for chunks in
            ["-1", "-1,-1,-1", "54,18,432", "time=-1,latitude=-1,longitude=-1", "99,-1,432"]
        {
            let target = folder.at(name);
            let chunks = format!("--chunks={chunks}");
            let copy = ["copy", &ostia(), &target, &chunks, "--format", format, "--verify"];
            rechunk(&copy).ok().says(&["verified"]);
            std::fs::remove_file(&target).unwrap();
        }
        let part = ["copy", &ostia(), &folder.at(name), "--format", format, "--chunks=10,-1,-1"];
        rechunk(&part).ends_with(2).says(&["is one file"]);
    }
}
