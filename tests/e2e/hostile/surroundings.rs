//! Group 7, hostile surroundings: what stands where a file should be, and what the system refuses.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::build::{changed, elements, small};
use super::{Case, Elements, Left, Outcome, Scene, play_all};
use crate::arrays::RawArray;
use crate::harness::open_to_all;

/// A small file system at the target's place, which only this run sees.
const FULL_DISK: &str =
    r#"exec unshare -m sh -c 'mount -t tmpfs -o size=64k none "$OUT" && exec "$@"' sh "$@""#;
const NO_INODES: &str =
    r#"exec unshare -m sh -c 'mount -t tmpfs -o nr_inodes=6 none "$OUT" && exec "$@"' sh "$@""#;
const READ_ONLY: &str =
    r#"exec unshare -m sh -c 'mount -t tmpfs -o ro none "$OUT" && exec "$@"' sh "$@""#;

fn usual(scene: &Scene) {
    small(2).write(&scene.source());
}

fn whole() -> Outcome {
    Outcome::Copied(Elements::new(&[8, 8], elements(&small(2))))
}

fn fifo(path: &str) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Puts something in place of a file of the usual array.
fn instead(key: &'static str, put: impl Fn(&Scene, &str) + 'static) -> impl Fn(&Scene) + 'static {
    move |scene| {
        usual(scene);
        let path = format!("{}/{key}", scene.source());
        let _ = std::fs::remove_file(&path);
        put(scene, &path);
    }
}

/// Something that is no file as metadata, as attributes, and as a chunk.
fn in_place_of_files() -> impl Iterator<Item = Case> {
    type Put = fn(&Scene, &str);
    #[rustfmt::skip]
    let things: [(&str, Put, &str); 10] = [
        ("a pipe", |_, path| fifo(path), "a pipe"),
        ("a link to a pipe", |scene, path| { let pipe = scene.at("pipe"); fifo(&pipe); symlink(pipe, path).unwrap(); }, "a pipe"),
        ("a socket", |_, path| drop(bind(path)), "a socket"),
        ("a directory", |_, path| std::fs::create_dir(path).unwrap(), "a directory"),
        ("a link to a directory", |_, path| symlink("..", path).unwrap(), "a directory"),
        ("a link to itself", |_, path| symlink(Path::new(path).file_name().unwrap(), path).unwrap(), "symbolic link"),
        ("a link to nothing", |_, path| symlink("nothing", path).unwrap(), "missing"),
        ("a link to /dev/zero", |_, path| symlink("/dev/zero", path).unwrap(), "a device"),
        ("a link to /dev/full", |_, path| symlink("/dev/full", path).unwrap(), "a device"),
        ("a link to a name too long", |_, path| symlink("x".repeat(300), path).unwrap(), "too long"),
    ];
    ["1.0", ".zarray", ".zattrs"].into_iter().flat_map(move |key| {
        things.map(move |(name, put, word)| {
            let words = ["source.zarr", key, word];
            let outcome = Outcome::refused(&words);
            let case = Case::new(format!("{name} as {key}"), instead(key, put), outcome);
            case.with(&["--chunks", "8,2"])
        })
    })
}

/// Sockets have short names: bound by a path relative to the scene's directory would need a change
/// of directory, so it is moved in place.
fn bind(path: &str) -> UnixListener {
    let short = tempfile::tempdir_in("/tmp").unwrap();
    let listener = UnixListener::bind(short.path().join("s")).unwrap();
    let status = Command::new("mv").arg(short.path().join("s")).arg(path).status().unwrap();
    assert!(status.success());
    listener
}

/// The array itself behind links, or beside what is odd.
#[rustfmt::skip]
fn around_the_source() -> Vec<Case> {
    vec![
        Case::new("array behind a link", |scene| {
            small(2).write(&scene.at("real.zarr"));
            symlink("real.zarr", scene.source()).unwrap();
        }, whole()),
        Case::new("array whose files are links", |scene| {
            let real = scene.at("real.zarr");
            small(2).write(&real);
            std::fs::create_dir(scene.source()).unwrap();
            for key in [".zarray", "0.0", "0.1", "1.0", "1.1"] {
                symlink(format!("{real}/{key}"), format!("{}/{key}", scene.source())).unwrap();
            }
        }, whole()),
        Case::new("array that is a link to itself", |scene| symlink("source.zarr", scene.source()).unwrap(),
            Outcome::refused(&["source.zarr", "symbolic link"])),
        Case::new("array that is a link to nothing", |scene| symlink("nothing", scene.source()).unwrap(),
            Outcome::refused(&["source.zarr", "missing"])),
        Case::new("array that is a pipe", |scene| fifo(&scene.source()), Outcome::refused(&["source.zarr"])),
        Case::new("array that is a link to /dev/zero", |scene| symlink("/dev/zero", scene.source()).unwrap(),
            Outcome::refused(&["source.zarr"])),
        Case::new("group with a link to itself inside", |scene| {
            scene.write(".zgroup", r#"{"zarr_format": 2}"#);
            symlink(".", format!("{}/loop", scene.source())).unwrap();
            small(2).write(&format!("{}/a", scene.source()));
        }, Outcome::refused(&["source.zarr/loop", "loop"])),
        Case::new("directory with a link to / inside", |scene| {
            std::fs::create_dir(scene.source()).unwrap();
            symlink("/", format!("{}/root", scene.source())).unwrap();
        }, Outcome::refused(&["source.zarr", "zarr.json"])),
        Case::new("a source with a name too long", |_| {}, Outcome::refused(&["too long"]))
            .arguments(&["copy", &format!("SCENE/{}", "x".repeat(300)), "TARGET"]),
        Case::new("a source with control characters in its name", |_| {}, Outcome::refused(&[]))
            .arguments(&["copy", "SCENE/\u{1b}[31m\n\u{9b}\u{202e}", "TARGET"]),
        Case::new("names that are not UTF-8 beside chunks", |scene| {
            usual(scene);
            for name in [&b"\xff\xfe"[..], b"0.0\xff", b"c\xff"] {
                std::fs::write(Path::new(&scene.source()).join(OsStr::from_bytes(name)), "x").unwrap();
            }
        }, whole()),
        Case::new("a directory under a name that is not UTF-8 in a group", |scene| {
            scene.write(".zgroup", r#"{"zarr_format": 2}"#);
            std::fs::create_dir(Path::new(&scene.source()).join(OsStr::from_bytes(b"\xff"))).unwrap();
            small(2).write(&format!("{}/a", scene.source()));
        }, Outcome::Done),
        Case::new("chunk directories that clash with chunk files", |scene| {
            changed(scene, 2, |document| document["dimension_separator"] = json!("/"));
            scene.write("0", "a file where a directory should be");
        }, Outcome::refused(&["source.zarr", "0/", "a part of the path is a file"])),
        Case::new("files that differ in case", |scene| {
            usual(scene);
            scene.write(".ZARRAY", "{");
            scene.write("ZARR.JSON", "{");
            scene.write(".Zattrs", "{");
        }, whole()),
        Case::new("a chunk that nobody may read", |scene| {
            open_up(scene);
            open_to_all(format!("{}/1.0", scene.source()).as_ref(), 0);
        }, Outcome::refused(&["1.0", "ermission"])).by_nobody(),
        Case::new("metadata that nobody may read", |scene| {
            open_up(scene);
            open_to_all(format!("{}/.zarray", scene.source()).as_ref(), 0);
        }, Outcome::refused(&[".zarray", "ermission"])).by_nobody(),
        Case::new("a directory that nobody may enter", |scene| {
            open_up(scene);
            open_to_all(scene.source().as_ref(), 0);
        }, Outcome::refused(&["source.zarr", "ermission"])).by_nobody(),
        Case::new("few open files", |scene| {
            RawArray::v2(&[64, 64], &[8, 8]).write(&scene.source());
        }, Outcome::Copied(Elements::new(&[64, 64], elements(&RawArray::v2(&[64, 64], &[8, 8])))))
            .with(&["--threads", "16"]).within(r#"ulimit -n 32; exec "$@""#),
    ]
}

/// The usual array where everybody may read, and a place for the target where everybody may write.
fn open_up(scene: &Scene) {
    usual(scene);
    open_to_all(scene.at("out").as_ref(), 0o777);
}

/// A copy of the usual array to a place of its own.
fn to(name: &str, target: &str, outcome: Outcome) -> Case {
    Case::new(name, usual, outcome).arguments(&["copy", "SOURCE", target, "--chunks", "2,2"])
}

#[rustfmt::skip]
fn around_the_target() -> Vec<Case> {
    let nothing = |code: i32, words: &[&str]| Outcome::fails(code, words, Left::Nothing);
    let long = "x".repeat(300);
    // Room for the target's own name and none for what is beside it.
    let almost = "y".repeat(254);
    vec![
        to("target inside the source", "SCENE/source.zarr/t.zarr", nothing(4, &["source.zarr"])),
        to("target that is the source by a detour", "SCENE/out/../source.zarr", nothing(4, &["source.zarr"])),
        Case::new("target that is a link to the source", |scene| {
            usual(scene);
            symlink(scene.source(), scene.at("link")).unwrap();
        }, nothing(4, &["link"])).arguments(&["copy", "SOURCE", "SCENE/link", "--overwrite"]),
        Case::new("target that is a link to nothing", |scene| {
            usual(scene);
            symlink("nothing", scene.at("link")).unwrap();
        }, nothing(4, &["link", "missing"])).arguments(&["copy", "SOURCE", "SCENE/link"]),
        Case::new("target that is a link to itself", |scene| {
            usual(scene);
            symlink("link", scene.at("link")).unwrap();
        }, nothing(4, &["link", "symbolic link"])).arguments(&["copy", "SOURCE", "SCENE/link"]),
        Case::new("target that is a pipe", |scene| {
            usual(scene);
            fifo(&scene.at("pipe"));
        }, nothing(4, &["pipe"])).arguments(&["copy", "SOURCE", "SCENE/pipe", "--overwrite"]),
        to("target that is a device", "/dev/full", nothing(4, &["/dev/full"])),
        to("target below a device", "/dev/full/t.zarr", nothing(4, &["/dev/full", "ot a directory"])),
        to("target with a name too long", &format!("SCENE/out/{long}"), nothing(4, &["too long"])),
        to("target with almost too long a name", &format!("SCENE/out/{almost}"), nothing(4, &["too long"])),
        to("target with control characters in its name", "SCENE/out/\u{1b}[31m\u{7}\u{9b}\u{202e}", nothing(4, &["u{1b}"])),
        to("target with a newline in its name", "SCENE/out/a\nb", nothing(4, &["a\\nb"])),
        to("target that is called like an unfinished write", "SCENE/out/t#1", Outcome::Done),
        to("target in a store that there is not", "ftp://host/t.zarr", nothing(2, &["ftp"])),
        to("target that is empty", "", nothing(2, &["no target"])),
        Case::new("work directory that is a file", |scene| {
            usual(scene);
            std::fs::write(scene.at("out/t.zarr.rechunk"), "x").unwrap();
        }, Outcome::fails(1, &["t.zarr.rechunk"], Left::Anything)).arguments(&["copy", "SOURCE", "TARGET", "--chunks", "2,2"]),
        Case::new("work directory that is a link to the source", |scene| {
            usual(scene);
            symlink(scene.source(), scene.at("out/t.zarr.rechunk")).unwrap();
        }, Outcome::fails(4, &["t.zarr.rechunk"], Left::Anything)).arguments(&["copy", "SOURCE", "TARGET", "--chunks", "2,2"]),
        Case::new("work directory that is somebody's", |scene| {
            usual(scene);
            std::fs::create_dir(scene.at("out/t.zarr.rechunk")).unwrap();
            std::fs::write(scene.at("out/t.zarr.rechunk/thesis.tex"), "x").unwrap();
        }, Outcome::fails(4, &["t.zarr.rechunk"], Left::Anything)).arguments(&["copy", "SOURCE", "TARGET", "--chunks", "2,2", "--overwrite"]),
        Case::new("saved job that is a pipe", |scene| {
            usual(scene);
            std::fs::create_dir(scene.at("out/t.zarr.rechunk")).unwrap();
            fifo(&scene.at("out/t.zarr.rechunk/job.json"));
        }, Outcome::fails(1, &["job.json", "a pipe"], Left::Anything)).arguments(&["copy", "SOURCE", "TARGET", "--chunks", "2,2"]),
        Case::new("lock that is a pipe", |scene| {
            usual(scene);
            std::fs::create_dir(scene.at("out/t.zarr.rechunk")).unwrap();
            fifo(&scene.at("out/t.zarr.rechunk/lock"));
        }, Outcome::fails(1, &["lock", "a pipe"], Left::Anything)).arguments(&["copy", "SOURCE", "TARGET", "--chunks", "2,2"]),
        Case::new("saved job of rubbish, and a journal", |scene| {
            usual(scene);
            std::fs::create_dir(scene.at("out/t.zarr.rechunk")).unwrap();
            std::fs::write(scene.at("out/t.zarr.rechunk/job.json"), "[\u{1b}[31m").unwrap();
            std::fs::write(scene.at("out/t.zarr.rechunk/journal"), "\u{1b}[31m").unwrap();
        }, Outcome::fails(4, &["job.json", "cannot be understood"], Left::Anything)).arguments(&["copy", "SOURCE", "TARGET", "--chunks", "2,2", "--resume"]),
        Case::new("parent that nobody may write to", |scene| {
            open_up(scene);
            open_to_all(scene.at("out").as_ref(), 0o555);
        }, nothing(1, &["t.zarr", "ermission"])).by_nobody(),
    ]
}

/// Cases on a mount of our own; none where there is no right to mount.
fn mounted() -> Vec<Case> {
    let may_mount = Command::new("unshare").args(["-m", "true"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        println!("no right to mount: full and read-only file systems are not tried");
        return Vec::new();
    }
    // What is left is on the mount, which is gone when one could look.
    let fails = |words: &[&str]| Outcome::fails(1, words, Left::Nothing);
    let large = |scene: &Scene| RawArray::v2(&[256, 256], &[64, 64]).write(&scene.source());
    let case = |name: &str, shell: &'static str, words: &[&str]| {
        Case::new(name, large, fails(words)).with(&["--chunks", "32,32"]).within(shell)
    };
    vec![
        case("a full disk", FULL_DISK, &["space"]),
        case("a disk without inodes", NO_INODES, &["space"]),
        case("a read-only file system", READ_ONLY, &["t.zarr", "ead-only"]),
    ]
}

/// Files that may not grow, which works without any right.
fn limited() -> Vec<Case> {
    let large = |scene: &Scene| RawArray::v2(&[256, 256], &[64, 64]).write(&scene.source());
    let outcome = Outcome::fails(1, &["too large", "--resume"], Left::Resumable);
    let limit = r#"ulimit -f 16; exec "$@""#;
    vec![
        Case::new("files that may not grow", large, outcome)
            .with(&["--chunks", "256,256"])
            .within(limit),
    ]
}

pub(super) fn cases() -> Vec<Case> {
    let cases = in_place_of_files().chain(around_the_source()).chain(around_the_target());
    cases.chain(mounted()).chain(limited()).collect()
}

#[test]
fn hostile_surroundings_are_named() {
    play_all("hostile surroundings", &cases());
}
