//! What `--codec` says.

use rechunk_zarr::{TargetOptions, ZarrVersion, parse_codec_choice, parse_v2, target_metadata};

const SOURCE: &[u8] = br#"{"zarr_format": 2, "shape": [8], "chunks": [4], "dtype": "<f4",
    "compressor": null, "fill_value": 0, "order": "C", "filters": null}"#;

/// Any text; what it means can be written in the versions that have it.
pub(crate) fn target(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (Ok(choice), Ok(source)) = (parse_codec_choice(text), parse_v2(SOURCE, None)) else {
        return;
    };
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let codec = Some(choice.clone());
        let options = TargetOptions { version, chunk_shape: vec![4], shard_shape: None, codec };
        if let Ok((target, _)) = target_metadata(&source, &options) {
            let layout = rechunk_zarr::ZarrLayout::new(target);
            assert!(layout.is_ok(), "{layout:?}");
        }
    }
}
