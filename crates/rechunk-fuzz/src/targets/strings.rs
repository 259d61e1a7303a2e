//! Chunks of elements that differ in length.

use std::sync::OnceLock;

use rechunk_format::variable::{VariableChunk, VariableKind, VariablePart, assemble};
use rechunk_format::{ElementOrder, Layout};
use rechunk_grid::Region;
use rechunk_zarr::{ZarrLayout, parse_v2, parse_v3};

/// Largest stream that is asked for, bytes.
const LIMIT_BYTES: usize = 1 << 16;
/// Shape of a chunk, elements.
const SHAPE: [u64; 2] = [2, 3];

/// Codecs of v3, and filters and compressor of v2; the first byte of the input chooses.
const V3: [&str; 6] = [
    r#""vlen-utf8""#,
    r#""vlen-bytes""#,
    r#""vlen-utf8", {"name": "zstd", "configuration": {"level": 1, "checksum": false}}"#,
    r#""vlen-bytes", {"name": "gzip", "configuration": {"level": 1}}, "crc32c""#,
    r#""vlen-utf8", {"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5,
        "shuffle": "noshuffle", "typesize": 1, "blocksize": 0}}"#,
    r#""vlen-bytes", "numcodecs.lz4""#,
];
const V2: [(&str, &str); 2] = [
    (r#"{"id": "vlen-array", "dtype": "<i4"}"#, "null"),
    (r#"{"id": "vlen-array", "dtype": "|u1"}"#, r#"{"id": "zlib", "level": 1}"#),
];

fn layouts() -> &'static [ZarrLayout] {
    static LAYOUTS: OnceLock<Vec<ZarrLayout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| {
        let v3 = V3.iter().filter_map(|codecs| {
            let document = format!(
                r#"{{"zarr_format": 3, "node_type": "array", "shape": [4, 6], "data_type": "string",
                "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [2, 3]}}}},
                "chunk_key_encoding": {{"name": "default"}}, "fill_value": "", "codecs": [{codecs}]}}"#
            );
            parse_v3(document.as_bytes()).ok()
        });
        let v2 = V2.iter().filter_map(|(filter, compressor)| {
            let document = format!(
                r#"{{"zarr_format": 2, "shape": [4, 6], "chunks": [2, 3], "dtype": "|O",
                "compressor": {compressor}, "fill_value": 0, "order": "C", "filters": [{filter}]}}"#
            );
            parse_v2(document.as_bytes(), None).ok()
        });
        v3.chain(v2).filter_map(|metadata| ZarrLayout::new(metadata).ok()).collect()
    })
}

/// A byte that chooses the codecs, then a stored chunk. What decodes is cut and put together again.
pub(crate) fn chunk(data: &[u8]) -> bool {
    let layouts = layouts();
    assert_eq!(layouts.len(), V3.len() + V2.len());
    let Some((&first, encoded)) = data.split_first() else { return false };
    let layout = &layouts[usize::from(first) % layouts.len()];
    let Some(codecs) = layout.variable() else { return false };
    let mut stream = Vec::new();
    let Ok(true) = codecs.decode(encoded, LIMIT_BYTES, &mut stream) else { return false };
    assert!(stream.len() <= LIMIT_BYTES);
    holds(&stream, codecs.kind())
}

fn holds(stream: &[u8], kind: VariableKind) -> bool {
    let whole = Region::whole(&SHAPE);
    let Ok(chunk) = VariableChunk::new(stream.to_vec(), whole.elements(), kind) else {
        return false;
    };
    let order = ElementOrder::c_little(SHAPE.len());
    let halves = [Region::new(vec![0, 0], vec![2, 1]), Region::new(vec![0, 1], vec![2, 2])];
    let parts = halves.map(|region| {
        let body = Some(chunk.cut(&whole, &order, &region));
        VariablePart { region, body }
    });
    let again = assemble(&whole, &order, &parts, b"");
    assert_eq!(again.as_deref(), Some(stream));
    true
}
