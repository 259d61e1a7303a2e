//! The commands as they are typed: what they do, print and exit with.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::arrays::{RawArray, write_json};
use crate::harness::{Folder, Run, fixture, looks_finished, ostia, rechunk, tree};
use crate::report::{assert_done, assert_planned, number, text};

/// Whole time series of a patch of pixels.
const BY_PIXEL: &str = "time=-1,latitude=6,longitude=36";

fn info(path: &str) -> Value {
    rechunk(&["info", path, "--json"]).ok().json()
}

#[test]
fn copies_between_formats_keep_every_element_and_say_what_they_did() {
    let folder = Folder::new();
    let (v3, v2, back) = (folder.at("v3.zarr"), folder.at("v2.zarr"), folder.at("back.zarr"));
    for (source, target, format) in
        [(&ostia(), &v3, "zarr3"), (&ostia(), &v2, "zarr2"), (&v3, &back, "zarr2")]
    {
        let copy = ["copy", source, target, "--format", format, "--chunks", BY_PIXEL, "--json"];
        let done = rechunk(&[&copy[..], &["--max-mem", "64MiB"]].concat()).ok();
        assert_eq!(done.stderr, "", "with --json there is no talk");
        assert_done(&done.json());
        rechunk(&["verify", &ostia(), target]).ok();
        let info = info(target);
        assert_eq!(info["format"], format);
        assert_eq!(info["chunk_shape"], json!([54, 6, 36]));
        assert_eq!(info["dimension_names"], json!(["time", "latitude", "longitude"]));
        assert_eq!(info["attributes"]["units"], "K");
        assert_eq!(info["attributes"].get("_ARRAY_DIMENSIONS"), None);
        assert!(!Path::new(&format!("{target}.rechunk")).exists(), "the work directory is removed");
    }
}

#[test]
fn every_strategy_that_fits_does_what_its_plan_said() {
    let folder = Folder::new();
    for (kind, chunks) in [
        ("passthrough", "keep"),
        ("direct", "14,9,100"),
        ("keep", BY_PIXEL),
        ("pull", BY_PIXEL),
        ("push-pull", BY_PIXEL),
        ("multistage", BY_PIXEL),
        ("memory", BY_PIXEL),
    ] {
        let target = folder.at(kind);
        let options = ["--chunks", chunks, "--strategy", kind, "--max-mem", "64MiB", "--json"];
        let done = rechunk(&[&["copy", &ostia(), &target], &options[..]].concat()).ok();
        let report = done.json();
        assert_eq!(text(&report, "plan.kind"), kind);
        assert_done(&report);
        rechunk(&["verify", &ostia(), &target]).ok();
    }
}

#[test]
fn a_plan_writes_nothing_and_says_what_the_copy_then_does() {
    let folder = Folder::new();
    let target = folder.at("by_pixel.zarr");
    let options = ["--chunks", BY_PIXEL, "--max-mem", "64MiB", "--json"];
    let planned = rechunk(&[&["plan", &ostia(), &target], &options[..]].concat()).ok().json();
    assert_planned(&planned);
    assert!(planned["candidates"].as_array().is_some_and(|all| all.len() > 1));
    assert_eq!(tree(folder.path()).len(), 0, "a plan leaves nothing");
    let copied = rechunk(&[&["copy", &ostia(), &target], &options[..]].concat()).ok().json();
    assert_eq!(planned["plan"], copied["plan"]);
    assert_eq!(planned["estimate"], copied["estimate"]);
}

#[test]
fn a_saved_plan_runs_as_planned() {
    let folder = Folder::new();
    let (plan, planned, copied) =
        (folder.at("plan.json"), folder.at("a.zarr"), folder.at("b.zarr"));
    let options = ["--chunks", BY_PIXEL, "--max-mem", "64MiB"];
    rechunk(&[&["plan", &ostia(), &planned, "--out", &plan], &options[..]].concat()).ok();
    assert!(!Path::new(&planned).exists());
    let page = folder.at("run.html");
    let report = rechunk(&["run", &plan, "--json", "--html", &page]).ok().json();
    assert_done(&report);
    assert!(std::fs::read_to_string(&page).unwrap().contains("Measured against predicted"));
    rechunk(&[&["copy", &ostia(), &copied], &options[..]].concat()).ok();
    assert_eq!(tree(planned.as_ref()), tree(copied.as_ref()));

    rechunk(&["run", &plan]).ends_with(4).says(&["exists"]);
    std::fs::write(&plan, "{}").unwrap();
    rechunk(&["run", &plan]).ends_with(2).says(&["plan.json"]);
    rechunk(&["run", &folder.at("nowhere.json")]).fails().says(&["nowhere.json"]);
}

#[test]
fn planning_needs_no_data() {
    let arguments = [
        "plan",
        "--shape",
        "6443,17999,36000",
        "--dtype",
        "int16",
        "--source-chunks",
        "5,1799,3600",
        "--chunks",
        "6443,100,100",
        "--max-mem",
        "2GB",
        "--workers",
        "20",
        "--source-profile",
        "s3",
        "--temp-profile",
        "s3",
        "--target-profile",
        "s3",
    ];
    let report = rechunk(&[&arguments[..], &["--json"]].concat()).ok().json();
    assert_planned(&report);
    // 1289 × 11 × 10 source chunks hold the array, each read at least once; 180 × 360 target
    // chunks.
    assert!(number(&report, "estimate.source.get_requests") >= 1289 * 11 * 10);
    assert_eq!(number(&report, "estimate.target.put_requests"), 180 * 360);
    assert_eq!(number(&report, "memory.budget_bytes"), 2_000_000_000);
    let words = rechunk(&arguments).ok();
    assert!(words.stdout.contains(text(&report, "plan.kind")), "{}", words.stdout);
    assert_eq!(words.stderr, "", "what was asked for goes to stdout");
}

#[test]
fn a_dry_run_writes_nothing() {
    let folder = Folder::new();
    let target = folder.at("target.zarr");
    let done = rechunk(&["copy", &ostia(), &target, "--chunks", BY_PIXEL, "--dry-run"]).ok();
    assert!(done.stdout.contains("54 × 6 × 36"), "{}", done.stdout);
    assert_eq!(tree(folder.path()).len(), 0);
    assert!(!done.stderr.contains("refused"), "{}", done.stderr);
    // The plan of what would be refused may be looked at.
    rechunk(&["copy", &ostia(), &target]).ok();
    let before = tree(folder.path());
    let done = rechunk(&["copy", &ostia(), &target, "--chunks", BY_PIXEL, "--dry-run"]).ok();
    assert!(done.stdout.contains("54 × 6 × 36"), "{}", done.stdout);
    done.says(&["without --dry-run this is refused", "exists and is not empty"]);
    assert_eq!(tree(folder.path()), before);
}

#[test]
fn an_existing_target_is_refused_unless_told() {
    let folder = Folder::new();
    let target = folder.at("target.zarr");
    rechunk(&["copy", &ostia(), &target]).ok();
    let before = tree(folder.path());
    for chunks in ["keep", BY_PIXEL] {
        rechunk(&["copy", &ostia(), &target, "--chunks", chunks]).ends_with(4).says(&[
            "exists",
            "--overwrite",
            &target,
        ]);
    }
    assert_eq!(tree(folder.path()), before);
    rechunk(&["copy", &ostia(), &target, "--chunks", BY_PIXEL, "--overwrite"]).ok();
    rechunk(&["verify", &ostia(), &target]).ok();
    assert_eq!(info(&target)["chunk_shape"], json!([54, 6, 36]));
    assert_eq!(info(&target)["stored_chunks"], 36, "nothing of the old array is left");

    let strange = folder.at("strange");
    std::fs::create_dir(&strange).unwrap();
    std::fs::write(format!("{strange}/letter.txt"), "Dear all").unwrap();
    rechunk(&["copy", &ostia(), &strange]).ends_with(4).says(&["strange"]);
    assert_eq!(std::fs::read_to_string(format!("{strange}/letter.txt")).unwrap(), "Dear all");
}

#[test]
fn what_does_not_fit_names_a_minimum_that_works() {
    let folder = Folder::new();
    for (kind, chunks) in
        [("auto", BY_PIXEL), ("auto", "keep"), ("push-pull", BY_PIXEL), ("pull", BY_PIXEL)]
    {
        let target = folder.at(&format!("{kind}-{}", chunks.len()));
        let copy = ["copy", &ostia(), &target, "--chunks", chunks, "--strategy", kind, "--max-mem"];
        let done = rechunk(&[&copy[..], &["4KiB"]].concat()).ends_with(5);
        let minimum = named_minimum(&done.stderr);
        assert!(!Path::new(&target).exists() && !Path::new(&format!("{target}.rechunk")).exists());
        let less = (minimum - 1).to_string();
        rechunk(&[&copy[..], &[less.as_str()]].concat()).ends_with(5);
        let report =
            rechunk(&[&copy[..], &[minimum.to_string().as_str(), "--json"]].concat()).ok().json();
        assert_done(&report);
        rechunk(&["verify", &ostia(), &target]).ok();
    }
}

fn named_minimum(stderr: &str) -> u64 {
    let (_, tail) = stderr.split_once("--max-mem ").unwrap_or_else(|| panic!("no hint: {stderr}"));
    let digits: String = tail.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

#[test]
fn verify_finds_the_first_difference_and_counts_them_all() {
    let folder = Folder::new();
    let (a, b) = (folder.at("a.zarr"), folder.at("b.zarr"));
    RawArray::v2(&[20, 30], &[7, 8]).write(&a);
    let other = RawArray::v3(&[20, 30], &[5, 30]);
    other.write(&b);
    rechunk(&["verify", &a, &b]).ok();
    // Elements (6, 4) and (17, 29), each in one byte of its chunk.
    for (index, element) in [([1, 0], 34), ([3, 0], 2 * 30 + 29)] {
        let path = Path::new(&b).join(other.key(&index));
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[element * 4 + 1] ^= 0x40;
        std::fs::write(path, bytes).unwrap();
    }
    let done = rechunk(&["verify", &a, &b]).ends_with(6);
    let said = format!("{}{}", done.stdout, done.stderr);
    assert!(said.contains('2') && said.contains("6, 4"), "{said}");
    let report = rechunk(&["verify", &a, &b, "--json"]).ends_with(6).json();
    assert_eq!(report["equal"], false);
    assert_eq!(report["differing_elements"], 2);
    assert_eq!(report["first_difference"], json!([6, 4]));
    assert!(!report["first_region"].is_null());

    let shorter = folder.at("shorter.zarr");
    RawArray::v2(&[20, 29], &[7, 8]).write(&shorter);
    rechunk(&["verify", &a, &shorter]).fails().says(&["29"]);
}

#[test]
fn verify_compares_bits_so_that_nan_equals_itself() {
    let folder = Folder::new();
    let target = folder.at("t.zarr");
    let source = fixture("upstream/zarrita/v3/1d.contiguous.f4.be");
    rechunk(&["copy", &source, &target, "--chunks", "3"]).ok();
    rechunk(&["verify", &source, &target]).ok();
}

#[test]
fn info_tells_what_is_stored() {
    let words = rechunk(&["info", &ostia()]).ok();
    for expected in ["latitude 18", "float32", "7 × 18 × 100", "blosc", "units", "longitude"] {
        assert!(words.stdout.contains(expected), "`{expected}` in\n{}", words.stdout);
    }
    let report = info(&ostia());
    assert_eq!((&report["chunks"], &report["missing_chunks"]), (&json!(40), &json!(0)));
    let folder = Folder::new();
    let gaps = folder.at("gaps.zarr");
    RawArray::v3(&[8, 8], &[4, 4]).write(&gaps);
    std::fs::remove_file(format!("{gaps}/c/1/0")).unwrap();
    assert_eq!(info(&gaps)["missing_chunks"], 1);
    // Shards take a request each, as chunks without shards do.
    for (shards, hint) in [("2,2", "16 shards of less than 1 MiB"), ("none", "64 chunks of less")] {
        let target = folder.at(&format!("{shards}.zarr"));
        rechunk(&["copy", &gaps, &target, "--chunks", "1,1", "--shards", shards]).ok();
        let shown = rechunk(&["info", &target]).ok().stdout;
        assert!(shown.contains(hint), "{hint} in\n{shown}");
    }
}

#[test]
fn shards_inside_shards_go_with_the_rest() {
    let folder = Folder::new();
    let (whole, nested) = (folder.at("whole.zarr"), folder.at("nested.zarr"));
    RawArray::v3(&[8, 8], &[8, 8]).write(&whole);
    let (_, mut document) = RawArray::v3(&[8, 8], &[4, 4]).metadata();
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let sharding = |chunk_shape: Value, codec: &Value| {
        json!({"name": "sharding_indexed", "configuration": {
            "chunk_shape": chunk_shape, "codecs": [codec], "index_codecs": [bytes],
        }})
    };
    let inner = sharding(json!([2, 2]), &bytes);
    document["chunk_grid"]["configuration"]["chunk_shape"] = json!([8, 8]);
    document["codecs"] = json!([sharding(json!([4, 4]), &inner)]);
    write_json(&Path::new(&nested).join("zarr.json"), &document);
    let target = folder.at("flat.zarr");
    let done = rechunk(&["copy", &nested, &target, "--shards", "none", "--chunks", "4,4"]).ok();
    done.says(&["shards inside chunks are not kept"]);
    let found: Value =
        serde_json::from_slice(&std::fs::read(format!("{target}/zarr.json")).unwrap()).unwrap();
    assert_eq!(found["codecs"], json!([bytes]));
}

#[test]
fn the_order_of_axes_can_be_chosen() {
    let folder = Folder::new();
    let (source, target) = (folder.at("a.zarr"), folder.at("b.zarr"));
    RawArray::v3(&[8, 6], &[4, 3]).write(&source);
    let codec = r#"[{"name": "transpose", "configuration": {"order": [1, 0]}}, "crc32c"]"#;
    rechunk(&["copy", &source, &target, "--chunks", "8,2", "--codec", codec, "--verify"]).ok();
    let found: Value =
        serde_json::from_slice(&std::fs::read(format!("{target}/zarr.json")).unwrap()).unwrap();
    assert_eq!(found["codecs"][0]["configuration"]["order"], json!([1, 0]));
}

#[test]
fn info_says_what_a_way_to_read_takes() {
    let text = rechunk(&["info", &ostia(), "--access", "time,map"]).ok().stdout;
    let about: Vec<&str> =
        text.lines().skip_while(|line| !line.contains("per chunk")).take(6).collect();
    let expected = [
        "  per chunk   12.5 KiB to 27.2 KiB stored, median 25.6 KiB",
        "     8.00 KiB and more  ▊ 1",
        "     16.0 KiB and more  ████████████████████████████████ 39",
        "  access  read          requests  decoded       for  times   takes",
        "  time    54 × 1 × 1           8  394 KiB     216 B  1,867  < 1 ms",
        "  map     1 × 18 × 432         5  246 KiB  30.4 KiB  8.102  < 1 ms",
    ];
    assert_eq!(about, expected, "{text}");
    let folder = Folder::new();
    let scenes = folder.at("scenes.zarr");
    RawArray::v3(&[600, 20, 30], &[1, 20, 30]).write(&scenes);
    let report = rechunk(&["info", &scenes, "--access", "time", "--json"]).ok().json();
    let read = &report["access"][0];
    assert_eq!((&read["requests"], &read["amplification"]), (&json!(600), &json!(600.0)));
    assert_eq!(read["better"]["spec"], "-1,auto,auto");
    let hint = "time takes 600 requests; it would take 1 with --chunks -1,auto,auto";
    assert!(report["hints"].as_array().unwrap().contains(&json!(hint)), "{report}");
    rechunk(&["copy", &scenes, &folder.at("t.zarr"), "--chunks", "-1,auto,auto"]).ok();
    let better = rechunk(&["info", &folder.at("t.zarr"), "--access", "time", "--json"]).ok().json();
    assert_eq!(better["access"][0]["requests"], 1, "as was said");
    let group = rechunk(&["info", &fixture("ostia_monthly.zarr"), "--access", "latitude"]).ok();
    let expected = "surface_temperature latitude  1 × 18 × 1         1  49.2 KiB  72 B    700";
    assert!(group.stdout.contains(expected), "{}", group.stdout);
    let said = ["no dimension `depth`", "hint"];
    rechunk(&["info", &ostia(), "--access", "depth"]).ends_with(2).says(&said);
    rechunk(&["info", &fixture("ostia_monthly.zarr"), "--access", "depth"])
        .ends_with(2)
        .says(&said);
}

#[test]
fn manual_pages_are_there_for_every_command() {
    let page = rechunk(&["man"]).ok().stdout;
    assert!(page.starts_with(".ie") && page.contains(".TH rechunk 1"), "{page}");
    let folder = Folder::new();
    rechunk(&["man", &folder.at("")]).ok();
    let copy = std::fs::read_to_string(folder.at("rechunk-copy.1")).unwrap();
    assert!(copy.contains("max\\-mem") && copy.contains("Examples"), "{copy}");
    for name in ["rechunk.1", "rechunk-info.1", "rechunk-clean.1"] {
        assert!(folder.path().join(name).exists(), "{name}");
    }
    rechunk(&["man", &folder.at("missing")]).ends_with(2).says(&["missing"]);
}

#[test]
fn missing_chunks_stay_missing_and_are_no_error() {
    let folder = Folder::new();
    let (source, target) = (folder.at("gaps.zarr"), folder.at("t.zarr"));
    RawArray::v3(&[8, 8], &[4, 4]).write(&source);
    for chunk in ["0/0", "0/1"] {
        std::fs::remove_file(format!("{source}/c/{chunk}")).unwrap();
    }
    let report = rechunk(&["copy", &source, &target, "--chunks", "2,8", "--json"]).ok().json();
    assert_done(&report);
    assert_eq!(number(&report, "traffic.source.get_missing"), 2);
    assert_eq!(number(&report, "traffic.target.put_skipped"), 2);
    rechunk(&["verify", &source, &target]).ok();
    let full = folder.at("full.zarr");
    rechunk(&["copy", &source, &full, "--chunks", "2,8", "--write-empty", "always"]).ok();
    assert_eq!(
        (info(&target)["missing_chunks"].clone(), info(&full)["missing_chunks"].clone()),
        (json!(2), json!(0))
    );
}

#[test]
fn the_demo_works_in_an_empty_directory_and_only_there() {
    let folder = Folder::new();
    let done = Run::rechunk(&["demo"]).in_directory(folder.path()).go().ok();
    assert!(done.stdout.is_empty(), "{}", done.stdout);
    let target = folder.at("rechunk-demo/by_pixel.zarr");
    rechunk(&["verify", &ostia(), &target]).ok();
    Run::rechunk(&["demo"]).in_directory(folder.path()).go().ends_with(4).says(&["rechunk-demo"]);
    let report = rechunk(&["demo", &folder.at("other"), "--json"]).ok().json();
    assert_done(&report);
}

#[test]
fn completions_are_scripts_of_their_shell() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = rechunk(&["completions", shell]).ok().stdout;
        assert!(script.contains("--max-mem") || script.contains("max-mem"), "{shell}");
        let path = folder.at(shell);
        std::fs::write(&path, script).unwrap();
        if let Ok(checked) = Command::new(shell).args(["-n", &path]).output() {
            assert!(
                checked.status.success(),
                "{shell}: {}",
                String::from_utf8_lossy(&checked.stderr)
            );
        }
    }
    rechunk(&["completions", "cobol"]).ends_with(2);
}

#[test]
fn wrong_usage_exits_with_2_and_writes_nothing() {
    let folder = Folder::new();
    let target = folder.at("t.zarr");
    let source = ostia();
    let copy = ["copy", &source, &target];
    for wrong in [
        &["--chunks", "1,2"][..],
        &["--chunks", "0,1,1"],
        &["--chunks", "1,1,-5"],
        &["--chunks", "depth=4"],
        &["--chunks", "a,b,c"],
        &["--max-mem", "lots"],
        &["--codec", "zstd:99"],
        &["--codec", "lzma2000"],
        &["--strategy", "magic"],
        &["--threads", "0"],
        &["--format", "netcdf"],
        &["--overwrite", "--resume"],
        &["--no-such-option"],
    ] {
        rechunk(&[&copy[..], wrong].concat()).ends_with(2);
        assert!(tree(folder.path()).is_empty(), "{wrong:?} left something");
    }
    for wrong in [
        &[][..],
        &["copy"],
        &["copy", &source],
        &["plan"],
        &["resize"],
        &["plan", "--shape", "4,4"],
    ] {
        rechunk(wrong).ends_with(2);
    }
    rechunk(&["--help"]).ok();
    rechunk(&["--version"]).ok();
}

#[test]
fn a_pipe_gets_data_and_no_colours() {
    let folder = Folder::new();
    let done = rechunk(&["copy", &ostia(), &folder.at("t.zarr"), "--chunks", BY_PIXEL]).ok();
    assert_eq!(done.stdout, "", "talk goes to stderr");
    assert!(done.stderr.contains("54 × 6 × 36"), "{}", done.stderr);
    for done in [
        done,
        Run::rechunk(&["info", &ostia()]).env("NO_COLOR", "1").go().ok(),
        Run::rechunk(&["copy", &ostia(), &folder.at("u.zarr"), "-v"])
            .env("NO_COLOR", "1")
            .go()
            .ok(),
        rechunk(&["copy", "nowhere", &folder.at("v.zarr")]).ends_with(3),
    ] {
        assert!(!format!("{}{}", done.stdout, done.stderr).contains('\x1b'), "{done:?}");
    }
    let quiet = rechunk(&["copy", &ostia(), &folder.at("q.zarr"), "-q"]).ok();
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    let loud = rechunk(&["copy", "nowhere", &folder.at("v.zarr"), "-q"]).ends_with(3);
    assert!(loud.stderr.contains("nowhere"), "an error is said even with -q");
}

#[test]
fn a_broken_pipe_is_no_error() {
    for arguments in
        [&["info", &ostia()][..], &["info", &ostia(), "--json"], &["completions", "bash"]]
    {
        let mut child = Run::rechunk(arguments).start();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && stderr.is_empty(),
            "{arguments:?}: {} {stderr}",
            output.status
        );
    }
}

#[test]
fn options_can_come_from_the_environment() {
    let folder = Folder::new();
    let arguments = ["plan", &ostia(), &folder.at("t.zarr"), "--chunks", BY_PIXEL, "--json"];
    let report = Run::rechunk(&arguments).env("RECHUNK_MAX_MEM", "96MiB").go().ok().json();
    assert_eq!(number(&report, "memory.budget_bytes"), 96 << 20);
}

#[test]
fn the_target_is_verified_on_request() {
    let folder = Folder::new();
    let target = folder.at("t.zarr");
    let report = rechunk(&["copy", &ostia(), &target, "--chunks", BY_PIXEL, "--verify", "--json"])
        .ok()
        .json();
    assert_eq!(report["verified"], true);
    assert!(looks_finished(&target));
}

#[test]
fn a_plan_can_be_drawn() {
    let folder = Folder::new();
    let svg = folder.at("plan.svg");
    rechunk(&["plan", &ostia(), "--chunks", BY_PIXEL, "--svg", &svg]).ok();
    assert!(std::fs::read_to_string(&svg).unwrap().contains("<svg"));
}

#[test]
fn progress_can_be_read_by_a_program() {
    let folder = Folder::new();
    let done = rechunk(&[
        "copy",
        &ostia(),
        &folder.at("t.zarr"),
        "--chunks",
        BY_PIXEL,
        "--json",
        "--progress",
        "json",
    ])
    .ok();
    let lines: Vec<Value> =
        done.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(!lines.is_empty());
    assert_done(&done.json());
}

#[test]
fn a_closed_stdin_and_no_home_are_no_trouble() {
    let folder = Folder::new();
    let status = Command::new(crate::harness::BINARY)
        .args(["copy", &ostia(), &folder.at("t.zarr"), "-q"])
        .env_clear()
        .stdin(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Every byte takes its time, also the last one.
#[test]
fn no_more_bytes_a_second_are_moved_than_allowed() {
    let folder = Folder::new();
    let (target, source) = (folder.at("t.zarr"), ostia());
    let copy = ["copy", &source, &target, "--chunks", BY_PIXEL, "--json"];
    let began = std::time::Instant::now();
    let report = rechunk(&[&copy[..], &["--bwlimit", "1MB"]].concat()).ok().json();
    let seconds = began.elapsed().as_secs_f64();
    assert_done(&report);
    let moved = number(&report, "traffic.source.read_bytes")
        + number(&report, "traffic.target.written_bytes");
    assert!(seconds >= moved as f64 / 1e6, "{moved} bytes in {seconds} s");
    let expected = report.pointer("/estimate/seconds").and_then(Value::as_f64).unwrap();
    assert!(expected >= moved as f64 / 1e6 * 0.5, "{moved} bytes were expected in {expected} s");
    for rate in ["0", "fast"] {
        let other = folder.at("other.zarr");
        rechunk(&["copy", &source, &other, "--bwlimit", rate]).ends_with(2).says(&["--bwlimit"]);
        assert!(!Path::new(&other).exists());
    }
}

#[test]
fn log_messages_go_to_a_file_and_are_kept() {
    let folder = Folder::new();
    let (log, source) = (folder.at("run.log"), ostia());
    for target in ["a.zarr", "b.zarr"] {
        let target = folder.at(target);
        let done =
            rechunk(&["copy", &source, &target, "--chunks", BY_PIXEL, "--log-file", &log, "-q"])
                .ok();
        assert_eq!(done.stderr, "");
    }
    let text = std::fs::read_to_string(&log).unwrap();
    let begun = text.lines().filter(|line| line.contains("INFO") && line.contains("begins"));
    assert_eq!(begun.count(), 2, "{text}");
    assert!(!text.contains('\u{1b}'), "no colours in a file");
    let nowhere = folder.at("missing/run.log");
    let target = folder.at("c.zarr");
    rechunk(&["copy", &source, &target, "--log-file", &nowhere]).ends_with(2).says(&["--log-file"]);
    assert!(!Path::new(&target).exists());
}

/// A run in the background says how far it is when it is asked, and goes on.
#[cfg(unix)]
#[test]
fn a_signal_asks_how_far_a_run_is() {
    use std::io::{BufRead, BufReader, Read};
    let folder = Folder::new();
    let source = ostia();
    let mut child = Command::new(crate::harness::BINARY)
        .args(["copy", &source, &folder.at("t.zarr"), "--chunks", BY_PIXEL, "--json"])
        .args(["--bwlimit", "500kB", "--progress", "json"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap(); // it has begun, and answers
    for _ in 0..4 {
        let asked = Command::new("kill").args(["-USR1", &child.id().to_string()]).status().unwrap();
        assert!(asked.success());
        line.clear();
        said.read_line(&mut line).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["event"], "progress");
    }
    said.read_to_string(&mut line).unwrap();
    assert!(child.wait().unwrap().success());
}
