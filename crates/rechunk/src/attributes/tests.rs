use rechunk_grid::DataType;

use super::*;

fn spec(shape: &[u64], names: Option<&[&str]>) -> ArraySpec {
    let name = |name: &&str| (!name.is_empty()).then(|| (*name).to_owned());
    ArraySpec {
        shape: shape.to_vec(),
        data_type: DataType::Float32,
        chunk_shape: shape.to_vec(),
        edges: None,
        fill_value: None,
        dimension_names: names.map(|names| names.iter().map(name).collect()),
    }
}

fn carried(
    (from, to): (Format, Format),
    axes: Axes,
    spec: &ArraySpec,
    attributes: &Value,
) -> (Map<String, Value>, Vec<String>) {
    let source = attributes.as_object().unwrap().clone();
    let mut attributes = source.clone();
    let warnings = Way { from, to, axes }.carry(spec, &source, &mut attributes);
    (attributes, warnings)
}

/// Every attribute of a real array there is as it was after the way to N5 and back. What N5 says is
/// what its readers read.
#[test]
fn what_means_something_else_in_n5_comes_back() {
    let array = spec(&[3, 4, 5], None);
    for (attributes, is_kept_aside) in [
        (json!({"units": "K", "long_name": "temperature"}), true),
        (json!({"axes": [{"name": "z"}, {"name": "y"}, {"name": "x"}]}), true),
        (json!({"axes": ["z", "y", "x"]}), false),
        (json!({"axes": ["band", "band", "x"]}), true),
        (json!({"units": ["s", "nm", "nm"], "resolution": [1, 4, 4.5]}), false),
        (json!({"units": ["s", null, "nm"]}), true),
        (json!({"resolution": 30, "offset": 273.15}), true),
        (json!({"resolution": [40, 4]}), true),
        (json!({"transform": [30, 0, 0, 0, -30, 0]}), true),
        (json!({"transform": {"axes": ["z"], "scale": [1.5], "translate": [0]}}), false),
        (json!({"compression": "none", "dimensions": "lat lon", "n5": true}), true),
        (json!({"dataType": "f4", "blockSize": 3}), true),
        (json!({"scales": "log", "downsamplingFactors": {"x": 2}}), true),
        (json!({"downsamplingFactors": [[1, 1, 1], [1, 2, 2]]}), false),
        (json!({"pixelResolution": {"dimensions": [40, 4, 4], "unit": "nm"}}), false),
        (json!({"pixelResolution": "4 nm"}), true),
        (json!({"isLabelMultiset": true}), true),
        (json!({"rechunk_attributes": "a text", "units": "m"}), true),
    ] {
        for format in [Format::Zarr3, Format::Zarr2] {
            let there = carried((format, Format::N5), Axes::Reverse, &array, &attributes);
            for (name, value) in &there.0 {
                assert!(suits_dataset(name, value, 3), "{attributes}: {name} is {value}");
            }
            let aside = there.1.iter().any(|warning| warning.contains("put back"));
            assert_eq!(aside, is_kept_aside, "{attributes}: {:?}", there.1);
            let there = Value::Object(there.0);
            let back = carried((Format::N5, format), Axes::Reverse, &array, &there).0;
            assert_eq!(Value::Object(back), attributes, "{there}");
        }
    }
}

/// Volumes say size and place of voxels in fields of their own; what only has such a name is kept.
#[test]
fn what_means_something_else_in_volumes_comes_back() {
    let array = spec(&[3, 4, 5], None);
    for (attributes, is_kept_aside) in [
        (json!({"units": "K", "long_name": "temperature"}), true),
        (json!({"units": ["K", "K", "K"]}), true),
        (json!({"resolution": 30, "offset": 273.15}), true),
        (json!({"resolution": [40, 4]}), true),
        (json!({"resolution": [40, 4, "4"]}), true),
        (
            json!({"resolution": [40, 4, 4], "offset": [400, 0, 0], "units": ["nm", "nm", "nm"]}),
            false,
        ),
        (json!({"voxel_size": [40, 4, 4], "units": "um"}), false),
    ] {
        let way = (Format::Zarr3, Format::Precomputed);
        let (mut there, warnings) = carried(way, Axes::Reverse, &array, &attributes);
        assert_eq!(!warnings.is_empty(), is_kept_aside, "{attributes}: {warnings:?}");
        // As the fields of the volume are read.
        there.insert("resolution".to_owned(), json!([1, 1, 1]));
        there.insert("units".to_owned(), json!(["nm", "nm", "nm"]));
        let there = Value::Object(there);
        let back = carried((Format::Precomputed, Format::Zarr3), Axes::Reverse, &array, &there).0;
        for (name, value) in attributes.as_object().unwrap() {
            assert!(!is_kept_aside || back[name] == *value, "{attributes}: {back:?}");
        }
        assert_eq!(back.get(KEPT), None);
    }
}

#[test]
fn what_belongs_to_axes_follows_them() {
    let array = spec(&[3, 4, 5], None);
    let attributes = json!({
        "resolution": [4, 5, 40], "offset": [1, 2, 3], "units": ["nm", "nm", "um"],
        "pixelResolution": {"dimensions": [4, 5, 40], "unit": "nm"},
        "downsamplingFactors": [2, 2, 1], "axes": ["x", "y", "z"], "valid_range": [0, 1, 2],
    });
    let turned = json!({
        "resolution": [40, 5, 4], "offset": [3, 2, 1], "units": ["um", "nm", "nm"],
        "pixelResolution": {"dimensions": [40, 5, 4], "unit": "nm"},
        "downsamplingFactors": [1, 2, 2], "axes": ["z", "y", "x"], "valid_range": [0, 1, 2],
    });
    for (axes, expected) in [(Axes::Reverse, &turned), (Axes::Keep, &attributes)] {
        let (mut there, warnings) = carried((Format::N5, Format::Zarr3), axes, &array, &attributes);
        assert_eq!(warnings, Vec::<String>::new());
        let noted = there.clone();
        assert_eq!(there.shift_remove("rechunk_axes"), Some(axes.name().into()));
        assert_eq!(&Value::Object(there), expected, "{axes:?}");
        let (back, _) = carried((Format::Zarr3, Format::N5), axes, &array, &Value::Object(noted));
        assert_eq!(Value::Object(back), attributes, "{axes:?}");
    }
}

#[test]
fn what_cannot_follow_the_axes_is_said() {
    let array = spec(&[2, 3, 4, 5], None);
    for attributes in [
        json!({"resolution": [4, 4, 40]}),
        json!({"pixelResolution": {"dimensions": [4, 4, 40], "unit": "nm"}}),
        json!({"pixelResolution": {"x": 4, "y": 4}}),
        json!({"downsamplingFactors": [[1, 1, 1], [2, 2, 2]]}),
        json!({"transform": {"axes": ["z", "y", "x"], "scale": [40, 4, 4]}}),
    ] {
        let way = (Format::N5, Format::Zarr3);
        let (there, warnings) = carried(way, Axes::Reverse, &array, &attributes);
        let name = attributes.as_object().unwrap().keys().next().unwrap();
        assert_eq!(there[name], attributes[name]);
        assert!(warnings.len() == 1 && warnings[0].contains(name), "{warnings:?}");
        assert!(carried(way, Axes::Keep, &array, &attributes).1.is_empty());
    }
}

/// The names of axes are an attribute in N5, where one of the user's may be.
#[test]
fn names_of_axes_and_an_attribute_of_that_name() {
    let array = spec(&[3, 4], Some(&["y", "x"]));
    for axes in [json!(["y", "x"]), json!(["lat", "lon"]), json!("yx"), json!([1, 2])] {
        let attributes = json!({"axes": axes, "a": 1});
        let there = carried((Format::Zarr3, Format::N5), Axes::Reverse, &array, &attributes).0;
        assert_eq!(there.get("axes"), None, "left for the names");
        let back =
            carried((Format::N5, Format::Zarr3), Axes::Reverse, &array, &Value::Object(there)).0;
        assert_eq!(Value::Object(back), attributes);
    }
}

#[test]
fn what_is_no_json_comes_back_too() {
    let array = spec(&[3], None);
    let document = br#"{"valid_min": NaN, "valid_range": [-Infinity, 1], "scale": 1e999, "a": {"json": "NaN"}}"#;
    let attributes = Value::Object(read_object(".zattrs", document).unwrap());
    let there = carried((Format::Zarr2, Format::N5), Axes::Reverse, &array, &attributes);
    assert!(there.1.len() == 1 && there.1[0].contains("no JSON"), "{:?}", there.1);
    let there = Value::Object(there.0);
    let text = write_pretty(&there);
    assert!(serde_json::from_slice::<Value>(&text).is_ok(), "{}", String::from_utf8_lossy(&text));
    let back = carried((Format::N5, Format::Zarr2), Axes::Reverse, &array, &there).0;
    assert_eq!(Value::Object(back), attributes);
}

/// xarray opens no array of Zarr v3 with another `_FillValue`.
#[test]
fn what_is_missing_is_said_as_xarray_reads_it() {
    let array = spec(&[3], Some(&["x"]));
    for (said, is_spelled) in [
        (json!(-999.0), true),
        (json!(0), true),
        (json!("AAAAAADgj8A="), true),
        (json!("NaN"), true),
        (json!({"what": "ever"}), false),
        (json!([1, 2]), false),
        (json!("none"), false),
    ] {
        let attributes = json!({"_FillValue": said, "a": 1});
        let there = carried((Format::N5, Format::Zarr3), Axes::Reverse, &array, &attributes);
        let now = there.0.get("_FillValue");
        assert_eq!(now.is_some(), is_spelled, "{said}: {now:?}");
        let is_right = |now| missing_value_in_v3(now, DataType::Float32) == MissingValue::Right;
        assert!(now.is_none_or(is_right), "{said}: {now:?}");
        assert_eq!(there.1.is_empty(), is_spelled, "{:?}", there.1);
        let there = Value::Object(there.0);
        let back = carried((Format::Zarr3, Format::N5), Axes::Reverse, &array, &there).0;
        assert_eq!(Value::Object(back), attributes, "{there}");
    }
}

#[test]
fn groups_follow_their_arrays() {
    for (from, to, before, after) in [
        // BigDataViewer's.
        (
            Format::N5,
            Format::Zarr3,
            json!({"dataType": "uint8", "downsamplingFactors": [[1, 1, 1], [4, 2, 1]]}),
            json!({"dataType": "uint8", "downsamplingFactors": [[1, 1, 1], [1, 2, 4]]}),
        ),
        (
            Format::N5,
            Format::Zarr2,
            json!({"multiScale": true, "resolution": [1, 1, 2]}),
            json!({"multiScale": true, "resolution": [2, 1, 1]}),
        ),
        (Format::Zarr3, Format::N5, json!({"units": "K"}), json!({"units": "K"})),
        (
            Format::Zarr3,
            Format::N5,
            json!({"n5": "no version", "a": 1}),
            json!({"a": 1, "rechunk_attributes": {"n5": "no version"}}),
        ),
        (
            Format::Zarr2,
            Format::N5,
            json!({"dimensions": [1], "dataType": "u1"}),
            json!({"rechunk_attributes": {"dimensions": [1], "dataType": "u1"}}),
        ),
    ] {
        let mut attributes = before.as_object().unwrap().clone();
        Way { from, to, axes: Axes::Reverse }.carry_group(&mut attributes);
        assert_eq!(Value::Object(attributes.clone()), after);
        Way { from: to, to: from, axes: Axes::Reverse }.carry_group(&mut attributes);
        assert_eq!(Value::Object(attributes), before);
    }
}

#[test]
fn what_is_kept_aside_means_what_it_meant() {
    for (attributes, expected) in [
        (json!({"a": 1}), json!({"a": 1})),
        (
            json!({"a": 1, "rechunk_attributes": {"units": "K", "missing_value": {"json": "NaN"}}}),
            json!({"a": 1, "units": "K", "missing_value": "NaN"}),
        ),
        // What was written since then counts.
        (json!({"units": ["m"], "rechunk_attributes": {"units": "K"}}), json!({"units": ["m"]})),
        (json!({"rechunk_attributes": "a text"}), json!({"rechunk_attributes": "a text"})),
        (
            json!({"rechunk_attributes": {"units": "K", "rechunk_attributes": [1]}}),
            json!({"units": "K", "rechunk_attributes": [1]}),
        ),
    ] {
        let meant = meant(attributes.as_object().unwrap()).into_owned();
        assert_eq!(rechunk_format::json::plain(&Value::Object(meant)), expected, "{attributes}");
    }
}
