//! `rechunk apply`: its report and its refusals as objects, and its memory.

use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::RawArray;
use crate::harness::{Folder, Run, rechunk, tree};
use crate::memory::BEYOND_BYTES;
use crate::report::{assert_done, assert_planned, number};

const MIB: u64 = 1 << 20;

/// A plane of 24 by 36 uint16 in compressed chunks of 8 by 12, which are read whole.
fn plane(folder: &Folder) -> String {
    let (raw, path) = (folder.at("raw.zarr"), folder.at("plane.zarr"));
    RawArray::v3(&[24, 36], &[8, 12]).of_uint16().write(&raw);
    rechunk(&["copy", &raw, &path, "--chunks", "keep", "--codec", "zstd:1"]).ok();
    path
}

#[test]
fn the_report_says_what_is_computed() {
    let folder = Folder::new();
    let (source, target) = (plane(&folder), folder.at("t.zarr"));
    let apply = ["apply", &source, &target, "--op", "median:size=3", "--json", "--work", "8,12"];
    let boxes = ["--crop", "auto", "--blend", "1", "--blend-mode", "linear"];
    // A task box of 12 + 2 * 2 by 18 + 2 * 3 has two work chunks along each axis.
    let level = ["--level", "12,18;crop=2,0;blend=0,3"];
    let arguments = [&apply[..], &boxes, &level].concat();
    let planned = rechunk(&[&arguments[..], &["--dry-run"]].concat()).ok().json();
    assert_planned(&planned);
    assert!(!Path::new(&target).exists());
    let done = rechunk(&arguments).ok().json();
    assert_done(&done);
    for report in [&planned, &done] {
        assert_eq!(number(report, "apply.op_calls"), 16);
        assert_eq!(number(report, "apply.planned_op_calls"), 16);
        let levels = report["apply"]["levels"].as_array().unwrap();
        let counts: Vec<&Value> = levels.iter().map(|level| &level["task_boxes"]).collect();
        assert_eq!(counts, [16, 4]);
        assert_eq!(levels[0]["chunk"], json!([8, 12]));
        assert_eq!(levels[0]["crop"], json!([1, 1]));
        assert_eq!(levels[0]["blend"], json!([1, 1]));
        assert_eq!(levels[0]["mode"], "linear");
        assert_eq!(levels[1]["blend"], json!([0, 3]));
        assert_eq!(levels[1]["mode"], "quadratic");
        // Along the first axis a task reads rows -4 to 16, and 8 to 28: of three chunks, two each;
        // along the second -5 to 23, and 13 to 41: two each.
        let amplification = report["apply"]["read_amplification"].as_f64().unwrap();
        assert!((amplification - 16.0 / 9.0).abs() < 1e-12, "{amplification}");
    }
    assert_eq!(number(&done, "traffic.intermediate.put_requests"), 4);
}

/// Stores that wait for their turn do not work in place, though they are local.
#[test]
fn a_bounded_rate_changes_no_result() {
    let folder = Folder::new();
    let source = plane(&folder);
    let median = ["--op", "median:size=3", "--crop", "auto", "--threads", "2", "--work"];
    let directly: &[&str] = &["8,12"];
    let by_blocks: &[&str] = &["10,14"];
    let blended: &[&str] = &["8,12", "--blend", "1"];
    for (number, way) in [directly, by_blocks, blended].into_iter().enumerate() {
        let targets = ["free", "bounded"].map(|name| folder.at(&format!("{name}{number}.zarr")));
        let apply = |target: &str, more: &[&str]| {
            rechunk(&[&["apply", &source, target][..], &median, way, more].concat()).ok();
        };
        apply(&targets[0], &[]);
        apply(&targets[1], &["--bwlimit", "1MB", "--verify"]);
        rechunk(&["verify", &targets[0], &targets[1]]).ok();
    }
    let statistic = ["apply", &source, "--op", "min-max-mean", "--work", "8,12", "--threads", "2"];
    let free = rechunk(&statistic).ok().stdout;
    assert_eq!(rechunk(&[&statistic[..], &["--bwlimit", "1MB"]].concat()).ok().stdout, free);
}

/// The error of an apply that is refused; nothing is written.
fn refusal(options: &[&str]) -> Value {
    let folder = Folder::new();
    let (source, target) = (plane(&folder), folder.at("t.zarr"));
    let apply = ["apply", &source, &target, "--json"];
    let error = rechunk(&[&apply, options].concat()).ends_with(2).json()["error"].clone();
    assert!(!Path::new(&target).exists());
    assert!(!Path::new(&format!("{target}.rechunk")).exists());
    assert_eq!(error["exit_code"], json!(2));
    error
}

#[test]
fn a_refusal_has_a_code_and_a_proposal() {
    let op = ["--op", "identity", "--work"];
    let with = |options: &[&str]| refusal(&[&op, options].concat());
    let error = with(&["7,12", "--level", "24,36"]);
    assert_eq!(error["code"], "NOT_DIVISIBLE");
    assert!(error["proposal"].as_str().unwrap().contains('8'), "{error}");
    assert!(error["message"].as_str().unwrap().contains("24"), "{error}");
    for (options, code) in [
        (&["8,12", "--blend", "5"][..], "BLEND_GT_HALF"),
        (&["8,13", "--direct"], "UNALIGNED_WRITE"),
        (&["8,12", "--blend", "2", "--direct"], "SKIP_BLEND"),
        (&["8,12", "--blend", "2", "--blend-mode", "cubic"], "BLEND_MODE"),
        (&["8,12", "--gap", "1", "--expand", "work"], "GAP_ODD"),
        (&["8,12", "--gap", "2", "--blend", "2"], "GAP_BLEND_TOP"),
        (&["8,12", "--shrink", "--expand", "work"], "SHRINK_EXPAND"),
        (&["8,12", "--auto-divide", "--shrink", "--expand", "work"], "AUTODIV_SHRINK"),
        (&["8,12", "--reduce-max", "4,12"], "MAXRED_LT_CHUNK"),
        (&["8,12", "--level", "24,36;blend=2;mode=cubic"], "BLEND_MODE"),
        (&["8,12", "--box", "8:8,0:12"], "EMPTY_BBOX"),
        (&["8,12", "--box", "9:8,0:12"], "EMPTY_BBOX"),
        (&["8,12", "--box", "16:25,0:12"], "BBOX_OUTSIDE"),
        (&["8,12", "--exec", "true {in} {out}"], "OP_TWICE"),
    ] {
        assert_eq!(with(options)["code"], code, "{options:?}");
    }
    assert_eq!(refusal(&["--work", "8,12"])["code"], "OP_MISSING");
    let labels = ["--op", "threshold:min=3", "--work", "8,12", "--blend", "1"];
    assert_eq!(refusal(&labels)["code"], "BLEND_LABEL");
    // What is no matter of boxes has no code.
    let error = refusal(&["--op", "gausian:sigma=1", "--work", "8,12"]);
    assert_eq!(error.get("code"), None, "{error}");
    assert!(error["message"].as_str().unwrap().contains("gaussian"), "{error}");
}

/// Copies the plane into an OME-Zarr image whose pixels are 0.5 by 0.25 µm, and begin at 2 µm.
fn image(folder: &Folder, source: &str) -> String {
    let (group, level) = (folder.at("image.zarr"), folder.at("image.zarr/s0"));
    rechunk(&["copy", source, &level, "--chunks", "keep"]).ok();
    let axis = |name: &str| json!({"name": name, "type": "space", "unit": "micrometer"});
    let image = json!({
        "axes": [axis("y"), axis("x")],
        "datasets": [{"path": "s0", "coordinateTransformations": [
            {"type": "scale", "scale": [0.5, 0.25]},
            {"type": "translation", "translation": [2.0, 0.0]},
        ]}],
    });
    let attributes = json!({"ome": {"version": "0.5", "multiscales": [image]}});
    let document = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    std::fs::write(Path::new(&group).join("zarr.json"), document.to_string()).unwrap();
    level
}

#[test]
fn a_box_may_be_given_in_a_unit_of_length() {
    let folder = Folder::new();
    let plane = plane(&folder);
    let level = image(&folder, &plane);
    let apply = |source: &str, target: &str, boxes: &[&str]| {
        let target = folder.at(target);
        let arguments = ["apply", source, &target, "--op", "invert", "--work", "8,12", "--json"];
        rechunk(&[&arguments[..], boxes].concat())
    };
    let voxels = ["--box", "8:16,12:24"];
    apply(&level, "voxels.zarr", &voxels).ok();
    // Names of axes, which the image has, go with boxes by name.
    let chunks = |name: &str| {
        let mut tree = tree(Path::new(&folder.at(name)));
        tree.remove("zarr.json");
        tree
    };
    let expected = chunks("voxels.zarr");
    for (name, text, unit) in
        [("um.zarr", "y=6:10,x=3:6", "um"), ("nm.zarr", "6000:10000,3e3:6e3", "nanometers")]
    {
        apply(&level, name, &["--box", text, "--box-units", unit]).ok();
        assert_eq!(chunks(name), expected, "{text} {unit}");
    }
    // Names of axes come from the image for every setting.
    let names = ["--box", "y=8:16,x=12:24", "--crop", "y=1", "--blend", "x=1"];
    apply(&level, "names.zarr", &names).ok();
    // 6.2 µm is within a pixel: refused, or widened.
    let cut = ["--box", "y=6.2:9.7,x=3:6", "--box-units", "um"];
    let error = apply(&level, "cut.zarr", &cut).ends_with(2).json();
    assert_eq!(error["error"]["code"], "BBOX_NOT_INTEGRAL", "{error}");
    apply(&level, "wide.zarr", &[&cut[..], &["--expand", "voxel"]].concat()).ok();
    assert_eq!(chunks("wide.zarr"), expected);
    // N5 counts axes from the fastest.
    let n5 = folder.at("plane.n5");
    rechunk(&["copy", &plane, &n5, "--chunks", "keep"]).ok();
    let path = Path::new(&n5).join("attributes.json");
    let mut document: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    document["pixelResolution"] = json!({"dimensions": [0.25, 0.5], "unit": "um"});
    std::fs::write(&path, document.to_string()).unwrap();
    let of_n5 = ["--box", "4:8,3:6", "--box-units", "um", "--dry-run"];
    let planned = apply(&n5, "n5.zarr", &of_n5).ok().json();
    assert_eq!(number(&planned, "apply.op_calls"), 1);
    for (source, boxes, words) in [
        (&plane, ["--box", "0:1,0:1", "--box-units", "um"], "says no size of its voxels"),
        (&level, ["--box", "z=0:1", "--box-units", "um"], "no dimension `z`"),
        (&level, ["--box", "0:1,0:1", "--box-units", "pixel"], "no unit of length"),
        (&level, ["--box", "5,0:1", "--box-units", "um"], "no START:END"),
    ] {
        apply(source, "not.zarr", &boxes).ends_with(2).says(&[words]);
        assert!(!Path::new(&folder.at("not.zarr")).exists());
    }
    apply(&level, "not.zarr", &["--box-units", "um"]).ends_with(2).says(&["without --box"]);
}

/// One measured apply, of an array of float32.
struct Cell {
    shape: &'static [u64],
    source_chunks: &'static [u64],
    budget_mib: u64,
    threads: &'static str,
    options: &'static [&'static str],
}

#[rustfmt::skip]
const CELLS: [Cell; 9] = [
    // Direct, aligned; the source in slices that are read again and again.
    Cell { shape: &[128, 512, 512], source_chunks: &[1, 512, 512], budget_mib: 32, threads: "4", options: &[
        "--op", "gaussian:sigma=0.5", "--crop", "auto", "--work", "32,64,64", "--chunks", "32,64,64",
    ] },
    // Pulled: work chunks cut chunks of the target.
    Cell { shape: &[128, 512, 512], source_chunks: &[32, 64, 64], budget_mib: 48, threads: "16", options: &[
        "--op", "identity", "--work", "50,100,100", "--chunks", "32,64,64",
    ] },
    Cell { shape: &[128, 512, 512], source_chunks: &[32, 64, 64], budget_mib: 48, threads: "16", options: &[
        "--op", "identity", "--work", "50,100,100", "--chunks", "32,64,64", "--codec", "zstd:1",
    ] },
    Cell { shape: &[128, 512, 512], source_chunks: &[64, 64, 64], budget_mib: 64, threads: "4", options: &[
        "--op", "gaussian:sigma=1", "--work", "64,64,64", "--blend", "8", "--chunks", "16,512,64",
    ] },
    Cell { shape: &[128, 512, 512], source_chunks: &[64, 64, 64], budget_mib: 96, threads: "1", options: &[
        "--op", "identity", "--work", "32,96,96", "--blend", "8", "--level", "64,256,256;crop=0;blend=8,8,8",
        "--auto-divide", "--expand", "work", "--chunks", "64,64,64",
    ] },
    // One large task at a time, and shards.
    Cell { shape: &[96, 512, 512], source_chunks: &[96, 512, 16], budget_mib: 256, threads: "16", options: &[
        "--op", "identity", "--work", "96,256,256", "--blend", "0,16,16", "--chunks", "16,64,64", "--shards", "96,512,512",
    ] },
    Cell { shape: &[4096, 8192], source_chunks: &[256, 8192], budget_mib: 40, threads: "16", options: &[
        "--op", "threshold:min=4000", "--work", "512,512", "--chunks", "512,512",
    ] },
    Cell { shape: &[4096, 8192], source_chunks: &[1024, 1024], budget_mib: 48, threads: "2", options: &[
        "--op", "rescale:scale=2", "--cast", "uint16", "--work", "700,700", "--blend", "30", "--blend-mode", "max",
        "--chunks", "512,512",
    ] },
    Cell { shape: &[33_554_432], source_chunks: &[1_000_000], budget_mib: 32, threads: "8", options: &[
        "--op", "identity", "--work", "700000", "--blend", "1000", "--blend-mode", "bump", "--chunks", "100000",
        "--boundary", "reflect", "--box", "5:33000000",
    ] },
];

/// Runs one; a line about it, and whether it kept to its budget. Where it is refused, it is allowed
/// what the refusal names.
fn measure(cell: &Cell, folder: &Folder) -> (String, bool) {
    let (source, target) = (folder.at("source.zarr"), folder.at("target.zarr"));
    let apply = ["apply", &source, &target, "--json", "--threads", cell.threads];
    let apply = [&apply[..], cell.options].concat();
    let mut budget = cell.budget_mib * MIB;
    let with = |budget: u64| [budget.to_string()];
    let planned = with(budget);
    let planned = rechunk(&[&apply[..], &["--dry-run", "--max-mem", &planned[0]]].concat());
    if planned.code != 0 {
        let stderr = planned.ends_with(5).stderr;
        let (_, hint) = stderr.split_once("--max-mem ").expect("a hint names the minimum");
        budget = hint.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    }
    let allowed = with(budget);
    let run = [&apply[..], &["--max-mem", &allowed[0], "--no-fsync", "--overwrite"]].concat();
    let (done, peak_bytes) = Run::rechunk(&run).go_measured();
    let report = done.ok().json();
    assert_eq!(number(&report, "tasks.done"), number(&report, "tasks.total"));
    let line = format!(
        "{:>14} {:?}: {:>4} MiB allowed, {:>4} planned, {:>4} at its peak, {:.1} s",
        format!("{:?}", cell.shape),
        cell.options,
        budget / MIB,
        number(&report, "memory.planned_peak_bytes") / MIB,
        peak_bytes / MIB,
        report["elapsed_seconds"].as_f64().unwrap(),
    );
    (line, peak_bytes <= budget + BEYOND_BYTES)
}

#[test]
#[ignore = "long: minutes"]
fn applies_stay_within_their_budget() {
    let mut over = 0;
    for cell in &CELLS {
        let folder = Folder::new();
        RawArray::v3(cell.shape, cell.source_chunks).write(&folder.at("source.zarr"));
        let (line, is_within) = measure(cell, &folder);
        println!("{line}{}", if is_within { "" } else { "   OVER" });
        over += usize::from(!is_within);
    }
    let (all, beyond) = (CELLS.len(), BEYOND_BYTES >> 20);
    assert_eq!(over, 0, "{over} of {all} applies took more than was allowed and {beyond} MiB");
}
