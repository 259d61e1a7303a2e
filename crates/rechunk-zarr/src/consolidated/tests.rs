use serde_json::json;

use rechunk_grid::{AxisChunks, Edges};

use super::*;
use crate::{TargetOptions, parse_v2, parse_v3, target_metadata};

const ZARRAY: &str = r#"{"zarr_format": 2, "shape": [4], "chunks": [2], "dtype": "<f4",
    "compressor": null, "fill_value": NaN, "order": "C", "filters": null}"#;

fn v2() -> String {
    format!(
        "{{\"metadata\": {{\".zgroup\": {{\"zarr_format\": 2}}, \".zattrs\": {{\"x\": NaN}}, \
         \"a/.zarray\": {ZARRAY}, \"a/.zattrs\": {{\"b\": Infinity}}, \"g/.zgroup\": {{}}}}, \
         \"zarr_consolidated_format\": 1, \"other\": [1.0, -0.0]}}"
    )
}

fn v3_array(extent: u64) -> Value {
    json!({
        "zarr_format": 3, "node_type": "array", "shape": [extent], "data_type": "int8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": 0, "codecs": ["bytes"],
    })
}

fn v3() -> Value {
    json!({
        "zarr_format": 3, "node_type": "group", "attributes": {"title": "t"},
        "consolidated_metadata": {
            "kind": "inline", "must_understand": false,
            "metadata": {"z": v3_array(4), "g": {"zarr_format": 3, "node_type": "group"}, "a": v3_array(6)},
        },
    })
}

fn read(version: ZarrVersion, text: &str) -> Consolidated {
    Consolidated::parse(version, text.as_bytes()).unwrap().unwrap()
}

fn owned(document: &Consolidated) -> Vec<(String, ConsolidatedKind)> {
    document.nodes().map(|(path, kind)| (path.to_owned(), kind)).collect()
}

fn new_array(version: ZarrVersion) -> ArrayMetadata {
    let source = parse_v2(ZARRAY.as_bytes(), None).unwrap();
    let options = TargetOptions { version, chunk_shape: vec![4], shard_shape: None, codec: None };
    target_metadata(&source, &options).unwrap().0
}

fn longer(version: ZarrVersion) -> ArrayMetadata {
    let mut longer = new_array(version);
    longer.spec.shape = vec![9];
    longer
}

#[test]
fn lengths_of_chunks_are_said_with_the_shape() {
    let mut document = read(ZarrVersion::V3, &v3().to_string());
    let chunks = AxisChunks::of_runs(0, 9, [(4, 1), (5, 1)]).unwrap();
    let edges = Edges::new(vec![chunks.into_edges()]).unwrap();
    let grown = new_array(ZarrVersion::V3).grown(&[9], edges).unwrap();
    assert_eq!(grown.spec.chunk_shape, [5]);
    assert!(document.set_extent("a", &grown));
    let found = document.array("a").unwrap();
    let found = parse_v3(&found.array).unwrap();
    assert_eq!((&found.spec.shape, &found.spec.edges), (&grown.spec.shape, &grown.spec.edges));
}

#[test]
fn the_arrays_of_v2_are_found_and_read() {
    let document = read(ZarrVersion::V2, &v2());
    let nodes =
        [("a".to_owned(), ConsolidatedKind::Array), ("g".to_owned(), ConsolidatedKind::Group)];
    assert_eq!(owned(&document), nodes);
    let found = document.array("a").unwrap();
    let metadata = parse_v2(&found.array, found.zattrs.as_deref()).unwrap();
    assert_eq!(metadata.plain_attributes(), json!({"b": "Infinity"}));
    assert_eq!(metadata.fill_value_text(), "NaN");
    assert!(document.array("g").is_none() && document.array("b").is_none());
}

#[test]
fn the_arrays_of_v3_are_found_and_read() {
    let document = read(ZarrVersion::V3, &v3().to_string());
    assert_eq!(document.nodes().count(), 3);
    assert_eq!(parse_v3(&document.array("a").unwrap().array).unwrap().spec.shape, [6]);
    assert!(document.array("g").is_none());
}

#[test]
fn an_array_takes_the_place_of_the_old_one_and_nothing_else_moves() {
    let mut document = read(ZarrVersion::V2, &v2());
    document.set_array("a", &new_array(ZarrVersion::V2)).unwrap();
    let text = String::from_utf8(document.to_bytes()).unwrap();
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part} in {text}"));
    assert!(at("\".zattrs\"") < at("\"a/.zarray\"") && at("\"a/.zarray\"") < at("\"g/.zgroup\""));
    assert!(at("\"x\": NaN") < at("\"chunks\": [4]") && at("\"other\": [1.0, -0.0]") > 0);
    assert!(!text.contains("a/.zattrs"), "the new array has no attributes");

    let mut document = read(ZarrVersion::V3, &v3().to_string());
    document.set_array("g", &new_array(ZarrVersion::V3)).unwrap();
    let names: Vec<String> = document.nodes().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names, ["z", "g", "a"]);
    let again = read(ZarrVersion::V3, std::str::from_utf8(&document.to_bytes()).unwrap());
    assert_eq!(again, document);
    assert_eq!(again.array("g"), document.array("g"));
    assert_eq!(again.rest["attributes"], json!({"title": "t"}));
}

#[test]
fn groups_above_a_new_array_come_with_it() {
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let text = if version == ZarrVersion::V2 { v2() } else { v3().to_string() };
        let mut document = read(version, &text);
        let before = document.nodes().count();
        document.set_array("g/new/b", &new_array(version)).unwrap();
        let nodes = owned(&document);
        assert_eq!(nodes.len(), before + 2, "{nodes:?}");
        assert_eq!(nodes[before], ("g/new".to_owned(), ConsolidatedKind::Group));
        assert_eq!(nodes[before + 1], ("g/new/b".to_owned(), ConsolidatedKind::Array));
    }
}

#[test]
fn a_group_without_is_told_from_one_that_is_damaged() {
    let parse = |text: &str| Consolidated::parse(ZarrVersion::V3, text.as_bytes());
    for none in [
        r#"{"zarr_format": 3, "node_type": "group"}"#,
        r#"{"zarr_format": 3, "node_type": "group", "consolidated_metadata": null}"#,
        r#"{"zarr_format": 3, "node_type": "array", "consolidated_metadata": {}}"#,
    ] {
        assert_eq!(parse(none).unwrap(), None, "{none}");
    }
    let member =
        |value: &str| format!(r#"{{"node_type": "group", "consolidated_metadata": {value}}}"#);
    for (damaged, says) in [
        (member("[]"), "\"consolidated_metadata\": expected an object"),
        (member("{}"), "\"consolidated_metadata.metadata\": is not an object"),
        (member(r#"{"metadata": {"a": 1}}"#), "\"consolidated_metadata.metadata.a\": expected"),
        (member(r#"{"kind": "far", "metadata": {}}"#), "of the kind \"far\" is not supported"),
        (
            member(r#"{"metadata": {"g": {"consolidated_metadata": {"metadata": {"a": {}}}}}}"#),
            "inside of consolidated metadata is not supported",
        ),
        ("{".to_owned(), "not valid JSON"),
    ] {
        let error = parse(&damaged).unwrap_err().to_string();
        assert!(error.contains(says), "{error}\nshould contain\n{says}");
    }
    let v2 = |text: &str| Consolidated::parse(ZarrVersion::V2, text.as_bytes()).unwrap_err();
    assert!(v2("{}").to_string().contains(".zmetadata: \"metadata\": is not an object"));
    assert!(v2(r#"{"metadata": {"a/.zarray": null}}"#).to_string().contains("metadata.a/.zarray"));
}

#[test]
fn what_changes_is_told() {
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let text = if version == ZarrVersion::V2 { v2() } else { v3().to_string() };
        let changed = |change: &dyn Fn(&mut Consolidated)| {
            let mut document = read(version, &text);
            assert!(!document.is_changed());
            change(&mut document);
            assert_eq!(document.is_changed(), document != read(version, &text));
            document.is_changed()
        };
        assert!(changed(&|document| document.set_array("a", &new_array(version)).unwrap()));
        assert!(changed(&|document| assert!(document.set_extent("a", &longer(version)))));
        assert!(!changed(&|document| assert!(!document.set_extent("b", &longer(version)))));
        assert!(changed(&|document| document.set_group("h", &GroupMetadata::default())));
        assert!(!changed(&|document| document.change_attributes("no", |_| unreachable!())));
        let add = |map: &mut Map<String, Value>| drop(map.insert("n".to_owned(), json!(1)));
        assert!(changed(&|document| document.change_attributes("", add)));
        let same = |map: &mut Map<String, Value>| map.retain(|_, _| true);
        assert!(!changed(&|document| document.change_attributes("", same)));
    }
}

/// More members than one document may have values; readers that are not ours have no such limit.
#[test]
fn thousands_of_members_are_read_and_written() {
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let mut document = Consolidated::new(version, &GroupMetadata::default());
        for number in 0..12_000 {
            document.set_array(&format!("g/a{number}"), &new_array(version)).unwrap();
        }
        let bytes = document.to_bytes();
        assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        assert!(document.members.size_bytes() * 8 < bytes.len());
        let mut reader = ConsolidatedReader::new(version);
        for piece in bytes.chunks(100_003) {
            reader.feed(piece).unwrap();
        }
        let (rest, again) = reader.finish().unwrap();
        let again = again.unwrap();
        assert!(rest.len() < 500);
        assert_eq!(again.nodes().count(), 12_001);
        assert_eq!(again.array("g/a11999"), document.array("g/a11999"));
        assert_eq!(again.to_bytes(), bytes);
    }
}

/// Text that looks like where the members go is in a string, and stays there.
#[test]
fn what_is_around_the_members_stays() {
    let odd = "\n    \"metadata\": {\n      \"\": null\n    }";
    let mut attributes = Map::new();
    attributes.insert(odd.to_owned(), json!({"metadata": {"": null}}));
    attributes.insert("metadata".to_owned(), json!({"": null}));
    let group = GroupMetadata::with_attributes(attributes);
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let mut document = Consolidated::new(version, &group);
        for count in 0..3 {
            let again = read(version, std::str::from_utf8(&document.to_bytes()).unwrap());
            assert_eq!(again, document);
            assert!(!again.is_changed());
            document.set_array(&format!("a{count}"), &new_array(version)).unwrap();
        }
    }
}

/// zarr-python 3.1 opens no other order, or loses nodes.
#[test]
fn the_nodes_of_a_group_are_written_together() {
    let written = |version, words: &str| {
        let members: Map<String, Value> = words
            .split_whitespace()
            .map(|key| (key.replace('_', " "), json!({"zarr_format": 2})))
            .collect();
        let document = match version {
            ZarrVersion::V2 => json!({"metadata": members}),
            ZarrVersion::V3 => json!({"node_type": "group", "consolidated_metadata": {
                "kind": "inline", "must_understand": false, "metadata": members}}),
        };
        let document = read(version, &document.to_string());
        let again = read(version, std::str::from_utf8(&document.to_bytes()).unwrap());
        let keys: Vec<_> = again.members.iter().map(|(key, _)| key.replace(' ', "_")).collect();
        assert_eq!(again, document);
        keys.join(" ")
    };
    for (version, before, after) in [
        (ZarrVersion::V3, "", ""),
        (ZarrVersion::V3, "b a", "b a"),
        // Depths may be mixed.
        (ZarrVersion::V3, "a a/g a/g/x a/x b b/x c", "a a/g a/g/x a/x b b/x c"),
        (ZarrVersion::V3, "a/x a b/x b a/x/y", "a/x a b/x b a/x/y"),
        // Groups first, then arrays, as a copy knows them.
        (
            ZarrVersion::V3,
            "a a/b_c d.e d.e/f a/x a/b_c/x d.e/f/y z",
            "a d.e z a/b_c a/x d.e/f a/b_c/x d.e/f/y",
        ),
        // What differs by its case, or sorts around the slash, is in other groups.
        (ZarrVersion::V3, "A a A/x a/y A/z", "A a A/x A/z a/y"),
        (ZarrVersion::V3, "a a-b a/x a-b/x a/y", "a a-b a/x a/y a-b/x"),
        (ZarrVersion::V3, "a a/a a/a/a b b/a b/a/a a/a/c", "a b a/a a/a/a a/a/c b/a b/a/a"),
        (
            ZarrVersion::V2,
            ".zattrs a/.zgroup z/.zarray .zgroup z/.zattrs",
            ".zattrs a/.zgroup z/.zarray .zgroup z/.zattrs",
        ),
        (
            ZarrVersion::V2,
            ".zgroup a/.zgroup a/g/.zgroup b/.zgroup b/x/.zarray a/x/.zattrs a/x/.zarray",
            ".zgroup a/.zgroup b/.zgroup a/g/.zgroup a/x/.zattrs a/x/.zarray b/x/.zarray",
        ),
    ] {
        assert_eq!(written(version, before), after);
    }
}
