//! Rows 51 to 55: levels of a data set are those that a pyramid has offline, bit for bit.

use serde_json::{Value, json};

use super::serving::{BYTES, Serving};
use crate::harness::{Folder, rechunk, tree};

/// Elements along x, y, z: whole in no level.
pub(super) const DIMENSIONS: [u64; 3] = [71, 53, 19];
pub(super) const BLOCK: [u64; 3] = [16, 16, 8];

fn levels(factors: &[[u64; 3]]) -> Value {
    let level = |factors| json!({"resolutions": factors, "blockDimensions": BLOCK});
    [[1, 1, 1]].iter().chain(factors).map(level).collect()
}

pub(super) fn create(
    serving: &Serving,
    data_type: &str,
    dimensions: [u64; 3],
    factors: &[[u64; 3]],
) -> String {
    let description = json!({
        "voxelType": data_type, "dimensions": dimensions, "compression": "gzip", "timepoints": 2,
        "channels": 2, "angles": 2, "resolutionLevels": levels(factors),
    });
    let body = description.to_string().into_bytes();
    let (status, id) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
    assert_eq!(status, 200, "{id:?}");
    String::from_utf8(id).unwrap()
}

/// A block at a place of a grid, with elements that are all different, clipped by the image. Some
/// are small numbers, as floats too.
pub(super) fn block(
    item_bytes: usize,
    dimensions: [u64; 3],
    position: [u64; 3],
    seed: u64,
) -> Vec<u8> {
    let size: Vec<u64> = (0..3)
        .map(|axis| BLOCK[axis].min(dimensions[axis] - position[axis] * BLOCK[axis]))
        .collect();
    let mut bytes: Vec<u8> =
        size.iter().flat_map(|size| u32::try_from(*size).unwrap().to_be_bytes()).collect();
    let at = position.iter().fold(seed, |at, position| at * 131 + position);
    for element in 0..size.iter().product::<u64>() {
        let number = (at * 7919 + element).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut number = number.to_be_bytes();
        if item_bytes == 4 {
            number[0] = 0x40; // floats near 2
        } else if item_bytes == 8 {
            number[0] = 0x3f;
        }
        bytes.extend_from_slice(&number[..item_bytes]);
    }
    bytes
}

/// Holds the levels of a view to a pyramid of its finest one.
pub(super) fn compare(folder: &Folder, view: &str, factors: &[[u64; 3]]) {
    let target = folder.at("offline.n5");
    let _ = std::fs::remove_dir_all(&target);
    let factors: Vec<String> = factors.iter().map(|[x, y, z]| format!("{z},{y},{x}")).collect();
    let chunks = BLOCK.iter().rev().map(u64::to_string).collect::<Vec<_>>().join(",");
    let finest = format!("{view}/s0");
    let words = [
        "pyramid",
        &finest,
        &target,
        "--factors",
        &factors.join(";"),
        "--as",
        "plain",
        "--chunks",
        &chunks,
        "--max-mem",
        "64MiB",
        "--format",
        "n5",
    ];
    rechunk(&words).ok();
    for level in 1..=factors.len() {
        let blocks = |place: &str| {
            let mut files = tree(format!("{place}/s{level}").as_ref());
            files.remove("attributes.json");
            // What a killed write has left under a name of its own nobody reads.
            files.retain(|name, _| !name.contains('#'));
            files
        };
        // Where a task has other blocks, a pyramid stores some of zeros too.
        rechunk(&["verify", &format!("{view}/s{level}"), &format!("{target}/s{level}")]).ok();
        let (ours, offline) = (blocks(view), blocks(&target));
        assert!(!ours.is_empty());
        let differs = ours.iter().find(|(name, content)| offline.get(*name) != Some(content));
        assert!(differs.is_none(), "s{level}/{:?} differs", differs.map(|(name, _)| name));
    }
}

#[test]
fn row_51_levels_that_are_rebuilt_are_those_of_a_pyramid() {
    let folder = Folder::new();
    let root = folder.at("root");
    let serving = Serving::start(&["datastore", &root, "--write"]);
    let factors = [[2, 2, 1], [4, 4, 2], [6, 4, 4], [12, 8, 16]];
    for (data_type, bytes) in
        [("uint8", 1), ("int16", 2), ("uint32", 4), ("uint64", 8), ("float32", 4), ("float64", 8)]
    {
        let id = create(&serving, data_type, DIMENSIONS, &factors);
        let path = |position: [u64; 3]| {
            let [x, y, z] = position;
            format!("/datasets/{id}/1/1/1/0/{x}/{y}/{z}/1/1/0")
        };
        for round in 0..2 {
            for z in 0..3 {
                for y in 0..4 {
                    for x in 0..5 {
                        // With gaps, and whole corners of nothing.
                        if (x + 2 * y + z) % 3 == 0 || (x > 2 && y > 1) || (round == 1 && x != 1) {
                            continue;
                        }
                        let sent = block(bytes, DIMENSIONS, [x, y, z], round + 1);
                        let (status, _) =
                            serving.ask("POST", &path([x, y, z]), BYTES, &sent).unwrap();
                        assert_eq!(status, 200);
                    }
                }
            }
            let rebuild = format!("/datasets/{id}/1/1/0/0/rebuild");
            assert_eq!(serving.ask("PATCH", &rebuild, BYTES, b"").unwrap().0, 200);
            let view = format!("{root}/{id}/0/export.n5/setup2/timepoint1");
            compare(&folder, &view, &factors);
        }
        // Of another view nothing was made.
        let other = format!("{root}/{id}/0/export.n5/setup0/timepoint1/s1");
        assert_eq!(tree(other.as_ref()).len(), 1);
    }
}

/// Reads a level of one block.
fn elements(serving: &Serving, id: &str, factors: &str) -> (Vec<u8>, Vec<u8>) {
    let path = format!("/datasets/{id}/{factors}/0/0/0/0/0/0/0");
    let (status, said) = serving.ask("GET", &path, BYTES, b"").unwrap();
    assert_eq!(status, 200);
    (said[..12].to_vec(), said[12..].to_vec())
}

fn rebuilt(
    serving: &Serving,
    data_type: &str,
    dimensions: [u64; 3],
    factors: [u64; 3],
    elements: &[u8],
) -> String {
    let id = create(serving, data_type, dimensions, &[factors]);
    let sizes = dimensions.map(|size| u32::try_from(size).unwrap().to_be_bytes()).concat();
    let path = format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0");
    let sent = [&sizes[..], elements].concat();
    assert_eq!(serving.ask("POST", &path, BYTES, &sent).unwrap().0, 200);
    let rebuild = format!("/datasets/{id}/0/0/0/0/rebuild");
    assert_eq!(serving.ask("PATCH", &rebuild, BYTES, b"").unwrap().0, 200);
    id
}

#[test]
fn rows_52_to_55_odd_sizes_halves_and_labels() {
    let folder = Folder::new();
    let serving = Serving::start(&["datastore", &folder.at("root"), "--write"]);
    // 7 × 5 × 1 by 2: 3 × 2 × 1, what is left is in no cell; by 8: one cell of what there is.
    let all: Vec<u8> = (0..35).collect();
    let id = rebuilt(&serving, "uint8", [7, 5, 1], [2, 2, 1], &all);
    let (sizes, means) = elements(&serving, &id, "2/2/1");
    assert_eq!(sizes, [3, 2, 1].map(u32::to_be_bytes).concat());
    assert_eq!(means, [4, 6, 8, 18, 20, 22]);
    let id = rebuilt(&serving, "uint8", [7, 5, 1], [8, 8, 1], &all);
    assert_eq!(elements(&serving, &id, "8/8/1").1, [17]);
    // Halves go away from zero.
    let id = rebuilt(&serving, "uint8", [2, 1, 1], [2, 1, 1], &[0, 1]);
    assert_eq!(elements(&serving, &id, "2/1/1").1, [1]);
    let id = rebuilt(&serving, "int8", [2, 1, 1], [2, 1, 1], &[0, 0xff]);
    assert_eq!(elements(&serving, &id, "2/1/1").1, [0xff]);
    // Labels are not averaged; the smallest of the most frequent, exact beyond 2^53.
    let labels =
        [(1_u64 << 53) + 1, 1 << 53, (1 << 53) + 1, 1 << 53].map(u64::to_be_bytes).concat();
    let id = rebuilt(&serving, "uint64", [2, 2, 1], [2, 2, 1], &labels);
    assert_eq!(elements(&serving, &id, "2/2/1").1, (1_u64 << 53).to_be_bytes());
}

#[test]
fn a_rebuild_of_what_is_not_there_is_refused() {
    let folder = Folder::new();
    let serving = Serving::start(&["datastore", &folder.at("root"), "--write"]);
    let id = create(&serving, "uint8", [20, 20, 20], &[[2, 2, 2]]);
    for (end, wanted) in [
        ("2/0/0/0", 404),
        ("0/2/0/0", 404),
        ("0/0/2/0", 404),
        ("0/0/0/9", 404),
        ("0/0/0/mixedLatest", 400),
        ("0/0/0/word", 400),
        ("0/0/0/latest", 200),
    ] {
        let path = format!("/datasets/{id}/{end}/rebuild");
        assert_eq!(serving.ask("PATCH", &path, BYTES, b"").unwrap().0, wanted, "{end}");
    }
    let path = format!("/datasets/{id}/0/0/0/0/rebuild");
    assert_eq!(serving.ask("GET", &path, BYTES, b"").unwrap().0, 405);
}
