//! Chunks of which no more is read than a task needs.

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use rechunk_array::Array;
use rechunk_exec::{ExecError, Fault};
use rechunk_plan::{Parts, PartsSide, Plan, Strategy as Kind, part_bytes_max};
use rechunk_store::{Meter, RoleTraffic, Store};

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::{Codec, TestLayout};
use crate::strategies::{all_cases, cases};

fn kinds() -> impl Strategy<Value = Kind> + Clone {
    let kinds = [Kind::Pull, Kind::Pull, Kind::Keep, Kind::PushPull, Kind::Multistage];
    prop::sample::select(kinds.to_vec())
}

/// A case whose source has chunks that can be read in parts.
fn in_parts() -> impl Strategy<Value = Case> {
    cases(kinds()).prop_map(|mut case| {
        case.source = SideCase { codec: Codec::Placed, shards: None, ..case.source };
        case.threads = 2;
        case
    })
}

/// A case whose source has chunks that are stored as they are.
fn plain() -> impl Strategy<Value = Case> {
    let codec = prop::sample::select(vec![Codec::Raw, Codec::Clipped]);
    (all_cases(kinds()), codec).prop_map(|(mut case, codec)| {
        case.source = SideCase { codec, shards: None, ..case.source };
        case
    })
}

/// The plan of such a case, in files.
fn plan_of_files(case: &Case) -> Option<Plan> {
    let mut request = case.request();
    let order = case.source.order.axes.clone();
    request.source.parts = Some(PartsSide { order, parts: Parts::Elements });
    case.plan_of(request)
}

/// Runs a case in directories, its source as `change` leaves it. Returns the traffic of the source,
/// and whether the elements are those of a naive copy.
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

/// Returns the traffic of the source in a run of a case, and the bytes of all requested chunks. The
/// elements are those of a naive copy.
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

    #[test]
    fn parts_without_a_codec_make_the_same_copy(case in plain()) {
        let Some(plan) = plan_of_files(&case) else { return Ok(()) };
        let (traffic, is_copied) = run(&case, &plan, |_, store, _| store).unwrap();
        prop_assert!(is_copied, "{plan:?}");
        let planned = &plan.estimate.source;
        prop_assert_eq!(traffic.get_requests + traffic.get_missing, planned.get_requests);
        prop_assert_eq!(traffic.decoded_read_bytes, planned.decoded_read_bytes);
        prop_assert!(traffic.read_bytes <= traffic.decoded_read_bytes);
        if traffic.get_missing == 0 && case.source.edges.is_none() && case.source.codec == Codec::Raw {
            prop_assert_eq!(traffic.read_bytes, planned.read_bytes);
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

/// Chunks that are stored as they are have no heads, and only their parts are held.
#[test]
fn the_elements_of_a_source_without_a_codec_are_read_once() {
    let mut case = eighths();
    case.source.codec = Codec::Raw;
    let plan = plan_of_files(&case).unwrap();
    assert_eq!(plan.task_count(), 8, "{plan:?}");
    let stage = &plan.stages[0];
    let part_bytes = part_bytes_max(&case.source.chunk, &[0, 1], &stage.tile, 4);
    assert_eq!((part_bytes, case.plan().unwrap().stages[0].lane_bytes), (8 * 4, 64 * 4));
    assert_eq!(stage.lane_bytes, part_bytes);
    let (traffic, is_copied) = run(&case, &plan, |_, store, _| store).unwrap();
    assert!(is_copied);
    assert_eq!((traffic.get_requests, traffic.read_bytes), (8 * 64, 64 * 64 * 4));
    assert_eq!(plan.estimate.source.read_bytes, traffic.read_bytes);
}

/// There an ETag may say whether all of it came; in files less is read.
#[test]
fn what_a_task_takes_all_of_is_read_whole_from_objects() {
    let mut case = Case { shape: vec![64, 6], spare_bytes: 1 << 20, ..eighths() };
    case.source = SideCase::plain(&[64, 4], Codec::Raw);
    case.target = SideCase::plain(&[64, 6], Codec::Raw);
    let plan = plan_of_files(&case).unwrap();
    assert_eq!(plan.task_count(), 1, "{plan:?}");
    let meter = Meter::new();
    runtime().block_on(async {
        let prepared = case.prepare().await;
        execute(prepared.execution(&case, &plan, &meter), None).await.unwrap();
        assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
    });
    assert_eq!(meter.traffic().source.read_bytes, 2 * 64 * 4 * 4);
    let (traffic, is_copied) = run(&case, &plan, |_, store, _| store).unwrap();
    assert!(is_copied);
    assert_eq!(traffic.read_bytes, 64 * 4 * 4 + (63 * 4 + 2) * 4, "up to the last element");
    assert_eq!(plan.estimate.source.read_bytes, traffic.read_bytes);
}

/// Of which a part would be there.
#[test]
fn a_chunk_of_another_size_is_an_error() {
    let mut case = eighths();
    case.source.codec = Codec::Raw;
    let plan = plan_of_files(&case).unwrap();
    for bytes in [0, 40, 255, 257] {
        let resized = |_: &mut TestLayout, store, folder: &Path| {
            std::fs::write(folder.join("source/c/0.3"), vec![0; bytes]).unwrap();
            store
        };
        let failed = run(&case, &plan, resized).unwrap_err().to_string();
        let wanted = format!("has {bytes} bytes, but 256 are expected");
        assert!(failed.contains("c/0.3 in ") && failed.contains(&wanted), "{failed}");
    }
}

/// While a disk is waited for, other threads read; a part that is refused is read again by one of
/// them.
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

/// A chunk that is gone when all of it is read is no missing chunk.
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
