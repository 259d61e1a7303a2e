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
