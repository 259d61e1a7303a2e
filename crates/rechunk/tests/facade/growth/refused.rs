//! What is refused is refused before anything is written, and says why.

use rechunk::{Class, CopyRequest, Existing, Format, Placement};
use rechunk_testkit::SimStore;
use serde_json::{Value, json};

use crate::growth::array::{Plain, value};
use crate::growth::process::{append, fresh, region, request, run, says};

const NAMES: [&str; 2] = ["time", "x"];

async fn archive() -> SimStore {
    let disk = SimStore::new(5);
    let mut days = Plain::new(&[7, 6], &[3, 6]).named(&NAMES);
    days.attributes = json!({"units": "days since 1970-01-01", "long_name": "days"});
    days.write(&disk, "first.zarr");
    let mut make = request("first.zarr", "target.zarr");
    make.chunks = "4,4".parse().unwrap();
    fresh(&disk, make).await.unwrap();
    disk
}

fn day() -> Plain {
    let mut day = Plain::new(&[1, 6], &[1, 6]).named(&NAMES);
    day.attributes = json!({"units": "days since 1970-01-01"});
    day
}

async fn refused(source: &Plain, request: CopyRequest, class: Class, reasons: &[&str]) {
    let disk = archive().await;
    source.write(&disk, "more.zarr");
    let before = disk.keys();
    let error = fresh(&disk, request).await.unwrap_err();
    let said = says(&error);
    assert_eq!(error.class(), class, "{said}");
    for reason in reasons {
        assert!(said.contains(reason), "`{reason}` is not in: {said}");
    }
    assert_eq!(disk.keys(), before, "{said}");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_refused() {
    let usual = || append("more.zarr", "target.zarr", "time");
    let target = Class::Target;
    refused(&Plain { dtype: "<i2", ..day() }, usual(), target, &["holds uint16", "source int16"])
        .await;
    refused(&day().named(&["t", "x"]), usual(), target, &["axis 0 `time`", "the source `t`"]).await;
    refused(&day().named(&["x", "time"]), usual(), target, &["`time`", "`x`"]).await;
    let wide = Plain { shape: vec![1, 7], ..day() };
    refused(&wide, usual(), target, &["6 elements along dimension `x`", "source 7"]).await;
    let flat = Plain::new(&[6], &[6]);
    refused(&flat, usual(), target, &["2 axes", "source 1"]).await;
    let empty = Plain { shape: vec![0, 6], ..day() };
    refused(&empty, usual(), Class::Usage, &["no elements"]).await;
    let mut later = day();
    later.attributes = json!({"units": "months since 1970-01-01"});
    let both = ["units \"days since 1970-01-01\"", "source \"months since 1970-01-01\""];
    refused(&later, usual(), target, &both).await;
    later.attributes = json!({"units": "hours since 1970-01-01"});
    refused(&later, usual(), target, &["\"hours since", "no exact counterpart in uint16"]).await;
    later.attributes = json!({"units": "days since 1970-01-01", "calendar": "noleap"});
    refused(&later, usual(), target, &["calendar not", "\"noleap\""]).await;
    later.attributes = json!({"units": "days since 1970-01-01", "scale_factor": 0.5});
    refused(&later, usual(), target, &["scale_factor"]).await;
    // Every value is one in the target.
    later.attributes = json!({"units": "days since 1970-01-01", "missing_value": 9});
    refused(&later, usual(), target, &["missing_value not", "source 9"]).await;
    let nowhere = append("more.zarr", "target.zarr", "lat");
    refused(&day(), nowhere, Class::Usage, &["--append", "no `lat`", "`time`", "`x`"]).await;
    let absent = append("more.zarr", "nothing.zarr", "time");
    refused(&day(), absent, target, &["is not an array"]).await;
    let part = |text| region("more.zarr", "target.zarr", text);
    refused(&day(), part("time=0:2"), target, &["2 × 6", "1 × 6"]).await;
    refused(&day(), part("time=6:8"), Class::Usage, &["--region: `6:8`", "7 elements"]).await;
    refused(&day(), part("lat=0:1"), Class::Usage, &["--region: the array has no dimension"]).await;
}

/// An array of several axes that has the name of one of them is no coordinate. That holds beside
/// other arrays too.
#[tokio::test(start_paused = true)]
async fn an_array_may_have_the_name_of_one_of_its_dimensions() {
    let disk = SimStore::new(5);
    for (path, start) in [("old", [0, 0]), ("new", [9, 9])] {
        for name in ["z", "a"] {
            let array = Plain::new(&[4, 3], &[2, 3]).named(&["z", "y"]).at(&start);
            array.write(&disk, &format!("{path}/{name}"));
        }
    }
    fresh(&disk, region("new/z", "old/z", "z=0:4")).await.unwrap();
    fresh(&disk, append("new/z", "old/z", "y")).await.unwrap();
    fresh(&disk, append("new/a", "old/a", "z")).await.unwrap();
}

/// A time may be what one side has for missing elements: that is said, and not a time that cannot
/// be counted.
#[tokio::test(start_paused = true)]
async fn times_that_stand_for_none_are_told_from_those_that_do_not_fit() {
    let hours = |since: &str, fill: Value| {
        let mut hours = Plain::new(&[2], &[2]).named(&["time"]);
        hours.attributes = json!({"units": format!("hours since {since}")});
        Plain { fill, ..hours }
    };
    let first = value(&[0]);
    for (own, theirs, expected) in [
        (json!(first), Value::Null, "is the value that the source has for missing elements"),
        (Value::Null, json!(first + 24), "would be the value that the target has"),
    ] {
        let disk = SimStore::new(5);
        hours("1969-12-31", theirs).write(&disk, "target.zarr");
        hours("1970-01-01", own).write(&disk, "more.zarr");
        let before = disk.keys();
        let error = fresh(&disk, append("more.zarr", "target.zarr", "time")).await.unwrap_err();
        let said = says(&error);
        assert_eq!(error.class(), Class::Target, "{said}");
        assert!(said.contains(expected) && said.contains("its element [0]"), "{said}");
        assert_eq!(disk.keys(), before);
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_target_has_decided_cannot_be_asked_for() {
    let usual = || append("more.zarr", "target.zarr", "time");
    for (option, request) in [
        ("--chunks", {
            let mut request = usual();
            request.chunks = "1,6".parse().unwrap();
            request
        }),
        ("--shards", {
            let mut request = usual();
            request.shards = Some("4,4".parse().unwrap());
            request
        }),
        ("--codec", {
            let mut request = usual();
            request.codec = Some("zstd:1".parse().unwrap());
            request
        }),
        ("--format", {
            let mut request = usual();
            request.format = Some(Format::Zarr3);
            request
        }),
        ("--n5-version", {
            let mut request = usual();
            request.n5_version = Some("4.0.0".to_owned());
            request
        }),
    ] {
        refused(&day(), request, Class::Usage, &[option, "keeps its own"]).await;
    }
    let disk = archive().await;
    day().write(&disk, "more.zarr");
    let overwrites = run(&disk.client(), usual(), Existing::Overwrite, false).await.unwrap_err();
    assert_eq!(overwrites.class(), Class::Usage);
    let resumes = run(&disk.client(), usual(), Existing::Resume, false).await.unwrap_err();
    assert!(says(&resumes).contains("no interrupted run"), "{resumes}");
    assert_eq!(resumes.class(), Class::Target);
}

#[tokio::test(start_paused = true)]
async fn all_else_of_the_document_stays() {
    let disk = archive().await;
    let text = disk.object("target.zarr/zarr.json").unwrap();
    let mut document: Value = serde_json::from_slice(&text).unwrap();
    document["extension"] = json!({"must_understand": false, "of": "somebody"});
    disk.put("target.zarr/zarr.json", document.to_string().into());
    day().write(&disk, "more.zarr");
    fresh(&disk, append("more.zarr", "target.zarr", "0")).await.unwrap();
    let text = disk.object("target.zarr/zarr.json").unwrap();
    document["shape"] = json!([8, 6]);
    assert_eq!(serde_json::from_slice::<Value>(&text).unwrap(), document);
    assert_eq!(document["attributes"]["long_name"], json!("days"));
}

#[test]
fn a_placement_is_said_in_words() {
    let placement = Placement::Append("time".to_owned());
    assert_eq!((placement.option(), placement.text().as_str()), ("--append", "time"));
}

/// Of Zarr v2, xarray takes the fill value for what is missing.
#[tokio::test(start_paused = true)]
async fn elements_that_are_missing_stay_so() {
    let disk = archive().await;
    let of = |fill: u64| Plain { fill: json!(fill), ..day() };
    of(7).write(&disk, "plain.zarr");
    let append = || append("more.zarr", "plain.zarr", "time");
    of(9).write(&disk, "more.zarr");
    let error = fresh(&disk, append()).await.unwrap_err();
    assert_eq!(error.class(), Class::Target);
    assert!(says(&error).contains("has 7 for missing elements, and the source 9"), "{error}");
    of(7).write(&disk, "more.zarr");
    fresh(&disk, append()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn numbers_are_cast_to_the_type_of_the_target() {
    let disk = archive().await;
    let day = Plain { dtype: "<i2", ..day() };
    let small = Plain { shape: vec![1, 6], ..day };
    small.write(&disk, "more.zarr");
    disk.put("more.zarr/0.0", vec![1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0].into());
    let append = |cast: &str| {
        let mut request = append("more.zarr", "target.zarr", "time");
        request.cast = Some(cast.parse().unwrap());
        request
    };
    let error = fresh(&disk, append("int32")).await.unwrap_err();
    assert!(says(&error).contains("holds uint16, and the source int32"), "{error}");
    fresh(&disk, append("uint16")).await.unwrap();
    let grown = crate::growth::process::read(&disk, "target.zarr").await;
    assert_eq!((grown.shape, &grown.elements[42..]), (vec![8, 6], &[1, 2, 3, 4, 5, 6][..]));
}
