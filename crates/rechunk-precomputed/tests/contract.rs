//! Precomputed volumes, held to the contract of a format.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rechunk_conformance::formats::{Cuts, check_format, check_layout};
use rechunk_format::{Layout, ShardIndex};
use rechunk_precomputed::{Packing, PrecomputedLayout, parse_info};
use serde_json::{Value, json};

/// Every type, and the encodings that hold it.
const TYPES: [(&str, &[&str]); 8] = [
    ("uint8", &["raw", "png"]),
    ("uint16", &["raw", "png"]),
    ("uint32", &["raw", "compressed_segmentation"]),
    ("uint64", &["raw", "compressed_segmentation"]),
    ("int8", &["raw"]),
    ("int16", &["raw"]),
    ("int32", &["raw"]),
    ("float32", &["raw"]),
];

fn layout(document: &Value, packing: Packing) -> PrecomputedLayout {
    let volume = parse_info(document.to_string().as_bytes()).unwrap();
    let array = volume.array(&volume.scales[0]).unwrap();
    PrecomputedLayout::new(array.with_packing(packing)).unwrap()
}

#[test]
fn volumes_of_every_type_and_encoding() {
    let mut checked = 0;
    for (data_type, encodings) in TYPES {
        for encoding in encodings {
            for (size, chunk, channels) in [
                ([7, 5, 3], [4, 3, 2], 1),
                ([8, 6, 4], [4, 3, 2], 1),
                ([3, 2, 1], [5, 4, 3], 1),
                ([5, 4, 3], [2, 4, 2], 3),
            ] {
                for packing in [Packing::None, Packing::Gzip { level: 1 }, Packing::Told] {
                    let mut scale = json!({
                        "key": "s0", "size": size, "resolution": [4, 4, 40], "voxel_offset": [-3, 0, 17],
                        "chunk_sizes": [chunk], "encoding": encoding
                    });
                    if *encoding == "compressed_segmentation" {
                        scale["compressed_segmentation_block_size"] = json!([2, 3, 2]);
                    }
                    let document = json!({
                        "data_type": data_type, "num_channels": channels, "scales": [scale]
                    });
                    let layout = layout(&document, packing);
                    // What is cut off a compressed segmentation may be a table that another shares.
                    check_layout(&layout, Cuts::Told).unwrap();
                    assert_eq!(layout.format_name(), "precomputed");
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 12 * 4 * 3);
}

/// Shards of a table and of several, compressed and not; boxes that the volume fills and exceeds.
#[test]
fn volumes_in_shards() {
    let mut checked = 0;
    for (bits, encodings) in
        [([1, 1, 8], ["raw", "gzip"]), ([2, 0, 4], ["gzip", "raw"]), ([0, 3, 1], ["raw", "raw"])]
    {
        for (size, chunk) in
            [([7, 5, 3], [4, 3, 2]), ([9, 6, 4], [3, 3, 2]), ([3, 2, 1], [5, 4, 3])]
        {
            let document = json!({
                "data_type": "uint16", "num_channels": 1, "scales": [{
                    "key": "s0", "size": size, "resolution": [4, 4, 40], "chunk_sizes": [chunk],
                    "encoding": "raw", "sharding": {
                        "@type": "neuroglancer_uint64_sharded_v1", "hash": "identity",
                        "preshift_bits": bits[0], "minishard_bits": bits[1], "shard_bits": bits[2],
                        "minishard_index_encoding": encodings[0], "data_encoding": encodings[1]
                    }
                }]
            });
            let layout = layout(&document, Packing::None);
            check_layout(&layout, Cuts::Told).unwrap();
            let shards = layout.shards().unwrap();
            assert!(!shards.is_scattered());
            assert!(layout.object_key(&[0, 0, 0]).ends_with("0.shard"));
            checked += 1;
        }
    }
    assert_eq!(checked, 9);
}

/// A shard that was written reads as it was put there, however it is read.
#[test]
fn indexes_of_shards_read_back() {
    let document = json!({
        "data_type": "uint8", "num_channels": 1, "scales": [{
            "key": "", "size": [16, 8, 8], "resolution": [1, 1, 1], "chunk_sizes": [[2, 2, 2]],
            "encoding": "raw", "sharding": {
                "@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 2,
                "minishard_bits": 2, "shard_bits": 3, "minishard_index_encoding": "gzip"
            }
        }]
    });
    let layout = layout(&document, Packing::None);
    let format = layout.shards().unwrap();
    assert_eq!(format.chunks(), [2, 2, 4]);
    let (number, head) = (layout.shard_number(&[1, 0, 1]), format.head_bytes());
    let mut index = ShardIndex::empty(format);
    let (mut shard, mut chunks) = (vec![0; usize::try_from(head).unwrap()], Vec::new());
    // Backwards, some left out: chunks are written in the order in which they are finished.
    for slot in (0..format.chunk_count()).rev().filter(|slot| slot % 3 > 0) {
        let bytes = vec![u8::try_from(slot).unwrap(); usize::try_from(slot % 4).unwrap() + 1];
        index.set(slot, shard.len() as u64, bytes.len() as u64);
        shard.extend(&bytes);
        chunks.push((slot, bytes));
    }
    let (pieces, length) = format.closing(number, &index, shard.len() as u64);
    for (offset, piece) in pieces {
        let offset = usize::try_from(offset).unwrap();
        shard.resize(shard.len().max(offset + piece.len()), 0);
        shard[offset..offset + piece.len()].copy_from_slice(&piece);
    }
    assert_eq!(shard.len() as u64, length);
    assert_eq!(format.index_of(number, &shard).unwrap(), index);
    let tables = format.tables().unwrap();
    for (slot, bytes) in chunks {
        let entry = ShardIndex::slice(&shard, tables.entry_place(number, slot));
        let place = format.table_place(entry, length).unwrap().unwrap();
        let table = ShardIndex::slice(&shard, place);
        let found = format.decode_table(number, slot, table, length).unwrap();
        assert_eq!(ShardIndex::slice(&shard, found.entry(slot).unwrap()), bytes);
        // Those of another shard are refused.
        assert!(format.decode_table(number + 1, slot, table, length).is_err());
    }
}

/// Arrays of the suite that a volume can hold: those of three axes.
#[test]
fn arrays_of_the_suite() {
    let checked = check_format(|spec| {
        let ([z, y, x], [cz, cy, cx]) = (&spec.shape[..], &spec.chunk_shape[..]) else {
            return None;
        };
        let document = json!({
            "data_type": spec.data_type.name(), "num_channels": 1, "scales": [{
                "key": "", "size": [x, y, z], "resolution": [1, 1, 1], "chunk_sizes": [[cx, cy, cz]],
                "encoding": "raw"
            }]
        });
        let volume = parse_info(document.to_string().as_bytes()).ok()?;
        let array = volume.array(&volume.scales[0]).unwrap();
        Some(PrecomputedLayout::new(array).unwrap())
    });
    assert_eq!(checked.unwrap().layouts, 1);
}
