//! Statistics: merged in any order, for any division.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rechunk_grid::{DataType, Region};
use rechunk_ops::{ExactSum, OpError, Output, Partial, Statistic, TaskContext};
use serde_json::{Value, json};

use crate::harness::{Array, TYPES, arrays, parsed, shapes};

const STATISTICS: [&str; 4] =
    ["histogram:range=-7..100,bins=9", "min-max-mean", "unique-count", "checksum"];

/// Measures an array in one box.
fn measured(text: &str, array: &Array, context: &TaskContext) -> Result<Partial, OpError> {
    with(text, |statistic| statistic.measure(&array.view(), context))
}

/// Calls `of` with the statistic of a text.
fn with<T>(text: &str, of: impl FnOnce(&dyn Statistic) -> T) -> T {
    let operation = parsed(text);
    match operation.output() {
        Output::Statistic(statistic) => of(statistic),
        Output::Array => panic!("{text} is no statistic"),
    }
}

fn finished(text: &str, array: &Array) -> Value {
    let part = measured(text, array, &TaskContext::whole(&array.shape)).unwrap();
    with(text, |statistic| statistic.finish(&part)).unwrap()
}

/// Measures an array in tiles, each of which was in JSON between.
fn in_tiles(text: &str, array: &Array, tile: &[u64], is_backwards: bool, cuts: bool) -> Partial {
    let grid: Vec<_> =
        array.shape.iter().zip(tile).map(|(extent, tile)| extent.div_ceil(*tile)).collect();
    let mut parts: Vec<_> = Region::whole(&grid)
        .positions()
        .map(|index| {
            let start: Vec<_> = index.iter().zip(tile).map(|(at, tile)| at * tile).collect();
            let shape = start.iter().zip(tile).zip(&array.shape);
            let shape = shape.map(|((start, tile), extent)| (*tile).min(extent - start)).collect();
            let region = Region::new(start, shape);
            if cuts {
                let keep = TaskContext::whole(&array.shape).keeping(region);
                return measured(text, array, &keep).unwrap();
            }
            let origin = region.start.iter().map(|&start| start.cast_signed()).collect();
            let part = array.part(&region);
            measured(text, &part, &TaskContext::whole(&region.shape).at(origin)).unwrap()
        })
        .collect();
    if is_backwards {
        parts.reverse();
    }
    with(text, |statistic| {
        let mut total = statistic.empty(array.data_type).unwrap();
        for part in parts {
            let saved = serde_json::to_string(&part).unwrap();
            statistic.merge(&mut total, &serde_json::from_str(&saved).unwrap()).unwrap();
        }
        total
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn tiles_make_the_whole_in_any_order(
        (array, tile) in (prop::sample::select(&TYPES[..]), shapes()).prop_flat_map(
            |(data_type, shape)| {
                let tile: Vec<_> = shape.iter().map(|&extent| 1..=extent).collect();
                (arrays(data_type, shape), tile)
            }
        ),
        text in prop::sample::select(&STATISTICS[..]),
        is_backwards: bool,
        cuts: bool,
    ) {
        let whole = measured(text, &array, &TaskContext::whole(&array.shape)).unwrap();
        prop_assert_eq!(in_tiles(text, &array, &tile, is_backwards, cuts), whole, "{}", text);
    }

    #[test]
    fn sums_of_integers_are_exact(values in prop::collection::vec(any::<u64>(), 1..200)) {
        let array = Array::of(DataType::Uint64, &[values.len() as u64], &values);
        let sum: i128 = values.iter().map(|&value| i128::from(value)).sum();
        let found = finished("min-max-mean", &array);
        let shown = u64::try_from(sum).map_or_else(|_| json!(sum.to_string()), |sum| json!(sum));
        prop_assert_eq!(&found["sum"], &shown);
        prop_assert_eq!(&found["min"], &json!(values.iter().min()));
        prop_assert_eq!(&found["max"], &json!(values.iter().max()));
    }

    #[test]
    fn sums_of_floats_are_rounded_once(mantissas in prop::collection::vec((any::<i32>(), 0..60_u32), 1..50)) {
        // Multiples of 2^-30 below 2^62: their sum is exact in 128 bits.
        let mut sum = ExactSum::default();
        let mut wanted = 0_i128;
        for (mantissa, shift) in mantissas {
            let exact = i128::from(mantissa) << shift;
            wanted += exact;
            sum.add(exact as f64 / f64::from(1_u32 << 30));
        }
        prop_assert_eq!(sum.to_f64(), wanted as f64 / f64::from(1_u32 << 30));
    }

    #[test]
    fn a_float_and_its_negative_cancel(values in prop::collection::vec(any::<f64>(), 1..60), one: f64) {
        prop_assume!(one.is_finite());
        let finite: Vec<_> = values.into_iter().filter(|value| value.is_finite()).collect();
        let mut sum = ExactSum::default();
        for &value in &finite {
            sum.add(value);
        }
        sum.add(one);
        for &value in finite.iter().rev() {
            sum.add(-value);
        }
        prop_assert_eq!(sum.to_f64(), one);
    }

    #[test]
    fn unique_values_are_those_of_a_set(values in prop::collection::vec(-20..20_i32, 1..200)) {
        let array = Array::of(DataType::Int32, &[values.len() as u64], &values);
        let set: BTreeSet<_> = values.iter().collect();
        let found = finished("unique-count", &array);
        let count = values.len();
        prop_assert_eq!(found, json!({"count": count, "unique": set.len(), "values": set}));
    }

    #[test]
    fn bins_of_integers_are_exact(values in prop::collection::vec(any::<i64>(), 1..100), bins in 1..50_i128) {
        let text = format!("histogram:bins={bins},range={}..{}", i64::MIN, i64::MAX);
        let (low, width) = (i128::from(i64::MIN), i128::from(u64::MAX));
        let mut counts = vec![0; usize::try_from(bins).unwrap()];
        for &value in &values {
            let bin = ((i128::from(value) - low) * bins / width).min(bins - 1);
            counts[usize::try_from(bin).unwrap()] += 1;
        }
        let array = Array::of(DataType::Int64, &[values.len() as u64], &values);
        prop_assert_eq!(&finished(&text, &array)["counts"], &json!(counts));
    }
}

#[test]
fn histograms_are_those_of_numpy() {
    // numpy.histogram([...], bins=3, range=(0, 0.3)): 0.1 and 0.2 begin bins, 0.3 ends the last.
    let elements = [0.0, 0.05, 0.1, 0.2, 0.3, 0.3001, -0.1, f64::NAN, f64::INFINITY];
    let array = Array::of(DataType::Float64, &[9], &elements);
    let found = finished("histogram:bins=3,range=0..0.3", &array);
    let wanted = json!({
        "bins": 3, "range": [0.0, 0.3], "counts": [2, 1, 2], "below": 1, "above": 2, "nan": 1,
    });
    assert_eq!(found, wanted);
    let array = Array::of(DataType::Uint8, &[4], &[0_u8, 1, 255, 255]);
    let found = finished("histogram", &array);
    assert_eq!(found["range"], json!([0.0, 255.0]));
    let counts = found["counts"].as_array().unwrap();
    assert_eq!((&counts[0], &counts[1], &counts[255]), (&json!(1), &json!(1), &json!(2)));
}

#[test]
fn summaries_leave_nan_out() {
    let array = Array::of(DataType::Float32, &[4], &[1.5_f32, f32::NAN, -0.5, 3.5]);
    let wanted = json!({
        "count": 3, "nan": 1, "min": -0.5, "max": 3.5, "sum": 4.5, "mean": 1.5,
    });
    assert_eq!(finished("min-max-mean", &array), wanted);
    let array = Array::of(DataType::Float64, &[2], &[f64::INFINITY, f64::NEG_INFINITY]);
    let found = finished("min-max-mean", &array);
    assert_eq!((&found["sum"], &found["min"]), (&json!("nan"), &json!("-inf")));
    let nothing = Array::of::<u8>(DataType::Uint8, &[0], &[]);
    let found = finished("min-max-mean", &nothing);
    assert_eq!((&found["mean"], &found["min"]), (&Value::Null, &Value::Null));
}

#[test]
fn exact_sums_survive_the_extremes() {
    let mut sum = ExactSum::default();
    for value in [f64::MAX, f64::MAX, f64::MIN_POSITIVE, 5e-324, -f64::MAX, -f64::MAX] {
        sum.add(value);
    }
    let saved: ExactSum = serde_json::from_value(serde_json::to_value(&sum).unwrap()).unwrap();
    assert_eq!(saved, sum);
    assert_eq!(saved.to_f64(), f64::MIN_POSITIVE + 5e-324);
    let mut large = ExactSum::default();
    large.add(f64::MAX);
    large.add(f64::MAX);
    assert_eq!(large.to_f64(), f64::INFINITY);
    large.add(-f64::MAX);
    assert_eq!(large.to_f64(), f64::MAX);
    large.add(f64::NAN);
    assert!(large.to_f64().is_nan());
}

#[test]
fn checksums_see_values_places_and_types() {
    let text = "checksum";
    let sum = |array: &Array, origin: &[i64]| {
        let context = TaskContext::whole(&array.shape).at(origin.to_vec());
        let part = measured(text, array, &context).unwrap();
        with(text, |statistic| statistic.finish(&part)).unwrap()["checksum"].clone()
    };
    let array = Array::of(DataType::Uint16, &[2, 2], &[1_u16, 2, 3, 4]);
    let first = sum(&array, &[0, 0]);
    assert_eq!(first, sum(&array, &[0, 0]));
    let swapped = Array::of(DataType::Uint16, &[2, 2], &[2_u16, 1, 3, 4]);
    for other in
        [sum(&swapped, &[0, 0]), sum(&array, &[1, 0]), sum(&array, &[0, 1]), sum(&array, &[0, -1])]
    {
        assert_ne!(first, other);
    }
}

#[test]
fn too_many_values_are_refused_in_bounded_memory() {
    let values: Vec<u32> = (0..200_000).map(|value| value % 1001).collect();
    let array = Array::of(DataType::Uint32, &[200_000], &values);
    let context = TaskContext::whole(&array.shape);
    let error = measured("unique-count:limit=1000", &array, &context).unwrap_err();
    assert!(matches!(error, OpError::Limit { limit: 1000, .. }), "{error}");
    measured("unique-count:limit=1001", &array, &context).unwrap();
    let [mut low, high] = [0..600_u32, 600..1200].map(|values| {
        let values: Vec<_> = values.collect();
        let array = Array::of(DataType::Uint32, &[600], &values);
        measured("unique-count:limit=1000", &array, &TaskContext::whole(&[600])).unwrap()
    });
    let merged = with("unique-count:limit=1000", |statistic| statistic.merge(&mut low, &high));
    assert!(matches!(merged, Err(OpError::Limit { .. })));
}

#[test]
fn parts_of_other_statistics_are_refused() {
    let array = Array::of(DataType::Uint8, &[2], &[1_u8, 2]);
    let wide = Array::of(DataType::Uint16, &[2], &[1_u16, 2]);
    let context = TaskContext::whole(&[2]);
    for text in STATISTICS {
        let part = measured(text, &array, &context).unwrap();
        for other in STATISTICS {
            let mut of_other = measured(other, &array, &context).unwrap();
            let merged = with(other, |statistic| statistic.merge(&mut of_other, &part));
            assert_eq!(merged.is_ok(), text == other, "{text} into {other}");
            let finished = with(other, |statistic| statistic.finish(&part));
            assert_eq!(finished.is_ok(), text == other, "{text} as {other}");
        }
        let mut of_wide = measured(text, &wide, &context).unwrap();
        let merged = with(text, |statistic| statistic.merge(&mut of_wide, &part));
        assert!(matches!(merged, Err(OpError::Partial { .. })), "{text}");
    }
    let mut few = measured("histogram:bins=3,range=0..9", &array, &context).unwrap();
    let many = measured("histogram:bins=4,range=0..9", &array, &context).unwrap();
    let merged = with("histogram:bins=3,range=0..9", |statistic| statistic.merge(&mut few, &many));
    assert!(matches!(merged, Err(OpError::Partial { .. })));
    for saved in [
        r#"{"statistic":"checksum","data_type":"uint8","sum":"zz","count":1}"#,
        r#"{"statistic":"histogram","data_type":"uint8","counts":[],"below":0,"above":0,"nan":0}"#,
    ] {
        let part: Partial = serde_json::from_str(saved).unwrap();
        for text in STATISTICS {
            let mut own = measured(text, &array, &context).unwrap();
            assert!(with(text, |statistic| statistic.merge(&mut own, &part)).is_err(), "{text}");
        }
    }
}
