//! Arrays that grow along an axis whose chunks differ in length. Any lengths in any steps equal
//! what is put together by hand, and what was planned is what was counted.

use proptest::prelude::*;
use rechunk::{Existing, Format, Strategy as Kind};
use rechunk_testkit::{SimEnd, SimStore};
use serde_json::{Value, json};

use crate::growth::array::{Expected, Plain};
use crate::growth::groups;
use crate::growth::oracle::{assert_as_planned, simulated};
use crate::growth::process::{
    append, clean, every, fresh, read, region, request, resume, run, says,
};

const TARGET: &str = "target.zarr";

#[derive(Debug, Clone)]
struct Case {
    axis: usize,
    /// Of each axis: extent, chunk of the target.
    axes: Vec<(u64, u64)>,
    /// Of each step: how much longer, chunks of its source, every how many chunks one is missing.
    /// Then the lengths of the chunks it goes into, again and again.
    steps: Vec<(u64, Vec<u64>, u64, Vec<u64>)>,
    /// Shards differ in length, and chunks are of one element along the axis.
    is_sharded: bool,
    kind: Kind,
}

fn cases() -> impl Strategy<Value = Case> {
    let kinds = prop_oneof![
        3 => Just(Kind::Auto),
        1 => Just(Kind::Pull),
        1 => Just(Kind::Keep),
        1 => Just(Kind::PushPull),
    ];
    (1_usize..4).prop_flat_map(move |rank| {
        let axes = prop::collection::vec((1_u64..9, 1_u64..6), rank);
        let lengths = prop::collection::vec(1_u64..7, 1..4);
        let chunks = prop::collection::vec(1_u64..7, rank);
        let step = (1_u64..12, chunks, 0_u64..4, lengths);
        let steps = prop::collection::vec(step, 2..5);
        (0..rank, axes, steps, any::<bool>(), kinds.clone()).prop_map(
            |(axis, axes, steps, is_sharded, kind)| Case { axis, axes, steps, is_sharded, kind },
        )
    })
}

/// A step's source.
fn part(case: &Case, number: usize, offset: u64) -> Plain {
    let (length, chunk, gaps, _) = &case.steps[number];
    let mut shape: Vec<u64> = case.axes.iter().map(|axis| axis.0).collect();
    shape[case.axis] = *length;
    let mut start = vec![0; shape.len()];
    start[case.axis] = offset;
    let gaps = if *gaps == 1 { 2 } else { *gaps };
    Plain { gaps, ..Plain::new(&shape, chunk).at(&start) }
}

/// Lengths of a step's chunks, for `rest` elements; the last may reach over the end.
fn lengths(case: &Case, number: usize, rest: u64) -> Vec<u64> {
    let (mut lengths, mut all) = (Vec::new(), 0);
    for length in case.steps[number].3.iter().cycle() {
        if all >= rest {
            return lengths;
        }
        lengths.push(*length);
        all += length;
    }
    lengths
}

/// `lengths` along the axis, and `other` says what there is along another.
fn words(case: &Case, lengths: &[u64], other: impl Fn(u64) -> String) -> String {
    let list = match lengths {
        [length] => format!("{length}x1"),
        lengths => lengths.iter().map(u64::to_string).collect::<Vec<_>>().join("+"),
    };
    let along = |(axis, (_, chunk)): (usize, &(u64, u64))| {
        if axis == case.axis { list.clone() } else { other(*chunk) }
    };
    case.axes.iter().enumerate().map(along).collect::<Vec<_>>().join(",")
}

/// Lengths that the document of the target says along the axis.
fn said(disk: &SimStore, axis: usize, shape: &[u64]) -> Vec<u64> {
    let document = disk.object(&format!("{TARGET}/zarr.json")).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["shape"], json!(shape));
    let grid = &document["chunk_grid"];
    if grid["name"] == "regular" {
        let length = grid["configuration"]["chunk_shape"][axis].as_u64().unwrap();
        return vec![length; usize::try_from(shape[axis].div_ceil(length)).unwrap()];
    }
    let runs = grid["configuration"]["chunk_shapes"][axis].as_array().unwrap();
    let mut lengths = Vec::new();
    for run in runs {
        let pair = |at: usize| run[at].as_u64().unwrap();
        match run.as_u64() {
            Some(length) => lengths.push(length),
            None => lengths.extend(vec![pair(0); usize::try_from(pair(1)).unwrap()]),
        }
    }
    lengths
}

async fn make(disk: &SimStore, case: &Case, list: &[u64]) {
    let mut make = request("first.zarr", TARGET);
    let chunks = words(case, list, |chunk| chunk.to_string());
    make.format = Some(Format::Zarr3);
    if case.is_sharded {
        let inner = words(case, &[1], |chunk| chunk.to_string()).replace("x1", "");
        make.chunks = inner.parse().unwrap();
        make.shards = Some(chunks.parse().unwrap());
    } else {
        make.chunks = chunks.parse().unwrap();
    }
    fresh(disk, make).await.unwrap();
}

async fn grows(case: &Case) {
    let disk = SimStore::new(1);
    let first = part(case, 0, 0);
    first.write(&disk, "first.zarr");
    let mut list = lengths(case, 0, first.shape[case.axis]);
    make(&disk, case, &list).await;
    let mut expected = Expected::of(&first);
    assert_eq!(said(&disk, case.axis, &expected.shape), list);
    for number in 1..case.steps.len() {
        let before = expected.shape[case.axis];
        let more = part(case, number, before);
        more.write(&disk, "more.zarr");
        let after = before + more.shape[case.axis];
        let new = lengths(case, number, after.saturating_sub(list.iter().sum()));
        let mut request = append("more.zarr", TARGET, &case.axis.to_string());
        request.planning.strategy = case.kind;
        if !new.is_empty() {
            let new = words(case, &new, |_| "keep".to_owned());
            if case.is_sharded {
                request.shards = Some(new.parse().unwrap());
            } else {
                request.chunks = new.parse().unwrap();
            }
        }
        // Not every kind does for every array; the planner has tests of its own.
        let report = match fresh(&disk, request.clone()).await {
            Err(rechunk::Error::Plan { .. }) => {
                request.planning.strategy = Kind::Auto;
                fresh(&disk, request).await
            }
            other => other,
        };
        let report = report.unwrap().array();
        assert_as_planned(&report);
        assert_eq!(report.verified, Some(true));
        list.extend(new);
        expected.append(&more, case.axis);
        assert_eq!(said(&disk, case.axis, &expected.shape), list);
        assert_eq!(read(&disk, TARGET).await, expected, "step {number}");
        disk.clear("more.zarr");
    }
    // Then a part of it is written again, from inside of a chunk to inside of another.
    let inner = |extent: &u64| if *extent > 2 { (1, extent - 2) } else { (0, *extent) };
    let (start, shape): (Vec<u64>, Vec<u64>) = expected.shape.iter().map(inner).unzip();
    let again = Plain { gaps: case.steps[0].2, ..Plain::new(&shape, &case.steps[0].1) }
        .at(&vec![500; shape.len()]);
    again.write(&disk, "more.zarr");
    let text: Vec<String> =
        start.iter().zip(&shape).map(|(start, n)| format!("{start}:{}", start + n)).collect();
    let report = fresh(&disk, region("more.zarr", TARGET, &text.join(","))).await;
    assert_as_planned(&report.unwrap().array());
    expected.put(&again, &start);
    assert_eq!(read(&disk, TARGET).await, expected, "region");
    assert_eq!(said(&disk, case.axis, &expected.shape), list, "region");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    #[test]
    fn any_lengths_equal_one_array(case in cases()) {
        simulated(grows(&case));
    }
}

/// A process that dies at any call, also between chunks and document.
#[tokio::test(start_paused = true)]
async fn a_process_may_die_at_many_calls_with_lengths() {
    let request = || {
        let mut request = append("more.zarr", TARGET, "0");
        request.chunks = "4+2,keep".parse().unwrap();
        request
    };
    for call in (1..).step_by(every(5)) {
        let mut ended = false;
        for cleans in [false, true] {
            let disk = SimStore::new(3);
            let first = Plain::new(&[7, 6], &[3, 6]);
            first.write(&disk, "first.zarr");
            let case = Case {
                axis: 0,
                axes: vec![(7, 0), (6, 4)],
                steps: Vec::new(),
                is_sharded: false,
                kind: Kind::Auto,
            };
            make(&disk, &case, &[3, 5]).await;
            let more = Plain::new(&[7, 6], &[2, 5]).at(&[7, 0]);
            more.write(&disk, "more.zarr");
            let before = Expected::of(&first);
            let mut after = before.clone();
            after.append(&more, 0);
            let client = disk.client();
            client.die_at(SimEnd::After(call));
            ended = tokio::select! {
                () = client.died() => false,
                ended = run(&client, request(), Existing::Refuse, false) => ended.is_ok(),
            };
            client.die();
            let seen = read(&disk, TARGET).await;
            let was_known = seen == after;
            assert!(was_known || seen == before, "at {call}");
            if cleans {
                clean(&disk, TARGET).await.unwrap();
                assert_eq!(read(&disk, TARGET).await, seen, "cleaned at {call}");
                let behind = |key: &&String| {
                    key.starts_with("target.zarr/c/2/") || key.starts_with("target.zarr/c/3/")
                };
                let keys = disk.keys();
                assert_eq!(keys.iter().filter(behind).count() > 0, was_known, "{call}: {keys:?}");
            }
            let resumed = if cleans { Ok(false) } else { resume(&disk, &request()).await };
            let resumed = resumed.unwrap_or_else(|error| {
                // Behind what is known there is no room for the lengths.
                assert!(was_known && says(&error).contains("not the lengths"), "{error}");
                true
            });
            if !resumed && !was_known {
                fresh(&disk, request()).await.unwrap();
            }
            assert_eq!(read(&disk, TARGET).await, after, "at {call}");
            assert_eq!(said(&disk, 0, &[14, 6]), [3, 5, 4, 2], "at {call}");
        }
        if ended {
            return;
        }
    }
}

/// Arrays of a group become such arrays together, also after a death at any call; the coordinate
/// keeps its one length.
#[tokio::test(start_paused = true)]
async fn a_group_may_die_at_many_calls_with_lengths() {
    let request = || {
        let mut request = append("more.zarr", "target.zarr", "time");
        request.chunks = "time=1+1".parse().unwrap();
        request
    };
    for call in (1..).step_by(every(13)) {
        let disk = groups::archive(Format::Zarr3).await;
        let client = disk.client();
        client.die_at(SimEnd::After(call));
        let ended = tokio::select! {
            () = client.died() => false,
            ended = run(&client, request(), Existing::Refuse, false) => ended.is_ok(),
        };
        client.die();
        let is_known = || {
            let document = disk.object("target.zarr/time/zarr.json").unwrap();
            let document: Value = serde_json::from_slice(&document).unwrap();
            assert_eq!(document["chunk_grid"]["name"], "regular");
            document["shape"] == json!([10])
        };
        let was_known = is_known();
        let resumed = resume(&disk, &request()).await.unwrap_or_else(|error| {
            assert!(was_known && says(&error).contains("not the lengths"), "{call}: {error}");
            true
        });
        if !resumed && !is_known() {
            fresh(&disk, request()).await.unwrap();
        }
        groups::assert_days(&disk, 10).await;
        let document = disk.object("target.zarr/zarr.json").unwrap();
        let document: Value = serde_json::from_slice(&document).unwrap();
        let member = &document["consolidated_metadata"]["metadata"]["sst"];
        let own = disk.object("target.zarr/sst/zarr.json").unwrap();
        let own: Value = serde_json::from_slice(&own).unwrap();
        for said in [member, &own] {
            let grid = &said["chunk_grid"];
            assert_eq!(grid["configuration"]["chunk_shapes"], json!([[[4, 2], [1, 2]], 4]));
        }
        if ended {
            return;
        }
    }
}
