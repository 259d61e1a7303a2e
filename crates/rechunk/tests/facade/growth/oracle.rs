//! Any array in any steps, of any format, equals what is put together by hand; and what was planned
//! is what was counted.

use proptest::prelude::*;
use rechunk::planner::RoleEstimate;
use rechunk::{CopyRequest, Format, Report, RoleTraffic, Strategy as Kind};
use rechunk_testkit::SimStore;
use serde_json::json;

use crate::growth::array::{Expected, Plain};
use crate::growth::process::{append, fresh, read, region, request};

/// How the target is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stored {
    V2,
    V3,
    Sharded,
    N5,
}

impl Stored {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::N5 => "target.n5/array",
            _ => "target.zarr",
        }
    }

    /// What makes the target of its first part.
    pub(crate) fn make(self, chunk: &[u64]) -> CopyRequest {
        let text = |shape: Vec<u64>| shape.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let (format, codec) = match self {
            Self::V2 => (Format::Zarr2, "none"),
            Self::V3 => (Format::Zarr3, "zstd:1"),
            Self::Sharded => (Format::Zarr3, "none"),
            Self::N5 => (Format::N5, "gzip:1"),
        };
        let shard = chunk.iter().enumerate().map(|(axis, n)| n * (2 - axis as u64 % 2)).collect();
        let mut request = request("first.zarr", self.path());
        request.chunks = text(chunk.to_vec()).parse().unwrap();
        request.shards = matches!(self, Self::Sharded).then(|| text(shard).parse().unwrap());
        request.format = Some(format);
        request.codec = Some(codec.parse().unwrap());
        request
    }
}

/// What was planned for a role is what was counted.
fn assert_role(role: &str, planned: &RoleEstimate, counted: &RoleTraffic) {
    let gets = counted.get_requests + counted.get_missing;
    assert_eq!(gets, planned.get_requests, "GET of {role}: {planned:?} {counted:?}");
    let puts = counted.put_requests + counted.put_skipped;
    assert_eq!(
        puts,
        planned.put_requests + planned.copy_requests,
        "PUT of {role}: {planned:?} {counted:?}"
    );
    if planned.copy_requests == 0 {
        assert_eq!(counted.decoded_read_bytes, planned.decoded_read_bytes, "{role}");
        assert_eq!(counted.decoded_written_bytes, planned.decoded_written_bytes, "{role}");
    }
}

pub(crate) fn assert_as_planned(report: &Report) {
    let (planned, counted) = (&report.estimate, report.traffic.as_ref().unwrap());
    if planned.target.copy_requests > 0 {
        return; // nothing was asked for here
    }
    assert_role("source", &planned.source, &counted.source);
    assert_role("intermediate", &planned.intermediate, &counted.intermediate);
    assert_role("target", &planned.target, &counted.target);
}

#[derive(Debug, Clone)]
struct Case {
    stored: Stored,
    axis: usize,
    /// Of each axis: extent, chunk of the target.
    axes: Vec<(u64, u64)>,
    /// Of each step: how much longer, chunks of its source, every how many chunks one is missing,
    /// its fill value.
    steps: Vec<(u64, Vec<u64>, u64, u64)>,
    kind: Kind,
}

fn cases() -> impl Strategy<Value = Case> {
    let stored =
        prop_oneof![Just(Stored::V2), Just(Stored::V3), Just(Stored::Sharded), Just(Stored::N5)];
    let kinds = prop_oneof![
        3 => Just(Kind::Auto),
        1 => Just(Kind::Pull),
        1 => Just(Kind::Keep),
        1 => Just(Kind::PushPull),
    ];
    (1_usize..4).prop_flat_map(move |rank| {
        let axes = prop::collection::vec((1_u64..9, 1_u64..6), rank);
        let step = (1_u64..9, prop::collection::vec(1_u64..7, rank), 0_u64..4, 0_u64..2);
        let steps = prop::collection::vec(step, 2..4);
        (stored.clone(), 0..rank, axes, steps, kinds.clone())
            .prop_map(|(stored, axis, axes, steps, kind)| Case { stored, axis, axes, steps, kind })
    })
}

/// A step's source.
fn part(case: &Case, number: usize, offset: u64) -> Plain {
    let (length, chunk, gaps, fill) = &case.steps[number];
    let mut shape: Vec<u64> = case.axes.iter().map(|axis| axis.0).collect();
    shape[case.axis] = *length;
    let mut start = vec![0; shape.len()];
    start[case.axis] = offset;
    let gaps = if *gaps == 1 { 2 } else { *gaps };
    let fill = if matches!(case.stored, Stored::N5) { 0 } else { *fill };
    Plain { gaps, fill: json!(fill), ..Plain::new(&shape, chunk).at(&start) }
}

async fn grows(case: &Case) {
    let disk = SimStore::new(1);
    let first = part(case, 0, 0);
    first.write(&disk, "first.zarr");
    let chunk: Vec<u64> = case.axes.iter().map(|axis| axis.1).collect();
    fresh(&disk, case.stored.make(&chunk)).await.unwrap();
    let mut expected = Expected::of(&first);
    for number in 1..case.steps.len() {
        let more = part(case, number, expected.shape[case.axis]);
        more.write(&disk, "more.zarr");
        let mut request = append("more.zarr", case.stored.path(), &case.axis.to_string());
        request.planning.strategy = case.kind;
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
        expected.append(&more, case.axis);
        assert_eq!(read(&disk, case.stored.path()).await, expected, "step {number}");
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
    let report = fresh(&disk, region("more.zarr", case.stored.path(), &text.join(","))).await;
    assert_as_planned(&report.unwrap().array());
    expected.put(&again, &start);
    assert_eq!(read(&disk, case.stored.path()).await, expected, "region");
}

pub(crate) fn simulated(future: impl Future<Output = ()>) {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(future);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_steps_equal_one_array(case in cases()) {
        simulated(grows(&case));
    }
}

/// Steps that end on the borders of chunks pass encoded chunks through, and read nothing of the
/// target.
#[tokio::test(start_paused = true)]
async fn what_is_aligned_passes() {
    let disk = SimStore::new(1);
    let first = Plain::new(&[6, 5], &[3, 2]);
    first.write(&disk, "first.zarr");
    let mut make = request("first.zarr", "target.zarr");
    make.format = Some(Format::Zarr2);
    fresh(&disk, make).await.unwrap();
    let mut expected = Expected::of(&first);
    for gaps in [0, 2] {
        let start = [expected.shape[0], 0];
        let more = Plain { gaps, ..Plain::new(&[9, 5], &[3, 2]).at(&start) };
        more.write(&disk, "more.zarr");
        // What an earlier run has left there must not be seen.
        disk.put("target.zarr/6.1", vec![0xff; 12].into());
        let report = fresh(&disk, append("more.zarr", "target.zarr", "0")).await.unwrap().array();
        assert_eq!(report.plan.kind, "passthrough");
        assert_eq!(report.traffic.as_ref().unwrap().target.get_requests, 0);
        expected.append(&more, 0);
        assert_eq!(read(&disk, "target.zarr").await, expected);
        disk.clear("more.zarr");
    }
}

/// However wide the gap is: memory is bounded by the chunks of the source.
#[tokio::test(start_paused = true)]
async fn a_wide_gap_takes_no_memory() {
    let disk = SimStore::new(1);
    Plain::new(&[999, 60], &[999, 60]).write(&disk, "first.zarr");
    let mut make = request("first.zarr", "target.zarr");
    make.chunks = "1000,1".parse().unwrap();
    fresh(&disk, make).await.unwrap();
    Plain::new(&[1, 60], &[1, 60]).at(&[999, 0]).write(&disk, "more.zarr");
    let request = append("more.zarr", "target.zarr", "0");
    let report = fresh(&disk, request).await.unwrap().array();
    assert_as_planned(&report);
    let stage = &report.plan.stages[0];
    // A lane with a chunk of 2 kB, decoded and encoded, for each of the target's 60.
    assert!(stage.memory_bytes < 1 << 20, "{} bytes", stage.memory_bytes);
    assert_eq!(read(&disk, "target.zarr").await, Expected::of(&Plain::new(&[1000, 60], &[1, 1])));
}
