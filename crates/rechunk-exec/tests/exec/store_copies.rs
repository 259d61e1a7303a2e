//! Objects that the store copies itself: the same target, counted as planned; read and written
//! where that is not possible or not wanted.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use rechunk_array::Array;
use rechunk_exec::{Event, Execution, Observer, RunReport};
use rechunk_grid::WriteEmpty;
use rechunk_plan::{Plan, PlanRequest, Strategy as Kind, Unit};
use rechunk_planner::plan;
use rechunk_store::{Meter, Role, Store, StoreOptions, Stores, Traffic};
use rechunk_testkit::{Fault, Filter, Operation, S3Server, ServerOptions};
use tokio_util::sync::CancellationToken;

use crate::case::{Case, Prepared, SideCase, execute_observed, runtime};
use crate::strategies::cases;

/// The plan of a case whose store can copy.
fn copying(case: &Case) -> Plan {
    let mut budget = case.request().budget;
    budget.memory_bytes = 64 << 20;
    let request = PlanRequest { budget, store_can_copy: true, ..case.request() };
    plan(&request).unwrap().plan
}

/// Both arrays in one store.
async fn prepare(case: &Case, store: &Store) -> Prepared {
    let at = |side, key| Array::new(Arc::new(case.layout(side)), store.child(key).unwrap());
    let (source, target) = (at(&case.source, "from"), at(&case.target, "to/it"));
    let elements = case.elements();
    case.store_chunks(&case.source, &source, &elements, |n| case.missing >> (n % 64) & 1 == 1)
        .await;
    Prepared { source, target, intermediate: store.child("between").unwrap(), elements }
}

#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn event(&self, event: &Event) {
        if let Event::Warning { text } = event {
            self.0.lock().unwrap().push(text.clone());
        }
    }
}

/// A run that is changed a little; its report, what was counted and what was warned of.
async fn run(
    case: &Case,
    plan: &Plan,
    prepared: &Prepared,
    change: impl FnOnce(&mut Execution),
) -> (RunReport, Traffic, Vec<String>) {
    let meter = Meter::new();
    let mut execution = prepared.execution(case, plan, &meter);
    execution.takes_digest = false;
    change(&mut execution);
    let warnings = Arc::new(Warnings::default());
    let observer = Arc::clone(&warnings) as Arc<dyn Observer>;
    let report = execute_observed(execution, None, observer, CancellationToken::new()).await;
    let said = std::mem::take(&mut *warnings.0.lock().unwrap());
    (report.unwrap(), meter.traffic(), said)
}

fn assert_only_copied(plan: &Plan, traffic: &Traffic) -> Result<(), TestCaseError> {
    let (source, target) = (&traffic.source, &traffic.target);
    prop_assert_eq!(target.copy_requests + target.put_skipped, plan.estimate.target.copy_requests);
    prop_assert_eq!(source.get_missing, target.put_skipped);
    prop_assert_eq!(target.objects, target.copy_requests);
    prop_assert_eq!((source.get_requests, target.put_requests, target.part_requests), (0, 0, 0));
    prop_assert_eq!((source.read_bytes, target.written_bytes), (0, 0));
    Ok(())
}

fn assert_only_moved(traffic: &Traffic) -> Result<(), TestCaseError> {
    let (source, target) = (&traffic.source, &traffic.target);
    prop_assert_eq!(target.copy_requests, 0);
    prop_assert_eq!((source.get_requests > 0, target.put_requests > 0), (true, true));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn copied_in_the_store_equals_a_naive_copy(case in cases(Just(Kind::Passthrough))) {
        let plan = copying(&case);
        let is_whole = plan.stages[0].output_unit() == Unit::Shard
            || case.source.shards.is_none() && case.target.shards.is_none();
        prop_assert_eq!(plan.stages[0].is_copied_by_store(), is_whole);
        runtime().block_on(async {
            let prepared = prepare(&case, &Store::objects_in_memory()).await;
            let (report, traffic, warnings) = run(&case, &plan, &prepared, |_| {}).await;
            prop_assert!(report.digest.is_none() && warnings.is_empty());
            if is_whole {
                assert_only_copied(&plan, &traffic)?;
            } else {
                prop_assert_eq!(traffic.target.copy_requests, 0);
            }
            if case.missing == 0 {
                prop_assert_eq!(traffic.source.get_missing, 0);
            }
            let result = case.read_all(&case.target, &prepared.target).await;
            prop_assert_eq!(result, prepared.elements.clone(), "{:?}", plan);
            Ok(())
        })?;
    }
}

/// 16 chunks, of which two are missing.
fn small() -> Case {
    let side = SideCase { fill: Some(0), ..SideCase::plain(&[4, 8], crate::layout::Codec::Runs) };
    Case {
        shape: vec![16, 32],
        data_type: rechunk_grid::DataType::Float32,
        source: side.clone(),
        target: side,
        kind: Kind::Passthrough,
        threads: 2,
        spare_bytes: 0,
        write_empty: WriteEmpty::Auto,
        missing: 0b100_0100,
        seed: 3,
    }
}

/// A digest is of bytes that are seen.
#[test]
fn what_is_to_be_seen_is_read_and_written() {
    let case = small();
    let plan = copying(&case);
    runtime().block_on(async {
        let prepared = prepare(&case, &Store::objects_in_memory()).await;
        let seen = |execution: &mut Execution| execution.takes_digest = true;
        let (report, traffic, warnings) = run(&case, &plan, &prepared, seen).await;
        assert!(report.digest.unwrap().is_of_encoded_chunks() && warnings.is_empty());
        assert_only_moved(&traffic).unwrap();
        assert_eq!((traffic.target.put_requests, traffic.target.put_skipped), (14, 2));
        let result = case.read_all(&case.target, &prepared.target).await;
        assert_eq!(result, prepared.elements);
    });
}

/// A plan that was made for one store does not make two of them copy.
#[test]
fn two_stores_do_not_copy() {
    let case = small();
    let plan = copying(&case);
    runtime().block_on(async {
        let prepared = case.prepare().await;
        let (_, traffic, warnings) = run(&case, &plan, &prepared, |_| {}).await;
        assert_only_moved(&traffic).unwrap();
        assert!(warnings.is_empty());
        assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
    });
}

/// After the first refusal the store is not asked again (those in flight were asked already).
#[test]
fn a_store_that_refuses_is_asked_no_more() {
    let server = S3Server::start(&ServerOptions::default()).unwrap();
    let mut options = StoreOptions::default();
    for option in server.store_options() {
        options.add(&option).unwrap();
    }
    let case = small();
    let mut plan = copying(&case);
    let stage = &mut plan.stages[0];
    (stage.lanes, stage.tasks_at_once) = (1, 1);
    for (fault, after) in [(Fault::AccessDenied, 0), (Fault::NotImplemented, 5)] {
        runtime().block_on(async {
            let store = Stores::new(options.clone()).open(&server.url("arrays")).unwrap();
            let prepared = prepare(&case, &store.with_role(Role::Control)).await;
            let copies = Filter::any().operation(Operation::Copy);
            server.fail_nth(copies, after + 1, fault);
            let (_, traffic, warnings) = run(&case, &plan, &prepared, |_| {}).await;
            assert_eq!(warnings.len(), 1, "{warnings:?}");
            assert!(warnings[0].contains("does not copy objects itself"), "{warnings:?}");
            let copied = traffic.target.copy_requests - 1; // the refused one
            assert!(copied <= after && after <= copied + 2, "{copied} of {after}, two missing");
            assert_eq!(traffic.target.put_requests, 14 - copied);
            assert_eq!((traffic.target.objects, traffic.target.put_skipped), (14, 2));
            assert_eq!(case.read_all(&case.target, &prepared.target).await, prepared.elements);
            store.delete_prefix("").await.unwrap();
        });
    }
}
