//! Faults end the run with an error that says where.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rechunk_array::Array;
use rechunk_exec::{ExecError, Execution, Fault, NullObserver};
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::{Kernel, Strategy as Kind, Way};
use rechunk_store::{Meter, Store};
use tokio_util::sync::CancellationToken;

use crate::case::{Case, Prepared, SideCase, execute, execute_observed, runtime};
use crate::layout::Codec;

pub(crate) fn case(kind: Kind) -> Case {
    let side = |chunk: &[u64]| SideCase { fill: Some(0), ..SideCase::plain(chunk, Codec::Runs) };
    let source = side(&[2, 8]);
    Case {
        shape: vec![32, 32],
        data_type: DataType::Float32,
        target: if kind == Kind::Passthrough { source.clone() } else { side(&[8, 2]) },
        source,
        kind,
        threads: 2,
        spare_bytes: 10_000,
        write_empty: WriteEmpty::Auto,
        missing: 0,
        seed: 3,
    }
}

/// Runs a case after `change` has spoilt something.
fn run_spoilt(case: &Case, change: impl AsyncFnOnce(&mut Prepared)) -> ExecError {
    run_changed(case, change, |_| {})
}

fn run_changed(
    case: &Case,
    spoil: impl AsyncFnOnce(&mut Prepared),
    change: impl FnOnce(&mut Execution),
) -> ExecError {
    let plan = case.plan().unwrap();
    runtime().block_on(async {
        let mut prepared = case.prepare().await;
        spoil(&mut prepared).await;
        let mut execution = prepared.execution(case, &plan, &Meter::new());
        change(&mut execution);
        execute(execution, None).await.unwrap_err()
    })
}

#[test]
fn a_damaged_source_chunk_is_named() {
    for kind in [Kind::Pull, Kind::Keep, Kind::PushPull, Kind::Memory] {
        for damage in [&b"\x01"[..], b"\x05\x05"] {
            let error = run_spoilt(&case(kind), async |prepared| {
                let damaged = Bytes::from_static(damage);
                prepared.source.write_chunk(&[7, 2], damaged).await.unwrap();
            });
            assert!(error.is_source_damage() && error.is_source_fault(), "{error}");
            assert!(!error.is_output_fault() && !error.is_retryable());
            assert!(error.to_string().contains("chunk [7, 2]: c/7.2"), "{error}");
            assert!(matches!(error, ExecError::Task { stage: 0, .. }));
        }
    }
}

#[test]
fn a_source_chunk_too_large_to_be_one_is_damage() {
    let error = run_spoilt(&case(Kind::Passthrough), async |prepared| {
        let large = Bytes::from(vec![1; 1000]);
        prepared.source.write_chunk(&[0, 0], large).await.unwrap();
    });
    assert!(error.is_source_damage(), "{error}");
}

#[test]
fn a_target_that_cannot_be_written_is_an_output_fault() {
    for kind in [Kind::Pull, Kind::Keep, Kind::PushPull] {
        let case = case(kind);
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("c"), "in the way").unwrap();
        let error = run_spoilt(&case, async |prepared| {
            let store = Store::open(directory.path().to_str().unwrap()).unwrap();
            prepared.target = Array::new(Arc::clone(prepared.target.layout()), store);
        });
        assert!(error.is_output_fault() && !error.is_source_fault(), "{error}");
        assert!(matches!(error.fault(), Some(Fault::Target(_))), "{error}");
    }
}

#[test]
fn stages_that_do_not_follow_each_other_are_refused() {
    let error = run_changed(
        &case(Kind::PushPull),
        async |_| {},
        |execution| drop(execution.plan.stages.remove(0)),
    );
    assert!(error.to_string().contains("does not fit the one beside it"), "{error}");
}

#[test]
fn chunks_that_would_be_read_differently_are_not_passed_through() {
    let same = case(Kind::Passthrough);
    let refused = |change: &dyn Fn(&mut Case), text: &str| {
        let mut other = same.clone();
        change(&mut other);
        let error = run_spoilt(&same, async |prepared| {
            let layout = Arc::new(other.layout(&other.target));
            prepared.target = Array::new(layout, prepared.target.store().clone());
        });
        assert!(error.to_string().contains(text), "{error}");
    };
    refused(&|other| other.target.fill = Some(1), "fill values");
    refused(&|other| other.target.codec = Codec::Raw, "encode differently");
}

#[test]
fn plans_of_other_arrays_are_refused() {
    let pull = case(Kind::Pull);
    let refused = |change: &dyn Fn(&mut Execution), text: &str| {
        let error = run_changed(&pull, async |_| {}, |execution| change(execution)).to_string();
        assert!(error.contains(text), "{error}");
    };
    refused(&|e| e.plan.arrays[0].shape[0] += 1, "shape");
    refused(&|e| e.plan.arrays[0].chunk[0] += 1, "chunks of");
    refused(&|e| e.plan.arrays[0].item_bytes = 8, "an element");
    refused(&|e| e.plan.version += 1, "version");
    refused(&|e| e.plan.stages[0].task_bytes += 1 << 30, "bytes a task");
    refused(&|e| e.plan.stages[0].lanes = 0, "no lanes");
    refused(&|e| e.plan.stages[0].kernel = Kernel::Copy(Way::Encoded), "chunks of other shapes");
    let push_pull = case(Kind::PushPull);
    let error = run_changed(&push_pull, async |_| {}, |e| e.intermediate = None).to_string();
    assert!(error.contains("intermediate"), "{error}");
}

#[test]
fn a_panic_in_a_layout_is_an_error() {
    let case = case(Kind::Pull);
    let error = run_spoilt(&case, async |prepared| {
        let mut layout = case.layout(&case.source);
        layout.panics = true;
        prepared.source = Array::new(Arc::new(layout), prepared.source.store().clone());
    });
    assert!(error.to_string().contains("panicked: on purpose"), "{error}");
}

#[test]
fn cancelling_is_prompt() {
    let case = case(Kind::Keep);
    let plan = case.plan().unwrap();
    runtime().block_on(async {
        let mut prepared = case.prepare().await;
        let mut layout = case.layout(&case.source);
        layout.delay = Duration::from_millis(100);
        prepared.source = Array::new(Arc::new(layout), prepared.source.store().clone());
        let execution = prepared.execution(&case, &plan, &Meter::new());
        let token = CancellationToken::new();
        let started = Instant::now();
        let (ended, ()) = tokio::join!(
            execute_observed(execution, None, Arc::new(NullObserver), token.clone()),
            async {
                tokio::time::sleep(Duration::from_millis(150)).await;
                token.cancel();
            }
        );
        assert!(ended.unwrap_err().is_cancelled());
        assert!(started.elapsed() < Duration::from_secs(1));
    });
}
