//! Documents that no one should have written.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::{
    Dialect, check_image, read_axes_from_array, read_bdv_xml, read_image, true_factors, upgrade,
};

/// Keys that are looked at.
const KEYS: [&str; 40] = [
    "ome",
    "multiscales",
    "datasets",
    "path",
    "coordinateTransformations",
    "type",
    "scale",
    "translation",
    "transformations",
    "axes",
    "name",
    "unit",
    "coordinateSystems",
    "input",
    "output",
    "version",
    "layout",
    "asset",
    "derived_from",
    "transform",
    "spatial:transform",
    "spatial:dimensions",
    "downsamplingFactors",
    "scales",
    "dataType",
    "pixelResolution",
    "dimensions",
    "resolution",
    "units",
    "offset",
    "image-label",
    "omero",
    "translate",
    "group",
    "metadata",
    "labels",
    "plate",
    "spatial:registration",
    "multiScale",
    "_ARRAY_DIMENSIONS",
];
const WORDS: [&str; 14] = [
    "0.4",
    "0.6",
    "0.1",
    "s0",
    "scale",
    "translation",
    "sequence",
    "identity",
    "affine",
    "x",
    "intrinsic",
    "space",
    "node",
    "../up",
];

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..4).prop_map(Value::from),
        prop::sample::select(&WORDS[..]).prop_map(Value::from),
        ".{0,4}".prop_map(Value::from),
        prop::collection::vec(any::<f64>(), 0..4).prop_map(Value::from),
        prop::collection::vec(0_u64..9, 3).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 96, 5, |inner| {
        let key = prop::sample::select(&KEYS[..]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Documents of the outline that is read, with anything in it.
fn outlines() -> impl Strategy<Value = Map<String, Value>> {
    let pairs = (values(), values(), values(), values(), values(), values());
    pairs.prop_map(|(axes, first, second, whole, version, other)| {
        let image = json!({"axes": axes, "coordinateTransformations": whole, "datasets": [
            {"path": "0", "coordinateTransformations": first, "transform": other},
            {"path": "1", "coordinateTransformations": [second]}], "version": version});
        let document = json!({"multiscales": [image], "ome": version, "scales": [first],
            "downsamplingFactors": [second, [1, 1, 1]], "dataType": other});
        document.as_object().cloned().unwrap_or_default()
    })
}

fn look_at(attributes: &Map<String, Value>, shapes: &[Vec<u64>]) {
    if let Some(image) = read_image(attributes) {
        let _ = check_image(&image, shapes);
        assert_eq!(true_factors(&image, shapes).len(), image.levels.len());
    }
    for dialect in Dialect::ALL {
        let _ = upgrade(attributes, dialect);
    }
    for rank in 0..7 {
        let found = read_axes_from_array(rank, None, attributes, rank % 2 == 0);
        assert_eq!(found.axes.len(), rank);
    }
}

proptest! {
    #[test]
    fn any_json_is_looked_at_without_a_panic(
        value in values(),
        shapes in prop::collection::vec(prop::collection::vec(any::<u64>(), 0..5), 0..4),
    ) {
        if let Value::Object(attributes) = &value {
            look_at(attributes, &shapes);
        }
        let wrapped = json!({"ome": {"multiscales": [value], "version": "0.6"}});
        look_at(super::object(&wrapped), &shapes);
        let layout = json!({"layout": [value, value]});
        let wrapped = json!({"multiscales": layout, "spatial:transform": value});
        look_at(super::object(&wrapped), &shapes);
    }

    #[test]
    fn outlines_with_anything_in_them_are_looked_at(
        attributes in outlines(),
        shapes in prop::collection::vec(prop::collection::vec(0_u64..9, 0..5), 0..4),
    ) {
        look_at(&attributes, &shapes);
        let mut flat = attributes.clone();
        flat.remove("multiscales");
        look_at(&flat, &shapes);
    }

    #[test]
    fn any_text_is_looked_at_as_xml(text in "(<|>|/|ViewSetup|ImageLoader|n5|id| |1|é){0,40}") {
        let _ = read_bdv_xml(&text);
    }
}

#[test]
fn long_lists_are_not_followed() {
    let many: Vec<_> = (0..5000).map(|at| json!({"path": format!("{at}")})).collect();
    let attributes = json!({"multiscales": [{"axes": ["y", "x"], "datasets": many}]});
    let image = read_image(super::object(&attributes)).unwrap();
    assert_eq!(image.levels.len(), 256);
    assert_eq!(image.problems, ["the image has 5000 levels"]);
}
