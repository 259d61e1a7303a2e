//! Words that users read, against `tests/e2e/snapshots`: help, plans, and errors with hint and exit
//! code. A word that changes shows in a diff; `RECHUNK_BLESS=1` writes the snapshots anew.

use std::fmt::Write;
use std::process::Command;

use crate::arrays::RawArray;
use crate::harness::{Done, Folder, Run, fixture, root};

const COMMANDS: [&str; 15] = [
    "copy",
    "apply",
    "pyramid",
    "migrate",
    "plan",
    "run",
    "info",
    "verify",
    "status",
    "clean",
    "probe",
    "serve",
    "demo",
    "completions",
    "man",
];

/// Commands of commands.
const BELOW: [&str; 6] = [
    "serve datastore",
    "serve import",
    "serve token",
    "serve token add",
    "serve token list",
    "serve token revoke",
];

/// Kinds of plans, and what makes the planner take them.
const PLANS: [(&str, &str); 8] = [
    (
        "direct",
        "plan --shape 1000,1000 --dtype uint16 --source-chunks 100,100 --chunks 200,200 --max-mem 64MiB",
    ),
    ("passthrough", "plan series.zarr/surface_temperature t.zarr --format zarr2 --max-mem 64MiB"),
    ("keep", "plan series.zarr/surface_temperature t.zarr --chunks 54,6,36 --max-mem 4MB"),
    (
        "push-pull",
        "plan series.zarr/surface_temperature t.zarr --chunks 54,6,36 --max-mem 4MB --source-profile s3 --temp-profile s3 --target-profile s3",
    ),
    (
        "far too large for memory",
        "plan --shape 6443,17999,36000 --dtype int16 --source-chunks 5,1799,3600 --chunks 6443,100,100 --max-mem 2GB --source-profile s3 --temp-profile s3 --target-profile s3",
    ),
    (
        "shards",
        "plan --shape 4096,4096 --dtype uint8 --source-chunks 512,512 --chunks 64,64 --shards 1024,1024 --max-mem 64MiB",
    ),
    ("raw files", "plan a.npy b.npy --max-mem 64MiB"),
    ("group", "plan series.zarr t.zarr --chunks time=-1,latitude=6 --max-mem 64MiB"),
];

/// Commands that are refused.
const ERRORS: [&str; 41] = [
    "info nowhere.zarr",
    "cpoy small.zarr t.zarr",
    "copy small.zarr",
    "copy small.zarr t.zarr --chunk 2,2",
    "copy small.zarr t.zarr --chunks two",
    "copy small.zarr t.zarr --chunks 2,2,2",
    "copy small.zarr t.zarr --chunks time=2",
    "copy small.zarr t.zarr --chunks 0,2",
    "copy small.zarr t.zarr --chunks 2,2 --shards 3,3",
    "copy small.zarr t.zarr --codec zsdt",
    "copy small.zarr t.zarr --format zarr",
    "copy small.zarr t.zarr --max-mem 1KB",
    "copy small.zarr t.zarr --max-mem lots",
    "copy small.zarr t.zarr --threads 0",
    "copy small.zarr t.zarr --select 0:100,0:4",
    "copy small.zarr t.zarr --cast complex",
    "copy small.zarr t.zarr --append time",
    "copy small.zarr t.zarr --resume --overwrite",
    "copy small.zarr t.zarr --job nowhere.toml",
    "copy small.zarr t.zarr --job wrong.toml",
    "copy small.zarr there.zarr",
    "copy small.zarr small.zarr",
    "copy small.zarr small.zarr/inside",
    "copy nowhere.zarr t.zarr",
    "copy nosuchscheme://bucket/a t.zarr",
    "copy text.txt t.zarr",
    "copy damaged.zarr t.zarr",
    "verify small.zarr other.zarr",
    "run nowhere.json",
    "copy series.zarr t.zarr --include nothing*",
    "plan --shape 10,10 --chunks 2,2",
    "pyramid small.zarr t.zarr",
    "pyramid small.zarr t.zarr --levels 1 --until 2",
    "serve nowhere",
    "serve small.zarr --cors example",
    "serve small.zarr --listen nowhere",
    "serve datastore nowhere",
    "serve datastore there.zarr --base-url example",
    "serve datastore there.zarr --max-body lots",
    "serve datastore there.zarr --tokens text.txt",
    "serve token revoke nowhere.json ada",
];

/// Compares with a snapshot, or writes it.
#[track_caller]
fn matches_snapshot(name: &str, text: &str) {
    let path = root().join("tests/e2e/snapshots").join(name);
    if std::env::var("RECHUNK_BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<_> = (text.lines().enumerate())
        .filter(|(at, line)| stored.lines().nth(*at) != Some(line))
        .take(10)
        .map(|(at, line)| format!("{}: {line}", at + 1))
        .collect();
    assert!(
        stored == text,
        "{} has other words; RECHUNK_BLESS=1 writes it anew. Lines that are new:\n{}",
        path.display(),
        changed.join("\n")
    );
}

/// Runs a command line in a folder, on a terminal of no width and without colours.
fn run_in(folder: &Folder, line: &str) -> Done {
    let arguments: Vec<_> = line.split_whitespace().collect();
    let run = Run::rechunk(&arguments).in_directory(folder.path()).without("COLUMNS");
    run.env("LC_ALL", "C").without("RUST_LOG").go()
}

/// A folder with an array and a group, and things that are neither.
fn stage() -> Folder {
    let folder = Folder::new();
    RawArray::v2(&[4, 4], &[2, 2]).write(&folder.at("small.zarr"));
    RawArray::v2(&[4, 4], &[2, 2]).write(&folder.at("there.zarr"));
    RawArray::v2(&[4, 5], &[2, 2]).write(&folder.at("other.zarr"));
    RawArray::v2(&[4, 4], &[2, 2]).write(&folder.at("damaged.zarr"));
    std::fs::write(folder.at("damaged.zarr/.zarray"), "{\"zarr_format\": 2, ").unwrap();
    std::fs::write(folder.at("text.txt"), "not an array").unwrap();
    std::fs::write(folder.at("wrong.toml"), "chunks = \"2,2\"\nchunk_size = 3\n").unwrap();
    let series = [fixture("ostia_monthly.zarr"), folder.at("series.zarr")];
    let copied = Command::new("cp").arg("-r").args(&series).status().unwrap();
    assert!(copied.success(), "cp -r {series:?}");
    folder
}

#[test]
fn help_is_as_in_its_snapshots() {
    let folder = Folder::new();
    matches_snapshot("help.txt", &run_in(&folder, "--help").ok().stdout);
    for command in COMMANDS.into_iter().chain(BELOW) {
        let said = run_in(&folder, &format!("{command} --help")).ok();
        let name = format!("help-{}.txt", command.replace(' ', "-"));
        matches_snapshot(&name, &said.stdout);
    }
}

#[test]
fn every_command_has_a_snapshot_of_its_help() {
    let said = run_in(&Folder::new(), "--help").ok().stdout;
    let commands = said.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let names = commands.filter(|line| !line.starts_with("   "));
    let names: Vec<_> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.split_last(), Some((&"help", COMMANDS.as_slice())), "{said}");
}

#[test]
fn plans_are_as_in_their_snapshot() {
    let folder = stage();
    run_in(&folder, "copy small.zarr a.npy --max-mem 64MiB").ok();
    let mut text = String::new();
    for (kind, line) in PLANS {
        let done = run_in(&folder, &format!("{line} --threads 2")).ok();
        writeln!(text, "# {kind}\n$ rechunk {line} --threads 2\n{}", done.stdout).unwrap();
    }
    matches_snapshot("plans.txt", &without_paths(&text, &folder));
}

#[test]
fn errors_are_as_in_their_snapshot() {
    let folder = stage();
    let mut text = String::new();
    for line in ERRORS {
        let done = run_in(&folder, line).fails();
        writeln!(text, "$ rechunk {line}\n{}exit code {}\n", done.stderr, done.code).unwrap();
    }
    matches_snapshot("errors.txt", &without_paths(&text, &folder));
}

/// Has no place of this machine in it.
fn without_paths(text: &str, folder: &Folder) -> String {
    let folder = folder.path().canonicalize().unwrap().display().to_string();
    text.replace(&folder, "FOLDER")
}
