use proptest::prelude::*;
use rechunk_grid::{SmallFloat, TimeUnit};
use serde_json::json;

use super::*;

fn read(value: &Value, data_type: DataType, version: ZarrVersion) -> Option<Vec<u8>> {
    parse_fill_value(&Field::new("doc", "fill_value"), value, data_type, version)
        .unwrap_or_else(|error| panic!("{error}"))
        .map(|fill_value| fill_value.bytes)
}

fn refuse(value: &Value, data_type: DataType) -> String {
    let field = Field::new("zarr.json", "fill_value");
    parse_fill_value(&field, value, data_type, ZarrVersion::V3).unwrap_err().to_string()
}

#[test]
fn what_is_written_for_each_value() {
    let table: &[(DataType, &[u8], Value)] = &[
        (DataType::Bool, &[1], json!(true)),
        (DataType::Bool, &[0], json!(false)),
        (DataType::Int8, &[0x80], json!(-128)),
        (DataType::Int16, &(-9999_i16).to_le_bytes(), json!(-9999)),
        (DataType::Int32, &7_i32.to_le_bytes(), json!(7)),
        (DataType::Int64, &i64::MIN.to_le_bytes(), json!(i64::MIN)),
        (DataType::Uint8, &[255], json!(255)),
        (DataType::Uint16, &[0xff, 0xff], json!(65535)),
        (DataType::Uint32, &[0xff; 4], json!(u32::MAX)),
        (DataType::Uint64, &[0xff; 8], json!(u64::MAX)),
        (DataType::Float16, &0x2e66_u16.to_le_bytes(), json!(0.1)),
        (DataType::Float16, &0x7e00_u16.to_le_bytes(), json!("NaN")),
        (DataType::Float16, &0x7e01_u16.to_le_bytes(), json!("0x7e01")),
        (DataType::Float16, &0xfc00_u16.to_le_bytes(), json!("-Infinity")),
        (DataType::Float32, &0.1_f32.to_le_bytes(), json!(0.1)),
        (DataType::Float32, &1e20_f32.to_le_bytes(), json!(1e20)),
        (DataType::Float32, &(-0.0_f32).to_le_bytes(), json!(-0.0)),
        (DataType::Float32, &0x7fc0_0000_u32.to_le_bytes(), json!("NaN")),
        (DataType::Float32, &0xffc0_0000_u32.to_le_bytes(), json!("0xffc00000")),
        (DataType::Float32, &0x7f80_0001_u32.to_le_bytes(), json!("0x7f800001")),
        (DataType::Float32, &f32::INFINITY.to_le_bytes(), json!("Infinity")),
        (DataType::Float64, &0.1_f64.to_le_bytes(), json!(0.1)),
        (DataType::Float64, &f64::MIN_POSITIVE.to_le_bytes(), json!(f64::MIN_POSITIVE)),
        (DataType::Float64, &0x7ff8_0000_0000_0000_u64.to_le_bytes(), json!("NaN")),
        (DataType::Float64, &0x7ff8_0000_0000_0001_u64.to_le_bytes(), json!("0x7ff8000000000001")),
    ];
    for (data_type, bytes, value) in table {
        let written = write_fill_value(&FillValue { bytes: bytes.to_vec() }, *data_type);
        // As text: serde_json compares -0.0 and 0.0 as equal.
        assert_eq!(written.to_string(), value.to_string(), "{data_type:?}");
        assert_eq!(read(value, *data_type, ZarrVersion::V3).as_deref(), Some(*bytes), "{value}");
    }
}

#[test]
fn what_other_writers_spell_differently() {
    let v2 = ZarrVersion::V2;
    assert_eq!(read(&Value::Null, DataType::Int16, v2), None);
    assert_eq!(read(&json!(0.0), DataType::Int16, v2), Some(vec![0, 0]));
    assert_eq!(read(&json!(1), DataType::Bool, v2), Some(vec![1]));
    assert_eq!(read(&json!(3), DataType::Float32, v2), Some(3_f32.to_le_bytes().to_vec()));
    let rounded = read(&json!(1.000_000_020_040_877_3e20), DataType::Float32, v2);
    assert_eq!(rounded, Some(1e20_f32.to_le_bytes().to_vec()));
    let bare = json!("\0token:NaN");
    assert_eq!(read(&bare, DataType::Float16, v2), Some(vec![0x00, 0x7e]));
    let wide = json!("\0token:100000000000000000000");
    assert_eq!(read(&wide, DataType::Float64, v2), Some(1e20_f64.to_le_bytes().to_vec()));
}

#[test]
fn what_is_refused() {
    let text = refuse(&json!(300), DataType::Uint8);
    assert_eq!(text, r#"zarr.json: "fill_value": 300 is not a uint8"#);
    for (value, data_type) in [
        (Value::Null, DataType::Float32),
        (json!(-1), DataType::Uint64),
        (json!(0.5), DataType::Int32),
        (json!(1e30), DataType::Int64),
        (json!(1e300), DataType::Float32),
        (json!(70000), DataType::Float16),
        (json!("0x7fc0"), DataType::Float32),
        (json!("0x+fc00000"), DataType::Float32),
        (json!("nan"), DataType::Float64),
        (json!("123"), DataType::Float64),
        (json!("NaN"), DataType::Int16),
        (json!(1), DataType::Bool),
        (json!([0]), DataType::Int8),
        (json!({"a": 1}), DataType::Float32),
    ] {
        assert!(refuse(&value, data_type).contains("is not a"), "{value}");
    }
}

/// Types with parameters.
fn sized() -> Vec<DataType> {
    vec![
        DataType::DateTime64 { unit: TimeUnit::Nanosecond, scale: 1 },
        DataType::TimeDelta64 { unit: TimeUnit::Week, scale: 25 },
        DataType::FixedBytes { bytes: 5 },
        DataType::RawBits { bytes: 3 },
        DataType::Structured { bytes: 12 },
    ]
}

#[test]
fn types_with_parameters() {
    let time = DataType::DateTime64 { unit: TimeUnit::Second, scale: 1 };
    let (bytes, text) = (DataType::FixedBytes { bytes: 5 }, DataType::FixedUtf32 { characters: 3 });
    let small = DataType::SmallFloat(SmallFloat::Float8E5m2);
    let nan = 0x7fc0_0000_u32.to_le_bytes();
    let complex = [nan, f32::NEG_INFINITY.to_le_bytes()].concat();
    let odd = [0x7fc0_0001_u32.to_le_bytes(), 1.5_f32.to_le_bytes()].concat();
    let table: &[(DataType, Vec<u8>, Value)] = &[
        (time, i64::MIN.to_le_bytes().to_vec(), json!(i64::MIN)),
        (time, 5_i64.to_le_bytes().to_vec(), json!(5)),
        (bytes, b"ab\0\0\0".to_vec(), json!("YWIAAAA=")),
        (DataType::RawBits { bytes: 3 }, vec![1, 2, 3], json!("AQID")),
        (text, b"a\0\0\0\xe9\0\0\0\0\0\0\0".to_vec(), json!("aé")),
        (text, vec![0; 12], json!("")),
        (DataType::Complex64, complex, json!(["NaN", "-Infinity"])),
        (DataType::Complex64, odd, json!(["0x7fc00001", 1.5])),
        (DataType::Bfloat16, vec![0xc0, 0x7f], json!("NaN")),
        (DataType::Bfloat16, vec![0xc1, 0x7f], json!("0x7fc1")),
        (DataType::Bfloat16, vec![0xc0, 0x3f], json!(1.5)),
        (DataType::Int4, vec![0xf8], json!(-8)),
        (DataType::Uint2, vec![3], json!(3)),
        (small, vec![0x7e], json!("NaN")),
        (small, vec![0x7d], json!("0x7d")),
        (small, vec![0x38], json!(0.5)),
        (small, vec![0xfc], json!("-Infinity")),
    ];
    for (data_type, bytes, value) in table {
        let written = write_fill_value(&FillValue { bytes: bytes.clone() }, *data_type);
        assert_eq!(written.to_string(), value.to_string(), "{data_type:?}");
        assert_eq!(read(value, *data_type, ZarrVersion::V3).as_ref(), Some(bytes), "{value}");
    }
    assert_eq!(read(&json!("NaT"), time, ZarrVersion::V3), Some(i64::MIN.to_le_bytes().to_vec()));
    assert_eq!(read(&json!("YWI="), bytes, ZarrVersion::V2), Some(b"ab\0\0\0".to_vec()));
    assert_eq!(read(&json!(""), bytes, ZarrVersion::V2), Some(vec![0; 5]));
    assert_eq!(read(&json!(0), text, ZarrVersion::V2), Some(vec![0; 12]));
    assert_eq!(read(&json!(0), bytes, ZarrVersion::V2), Some(vec![0; 5]));
    let raw = DataType::RawBits { bytes: 2 };
    assert_eq!(read(&json!([1, 255]), raw, ZarrVersion::V3), Some(vec![1, 255]));
    assert_eq!(write_byte_list(&FillValue { bytes: vec![1, 255] }), json!([1, 255]));
    let real = [2_f64.to_le_bytes(), [0; 8]].concat();
    assert_eq!(read(&json!(2), DataType::Complex128, ZarrVersion::V2), Some(real));
}

#[test]
fn what_is_refused_of_types_with_parameters() {
    let text = DataType::FixedUtf32 { characters: 2 };
    for (value, data_type) in [
        (json!("abc"), text),
        (json!("\0token:NaN"), DataType::FixedUtf32 { characters: 20 }),
        (json!(0), text),
        (json!("YWJjZGVm"), DataType::FixedBytes { bytes: 5 }),
        (json!("not base64"), DataType::FixedBytes { bytes: 50 }),
        (json!([1, 2]), DataType::RawBits { bytes: 3 }),
        (json!([1, 256]), DataType::RawBits { bytes: 2 }),
        (json!(1), DataType::Complex64),
        (json!([1]), DataType::Complex64),
        (json!([1, 2, 3]), DataType::Complex128),
        (json!([1, "x"]), DataType::Complex128),
        (json!(8), DataType::Int4),
        (json!(-1), DataType::Uint4),
        (json!(4), DataType::Uint2),
        (json!("nat"), DataType::TimeDelta64 { unit: TimeUnit::Day, scale: 1 }),
        (json!(0.3), DataType::SmallFloat(SmallFloat::Float8E5m2)),
        (json!("NaN"), DataType::SmallFloat(SmallFloat::Float4E2m1fn)),
        (json!("0x10"), DataType::SmallFloat(SmallFloat::Float4E2m1fn)),
    ] {
        assert!(refuse(&value, data_type).contains("is not a"), "{value}");
    }
}

#[test]
fn v2_has_one_nan() {
    let fill = |bits: u32| FillValue { bytes: bits.to_le_bytes().to_vec() };
    let canonical = fill(0x7fc0_0000);
    assert_eq!(v2_nearest(&canonical, DataType::Float32), canonical);
    assert_eq!(v2_nearest(&fill(0x7fc0_0001), DataType::Float32), canonical);
    assert_eq!(v2_nearest(&fill(0x7fc0_0001), DataType::Int32), fill(0x7fc0_0001));
    let pair =
        |re: u32, im: u32| FillValue { bytes: [re.to_le_bytes(), im.to_le_bytes()].concat() };
    let nearest = v2_nearest(&pair(0x3f80_0000, 0xffc0_0000), DataType::Complex64);
    assert_eq!(nearest, pair(0x3f80_0000, 0x7fc0_0000));
}

/// The bits of an element of `data_type` among arbitrary bytes.
fn element(data_type: DataType, mut bytes: Vec<u8>) -> FillValue {
    bytes.truncate(usize::try_from(data_type.item_bytes()).unwrap());
    let first = bytes[0];
    bytes[0] = match data_type {
        DataType::Bool => first & 1,
        DataType::Uint2 => first & 3,
        DataType::Uint4 => first & 15,
        DataType::Int2 => ((first << 6).cast_signed() >> 6).cast_unsigned(),
        DataType::Int4 => ((first << 4).cast_signed() >> 4).cast_unsigned(),
        DataType::SmallFloat(kind) => first & kind.largest_byte(),
        _ => first,
    };
    FillValue { bytes }
}

proptest! {
    #[test]
    fn every_element_survives(
        bytes in prop::collection::vec(any::<u8>(), 16),
        data_type in prop::sample::select([DataType::ALL.to_vec(), sized()].concat()),
    ) {
        let fill_value = element(data_type, bytes);
        // Through text, as a document would carry it.
        let text = write_fill_value(&fill_value, data_type).to_string();
        let value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read(&value, data_type, ZarrVersion::V3), Some(fill_value.bytes));
    }

    #[test]
    fn text_that_looks_like_a_bare_token_survives(text in "\\x00(token|quoted):(NaN|-Infinity|1e999|)") {
        let data_type = DataType::FixedUtf32 { characters: 20 };
        let document = json!({"fill_value": text}).to_string();
        let map = crate::json::read_object("doc", document.as_bytes()).unwrap();
        let bytes = read(&map["fill_value"], data_type, ZarrVersion::V2).unwrap();
        let told: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
        prop_assert_eq!(&bytes[..told.len()], &told);
        let written = write_fill_value(&FillValue { bytes }, data_type);
        let written = crate::json::write_pretty(&json!({"fill_value": written}));
        prop_assert_eq!(crate::json::read_object("doc", &written).unwrap(), map);
    }

    #[test]
    fn every_text_survives(text in "\\PC{0,9}") {
        let data_type = DataType::FixedUtf32 { characters: 9 };
        let bytes = read(&json!(text), data_type, ZarrVersion::V2).unwrap();
        prop_assert_eq!(bytes.len(), 36);
        let written = write_fill_value(&FillValue { bytes }, data_type);
        prop_assert_eq!(written, json!(text.trim_end_matches('\0')));
    }
}
