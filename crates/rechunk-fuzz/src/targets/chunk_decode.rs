//! Stored chunks of every codec.

use std::sync::OnceLock;

use rechunk_format::Layout;
use rechunk_zarr::{ZarrLayout, parse_v3};

/// Bytes of a decoded chunk.
const CHUNK_BYTES: usize = 4096;

/// Most capacity a buffer may be left with, bytes: room for a chunk and what its encoded form adds.
const CAPACITY_BYTES_MAX: usize = 256 << 10;

/// Codecs in Zarr v3's spelling; the first byte of the input chooses.
const CODECS: [&str; 12] = [
    "",
    r#", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#,
    r#", {"name": "zstd", "configuration": {"level": 1, "checksum": true}}"#,
    r#", {"name": "gzip", "configuration": {"level": 1}}"#,
    r#", "crc32c""#,
    r#", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}, "crc32c""#,
    r#", "crc32c", {"name": "gzip", "configuration": {"level": 1}}, "crc32c""#,
    r#", {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}}"#,
    r#", {"name": "blosc", "configuration": {"cname": "zstd", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 512}}"#,
    r#", {"name": "blosc", "configuration": {"cname": "blosclz", "clevel": 9, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0}}"#,
    r#", {"name": "blosc", "configuration": {"cname": "snappy", "clevel": 5, "shuffle": "shuffle", "typesize": 8, "blocksize": 0}}"#,
    r#", {"name": "gzip", "configuration": {"level": 1}}, {"name": "blosc", "configuration": {"cname": "zlib", "clevel": 1, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0}}"#,
];

fn layouts() -> &'static [ZarrLayout] {
    static LAYOUTS: OnceLock<Vec<ZarrLayout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| CODECS.iter().filter_map(|codecs| layout(codecs)).collect())
}

fn layout(codecs: &str) -> Option<ZarrLayout> {
    let document = format!(
        r#"{{"zarr_format": 3, "node_type": "array", "shape": [1024], "data_type": "float32",
        "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [1024]}}}},
        "chunk_key_encoding": "default", "fill_value": 0,
        "codecs": [{{"name": "bytes", "configuration": {{"endian": "little"}}}}{codecs}]}}"#
    );
    parse_v3(document.as_bytes()).ok().and_then(|metadata| ZarrLayout::new(metadata).ok())
}

/// A byte that names the codecs, then a chunk. What decodes is a whole chunk, and survives another
/// round through the codecs.
pub(crate) fn target(data: &[u8]) {
    let Some((&choice, chunk)) = data.split_first() else { return };
    let layouts = layouts();
    assert_eq!(layouts.len(), CODECS.len(), "codecs that are not understood");
    let layout = &layouts[usize::from(choice) % layouts.len()];
    let mut scratch = Vec::new();
    let decoded = layout.decode(chunk, &mut scratch).map(<[u8]>::to_vec);
    assert!(scratch.capacity() <= CAPACITY_BYTES_MAX, "{} bytes", scratch.capacity());
    let Ok(elements) = decoded else { return };
    assert_eq!(elements.len(), CHUNK_BYTES);
    let mut encoded = Vec::new();
    let written = layout.encode(&elements, &mut encoded);
    assert!(written.is_ok(), "{written:?}");
    assert_eq!(layout.decode(&encoded, &mut scratch).ok(), Some(elements.as_slice()));
}
