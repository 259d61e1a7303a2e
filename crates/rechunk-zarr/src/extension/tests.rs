use serde_json::json;

use super::*;
use crate::parse_v3;

/// An array of 6 × 5 elements in chunks of 4 × 5, as `chunk_grid`, `data_type` and so on are
/// changed in it.
fn with(changes: &[(&str, Value)]) -> Result<(), String> {
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [6, 5], "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 5]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    for (name, value) in changes {
        document[name] = value.clone();
    }
    parse_v3(document.to_string().as_bytes()).map(drop).map_err(|error| error.to_string())
}

fn extension(name: &str, settings: &Value) -> Value {
    json!({"name": name, "configuration": settings})
}

fn merged(value: &Value, name: &str, member: Value) -> Value {
    let mut value = value.clone();
    value[name] = member;
    value
}

/// Where an extension stands: its field, the other fields it needs, its name and its settings.
type Place = (&'static str, Vec<(&'static str, Value)>, &'static str, Value);

fn places() -> Vec<Place> {
    let date = ("fill_value", json!("NaT"));
    vec![
        ("chunk_grid", vec![], "regular", json!({"chunk_shape": [4, 5]})),
        (
            "chunk_grid",
            vec![],
            "rectilinear",
            json!({"kind": "inline", "chunk_shapes": [[1, 3, 2], 5]}),
        ),
        ("chunk_key_encoding", vec![], "default", json!({"separator": "."})),
        ("chunk_key_encoding", vec![], "v2", json!({})),
        ("data_type", vec![date], "numpy.datetime64", json!({"unit": "s", "scale_factor": 1})),
        ("data_type", vec![("fill_value", json!("AAA="))], "raw_bytes", json!({"length_bytes": 2})),
        (
            "data_type",
            vec![("fill_value", json!("")), ("codecs", json!(["bytes"]))],
            "null_terminated_bytes",
            json!({"length_bytes": 3}),
        ),
        ("data_type", vec![], "int16", json!({})),
        (
            "data_type",
            vec![("fill_value", json!({"a": 0}))],
            "struct",
            json!({"fields": [{"name": "a", "data_type": "int16"}]}),
        ),
    ]
}

#[test]
fn settings_nobody_knows_are_refused_by_name() {
    for (field, needs, name, settings) in places() {
        let read = |value: Value| {
            let mut changes = needs.clone();
            changes.push((field, value));
            with(&changes)
        };
        let plain = extension(name, &settings);
        read(plain.clone()).unwrap_or_else(|error| panic!("{plain}: {error}"));
        for (member, value) in [
            ("gap", json!(1)),
            ("gap", Value::Null),
            ("chunk_offset", json!([0, 0])),
            ("note", json!({"must_understand": true})),
            ("Chunk_shape", json!({"a": 1})),
        ] {
            let odd = extension(name, &merged(&settings, member, value.clone()));
            let error = read(odd.clone()).expect_err(&odd.to_string());
            let told = format!("zarr.json: \"{field}.configuration.{member}\": this setting");
            assert!(error.starts_with(&told), "{odd}: {error}");
            assert!(error.contains("must_understand"), "{error}");
            let odd = merged(&plain, member, value);
            let error = read(odd.clone()).expect_err(&odd.to_string());
            assert!(error.contains(&format!("\"{field}.{member}\"")), "{odd}: {error}");
        }
        // It says itself that it may be ignored; or the whole of the extension does.
        let note = json!({"must_understand": false, "by": "somebody"});
        read(extension(name, &merged(&settings, "note", note.clone()))).unwrap();
        read(merged(&plain, "note", note)).unwrap();
        read(merged(
            &extension(name, &merged(&settings, "gap", json!(1))),
            "must_understand",
            json!(false),
        ))
        .unwrap();
        read(merged(&plain, "must_understand", json!(true))).unwrap();
    }
}

#[test]
fn encoded_shapes_of_chunks_are_refused_whatever_is_said_of_them() {
    let shapes = json!([[4, 4], [5]]);
    let regular = json!({"chunk_shape": [4, 5], "encoded_chunk_shapes": shapes});
    let rectilinear = json!({"kind": "inline", "chunk_shapes": [[4, 2], 5],
        "encoded_chunk_shapes": {"must_understand": false}});
    let list = json!({"kind": "inline", "chunk_shapes": [[4, 2], 5],
        "encoded_chunk_shapes": shapes});
    for grid in [
        extension("regular", &regular),
        extension("rectilinear", &rectilinear),
        extension("rectilinear", &list),
        merged(&extension("rectilinear", &list), "must_understand", json!(false)),
        extension("regular", &merged(&regular, "encoded_chunk_shapes", Value::Null)),
    ] {
        let error = with(&[("chunk_grid", grid.clone())]).expect_err(&grid.to_string());
        assert!(error.contains("encoded_chunk_shapes") && error.contains("decode to"), "{error}");
    }
}

#[test]
fn codecs_of_the_core_have_no_other_settings() {
    let bytes = extension("bytes", &json!({"endian": "little"}));
    let blosc =
        json!({"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": 2, "blocksize": 0});
    let shards =
        json!({"chunk_shape": [2, 5], "codecs": [bytes], "index_codecs": [bytes, "crc32c"]});
    let table = [
        ("transpose", json!({"order": [1, 0]}), vec![bytes.clone()], 0),
        ("bytes", json!({"endian": "big"}), vec![], 0),
        ("blosc", blosc, vec![bytes.clone()], 1),
        ("zstd", json!({"level": 3, "checksum": true}), vec![bytes.clone()], 1),
        ("gzip", json!({"level": 3}), vec![bytes.clone()], 1),
        ("crc32c", json!({}), vec![bytes.clone()], 1),
        ("sharding_indexed", shards.clone(), vec![], 0),
    ];
    for (name, settings, mut others, at) in table {
        let mut read = |settings: &Value| {
            others.insert(at, extension(name, settings));
            let read = with(&[("codecs", json!(others))]);
            others.remove(at);
            read
        };
        read(&settings).unwrap_or_else(|error| panic!("{name}: {error}"));
        let error = read(&merged(&settings, "padding", json!(4))).expect_err(name);
        assert!(error.contains(".configuration.padding\": this setting"), "{error}");
        read(&merged(&settings, "note", json!({"must_understand": false}))).unwrap();
    }
    // Of the index, and of the chunks inside.
    for (list, at) in [("index_codecs", 0), ("codecs", 0), ("index_codecs", 1)] {
        let mut odd = shards.clone();
        let codec = if at == 1 { "crc32c" } else { "bytes" };
        odd[list][at] = extension(codec, &json!({"endian": "little", "align": 8}));
        let error = with(&[("codecs", json!([extension("sharding_indexed", &odd)]))]).unwrap_err();
        assert!(error.contains("configuration."), "{error}");
    }
}

#[test]
fn what_says_that_it_may_be_ignored_is() {
    let bytes = extension("bytes", &json!({"endian": "little"}));
    let told = |name: &str| json!({"name": name, "must_understand": false});
    with(&[("storage_transformers", json!([told("org.example.cache")]))]).unwrap();
    for (field, value) in [
        ("codecs", json!([bytes, {"name": "org.example.audit"}])),
        ("codecs", json!([bytes, {"name": "org.example.audit", "must_understand": true}])),
        ("storage_transformers", json!([told("a"), {"name": "b"}])),
        // A chunk that a codec has gone over is none without it.
        ("codecs", json!([bytes, told("org.example.audit")])),
        ("codecs", json!([told("org.example.audit"), bytes])),
        // Somebody has to say what elements are, and where chunks are.
        ("data_type", told("org.example.decimal")),
        ("chunk_grid", told("org.example.hexagons")),
        ("chunk_key_encoding", told("org.example.hashed")),
    ] {
        assert!(with(&[(field, value.clone())]).is_err(), "{value}");
    }
}
