use super::*;

fn v2(value: &Value) -> Result<Record, String> {
    Record::parse_v2(&Field::new(".zarray", "dtype"), value).map_err(|error| error.to_string())
}

fn v3(fields: Value) -> Result<Record, String> {
    let map = Map::from_iter([("fields".to_owned(), fields)]);
    let field = Field::new("zarr.json", "data_type");
    Record::parse_v3(&field, &map).map_err(|error| error.to_string())
}

#[test]
fn sizes_are_those_of_numpy() {
    // Packed, as `numpy.dtype(…).itemsize` says.
    for (value, bytes) in [
        (json!([["a", "<i4"], ["b", "<f8"]]), 12),
        (json!([["a", "|i1"], ["b", ">f8"], ["c", "<U3"]]), 21),
        (json!([["v", "<f4", [2, 3]], ["w", "|S3", 2]]), 30),
        (json!([["n", [["x", "<M8[ns]"], ["y", "<c16"]], [2]]]), 48),
    ] {
        let record = v2(&value).unwrap();
        assert_eq!(record.bytes(), Some(bytes), "{value}");
        assert_eq!(of(&value, ZarrVersion::V2), Some(record));
    }
}

#[test]
fn both_versions_spell_the_same_record() {
    let fields = json!([["a", "<i4"], ["n", [["s", "|S3"], ["t", "<m8[10us]"]]]]);
    let record = v2(&fields).unwrap();
    let spelled = record.to_v3().unwrap();
    assert_eq!(spelled["configuration"]["fields"][0], json!(["a", "int32"]));
    let again = of(&spelled, ZarrVersion::V3).unwrap();
    assert_eq!(again, record);
    assert_eq!(again.describe(), record.describe());
    assert_eq!(again.to_v2(Endian::Little), Some(fields));
    let big = again.to_v2(Endian::Big).unwrap();
    assert_eq!(big, json!([["a", ">i4"], ["n", [["s", "|S3"], ["t", ">m8[10us]"]]]]));
}

#[test]
fn v3_has_no_shapes_and_one_byte_order() {
    let reason = |fields: Value| v2(&fields).unwrap().to_v3().unwrap_err();
    assert!(reason(json!([["v", "<f4", [2]]])).contains("\"v\", which is an array"));
    assert!(reason(json!([["n", [["x", ">f4"]]]])).contains("big-endian field \"x\""));
    assert!(v3(json!([["a", "uint4"]])).unwrap().to_v2(Endian::Little).is_none());
}

#[test]
fn hostile_records_are_refused() {
    let mut deep = json!([["a", "<i4"]]);
    for _ in 0..20 {
        deep = json!([["a", deep]]);
    }
    let huge = 1_u64 << 40;
    for (value, part) in [
        (json!([]), "at least one field"),
        (json!([["a"]]), "is not a field of a record"),
        (json!([{"name": "a", "data_type": "int8"}]), "is not a field"),
        (json!([[1, "<i4"]]), "is not a field"),
        (json!([["a", "|O"]]), "data type \"|O\" is not supported"),
        (json!([["a", "<i4", [0]]]), "1 to 1048576 bytes"),
        (json!([["a", "<i4", [huge, huge]]]), "1 to 1048576 bytes"),
        (json!([["a", "<i4", [huge]]]), "1 to 1048576 bytes"),
        (deep, "deep"),
    ] {
        let message = v2(&value).unwrap_err();
        assert!(message.contains(part), "{message}");
    }
    assert!(v3(json!([["a", "string"]])).unwrap_err().contains("in a record"));
    assert!(v3(json!([["a", "<i4", [2]]])).unwrap_err().contains("is not a field"));
}
