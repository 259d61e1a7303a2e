//! Precomputed volumes: `info`, and chunks of every encoding.

use std::sync::OnceLock;

use rechunk_format::{Layout, ShardFormat, ShardIndex};
use rechunk_precomputed::{CHUNK_BYTES_MAX, Packing, PrecomputedLayout, is_volume, parse_info};

use super::round_trip;

/// A document: each of its scales is an array, or is refused.
#[expect(clippy::panic, reason = "a target fails by panicking")]
pub(crate) fn info(data: &[u8]) -> bool {
    let _ = is_volume(data);
    let Ok(volume) = parse_info(data) else { return false };
    let _ = (volume.others(), volume.other_directories());
    let mut is_accepted = false;
    for scale in &volume.scales {
        let Ok(array) = volume.array(scale) else { continue };
        is_accepted = true;
        assert!(array.chunk_bytes() <= CHUNK_BYTES_MAX);
        let document = array.document();
        let again = parse_info(&document).and_then(|volume| volume.array(&volume.scales[0]));
        assert_eq!(again.as_ref().ok(), Some(&array), "{again:?}");
        match PrecomputedLayout::new(array) {
            Ok(layout) => holds(&layout),
            Err(error) => panic!("accepted, but without a layout: {error}"),
        }
        // Named by its own place it is as large.
        let own = parse_info(&volume.document_of(scale));
        assert!(own.is_ok_and(|own| own.scales.len() == 1 && own.scales[0].key.is_empty()));
    }
    is_accepted
}

/// Properties of the layout of any scale that was accepted.
fn holds(layout: &PrecomputedLayout) {
    let grid = layout.spec().grid();
    assert!(grid.is_ok(), "{grid:?}");
    let Ok(grid) = grid else { return };
    let last: Vec<u64> =
        (0..grid.rank()).map(|axis| grid.count_along(axis).saturating_sub(1)).collect();
    let object = layout.shards().map_or_else(|| last.clone(), |shards| shards.shard_of(&last));
    let found = layout.object_index(&layout.object_key(&object));
    // An object that holds chunks from anywhere leads back to none.
    let is_scattered = layout.shards().is_some_and(ShardFormat::is_scattered);
    assert_eq!(found, Some(object).filter(|_| !is_scattered));
}

/// Encodings, types and channels; the first byte of the input chooses.
const CASES: [(&str, &str, u64, Packing); 8] = [
    ("raw", "int32", 1, Packing::None),
    ("raw", "int32", 1, Packing::Gzip { level: 1 }),
    ("raw", "uint16", 3, Packing::Told),
    ("compressed_segmentation", "uint32", 1, Packing::None),
    ("compressed_segmentation", "uint64", 2, Packing::None),
    ("compressed_segmentation", "uint64", 1, Packing::Told),
    ("png", "uint8", 1, Packing::None),
    ("png", "uint16", 3, Packing::None),
];

fn layouts() -> &'static [PrecomputedLayout] {
    static LAYOUTS: OnceLock<Vec<PrecomputedLayout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| CASES.iter().map(layout).collect())
}

#[expect(clippy::panic, reason = "a target fails by panicking")]
fn layout(
    (encoding, data_type, channels, packing): &(&str, &str, u64, Packing),
) -> PrecomputedLayout {
    let block = if *encoding == "compressed_segmentation" {
        r#", "compressed_segmentation_block_size": [8, 8, 8]"#
    } else {
        ""
    };
    let document = format!(
        r#"{{"data_type": "{data_type}", "num_channels": {channels}, "scales": [{{"key": "0",
        "size": [40, 24, 9], "resolution": [1, 1, 1], "chunk_sizes": [[20, 12, 9]],
        "encoding": "{encoding}"{block}}}]}}"#
    );
    parse_info(document.as_bytes())
        .and_then(|volume| volume.array(&volume.scales[0]))
        .and_then(|array| PrecomputedLayout::new(array.with_packing(*packing)))
        .unwrap_or_else(|error| panic!("{encoding}: {error}"))
}

/// A byte that names the encoding, then a chunk: the first, which is not at the edge.
pub(crate) fn chunk(data: &[u8]) -> bool {
    let Some((&choice, chunk)) = data.split_first() else { return false };
    round_trip(&layouts()[usize::from(choice) % CASES.len()], chunk, true)
}

/// Hashes, bits and encodings of shards; the first byte chooses.
const SHARDINGS: [(&str, [u32; 3], &str); 4] = [
    ("identity", [1, 1, 3], "raw"),
    ("identity", [2, 0, 3], "gzip"),
    ("identity", [0, 2, 0], "raw"),
    ("murmurhash3_x86_128", [0, 1, 0], "gzip"),
];

fn sharded() -> &'static [PrecomputedLayout] {
    static LAYOUTS: OnceLock<Vec<PrecomputedLayout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| SHARDINGS.iter().map(sharded_layout).collect())
}

#[expect(clippy::panic, reason = "a target fails by panicking")]
fn sharded_layout((hash, bits, tables): &(&str, [u32; 3], &str)) -> PrecomputedLayout {
    let [preshift, minishard, shard] = bits;
    let document = format!(
        r#"{{"data_type": "uint8", "num_channels": 1, "scales": [{{"key": "", "size": [8, 8, 3],
        "resolution": [1, 1, 1], "chunk_sizes": [[2, 2, 2]], "encoding": "raw", "sharding": {{
        "@type": "neuroglancer_uint64_sharded_v1", "hash": "{hash}", "preshift_bits": {preshift},
        "minishard_bits": {minishard}, "shard_bits": {shard},
        "minishard_index_encoding": "{tables}"}}}}]}}"#
    );
    parse_info(document.as_bytes())
        .and_then(|volume| volume.array(&volume.scales[0]))
        .and_then(PrecomputedLayout::new)
        .unwrap_or_else(|error| panic!("{hash}: {error}"))
}

/// A byte that names the sharding, then a shard: all tables of it, and each by itself.
pub(crate) fn shard(data: &[u8]) -> bool {
    let Some((&choice, shard)) = data.split_first() else { return false };
    let layout = &sharded()[usize::from(choice) % SHARDINGS.len()];
    let Some((format, tables)) =
        layout.shards().and_then(|format| Some((format, format.tables()?)))
    else {
        return false;
    };
    let (number, bytes) = (layout.shard_number(&[0; 3]), shard.len() as u64);
    let whole = format.index_of(number, shard);
    let mut is_read = whole.is_ok();
    for slot in format.table_slots() {
        let entry = ShardIndex::slice(shard, tables.entry_place(number, slot));
        let Ok(place) = format.table_place(entry, bytes) else {
            assert!(whole.is_err(), "a table of a whole shard is nowhere");
            continue;
        };
        let table = place.map_or(&[][..], |place| ShardIndex::slice(shard, place));
        match (format.decode_table(number, slot, table, bytes), &whole) {
            (Ok(part), whole) => {
                is_read = true;
                for slot in part.slots() {
                    let found = part.entry(slot);
                    let is_inside =
                        |(offset, length): (u64, u64)| offset + length <= bytes && offset > 0;
                    assert!(found.is_none_or(is_inside), "{found:?} of {bytes}");
                    let of_whole = whole.as_ref().ok().map(|whole| whole.entry(slot));
                    assert!(of_whole.is_none_or(|of_whole| of_whole == found));
                }
            }
            (Err(_), whole) => assert!(whole.is_err(), "a table of a whole shard is wrong"),
        }
    }
    is_read
}

/// A JPEG, which is decoded only.
#[expect(clippy::panic, reason = "a target fails by panicking")]
pub(crate) fn jpeg(data: &[u8]) -> bool {
    static LAYOUT: OnceLock<PrecomputedLayout> = OnceLock::new();
    let layout = LAYOUT.get_or_init(|| layout(&("jpeg", "uint8", 1, Packing::None)));
    let mut scratch = Vec::new();
    let index = [0; 3];
    match layout.decode(&index, data, &mut scratch) {
        Ok(decoded) if decoded.len() != 20 * 12 * 9 => panic!("{} bytes", decoded.len()),
        decoded => decoded.is_ok(),
    }
}
