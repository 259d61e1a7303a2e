use rechunk_codec::deflate;
use rechunk_format::{FormatError, Layout, Plain};
use serde_json::{Value, json};

use super::PrecomputedLayout;
use crate::{Packing, parse_info};

fn layout(change: impl FnOnce(&mut Value), packing: Packing) -> PrecomputedLayout {
    let mut document = json!({
        "type": "image", "data_type": "uint16", "num_channels": 1,
        "scales": [{
            "key": "4_4_40", "size": [7, 5, 3], "resolution": [4, 4, 40], "voxel_offset": [-2, 10, 0],
            "chunk_sizes": [[4, 5, 2]], "encoding": "raw"
        }]
    });
    change(&mut document);
    let volume = parse_info(document.to_string().as_bytes()).unwrap();
    let array = volume.array(&volume.scales[0]).unwrap();
    PrecomputedLayout::new(array.with_packing(packing)).unwrap()
}

fn elements(layout: &PrecomputedLayout) -> Vec<u8> {
    (0..layout.chunk_bytes).map(|at| at.to_le_bytes()[0] % 251 + 1).collect()
}

#[test]
fn names_hold_the_offset_and_are_clipped() {
    let layout = layout(|_| {}, Packing::None);
    for (index, key) in [([0, 0, 0], "4_4_40/-2-2_10-15_0-2"), ([1, 0, 1], "4_4_40/2-5_10-15_2-3")]
        .map(|([z, y, x], key)| ([x, y, z], key))
    {
        assert_eq!(layout.object_key(&index), key);
        assert_eq!(layout.object_index(key), Some(index.to_vec()));
    }
    for key in [
        "-2-2_10-15_0-2",
        "4_4_40/-1-3_10-15_0-2",
        "4_4_40/6-10_10-15_0-2",
        "8_8_40/-2-2_10-15_0-2",
    ] {
        assert_eq!(layout.object_index(key), None, "{key}");
    }
    let packed = layout.metadata().with_packing(Packing::Gzip { level: 6 });
    let packed = PrecomputedLayout::new(packed).unwrap();
    assert_eq!(packed.object_key(&[0, 0, 0]), "4_4_40/-2-2_10-15_0-2.gz");
    assert_eq!(packed.object_index("4_4_40/-2-2_10-15_0-2.gz"), Some(vec![0, 0, 0]));
    assert_eq!(packed.object_index("4_4_40/-2-2_10-15_0-2"), None);
}

#[test]
fn raw_chunks_are_clipped_and_plain() {
    let layout = layout(|_| {}, Packing::None);
    assert_eq!(layout.plain(), Some(Plain::Clipped));
    let mut encoded = Vec::new();
    layout.encode(&[1, 0, 1], &elements(&layout), &mut encoded).unwrap();
    assert_eq!(encoded.len(), 3 * 5 * 2);
    // A row of x is whole: the first three of each four.
    assert_eq!(encoded[..8], [1, 2, 3, 4, 5, 6, 9, 10]);
}

#[test]
fn objects_tell_whether_they_are_compressed() {
    for encoding in ["raw", "png"] {
        let make = |packing| {
            layout(|document| document["scales"][0]["encoding"] = json!(encoding), packing)
        };
        let (bare, told) = (make(Packing::None), make(Packing::Told));
        assert_ne!(bare.encoding_identity(), told.encoding_identity());
        assert_eq!(told.plain(), None);
        let (mut encoded, mut packed, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        for index in [[0, 0, 0], [1, 0, 1]] {
            bare.encode(&index, &elements(&bare), &mut encoded).unwrap();
            let expected = bare.decode(&index, &encoded, &mut scratch).unwrap().to_vec();
            deflate::encode_gzip(&encoded, &mut packed, 6).unwrap();
            for stored in [&encoded, &packed] {
                assert_eq!(told.decode(&index, stored, &mut scratch).unwrap(), expected);
            }
        }
    }
}

#[test]
fn elements_that_look_like_gzip_are_elements() {
    let told = layout(|_| {}, Packing::Told);
    let mut chunk = elements(&told);
    chunk[..3].copy_from_slice(&[0x1f, 0x8b, 8]);
    let mut scratch = Vec::new();
    assert_eq!(told.decode(&[0, 0, 0], &chunk, &mut scratch).unwrap(), chunk);
    let error = told.decode(&[0, 0, 0], &chunk[1..], &mut scratch).unwrap_err();
    assert!(error.to_string().contains("Content-Encoding"), "{error}");
}

/// Makes the scale of a document one of JPEGs, each of which is a chunk of all of it.
fn jpeg(document: &mut Value, size: [u64; 3], channels: u64) {
    document["data_type"] = json!("uint8");
    document["num_channels"] = json!(channels);
    let scale = &mut document["scales"][0];
    scale["encoding"] = json!("jpeg");
    scale["size"] = json!(size);
    scale["chunk_sizes"] = json!([size]);
}

#[test]
fn a_jpeg_is_near_what_was_encoded_and_within_its_bounds() {
    // Sizes that fill blocks of pixels badly are among them.
    for (size, channels) in
        [([64, 16, 4], 1), ([9, 7, 5], 1), ([1, 30, 20], 1), ([33, 3, 2], 3), ([8, 8, 1], 3)]
    {
        let make = |quality: u64| {
            layout(
                |document| {
                    jpeg(document, size, channels);
                    document["scales"][0]["jpeg_quality"] = json!(quality);
                },
                Packing::None,
            )
        };
        let count = usize::try_from(size.iter().product::<u64>() * channels).unwrap();
        // A ramp along x, and noise of black and white.
        let width = usize::try_from(size[0]).unwrap();
        let ramp: Vec<u8> = (0..count).map(|at| u8::try_from(at % width * 2).unwrap()).collect();
        let mut state = 1_u32;
        let noise: Vec<u8> = (0..count)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                if state >> 31 == 0 { 0 } else { 255 }
            })
            .collect();
        let index = vec![0; if channels == 1 { 3 } else { 4 }];
        let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
        let mut bytes = Vec::new();
        for (quality, elements, most) in
            [(100, &ramp, 3), (85, &ramp, 16), (1, &ramp, 128), (100, &noise, 24)]
        {
            let layout = make(quality);
            layout.encode(&index, elements, &mut encoded).unwrap();
            assert!(encoded.len() as u64 <= layout.codec_cost().encoded_bytes_max, "{size:?}");
            bytes.push(encoded.len());
            let decoded = layout.decode(&index, &encoded, &mut scratch).unwrap();
            let differences = decoded.iter().zip(elements).map(|(a, b)| a.abs_diff(*b));
            let found = differences.max().unwrap();
            assert!(found <= most, "{size:?} of {channels} at {quality}: {found}");
        }
        assert!(bytes[2] < bytes[3], "{bytes:?}");
    }
}

#[test]
fn a_jpeg_of_no_known_quality_is_read_and_not_written() {
    let layout = layout(|document| jpeg(document, [8, 4, 2], 1), Packing::None);
    let error = layout.encode(&[0; 3], &[7; 64], &mut Vec::new()).unwrap_err();
    assert!(matches!(error, FormatError::Encode { codec: "jpeg", .. }), "{error}");
    for wrong in [&[][..], b"no image", &[0xff, 0xd8, 0xff, 0xd9]] {
        layout.decode(&[0; 3], wrong, &mut Vec::new()).unwrap_err();
    }
}

/// Headers may claim any size: it is compared before anything is made for it.
#[test]
fn images_of_other_sizes_are_refused() {
    let png = |size: [u64; 3]| {
        layout(
            |document| {
                let scale = &mut document["scales"][0];
                scale["encoding"] = json!("png");
                scale["size"] = json!(size);
                scale["chunk_sizes"] = json!([size]);
            },
            Packing::None,
        )
    };
    let (small, large) = (png([4, 4, 4]), png([4, 4, 5]));
    let mut encoded = Vec::new();
    large.encode(&[0; 3], &elements(&large), &mut encoded).unwrap();
    let error = small.decode(&[0; 3], &encoded, &mut Vec::new()).unwrap_err().to_string();
    assert!(error.contains("pixels instead of 64 voxels"), "{error}");
    // The width of the header, 4 bytes behind its name.
    encoded[16..20].copy_from_slice(&u32::MAX.to_be_bytes());
    large.decode(&[0; 3], &encoded, &mut Vec::new()).unwrap_err();
}
