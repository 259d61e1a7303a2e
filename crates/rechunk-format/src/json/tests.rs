use serde_json::json;

use super::read::{DEPTH_MAX, DOCUMENT_BYTES_MAX};
use super::*;

fn read(text: &str) -> Map<String, Value> {
    read_object("doc", text.as_bytes()).unwrap()
}

fn refuse(text: &str) -> String {
    read_object("doc", text.as_bytes()).unwrap_err().to_string()
}

#[test]
fn bare_tokens_survive_a_round_trip() {
    let text = concat!(
        "{\n  \"a\": [NaN, -Infinity, \"NaN, \\\" NaN\", 123456789012345678901234567890],\n",
        "  \"b\": {\n    \"c\": Infinity,\n    \"d\": -0.0,\n    \"e\": 18446744073709551615\n  },\n",
        "  \"f\": {},\n  \"g\": [],\n  \"h\": [\n    [1],\n    null\n  ]\n}\n"
    );
    let map = read(text);
    assert_eq!(map["a"][2], json!("NaN, \" NaN"));
    assert_eq!(bare_token(map["a"][0].as_str().unwrap()), Some("NaN"));
    assert_eq!(String::from_utf8(write_pretty(&map.into())).unwrap(), text);
}

#[test]
fn numbers_beyond_any_float_survive_too() {
    let text = "{\n  \"a\": [1e500, -1.5E+999, 1e-500, 0.1]\n}\n";
    let map = read(text);
    assert_eq!(map["a"][0].as_str().and_then(bare_token), Some("1e500"));
    let written = String::from_utf8(write_pretty(&map.into())).unwrap();
    assert!(written.contains("[1e500, -1.5E+999, 0.0, 0.1]"), "{written}");
    for wrong in ["01e500", "1.e500", "1e", ".1e500", "1e500x", "inf", "+1e500", "1e+-500"] {
        refuse(&format!("{{\"a\": {wrong}}}"));
    }
}

#[test]
fn a_byte_order_mark_and_a_long_key_are_said_shortly() {
    assert!(refuse("\u{feff}{}").contains("byte order mark"));
    let key = "k".repeat(10_000);
    assert!(refuse(&format!("{{{key:?}: 1, {key:?}: 2}}")).len() < 300);
}

#[test]
fn an_ordinary_string_is_not_a_token() {
    assert_eq!(bare_token("NaN"), None);
    assert_eq!(bare_token("\0token:1"), None);
    let map = read(r#"{"a": "\u0000token:hello"}"#);
    assert_eq!(write_pretty(&map.into()), b"{\n  \"a\": \"\\u0000token:hello\"\n}\n");
}

#[test]
fn a_string_that_looks_like_a_marker_stays_a_string() {
    let text = concat!(
        r#"{"\u0000token:NaN" : "\u0000token:NaN", "b": ["\u0000tok\u0065n:1e500", NaN], "#,
        r#""c": "\u0000quoted:\u0000token:NaN", "d": "\u0000quoted:"}"#
    );
    let map = read(text);
    let value = map["\0token:NaN"].as_str().unwrap();
    assert_eq!((bare_token(value), unquoted(value)), (None, "\0token:NaN"));
    assert_eq!(map["b"][1].as_str().and_then(bare_token), Some("NaN"));
    let written = String::from_utf8(write_pretty(&map.clone().into())).unwrap();
    let lines = [
        r#"  "\u0000token:NaN": "\u0000token:NaN","#,
        r#"  "b": ["\u0000token:1e500", NaN],"#,
        r#"  "c": "\u0000quoted:\u0000token:NaN","#,
        r#"  "d": "\u0000quoted:""#,
    ];
    assert_eq!(written, format!("{{\n{}\n}}\n", lines.join("\n")));
    assert_eq!(read(&written), map);
    assert_eq!(plain(&map["b"]), json!(["\0token:1e500", "NaN"]));
}

#[test]
fn what_is_refused() {
    assert_eq!(refuse("[1]"), "doc: expected a JSON object, found a list");
    assert!(refuse(r#"{"a": 1, "b": {"c": 1, "c": 2}}"#).contains(r#"the key "c" appears twice"#));
    assert!(refuse(&format!("{{\"a\": {}", "[".repeat(100))).contains("deeper than the 64"));
    assert!(refuse(&format!("{{\"a\": [{}1]}}", "1,".repeat(1 << 20))).contains("values"));
    assert!(refuse(&" ".repeat(DOCUMENT_BYTES_MAX + 1)).contains("bytes are more than"));
    for text in
        ["", "{", "{\"a\": nan}", "{\"a\": NaNs}", "{\"a\": 01}", "{\"a\": 1} 2", "{\"a", "{\"\\"]
    {
        assert!(refuse(text).contains("not valid JSON"), "{text}");
    }
    assert!(read_object("doc", &[b'{', 0xff]).unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn the_deepest_document_allowed_is_read_and_written() {
    let depth = DEPTH_MAX - 1;
    let map = read(&format!("{{\"a\": {}{}}}", "[".repeat(depth), "]".repeat(depth)));
    assert!(!write_pretty(&map.into()).is_empty());
}

/// Readers in C++ and JavaScript refuse a document with any of these.
#[test]
fn what_is_no_json_becomes_text() {
    let text = r#"{"a": NaN, "b": [1, {"c": -Infinity}], "d": 1e500, "e": "NaN", "f": 1.5,
        "g": 123456789012345678901234567890}"#;
    let mut map = read(text);
    assert_eq!(make_strict(&mut map), ["a", "b", "d"]);
    let written = String::from_utf8(write_pretty(&Value::Object(map.clone()))).unwrap();
    let strict: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(strict["a"], "NaN");
    assert_eq!(strict["b"], json!([1, {"c": "-Infinity"}]));
    assert_eq!(strict["d"], "1e500");
    assert!(written.contains("1.5") && written.contains("123456789012345678901234567890"));
    assert_eq!(make_strict(&mut map), [""; 0]);
}
