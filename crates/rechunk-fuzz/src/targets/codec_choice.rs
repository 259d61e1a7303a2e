//! Values of `--codec`.

use rechunk_format::Layout;
use rechunk_zarr::{
    ArrayMetadata, TargetOptions, ZarrLayout, ZarrVersion, parse_codec_choice, parse_v2,
    target_metadata,
};

use super::metadata::holds;

/// Types of the elements that are to be encoded.
const TYPES: [&str; 7] = ["|b1", "|i1", "<u2", ">i4", "<f4", "<f8", "<M8[s]"];
/// Elements of a chunk, none of which is the fill value.
const ELEMENTS: usize = 4;

/// Any text; what it means can be written in the versions that have it, and chunks too.
pub(crate) fn target(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(choice) = parse_codec_choice(text) else { return false };
    let mut is_accepted = false;
    for data_type in TYPES {
        let document = format!(
            r#"{{"zarr_format": 2, "shape": [8], "chunks": [{ELEMENTS}], "dtype": "{data_type}",
            "compressor": null, "fill_value": 0, "order": "C", "filters": null}}"#
        );
        let Ok(source) = parse_v2(document.as_bytes(), None) else { continue };
        for version in [ZarrVersion::V2, ZarrVersion::V3] {
            let codec = Some(choice.clone());
            let chunk_shape = vec![ELEMENTS as u64];
            let options = TargetOptions { version, chunk_shape, shard_shape: None, codec };
            if let Ok((target, _)) = target_metadata(&source, &options) {
                holds(&target);
                encodes(target);
                is_accepted = true;
            }
        }
    }
    is_accepted
}

/// A chunk goes through: what comes back is one, and comes back the same from then on.
fn encodes(target: ArrayMetadata) {
    let Ok(layout) = ZarrLayout::new(target) else { return };
    let bytes = ELEMENTS as u64 * layout.spec().item_bytes();
    let elements = vec![1; usize::try_from(bytes).unwrap_or(0)];
    let (mut encoded, mut decoded) = (Vec::new(), Vec::new());
    // Some elements have no place in what is chosen, e.g. a scale that makes them too large.
    if layout.encode(&[0], &elements, &mut encoded).is_err() {
        return;
    }
    let found = layout.decode(&[0], &encoded, &mut decoded);
    assert_eq!(found.as_ref().map(|found| found.len()), Ok(elements.len()), "{found:?}");
}
