//! `docs/job.schema.json`, by which editors complete and check job files: made of the options
//! themselves.

use clap::Arg;
use clap::builder::PossibleValue;
use serde_json::{Map, Value, json};

use super::options::{Kind, Options, kind, name};
use super::words::RULE_ARRAY;

/// Value names of options that take a number, or a text that says one.
const NUMBERS: [&str; 4] = ["BYTES", "N", "N%", "SECONDS"];

/// The schema of a job file.
fn schema() -> Value {
    let options = Options::of_copy();
    let mut properties = Map::new();
    properties.insert("$schema".to_owned(), json!({"type": "string"}));
    for arg in options.in_files() {
        properties.insert(name(arg), property(arg));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rechunk job",
        "description": "What `rechunk copy --job FILE` and `rechunk plan --job FILE` take, in TOML, YAML or JSON.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
        "$defs": {
            "extent": {"type": ["integer", "string"]},
            "chunks": {
                "anyOf": [
                    {"type": ["string", "integer"]},
                    {"type": "array", "items": {"$ref": "#/$defs/extent"}},
                    {"type": "object", "additionalProperties": {"$ref": "#/$defs/extent"}}
                ]
            },
            "codec": {"type": ["string", "object", "array"]},
            "rule": rule()
        }
    })
}

/// Schema of the settings that differ for some arrays.
fn rule() -> Value {
    let mut properties = Map::new();
    properties.insert(RULE_ARRAY.to_owned(), json!({"type": "string"}));
    for setting in rechunk::RULE_SETTINGS {
        let value = match setting {
            "chunks" | "shards" => json!({"$ref": "#/$defs/chunks"}),
            "codec" => json!({"$ref": "#/$defs/codec"}),
            "write-empty" => json!({"enum": ["auto", "always", "never"]}),
            _ => json!({"type": "string"}),
        };
        properties.insert(setting.to_owned(), value);
    }
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn property(arg: &Arg) -> Value {
    let mut property = match value(arg) {
        Value::Object(property) => property,
        other => panic!("{other} is no property"),
    };
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    property.insert("description".to_owned(), help.into());
    Value::Object(property)
}

fn value(arg: &Arg) -> Value {
    let texts = json!([{"type": "string"}, {"type": "array", "items": {"type": "string"}}]);
    match kind(arg) {
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Count => json!({"type": ["boolean", "integer"], "minimum": 0, "maximum": 9}),
        Kind::Text => {
            let values = arg.get_possible_values();
            let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
            let is_number = arg
                .get_value_names()
                .is_some_and(|names| names.iter().any(|name| NUMBERS.contains(&name.as_str())));
            match (values.is_empty(), is_number) {
                (false, _) => json!({"enum": values}),
                (true, true) => json!({"type": ["string", "number"]}),
                (true, false) => json!({"type": "string"}),
            }
        }
        Kind::Extents => json!({"$ref": "#/$defs/chunks"}),
        Kind::Slices => json!({
            "type": ["string", "integer", "array", "object"],
            "items": {"type": ["string", "integer"]},
            "additionalProperties": {"type": ["string", "integer"]}
        }),
        Kind::Shape => {
            json!({"type": ["string", "integer", "array"], "items": {"type": "integer"}})
        }
        Kind::Codec => json!({"$ref": "#/$defs/codec"}),
        Kind::Texts => json!({"anyOf": texts}),
        Kind::StoreOptions => {
            let value = json!({"type": ["string", "number", "boolean"]});
            let of_location = json!({"type": "object", "additionalProperties": value});
            let table = json!({
                "type": "object", "additionalProperties": {"anyOf": [value, of_location]}
            });
            json!({"anyOf": [texts[0], texts[1], table]})
        }
        Kind::Rules => {
            let rule = json!({"$ref": "#/$defs/rule"});
            let one = json!({"anyOf": [{"type": "string"}, rule]});
            json!({"anyOf": [
                {"type": "string"},
                {"type": "array", "items": one},
                {"type": "object", "additionalProperties": one}
            ]})
        }
    }
}

/// `RECHUNK_BLESS=1` writes it anew.
#[test]
fn the_schema_is_that_of_the_options() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/job.schema.json");
    let expected = format!("{}\n", serde_json::to_string_pretty(&schema()).unwrap());
    if std::env::var("RECHUNK_BLESS").is_ok_and(|value| value == "1") {
        std::fs::write(path, &expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert!(found == expected, "docs/job.schema.json is not that of the options: RECHUNK_BLESS=1");
}
