//! Every plan kind on random arrays: the elements are those of a naive copy, the traffic is
//! exactly what the plan said.

use proptest::prelude::*;
use rechunk_plan::{Plan, RoleEstimate, StageOutput, Strategy as Kind};
use rechunk_store::{Meter, RoleTraffic, Traffic};

use crate::case::{Case, cases, execute, rectilinear_cases, runtime};

/// Requests, decoded bytes and objects of a role are as planned.
fn assert_role(planned: &RoleEstimate, counted: &RoleTraffic) -> Result<(), TestCaseError> {
    prop_assert_eq!(counted.get_requests + counted.get_missing, planned.get_requests);
    prop_assert_eq!(counted.put_requests + counted.put_skipped, planned.put_requests);
    prop_assert_eq!(counted.decoded_read_bytes, planned.decoded_read_bytes);
    prop_assert_eq!(counted.decoded_written_bytes, planned.decoded_written_bytes);
    prop_assert_eq!(counted.objects + counted.put_skipped, planned.objects);
    Ok(())
}

fn assert_traffic(plan: &Plan, traffic: &Traffic) -> Result<(), TestCaseError> {
    assert_role(&plan.estimate.source, &traffic.source)?;
    assert_role(&plan.estimate.intermediate, &traffic.intermediate)?;
    // Nothing is encoded there: its bytes are known.
    let (planned, counted) = (&plan.estimate.intermediate, &traffic.intermediate);
    prop_assert_eq!(counted.read_bytes, planned.read_bytes);
    prop_assert_eq!(counted.written_bytes, planned.written_bytes);
    assert_role(&plan.estimate.target, &traffic.target)
}

fn assert_rechunks(case: &Case) -> Result<(), TestCaseError> {
    let Some(plan) = case.plan() else { return Ok(()) };
    runtime().block_on(async {
        let prepared = case.prepare().await;
        let meter = Meter::new();
        let execution = prepared.execution(case, &plan, &meter);
        let report = execute(execution, None).await;
        prop_assert!(report.is_ok(), "{}: {plan:?}", report.unwrap_err());
        let report = report.unwrap();
        prop_assert_eq!((report.tasks_done, report.tasks_resumed), (plan.task_count(), 0));
        prop_assert_eq!(report.differences, None);
        let mut traffic = meter.traffic();
        if case.source.shards.is_some() && case.has_gaps() {
            // Shards that are larger than was planned are read chunk by chunk.
            let (seen, planned) = (&mut traffic.source, &plan.estimate.source);
            prop_assert!(seen.get_requests + seen.get_missing >= planned.get_requests);
            seen.get_requests = planned.get_requests - seen.get_missing.min(planned.get_requests);
            if plan.stages[0].output == StageOutput::TargetShards {
                prop_assert!(traffic.target.put_requests <= plan.estimate.target.put_requests);
            }
        }
        assert_traffic(&plan, &traffic)?;
        if case.missing == 0 {
            prop_assert_eq!(traffic.source.get_missing, 0);
        }
        let result = case.read_all(&case.target, &prepared.target).await;
        prop_assert_eq!(result, prepared.elements.clone(), "{:?}", plan);
        let digest = report.digest.unwrap();
        if !plan.stages[0].passthrough {
            prop_assert_eq!(digest.value, case.digest(&prepared.elements), "{:?}", plan);
        }
        let is_encoded = digest.is_of_encoded_chunks();
        for kind in [Kind::Direct, Kind::Pull, Kind::Keep, plan.kind] {
            let again = case.target_digest(&prepared, kind, is_encoded).await;
            prop_assert!(again.is_none_or(|again| again == digest), "read by {kind}: {plan:?}");
        }
        if plan.kind != Kind::Passthrough {
            case.check_stored(&prepared).await?;
        }
        Ok(())
    })
}

macro_rules! kinds {
    ($cases:ident, $count:literal; $($name:ident: $kind:expr;)*) => {
        proptest! {
            #![proptest_config(ProptestConfig::with_cases($count))]
            $(#[test]
            fn $name(case in $cases(Just($kind))) {
                assert_rechunks(&case)?;
            })*
        }
    };
}

kinds! { cases, 500;
    passthrough_equals_a_naive_copy: Kind::Passthrough;
    direct_equals_a_naive_copy: Kind::Direct;
    keep_equals_a_naive_copy: Kind::Keep;
    pull_equals_a_naive_copy: Kind::Pull;
    push_pull_equals_a_naive_copy: Kind::PushPull;
    multistage_equals_a_naive_copy: Kind::Multistage;
    memory_equals_a_naive_copy: Kind::Memory;
    auto_equals_a_naive_copy: Kind::Auto;
}

kinds! { rectilinear_cases, 300;
    keep_of_different_lengths: Kind::Keep;
    pull_of_different_lengths: Kind::Pull;
    push_pull_of_different_lengths: Kind::PushPull;
    multistage_of_different_lengths: Kind::Multistage;
    memory_of_different_lengths: Kind::Memory;
    auto_of_different_lengths: Kind::Auto;
}

proptest! {
    #[test]
    fn direct_and_passthrough_need_equal_lengths(
        case in rectilinear_cases(prop_oneof![Just(Kind::Direct), Just(Kind::Passthrough)]),
    ) {
        prop_assert!(case.source.edges.is_none() || case.plan().is_none());
    }
}
