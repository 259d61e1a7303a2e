//! Elements that differ in length: cut into any chunks and shards, compared, selected, and refused
//! where their chunks lie.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::arrays::write_json;
use crate::harness::{BINARY, Done, Folder, Run, rechunk, tool, tree};
use crate::memory::BEYOND_BYTES;
use crate::oracle::{World, ask, available, python};
use crate::report::{assert_done, number, text};

const MIB: u64 = 1 << 20;
const SHAPE: [u64; 2] = [23, 9];
const CHUNK: [u64; 2] = [5, 4];
/// Chunk of the source that is not there.
const ABSENT: [u64; 2] = [1, 0];
/// Element of absent chunks.
const FILL: &str = "none";

/// Text of the element at a position: says where it is, in many lengths.
fn word(position: &[u64]) -> String {
    let sum = usize::try_from(position.iter().sum::<u64>()).unwrap();
    format!("{position:?}é").repeat(sum % 4)
}

/// As `vlen-utf8` stores them.
fn stream(elements: &[String]) -> Vec<u8> {
    let mut bytes = u32::try_from(elements.len()).unwrap().to_le_bytes().to_vec();
    for element in elements {
        bytes.extend(u32::try_from(element.len()).unwrap().to_le_bytes());
        bytes.extend_from_slice(element.as_bytes());
    }
    bytes
}

fn parsed(stream: &[u8]) -> Vec<String> {
    let word = |at: usize| u32::from_le_bytes(stream[at..at + 4].try_into().unwrap()) as usize;
    let mut at = 4;
    let mut element = || {
        let bytes = &stream[at + 4..at + 4 + word(at)];
        at += 4 + bytes.len();
        String::from_utf8(bytes.to_vec()).unwrap()
    };
    (0..word(0)).map(|_| element()).collect()
}

fn document(shape: &[u64], chunk: &[u64]) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "string",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunk}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": FILL,
        "codecs": [{"name": "vlen-utf8"}], "attributes": {"kept": true},
        "dimension_names": (0..shape.len()).map(|axis| format!("d{axis}")).collect::<Vec<_>>(),
    })
}

/// Writes an array of texts without a codec.
fn write(path: &str, shape: [u64; 2], chunk: [u64; 2], word: impl Fn(&[u64]) -> String) {
    write_json(&Path::new(path).join("zarr.json"), &document(&shape, &chunk));
    for row in 0..shape[0].div_ceil(chunk[0]) {
        for column in 0..shape[1].div_ceil(chunk[1]) {
            if [row, column] == ABSENT {
                continue;
            }
            let mut elements = Vec::new();
            for y in row * chunk[0]..(row + 1) * chunk[0] {
                for x in column * chunk[1]..(column + 1) * chunk[1] {
                    let is_inside = y < shape[0] && x < shape[1];
                    elements.push(if is_inside { word(&[y, x]) } else { FILL.to_owned() });
                }
            }
            let key = Path::new(path).join(format!("c/{row}/{column}"));
            std::fs::create_dir_all(key.parent().unwrap()).unwrap();
            std::fs::write(key, stream(&elements)).unwrap();
        }
    }
}

pub(crate) fn source(folder: &Folder) -> String {
    let path = folder.at("source.zarr");
    write(&path, SHAPE, CHUNK, word);
    path
}

/// Elements of the source, in C order.
fn truth(rows: std::ops::Range<u64>) -> Vec<String> {
    let at = |y: u64, x: u64| {
        let is_absent = [y / CHUNK[0], x / CHUNK[1]] == ABSENT;
        if is_absent { FILL.to_owned() } else { word(&[y, x]) }
    };
    rows.flat_map(|y| (0..SHAPE[1]).map(move |x| at(y, x))).collect()
}

/// The elements of an array, read by way of one chunk without a codec.
fn elements(folder: &Folder, path: &str) -> Vec<String> {
    let plain = folder.at("plain.zarr");
    let options = ["--chunks=-1", "--codec", "none", "--shards", "none", "--overwrite", "-q"];
    let format = ["--format", "zarr3", "--write-empty", "always"];
    rechunk(&[&["copy", path, &plain][..], &options, &format].concat()).ok();
    parsed(&std::fs::read(Path::new(&plain).join("c/0/0")).unwrap())
}

fn copy(source: &str, target: &str, options: &[&str]) -> Done {
    rechunk(&[&["copy", source, target, "--overwrite"], options].concat())
}

#[test]
fn strings_are_cut_into_any_chunks_and_shards() {
    let folder = Folder::new();
    let source = source(&folder);
    let target = folder.at("target.zarr");
    for (chunks, more) in [
        ("1,9", &[][..]),
        ("23,1", &["--codec", "zstd:3"]),
        ("7,3", &["--codec", "gzip:1"]),
        ("-1", &["--strategy", "keep", "--threads", "1"]),
        ("4,4", &["--strategy", "pull", "--codec", "blosc:lz4:5"]),
        ("10,8", &["--strategy", "direct"]),
        ("2,3", &["--shards", "6,9"]),
        ("5,4", &["--shards", "10,8"]),
        ("5,4", &["--shards", "-1", "--write-empty", "always", "--codec", "zstd"]),
        ("3,9", &["--format", "zarr2", "--codec", "zlib:1"]),
        ("4,2", &["--max-mem", "3MiB", "--verify"]),
    ] {
        let options = [&["--chunks", chunks, "--json"], more].concat();
        let report = copy(&source, &target, &options).ok().json();
        assert_done(&report);
        assert_eq!(elements(&folder, &target), truth(0..SHAPE[0]), "{options:?}");
        rechunk(&["verify", &source, &target]).ok();
        // And back, by another way.
        let back = folder.at("back.zarr");
        let report = copy(&target, &back, &["--chunks", "5,4", "--shards", "none", "--json"]);
        assert_done(&report.ok().json());
        assert_eq!(elements(&folder, &back), truth(0..SHAPE[0]), "{options:?}");
    }
}

/// Whole chunks of texts go behind and into what is there, from and to any chunks and shards.
#[test]
fn whole_chunks_are_appended_and_put_into_what_is_there() {
    let folder = Folder::new();
    let source = source(&folder);
    for (chunks, more, rows) in [
        ("5,4", &[][..], 20_u64),
        ("4,9", &["--codec", "zstd:3"], 12),
        ("2,3", &["--shards", "6,9"], 12),
        ("3,2", &["--format", "zarr2"], 21),
    ] {
        let target = folder.at("target.zarr");
        let first = format!("d0=0:{rows}");
        let make = ["--select", &first, "--chunks", chunks];
        copy(&source, &target, &[&make[..], more].concat()).ok();
        let rest = format!("d0={rows}:{}", SHAPE[0]);
        let append = ["copy", &source, &target, "--select", &rest, "--append", "d0"];
        let report = rechunk(&[&append[..], &["--verify", "--json"]].concat()).ok().json();
        assert_done(&report);
        assert_eq!(elements(&folder, &target), truth(0..SHAPE[0]), "{chunks}");
        rechunk(&["verify", &source, &target]).ok();
        // Chunks that are there already are written again.
        let region = ["--select", &first, "--region", &first, "--verify", "--json"];
        let report = rechunk(&[&["copy", &source, &target][..], &region].concat()).ok().json();
        assert_done(&report);
        rechunk(&["verify", &source, &target]).ok();
        // A chunk of old and of new elements is not put together.
        let before = tree(Path::new(&target));
        let select = ["--select", "d0=1:3"];
        for more in [["--append", "d0"], ["--region", "d0=1:3"]] {
            let cut = [&["copy", &source, &target][..], &select, &more].concat();
            let done = rechunk(&cut).ends_with(4);
            done.says(&["elements of variable length", "put whole chunks there"]);
        }
        assert_eq!(tree(Path::new(&target)), before);
    }
}

#[test]
fn a_target_chunk_of_nothing_is_left_out() {
    let folder = Folder::new();
    let (source, target) = (source(&folder), folder.at("target.zarr"));
    let keys = |options: &[&str]| {
        let options = [&["--chunks", "5,2"], options].concat();
        copy(&source, &target, &options).ok();
        let left: Vec<String> = tree(target.as_ref()).into_keys().collect();
        left.iter().filter(|key| key.starts_with("c/1/") && key.len() > 4).count()
    };
    assert_eq!(keys(&[]), 3);
    assert_eq!(keys(&["--write-empty", "never"]), 3);
    assert_eq!(keys(&["--write-empty", "always"]), 5);
}

#[test]
fn regions_are_selected_and_differences_found() {
    let folder = Folder::new();
    let (source, target) = (source(&folder), folder.at("target.zarr"));
    let select = ["--select", "d0=3:17", "--chunks", "4,9", "--json", "--verify"];
    assert_done(&copy(&source, &target, &select).ok().json());
    assert_eq!(elements(&folder, &target), truth(3..17));
    // A copy with one element changed, in other chunks.
    let other = folder.at("other.zarr");
    write(&other, SHAPE, [4, 9], |at| {
        let is_absent = [at[0] / CHUNK[0], at[1] / CHUNK[1]] == ABSENT;
        let word = if is_absent { FILL.to_owned() } else { word(at) };
        if at == [21, 7] { format!("{word}!") } else { word }
    });
    // Its own absent chunk hides other elements.
    let found = rechunk(&["verify", &source, &other, "--json"]).ends_with(6);
    assert!(found.json()["differing_elements"].as_u64().unwrap() > 1, "{found:?}");
    let absent = Path::new(&other).join("c/1/0");
    std::fs::create_dir_all(absent.parent().unwrap()).unwrap();
    std::fs::write(absent, stream(&truth(4..8))).unwrap();
    let found = rechunk(&["verify", &source, &other, "--json"]).ends_with(6).json();
    assert_eq!(found["differing_elements"], 1);
    assert_eq!(found["first_difference"], json!([21, 7]));
}

#[test]
fn a_region_that_begins_inside_a_shard_is_refused_with_what_can_be_done() {
    let folder = Folder::new();
    let (source, sharded) = (source(&folder), folder.at("sharded.zarr"));
    copy(&source, &sharded, &["--chunks", "5,4", "--shards", "10,8"]).ok();
    let target = folder.at("target.zarr");
    copy(&sharded, &target, &["--select", "d0=5:17", "--chunks", "4,9"])
        .ends_with(2)
        .says(&["begins inside a shard (10 × 8)", "begin it where a shard begins"]);
    copy(&sharded, &target, &["--select", "d0=10:17", "--chunks", "4,9"]).ok();
    assert_eq!(elements(&folder, &target), truth(10..17));
}

#[test]
fn chunks_that_lie_are_named() {
    let folder = Folder::new();
    let target = folder.at("target.zarr");
    let huge = [&u32::MAX.to_le_bytes()[..], &[0; 8]].concat();
    let mut long = stream(&vec!["a".to_owned(); 20]);
    long[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
    let mut bad = stream(&vec!["a".to_owned(); 20]);
    bad[8] = 0xff;
    let whole = stream(&vec!["ab".to_owned(); 20]);
    for (name, bytes, says) in [
        ("empty", Vec::new(), "too few for their number"),
        ("count", huge, "says 4294967295 elements"),
        ("length", long, "element 0 ends behind"),
        ("text", bad, "element 0 is no UTF-8"),
        ("cut", whole[..whole.len() - 1].to_vec(), "element 19 ends behind"),
        ("more", [&whole[..], b"x"].concat(), "1 bytes follow"),
    ] {
        let source = folder.at(&format!("{name}.zarr"));
        write(&source, SHAPE, CHUNK, word);
        std::fs::write(Path::new(&source).join("c/2/1"), bytes).unwrap();
        let copied = ["copy", &source, &target, "--chunks", "7,3", "--max-mem", "64MiB"];
        let (done, peak_bytes) = Run::rechunk(&copied).go_measured();
        done.fails().says(&["chunk [2, 1]", "c/2/1", "vlen-utf8", says]);
        assert!(peak_bytes < 64 * MIB + BEYOND_BYTES, "{name}: {peak_bytes}");
        assert!(!Path::new(&target).join("zarr.json").exists());
        rechunk(&["clean", &target]);
    }
}

/// Reads text of which a few chunks are far larger than those that were looked at. No more than the
/// budget is held all the same.
#[test]
fn text_stays_within_its_budget() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source.zarr"), folder.at("target.zarr"));
    // 128 chunks of 2000 texts of 40 to 160 bytes, and two of texts of 3000: 37 MiB.
    write(&source, [256_000, 1], [2000, 1], |at| {
        let chunk = at[0] / 2000;
        let bytes = if chunk == 41 || chunk == 99 { 3000 } else { 40 + at[0] % 121 };
        format!("{:>width$}", at[0], width = usize::try_from(bytes).unwrap())
    });
    for (chunks, more) in [
        ("3000", &["--codec", "zstd:1"][..]),
        ("700", &["--codec", "none", "--threads", "1"]),
        ("900", &["--codec", "blosc:lz4:5", "--shards", "90000"]),
    ] {
        let chunks = format!("{chunks},1");
        let shards: Vec<String> =
            more.iter().map(|word| word.replace("90000", "90000,1")).collect();
        let mut options = vec!["copy", &source, &target, "--overwrite", "--no-fsync", "--json"];
        options.extend(["--chunks", chunks.as_str(), "--max-mem", "32MiB"]);
        options.extend(shards.iter().map(String::as_str));
        let (done, peak_bytes) = Run::rechunk(&options).go_measured();
        let report = done.ok().json();
        let planned = number(&report, "memory.planned_peak_bytes");
        let (verify, verify_peak_bytes) =
            Run::rechunk(&["verify", &source, &target, "--max-mem", "32MiB"]).go_measured();
        verify.ok();
        println!(
            "{chunks} {more:?}: {} planned {} MiB, peak {} MiB, verify {} MiB",
            text(&report, "plan.kind"),
            planned / MIB,
            peak_bytes / MIB,
            verify_peak_bytes / MIB
        );
        assert!(peak_bytes.max(verify_peak_bytes) <= 32 * MIB + BEYOND_BYTES);
    }
    // One target chunk of all does not fit: nothing is left, and what would do is named.
    let whole = ["copy", &source, &target, "--overwrite", "--chunks=-1", "--max-mem", "16MiB"];
    rechunk(&whole).ends_with(5).fails().says(&["--max-mem"]);
}

/// A chunk that holds far more than those that were looked at ends the run before it is too much.
#[test]
fn a_chunk_without_room_ends_with_what_it_takes() {
    let folder = Folder::new();
    let (source, target) = (folder.at("source.zarr"), folder.at("target.zarr"));
    write(&source, [4000, 1], [40, 1], |at| {
        // None of the chunks that are looked at.
        if at[0] / 40 == 3 { "x".repeat(600 << 10) } else { "y".to_owned() }
    });
    let options = ["--chunks", "60,1", "--max-mem", "16MiB"];
    let (done, peak_bytes) =
        Run::rechunk(&[&["copy", &source, &target][..], &options].concat()).go_measured();
    let stderr = done.ends_with(5).fails().says(&["does not fit", "--max-mem"]).stderr;
    assert!(peak_bytes < 16 * MIB + BEYOND_BYTES, "{peak_bytes}");
    println!("{stderr}");
    // With more memory it goes on where it stopped.
    let more = ["copy", &source, &target, "--chunks", "60,1", "--max-mem", "256MiB", "--resume"];
    rechunk(&more).ok();
    rechunk(&["verify", &source, &target]).ok();
}

/// A copy under the tool that kills.
fn killed(source: &str, root: &str, more: &[&str], tool_options: &[&str]) -> Done {
    let (log, target) = (format!("{root}.log"), format!("{root}/t.zarr"));
    let command = [
        &["--prefix", &target, "--log", &log][..],
        tool_options,
        &["--", BINARY, "copy", source, &target, "--chunks", "4,5", "--max-mem", "4MiB", "--json"],
        more,
    ];
    std::fs::create_dir_all(root).unwrap();
    Run::program(&tool("killpoint"), &command.concat()).go()
}

#[test]
fn a_copy_of_strings_survives_every_kill() {
    let folder = Folder::new();
    let source = source(&folder);
    for options in [&["--codec", "zstd:1"][..], &["--shards", "8,10"]] {
        let name = options[1].replace([':', ','], "-");
        let whole = folder.at(&format!("whole-{name}"));
        killed(&source, &whole, options, &[]).ok();
        let calls = std::fs::read_to_string(format!("{whole}.log")).unwrap().lines().count();
        let whole: BTreeMap<String, String> = tree(whole.as_ref());
        for at in 1..=calls {
            let root = folder.at(&format!("{name}-{at}"));
            let number = at.to_string();
            let tool_options = ["--at", number.as_str(), "--lose", number.as_str(), "--torn"];
            let tool_options = &tool_options[..if at % 2 == 0 { 5 } else { 4 }];
            if killed(&source, &root, options, tool_options).code != 137 {
                continue;
            }
            let again = killed(&source, &root, &[options, &["--resume"]].concat(), &[]);
            assert!(
                again.code == 0 || (again.code == 4 && tree(root.as_ref()).keys().eq(whole.keys())),
                "killed at {at} of {calls}: {again:?}"
            );
            let left = tree(root.as_ref());
            assert!(left.keys().eq(whole.keys()), "killed at {at} of {calls}");
            // Chunks lie in a shard in the order in which they were ready.
            if options[0] == "--shards" {
                rechunk(&["verify", &source, &format!("{root}/t.zarr")]).ok();
            } else {
                assert_eq!(left, whole, "killed at {at} of {calls}");
            }
        }
    }
}

/// Every kind and codec that zarr-python 2 and 3 write is cut, and read by both.
#[test]
fn others_write_and_read_what_is_cut() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    let mut sources: Vec<Value> = Vec::new();
    for world in [World::Z2, World::Z3] {
        let made = ask(world, "tests/oracle/strings.py", &["make", &folder.at("")]);
        sources.extend(made.as_array().unwrap().clone());
    }
    assert!(sources.len() > 40, "{}", sources.len());
    let mut jobs: BTreeMap<u8, Vec<(Value, &Value)>> = BTreeMap::new();
    for (number, source) in sources.iter().enumerate() {
        let path = source["path"].as_str().unwrap();
        let is_items = path.contains("-items-");
        for (cut, version) in [("4,3", 2), ("-1", 3), ("5,7", 3)] {
            if is_items && version == 3 {
                continue;
            }
            let target = folder.at(&format!("{number}-{version}-{cut}.zarr"));
            let format = format!("zarr{version}");
            let mut options =
                vec!["copy", path, &target, "--format", &format, "--chunks", cut, "--no-fsync"];
            if cut == "5,7" {
                options.extend(["--shards", "10,7"]);
            }
            rechunk(&[&options[..], &["--verify", "-q"]].concat()).ok();
            let job = json!({"path": target, "version": version});
            jobs.entry(version).or_default().push((job, &source["elements"]));
        }
    }
    for (world, version) in [(World::Z2, 2), (World::Z3, 2), (World::Z3, 3)] {
        // zarr-python 3 has no lists of numbers, and refuses the fill value of bytes of version 2.
        let is_read = |(job, _): &&(Value, &Value)| {
            let number = job["path"].as_str().unwrap().rsplit('/').next().unwrap();
            let number: usize = number.split('-').next().unwrap().parse().unwrap();
            let is_items = sources[number]["path"].as_str().unwrap().contains("-items-");
            let is_bytes = sources[number]["path"].as_str().unwrap().contains("z2-bytes");
            matches!(world, World::Z2) || !is_items && (!is_bytes || version == 3)
        };
        let (asked, expected): (Vec<Value>, Vec<&Value>) =
            jobs[&version].iter().filter(is_read).cloned().unzip();
        let input = serde_json::to_vec(&asked).unwrap();
        let answers = python(world, "tests/oracle/strings.py", &["read"], &input);
        let answers: Vec<Value> = serde_json::from_slice(&answers).unwrap();
        assert!(answers.len() > 20);
        for ((job, expected), found) in asked.iter().zip(expected).zip(&answers) {
            assert_eq!(found, expected, "{job}");
        }
    }
}

/// A group as anndata lays it out is cut and sharded as a whole.
#[test]
fn a_table_with_text_is_cut_as_a_whole() {
    if !available() {
        return;
    }
    let folder = Folder::new();
    for version in ["2", "3"] {
        let source = folder.at(&format!("table-{version}.zarr"));
        ask(World::Z3, "tests/oracle/strings.py", &["table", &source, version]);
        for (name, options) in [
            ("codec", &["--codec", "gzip:1"][..]),
            ("shards", &["--shards", "auto", "--format", "zarr3"]),
            ("small", &["--var", "**: chunks auto", "--chunk-bytes", "4KiB", "--shards", "none"]),
        ] {
            let target = folder.at(&format!("{name}-{version}.zarr"));
            rechunk(&[&["copy", &source, &target, "--verify"][..], options].concat()).ok();
            let same = ask(World::Z3, "tests/oracle/strings.py", &["same", &source, &target]);
            assert_eq!(same, json!(true), "{name} of version {version}");
        }
    }
}
