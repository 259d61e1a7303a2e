//! Every plan kind on random arrays: the elements are those of a naive copy, the traffic is
//! exactly what the plan said.

use proptest::prelude::*;
use rechunk_grid::{DataType, WriteEmpty};
use rechunk_plan::{Plan, RoleEstimate, Strategy as Kind, Unit};
use rechunk_store::{Meter, RoleTraffic, Traffic};

use crate::case::{Case, SideCase, execute, runtime};
use crate::layout::Codec;
use crate::strategies::{cases, rectilinear_cases};

/// Requests of uploads in parts are as planned where the sizes of objects are.
fn assert_parts(case: &Case, plan: &Plan, traffic: &Traffic) -> Result<(), TestCaseError> {
    // Objects of an intermediate are not all of the size that the estimate takes for all of them.
    let mut expected = 0;
    for (number, stage) in plan.stages.iter().enumerate() {
        if let (Unit::Piece, Some(uploads)) = (stage.output_unit(), stage.output(plan).uploads) {
            let geometry = plan.geometry(number).unwrap();
            let bytes = |task| geometry.object_bytes(&geometry.tile(task));
            expected +=
                (0..stage.tasks).map(|task| uploads.whole.requests(bytes(task))).sum::<u64>();
        }
    }
    prop_assert_eq!(traffic.intermediate.part_requests, expected);
    let (planned, counted) = (&plan.estimate.target, &traffic.target);
    let may_skip = case.write_empty == WriteEmpty::Auto && case.target.fill.is_some();
    let is_gappy = case.source.shards.is_some() && case.has_gaps();
    if case.target.codec == Codec::Raw && case.missing == 0 && !may_skip && !is_gappy {
        prop_assert_eq!(counted.part_requests, planned.part_requests);
    } else if case.target.codec == Codec::Raw && !is_gappy {
        prop_assert!(counted.part_requests <= planned.part_requests);
    }
    if case.multipart().is_none() {
        prop_assert_eq!(counted.part_requests, 0);
    }
    Ok(())
}

/// Requests, decoded bytes and objects of a role are as planned.
fn assert_role(planned: &RoleEstimate, counted: &RoleTraffic) -> Result<(), TestCaseError> {
    prop_assert_eq!(counted.get_requests + counted.get_missing, planned.get_requests);
    prop_assert_eq!(counted.put_requests + counted.put_skipped, planned.put_requests);
    prop_assert_eq!(counted.decoded_read_bytes, planned.decoded_read_bytes);
    prop_assert_eq!(counted.decoded_written_bytes, planned.decoded_written_bytes);
    prop_assert_eq!(counted.objects + counted.put_skipped, planned.objects);
    Ok(())
}

pub(crate) fn assert_traffic(plan: &Plan, traffic: &Traffic) -> Result<(), TestCaseError> {
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
            if plan.stages[0].output_unit() == Unit::Shard {
                prop_assert!(traffic.target.put_requests <= plan.estimate.target.put_requests);
            }
        }
        assert_traffic(&plan, &traffic)?;
        assert_parts(case, &plan, &traffic)?;
        if case.missing == 0 {
            prop_assert_eq!(traffic.source.get_missing, 0);
        }
        let result = case.read_all(&case.target, &prepared.target).await;
        prop_assert_eq!(result, prepared.elements.clone(), "{:?}", plan);
        let digest = report.digest.unwrap();
        if !plan.stages[0].passes_through() {
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
    passthrough_of_different_lengths: Kind::Passthrough;
}

proptest! {
    #[test]
    fn direct_needs_equal_lengths(case in rectilinear_cases(Just(Kind::Direct))) {
        let differs = case.source.edges.is_some() || case.target.edges.is_some();
        prop_assert!(!differs || case.plan().is_none());
    }
}

/// A sharded target on a store with tiny parts: every request of its uploads is in the plan.
#[test]
fn the_parts_of_shards_are_as_planned() {
    for (index_first, kind) in [(false, Kind::Pull), (true, Kind::Pull), (true, Kind::PushPull)] {
        let side =
            |chunk: &[u64], shards| SideCase { shards, ..SideCase::plain(chunk, Codec::Raw) };
        let case = Case {
            shape: vec![50, 37],
            data_type: DataType::Float32,
            source: side(&[7, 37], None),
            target: side(&[5, 5], Some((vec![4, 3], index_first))),
            kind,
            threads: 2,
            spare_bytes: 0,
            write_empty: WriteEmpty::Always,
            missing: 0,
            seed: 7 * 11 * 4 * 8,
        };
        let multipart = case.multipart().unwrap();
        let plan = case.plan().unwrap();
        let uploads = plan.target().uploads.unwrap();
        assert_eq!(uploads.log_part_bytes, multipart.part_bytes);
        assert_eq!(uploads.whole, multipart);
        // 3 × 3 shards of 12 chunks of 100 bytes with an index, those at the ends with fewer.
        let bytes = |chunks: u64| chunks * 100 + 12 * 16 + 4;
        let shards = [(4, 12), (2, 2 * 3), (2, 4 * 2), (1, 2 * 2)];
        let parts = |(count, chunks): (u64, u64)| {
            count * (1 + bytes(chunks).div_ceil(multipart.part_bytes))
        };
        let expected: u64 = shards.map(parts).into_iter().sum();
        assert_eq!(plan.estimate.target.part_requests, expected);
        assert_rechunks(&case).unwrap();
    }
}
