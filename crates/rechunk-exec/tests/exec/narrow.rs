//! Chunks of which no more is read than a task needs.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use rechunk_array::Array;
use rechunk_exec::{ExecError, Fault};
use rechunk_plan::{Plan, Strategy as Kind};
use rechunk_store::{Meter, RoleTraffic, Store};

use crate::case::{Case, SideCase, cases, execute, runtime};
use crate::layout::{Codec, TestLayout};

/// A case whose source has chunks that can be read in parts.
fn in_parts() -> impl Strategy<Value = Case> {
    let kinds = prop_oneof![
        Just(Kind::Pull),
        Just(Kind::Pull),
        Just(Kind::Keep),
        Just(Kind::PushPull),
        Just(Kind::Multistage)
    ];
    cases(kinds).prop_map(|mut case| {
        case.source = SideCase { codec: Codec::Placed, shards: None, ..case.source };
        case.threads = 2;
        case
    })
}

/// Runs a case in directories, its source as `change` leaves it: what was read of it, and whether the
/// elements are those of a naive copy.
fn run(
    case: &Case,
    plan: &Plan,
    change: impl FnOnce(&mut TestLayout, Store, &Path) -> Store,
) -> Result<(RoleTraffic, bool), ExecError> {
    let folder = tempfile::tempdir().unwrap();
    runtime().block_on(async {
        let prepared = case.prepare_in(folder.path()).await;
        let meter = Meter::new();
        let mut execution = prepared.execution(case, plan, &meter);
        let mut layout = case.layout(&case.source);
        let store = change(&mut layout, execution.source.store().clone(), folder.path());
        execution.source = Array::new(Arc::new(layout), store);
        execute(execution, None).await?;
        let copied = case.read_all(&case.target, &prepared.target).await;
        Ok((meter.traffic().source, copied == prepared.elements))
    })
}

/// What was read to run a case, and what all chunks that were asked for have; the elements are those of
/// a naive copy.
fn read(case: &Case, refuses_parts: bool) -> Option<(RoleTraffic, u64)> {
    let plan = case.plan()?;
    let refuses = |layout: &mut TestLayout, store, _: &Path| {
        layout.refuses_parts = refuses_parts;
        store
    };
    let (traffic, is_copied) = run(case, &plan, refuses).unwrap();
    assert!(is_copied, "{plan:?}");
    let planned = plan.estimate.source.get_requests;
    let chunk_bytes = traffic.decoded_read_bytes / planned.max(1) + 8;
    if !refuses_parts {
        assert_eq!(traffic.get_requests + traffic.get_missing, planned);
    }
    let found = traffic.get_requests;
    Some((traffic, found * chunk_bytes))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]
    #[test]
    fn parts_make_the_same_copy(case in in_parts()) {
        if let Some((read, whole_bytes)) = read(&case, false) {
            prop_assert!(read.read_bytes <= whole_bytes);
        }
    }

    /// Such a chunk is read again, all of it.
    #[test]
    fn chunks_whose_parts_are_refused_make_the_same_copy(case in in_parts()) {
        read(&case, true);
    }
}

/// Eight tasks that take an eighth of each chunk.
fn eighths() -> Case {
    let side = |chunk: [u64; 2], codec| SideCase::plain(&chunk, codec);
    Case {
        shape: vec![64, 64],
        data_type: rechunk_grid::DataType::Float32,
        source: side([64, 1], Codec::Placed),
        target: side([8, 64], Codec::Raw),
        kind: Kind::Pull,
        threads: 1,
        spare_bytes: 0,
        write_empty: rechunk_grid::WriteEmpty::Always,
        missing: 0,
        seed: 5,
    }
}

#[test]
fn the_elements_of_a_source_are_read_once() {
    let case = Case { threads: 2, ..eighths() };
    let plan = case.plan().unwrap();
    assert_eq!(plan.task_count(), 8, "{plan:?}");
    let (parts, whole_bytes) = read(&case, false).unwrap();
    assert_eq!(parts.get_requests, 8 * 64);
    assert_eq!(parts.read_bytes, 8 * 64 * 8 + 64 * 64 * 4, "heads, and elements");
    assert_eq!(whole_bytes, 8 * 64 * (8 + 64 * 4));
    let (refused, _) = read(&case, true).unwrap();
    assert_eq!(refused.get_requests, 2 * 8 * 64, "each part, and all of its chunk");
    assert_eq!(refused.decoded_read_bytes, parts.decoded_read_bytes);
}

/// While a disk is waited for, other threads read; a part that is refused is read again by one of them.
#[test]
fn parts_are_read_while_reading_is_slow() {
    let case = Case { threads: 2, ..eighths() };
    let plan = case.plan().unwrap();
    for refuses_parts in [false, true] {
        for reads in [0, 5, 100] {
            let slow = |layout: &mut TestLayout, store: Store, _: &Path| {
                layout.refuses_parts = refuses_parts;
                store.with_slow_reads(reads)
            };
            let (traffic, is_copied) = run(&case, &plan, slow).unwrap();
            assert!(is_copied, "{reads}, {refuses_parts}");
            let expected = if refuses_parts { 2 * 8 * 64 } else { 8 * 64 };
            assert_eq!(traffic.get_requests, expected, "{reads}");
        }
    }
}

/// What is gone when all of it is asked for is no missing chunk.
#[test]
fn a_chunk_that_vanishes_is_an_error() {
    let case = eighths();
    let plan = case.plan().unwrap();
    let vanishes = |layout: &mut TestLayout, store, folder: &Path| {
        (layout.refuses_parts, layout.vanishes_in) = (true, Some(folder.join("source")));
        store
    };
    let failed = run(&case, &plan, vanishes).unwrap_err();
    let fault = match &failed {
        ExecError::Task { fault, .. } => fault,
        other => panic!("{other}"),
    };
    assert!(matches!(fault, Fault::Source(_)), "{failed}");
    assert!(failed.to_string().contains("c/0.0 is missing"), "{failed}");
}
