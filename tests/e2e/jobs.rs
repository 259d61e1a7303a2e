//! `--job FILE`: options in a file, and who wins.

use std::fs;

use serde_json::json;

use crate::harness::{Folder, Run, ostia, rechunk, tree};
use crate::report::number;

#[test]
fn a_job_file_says_what_is_copied_and_locations_are_relative_to_it() {
    let folder = Folder::new();
    fs::create_dir(folder.path().join("jobs")).unwrap();
    let source = ostia();
    let toml = format!(
        "source = {source:?}\ntarget = \"out.zarr\"\nmax-mem = 67108864\nverify = true\n\
         chunks = {{ time = -1, latitude = 6, longitude = 36 }}\ncodec = \"zstd:5\"\n"
    );
    let yaml = format!(
        "source: {source}\ntarget: other.zarr\nmax-mem: 64MiB\nchunks: [-1, 6, 36]\ncodec: zstd:5\n"
    );
    fs::write(folder.path().join("jobs/a.toml"), toml).unwrap();
    fs::write(folder.path().join("jobs/b.yml"), yaml).unwrap();
    let run = |arguments: &[&str]| Run::rechunk(arguments).in_directory(folder.path());
    // A dry run prints the plan that the options mean, and writes nothing.
    let before = tree(folder.path());
    let dry = run(&["copy", "--job", "jobs/a.toml", "--dry-run", "--json"]).go().ok().json();
    let typed = ["copy", &source, "jobs/out.zarr", "--chunks", "-1,6,36", "--codec", "zstd:5"];
    let rest = ["--max-mem", "64MiB", "--dry-run", "--json"];
    let typed = run(&[&typed[..], &rest].concat()).go().ok().json();
    assert_eq!(dry["plan"]["fingerprint"], typed["plan"]["fingerprint"]);
    assert_eq!(tree(folder.path()), before);
    let plan = run(&["plan", "--job", "jobs/a.toml", "--json"]).go().ok().json();
    assert_eq!(plan["plan"]["fingerprint"], typed["plan"]["fingerprint"]);
    // The environment counts for less than the file, the command line for more.
    let report = run(&["copy", "--job", "jobs/a.toml", "--chunks", "-1,3,3", "--json"])
        .env("RECHUNK_MAX_MEM", "96MiB")
        .go()
        .ok()
        .json();
    assert_eq!(report["verified"], json!(true));
    assert_eq!(report["plan"]["target_chunks"], json!([54, 3, 3]));
    assert_eq!(number(&report, "memory.budget_bytes"), 64 << 20);
    assert!(folder.path().join("jobs/out.zarr/zarr.json").is_file());
    run(&["copy", "--job", "jobs/b.yml", "--dry-run"]).go().ok();
}

#[test]
fn what_is_wrong_in_a_job_file_is_said_with_its_place() {
    let folder = Folder::new();
    let at = folder.at("job.toml");
    for (text, says) in [
        ("chunk = 1\n", "error: JOB:1:1: unknown key \"chunk\" (did you mean \"chunks\"?)"),
        ("\nmax-mem = \"lots\"\n", "error: JOB:2:11: --max-mem: `lots` is not a size"),
        ("verify = true\nverify = true\n", "error: JOB:2:1: duplicate key"),
        ("select = \"\"\"", "error: JOB:1:"),
    ] {
        fs::write(&at, text).unwrap();
        let done = rechunk(&["copy", "--job", &at]).ends_with(2);
        assert!(done.stderr.contains(&says.replace("JOB", &at)), "{text}: {}", done.stderr);
    }
    // Of what only the source can tell, too.
    fs::write(&at, format!("source = {:?}\nselect = {{ level = 1 }}\n", ostia())).unwrap();
    let done = rechunk(&["plan", "--job", &at]).ends_with(2);
    let place = format!("error: {at}:2:10: --select: the array has no dimension `level`");
    assert!(done.stderr.contains(&place), "{}", done.stderr);
    // A file that is not there, or of no language; a target that nobody names.
    rechunk(&["copy", "--job", &folder.at("none.toml")]).ends_with(2).says(&["cannot be read"]);
    rechunk(&["copy", "--job", &folder.at("job.ini")]).ends_with(2).says(&[".toml, .yaml"]);
    fs::write(&at, format!("source = {:?}\n", ostia())).unwrap();
    rechunk(&["copy", "--job", &at]).ends_with(2).says(&["<TARGET>"]);
}
