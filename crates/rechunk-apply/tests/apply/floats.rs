//! Floats: equal contributions, NaN, zeros and the order of sums.

use half::f16;
use proptest::prelude::*;
use rechunk_apply::{
    Accumulator, ApplySpec, BlockView, CombineError, LevelSpec, Mode, OpOutput, Round, prepare,
};
use rechunk_grid::DataType;

use crate::job::{bytes_of, run, values_of};

fn spec(data_type: DataType, mode: Mode) -> ApplySpec {
    let levels = vec![
        LevelSpec::new([20]).blend([2], mode).crop([1]),
        LevelSpec::new([13]).blend([3], mode),
    ];
    ApplySpec::new(&[60], &[7], data_type, levels)
}

fn constant<const BYTES: usize>(spec: &ApplySpec, value: [u8; BYTES]) -> Vec<u8> {
    let plan = prepare(spec).unwrap();
    run(&plan, &[0; BYTES], |tile| {
        let count = usize::try_from(tile.padded.elements()).unwrap();
        OpOutput::Padded(value.repeat(count))
    })
}

fn modes() -> impl Strategy<Value = (Mode, Round)> {
    let mode =
        prop_oneof![Just(Mode::Linear), Just(Mode::Quadratic), Just(Mode::Bump), Just(Mode::Max)];
    (mode, prop_oneof![Just(Round::Level), Just(Round::End)])
}

proptest! {
    #[test]
    fn equal_contributions_are_the_value(
        bits in any::<u64>(), (mode, round) in modes(),
    ) {
        let of = |data_type| {
            let mut spec = spec(data_type, mode);
            spec.round = round;
            spec
        };
        let value = f64::from_bits(bits);
        let same = |a: f64, b: f64| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        let wide = constant(&of(DataType::Float64), value.to_ne_bytes());
        prop_assert!(values_of!(f64, wide).into_iter().all(|found| same(found, value)));
        let value = f32::from_bits(u32::try_from(bits >> 32).unwrap());
        let found = constant(&of(DataType::Float32), value.to_ne_bytes());
        let found = values_of!(f32, found);
        prop_assert!(found.into_iter().all(|found| same(found.into(), value.into())));
        let value = f16::from_bits(u16::try_from(bits >> 48).unwrap());
        let found = constant(&of(DataType::Float16), value.to_ne_bytes());
        let found = values_of!(f16, found);
        prop_assert!(found.into_iter().all(|found| same(found.into(), value.into())));
        let value = bits.cast_signed();
        let found = constant(&of(DataType::Int64), value.to_ne_bytes());
        prop_assert!(values_of!(i64, found).into_iter().all(|found| found == value));
    }

    /// Against sums in fractions of long integers, which are exact.
    #[test]
    fn sums_are_near_the_exact_ones(values in prop::collection::vec(-3000_i32..3000, 3)) {
        for mode in [Mode::Linear, Mode::Quadratic] {
            let level = LevelSpec::new([8]).blend([3], mode);
            let of = |data_type| {
                prepare(&ApplySpec::new(&[24], &[24], data_type, vec![level.clone()])).unwrap()
            };
            let value = |tile: &rechunk_apply::BottomTile| {
                values[usize::try_from(tile.chunk.axes[0].start / 8).unwrap()]
            };
            let floats = run(&of(DataType::Float64), &[0; 8], |tile| {
                OpOutput::Padded(bytes_of!(vec![f64::from(value(tile)); 14]))
            });
            // In millionths.
            let exact = run(&of(DataType::Int64), &[0; 8], |tile| {
                OpOutput::Padded(bytes_of!(vec![i64::from(value(tile)) * 1_000_000; 14]))
            });
            for (float, exact) in values_of!(f64, floats).into_iter().zip(values_of!(i64, exact)) {
                prop_assert!((float * 1e6 - exact as f64).abs() <= 0.5 + 1e-3);
            }
        }
    }
}

fn pair(mode: Mode, one: f32, two: f32) -> Vec<f32> {
    let level = LevelSpec::new([4]).blend([1], mode);
    let plan = prepare(&ApplySpec::new(&[8], &[8], DataType::Float32, vec![level])).unwrap();
    let result = run(&plan, &[0; 4], |tile| {
        let value = if tile.chunk.axes[0].start == 0 { one } else { two };
        OpOutput::Padded(bytes_of!(vec![value; 6]))
    });
    values_of!(f32, result)
}

#[test]
fn a_nan_is_a_nan_in_every_overlap() {
    let other_bits = f32::from_bits(0xffc0_1234);
    for mode in [Mode::Linear, Mode::Quadratic, Mode::Bump, Mode::Max] {
        for (one, two) in [(f32::NAN, 1.0), (1.0, other_bits), (other_bits, f32::NAN)] {
            let result = pair(mode, one, two);
            for overlap in &result[3..5] {
                assert_eq!(overlap.to_bits(), f32::NAN.to_bits(), "{mode}");
            }
        }
        let result = pair(mode, 1.0, f32::NAN);
        assert_eq!(result[..3], [1.0; 3]);
    }
}

#[test]
fn infinities_and_zeros_are_told_apart() {
    let result = pair(Mode::Linear, f32::INFINITY, 1.0);
    assert_eq!(result[3..5], [f32::INFINITY; 2]);
    assert!(pair(Mode::Linear, f32::INFINITY, f32::NEG_INFINITY)[3].is_nan());
    assert_eq!(pair(Mode::Max, -0.0, 0.0)[3].to_bits(), 0.0_f32.to_bits());
    assert_eq!(pair(Mode::Max, 0.0, -0.0)[3].to_bits(), 0.0_f32.to_bits());
    assert_eq!(pair(Mode::Max, f32::NEG_INFINITY, -1.0)[3..5], [-1.0; 2]);
}

#[test]
fn an_assigned_nan_keeps_its_bits() {
    let bits = 0xffc0_1234_u32;
    let spec = ApplySpec::new(&[8], &[3], DataType::Float32, vec![LevelSpec::new([4])]);
    let plan = prepare(&spec).unwrap();
    let result = run(&plan, &[0; 4], |_| OpOutput::Padded(bytes_of!(vec![bits; 4])));
    assert_eq!(values_of!(u32, result), [bits; 8]);
}

#[test]
fn floats_are_added_in_ascending_order() {
    let plan = prepare(&spec(DataType::Float32, Mode::Linear)).unwrap();
    let mut boxes = (0..plan.reduction_count()).map(|number| plan.reduction(number));
    let region = boxes.find(|region| plan.contributors(region).len() > 1).unwrap();
    let ordinals: Vec<u64> = plan.contributors(&region).ordinals().collect();
    let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
    let mut add = |ordinal: u64| {
        let task = plan.task(ordinal);
        let elements = usize::try_from(task.keep.elements()).unwrap();
        let bytes = bytes_of!(vec![1.0_f32; elements]);
        let block = BlockView { bounds: &task.keep, bytes: &bytes };
        sum.add(ordinal, block, &plan.task_weights(&task))
    };
    add(ordinals[1]).unwrap();
    let (ordinal, after) = (ordinals[0], ordinals[1]);
    assert_eq!(add(ordinal), Err(CombineError::Order { ordinal, after }));
}

#[test]
fn a_block_of_another_size_is_refused() {
    let plan = prepare(&spec(DataType::Float32, Mode::Linear)).unwrap();
    let region = plan.reduction(0);
    let mut sum = Accumulator::new(&plan.pull_combine(), &region).unwrap();
    let task = plan.task(0);
    let block = BlockView { bounds: &task.keep, bytes: &[0; 7] };
    let error = sum.add(0, block, &plan.task_weights(&task)).unwrap_err();
    assert!(matches!(error, CombineError::Bytes { found: 7, .. }), "{error}");
}

#[test]
fn a_bump_of_integers_is_that_of_floats_rounded() {
    let level = LevelSpec::new([8]).blend([3], Mode::Bump);
    let of = |data_type| prepare(&ApplySpec::new(&[16], &[16], data_type, vec![level.clone()]));
    let is_first = |tile: &rechunk_apply::BottomTile| tile.chunk.axes[0].start == 0;
    let whole = run(&of(DataType::Uint8).unwrap(), &[0], |tile| {
        OpOutput::Padded(vec![if is_first(tile) { 250 } else { 3 }; 14])
    });
    let float = run(&of(DataType::Float64).unwrap(), &[0; 8], |tile| {
        OpOutput::Padded(bytes_of!(vec![if is_first(tile) { 250.0_f64 } else { 3.0 }; 14]))
    });
    let rounded: Vec<f64> = values_of!(f64, float).iter().map(|value| value.round()).collect();
    assert_eq!(whole.iter().copied().map(f64::from).collect::<Vec<_>>(), rounded);
}
