//! Against another implementation: `zarrs` opens every document that is written here, and chunks
//! encoded by either side hold the same elements for the other.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use bytes::Bytes;
use rechunk_format::{ElementOrder, Layout};
use rechunk_grid::{DataType, SmallFloat};
use rechunk_zarr::{
    ArrayMetadata, TargetOptions, ZarrLayout, ZarrVersion, group_documents, parse_codec_choice,
    parse_v2, parse_v3, target_metadata,
};
use serde_json::{Value, json};
use zarrs::array::{Array, ArrayBytes};
use zarrs::storage::store::MemoryStore;
use zarrs::storage::{ReadableStorageTraits, StoreKey, WritableStorageTraits};

const CHUNK: [u64; 3] = [3, 4, 5];
/// The first of [`DataType::ALL`].
static NUMPY_TYPES: &[DataType] = DataType::ALL.split_at(14).0;

fn fill_json(data_type: DataType) -> Value {
    match data_type {
        DataType::Bool => json!(false),
        DataType::Float16 | DataType::Bfloat16 | DataType::Float32 | DataType::Float64 => {
            json!("NaN")
        }
        DataType::Complex64 | DataType::Complex128 => json!([1.5, "-Infinity"]),
        DataType::Int2 | DataType::Int4 | DataType::Uint2 | DataType::Uint4 => json!(1),
        DataType::SmallFloat(_) => json!("0x01"),
        _ => json!(7),
    }
}

fn v3_source(
    data_type: DataType,
    order: [usize; 3],
    endian: &str,
    separator: &str,
) -> ArrayMetadata {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [7, 4, 11],
        "data_type": data_type.name(),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": CHUNK}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}},
        "fill_value": fill_json(data_type),
        "codecs": [
            {"name": "transpose", "configuration": {"order": order}},
            {"name": "bytes", "configuration": {"endian": endian}},
        ],
        "attributes": {"units": "K"}, "dimension_names": ["t", "y", "x"],
    });
    parse_v3(document.to_string().as_bytes()).unwrap()
}

fn target(source: &ArrayMetadata, version: ZarrVersion, codec: &str) -> ArrayMetadata {
    let codec = Some(parse_codec_choice(codec).unwrap());
    let options = TargetOptions { version, chunk_shape: CHUNK.to_vec(), shard_shape: None, codec };
    target_metadata(source, &options).unwrap().0
}

/// A chunk of elements in C order, little-endian, as `zarrs` has them.
fn elements(data_type: DataType) -> Vec<u8> {
    let count: u64 = CHUNK.iter().product();
    let item = usize::try_from(data_type.item_bytes()).unwrap();
    let byte = |i: u64| match data_type {
        DataType::Bool => u8::try_from(i % 3 / 2).unwrap(),
        _ if data_type.item_bytes() == 1 && data_type.name().contains(['2', '4']) => {
            u8::try_from(i % 2).unwrap()
        }
        _ => u8::try_from(i * 37 % 251).unwrap(),
    };
    (0..count * item as u64).map(byte).collect()
}

/// Puts elements into the order and byte order in which they are stored.
fn laid_out(c_little: &[u8], order: &ElementOrder, item: usize, swap: usize) -> Vec<u8> {
    let strides = order.strides_bytes(&CHUNK, item as u64);
    let mut stored = vec![0; c_little.len()];
    let whole = rechunk_grid::Region::whole(&CHUNK);
    for (position, element) in whole.positions().zip(c_little.chunks_exact(item)) {
        let offset: u64 = position.iter().zip(&strides).map(|(i, stride)| i * stride).sum();
        let slot = &mut stored[usize::try_from(offset).unwrap()..][..item];
        slot.copy_from_slice(element);
        if order.endian == rechunk_grid::Endian::Big {
            slot.chunks_mut(swap).for_each(<[u8]>::reverse);
        }
    }
    stored
}

fn open(metadata: &ArrayMetadata) -> (Arc<MemoryStore>, Array<MemoryStore>) {
    let store = Arc::new(MemoryStore::new());
    for (key, bytes) in metadata.documents() {
        store.set(&StoreKey::new(format!("a/{key}")).unwrap(), bytes.into()).unwrap();
    }
    let array = Array::open(Arc::clone(&store), "/a").unwrap();
    assert_eq!(array.shape(), metadata.spec.shape);
    let fill_value = metadata.spec.fill_value.as_ref().unwrap();
    assert_eq!(array.fill_value().as_ne_bytes(), fill_value.bytes, "on a little-endian machine");
    (store, array)
}

/// Chunks both ways.
fn check(metadata: ArrayMetadata, what: &str) {
    let data_type = metadata.spec.data_type;
    let item = usize::try_from(data_type.item_bytes()).unwrap();
    let c_little = elements(data_type);
    let layout = ZarrLayout::new(metadata).unwrap();
    let swap = usize::try_from(data_type.swap_bytes()).unwrap();
    let stored = laid_out(&c_little, layout.element_order(), item, swap);
    let (store, array) = open(layout.metadata());

    let index = [2, 0, 1];
    let key = StoreKey::new(format!("a/{}", layout.chunk_key(&index))).unwrap();
    let mut encoded = Vec::new();
    layout.encode(&[0], &stored, &mut encoded).unwrap();
    store.set(&key, encoded.into()).unwrap();
    let read: ArrayBytes = array.retrieve_chunk(&index).unwrap();
    assert_eq!(read.into_fixed().unwrap().as_ref(), c_little, "{what}: ours, read by zarrs");

    store.erase(&key).unwrap();
    array.store_chunk(&index, ArrayBytes::new_flen(c_little)).unwrap();
    let encoded: Bytes = store.get(&key).unwrap().unwrap();
    let mut scratch = Vec::new();
    let decoded = layout.decode(&[0], &encoded, &mut scratch).unwrap();
    assert_eq!(decoded, stored, "{what}: theirs, read by us");
}

#[test]
fn every_type_and_order_in_both_versions() {
    // The one type of zarr-extensions that zarrs does not have.
    let unknown = DataType::SmallFloat(SmallFloat::Float8E4m3fn);
    for data_type in DataType::ALL.into_iter().filter(|&data_type| data_type != unknown) {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
            for endian in ["little", "big"] {
                let source = v3_source(data_type, order, endian, ".");
                for version in [ZarrVersion::V2, ZarrVersion::V3] {
                    // zarrs has no v2 names for what tensorstore adds to NumPy's types.
                    let is_numpy = NUMPY_TYPES.contains(&data_type);
                    if version == ZarrVersion::V2 && !is_numpy {
                        continue;
                    }
                    for codec in ["none", "zstd:1", "blosc:lz4:5:shuffle"] {
                        let what = format!("{data_type:?} {order:?} {endian} {version:?} {codec}");
                        check(target(&source, version, codec), &what);
                    }
                }
            }
        }
    }
}

#[test]
fn every_codec_in_both_versions() {
    let mut both: Vec<String> =
        ["gzip:0", "gzip:1", "gzip:9", "zstd:-3", "zstd:0", "zstd:19"].map(String::from).to_vec();
    both.push(r#"{"id": "zstd", "level": 3, "checksum": true}"#.to_owned());
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        for shuffle in ["shuffle", "bitshuffle", "noshuffle", "auto"] {
            both.push(format!("blosc:{cname}:5:{shuffle}"));
        }
        both.push(format!("blosc:{cname}:0"));
        both.push(format!("blosc:{cname}:9"));
    }
    let v3_only = ["crc32c", r#"[{"name": "gzip", "configuration": {"level": 1}}, "crc32c"]"#];
    for data_type in [DataType::Uint8, DataType::Float16, DataType::Float64] {
        for separator in [".", "/"] {
            let source = v3_source(data_type, [0, 1, 2], "little", separator);
            for codec in &both {
                check(target(&source, ZarrVersion::V2, codec), codec);
                check(target(&source, ZarrVersion::V3, codec), codec);
            }
            for codec in v3_only {
                check(target(&source, ZarrVersion::V3, codec), codec);
            }
        }
    }
}

#[test]
fn separators_of_v2() {
    for separator in [".", "/"] {
        let document = json!({
            "zarr_format": 2, "shape": [7, 4, 11], "chunks": CHUNK, "dtype": ">i4",
            "compressor": null, "fill_value": 0, "order": "F", "filters": null,
            "dimension_separator": separator,
        });
        check(parse_v2(document.to_string().as_bytes(), None).unwrap(), separator);
    }
}

#[test]
fn names_attributes_and_odd_fill_values() {
    let mut source = v3_source(DataType::Float32, [0, 1, 2], "little", "/");
    for bits in [0x7fc0_0001_u32, 0xffc0_0000, 0x7f80_0000, 0xff80_0000, 0x8000_0000, 0x0000_0001] {
        source.spec.fill_value.as_mut().unwrap().bytes = bits.to_le_bytes().to_vec();
        // `open` compares the fill value bit by bit.
        let (_, array) = open(&target(&source, ZarrVersion::V3, "none"));
        let names: Vec<_> = array.dimension_names().clone().unwrap();
        assert_eq!(names, [Some("t".to_owned()), Some("y".to_owned()), Some("x".to_owned())]);
        assert_eq!(array.attributes()["units"], "K");
    }
    let mut half = v3_source(DataType::Float16, [0, 1, 2], "little", "/");
    for bits in [0x2e66_u16, 0x7bff, 0x0001, 0x3555, 0xbc01, 0x7e05] {
        half.spec.fill_value.as_mut().unwrap().bytes = bits.to_le_bytes().to_vec();
        open(&target(&half, ZarrVersion::V3, "none"));
    }
}

#[test]
fn groups() {
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let store = Arc::new(MemoryStore::new());
        for (key, bytes) in group_documents(version) {
            store.set(&StoreKey::new(key).unwrap(), bytes.into()).unwrap();
        }
        assert!(zarrs::group::Group::open(store, "/").is_ok(), "{version:?}");
    }
}

/// An array of 9 × 7 × 5 in chunks of different lengths, written by `zarrs` as a whole.
fn rectilinear(codecs: &Value) -> (Arc<MemoryStore>, Vec<u8>) {
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [9, 7, 5], "data_type": "uint16",
        "chunk_grid": {"name": "rectilinear", "configuration": {
            "kind": "inline", "chunk_shapes": [[2, [3, 2], 4], 3, [[1, 2], 3]]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 7, "codecs": codecs,
        "attributes": {},
    });
    let store = Arc::new(MemoryStore::new());
    store.set(&StoreKey::new("a/zarr.json").unwrap(), document.to_string().into()).unwrap();
    let array = Array::open(Arc::clone(&store), "/a").unwrap();
    let elements: Vec<u8> = (100..100 + 9 * 7 * 5_u16).flat_map(u16::to_le_bytes).collect();
    let bytes = ArrayBytes::new_flen(elements.clone());
    array.store_array_subset(&array.subset_all(), bytes).unwrap();
    (store, elements)
}

#[test]
fn chunks_of_different_lengths() {
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let transpose = json!({"name": "transpose", "configuration": {"order": [2, 0, 1]}});
    let zstd = json!({"name": "zstd", "configuration": {"level": 1, "checksum": false}});
    for codecs in [json!([bytes]), json!([transpose, bytes, zstd, "crc32c"]), json!([bytes, zstd])]
    {
        let (store, elements) = rectilinear(&codecs);
        let get = |key: &str| store.get(&StoreKey::new(format!("a/{key}")).unwrap()).unwrap();
        let layout = ZarrLayout::new(parse_v3(&get("zarr.json").unwrap()).unwrap()).unwrap();
        let grid = layout.spec().grid().unwrap();
        assert_eq!(grid.indices().shape, [4, 3, 3]);
        let whole = rechunk_grid::Region::whole(&[9, 7, 5]);
        let mut scratch = Vec::new();
        for index in grid.indices().positions() {
            let encoded = get(&layout.chunk_key(&index)).unwrap();
            let decoded = layout.decode(&index, &encoded, &mut scratch).unwrap();
            let chunk = grid.chunk(&index);
            let strides = layout.element_order().strides_bytes(&chunk.shape, 2);
            assert_eq!(decoded.len() as u64, chunk.elements() * 2);
            for position in grid.region(&index).positions() {
                let inner = position.iter().zip(&chunk.start).map(|(at, start)| at - start);
                let at: u64 = inner.zip(&strides).map(|(at, stride)| at * stride).sum();
                let at = usize::try_from(at).unwrap();
                let ordinal = usize::try_from(whole.ordinal(&position)).unwrap() * 2;
                let element = [decoded[at + 1], decoded[at]]; // stored big-endian
                assert_eq!(element, elements[ordinal..ordinal + 2], "{codecs} {position:?}");
            }
            // And back: ours, read by zarrs.
            let own = decoded.to_vec();
            let mut again = Vec::new();
            layout.encode(&index, &own, &mut again).unwrap();
            let key = StoreKey::new(format!("a/{}", layout.chunk_key(&index))).unwrap();
            store.set(&key, again.into()).unwrap();
        }
        // The document that we write says the same.
        let (_, document) = layout.metadata().documents().remove(0);
        store.set(&StoreKey::new("a/zarr.json").unwrap(), document.into()).unwrap();
        let array = Array::open(Arc::clone(&store), "/a").unwrap();
        let read: ArrayBytes = array.retrieve_array_subset(&array.subset_all()).unwrap();
        assert_eq!(read.into_fixed().unwrap().as_ref(), elements, "{codecs}");
    }
}
