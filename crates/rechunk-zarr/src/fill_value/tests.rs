use proptest::prelude::*;
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

#[test]
fn v2_has_one_nan() {
    let fill = |bits: u32| FillValue { bytes: bits.to_le_bytes().to_vec() };
    assert!(v2_can_hold(&fill(0x7fc0_0000), DataType::Float32));
    assert!(!v2_can_hold(&fill(0x7fc0_0001), DataType::Float32));
    assert!(v2_can_hold(&fill(0x7fc0_0001), DataType::Int32));
    assert_eq!(v2_nearest(DataType::Float32), fill(0x7fc0_0000));
}

proptest! {
    #[test]
    fn every_element_survives(bits in any::<u64>(), kind in 1_usize..12) {
        let data_type = DataType::ALL[kind];
        let size = usize::try_from(data_type.item_bytes()).unwrap();
        let fill_value = FillValue { bytes: bits.to_le_bytes()[..size].to_vec() };
        // Through text, as a document would carry it.
        let text = write_fill_value(&fill_value, data_type).to_string();
        let value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read(&value, data_type, ZarrVersion::V3), Some(fill_value.bytes));
    }
}
