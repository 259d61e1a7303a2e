//! Data sets whose blocks are stored as OME-Zarr: clients see those of N5, and readers of Zarr the
//! same elements.

use serde_json::{Value, json};

use super::rebuild::{BLOCK, DIMENSIONS, block};
use super::serving::{BYTES, Serving};
use crate::harness::{Folder, rechunk};
use crate::oracle::{World, available, job, read};

const PATH: &str = "1/1/1/2/2/1/6/4/4";

fn create(serving: &Serving, shards: Option<u64>, storage: Option<&str>) -> String {
    let level = |factors: [u64; 3]| {
        let mut level = json!({"resolutions": factors, "blockDimensions": BLOCK});
        if let Some(blocks) = shards {
            level["shardDimensions"] = json!(BLOCK.map(|size| size * blocks));
        }
        level
    };
    let mut description = json!({
        "voxelType": "uint16", "dimensions": DIMENSIONS, "compression": "zstd",
        "timepointIds": [3, 7], "channels": 2, "angles": 2,
        "voxelUnit": "micrometer", "voxelResolution": [0.25, 0.5, 2.0],
        "resolutionLevels": [level([1, 1, 1]), level([2, 2, 1]), level([6, 4, 4])],
    });
    if let Some(storage) = storage {
        description["storage"] = json!(storage);
    }
    let body = description.to_string().into_bytes();
    let (status, id) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
    assert_eq!(status, 200, "{id:?}");
    String::from_utf8(id).unwrap()
}

/// Writes most blocks of the finest level, some of them twice, and has the others follow.
fn upload(serving: &Serving, id: &str) {
    let numbers: Vec<u64> = (0..60).filter(|number| number % 7 != 2).collect();
    for view in ["3/0/0", "7/1/1", "7/2/0"] {
        for numbers in numbers.chunks(9) {
            let places = numbers.iter().map(|number| number * 17 % 60).chain([numbers[0]]);
            let places: Vec<[u64; 3]> =
                places.map(|number| [number % 5, number / 5 % 4, number / 20]).collect();
            let path: Vec<String> =
                places.iter().map(|[x, y, z]| format!("{x}/{y}/{z}/{view}")).collect();
            let body: Vec<u8> =
                places.iter().flat_map(|place| block(2, DIMENSIONS, *place, 1)).collect();
            let path = format!("/datasets/{id}/{PATH}/build/0/{}", path.join("/"));
            let (status, said) = serving.ask("POST", &path, BYTES, &body).unwrap();
            assert_eq!(status, 200, "{}", String::from_utf8_lossy(&said));
        }
    }
}

/// Answers for all blocks of the levels.
fn blocks(serving: &Serving, id: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (level, counts) in [("1/1/1", [5, 4, 3]), ("2/2/1", [3, 2, 3]), ("6/4/4", [1, 1, 1])] {
        for view in ["3/0/0", "3/0/1", "7/1/1", "7/2/0"] {
            all.extend(serving.blocks(&format!("{id}/{level}"), counts, view));
        }
    }
    all
}

#[test]
fn blocks_in_zarr_are_those_in_n5() {
    let folder = Folder::new();
    let root = folder.at("root");
    let serving = Serving::start(&["datastore", &root, "--write"]);
    let all = [(None, None), (None, Some("zarr3")), (Some(2), Some("zarr3"))];
    let ids = all.map(|(shards, storage)| {
        let id = create(&serving, shards, storage);
        let grown = serving.ask("POST", &format!("/datasets/{id}/channels"), "text/plain", b"1");
        assert_eq!(grown.unwrap().0, 200);
        upload(&serving, &id);
        id
    });
    let [in_n5, in_files, in_shards] = ids.each_ref().map(|id| blocks(&serving, id));
    assert!(in_n5 == in_files && in_n5 == in_shards);
    assert!(
        in_n5.iter().any(|block| block.len() > 12) && in_n5.iter().any(|block| block.len() == 12)
    );

    // Clients know no other keys than those of N5.
    let described = ids.each_ref().map(|id| {
        let (_, said) = serving.ask("GET", &format!("/datasets/{id}"), BYTES, b"").unwrap();
        let mut said: Value = serde_json::from_slice(&said).unwrap();
        said["uuid"] = Value::Null;
        said
    });
    assert_eq!(described[0], described[2]);

    // A version that is new has the documents, also those of the channel.
    let start = format!("/datasets/{}/1/1/1/new/write", ids[2]);
    assert_eq!(serving.ask("GET", &start, BYTES, b"").unwrap().0, 307);

    for id in &ids[1..] {
        let image = format!("{root}/{id}/0/export.ome.zarr/1");
        let said = rechunk(&["info", &image]).ok().stdout;
        for wanted in ["ome-zarr-0.5", "1, 1, 4, 4, 6", "z (micrometer)"] {
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
        for (setup, time, place) in [(0, 3, "0,0"), (3, 7, "1,1"), (4, 7, "1,2")] {
            for level in 0..3 {
                let n5 =
                    format!("{root}/{}/0/export.n5/setup{setup}/timepoint{time}/s{level}", ids[0]);
                let zarr = format!("{root}/{id}/0/export.ome.zarr/{}/s{level}", setup % 2);
                let cut = folder.at(&format!("cut-{id}-{setup}-{level}.zarr"));
                let (time, channel) = place.split_once(',').unwrap();
                let select = format!("t={time},c={channel}");
                rechunk(&["copy", &zarr, &cut, "--select", &select, "--max-mem", "64MiB"]).ok();
                let flat = folder.at(&format!("flat-{id}-{setup}-{level}.npy"));
                rechunk(&["copy", &cut, &flat, "--max-mem", "64MiB"]).ok();
                let other = folder.at(&format!("n5-{id}-{setup}-{level}.npy"));
                rechunk(&["copy", &n5, &other, "--max-mem", "64MiB"]).ok();
                assert!(elements(&flat) == elements(&other), "{zarr} {select}");
            }
        }
    }
    if available() {
        let places = ids[1..].iter().map(|id| format!("{root}/{id}/0/export.ome.zarr/0/s1"));
        let places: Vec<String> = places.collect();
        let jobs: Vec<Value> = places.iter().map(|place| job(place, 3, "zarr")).collect();
        let said = read(World::Z3, &jobs);
        assert_eq!(said[0]["sha256"], said[1]["sha256"], "{said:?}");
        assert!(said[0]["sha256"].is_string(), "{said:?}");
    }
}

/// The elements of a file `.npy`.
fn elements(path: &str) -> Vec<u8> {
    let bytes = std::fs::read(path).unwrap();
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    bytes[10 + header..].to_vec()
}

#[test]
fn descriptions_of_zarr_are_checked() {
    let folder = Folder::new();
    let serving = Serving::start(&["datastore", &folder.at("root"), "--write"]);
    let described = |storage: &str, compression: &str, shard: Value| {
        let level = json!({
            "resolutions": [1, 1, 1], "blockDimensions": [8, 8, 8], "shardDimensions": shard,
        });
        let description = json!({
            "voxelType": "uint8", "dimensions": [9, 9, 9], "compression": compression,
            "storage": storage, "resolutionLevels": [level],
        });
        let body = description.to_string().into_bytes();
        let (status, said) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
        (status, String::from_utf8(said).unwrap())
    };
    for (storage, compression, shard, said) in [
        ("zarr4", "raw", json!(null), "storage: \"zarr4\" is not known: n5, zarr3"),
        ("n5", "raw", json!([16, 16, 16]), "shardDimensions: N5 has no shards"),
        ("zarr3", "raw", json!([16, 12, 16]), "do not divide"),
        ("zarr3", "raw", json!([16, 16]), "shardDimensions: has 2 items"),
        ("zarr3", "raw", json!([1 << 30, 1 << 30, 1 << 30]), "a shard has more than"),
        ("zarr3", "lz4", json!(null), "compression: \"lz4\" is no codec of Zarr 3"),
    ] {
        let (status, text) = described(storage, compression, shard);
        assert!(status == 400 && text.contains(said), "{status} {text}");
    }
    assert_eq!(described("zarr3", "blosc", json!([16, 8, 24])).0, 200);
}
