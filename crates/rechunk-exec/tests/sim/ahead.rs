//! Reading ahead of steps saves time, and so do steps that overlap; neither takes more requests at
//! once.

use std::sync::Arc;
use std::time::Duration;

use rechunk_exec::{Journal, JournalHeader, NullObserver, run};
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::Strategy;
use rechunk_testkit::{SimFaults, SimStore};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::case::{Case, SideCase};
use crate::check;
use crate::expected::{Expected, execution, place};
use crate::layout::Codec;
use crate::scenario::Scenario;

/// Time of a run to which its plan leaves so much memory.
async fn elapsed(scenario: &Scenario, spare_bytes: u64) -> Duration {
    let disk = SimStore::new(1);
    let expected = Expected::new(scenario, &disk).await;
    let client = disk.client();
    let at = |prefix| place(&client, prefix);
    let header = JournalHeader::new(&scenario.plan.fingerprint, serde_json::json!({}));
    let journal = Journal::create(&at("work"), header, "first").await.unwrap();
    disk.set_faults(SimFaults::NONE, Duration::from_millis(100));
    let mut execution = execution(scenario, &at);
    let memory = &mut execution.plan.memory;
    memory.budget_bytes = memory.planned_peak_bytes + spare_bytes;
    let started = Instant::now();
    let token = CancellationToken::new();
    run(Arc::new(execution), Some(journal), Arc::new(NullObserver), token).await.unwrap();
    let elapsed = started.elapsed();
    check::state(scenario, &expected, &disk).await.unwrap();
    let most = scenario.plan.stages.iter().map(|s| s.tasks_at_once * s.lanes).max().unwrap();
    let in_flight = client.take_in_flight_max();
    // And the journal's writer.
    assert!(in_flight <= u64::from(most + 1), "{in_flight} calls at once, {most} lanes");
    elapsed
}

/// Units that a step of [`stepped`] meets.
const UNITS: u64 = 5;

/// A copy in 40 steps of 25 chunks, with so many lanes, and memory for so many units beside them.
fn stepped(lanes: u32, units: u64) -> Scenario {
    let side = |chunk: &[u64]| SideCase::plain(chunk, Codec::Raw);
    let case = Case {
        shape: vec![80, 50],
        data_type: DataType::Uint8,
        source: side(&[2, 2]),
        target: side(&[4, 10]),
        kind: Strategy::Keep,
        threads: 1,
        spare_bytes: 1 << 20,
        write_empty: WriteEmpty::Always,
        missing: 0,
        seed: 5,
    };
    let mut plan = case.plan().unwrap();
    let stage = &mut plan.stages[0];
    assert!(stage.is_stepped, "{stage:?}");
    (stage.step_chunks, stage.lanes, stage.resident_bytes) = (vec![1, 25], lanes, units * 40);
    stage.task_bytes = stage.resident_bytes + u64::from(lanes) * stage.lane_bytes;
    plan.memory.planned_peak_bytes =
        plan.memory.fixed_bytes + stage.task_bytes * u64::from(stage.tasks_at_once);
    plan.threads = 0;
    Scenario { case, plan, ..Scenario::new(1) }
}

#[tokio::test(start_paused = true)]
async fn reading_ahead_saves_time_and_takes_no_more_requests_at_once() {
    for lanes in [8, 16] {
        let scenario = stepped(lanes, UNITS);
        let without = elapsed(&scenario, 0).await;
        let with = elapsed(&scenario, 1 << 20).await;
        println!("{lanes} lanes: {without:?}, {with:?} with memory to read ahead");
        assert!(with.mul_f64(1.05) < without, "{lanes} lanes: {without:?}, {with:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn steps_overlap_where_there_is_room_for_the_units_of_both() {
    for lanes in [8, 16] {
        let apart = elapsed(&stepped(lanes, UNITS), 0).await;
        let overlapping = elapsed(&stepped(lanes, 2 * UNITS), 0).await;
        println!("{lanes} lanes: {apart:?}, {overlapping:?} with room for the units of two steps");
        assert!(overlapping.mul_f64(1.05) < apart, "{lanes} lanes: {apart:?}, {overlapping:?}");
    }
}
