//! A process takes a saved plan over without planning: what it asks the store for is counted.

use bytes::Bytes;
use rechunk::{Class, Job, Strategy};

use crate::sim::array::disk;
use crate::sim::process::{request, stores};

const DOCUMENT: &str = "source.zarr/.zarray";

/// Metadata of a source with a codec, of whose chunks the sizes are looked at to plan.
fn encoded(fill: u64) -> Bytes {
    let text = format!(
        r#"{{"zarr_format":2,"shape":[24,18],"chunks":[5,18],"dtype":"<u2","order":"C",
        "compressor":{{"id":"zlib","level":1}},"fill_value":{fill},"filters":null}}"#
    );
    Bytes::from(text)
}

#[tokio::test(start_paused = true)]
async fn a_saved_plan_is_taken_over_with_the_documents_of_the_source_alone() {
    let disk = disk(1);
    disk.put(DOCUMENT, encoded(0));
    let (planner, part) = (disk.client(), disk.client());
    let job = Job::prepare(request(Strategy::Pull), &stores(&planner)).await.unwrap();
    let saved = job.saved();
    let taken = Job::from_saved(saved.clone(), None, &stores(&part)).await.unwrap();
    assert_eq!(taken.planned.plan, job.planned.plan);
    // Seven documents, one of which is there; and the five chunks, to plan.
    assert_eq!((planner.calls(), part.calls()), (12, 7));
}

#[tokio::test(start_paused = true)]
async fn a_source_that_has_changed_is_refused_without_planning() {
    let disk = disk(1);
    disk.put(DOCUMENT, encoded(0));
    let client = disk.client();
    let saved = Job::prepare(request(Strategy::Pull), &stores(&client)).await.unwrap().saved();
    disk.put(DOCUMENT, encoded(1));
    let error = Job::from_saved(saved, None, &stores(&client)).await.unwrap_err();
    assert_eq!(error.class(), Class::Target);
    assert!(error.to_string().contains("the metadata of the source has changed"), "{error}");
}
