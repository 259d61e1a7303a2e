//! A plan computes the values of the reference, voxel by voxel.

use proptest::prelude::*;
use rechunk_apply::{ApplySpec, prepare};
use rechunk_grid::{DataType, Region};

use crate::reference::{decoded, encoded, jobs, mixed, reference, run};

/// Positions of a box in signed coordinates.
fn voxels(plan: &rechunk_apply::ApplyPlan) -> Vec<Vec<i64>> {
    let kept = plan.kept();
    let positions = Region::whole(&kept.shape()).positions();
    positions
        .map(|offset| {
            let axes = kept.axes.iter().zip(&offset);
            axes.map(|(span, &offset)| span.start + i64::try_from(offset).unwrap()).collect()
        })
        .collect()
}

fn check(spec: &ApplySpec, op: fn(&[i64], &[i64]) -> i128) -> Result<(), TestCaseError> {
    let plan = prepare(spec).map_err(|error| TestCaseError::fail(format!("{error}")))?;
    let data_type = plan.data_type();
    let (written, calls, elements) = run(&plan, op, false);
    let counts = plan.counts().unwrap();
    prop_assert_eq!((counts.op_calls, counts.op_elements), (calls, elements));
    prop_assert_eq!(&run(&plan, op, true).0, &written, "the order of tasks does not matter");
    let reference = reference(&plan, op);
    for voxel in voxels(&plan) {
        let expected = reference.value(&voxel).map(|value| {
            assert_eq!(value.1, 1, "rounded");
            value.0
        });
        let found = written.get(&voxel).map(|bytes| decoded(data_type, bytes));
        prop_assert_eq!(found, expected, "at {:?} of {:?}", voxel, spec);
    }
    prop_assert!(written.keys().all(|voxel| voxels(&plan).contains(voxel)));
    Ok(())
}

macro_rules! types {
    ($($name:ident: $type:ident, $op:expr;)*) => {$(
        proptest! {
            #![proptest_config(ProptestConfig::with_cases(160))]
            #[test]
            fn $name(spec in jobs(DataType::$type)) {
                check(&spec, $op)?;
            }
        }
    )*};
}

/// A value cut to the bits of a type, as the type reads it.
fn cut(data_type: DataType, value: i128) -> i128 {
    decoded(data_type, &encoded(data_type, value))
}

types! {
    bytes_are_combined_as_by_the_reference: Uint8,
        |start, voxel| cut(DataType::Uint8, mixed(start, voxel));
    truth_values_are_combined_as_by_the_reference: Bool,
        |start, voxel| cut(DataType::Bool, mixed(start, voxel) & 1);
    signed_words_are_combined_as_by_the_reference: Int16,
        |start, voxel| cut(DataType::Int16, mixed(start, voxel));
    wide_words_are_combined_as_by_the_reference: Uint32,
        |start, voxel| cut(DataType::Uint32, mixed(start, voxel));
    the_widest_words_are_combined_as_by_the_reference: Uint64,
        |start, voxel| cut(DataType::Uint64, mixed(start, voxel) << 3);
    the_widest_signed_words_are_combined_as_by_the_reference: Int64,
        |start, voxel| cut(DataType::Int64, mixed(start, voxel) << 3);
}
