//! Somebody else is faster: what an interrupted run was about to say is true already, and not its
//! doing.

use bytes::Bytes;
use rechunk::{Class, CopyRequest, Error, Existing};
use rechunk_testkit::{SimEnd, SimStore};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::growth::array::Plain;
use crate::growth::groups;
use crate::growth::process::{Done, append, clean, fresh, read, request, resume, run, says};

const DOCUMENT: &str = "target.zarr/zarr.json";

async fn begun() -> SimStore {
    let disk = SimStore::new(11);
    Plain::new(&[7, 6], &[3, 6]).write(&disk, "first.zarr");
    let mut make = request("first.zarr", "target.zarr");
    make.chunks = "4,4".parse().unwrap();
    fresh(&disk, make).await.unwrap();
    Plain::new(&[6, 6], &[2, 5]).at(&[7, 0]).write(&disk, "more.zarr");
    disk
}

/// Runs until it dies at that call; true if it came to its end.
async fn dies(disk: &SimStore, request: &CopyRequest, call: u64) -> bool {
    let client = disk.client();
    client.die_at(SimEnd::After(call));
    let ended = tokio::select! {
        () = client.died() => false,
        ended = run(&client, request.clone(), Existing::Refuse, false) => ended.is_ok(),
    };
    client.die();
    ended
}

/// Says another length in the document of an array, as another writer would.
fn lengthen(disk: &SimStore, key: &str, length: u64) {
    let mut document: Value = serde_json::from_slice(&disk.object(key).unwrap()).unwrap();
    document["shape"][0] = json!(length);
    disk.put(key, Bytes::from(document.to_string()));
}

fn length(disk: &SimStore, key: &str) -> Value {
    let document: Value = serde_json::from_slice(&disk.object(key).unwrap()).unwrap();
    document["shape"][0].clone()
}

/// Goes on when the lease of the one that died is over.
async fn resumed(disk: &SimStore, request: &CopyRequest, verify: bool) -> Result<Done, Error> {
    loop {
        match run(&disk.client(), request.clone(), Existing::Resume, verify).await {
            Err(error) if says(&error).contains("last heard of") => {
                sleep(std::time::Duration::from_secs(5)).await;
            }
            other => return other,
        }
    }
}

/// The array has the length that it was to get, but before this run had written all: what is there
/// is of somebody else, who has appended as much.
#[tokio::test(start_paused = true)]
async fn an_array_that_another_one_has_made_as_long_is_not_written() {
    let request = append("more.zarr", "target.zarr", "0");
    let mut met = [0, 0];
    for call in (1..).step_by(2) {
        let disk = begun().await;
        if dies(&disk, &request, call).await {
            break;
        }
        let has = |key: &str| disk.object(&format!("target.zarr.rechunk/{key}")).is_some();
        if !has("job.json") || length(&disk, DOCUMENT) != json!(7) {
            continue;
        }
        let all_written = has("done.json");
        lengthen(&disk, DOCUMENT, 13);
        let before = disk.object("target.zarr/c/2/0");
        let outcome = resumed(&disk, &request, false).await;
        if all_written {
            met[1] += 1;
            continue; // it cannot be told from what it has done itself
        }
        met[0] += 1;
        let error = outcome.unwrap_err();
        assert!(says(&error).contains("by somebody else"), "at {call}: {error}");
        assert_eq!(error.class(), Class::Target);
        assert_eq!(disk.object("target.zarr/c/2/0"), before);
        clean(&disk, "target.zarr").await.unwrap();
        assert_eq!(length(&disk, DOCUMENT), json!(13));
    }
    assert!(met[0] >= 8, "{met:?}");
}

#[tokio::test(start_paused = true)]
async fn a_group_that_another_one_has_made_as_long_is_not_taken_for_done() {
    let request = append("more.zarr", "target.zarr", "time");
    let mut met = 0;
    for call in (1..).step_by(7) {
        let disk = groups::archive(rechunk::Format::Zarr3).await;
        if dies(&disk, &request, call).await {
            break;
        }
        let has = |key: &str| disk.object(&format!("target.zarr.rechunk/{key}")).is_some();
        if !has("tree.json") || has("written") {
            continue;
        }
        met += 1;
        for path in ["sst", "time"] {
            lengthen(&disk, &format!("target.zarr/{path}/zarr.json"), 10);
        }
        let error = resumed(&disk, &request, false).await.unwrap_err();
        assert!(says(&error).contains("by somebody else"), "at {call}: {error}");
        clean(&disk, "target.zarr").await.unwrap();
        assert_eq!(length(&disk, "target.zarr/sst/zarr.json"), json!(10), "at {call}");
    }
    assert!(met > 5, "{met}");
}

/// What the run of a group has written of one array is made known with the others, and not by a run
/// of that array.
#[tokio::test(start_paused = true)]
async fn an_array_of_a_group_is_not_gone_on_with_by_itself() {
    let whole = append("more.zarr", "target.zarr", "time");
    let mut met = 0;
    for call in (1..).step_by(11) {
        let disk = groups::archive(rechunk::Format::Zarr3).await;
        if dies(&disk, &whole, call).await {
            break;
        }
        let of_sst = |key: &str| disk.object(&format!("target.zarr/sst.rechunk/{key}")).is_some();
        if !of_sst("done.json") || length(&disk, "target.zarr/sst/zarr.json") != json!(7) {
            continue;
        }
        met += 1;
        Plain::new(&[3, 6], &[2, 5]).at(&[50, 0]).named(&["time", "x"]).write(&disk, "other.zarr");
        for source in ["more.zarr/sst", "other.zarr"] {
            // Who trusts its coordinate still has the other run in the way.
            let trust = vec!["time".parse().unwrap()];
            let mut alone = append(source, "target.zarr/sst", "time");
            alone.trust = trust;
            let error = resumed(&disk, &alone, false).await.unwrap_err();
            assert!(says(&error).contains("of another job"), "at {call}: {error}");
        }
        assert!(resume(&disk, &whole).await.unwrap());
        groups::assert_days(&disk, 10).await;
    }
    assert!(met > 0);
}

/// What is verified is verified also where nothing was left to do but to say that it is there.
#[tokio::test(start_paused = true)]
async fn what_an_earlier_run_has_written_is_verified_too() {
    let request = append("more.zarr", "target.zarr", "0");
    let mut met = 0;
    for call in 1.. {
        let disk = begun().await;
        if dies(&disk, &request, call).await {
            break;
        }
        if disk.object("target.zarr.rechunk/done.json").is_none() {
            continue;
        }
        met += 1;
        let report = resumed(&disk, &request, true).await.unwrap().array();
        assert_eq!(report.verified, Some(true), "at {call}");
        assert_eq!(read(&disk, "target.zarr").await.shape, [13, 6]);
        assert!(!disk.keys().iter().any(|key| key.contains(".rechunk/") && !key.ends_with("lock")));
    }
    assert!(met > 2, "{met}");
}
