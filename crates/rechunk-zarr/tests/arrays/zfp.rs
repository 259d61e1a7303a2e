//! zfp against `zarrs`, which calls the same library in its own way: chunks of either side are the
//! same elements for the other.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use bytes::Bytes;
use rechunk_format::{FormatError, Layout};
use rechunk_zarr::{ArrayMetadata, ZarrLayout, parse_v2, parse_v3};
use serde_json::{Value, json};
use zarrs::array::{Array, ArrayBytes};
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{ReadableStorageTraits, StoreKey, WritableStorageTraits};

const TYPES: [(&str, &str); 10] = [
    ("int8", "|i1"),
    ("int16", "<i2"),
    ("int32", "<i4"),
    ("int64", "<i8"),
    ("uint8", "|u1"),
    ("uint16", "<u2"),
    ("uint32", "<u4"),
    ("uint64", "<u8"),
    ("float32", "<f4"),
    ("float64", "<f8"),
];

const SHAPES: [&[u64]; 4] = [&[37], &[5, 9], &[1, 6, 7], &[3, 4, 2, 5]];

fn v3(data_type: &str, shape: &[u64], codecs: &Value) -> Result<ArrayMetadata, FormatError> {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "chunk_key_encoding": "default", "fill_value": 0, "codecs": codecs, "attributes": {},
    });
    parse_v3(document.to_string().as_bytes())
}

fn v2(dtype: &str, shape: &[u64], compressor: &Value) -> Result<ArrayMetadata, FormatError> {
    let document = json!({
        "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": dtype, "order": "C",
        "compressor": compressor, "filters": null, "fill_value": 0,
    });
    parse_v2(document.to_string().as_bytes(), None)
}

/// Elements that zfp can hold: a slope, in a type of `item_bytes`.
fn elements(shape: &[u64], name: &str) -> Vec<u8> {
    let count: u64 = shape.iter().product();
    let of = |at: u64| match name {
        "float32" => (0..4).map(|byte| at.to_le_bytes()[byte] ^ [0, 0, 0x80, 0x3f][byte]).collect(),
        "float64" => (at << 40 | 0x3ff0_0000_0000_0000).to_le_bytes().to_vec(),
        "int8" | "uint8" => vec![(at % 100).to_le_bytes()[0]],
        "int16" | "uint16" => (at * 11).to_le_bytes()[..2].to_vec(),
        "int32" | "uint32" => (at * 100_003).to_le_bytes()[..4].to_vec(),
        _ => (at * 1_000_000_007).to_le_bytes().to_vec(),
    };
    (0..count).flat_map(of).collect()
}

/// Chunks both ways, by an array of one chunk.
fn check(metadata: ArrayMetadata, elements: &[u8], is_exact: bool, what: &str) {
    let layout = ZarrLayout::new(metadata).unwrap();
    let store = Arc::new(MemoryStore::new());
    for (key, bytes) in layout.metadata().documents() {
        store.set(&StoreKey::new(format!("a/{key}")).unwrap(), bytes.into()).unwrap();
    }
    let array = Array::open(Arc::clone(&store), "/a").unwrap();
    let index = vec![0; array.shape().len()];
    let key = StoreKey::new(format!("a/{}", layout.chunk_key(&index))).unwrap();
    let by_zarrs = || {
        let read: ArrayBytes = array.retrieve_chunk(&index).unwrap();
        read.into_fixed().unwrap().into_owned()
    };
    let mut scratch = Vec::new();

    let mut encoded = Vec::new();
    layout.encode(&index, elements, &mut encoded).unwrap();
    let own = layout.decode(&index, &encoded, &mut scratch).unwrap().to_vec();
    assert!(!is_exact || own == elements, "{what}");
    store.set(&key, encoded.into()).unwrap();
    assert!(by_zarrs() == own, "{what}: ours, read by zarrs");

    store.erase(&key).unwrap();
    array.store_chunk(&index, ArrayBytes::new_flen(elements.to_vec())).unwrap();
    let encoded: Bytes = store.get(&key).unwrap().unwrap();
    let decoded = layout.decode(&index, &encoded, &mut scratch).unwrap();
    assert!(decoded == by_zarrs(), "{what}: theirs, read by us");
}

#[test]
fn zfp_of_zarrs() {
    let modes = [
        json!({"mode": "reversible"}),
        json!({"mode": "fixed_rate", "rate": 7.5}),
        json!({"mode": "fixed_precision", "precision": 12}),
        json!({"mode": "fixed_accuracy", "tolerance": 0.001}),
        json!({"mode": "expert", "minbits": 20, "maxbits": 500, "maxprec": 19, "minexp": -2}),
    ];
    for mode in modes {
        for (name, _) in TYPES {
            // zarrs refuses a tolerance for integers.
            if mode["mode"] == "fixed_accuracy" && !name.starts_with("float") {
                continue;
            }
            for shape in SHAPES {
                let what = format!("{mode} {name} {shape:?}");
                let reversed: Vec<usize> = (0..shape.len()).rev().collect();
                let transpose = json!({"name": "transpose", "configuration": {"order": reversed}});
                let zfp = json!({"name": "zfp", "configuration": mode});
                let codecs = if shape.len() == 1 { json!([zfp, "crc32c"]) } else { json!([zfp]) };
                let is_exact = mode["mode"] == "reversible";
                let elements = elements(shape, name);
                check(v3(name, shape, &codecs).unwrap(), &elements, is_exact, &what);
                // In another order of the axes they are other elements to us, of the same bytes.
                let layout = ZarrLayout::new(v3(name, shape, &json!([transpose, zfp])).unwrap());
                let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
                let index = vec![0; shape.len()];
                let layout = layout.unwrap();
                layout.encode(&index, &elements, &mut encoded).unwrap();
                let decoded = layout.decode(&index, &encoded, &mut scratch).unwrap();
                assert!(!is_exact || decoded == elements, "{what}");
            }
        }
    }
}

#[test]
fn zfpy_of_numcodecs() {
    let modes = [
        json!({"mode": 4, "tolerance": -1, "rate": -1, "precision": -1}),
        json!({"mode": 5}),
        json!({"mode": 2, "tolerance": -1, "rate": 7.5, "precision": -1}),
        json!({"mode": 3, "tolerance": -1, "rate": -1, "precision": 12}),
        json!({"mode": 4, "tolerance": 0.001, "rate": -1, "precision": -1}),
    ];
    for mode in modes {
        for (name, dtype) in TYPES {
            let is_reversible = mode == json!({"mode": 5}) || mode["tolerance"] == -1;
            let is_exact = is_reversible && mode["rate"] != 7.5 && mode["precision"] != 12;
            let is_integer = !name.starts_with("float");
            for shape in SHAPES {
                let what = format!("{mode} {name} {shape:?}");
                let mut compressor = mode.clone();
                compressor["id"] = json!("zfpy");
                let codecs = json!([{"name": "numcodecs.zfpy", "configuration": mode}]);
                let both = [v2(dtype, shape, &compressor), v3(name, shape, &codecs)];
                for metadata in both {
                    // numcodecs has zfp's own types only.
                    if !["int32", "int64", "float32", "float64"].contains(&name) {
                        assert!(metadata.is_err(), "{what}");
                        continue;
                    }
                    // zarrs takes no tolerance for integers.
                    if is_integer && mode["tolerance"] == 0.001 {
                        continue;
                    }
                    check(metadata.unwrap(), &elements(shape, name), is_exact, &what);
                }
            }
        }
    }
}

#[test]
fn shards_of_zfp_chunks() {
    let zfp = json!({"name": "zfp", "configuration": {"mode": "reversible"}});
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let sharded = json!([
        {"name": "transpose", "configuration": {"order": [0, 1]}},
        {"name": "sharding_indexed", "configuration": {
            "chunk_shape": [4, 6], "codecs": [zfp], "index_codecs": [bytes],
            "index_location": "end"}},
        "crc32c",
    ]);
    // Our zarrs has no shards.
    let layout = ZarrLayout::new(v3("float32", &[8, 12], &sharded).unwrap()).unwrap();
    let elements = elements(&[8, 12], "float32");
    let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
    layout.encode(&[0, 0], &elements, &mut encoded).unwrap();
    assert!(encoded.len() < elements.len(), "{}", encoded.len());
    assert!(layout.decode(&[0, 0], &encoded, &mut scratch).unwrap() == elements);
}

#[test]
fn what_does_not_fit_is_refused() {
    let zfp = |mode: Value| json!([{"name": "zfp", "configuration": mode}]);
    let reversible = || zfp(json!({"mode": "reversible"}));
    let bytes = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let zfpy = json!({"id": "zfpy"});
    for (metadata, words) in [
        (v3("float32", &[2; 5], &reversible()), "a chunk of 5 axes, but zfp takes 1 to 4"),
        (v3("float16", &[2], &reversible()), "codec \"zfp\" on <f2"),
        (v3("float32", &[2], &zfp(json!({}))), "mode\": is missing"),
        (v3("float32", &[2], &zfp(json!({"mode": "best"}))), "mode \"best\" is not supported"),
        (v3("float32", &[2], &zfp(json!({"mode": "fixed_rate"}))), "rate\": is missing"),
        (v3("float32", &[2], &zfp(json!({"mode": "fixed_rate", "rate": -1}))), "not below 0"),
        (v3("float32", &[2], &zfp(json!({"mode": "fixed_rate", "rate": 1e6}))), "than zfp can use"),
        (
            v3(
                "float32",
                &[2],
                &zfp(
                    json!({"mode": "expert", "minbits": 1, "maxbits": 8, "maxprec": 9, "minexp": 0}),
                ),
            ),
            "the most must be from 9",
        ),
        (
            v3(
                "float32",
                &[2],
                &json!([bytes, {"name": "zfp", "configuration": {"mode": "reversible"}}]),
            ),
            "before it is bytes",
        ),
        (v2(">f4", &[2], &zfpy), "codec \"zfpy\" on >f4"),
        (v2("<f4", &[2; 5], &zfpy), "5 axes"),
        (v2("<f4", &[5000, 1, 1, 1], &zfpy), "has room for 4096"),
        (v2("<f4", &[2], &json!({"id": "zfpy", "mode": 1})), "mode 1 is not supported"),
        (v2("<f4", &[2], &json!({"id": "zfpy", "tolerance": "small"})), "found \"small\""),
    ] {
        let error = metadata.unwrap_err().to_string();
        assert!(error.contains(words), "{error}\nshould contain\n{words}");
    }
}
