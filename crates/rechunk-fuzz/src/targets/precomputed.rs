//! Precomputed volumes: `info`, and chunks of every encoding.

use std::sync::OnceLock;

use rechunk_format::Layout;
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
    assert_eq!(layout.object_index(&layout.object_key(&last)), Some(last));
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
