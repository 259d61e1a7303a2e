//! A disk that turns out to be fast while a task runs, or slow.

use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::Strategy as Kind;
use rechunk_store::Meter;

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::Codec;

/// Chunks of one target shard go together, whichever way they are read.
#[test]
fn chunks_pass_into_their_shards_while_reading_becomes_fast() {
    let side = |shards: Option<(Vec<u64>, bool)>| SideCase {
        shards,
        fill: Some(0),
        ..SideCase::plain(&[4, 4], Codec::Runs)
    };
    let case = Case {
        shape: vec![64, 64],
        data_type: DataType::Float32,
        source: side(None),
        target: side(Some((vec![4, 4], false))),
        kind: Kind::Passthrough,
        threads: 2,
        spare_bytes: 1 << 20,
        write_empty: WriteEmpty::Auto,
        missing: 0,
        seed: 3,
    };
    let plan = case.plan().unwrap();
    for reads in [0, 1, 3, 8, 15] {
        let folder = tempfile::tempdir().unwrap();
        let (meter, copied) = runtime().block_on(async {
            let prepared = case.prepare_in(folder.path()).await;
            let meter = Meter::new();
            let mut execution = prepared.execution(&case, &plan, &meter);
            let slow = execution.source.store().with_slow_reads(reads);
            execution.source =
                rechunk_array::Array::new(std::sync::Arc::clone(execution.source.layout()), slow);
            execute(execution, None).await.unwrap();
            let copied = case.read_all(&case.target, &prepared.target).await;
            (meter, copied == prepared.elements)
        });
        assert!(copied, "slow for {reads} reads");
        let (source, target) = (meter.traffic().source, meter.traffic().target);
        assert_eq!(source.get_requests, plan.estimate.source.get_requests, "{reads}");
        assert_eq!(target.put_requests, plan.estimate.target.put_requests, "{reads}");
    }
}
