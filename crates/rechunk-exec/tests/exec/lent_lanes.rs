//! Lanes that wait for their writes, and what is taken in meanwhile.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use object_store::ObjectStore;
use object_store::limit::LimitStore;
use rechunk_array::Array;
use rechunk_exec::Sink;
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::Strategy as Kind;
use rechunk_store::Meter;

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::Codec;

/// Chunks of 40 x 40 become those of 70 x 70, in units too large to be sent out by who completes
/// them.
fn case() -> Case {
    let side = |chunk: u64| SideCase::plain(&[chunk, chunk], Codec::Runs);
    Case {
        shape: vec![240, 240],
        data_type: DataType::Structured { bytes: 24 },
        source: side(40),
        target: side(70),
        kind: Kind::Keep,
        threads: 1,
        spare_bytes: 0,
        write_empty: WriteEmpty::Auto,
        missing: 0,
        seed: 3,
    }
}

/// The only lane waits for its write, and lends: the next input is taken in.
#[test]
fn inputs_are_taken_in_while_the_only_lane_waits_for_its_write() {
    let case = case();
    let plan = case.plan().unwrap();
    let [stage] = &plan.stages[..] else { panic!("{plan:?}") };
    assert!(stage.lanes == 1 && stage.tasks_at_once == 1, "{stage:?}");
    assert_eq!(stage.step_chunks, [2, 2]);
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let prepared = case.prepare_in(folder.path()).await;
        let meter = Meter::new();
        let mut execution = prepared.execution(&case, &plan, &meter);
        let mut limited = None;
        let target = execution.sink.array().clone();
        prepared.target.store().put("somebody", vec![]).await.unwrap();
        let store = target.store().clone().wrapped_in_place(|inner| {
            let store = Arc::new(LimitStore::new(inner, 1));
            limited = Some(Arc::clone(&store));
            store
        });
        execution.sink = Sink::Write(Array::new(Arc::clone(target.layout()), store));

        // Who lists has the only permit until it is done, so nobody writes.
        let mut listing = limited.unwrap().list(None);
        listing.next().await.unwrap().unwrap();
        let run = tokio::spawn(execute(execution, None));
        // The first step, of two chunks each way, completes the first unit.
        let before = 2 * 2;
        let read = || meter.traffic().source.get_requests;
        for _ in 0..4000 {
            if read() > before {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert!(read() > before, "{} inputs were read, then the lane waited", read());
        assert_eq!(meter.traffic().target.written_bytes, 0);
        drop(listing);

        run.await.unwrap().unwrap();
        assert!(case.read_all(&case.target, &prepared.target).await == prepared.elements);
        let (found, planned) = (meter.traffic(), &plan.estimate);
        assert_eq!(found.source.get_requests, planned.source.get_requests);
        assert_eq!(found.target.put_requests, planned.target.put_requests);
    });
}
