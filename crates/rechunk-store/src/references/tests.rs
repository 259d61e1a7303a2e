use std::path::Path;

use futures::TryStreamExt;
use tempfile::TempDir;

use super::*;
use crate::{End, Role, Stores, referred::found};

const ZGROUP: &str = r#"".zgroup": "{\"zarr_format\": 2}""#;

/// A directory with `file`, 100 bytes, and `refs.json`.
fn written(document: &str) -> TempDir {
    let directory = TempDir::new().unwrap();
    let bytes: Vec<u8> = (0..100).collect();
    std::fs::write(directory.path().join("file"), bytes).unwrap();
    std::fs::write(directory.path().join("refs.json"), document).unwrap();
    directory
}

fn open(directory: &Path, below: &str) -> Store {
    let location = directory.join("refs.json").join(below).display().to_string();
    Store::open(&location).unwrap().with_role(Role::Source)
}

/// Fault of a document.
async fn fault(document: &str) -> String {
    let directory = written(document);
    let error = open(directory.path(), "").get("a/0", 100).await.unwrap_err();
    assert!(matches!(error, StoreError::References { .. }), "{error:?}");
    error.to_string()
}

#[tokio::test]
async fn a_key_leads_to_a_range_a_file_or_what_is_kept() {
    let directory = written(&format!(
        r#"{{"version": 1, "templates": {{"f": "file", "d": "."}}, "refs": {{{ZGROUP}, "a/0": ["{{{{d}}}}/{{{{ f }}}}", 10, 5],
        "a/1": ["file"], "a/2": "base64:AAEC", "a/3": "\u0000x", "a/.zarray": {{"shape": [4], "fill_value": NaN}},
        "a/4": ["file", 100, 0]}}, "gen": [], "other": {{"x": [1]}}}}"#
    ));
    let store = open(directory.path(), "a");
    assert_eq!(store.get("0", 5).await.unwrap().unwrap(), [10, 11, 12, 13, 14][..]);
    assert_eq!(store.get_range("0", 1, 2).await.unwrap(), [11, 12][..]);
    assert_eq!(store.get_end("0", End::Last, 2).await.unwrap().unwrap(), ([13, 14][..].into(), 5));
    assert_eq!(store.get("1", 100).await.unwrap().unwrap().len(), 100);
    assert_eq!(
        store.get_end("1", End::Last, 2).await.unwrap().unwrap(),
        ([98, 99][..].into(), 100)
    );
    assert_eq!(store.get("2", 3).await.unwrap().unwrap(), [0, 1, 2][..]);
    assert_eq!(store.get("3", 3).await.unwrap().unwrap(), b"\0x"[..]);
    assert_eq!(store.get("4", 3).await.unwrap().unwrap(), b""[..]);
    assert_eq!(
        store.get(".zarray", 99).await.unwrap().unwrap(),
        br#"{"shape":[4],"fill_value":NaN}"#[..]
    );
    assert_eq!(store.get("5", 3).await.unwrap(), None);
    assert_eq!(store.head("1").await.unwrap(), Some(100));
    let traffic = store.meter().traffic().source;
    // Each is counted once, however it was come by; what is missing too.
    assert_eq!((traffic.get_requests, traffic.get_missing), (9, 1));
    assert_eq!(traffic.read_bytes, 5 + 2 + 2 + 100 + 2 + 3 + 2 + 30);
    let mut listed: Vec<(String, u64)> =
        open(directory.path(), "").list("a").try_collect().await.unwrap();
    listed.sort();
    let sizes: Vec<u64> = listed.iter().map(|(_, size)| *size).collect();
    assert_eq!(listed[1].0, "a/0");
    assert_eq!(sizes, [30, 5, 100, 3, 2, 0]);
    assert_eq!(open(directory.path(), "").list_directories("").await.unwrap(), ["a"]);
    let (above, name) = store.parent().unwrap().unwrap();
    assert!(above.get(".zgroup", 99).await.unwrap().is_some() && name == "a");
}

#[tokio::test]
async fn what_is_unknown_is_passed_over_and_braces_are_plain_where_no_templates_are() {
    for document in [
        r#"{"version": 1, "record": 5, "refs": {"a/0": ["{{f}}", 1, 2]}}"#,
        r#"{"version": 1, "refs": {"a/0": ["{{f}}", 1, 2]}, "record": 5}"#,
        r#"{"a/0": ["{{f}}", 1, 2]}"#,
    ] {
        let directory = written(document);
        std::fs::write(directory.path().join("{{f}}"), [1, 2, 3]).unwrap();
        assert_eq!(open(directory.path(), "a").get("0", 9).await.unwrap().unwrap(), [2, 3][..]);
    }
}

#[tokio::test]
async fn a_flat_document_is_of_version_0() {
    let directory = written(&format!(r#"{{{ZGROUP}, "a/0": ["file", 1, 2]}}"#));
    assert_eq!(open(directory.path(), "a").get("0", 9).await.unwrap().unwrap(), [1, 2][..]);
    let location = directory.path().join("refs.json").display().to_string();
    let renamed = directory.path().join("refs.txt").display().to_string();
    std::fs::copy(&location, &renamed).unwrap();
    let store = Store::open(&renamed).unwrap();
    assert_eq!(store.read_only(), Some("a reference file"));
    assert!(store.put("x", vec![]).await.is_err() && store.can_list());
    assert!(!store.answers_late() && store.local_root().is_none());
}

#[tokio::test]
async fn what_is_not_read_is_refused_with_what_to_do() {
    for (document, words) in [
        (r#"{"version": 2, "refs": {}}"#, "versions 0 and 1"),
        (r#"{"version": 1}"#, "no references"),
        ("{}", "no references"),
        (r#"{"zarr_format": 3, "node_type": "array"}"#, "name the directory"),
        (r#"{"version": 1, "refs": {"a/0": [1]}}"#, "[FILE, OFFSET, LENGTH]"),
        (r#"{"version": 1, "refs": {"a/0": ["f", 1]}}"#, "[FILE, OFFSET, LENGTH]"),
        (r#"{"version": 1, "refs": {"a/0": []}}"#, "[FILE, OFFSET, LENGTH]"),
        (r#"{"version": 1, "refs": {"a/0": ["f", 1, 2, 3]}}"#, "[FILE, OFFSET, LENGTH]"),
        (r#"{"version": 1, "refs": {"a/0": ["f", -1, 2]}}"#, "\"a/0\", and a whole number"),
        (r#"{"version": 1, "refs": {"a/0": ["f", 0.5, 2]}}"#, "\"a/0\", and a whole number"),
        (r#"{"version": 1, "refs": {"a/0": ["f", "0", 2]}}"#, "\"a/0\", and a whole number"),
        (r#"{"version": 1, "refs": []}"#, "not as references are"),
        (r#"{"version": 1, "refs": {"a/0": ["f", 18446744073709551615, 1]}}"#, "beyond any file"),
        (r#"{"version": 1, "refs": {"a/0": ["f", 18446744073709551616, 1]}}"#, "whole number"),
        (r#"{"version": 1, "refs": {"a/0": null}}"#, "neither a string"),
        (r#"{"version": 1, "refs": {"a/0": "base64:*"}}"#, "base64"),
        (r#"{"version": 1, "refs": {"a/0": "x", "a/0": "y"}}"#, "twice"),
        (r#"{"a/0": null}"#, "neither a string"),
        (r#"{"a/0": [], "b/0": 5}"#, "[FILE, OFFSET, LENGTH]"),
        (r#"{"version": 1, "refs": {}, "refs": {}}"#, "twice"),
        (r#"{"version": 1, "gen": [{"key": "a"}], "refs": {}}"#, "generators"),
        (r#"{"version": 1, "refs": {"a/0": ["{{u}}"]}, "templates": {"v": "x"}}"#, "not among"),
        (r#"{"version": 1, "refs": {"a/0": ["{{u"]}, "templates": {"v": "x"}}"#, "not closed"),
        (r#"{"version": 1, "refs": {"a/0": ["{{u(c='x')}}"]}, "templates": {"u": "x"}}"#, "Python"),
        (
            r#"{"version": 1, "refs": {"a/0": ["{{u}}"]}, "templates": {"u": "{{u}}{{u}}"}}"#,
            "Python",
        ),
        (r#"{"version": 1, "refs": {"a/0": ["x"]}, "templates": {"u": 1}}"#, "no string"),
        (r#"{"version": 1, "refs": {"a/0": ["x"]}} x"#, "behind its end"),
        (r#"{"version": 1, "refs": {"a/0""#, "too early"),
        ("[]", "not as references are: an object"),
        ("", "too early"),
    ] {
        let message = fault(document).await;
        assert!(message.contains(words) && message.contains("refs.json"), "{document}: {message}");
    }
}

#[tokio::test]
async fn one_odd_entry_leaves_the_others_as_they_are_and_is_never_a_missing_chunk() {
    for (entry, key, words) in [
        (r#""a/0": null"#, "a/0", "neither a string"),
        (r#""a/0": true"#, "a/0", "neither a string"),
        (r#""a/0": 5"#, "a/0", "neither a string"),
        (r#""a/0": []"#, "a/0", "[FILE, OFFSET, LENGTH]"),
        (r#""a/0": [null]"#, "a/0", "[FILE, OFFSET, LENGTH]"),
        (r#""a/0": [["file"], 0, 2]"#, "a/0", "[FILE, OFFSET, LENGTH]"),
        (r#""a/0": ["file", {"x": [1]}, 2]"#, "a/0", "whole number"),
        (r#""a/0": ["file", 1, 2, {"x": [1]}, null]"#, "a/0", "[FILE, OFFSET, LENGTH]"),
        (r#""a/0": ["file", 18446744073709551615, 1]"#, "a/0", "beyond any file"),
        (r#""a/0": "base64:!""#, "a/0", "base64"),
        (r#""a/0": ["file", 1, 2], "a/0": ["file", 2, 2]"#, "a/0", "twice"),
        (r#""a//0": ["file", 1, 2]"#, "a/0", "\"a//0\""),
        (r#""/a/0": "x""#, "a/0", "\"/a/0\""),
    ] {
        // Before all others, between them and behind them.
        let (first, last) = (r#""b/0": ["file", 10, 5]"#, r#""c/0": "base64:AAEC""#);
        for entries in [[entry, first, last], [first, entry, last], [first, last, entry]] {
            let refs = entries.join(", ");
            let directory = written(&format!(r#"{{"version": 1, "refs": {{{refs}}}}}"#));
            let store = open(directory.path(), "");
            let get = async |key| store.get(key, 100).await;
            assert_eq!(get("b/0").await.unwrap().unwrap(), [10, 11, 12, 13, 14][..], "{entry}");
            assert_eq!(get("c/0").await.unwrap().unwrap(), [0, 1, 2][..], "{entry}");
            for error in [get(key).await.unwrap_err(), store.head(key).await.unwrap_err()] {
                assert!(matches!(error, StoreError::References { .. }), "{error:?}");
                let text = error.to_string();
                assert!(text.contains(key) && text.contains(words), "{entry}: {text}");
            }
            let listed: Vec<(String, u64)> = store.list("a").try_collect().await.unwrap();
            assert_eq!(listed, [(key.to_owned(), 0)], "it is there");
            let warning = store.references_warning().await.unwrap().unwrap();
            assert!(warning.starts_with("an entry of the references"), "{warning}");
        }
    }
}

#[tokio::test]
async fn keys_that_are_none_are_left_out_and_said() {
    let many = r#""../a": "x", "": "y", "//": "z", "b/../0": ["file"], "./c": null, "d/": "w""#;
    let directory = written(&format!(r#"{{"version": 1, "refs": {{"b/0": "x", {many}}}}}"#));
    let store = open(directory.path(), "");
    assert_eq!(store.get("b/0", 9).await.unwrap().unwrap(), b"x"[..]);
    assert_eq!(store.get("b/1", 9).await.unwrap(), None);
    let warning = store.references_warning().await.unwrap().unwrap();
    assert!(warning.starts_with("6 entries") && warning.contains("\"./c\""), "{warning}");
    let good = written(r#"{"version": 1, "refs": {"b/0": "x", "b/1": "x"}}"#);
    assert_eq!(open(good.path(), "b").references_warning().await.unwrap(), None);
    assert_eq!(
        Store::open(directory.path().to_str().unwrap())
            .unwrap()
            .references_warning()
            .await
            .unwrap(),
        None
    );
}

#[tokio::test]
async fn the_chunk_of_an_array_without_axes_is_found_by_the_name_of_the_array() {
    let v2 = r#"{"shape": [], "chunks": [], "zarr_format": 2}"#;
    let v3 = r#"{"shape": [], "node_type": "array", "zarr_format": 3}"#;
    let text = serde_json::to_string(v2).unwrap();
    for (document, chunk) in [
        (format!(r#""g/crs/.zarray": {v2}"#), "g/crs/0"),
        (format!(r#""g/crs/.zarray": {text}"#), "g/crs/0"),
        (format!(r#""g/crs/zarr.json": {v3}"#), "g/crs/c"),
    ] {
        for refs in [
            format!(r#"{document}, "g/crs/": ["file", 7, 4]"#),
            format!(r#""g/crs/": ["file", 7, 4], {document}"#),
        ] {
            let directory = written(&format!(r#"{{"version": 1, "refs": {{{refs}}}}}"#));
            let store = open(directory.path(), "");
            assert_eq!(store.get(chunk, 9).await.unwrap().unwrap(), [7, 8, 9, 10][..], "{refs}");
            assert_eq!(store.references_warning().await.unwrap(), None, "nothing is odd");
            assert_eq!(store.list("g").try_collect::<Vec<_>>().await.unwrap().len(), 2);
        }
    }
    // What has the right name is taken; the other is said.
    let refs = format!(r#""crs/.zarray": {v2}, "crs/0": "good", "crs/": "odd""#);
    let directory = written(&format!(r#"{{"version": 1, "refs": {{{refs}}}}}"#));
    let store = open(directory.path(), "crs");
    assert_eq!(store.get("0", 9).await.unwrap().unwrap(), b"good"[..]);
    let warning = store.references_warning().await.unwrap().unwrap();
    assert!(warning.contains("\"crs/\""), "{warning}");
    // The value of the scalar itself may be none.
    let refs = format!(r#""crs/.zarray": {v2}, "crs/": null"#);
    let directory = written(&format!(r#"{{"version": 1, "refs": {{{refs}}}}}"#));
    let error = open(directory.path(), "crs").get("0", 9).await.unwrap_err().to_string();
    assert!(error.contains("\"crs/0\"") && error.contains("neither a string"), "{error}");
}

#[tokio::test]
async fn templates_nesting_and_texts_do_not_grow_without_a_limit() {
    let uses = "{{u}}".repeat(100);
    let long = format!(
        r#"{{"version": 1, "refs": {{"a/0": ["{uses}"]}}, "templates": {{"u": "{}"}}}}"#,
        "x".repeat(1000)
    );
    assert!(fault(&long).await.contains("too long"));
    let deep = format!(r#"{{"version": 1, "refs": {{"a/0": {{"x": {}"#, "[".repeat(100_000));
    assert!(fault(&deep).await.contains("too deep"));
    let name = format!(r#"{{"version": 1, "refs": {{"{}": "x"}}}}"#, "k".repeat(5000));
    assert!(fault(&name).await.contains("4096"));
    // A long template is kept once, however many names are made of it.
    let templates = format!(r#"{{"u": "{}"}}"#, "x".repeat(800));
    let templates = || {
        let mut read = templates::Templates::default();
        read.read(&mut json::Json::new(templates.as_bytes())).unwrap();
        read
    };
    for (limit_bytes, fits) in [(2000, true), (1000, false)] {
        let mut builder = index::Builder::new(limit_bytes);
        for n in 0..3 {
            builder.add_file(&format!("a/{n}"), &format!("{{{{u}}}}{n}"), None).unwrap();
        }
        let built = builder.finish(templates());
        assert!(built.is_ok() == fits, "{limit_bytes}");
        let found = built.ok().and_then(|index| index.find("a/2"));
        let file = found.map(|f| matches!(f, found::Found::File { url, .. } if url.len() == 801));
        assert_eq!(file, fits.then_some(true));
    }
    let mut builder = index::Builder::new(1000);
    let mut grow = || (0..).try_for_each(|n| builder.add_file(&format!("a/{n}"), "f", None));
    assert!(matches!(grow().unwrap_err(), Fault::TooLarge { limit_bytes: 1000 }));
}

#[tokio::test]
async fn a_file_that_is_not_as_its_reference_says_is_named() {
    let directory = written(
        r#"{"version": 1, "refs": {"a/0": ["gone.nc", 0, 5], "a/1": ["file", 96, 5], "a/2": ["file", 200, 5],
        "a/3": ["gone.nc"], "a/4": ["refs.json/a/4"], "a/5": ["file", 0, 99]}}"#,
    );
    let store = open(directory.path(), "a");
    for (key, words) in [
        ("0", "0 in"),
        ("0", "bytes 0 to 4 of gone.nc"),
        ("1", "has 100 bytes, but 101 are expected"),
        ("2", "bytes 200 to 204 of file"),
        ("3", "the whole of gone.nc"),
        ("4", "refs.json/a/4"),
    ] {
        let error = store.get(key, 100).await.unwrap_err();
        assert!(matches!(error, StoreError::Referenced { .. }), "{error:?}");
        assert!(
            !error.is_not_found() && !error.is_retryable(),
            "missing is what has no reference: {error}"
        );
        assert!(error.to_string().contains(words), "{key}: {error}");
    }
    // A length that no chunk can have is not asked for.
    assert!(store.get("5", 98).await.unwrap_err().is_too_large());
    assert_eq!(store.meter().traffic().source.read_bytes, 0);
}

#[tokio::test]
async fn references_that_change_are_noticed() {
    let directory = written(r#"{"version": 1, "refs": {"a/0": ["file", 0, 5], "a/1": "x"}}"#);
    let before = std::time::SystemTime::now() - std::time::Duration::from_mins(1);
    let watched = open(directory.path(), "a").watched(before, before);
    for key in ["0", "1"] {
        let error = watched.get(key, 5).await.unwrap_err();
        assert!(matches!(error, StoreError::Changed { .. }), "{error:?}");
    }
    let now = std::time::SystemTime::now();
    let late = open(directory.path(), "a").watched(before, now);
    late.get("1", 5).await.unwrap();
    assert_eq!(late.late_objects(), 1);
}

#[tokio::test]
async fn references_are_read_once_as_long_as_they_are_in_use() {
    let directory = written(r#"{"version": 1, "refs": {"a/0": ["file", 0, 5], "b/0": "x"}}"#);
    let stores = Stores::default();
    let place = |below: &str| directory.path().join("refs.json").join(below).display().to_string();
    let a = stores.open(&place("a")).unwrap();
    a.get("0", 5).await.unwrap();
    std::fs::write(directory.path().join("refs.json"), "damaged").unwrap();
    let b = stores.open(&place("b")).unwrap();
    assert!(b.get("0", 5).await.unwrap().is_some());
    drop((a, b));
    assert!(stores.open(&place("b")).unwrap().get("0", 5).await.is_err());
}

#[tokio::test]
async fn a_directory_in_parquet_is_read_a_file_at_a_time() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/references");
    for name in ["kerchunk_fastparquet.parq", "kerchunk_pyarrow.parq", "virtualizarr.parq"] {
        let json = if name.starts_with('k') { "kerchunk.json" } else { "virtualizarr.json" };
        let open = |name: &str| Store::open(&fixtures.join(name).display().to_string()).unwrap();
        let (tables, document) = (open(name), open(json));
        let mut listed: Vec<(String, u64)> = tables.list("").try_collect().await.unwrap();
        let mut expected: Vec<(String, u64)> = document.list("").try_collect().await.unwrap();
        let is_chunk = |entry: &(String, u64)| !entry.0.contains(".z");
        listed.retain(is_chunk);
        expected.retain(is_chunk);
        listed.sort();
        expected.sort();
        assert_eq!(listed, expected, "{name}");
        for (key, _) in expected {
            assert_eq!(
                tables.get(&key, 1 << 20).await.unwrap(),
                document.get(&key, 1 << 20).await.unwrap()
            );
        }
        assert_eq!(tables.list("chunked").try_collect::<Vec<_>>().await.unwrap().len(), 14);
        assert_eq!(tables.get("chunked/6.0.0", 99).await.unwrap(), None);
        assert_eq!(tables.read_only(), Some("a directory of references"));
    }
}

#[tokio::test]
async fn damaged_parquet_is_refused_and_a_missing_file_has_no_chunks() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/references/kerchunk_pyarrow.parq");
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("chunked")).unwrap();
    std::fs::copy(fixture.join(".zmetadata"), at(".zmetadata")).unwrap();
    let good = std::fs::read(fixture.join("chunked/refs.0.parq")).unwrap();
    let store = || Store::open(&directory.path().display().to_string()).unwrap();
    assert_eq!(store().get("chunked/0.0.0", 1).await.unwrap(), None);
    let mut cut = 0;
    for length in (0..good.len()).step_by(101) {
        std::fs::write(at("chunked/refs.0.parq"), &good[..length]).unwrap();
        let error = store().get("chunked/0.0.0", 1).await.unwrap_err().to_string();
        assert!(error.contains("chunked/refs.0.parq"), "{error}");
        cut += 1;
    }
    assert!(cut > 10);
    // Every chunk of it is in the file; a table of fewer rows is cut off.
    let metadata = std::fs::read_to_string(at(".zmetadata")).unwrap();
    let other = metadata.replace("\"record_size\":10", "\"record_size\":100");
    assert_ne!(other, metadata);
    std::fs::write(at(".zmetadata"), other).unwrap();
    std::fs::write(at("chunked/refs.0.parq"), &good).unwrap();
    let error = store().get("chunked/5.1.0", 1).await.unwrap_err().to_string();
    assert!(error.contains("cut off"), "{error}");
}

#[tokio::test]
async fn rows_behind_those_a_file_is_to_have_lead_nowhere() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/references/kerchunk_pyarrow.parq/chunked/refs.0.parq");
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    std::fs::create_dir(at("a")).unwrap();
    std::fs::copy(&fixture, at("a/refs.0.parq")).unwrap();
    let array = r#"{"shape": [100], "chunks": [1]}"#;
    let metadata = format!(r#"{{"metadata": {{"a/.zarray": {array}}}, "record_size": 4}}"#);
    std::fs::write(at(".zmetadata"), metadata).unwrap();
    let store = Store::open(&directory.path().display().to_string()).unwrap();
    let listed: Vec<(String, u64)> = store.list("a").try_collect().await.unwrap();
    let keys: Vec<&str> = listed.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(keys, ["a/.zarray", "a/0", "a/1", "a/2", "a/3"]);
    assert_eq!(store.head("a/4").await.unwrap(), None, "it is in the next file");
}

#[tokio::test]
async fn chunks_in_parquet_are_found_however_they_are_named() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/references/kerchunk_pyarrow.parq");
    let dots = Store::open(&fixture.display().to_string()).unwrap();
    let expected = dots.get("chunked/1.1.0", 1 << 20).await.unwrap().unwrap();
    let array = r#"{"shape": [12, 10, 15], "chunks": [2, 5, 15], "dimension_separator": "/"}"#;
    let v3 = r#"{"zarr_format": 3, "node_type": "array"}"#;
    for (document, chunk, file) in [
        ("a/.zarray", "a/1/1/0", "a/refs.0.parq"),
        (".zarray", "1/1/0", "refs.0.parq"),
        ("a/zarr.json", "a/c/1/1/0", "a/refs.0.parq"),
    ] {
        let folder = TempDir::new().unwrap();
        let directory = folder.path().join("r.parq");
        let at = |name: &str| directory.join(name);
        std::fs::create_dir_all(at("a")).unwrap();
        std::fs::copy(fixture.join("chunked/refs.0.parq"), at(file)).unwrap();
        // Names of files are relative to what holds the directory.
        for day in ["day1.nc", "day2.nc", "day3.nc"] {
            std::fs::copy(fixture.join("..").join(day), folder.path().join(day)).unwrap();
        }
        let array = if document.ends_with("zarray") { array } else { v3 };
        let text = format!(r#"{{"metadata": {{"{document}": {array}}}, "record_size": 10}}"#);
        std::fs::write(at(".zmetadata"), text).unwrap();
        let store = Store::open(&directory.display().to_string()).unwrap();
        let found = store.get(chunk, 1 << 20).await;
        if document.ends_with("zarray") {
            assert_eq!(found.unwrap().unwrap(), expected, "{document}");
            let listed: Vec<(String, u64)> = store.list("").try_collect().await.unwrap();
            assert!(listed.iter().any(|(key, _)| key == chunk), "{listed:?}");
        } else {
            assert!(found.unwrap_err().to_string().contains("Zarr v3"), "{document}");
            let listed = store.list("a").try_collect::<Vec<_>>().await;
            assert!(listed.unwrap_err().to_string().contains("Zarr v3"), "{document}");
            assert!(store.list("").try_collect::<Vec<_>>().await.is_ok());
        }
    }
}

#[tokio::test]
async fn files_that_are_not_there_are_not_asked_for_one_by_one() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/references/kerchunk_pyarrow.parq/chunked/refs.0.parq");
    let directory = TempDir::new().unwrap();
    let at = |name: &str| directory.path().join(name);
    let huge = r#"{"shape": [4611686018427387904], "chunks": [1]}"#;
    let metadata = format!(
        r#"{{"metadata": {{"a/.zarray": {huge}, "b/.zarray": {huge}}}, "record_size": 10}}"#
    );
    std::fs::write(at(".zmetadata"), metadata).unwrap();
    for file in ["a/refs.0.parq", "a/refs.1000.parq", "a/refs.01.parq", "b/refs.2.parq"] {
        std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
        std::fs::copy(&fixture, at(file)).unwrap();
    }
    let store = Store::open(&directory.path().display().to_string()).unwrap();
    let listed = |prefix| {
        let store = store.clone();
        let all = async move { store.list(prefix).try_collect::<Vec<_>>().await.unwrap() };
        tokio::time::timeout(std::time::Duration::from_mins(1), all)
    };
    let keys = |listed: Vec<(String, u64)>| -> Vec<String> {
        listed.into_iter().map(|(key, _)| key).filter(|key| !key.contains(".z")).collect()
    };
    let all = keys(listed("").await.unwrap());
    assert!(all.contains(&"a/10009".to_owned()) && all.contains(&"b/20".to_owned()), "{all:?}");
    let below = keys(listed("b").await.unwrap());
    assert_eq!(below.len(), all.len() / 3, "{below:?}");
}
