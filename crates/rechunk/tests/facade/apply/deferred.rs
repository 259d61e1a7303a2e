//! Blocks that stay uncombined: where they lie, what they hold, and what they cost.

use rechunk::{Error, Existing, Expand, Format, Mode, OpenOptions, Region, Stores, open_array};

use super::case::{Case, Level, run};
use super::reference::Op;
use super::volume::{Kind, Volume};

fn plane() -> Volume {
    Volume { is_compressed: true, fill: 3.0, ..Volume::new(Kind::U16, &[24, 36], &[7, 9]) }
}

/// Jobs whose blocks lie in four, two and one layers, with a box, levels and a gap.
fn cases() -> Vec<Case> {
    let one = |level: Level| Case::new(plane(), Op::Median(3), vec![level.auto_crop()]);
    let both = one(Level::new(&[8, 12]).blend(&[2, 3], Mode::Linear));
    let boxed = Case { region: Some(vec![(2, 18), (5, 29)]), ..both.clone() };
    let cut = one(Level::new(&[10, 13]).blend(&[3, 6], Mode::Max));
    let half = one(Level::new(&[6, 6]).blend(&[3, 3], Mode::Quadratic));
    let rows = one(Level::new(&[8, 12]).blend(&[4, 0], Mode::Linear));
    let single = one(Level::new(&[24, 12]).blend(&[2, 3], Mode::Linear));
    let apart = one(Level::new(&[8, 12]));
    let gap = Case { gap: vec![2, 0], expand: Expand::Work, ..one(Level::new(&[4, 12])) };
    let upper = Level::new(&[12, 18]).crop(&[1, 2]).blend(&[2, 1], Mode::Linear);
    let lower = Level::new(&[6, 8]).blend(&[1, 2], Mode::Linear);
    let levels = Case::new(plane(), Op::Median(3), vec![lower, upper]);
    vec![both, boxed, cut, half, rows, single, apart, gap, levels]
}

#[tokio::test]
async fn blocks_lie_in_layers_of_one_array() {
    for case in cases() {
        let folder = tempfile::tempdir().unwrap();
        case.write(folder.path());
        let mut request = case.request(folder.path(), "left.zarr");
        request.chunks = rechunk::ChunkSpec::Keep;
        // Beyond the source there may be nothing but the fill value.
        request.write_empty = rechunk::WriteEmpty::Always;
        request.apply.as_mut().unwrap().defer = true;
        let job = rechunk::Job::prepare(request, &Stores::default()).await.unwrap();
        let report = run(job, Existing::Refuse).await.unwrap();
        let (origin, shape, expected) = case.left();
        let location = folder.path().join("left.zarr").display().to_string();
        let (options, stores) = (OpenOptions::default(), Stores::default());
        let array = open_array(&location, &options, &stores).await.unwrap();
        assert_eq!(array.spec().shape, shape, "{case:?}");
        let elements = array.read_region(Region::whole(&shape)).await.unwrap();
        case.check_equal(&case.kind().decoded(&elements), &expected);
        let document = std::fs::read(folder.path().join("left.zarr/zarr.json")).unwrap();
        let document: serde_json::Value = serde_json::from_slice(&document).unwrap();
        assert_eq!(document["fill_value"], 3, "the source's");
        let note = &document["attributes"]["rechunk_apply"]["blocks"];
        assert_eq!(note["origin"], serde_json::json!(origin), "{case:?}");

        let (planned, found) = (&report.estimate, report.traffic.unwrap());
        let apply = report.apply.unwrap();
        assert_eq!((apply.op_calls, apply.pull_tasks), (apply.planned_op_calls, 0));
        assert_eq!(found.source.get_requests, planned.source.get_requests, "{case:?}");
        assert_eq!(found.target.put_requests, planned.target.put_requests, "{case:?}");
        assert_eq!(found.target.get_missing, planned.target.get_requests, "{case:?}");
        let decoded = (found.target.decoded_written_bytes, planned.target.decoded_written_bytes);
        assert_eq!(decoded.0, decoded.1, "{case:?}");
        assert_eq!(found.intermediate.put_requests, 0);
    }
}

#[tokio::test]
async fn a_run_that_is_gone_on_with_leaves_the_same() {
    let case = &cases()[0];
    let folder = tempfile::tempdir().unwrap();
    case.write(folder.path());
    let mut request = case.request(folder.path(), "left.zarr");
    request.chunks = rechunk::ChunkSpec::Keep;
    request.apply.as_mut().unwrap().defer = true;
    let job = rechunk::Job::prepare(request.clone(), &Stores::default()).await.unwrap();
    run(job, Existing::Refuse).await.unwrap();
    let job = rechunk::Job::prepare(request, &Stores::default()).await.unwrap();
    let again = run(job, Existing::Resume).await.unwrap();
    assert_eq!(again.traffic.unwrap().target.put_requests, 0, "it is complete");
}

#[tokio::test]
async fn what_does_not_go_with_it_is_refused() {
    let case = &cases()[0];
    let folder = tempfile::tempdir().unwrap();
    case.write(folder.path());
    let mut request = case.request(folder.path(), "left.zarr");
    request.apply.as_mut().unwrap().defer = true;
    let refused = |request| async {
        match rechunk::Job::prepare(request, &Stores::default()).await {
            Err(
                Error::Usage { message, .. } | Error::Apply { code: "DIRS_MISSING", message, .. },
            ) => message,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(request.clone()).await.contains("neither chunks"));
    request.chunks = rechunk::ChunkSpec::Keep;
    request.shards = Some("1,8,12".parse().unwrap());
    assert!(refused(request.clone()).await.contains("nor shards"));
    request.shards = None;
    request.apply.as_mut().unwrap().update = true;
    assert!(refused(request.clone()).await.contains("update"));
    request.format = Some(Format::Zarr3);
    let apply = request.apply.as_mut().unwrap();
    (apply.update, apply.defer) = (false, false);
    apply.bottom.mode = Mode::Defer;
    assert!(refused(request).await.contains("no place"));
}
