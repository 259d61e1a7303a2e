//! Results that go where another array was: over it, or into a box of it.

use std::path::Path;

use rechunk::{CopyRequest, Existing, Format, Job, MissingChunks, Mode, Report, Stores};

use super::case::{Case, Level, run};
use super::reference::Op;
use super::volume::{Kind, Volume, positions};

const SHAPE: [i64; 2] = [24, 36];

/// A plane with a part that holds nothing but the fill value.
fn plane() -> Volume {
    Volume { gaps: 4, fill: 3.0, ..Volume::new(Kind::U16, &SHAPE, &[7, 9]) }
}

/// The array that is there before, of other chunks.
fn before() -> Volume {
    Volume { seed: 5, fill: 3.0, ..Volume::new(Kind::U16, &SHAPE, &[5, 8]) }
}

fn levels() -> [Level; 3] {
    [
        Level::new(&[5, 8]).auto_crop(),
        Level::new(&[6, 7]).auto_crop(),
        Level::new(&[6, 8]).blend(&[2, 3], Mode::Linear),
    ]
}

fn cases() -> impl Iterator<Item = Case> {
    let boxes = [None, Some(vec![(3, 17), (5, 29)]), Some(vec![(5, 15), (8, 32)])];
    levels().into_iter().flat_map(move |level| {
        boxes.clone().into_iter().flat_map(move |region| {
            let level = level.clone();
            [MissingChunks::Fill, MissingChunks::SkipIfAny].into_iter().map(move |missing| {
                let case = Case::new(plane(), Op::Median(3), vec![level.clone()]);
                Case { region: region.clone(), missing, ..case.to(Format::Zarr2, &[5, 8]) }
            })
        })
    })
}

async fn write_over(request: CopyRequest, existing: Existing) -> Report {
    let job = Job::prepare(request, &Stores::default()).await.unwrap();
    run(job, existing).await.unwrap()
}

#[tokio::test]
async fn an_array_that_is_written_over_leaves_nothing() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.write(folder);
        before().write(&folder.join("target"));
        write_over(case.request(folder, "target"), Existing::Overwrite).await;
        case.check_target(folder, "target").await;
    }
}

fn update(case: &Case, folder: &Path) -> CopyRequest {
    let asked = case.request(folder, "target");
    let mut request = CopyRequest::new(&asked.source, &asked.target);
    request.planning = asked.planning;
    request.apply = asked.apply;
    request.apply.as_mut().unwrap().update = true;
    request
}

#[tokio::test]
async fn an_array_that_is_updated_keeps_the_rest() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        case.write(folder);
        before().write(&folder.join("target"));
        write_over(update(&case, folder), Existing::Refuse).await;
        let before = before();
        let old: Vec<f64> = positions(&SHAPE).map(|at| before.value(&at)).collect();
        case.check_equal(&case.elements(folder, "target").await, &case.expected_over(&old));
    }
}

/// Of a shard that a box cuts the index and the chunks that stay are read, whether or not they are
/// there.
#[tokio::test]
async fn shards_that_are_changed_take_what_is_planned() {
    let source = Volume { is_compressed: true, ..plane() };
    for level in levels() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let case = Case::new(source.clone(), Op::Median(3), vec![level]);
        let case = case.to(Format::Zarr3, &[4, 6]).sharded(&[8, 18]);
        case.write(folder);
        case.run(folder, "target").await;
        let case = Case { region: Some(vec![(3, 17), (5, 29)]), ..case };
        let report = write_over(update(&case, folder), Existing::Refuse).await;
        let (planned, found) = (report.estimate.target, report.traffic.unwrap().target);
        assert!(planned.get_requests > 10, "{planned:?}");
        assert_eq!(found.get_requests + found.get_missing, planned.get_requests, "{case:?}");
        assert_eq!(found.put_requests + found.put_skipped, planned.put_requests, "{case:?}");
        assert_eq!(found.decoded_written_bytes, planned.decoded_written_bytes, "{case:?}");
    }
}
