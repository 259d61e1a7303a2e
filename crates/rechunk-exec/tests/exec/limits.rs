//! Never more in flight than the plan says.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rechunk_array::Array;
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::Strategy as Kind;
use rechunk_store::Meter;

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::{Codec, Gauge};

/// The most inputs that were in flight at once in a run with these lanes and tasks.
fn most_in_flight(kind: Kind, lanes: u32, tasks_at_once: u32) -> i64 {
    most_at_once(kind, lanes, tasks_at_once, 0)
}

/// The most inputs in flight at once where each thread has `worker_bytes` to decode in; 0: its lane
/// has.
fn most_at_once(kind: Kind, lanes: u32, tasks_at_once: u32, worker_bytes: u64) -> i64 {
    let side = |chunk: &[u64]| SideCase::plain(chunk, Codec::Runs);
    let case = Case {
        shape: vec![24, 24],
        data_type: DataType::Uint8,
        source: side(&[2, 12]),
        target: side(&[12, 2]),
        kind,
        threads: 4,
        spare_bytes: 1 << 20,
        write_empty: WriteEmpty::Always,
        missing: 0,
        seed: 5,
    };
    let mut plan = case.plan().unwrap();
    let mut peak_bytes = 0;
    for stage in &mut plan.stages {
        (stage.lanes, stage.tasks_at_once) = (lanes, tasks_at_once);
        stage.worker_bytes = worker_bytes;
        stage.task_bytes = stage.resident_bytes + u64::from(lanes) * stage.lane_bytes;
        peak_bytes = peak_bytes.max(stage.peak_bytes(plan.threads));
    }
    plan.memory.planned_peak_bytes = plan.memory.fixed_bytes + peak_bytes;
    runtime().block_on(async {
        let mut prepared = case.prepare().await;
        let gauge = Arc::new(Gauge::default());
        let mut layout = case.layout(&case.source);
        (layout.gauge, layout.delay) = (Some(Arc::clone(&gauge)), Duration::from_millis(1));
        prepared.source = Array::new(Arc::new(layout), prepared.source.store().clone());
        execute(prepared.execution(&case, &plan, &Meter::new()), None).await.unwrap();
        assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
        gauge.most.load(Ordering::SeqCst)
    })
}

#[test]
fn a_lane_takes_one_chunk_at_a_time() {
    for kind in [Kind::Pull, Kind::Keep, Kind::PushPull, Kind::Memory] {
        for lanes in [1, 2, 5] {
            let most = most_in_flight(kind, lanes, 1);
            assert!(most <= i64::from(lanes), "{kind}: {most} of {lanes}");
        }
        assert_eq!(most_in_flight(kind, 1, 1), 1);
    }
    // All lanes are used where there are chunks for them: one tile of all 24 chunks.
    assert_eq!(most_in_flight(Kind::Memory, 5, 1), 5);
}

#[test]
fn lanes_decode_in_the_rooms_of_threads() {
    for kind in [Kind::Pull, Kind::Keep, Kind::PushPull, Kind::Memory] {
        // One byte is less than any chunk takes: its room is given up after each.
        for worker_bytes in [1, 1 << 20] {
            let most = most_at_once(kind, 9, 2, worker_bytes);
            assert!((1..=18).contains(&most), "{kind}: {most} of 9 x 2");
        }
    }
}

#[test]
fn tasks_times_lanes_is_the_most() {
    for (lanes, tasks) in [(1, 2), (2, 2), (3, 4)] {
        let most = most_in_flight(Kind::Pull, lanes, tasks);
        assert!(most <= i64::from(lanes * tasks), "{most} of {lanes} x {tasks}");
    }
}
