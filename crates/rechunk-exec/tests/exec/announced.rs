//! Inputs that are read next are looked for in memory: where they are there, nothing more is
//! announced.

use std::time::Duration;

use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::Strategy as Kind;
use rechunk_store::{Meter, Store};

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::Codec;
use crate::runs::stream;

/// Announcing may go on when all has been read.
fn comes_to_believe_in_memory(store: &Store) -> bool {
    (0..500).any(|_| {
        let believes = !store.reads_from_disk();
        if !believes {
            std::thread::sleep(Duration::from_millis(10));
        }
        believes
    })
}

/// Through an intermediate: chunks are announced, and pieces.
#[test]
fn chunks_and_pieces_in_memory_are_found_there() {
    let side = |chunk: [u64; 2]| SideCase::plain(&chunk, Codec::Raw);
    let case = Case {
        shape: vec![64, 64],
        data_type: DataType::Float32,
        source: side([1, 64]),
        target: side([64, 1]),
        kind: Kind::PushPull,
        threads: 2,
        spare_bytes: 6000,
        write_empty: WriteEmpty::Always,
        missing: 0,
        seed: 11,
    };
    let plan = case.plan().unwrap();
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let prepared = case.prepare_in(folder.path()).await;
        let meter = Meter::new();
        let execution = prepared.execution(&case, &plan, &meter);
        let stores = [execution.source.store().clone(), execution.intermediate.clone().unwrap()];
        assert!(stores.iter().all(Store::reads_from_disk), "nobody knows");
        execute(execution, None).await.unwrap();
        for store in stores {
            assert!(comes_to_believe_in_memory(&store), "{plan:?}");
        }
        assert!(case.read_all(&case.target, &prepared.target).await == prepared.elements);
        let (counted, planned) = (meter.traffic().source, &plan.estimate.source);
        assert_eq!(counted.get_requests, planned.get_requests, "announcing is no request");
    });
}

#[test]
fn raw_files_in_memory_are_found_there() {
    let case = stream();
    let plan = case.plan();
    let prepared = case.prepare();
    let meter = Meter::new();
    let store = prepared.source.store().clone();
    assert!(store.reads_from_disk(), "nobody knows");
    runtime().block_on(async {
        execute(prepared.execution(&plan, &meter), None).await.unwrap();
        assert!(comes_to_believe_in_memory(&store));
    });
}
