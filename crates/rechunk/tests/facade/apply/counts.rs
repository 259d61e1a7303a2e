//! Counts of a plan, held against what its run takes.

use rechunk::{Boundary, CopyRequest, Existing, Expand, Format, Job, Mode, Report, Stores};

use super::case::{Case, Level, run};
use super::reference::Op;
use super::volume::{Kind, Volume};

/// Compressed: a chunk is read whole.
fn plane() -> Volume {
    Volume { is_compressed: true, ..Volume::new(Kind::U16, &[24, 36], &[7, 9]) }
}

fn levels() -> [Vec<Level>; 4] {
    let upper = Level::new(&[12, 18]).crop(&[1, 2]).blend(&[2, 1], Mode::Linear);
    [
        vec![Level::new(&[8, 12]).auto_crop()],
        vec![Level::new(&[10, 13]).auto_crop()],
        vec![Level::new(&[8, 12]).crop(&[1, 1]).blend(&[2, 3], Mode::Linear)],
        vec![Level::new(&[6, 8]).blend(&[1, 2], Mode::Linear), upper],
    ]
}

/// Compares a report with its estimate.
fn assert_as_planned(report: &Report, case: &Case) {
    let (planned, found) = (&report.estimate, report.traffic.unwrap());
    let apply = report.apply.as_ref().unwrap();
    assert_eq!(apply.op_calls, case.calls(), "{case:?}");
    let get = (planned.source.get_requests, planned.source.decoded_read_bytes);
    let gets = found.source.get_requests + found.source.get_missing;
    let got = (gets, found.source.decoded_read_bytes);
    assert_eq!(got, get, "source of {case:?}");
    let role = &found.intermediate;
    let expected = &planned.intermediate;
    assert_eq!((role.put_requests, role.objects), (expected.put_requests, expected.objects));
    assert_eq!(
        (role.written_bytes, role.decoded_written_bytes),
        (expected.written_bytes, expected.decoded_written_bytes),
        "blocks of {case:?}"
    );
    assert_eq!(
        (role.get_requests, role.read_bytes, role.decoded_read_bytes),
        (expected.get_requests, expected.read_bytes, expected.decoded_read_bytes),
        "pieces of {case:?}"
    );
    let is_pull = apply.pull_tasks > 0;
    assert_eq!(role.objects, if is_pull { apply.tasks } else { 0 }, "one object for each task");
    let (role, expected) = (&found.target, &planned.target);
    let puts = role.put_requests + role.put_skipped;
    assert_eq!(puts, expected.put_requests, "target of {case:?}");
    let gets = role.get_requests + role.get_missing;
    assert_eq!(gets, expected.get_requests, "target of {case:?}");
    assert_eq!(
        (role.decoded_read_bytes, role.decoded_written_bytes),
        (expected.decoded_read_bytes, expected.decoded_written_bytes),
        "target of {case:?}"
    );
    let tasks = report.tasks.unwrap();
    assert_eq!((tasks.done, tasks.total), (apply.tasks + apply.pull_tasks, tasks.done));
}

#[tokio::test]
async fn a_run_takes_what_its_plan_says() {
    for levels in levels() {
        for shards in [None, Some([16, 12])] {
            for region in [None, Some(vec![(2, 14), (3, 21)])] {
                let case = Case::new(plane(), Op::Median(3), levels.clone());
                let mut case = case.to(Format::Zarr3, &[8, 6]);
                if let Some(shards) = shards {
                    case = case.sharded(&shards);
                }
                let case = Case { region, ..case };
                assert_as_planned(&case.check().await, &case);
            }
        }
    }
}

#[tokio::test]
async fn a_run_of_sharded_sources_takes_what_its_plan_says() {
    let folder = tempfile::tempdir().unwrap();
    plane().write(&folder.path().join("plain.zarr"));
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut copy = CopyRequest::new(&at("plain.zarr"), &at("source0.zarr"));
    (copy.chunks, copy.shards) = ("7,9".parse().unwrap(), Some("14,36".parse().unwrap()));
    copy.format = Some(Format::Zarr3);
    copy.codec = Some("zstd:1".parse().unwrap());
    run(Job::prepare(copy, &Stores::default()).await.unwrap(), Existing::Refuse).await.unwrap();
    for (number, levels) in levels().into_iter().enumerate() {
        let case = Case::new(plane(), Op::Median(3), levels).to(Format::Zarr3, &[8, 6]);
        let name = format!("target{number}");
        let report = case.run(folder.path(), &name).await;
        case.check_target(folder.path(), &name).await;
        assert_as_planned(&report, &case);
    }
}

#[tokio::test]
async fn missing_chunks_borders_and_gaps_are_counted() {
    let source = Volume { gaps: 4, fill: 3.0, ..plane() };
    let boxes = [
        ([8, 12], [0, 0], Expand::None),
        ([10, 13], [0, 0], Expand::None),
        ([17, 30], [0, 0], Expand::Work),
        ([6, 8], [2, 4], Expand::None),
        ([8, 6], [8, 12], Expand::None),
        ([4, 3], [6, 4], Expand::Work),
    ];
    let mut ways = std::collections::BTreeSet::new();
    for boundary in Boundary::ALL {
        for (work, gap, expand) in boxes {
            for shards in [None, Some([16, 12])] {
                let level = Level::new(&work).crop(&[2, 3]);
                let case = Case::new(source.clone(), Op::Median(3), vec![level]);
                let mut case = case.to(Format::Zarr3, &[8, 6]);
                if let Some(shards) = shards {
                    case = case.sharded(&shards);
                }
                let case = Case { boundary, gap: gap.to_vec(), expand, ..case };
                let report = case.check().await;
                assert_as_planned(&report, &case);
                let apply = report.apply.unwrap();
                ways.insert((apply.pull_tasks > 0, gap != [0, 0]));
            }
        }
    }
    assert_eq!(ways.len(), 4, "{ways:?}");
}

#[tokio::test]
async fn two_sources_are_both_counted() {
    let mut mask = Volume::new(Kind::U8, &[24, 36], &[5, 12]);
    (mask.seed, mask.is_compressed) = (9, true);
    let mut case = Case::new(plane(), Op::Mask, vec![Level::new(&[10, 13])]);
    case.sources.push(mask);
    assert_as_planned(&case.check().await, &case);
}

/// Source chunks that are read, over those that the box meets.
#[tokio::test]
async fn what_is_read_more_than_once_is_told() {
    let line = Volume { is_compressed: true, ..Volume::new(Kind::U16, &[96], &[32]) };
    let case = Case::new(line, Op::Median(3), vec![Level::new(&[32]).auto_crop()]);
    let report = case.check().await;
    let apply = report.apply.unwrap();
    // Its own chunk, and those beside it.
    assert!((apply.read_amplification - 7.0 / 3.0).abs() < 1e-12, "{apply:?}");
    assert!((apply.work_amplification - 34.0 / 32.0).abs() < 1e-12, "{apply:?}");
    let level = &apply.levels[0];
    assert_eq!((level.task_boxes, &level.chunk[..], &level.crop[..]), (3, &[32][..], &[1][..]));
    let counted = report.traffic.unwrap().source.get_requests;
    assert_eq!(counted, 7);
}
