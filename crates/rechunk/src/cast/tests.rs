use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::{Value, json};

use crate::{
    CancellationToken, Class, CopyRequest, Error, Existing, Format, Job, NullObserver, Planning,
    Prepared, Remedy, Report, Running, Selection, Stores, Strategy, prepare,
};

const SHAPE: [u64; 2] = [11, 7];
const COUNT: i32 = 77;

/// An array of Zarr v2 in chunks of 4 × 3 without codecs, big-endian, column after column: element
/// `i` in C order is `element(i)`. What is behind its end is the largest number there is.
fn write(place: &Path, element: impl Fn(i32) -> i32, attributes: &Value) {
    fs::create_dir_all(place).unwrap();
    let document = json!({
        "zarr_format": 2, "shape": SHAPE, "chunks": [4, 3], "dtype": ">i4", "compressor": null,
        "fill_value": 9, "order": "F", "filters": null
    });
    fs::write(place.join(".zarray"), document.to_string()).unwrap();
    fs::write(place.join(".zattrs"), attributes.to_string()).unwrap();
    for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
        let mut chunk = Vec::new();
        for (x, y) in (0..3).flat_map(|x| (0..4).map(move |y| (x, y))) {
            let (y, x) = (4 * row + y, 3 * column + x);
            let value = if y < 11 && x < 7 { element(7 * y + x) } else { i32::MAX };
            chunk.extend_from_slice(&value.to_be_bytes());
        }
        // One chunk is missing: it holds the fill value.
        if (row, column) != (1, 1) {
            fs::write(place.join(format!("{row}.{column}")), chunk).unwrap();
        }
    }
}

/// The elements that [`write`] has written, the missing chunk too.
fn elements(element: impl Fn(i32) -> i32) -> Vec<i32> {
    let is_missing = |at: i32| (4..8).contains(&(at / 7)) && (3..6).contains(&(at % 7));
    (0..COUNT).map(|at| if is_missing(at) { 9 } else { element(at) }).collect()
}

fn request(source: &Path, target: &Path, cast: Option<&str>) -> CopyRequest {
    CopyRequest {
        cast: cast.map(|text| text.parse().unwrap()),
        planning: Planning { memory_bytes: Some(8 << 20), threads: Some(2), ..Planning::default() },
        ..CopyRequest::new(source.to_str().unwrap(), target.to_str().unwrap())
    }
}

/// Plans, runs and verifies; the report, and what was warned of.
fn run(
    request: CopyRequest,
    existing: Existing,
) -> LocalBoxFuture<'static, Result<(Report, Vec<String>), Error>> {
    let running = Running { existing, verify: true, keep_temp: false, durable: false };
    async move {
        let job = Job::prepare(request, &Stores::default()).await?;
        let warnings = job.warnings.clone();
        let report = job.run(running, Arc::new(NullObserver), CancellationToken::new()).await?;
        Ok((report, warnings))
    }
    .boxed_local()
}

/// Holds the counted traffic to the prediction, and the target to the source.
fn assert_as_planned(report: &Report, what: &str) {
    assert_eq!(report.verified, Some(true), "{what}");
    let report = serde_json::to_value(report).unwrap();
    for role in ["source", "intermediate", "target"] {
        let [said, done] = ["estimate", "traffic"].map(|of| &report[of][role]);
        // What is asked for and not there, or not written because it is empty, was predicted too.
        let number = |name: &str| done[name].as_u64().unwrap();
        let is_dense = number("get_missing") + number("put_skipped") == 0;
        for (count, beside) in [
            ("get_requests", Some("get_missing")),
            ("put_requests", Some("put_skipped")),
            ("decoded_read_bytes", None),
            ("decoded_written_bytes", None),
        ] {
            let done = number(count) + beside.map_or(0, number);
            // What is known to be the fill value is not decoded.
            if is_dense || beside.is_some() {
                assert_eq!(said[count], json!(done), "{what}: {role} {count}");
            } else {
                assert!(done <= said[count].as_u64().unwrap(), "{what}: {role} {count}");
            }
        }
    }
}

/// The elements at a place, as a file of them alone.
fn stored(place: &Path, folder: &Path) -> LocalBoxFuture<'static, Vec<u8>> {
    let file = folder.join("elements.bin");
    let back = CopyRequest { format: Some(Format::Raw), ..request(place, &file, None) };
    async move {
        run(back, Existing::Overwrite).await.unwrap();
        fs::read(file).unwrap()
    }
    .boxed_local()
}

#[tokio::test]
async fn arrays_of_every_format_are_cast() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("plain.zarr"), |i| i * 3 - 50, &json!({}));
    let formats = [
        ("plain.zarr", None, None, None),
        ("sharded.zarr", None, Some("zstd:1"), Some("8,6")),
        ("blosc.zarr", Some(Format::Zarr2), Some("blosc:lz4:5:shuffle"), None),
        ("blocks.n5", Some(Format::N5), Some("gzip:1"), None),
        ("file.npy", None, None, None),
        ("raw", Some(Format::Raw), None, None),
    ];
    let floats: Vec<u8> =
        elements(|i| i * 3 - 50).iter().flat_map(|&i| f64::from(i).to_le_bytes()).collect();
    let shorts: Vec<u8> = elements(|i| i * 3 - 50)
        .iter()
        .flat_map(|&i| i16::try_from(i).unwrap().to_le_bytes())
        .collect();
    for (source, format, codec, shards) in formats {
        if source != "plain.zarr" {
            let made = CopyRequest {
                codec: codec.map(|text| text.parse().unwrap()),
                shards: shards.map(|text| text.parse().unwrap()),
                format,
                ..request(&at("plain.zarr"), &at(source), None)
            };
            run(made, Existing::Refuse).await.unwrap();
        }
        for (target, chunks, cast, expected) in [
            ("t.zarr", "6,7", "float64", &floats),
            ("t.n5", "keep", "float64", &floats),
            ("t.zarr2", "3,7", ">i2", &shorts),
            ("t.npy", "keep", ">i2", &shorts),
        ] {
            let place = at(&format!("{source}-{cast}-{target}"));
            let mut copy = request(&at(source), &place, Some(cast));
            copy.chunks = chunks.parse().unwrap();
            copy.format = (target == "t.zarr2").then_some(Format::Zarr2);
            let what = format!("{source} as {cast} to {target}");
            let (report, _) = run(copy, Existing::Refuse).await.expect(&what);
            assert_as_planned(&report, &what);
            assert_eq!(stored(&place, folder.path()).await, **expected, "{what}");
        }
    }
    let text = fs::read_to_string(at("plain.zarr->i2-t.zarr2/.zarray")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&document["dtype"], &document["fill_value"]), (&json!(">i2"), &json!(9)));
    assert_eq!(document["order"], json!("F"));
    let text = fs::read_to_string(at("blosc.zarr->i2-t.zarr2/.zarray")).unwrap();
    assert!(text.contains("blosc"), "{text}");
}

#[tokio::test]
async fn every_kind_of_plan_casts() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("a.zarr"), |i| i, &json!({}));
    let expected: Vec<u8> = elements(|i| i).iter().map(|&i| u8::try_from(i).unwrap()).collect();
    for (strategy, name) in [
        (Strategy::Direct, "direct"),
        (Strategy::Keep, "keep"),
        (Strategy::Pull, "pull"),
        (Strategy::PushPull, "push-pull"),
        (Strategy::Memory, "memory"),
    ] {
        let mut copy = request(&at("a.zarr"), &at(name), Some("uint8"));
        copy.planning.strategy = strategy;
        copy.chunks = if name == "direct" { "8,3" } else { "11,2" }.parse().unwrap();
        let (report, _) = run(copy, Existing::Refuse).await.unwrap();
        assert_as_planned(&report, name);
        assert_eq!(stored(&at(name), folder.path()).await, expected, "{name}");
    }
    // Encoded chunks are not passed on, also where nothing else changes.
    let passed = CopyRequest {
        planning: Planning { strategy: Strategy::Passthrough, ..Planning::default() },
        ..request(&at("a.zarr"), &at("passed"), Some("float32"))
    };
    assert!(Job::prepare(passed, &Stores::default()).await.is_err());
}

#[tokio::test]
async fn what_does_not_fit_is_named_and_nothing_is_published() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let element = |i| if i == 68 { 300 } else { i };
    write(&at("a.zarr"), element, &json!({}));
    let copy = |select: Option<&str>| CopyRequest {
        select: select.map(|text| text.parse().unwrap()),
        ..request(&at("a.zarr"), &at("t.zarr"), Some("uint8"))
    };
    let error = run(copy(None), Existing::Refuse).await.unwrap_err();
    let said = error.chain().join(": ");
    assert_eq!(error.class(), Class::Source, "{said}");
    assert!(said.contains("chunk [2, 1]: 2.1 in "), "{said}");
    assert!(said.contains("element [9, 5]: 300 does not fit uint8"), "{said}");
    assert!(!said.contains("damaged"), "{said}");
    assert!(error.remedy() == Some(Remedy::CastAndOverwrite), "{:?}", error.remedy());
    assert!(!at("t.zarr/.zarray").exists() && !at("t.zarr/zarr.json").exists());
    // What is done is kept: where the source was mended, the copy goes on.
    write(&at("a.zarr"), |i| i, &json!({}));
    run(copy(None), Existing::Resume).await.unwrap();
    let expected: Vec<u8> = elements(|i| i).iter().map(|&i| u8::try_from(i).unwrap()).collect();
    assert_eq!(stored(&at("t.zarr"), folder.path()).await, expected);
    // What is not selected is not looked at.
    write(&at("a.zarr"), element, &json!({}));
    let select = copy(Some("0:9,:"));
    let (report, _) = run(select, Existing::Overwrite).await.unwrap();
    assert_as_planned(&report, "a region");
}

#[tokio::test]
async fn a_run_that_was_interrupted_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("a.zarr"), |i| i, &json!({}));
    let copy = |cast| CopyRequest {
        chunks: "2,7".parse().unwrap(),
        ..request(&at("a.zarr"), &at("t.zarr"), Some(cast))
    };
    let job = Job::prepare(copy("int8"), &Stores::default()).await.unwrap();
    let running =
        Running { existing: Existing::Refuse, verify: false, keep_temp: false, durable: false };
    let cancelled = CancellationToken::new();
    cancelled.cancel();
    let stopped = job.run(running, Arc::new(NullObserver), cancelled).await;
    assert_eq!(stopped.unwrap_err().class(), Class::Interrupted);
    // To go on as another type would be another copy.
    let other = run(copy("int16"), Existing::Resume).await.unwrap_err();
    assert_eq!(other.class(), Class::Target, "{other}");
    run(copy("int8"), Existing::Resume).await.unwrap();
    let expected: Vec<u8> = elements(|i| i).iter().map(|&i| u8::try_from(i).unwrap()).collect();
    assert_eq!(stored(&at("t.zarr"), folder.path()).await, expected);
}

#[tokio::test]
async fn what_a_cast_means_for_attributes_and_codecs_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let attributes = json!({"scale_factor": 0.1, "_FillValue": 9, "valid_min": 2, "units": "K"});
    write(&at("a.zarr"), |i| i, &attributes);
    let plan = |request: CopyRequest| async { Job::prepare(request, &Stores::default()).await };
    let job = plan(request(&at("a.zarr"), &at("t.zarr"), Some("float32"))).await.unwrap();
    let said = job.warnings.join("\n");
    for part in [
        "int32 tells more numbers apart than float32",
        "scale_factor: elements are cast as they are stored",
        "\nvalid_min: these attributes are values of int32",
    ] {
        assert!(said.contains(part), "{said}");
    }
    let other = CopyRequest {
        format: Some(Format::N5),
        ..request(&at("a.zarr"), &at("t.n5"), Some("float32"))
    };
    let said = plan(other).await.unwrap().warnings.join("\n");
    assert!(said.contains("_FillValue, valid_min: these attributes"), "{said}");
    let job = plan(request(&at("a.zarr"), &at("t.zarr"), Some("int32"))).await.unwrap();
    assert!(job.warnings.iter().all(|warning| !warning.contains("scale")), "{:?}", job.warnings);
    // The same type in another byte order is written anew, in the same it is no cast.
    assert!(!job.plan_request.same_encoding);
    let same = CopyRequest {
        format: Some(Format::Zarr2),
        ..request(&at("a.zarr"), &at("t.zarr"), Some(">i4"))
    };
    let job = plan(same).await.unwrap();
    assert!(job.plan_request.same_encoding);
    for (cast, class, part) in [
        ("complex64", Class::Usage, "--cast: `complex64` is no type that numbers are cast to"),
        ("float33", Class::Usage, "--cast: `float33` is no type"),
        ("bool", Class::Source, "the fill value 9 does not fit bool"),
    ] {
        let error = match crate::Cast::parse(cast) {
            Ok(_) => plan(request(&at("a.zarr"), &at("t.zarr"), Some(cast))).await.unwrap_err(),
            Err(error) => error.into(),
        };
        assert_eq!(error.class(), class);
        let said = error.chain().join(": ");
        assert!(said.contains(part), "{said}");
    }
    // A filter for integers is left out.
    let filtered = CopyRequest {
        codec: Some(
            r#"[{"id": "delta", "dtype": "<i4"}, {"id": "zlib", "level": 1}]"#.parse().unwrap(),
        ),
        format: Some(Format::Zarr2),
        ..request(&at("a.zarr"), &at("f.zarr"), None)
    };
    run(filtered, Existing::Refuse).await.unwrap();
    let job = plan(CopyRequest {
        format: Some(Format::Zarr2),
        ..request(&at("f.zarr"), &at("t.zarr"), Some("int64"))
    });
    let job = job.await.unwrap();
    assert!(
        job.warnings.join("\n").contains("is left out: it is made for elements of int32"),
        "{:?}",
        job.warnings
    );
    assert!(
        job.target_layout.codec_summary().contains("zlib"),
        "{}",
        job.target_layout.codec_summary()
    );
}

#[tokio::test]
async fn of_a_group_the_data_are_cast_and_not_the_coordinates() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join("g.zarr").join(name);
    let dimensions = json!({"_ARRAY_DIMENSIONS": ["y", "x"]});
    for name in ["a", "b", "c"] {
        write(&at(name), |i| i, &dimensions);
    }
    fs::write(at(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    fs::create_dir_all(at("x")).unwrap();
    let x = json!({
        "zarr_format": 2, "shape": [7], "chunks": [7], "dtype": "<i4", "compressor": null,
        "fill_value": 0, "order": "C", "filters": null
    });
    fs::write(at("x/.zarray"), x.to_string()).unwrap();
    fs::write(at("x/.zattrs"), json!({"_ARRAY_DIMENSIONS": ["x"]}).to_string()).unwrap();
    let text =
        x.to_string().replace("<i4", "<U3").replace("\"fill_value\":0", "\"fill_value\":\"\"");
    fs::create_dir_all(at("names")).unwrap();
    fs::write(at("names/.zarray"), text).unwrap();
    let request =
        request(&folder.path().join("g.zarr"), &folder.path().join("t.zarr"), Some("float32"));
    let rules = ["b: cast uint8", "c: cast int32"].map(|rule| rule.parse().unwrap()).to_vec();
    let selection = Selection { rules, ..Selection::default() };
    let Prepared::Tree(job) = prepare(request, selection, &Stores::default()).await.unwrap() else {
        panic!("a group")
    };
    let types: Vec<String> = job
        .arrays
        .iter()
        .map(|array| format!("{} {}", array.path, array.job.target.spec().data_type))
        .collect();
    let names = "names fixed_length_utf32[12]";
    assert_eq!(types, ["a float32", "b uint8", "c int32", names, "x int32"]);
    let said = job.all_warnings().join("\n");
    assert!(
        said.contains("names: its elements are fixed_length_utf32[12]: only numbers are cast"),
        "{said}"
    );
}

#[tokio::test]
async fn chunks_of_zarr_are_named_with_the_sign_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(&at("a.zarr"), |i| i, &json!({}));
    for (format, separator, chunk, document) in [
        (Format::Zarr2, '/', "2/1", ".zarray"),
        (Format::Zarr2, '.', "2.1", ".zarray"),
        (Format::Zarr3, '.', "c.2.1", "zarr.json"),
    ] {
        let place = at(&format!("{}{}", format.name(), u32::from(separator)));
        let copy = CopyRequest {
            format: Some(format),
            separator: Some(separator),
            ..request(&at("a.zarr"), &place, None)
        };
        run(copy, Existing::Refuse).await.unwrap();
        assert!(place.join(chunk).is_file(), "{chunk}");
        let text = fs::read_to_string(place.join(document)).unwrap();
        let pair = if document == ".zarray" { "dimension_separator" } else { "separator" };
        let document: Value = serde_json::from_str(&text).unwrap();
        let found =
            document.get(pair).unwrap_or(&document["chunk_key_encoding"]["configuration"][pair]);
        assert_eq!(found, &json!(separator.to_string()));
        let back = stored(&place, folder.path()).await;
        assert_eq!(back, elements(|i| i).iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<_>>());
    }
    let copy = CopyRequest { separator: Some('/'), ..request(&at("a.zarr"), &at("t.n5"), None) };
    let error = Job::prepare(copy, &Stores::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "--separator is of Zarr, not of n5");
}
