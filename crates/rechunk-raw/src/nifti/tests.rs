use rechunk_grid::DataType;
use serde_json::json;

use super::*;

fn spec(shape: &[u64], data_type: DataType) -> ArraySpec {
    let chunk_shape = vec![1; shape.len()];
    let shape = shape.to_vec();
    ArraySpec {
        shape,
        data_type,
        chunk_shape,
        fill_value: None,
        dimension_names: None,
        edges: None,
    }
}

fn least(shape: &[u64], data_type: DataType) -> Result<Vec<u8>, String> {
    let made = RawMetadata::nifti(spec(shape, data_type), Map::new(), "a.nii", AxisOrder::Kept);
    made.map(|metadata| metadata.runs().header).map_err(|error| error.to_string())
}

fn refuse(header: &[u8]) -> String {
    parse_nifti(header, "a.nii", AxisOrder::Kept).unwrap_err().to_string()
}

/// A header with other bytes from `at` on.
fn with(at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut header = least(&[2, 3], DataType::Int16).unwrap();
    header[at..at + bytes.len()].copy_from_slice(bytes);
    header
}

#[test]
fn the_least_header_reads_again() {
    for (shape, bytes) in [(&[32_767_u64, 2][..], 352), (&[32_768, 2], 544), (&[1; 7], 352)] {
        for (data_type, code) in [(DataType::Uint8, 2), (DataType::Complex128, 1792)] {
            let header = least(shape, data_type).unwrap();
            assert_eq!(header.len(), bytes);
            let metadata = parse_nifti(&header, "a.nii", AxisOrder::Kept).unwrap();
            assert_eq!((&metadata.spec.shape[..], metadata.spec.data_type), (shape, data_type));
            let nifti = &metadata.attributes[ATTRIBUTE];
            assert_eq!(nifti["datatype"], code);
            assert_eq!(nifti["pixdim"], json!([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]));
            assert_eq!(nifti["scl_slope"], 1.0);
        }
    }
}

#[test]
fn what_nifti_cannot_hold_is_refused() {
    assert!(least(&[], DataType::Uint8).unwrap_err().contains("0 axes"));
    assert!(least(&[1; 8], DataType::Uint8).unwrap_err().contains("8 axes"));
    assert!(least(&[2, 0], DataType::Uint8).unwrap_err().contains("extent 0"));
    assert!(least(&[2], DataType::Bool).unwrap_err().contains("data type bool"));
    assert!(least(&[2], DataType::Float16).unwrap_err().contains("float16"));
}

#[test]
fn what_is_not_read_is_named() {
    for (header, why) in [
        (with(344, b"ni1\0"), "a pair of files (.hdr and .img) is not supported"),
        (with(344, b"\0\0\0\0"), "ANALYZE 7.5"),
        (with(344, b"n+9\0"), "it is \"n+9\\x00\""),
        (with(0, b"\x1f\x8b"), "a compressed file (.nii.gz)"),
        (with(0, &[1, 2, 3, 4]), "neither 348 nor 540"),
        (with(40, &0_i16.to_le_bytes()), "0 axes are not 1 to 7"),
        (with(40, &8_i16.to_le_bytes()), "8 axes are not 1 to 7"),
        (with(42, &(-2_i16).to_le_bytes()), "extent -2"),
        (with(44, &0_i16.to_le_bytes()), "extent 0"),
        (with(70, &128_i16.to_le_bytes()), "data type RGB24 (128) is not supported"),
        (with(70, &1_i16.to_le_bytes()), "BINARY"),
        (with(70, &3_i16.to_le_bytes()), "3 is no data type"),
        (with(72, &8_i16.to_le_bytes()), "8 bits are no int16"),
        (with(108, &0_f32.to_le_bytes()), "no offset of 352 or more"),
        (with(108, &352.5_f32.to_le_bytes()), "no offset"),
        (with(108, &f32::NAN.to_le_bytes()), "no offset"),
        (with(108, &(-352_f32).to_le_bytes()), "no offset"),
        (with(108, &3e9_f32.to_le_bytes()), "no offset"),
        (with(108, &2e6_f32.to_le_bytes()), "a header of 2000000 bytes"),
        (with(108, &368_f32.to_le_bytes()), "ends in it, after 352 bytes"),
        (Vec::new(), "after 0 bytes"),
        (with(0, &[])[..300].to_vec(), "after 300 bytes"),
    ] {
        let error = refuse(&header);
        assert!(error.contains(why), "{why}: {error}");
    }
    assert!(parse_nifti(&with(72, &[0, 0]), "a.nii", AxisOrder::Kept).is_ok());
}

#[test]
fn extents_that_no_file_has_are_refused() {
    let mut header = least(&[40_000, 3], DataType::Int16).unwrap();
    header[24..32].copy_from_slice(&i64::MAX.to_le_bytes());
    assert!(refuse(&header).contains("63 bits"));
    header[24..32].copy_from_slice(&(i64::MAX / 4).to_le_bytes());
    assert!(refuse(&header).contains("63 bits"));
}

#[test]
fn a_header_in_the_attributes_that_is_none_is_not_used() {
    let good = least(&[2, 3], DataType::Int16).unwrap();
    for text in [json!("@@"), json!(BASE64_STANDARD.encode(b"short")), json!(1), json!("")] {
        let attributes = json!({ATTRIBUTE: {EXACT: text}}).as_object().unwrap().clone();
        let spec = spec(&[2, 3], DataType::Int16);
        let made = RawMetadata::nifti(spec, attributes, "a.nii", AxisOrder::Kept).unwrap();
        assert_eq!(made.runs().header, good);
    }
}

/// Attributes with a header that says all there is. Voxels of 2, 3 and 4 are turned a quarter about
/// the third axis and mirrored along it; slices have times.
fn placed(shape: &[u64], endian: Endian) -> Map<String, Value> {
    let mut header = least(shape, DataType::Int16).unwrap();
    let table = &fields::NIFTI_1;
    let mut set = |name: &str, values: &[f64]| {
        for (at, value) in values.iter().enumerate() {
            fields::set_float(&mut header, place(table, name), at, *value, Endian::Little);
        }
    };
    set("pixdim", &[-1.0, 2.0, 3.0, 4.0, 0.5]);
    set("scl_slope", &[0.25]);
    set("quatern_d", &[0.5_f64.sqrt()]);
    set("qoffset", &[100.0, 200.0, 300.0]);
    set("srow_x", &[0.0, -3.0, 0.0, 100.0]);
    set("srow_y", &[2.0, 0.0, 0.0, 200.0]);
    set("srow_z", &[0.0, 0.0, -4.0, 300.0]);
    set("toffset", &[8.0]);
    header[39] = 3 << 4; // dim_info: slices lie along the third axis
    header[122] = 1; // slice_code
    header.splice(348..352, [1, 0, 0, 0].into_iter().chain([7; 16]));
    header[108..112].copy_from_slice(&368_f32.to_le_bytes());
    if endian == Endian::Big {
        header[..4].reverse();
        for &(_, start, kind, count) in table.iter().filter(|place| place.2 != fields::Kind::Text) {
            header[start..start + count * kind.bytes()]
                .chunks_mut(kind.bytes())
                .for_each(<[u8]>::reverse);
        }
    }
    parse_nifti(&header, "a.nii", AxisOrder::Kept).unwrap().attributes
}

#[test]
fn a_region_keeps_its_place() {
    for endian in [Endian::Little, Endian::Big] {
        let mut kept = placed(&[10, 20, 30, 40], endian);
        let whole = kept[ATTRIBUTE].clone();
        select_nifti(&mut kept, &[5, 7, 2, 6], &[3, 13, 28, 1]);
        let part = &kept[ATTRIBUTE];
        assert_eq!(part["dim"], json!([4, 3, 13, 28, 1, 1, 1, 1]));
        // 5 · 2 along y, 7 · 3 against x, 2 · 4 against z, 6 · 0.5 later.
        assert_eq!(part["srow_x"], json!([0.0, -3.0, 0.0, 79.0]));
        assert_eq!(part["srow_y"], json!([2.0, 0.0, 0.0, 210.0]));
        assert_eq!(part["srow_z"], json!([0.0, 0.0, -4.0, 292.0]));
        let offsets = part["qoffset"].as_array().unwrap().iter();
        for (found, expected) in offsets.zip([79.0, 210.0, 292.0]) {
            assert!((found.as_f64().unwrap() - expected).abs() < 1e-4, "{part}");
        }
        assert_eq!((&part["toffset"], &part["slice_code"]), (&json!(11.0), &json!(0)));
        for name in ["pixdim", "scl_slope", "quatern_d", "datatype", "vox_offset", "dim_info"] {
            assert_eq!(part[name], whole[name], "{name}");
        }
        let spec = spec(&[3, 13, 28, 1], DataType::Int16);
        let (header, order) = header(&spec, &kept, AxisOrder::Kept).unwrap();
        assert_eq!((order, &header[352..]), (endian, &[7; 16][..]), "extensions stay");
        // Slices that are all there have their times.
        let mut kept = placed(&[10, 20, 30, 40], endian);
        select_nifti(&mut kept, &[5, 7, 0, 0], &[3, 13, 30, 40]);
        assert_eq!(kept[ATTRIBUTE]["slice_code"], 1);
    }
}

#[test]
fn elements_of_another_type_keep_slope_and_place() {
    let mut kept = placed(&[4, 5], Endian::Big);
    let before = kept[ATTRIBUTE].clone();
    cast_nifti(&mut kept, DataType::Float64);
    let after = &kept[ATTRIBUTE];
    assert_eq!((&after["datatype"], &after["bitpix"]), (&json!(64), &json!(64)));
    for name in ["pixdim", "scl_slope", "srow_x", "qoffset", "dim"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    assert!(has_nifti_header(&spec(&[4, 5], DataType::Float64), &kept, AxisOrder::Kept));
    assert!(!has_nifti_header(&spec(&[4, 5], DataType::Int16), &kept, AxisOrder::Kept));
    let of_double = kept.clone();
    cast_nifti(&mut kept, DataType::Float16); // NIfTI has no such type
    assert_eq!(kept, of_double);
}

/// Attributes are whatever somebody wrote.
#[test]
fn headers_of_other_arrays_stay_as_they_are() {
    let kept = placed(&[10, 20, 30], Endian::Little);
    for (start, shape) in [
        (&[0, 0][..], &[1, 1][..]),
        (&[0, 0, 0], &[11, 1, 1]),
        (&[u64::MAX, 0, 0], &[1, 1, 1]),
        (&[0, 0, 0], &[0, 1, 1]),
    ] {
        let mut same = kept.clone();
        select_nifti(&mut same, start, shape);
        assert_eq!(same, kept, "{start:?} {shape:?}");
    }
    for odd in
        [json!(null), json!({}), json!({EXACT: 3}), json!({EXACT: "*"}), json!({EXACT: "XAEA"})]
    {
        let mut attributes = Map::from_iter([(ATTRIBUTE.to_owned(), odd)]);
        let before = attributes.clone();
        select_nifti(&mut attributes, &[0], &[1]);
        cast_nifti(&mut attributes, DataType::Uint8);
        assert_eq!(attributes, before);
    }
}
