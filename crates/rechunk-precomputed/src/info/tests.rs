use serde_json::json;

use crate::{BlockSize, Encoding, Packing, is_volume, parse_info};

fn volume() -> serde_json::Value {
    json!({
        "type": "segmentation", "mesh": "mesh", "data_type": "UINT64", "num_channels": 1,
        "scales": [
            {
                "key": "8_8_40", "size": [100, 90, 33], "resolution": [8.0, 8, 40.5],
                "voxel_offset": [-10, 5, 0], "chunk_sizes": [[64, 32, 16], [32, 32, 32]], "hidden": true,
                "encoding": "compressed_segmentation", "compressed_segmentation_block_size": [8, 8, 8]
            },
            {
                "key": "./16_16_40/", "size": [50, 45, 33], "resolution": [16, 16, 40],
                "chunk_sizes": [[64, 64, 16]], "encoding": "jxl"
            }
        ],
        "mip_note": "kept"
    })
}

#[test]
fn a_volume_is_read() {
    let document = volume().to_string().into_bytes();
    assert!(is_volume(&document));
    let volume = parse_info(&document).unwrap();
    let keys: Vec<&str> = volume.scales.iter().map(|scale| scale.key.as_str()).collect();
    assert_eq!(keys, ["8_8_40", "16_16_40"]);
    assert_eq!(volume.other_directories(), ["mesh"]);
    assert_eq!(volume.others().keys().collect::<Vec<_>>(), ["type", "mesh", "mip_note"]);
    let array = volume.array(&volume.scales[0]).unwrap();
    let spec = array.spec();
    assert_eq!(spec.shape, [33, 90, 100]);
    assert_eq!(spec.chunk_shape, [16, 32, 64]);
    assert_eq!(array.encoding, Encoding::CompressedSegmentation(BlockSize::DEFAULT));
    assert_eq!(array.packing, Packing::None);
    assert_eq!(
        serde_json::Value::Object(array.attributes.clone()),
        json!({
            "resolution": [40.5, 8, 8], "offset": [0, 40, -80], "units": ["nm", "nm", "nm"],
            "precomputed": {
                "type": "segmentation", "mesh": "mesh", "mip_note": "kept",
                "scale": {"key": "8_8_40", "hidden": true}
            }
        })
    );
    // Unknown fields and the order stay.
    let written = parse_info(&array.document()).unwrap();
    assert_eq!(written.array(&written.scales[0]).unwrap(), array);
    let text = String::from_utf8(array.document()).unwrap();
    let places = ["\"type\"", "\"mesh\"", "\"data_type\"", "\"scales\"", "\"mip_note\""];
    let places = places.map(|name| text.find(name).unwrap());
    assert!(places.is_sorted(), "{text}");
    // A scale that is named by its own place.
    let own = parse_info(&volume.document_of(&volume.scales[0])).unwrap();
    assert_eq!((own.scales.len(), own.scales[0].key.as_str()), (1, ""));
    assert_eq!(own.array(&own.scales[0]).unwrap().spec(), spec);
    // The other scale has an encoding that nobody here reads.
    let error = volume.array(&volume.scales[1]).unwrap_err().to_string();
    assert!(error.contains("jxl") && error.contains("16_16_40"), "{error}");
}

#[test]
fn channels_come_first() {
    let mut document = volume();
    document["num_channels"] = json!(3);
    document["scales"][0]["encoding"] = json!("raw");
    let volume = parse_info(document.to_string().as_bytes()).unwrap();
    let array = volume.array(&volume.scales[0]).unwrap();
    assert_eq!(array.spec().shape, [3, 33, 90, 100]);
    assert_eq!(array.spec().chunk_shape, [3, 16, 32, 64]);
    assert_eq!(array.attributes["resolution"], json!([1, 40.5, 8, 8]));
}

#[test]
fn what_is_no_volume_is_told() {
    for document in [
        "",
        "no JSON",
        "[]",
        "{}",
        r#"{"@type": "neuroglancer_skeletons", "scales": []}"#,
        r#"{"scales": 3, "data_type": "uint8"}"#,
    ] {
        assert!(!is_volume(document.as_bytes()), "{document}");
    }
    assert!(is_volume(br#"{"@type": "neuroglancer_multiscale_volume"}"#));
}

#[test]
fn wrong_fields_are_named() {
    let cases: [(&str, serde_json::Value, &str); 17] = [
        ("/data_type", json!("float64"), "float64"),
        ("/num_channels", json!(0), "num_channels"),
        ("/num_channels", json!(2), "compressed_segmentation"),
        ("/scales", json!([]), "no scale"),
        ("/scales/0/key", json!("../8_8_40"), "leads out"),
        ("/scales/0/key", json!(7), "key"),
        ("/scales/0/size", json!([100, 90]), "size"),
        ("/scales/0/size", json!([100, 90, -1]), "size"),
        ("/scales/0/size", json!([100, 90, 0]), "extent of 0"),
        ("/scales/0/size", json!([u64::MAX, 90, 1]), "size"),
        ("/scales/0/voxel_offset", json!([i64::MAX, 0, 0]), "63 bits"),
        ("/scales/0/chunk_sizes", json!([]), "empty"),
        ("/scales/0/chunk_sizes", json!([[65536, 65536, 65536]]), "smaller chunks"),
        ("/scales/0/resolution", json!([0, 1, 1]), "resolution"),
        ("/scales/0/encoding", json!("compresso"), "cloud-volume"),
        ("/scales/0/compressed_segmentation_block_size", json!([8, 8, 0]), "block"),
        ("/scales/0/sharding", json!({"@type": "neuroglancer_uint64_sharded_v1"}), "sharding.hash"),
    ];
    for (place, value, reason) in cases {
        let mut document = volume();
        match document.pointer_mut(place) {
            Some(found) => *found = value.clone(),
            None => document["scales"][0]["sharding"] = value.clone(),
        }
        let found = parse_info(document.to_string().as_bytes())
            .and_then(|volume| volume.array(&volume.scales[0]));
        match (place, found) {
            // Labels of several channels are said nowhere to be wrong.
            ("/num_channels", Ok(array)) => assert_eq!(array.channels, 2),
            (_, Ok(array)) => panic!("{place} {value}: {array:?}"),
            (_, Err(error)) => {
                let error = error.to_string();
                assert!(error.contains(reason), "{place} {value}: {error}");
            }
        }
    }
}
