//! Places that are wrong: nothing there, not an array, not allowed, no room, in each other's way.
//! Each is refused with a reason, leaves nothing that looks finished, and does not touch the
//! source.

use std::path::Path;
use std::process::Command;

use crate::arrays::RawArray;
use crate::harness::{
    BINARY, Done, Folder, NOBODY, Run, fixture, is_root, looks_finished, open_to_all, ostia,
    rechunk, tree,
};

/// Far more than a refusal needs; a header that is believed needs more.
const REFUSAL_RSS_BYTES: u64 = 200 << 20;

/// A copy that has to be refused: exit code, words, no target, the source as it was, little memory.
#[track_caller]
pub(crate) fn refused(source: &str, target: &str, code: i32, words: &[&str]) {
    refused_with(source, target, &[], code, words);
}

/// Checks that a copy with options is refused.
#[track_caller]
pub(crate) fn refused_with(
    source: &str,
    target: &str,
    options: &[&str],
    code: i32,
    words: &[&str],
) {
    let before = Path::new(source).is_dir().then(|| tree(source.as_ref()));
    let copy = [&["copy", source, target, "--max-mem", "64MiB"], options].concat();
    let (done, peak_bytes) = Run::rechunk(&copy).go_measured();
    done.ends_with(code).says(words);
    assert!(!looks_finished(target), "{target} looks finished");
    assert!(peak_bytes <= REFUSAL_RSS_BYTES, "{peak_bytes} bytes of memory to refuse {source}");
    if let Some(before) = before {
        assert_eq!(tree(source.as_ref()), before, "{source} was changed");
    }
}

#[test]
fn what_is_not_an_array_is_named() {
    let folder = Folder::new();
    let target = folder.at("t.zarr");
    let (empty, file) = (folder.at("empty"), folder.at("file.txt"));
    std::fs::create_dir(&empty).unwrap();
    std::fs::write(&file, "not an array").unwrap();
    refused(&folder.at("nowhere"), &target, 3, &["nowhere"]);
    refused(&empty, &target, 3, &["empty", "not an array"]);
    refused(&file, &target, 3, &["file.txt", "a file"]);
    for (name, words) in
        [("t1.nii", "no NIfTI file"), ("t1.NII.gz", "does not unpack"), ("a.npy", "NumPy")]
    {
        let file = folder.at(name);
        std::fs::write(&file, "not an array").unwrap();
        refused(&file, &target, 3, &[name, words]);
    }
    let group = fixture("ostia_monthly.zarr");
    let equal = rechunk(&["verify", &group, &group]).ok().stdout;
    assert!(equal.contains("equal: 9 arrays"), "{equal}");
    let array = format!("{group}/surface_temperature");
    rechunk(&["verify", &group, &array]).ends_with(3).says(&["group"]);
    refused(&format!("{group}/nothing"), &target, 3, &["nothing"]);
    refused("nosuchscheme://bucket/a", &target, 3, &["nosuchscheme"]);
}

#[test]
fn a_source_or_target_without_permission_is_named() {
    let folder = Folder::public();
    open_to_all(folder.path(), 0o755);
    // The build directory may be closed to others; the binary has to be where they may look.
    let binary = folder.at("rechunk");
    std::fs::copy(BINARY, &binary).unwrap();
    let (source, closed) = (folder.at("source.zarr"), folder.at("closed"));
    RawArray::v2(&[8, 8], &[4, 4]).write(&source);
    std::fs::create_dir(&closed).unwrap();
    open_to_all(closed.as_ref(), 0o555);
    let run = |arguments: &[&str]| -> Done {
        let run = Run::program(binary.as_ref(), arguments);
        if is_root() { run.by_user(NOBODY).go() } else { run.go() }
    };
    let target = format!("{closed}/t.zarr");
    run(&["copy", &source, &target]).ends_with(1).says(&["t.zarr", "ermission"]);

    let chunk = format!("{source}/1.1");
    open_to_all(chunk.as_ref(), 0o000);
    let open = folder.at("open");
    std::fs::create_dir(&open).unwrap();
    open_to_all(open.as_ref(), 0o777);
    let target = format!("{open}/t.zarr");
    run(&["copy", &source, &target]).ends_with(3).says(&["1.1", "ermission"]);
    assert!(!looks_finished(&target));
    open_to_all(chunk.as_ref(), 0o644);

    open_to_all(format!("{source}/.zarray").as_ref(), 0o000);
    run(&["copy", &source, &format!("{open}/u.zarr")]).ends_with(3).says(&[".zarray", "ermission"]);
}

#[test]
fn source_and_target_must_not_be_in_each_others_way() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    RawArray::v3(&[8, 8], &[4, 4]).write(&source);
    let link = folder.at("link");
    std::os::unix::fs::symlink(&source, &link).unwrap();
    let before = tree(folder.path());
    let detour = format!("{source}/../source.zarr");
    let inside = format!("{source}/inside.zarr");
    for target in [
        &source,
        &format!("{source}/"),
        &link,
        &detour,
        &inside,
        &format!("{link}/inside"),
        &format!("{detour}/c/x"),
    ] {
        for options in [&[][..], &["--overwrite"], &["--resume"]] {
            let copy = [&["copy", &source, target, "--chunks", "2,2"], options].concat();
            rechunk(&copy).ends_with(4);
            assert_eq!(tree(folder.path()), before, "{target} {options:?}");
        }
    }
    // The target is a directory above the source.
    let (deep, above) = (folder.at("above/deep/source.zarr"), folder.at("above"));
    RawArray::v3(&[8, 8], &[4, 4]).write(&deep);
    let before = tree(folder.path());
    for options in [&[][..], &["--overwrite"]] {
        let copy = [&["copy", &deep, &above, "--chunks", "2,2"], options].concat();
        rechunk(&copy).ends_with(4);
        assert_eq!(tree(folder.path()), before, "{options:?}");
    }
    // Neither may the intermediate be.
    let (target, temp) = (folder.at("t.zarr"), format!("{source}/temp"));
    let copy =
        ["copy", &source, &target, "--chunks", "8,1", "--strategy", "push-pull", "--temp", &temp];
    rechunk(&copy).fails();
    assert!(!Path::new(&temp).exists());
}

#[test]
fn a_path_with_dots_is_a_path() {
    let folder = Folder::new();
    let source = folder.at("source.zarr");
    RawArray::v3(&[8, 8], &[4, 4]).write(&source);
    std::fs::create_dir(folder.at("work")).unwrap();
    let copy = ["copy", "../source.zarr", "../t.zarr", "--chunks", "2,2"];
    Run::rechunk(&copy).in_directory(folder.at("work").as_ref()).go().ok();
    rechunk(&["verify", &source, &folder.at("t.zarr")]).ok();
}

/// A file system of 2 MiB, mounted where only this run sees it; more room for the second run.
const DISK_FULL: &str = r#"
mount -t tmpfs -o size=2m none "$1" || exit 99
"$2" copy "$3" "$1/t.zarr" --chunks 16,512 --max-mem 64MiB
echo "first: $?"
ls -A "$1/t.zarr"
mount -o remount,size=64m none "$1" || exit 99
"$2" copy "$3" "$1/t.zarr" --chunks 16,512 --max-mem 64MiB --resume && "$2" verify "$3" "$1/t.zarr"
echo "second: $?"
"#;

#[test]
fn a_full_disk_stops_the_run_and_room_lets_it_go_on() {
    let folder = Folder::new();
    let (source, disk) = (folder.at("source.zarr"), folder.at("disk"));
    RawArray::v3(&[2048, 1024], &[64, 1024]).write(&source);
    std::fs::create_dir(&disk).unwrap();
    let may_mount = Command::new("unshare").args(["-m", "true"]).output();
    if !may_mount.is_ok_and(|output| output.status.success()) {
        return a_file_size_limit_stops_the_run(&source, &folder);
    }
    let shell = ["-m", "sh", "-c", DISK_FULL, "sh", &disk, BINARY, &source];
    let done = Run::program("unshare".as_ref(), &shell).go();
    assert_ne!(done.code, 99, "cannot mount: {}", done.stderr);
    let done = done.ok().says(&["space", "--resume"]);
    assert!(done.stdout.contains("first: 1"), "{done:?}");
    assert!(done.stdout.contains("second: 0"), "{done:?}");
    assert!(!done.stdout.contains("zarr.json"), "the target must not look finished: {done:?}");
}

/// Has writes fail at a size of file, where nothing can be mounted.
fn a_file_size_limit_stops_the_run(source: &str, folder: &Folder) {
    println!("no right to mount: a limit of the file size stands for a full disk");
    let target = folder.at("t.zarr");
    let limit = r#"ulimit -f 16; exec "$0" copy "$1" "$2" --chunks 16,512"#;
    Run::program("sh".as_ref(), &["-c", limit, BINARY, source, &target])
        .go()
        .ends_with(1)
        .says(&["--resume"]);
    assert!(!looks_finished(&target));
    rechunk(&["copy", source, &target, "--chunks", "16,512", "--resume"]).ok();
    rechunk(&["verify", source, &target]).ok();
}

#[test]
fn the_target_may_not_be_a_file() {
    let folder = Folder::new();
    let file = folder.at("notes.txt");
    std::fs::write(&file, "keep me").unwrap();
    rechunk(&["copy", &ostia(), &file]).ends_with(4).says(&["notes.txt"]);
    rechunk(&["copy", &ostia(), &format!("{file}/t.zarr")]).fails().says(&["notes.txt"]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "keep me");
}
