//! Groups whose arrays grow together.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rechunk::{Class, CopyRequest, Existing, Format};
use rechunk_testkit::{SimEnd, SimStore};
use serde_json::{Value, json};

use crate::growth::array::{Expected, Plain};
use crate::growth::process::{
    Done, append, clean, every, fresh, read, region, request, resume, run, says,
};

/// A group of data, a coordinate that grows with it, and one that does not.
fn write(disk: &SimStore, path: &str, first: u64, days: u64) {
    disk.put(&format!("{path}/.zgroup"), Bytes::from_static(br#"{"zarr_format":2}"#));
    let sst = Plain::new(&[days, 6], &[2, 5]).at(&[first, 0]).named(&["time", "x"]);
    sst.write(disk, &format!("{path}/sst"));
    let mut time = Plain::new(&[days], &[days]).at(&[first]).named(&["time"]);
    time.attributes = json!({"units": "days since 1970-01-01"});
    time.write(disk, &format!("{path}/time"));
    Plain::new(&[6], &[6]).named(&["x"]).write(disk, &format!("{path}/x"));
}

pub(crate) async fn archive(format: Format) -> SimStore {
    let disk = SimStore::new(7);
    write(&disk, "first.zarr", 0, 7);
    let chunks = "time=4,x=4".parse().unwrap();
    let mut make = request("first.zarr", "target.zarr");
    make.chunks = chunks;
    make.format = Some(format);
    fresh(&disk, make).await.unwrap();
    write(&disk, "more.zarr", 7, 3);
    disk
}

pub(crate) async fn assert_days(disk: &SimStore, days: u64) {
    for (path, expected) in [
        ("sst", Plain::new(&[days, 6], &[1, 1])),
        ("time", Plain::new(&[days], &[1])),
        ("x", Plain::new(&[6], &[1])),
    ] {
        assert_eq!(
            read(disk, &format!("target.zarr/{path}")).await,
            Expected::of(&expected),
            "{path}"
        );
    }
}

/// The length of `time` that a consolidated document says each array to have.
fn lengths(document: &Value) -> (Value, Value) {
    let (v3, v2) = (&document["consolidated_metadata"]["metadata"], &document["metadata"]);
    let of = |name: &str| match v3.get(name) {
        Some(array) => array["shape"][0].clone(),
        None => v2[&format!("{name}/.zarray")]["shape"][0].clone(),
    };
    (of("sst"), of("time"))
}

#[tokio::test(start_paused = true)]
async fn all_arrays_grow_and_are_described_at_once() {
    for (format, key) in
        [(Format::Zarr3, "target.zarr/zarr.json"), (Format::Zarr2, "target.zarr/.zmetadata")]
    {
        let disk = archive(format).await;
        let order = Arc::new(Mutex::new(Vec::new()));
        let (seen, wrong) = (Arc::clone(&order), Arc::new(Mutex::new(Vec::new())));
        let found = Arc::clone(&wrong);
        disk.watch(move |_, name, bytes| {
            if name == key {
                let document: Value = serde_json::from_slice(bytes).unwrap();
                let (sst, time) = lengths(&document);
                if sst != time {
                    found.lock().unwrap().push(format!("{sst} and {time}"));
                }
            }
            if name.starts_with("target.zarr/") && !name.contains(".rechunk") {
                seen.lock().unwrap().push(name.to_owned());
            }
        });
        // One array of two: a group that is opened by its root sees both.
        let done = fresh(&disk, append("more.zarr", "target.zarr", "time")).await.unwrap();
        let Done::Tree(report) = done else { panic!("one array") };
        assert_eq!(report.unmoved, ["x"]);
        assert_eq!(report.arrays.len(), 2);
        assert!(report.arrays.iter().all(|array| array.report.growth.is_some()));
        assert_eq!(*wrong.lock().unwrap(), [""; 0]);
        assert_days(&disk, 10).await;
        let document: Value = serde_json::from_slice(&disk.object(key).unwrap()).unwrap();
        assert_eq!(lengths(&document), (json!(10), json!(10)));
        // Chunks, then the data's document, then the coordinate's, then the description of both.
        let order = std::mem::take(&mut *order.lock().unwrap());
        let is_document = |name: &&String| {
            name.ends_with("json") || name.ends_with(".zarray") || name.ends_with(".zmetadata")
        };
        let documents: Vec<&String> = order.iter().filter(is_document).collect();
        let own = if format == Format::Zarr3 { "zarr.json" } else { ".zarray" };
        let expected =
            [format!("target.zarr/sst/{own}"), format!("target.zarr/time/{own}"), key.to_owned()];
        assert_eq!(documents, expected.iter().collect::<Vec<_>>());
        assert!(order.iter().rev().take(3).all(|name| documents.contains(&name)), "{order:?}");
        // And again.
        write(&disk, "more.zarr", 10, 2);
        fresh(&disk, append("more.zarr", "target.zarr", "time")).await.unwrap();
        assert_days(&disk, 12).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_region_of_a_group_is_written() {
    let disk = archive(Format::Zarr3).await;
    write(&disk, "part.zarr", 2, 3);
    for path in ["sst/0.0", "time/0"] {
        disk.put(&format!("target.zarr/{path}"), Bytes::new()); // not looked at
    }
    fresh(&disk, region("part.zarr", "target.zarr", "time=2:5")).await.unwrap();
    assert_days(&disk, 7).await;
}

#[tokio::test(start_paused = true)]
async fn a_process_may_die_at_many_calls() {
    let request = || append("more.zarr", "target.zarr", "time");
    for call in (1..).step_by(every(11)) {
        for cleans in [false, true] {
            let disk = archive(Format::Zarr3).await;
            let client = disk.client();
            client.die_at(if call % 2 == 0 { SimEnd::Before(call) } else { SimEnd::After(call) });
            let ended = tokio::select! {
                () = client.died() => false,
                ended = run(&client, request(), Existing::Refuse, false) => ended.is_ok(),
            };
            client.die();
            let text = disk.object("target.zarr/zarr.json").unwrap();
            let (sst, time) = lengths(&serde_json::from_slice(&text).unwrap());
            assert_eq!(sst, time, "at {call}");
            if cleans {
                match clean(&disk, "target.zarr").await {
                    Ok(()) => {}
                    Err(error) => {
                        assert!(
                            says(&error).contains("--resume")
                                || says(&error).contains("about to say so"),
                            "{error}"
                        );
                        assert!(resume(&disk, &request()).await.unwrap(), "at {call}");
                    }
                }
            } else {
                resume(&disk, &request()).await.unwrap();
            }
            let sst = read(&disk, "target.zarr/sst").await.shape[0];
            assert_eq!(sst, read(&disk, "target.zarr/time").await.shape[0], "at {call}");
            if sst == 7 {
                fresh(&disk, request()).await.unwrap();
            }
            assert_days(&disk, 10).await;
            // Whoever dies while he removes his last traces leaves a mark, which the next one
            // removes.
            let is_trace = |key: &String| key.ends_with("/lock") || key.ends_with("/written");
            let is_left = |key: &String| key.contains(".rechunk/") && !is_trace(key);
            assert!(!disk.keys().iter().any(is_left), "at {call}: {:?}", disk.keys());
            if ended {
                return;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn groups_that_do_not_fit_are_refused() {
    let request = || append("more.zarr", "target.zarr", "time");
    let refused = async |disk: &SimStore, request: CopyRequest, reasons: &[&str]| {
        let before = disk.keys();
        let error = fresh(disk, request).await.unwrap_err();
        let said = says(&error);
        assert!(matches!(error.class(), Class::Target | Class::Usage), "{said}");
        assert!(reasons.iter().all(|reason| said.contains(reason)), "{said}");
        assert_eq!(disk.keys(), before);
    };
    let disk = archive(Format::Zarr3).await;
    // What is misspelt is not passed over.
    let of_days = |select: &str| {
        let mut request = request();
        request.select = Some(select.parse().unwrap());
        request
    };
    refused(&disk, of_days("tiem=0:1"), &["--select", "no array has a dimension `tiem`"]).await;
    refused(&disk, of_days("0:1"), &["--select", "name them"]).await;
    let part = region("more.zarr", "target.zarr", "time=0:3,lta=0:2");
    refused(&disk, part, &["--region", "no array has a dimension `lta`"]).await;
    let mut cast = request();
    cast.cast = Some("int32".parse().unwrap());
    refused(&disk, cast, &["--cast", "of one array"]).await;
    Plain::new(&[3], &[3]).named(&["time"]).write(&disk, "more.zarr/bounds");
    refused(&disk, request(), &["has no array bounds"]).await;
    disk.clear("more.zarr/bounds");
    disk.clear("more.zarr/sst");
    refused(&disk, request(), &["has the array sst", "would not grow"]).await;
    write(&disk, "more.zarr", 7, 3);
    Plain::new(&[5], &[5]).named(&["x"]).write(&disk, "more.zarr/x");
    refused(&disk, request(), &["the array x", "shape 6", "source 5"]).await;
    write(&disk, "more.zarr", 7, 3);
    Plain::new(&[2], &[2]).named(&["time"]).write(&disk, "more.zarr/time");
    refused(&disk, request(), &["the array time", "units"]).await;
    let mut short = Plain::new(&[2], &[2]).at(&[7]).named(&["time"]);
    short.attributes = json!({"units": "days since 1970-01-01"});
    short.write(&disk, "more.zarr/time");
    refused(&disk, request(), &["sst grows from 7 to 10, time from 7 to 9"]).await;
    refused(&disk, append("more.zarr", "target.zarr", "lon"), &["no array", "`lon`"]).await;
    refused(&disk, append("more.zarr", "target.zarr/sst", "time"), &["is an array"]).await;
    refused(&disk, append("more.zarr/sst", "target.zarr", "time"), &["is a group"]).await;
    refused(&disk, append("more.zarr", "nothing.zarr", "time"), &["is not a group"]).await;
}
