//! Shards: their index, and every chunk that it finds.

use std::sync::OnceLock;

use rechunk_format::{IndexLocation, Layout, ShardFormat};
use rechunk_grid::Endian;
use rechunk_zarr::{ZarrLayout, parse_v3};

use super::round_trip;

/// Codecs of the chunks inside, those of the index, and where that is; the first byte chooses.
/// `LITTLE` and `BIG` stand for the codec `bytes`.
const CASES: [(&str, &str, &str); 8] = [
    ("LITTLE", r#"LITTLE, "crc32c""#, "end"),
    (r#"LITTLE, "numcodecs.lz4""#, "LITTLE", "start"),
    (
        r#"LITTLE, {"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#,
        r#"LITTLE, "crc32c""#,
        "end",
    ),
    (r#"BIG, {"name": "gzip", "configuration": {"level": 1}}, "crc32c""#, "LITTLE", "end"),
    (
        r#"LITTLE, {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5,
            "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}"#,
        r#"BIG, "crc32c""#,
        "start",
    ),
    (r#""numcodecs.pcodec""#, "BIG", "end"),
    (r#"LITTLE, "crc32c""#, r#"LITTLE, "crc32c""#, "start"),
    (
        r#"{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE,
            {"name": "numcodecs.bz2", "configuration": {"level": 1}}"#,
        "LITTLE",
        "end",
    ),
];

/// Three bytes and four numbers that make a format, then a shard, or only its index.
pub(crate) fn index(data: &[u8]) -> bool {
    let Some((&[options, along_0, along_1], data)) = data.split_first_chunk() else { return false };
    let location = if options & 1 == 0 { IndexLocation::End } else { IndexLocation::Start };
    let endian = if options & 2 == 0 { Endian::Little } else { Endian::Big };
    let (has_checksum, is_repaired) = (options & 4 == 0, options & 8 == 0);
    let new = |shard: &[u64], chunk: &[u64]| {
        ShardFormat::new(shard, chunk, location, endian, has_checksum)
    };
    if options & 16 != 0 {
        // Any numbers: a format is refused or holds.
        let numbers: Vec<u64> = data.as_chunks().0.iter().map(|n| u64::from_le_bytes(*n)).collect();
        let (shard, chunk) = numbers.split_at(numbers.len() / 2);
        let Ok(format) = new(shard, chunk) else { return false };
        assert!(format.index_bytes() > 0 && format.slot(shard) < format.chunk_count());
        return true;
    }
    let chunks = [u64::from(along_0), u64::from(along_1)];
    let Ok(format) = new(&[chunks[0] * 2, chunks[1] * 3], &[2, 3]) else {
        assert!(chunks.contains(&0));
        return false;
    };
    let mut shard = data.to_vec();
    if is_repaired {
        repair(&format, &mut shard);
    }
    index_holds(&format, &shard)
}

/// Gives the index the checksum it should have.
fn repair(format: &ShardFormat, shard: &mut [u8]) {
    let Some(range) = index_range(format, shard.len()) else { return };
    let Some((entries, checksum)) = shard[range].split_last_chunk_mut::<4>() else { return };
    if format.has_checksum() {
        *checksum = crc32c::crc32c(entries).to_le_bytes();
    }
}

fn index_range(format: &ShardFormat, shard_bytes: usize) -> Option<std::ops::Range<usize>> {
    let bytes = usize::try_from(format.index_bytes()).ok()?;
    let rest = shard_bytes.checked_sub(bytes)?;
    Some(match format.location() {
        IndexLocation::Start => 0..bytes,
        IndexLocation::End => rest..shard_bytes,
    })
}

/// An index that is read is written the same, and leads nowhere but into the shard.
fn index_holds(format: &ShardFormat, shard: &[u8]) -> bool {
    let found = format.index_of(0, shard);
    let Some(range) = index_range(format, shard.len()) else {
        assert!(found.is_err());
        return false;
    };
    let bytes = shard.len() as u64;
    assert_eq!(found, format.decode_index(&shard[range.clone()], bytes));
    let Ok(index) = found else { return false };
    assert_eq!(format.encode_index(&index), shard[range]);
    assert!(index.count() <= format.chunk_count() && index.longest_bytes() <= bytes);
    let entries = (0..format.chunk_count()).filter_map(|slot| index.entry(slot));
    assert!(entries.clone().all(|(offset, length)| offset <= bytes && length <= bytes - offset));
    assert_eq!(entries.count() as u64, index.count());
    assert_eq!(index.entry(format.chunk_count()), None);
    true
}

fn layouts() -> &'static [ZarrLayout] {
    static LAYOUTS: OnceLock<Vec<ZarrLayout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| CASES.iter().map(layout).collect())
}

#[expect(clippy::panic, reason = "a target fails by panicking")]
fn layout((codecs, index_codecs, location): &(&str, &str, &str)) -> ZarrLayout {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [20, 30], "data_type": "float32",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [16, 16]}}}},
        "chunk_key_encoding": "default", "fill_value": 0,
        "codecs": [{{"name": "sharding_indexed", "configuration": {{"chunk_shape": [8, 8],
        "codecs": [{codecs}], "index_codecs": [{index_codecs}], "index_location": "{location}"}}}}]}}"#
    );
    let bytes =
        |endian: &str| format!(r#"{{"name": "bytes", "configuration": {{"endian": "{endian}"}}}}"#);
    let document = document.replace("LITTLE", &bytes("little")).replace("BIG", &bytes("big"));
    parse_v3(document.as_bytes())
        .and_then(ZarrLayout::new)
        .unwrap_or_else(|error| panic!("{codecs}: {error}"))
}

/// A byte that names the codecs, one that is even where the checksum of the index is to be made
/// right, then a shard.
pub(crate) fn whole(data: &[u8]) -> bool {
    let Some((&[choice, repaired], shard)) = data.split_first_chunk() else { return false };
    let layout = &layouts()[usize::from(choice) % CASES.len()];
    let Some(format) = layout.shards() else { return false };
    let mut shard = shard.to_vec();
    if repaired.is_multiple_of(2) {
        repair(format, &mut shard);
    }
    index_holds(format, &shard);
    let Ok(index) = format.index_of(0, &shard) else { return false };
    let mut is_accepted = true;
    for (offset, length) in (0..format.chunk_count()).filter_map(|slot| index.entry(slot)) {
        let part = |bytes| usize::try_from(bytes).unwrap_or(usize::MAX);
        let chunk = shard.get(part(offset)..).and_then(|rest| rest.get(..part(length)));
        assert!(chunk.is_some(), "{length} bytes from {offset} on");
        is_accepted &= round_trip(layout, chunk.unwrap_or_default(), true);
    }
    is_accepted
}
