//! Precomputed volumes, held to the contract of a format.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rechunk_conformance::formats::{Cuts, check_format, check_layout};
use rechunk_format::Layout;
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
