//! Group 12, places for raw files: what is in the way of the target or of its file under way, and
//! disks that are full.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::build::small;
use super::{Case, Left, Outcome, Scene, play_all};
use crate::arrays::RawArray;
use crate::harness::open_to_all;

/// Small file systems at the target's place, which only this run sees.
const FULL_DISK: &str =
    r#"exec unshare -m sh -c 'mount -t tmpfs -o size=64k none "$OUT" && exec "$@"' sh "$@""#;
const LIMITED: &str = r#"ulimit -f 16; exec "$@""#;

fn usual(scene: &Scene) {
    small(2).write(&scene.source());
}

fn large(scene: &Scene) {
    RawArray::v2(&[256, 256], &[64, 64]).write(&scene.source());
}

/// A copy to `target` below the scene, after something was put there.
fn to(target: &str, what: &str, put: fn(&Scene), outcome: Outcome) -> Case {
    let build = move |scene: &Scene| {
        usual(scene);
        put(scene);
    };
    let target_path = format!("SCENE/{target}");
    let copy = ["copy", "SOURCE", &target_path, "--no-fsync", "--max-mem", "64MiB"];
    Case::new(format!("{target}: {what}"), build, outcome).arguments(&copy)
}

fn put(scene: &Scene, name: &str, bytes: &[u8]) {
    let path = scene.at(name);
    std::fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn conflict(words: &[&str]) -> Outcome {
    Outcome::fails(4, words, Left::Anything)
}

#[rustfmt::skip]
fn in_the_way() -> Vec<Case> {
    let replacing = |case: Case, target: &str| {
        let target = format!("SCENE/{target}");
        case.arguments(&["copy", "SOURCE", &target, "--no-fsync", "--overwrite"])
    };
    let nothing = |code, words: &[&str]| Outcome::fails(code, words, Left::Nothing);
    vec![
        to("out/t.npy", "a file is there", |scene| put(scene, "out/t.npy", b"somebody's"), conflict(&["t.npy", "exists", "--overwrite"])),
        to("out/t.npy", "a directory is there", |scene| put(scene, "out/t.npy/thesis.tex", b"x"), conflict(&["t.npy", "is a directory"])),
        replacing(to("out/t.npy", "a directory is to be replaced", |scene| put(scene, "out/t.npy/thesis.tex", b"x"), conflict(&["t.npy"])), "out/t.npy"),
        to("out/t.nii.gz", "a file is there", |scene| put(scene, "out/t.nii.gz", b"somebody's"), conflict(&["t.nii.gz", "exists"])),
        to("out/t.npy", "an empty directory is there", |scene| std::fs::create_dir(scene.at("out/t.npy")).unwrap(), conflict(&["t.npy", "directory"])),
        to("out/t.npy", "a pipe is there", |scene| assert!(Command::new("mkfifo").arg(scene.at("out/t.npy")).status().unwrap().success()), conflict(&["t.npy"])),
        to("out/t.npy", "a link to the source is there", |scene| symlink(format!("{}/0.0", scene.source()), scene.at("out/t.npy")).unwrap(), conflict(&["t.npy"])),
        replacing(to("out/t.npy", "a link to a file of the source is to be replaced", |scene| symlink(format!("{}/0.0", scene.source()), scene.at("out/t.npy")).unwrap(), conflict(&["t.npy"])), "out/t.npy"),
        to("out/t.npy", "a link to nothing is there", |scene| symlink("nothing", scene.at("out/t.npy")).unwrap(), conflict(&["t.npy"])),
        to("out/t.npy", "a file under way of another size", |scene| put(scene, "out/t.npy.part", &[7; 1000]), conflict(&["t.npy.part"])),
        to("out/t.npy", "a file under way of the same size", |scene| put(scene, "out/t.npy.part", &[7; 384]), conflict(&["t.npy.part"])),
        to("out/t.npy", "a link to a file of the source as the file under way", |scene| symlink(format!("{}/0.0", scene.source()), scene.at("out/t.npy.part")).unwrap(), conflict(&["t.npy.part"])),
        to("out/t.nii.gz", "a link to a file of the source as the file under way", |scene| symlink(format!("{}/0.0", scene.source()), scene.at("out/t.nii.gz.part")).unwrap(), conflict(&["t.nii.gz.part"])),
        to("out/t.npy", "a directory as the file under way", |scene| std::fs::create_dir(scene.at("out/t.npy.part")).unwrap(), conflict(&["t.npy.part"])),
        to("out/t.npy", "a pipe as the file under way", |scene| assert!(Command::new("mkfifo").arg(scene.at("out/t.npy.part")).status().unwrap().success()), conflict(&["t.npy.part"])),
        to("out/t.npy", "a link to /dev/full as the file under way", |scene| symlink("/dev/full", scene.at("out/t.npy.part")).unwrap(), conflict(&["t.npy.part"])),
        to("out/t.npy", "a work directory that is somebody's", |scene| put(scene, "out/t.npy.rechunk/thesis.tex", b"x"), conflict(&["t.npy.rechunk"])),
        to("out/t.npy", "in a directory that is not there yet", |scene| std::fs::remove_dir(scene.at("out")).unwrap(), Outcome::Done),
        to("out/a.npy/t.npy", "below a file", |scene| put(scene, "out/a.npy", b"x"), conflict(&["a.npy"])),
        to("source.zarr/t.npy", "in the source", |_| {}, nothing(4, &["source.zarr"])),
        to("source.zarr", "the source as one file", |_| {}, nothing(4, &["source.zarr"])),
        to("out/t.npy", "chunks of one file", |_| {}, nothing(2, &["--chunks"])).arguments(&["copy", "SOURCE", "SCENE/out/t.npy", "--chunks", "2,2"]),
        to("out/t.npy", "a codec of one file", |_| {}, nothing(2, &["--codec"])).arguments(&["copy", "SOURCE", "SCENE/out/t.npy", "--codec", "zstd:3"]),
        to("out/t.raw", "a codec of raw files", |_| {}, nothing(2, &["--codec"])).arguments(&["copy", "SOURCE", "SCENE/out/t", "--format", "raw", "--codec", "gzip:5"]),
        to("out/t.npy", "a file as another format", |_| {}, Outcome::Done).arguments(&["copy", "SOURCE", "SCENE/out/t.npy", "--format", "zarr2"]),
        to("out/t", "a raw directory where files are", |scene| put(scene, "out/t/0_0.bin", b"x"), conflict(&["out/t", "not empty"])).arguments(&["copy", "SOURCE", "SCENE/out/t", "--format", "raw"]),
        to("memory", "one file in memory", |_| {}, nothing(2, &["local"])).arguments(&["copy", "SOURCE", "memory://x/t.npy"]),
    ]
}

/// A parent that may not be written to, and no room.
fn no_room() -> Vec<Case> {
    let closed = |scene: &Scene| open_to_all(scene.at("out").as_ref(), 0o555);
    let denied = Outcome::fails(1, &["t.npy", "ermission"], Left::Nothing);
    let mut cases = vec![
        to("out/t.npy", "a place that nobody may write to", closed, denied).by_nobody(),
        Case::new(
            "a .npy that may not grow",
            large,
            Outcome::fails(1, &["too large", "--resume"], Left::Anything),
        )
        .arguments(&["copy", "SOURCE", "SCENE/out/t.npy"])
        .within(LIMITED),
        Case::new(
            "a .nii.gz that may not grow",
            large,
            Outcome::fails(1, &["too large", "--resume"], Left::Anything),
        )
        .arguments(&["copy", "SOURCE", "SCENE/out/t.nii.gz"])
        .within(LIMITED),
    ];
    let may_mount = Command::new("unshare").args(["-m", "true"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        println!("no right to mount: full file systems are not tried");
        return cases;
    }
    for (name, target) in [
        ("a full disk below a .npy", &["SCENE/out/t.npy"][..]),
        ("a full disk below raw files", &["SCENE/out/t", "--format", "raw", "--chunks", "32,32"]),
        ("a full disk below N5", &["SCENE/out/t.n5/a", "--chunks", "32,32"]),
    ] {
        // What is left is on the mount, which is gone when one could look.
        let outcome = Outcome::fails(1, &["space", "--resume"], Left::Nothing);
        let copy = [&["copy", "SOURCE"], target].concat();
        cases.push(Case::new(name, large, outcome).arguments(&copy).within(FULL_DISK));
    }
    cases
}

pub(super) fn cases() -> Vec<Case> {
    in_the_way().into_iter().chain(no_room()).collect()
}

#[test]
fn hostile_places_for_raw_files_are_named() {
    play_all("places for raw files", &cases());
}
