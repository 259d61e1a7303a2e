//! Groups above a target that are there stay as they are.

use std::sync::Arc;

use bytes::Bytes;
use rechunk::{CancellationToken, CopyRequest, Existing, Format, Job, NullObserver, Running};

use crate::sim::array::{ROOT, disk};
use crate::sim::process::stores;

const GROUP: &str = "all.zarr/zarr.json";
const DOCUMENT: &str = r#"{"zarr_format":3,"node_type":"group","attributes":{"kept":"yes"}}"#;

/// Copies the array into the group.
async fn copy_into(disk: &rechunk_testkit::SimStore, array: &str) {
    let mut request =
        CopyRequest::new(&format!("{ROOT}/source.zarr"), &format!("{ROOT}/all.zarr/{array}"));
    request.chunks = "7,4".parse().unwrap();
    request.format = Some(Format::Zarr3);
    request.planning.memory_bytes = Some(64 << 20);
    request.planning.threads = Some(2);
    let mut job = Job::prepare(request, &stores(&disk.client())).await.unwrap();
    job.planned.plan.threads = 0;
    let existing = Existing::Refuse;
    let running = Running::new(existing);
    job.check_target(running).await.unwrap();
    job.run(running, Arc::new(NullObserver), CancellationToken::new()).await.unwrap();
    assert!(disk.object(&format!("all.zarr/{array}/zarr.json")).is_some());
}

#[tokio::test(start_paused = true)]
async fn groups_stay_also_where_conditions_are_ignored() {
    for ignores in [false, true] {
        let disk = disk(1);
        if ignores {
            disk.ignore_conditions();
        }
        disk.put(GROUP, Bytes::from_static(DOCUMENT.as_bytes()));
        copy_into(&disk, "new").await;
        assert_eq!(disk.object(GROUP).unwrap(), DOCUMENT.as_bytes());
    }
}

#[tokio::test(start_paused = true)]
async fn a_group_that_comes_meanwhile_stays() {
    let disk = disk(2);
    let sooner = disk.clone();
    disk.watch(move |_, key, _| {
        // Somebody makes the group when the first chunk is written.
        if key == "all.zarr/new/c/0/0" {
            let sooner = sooner.clone();
            tokio::spawn(async move { sooner.put(GROUP, Bytes::from_static(DOCUMENT.as_bytes())) });
        }
    });
    copy_into(&disk, "new").await;
    assert_eq!(disk.object(GROUP).unwrap(), DOCUMENT.as_bytes());
}
