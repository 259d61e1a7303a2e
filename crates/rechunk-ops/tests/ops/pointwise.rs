//! Pointwise operations against exact arithmetic.

use half::f16;
use proptest::prelude::*;
use rechunk_grid::DataType;

use crate::harness::{Array, line, run};

#[test]
fn identity_takes_every_type() {
    let bytes: Vec<u8> = (0..48).collect();
    let data_type = DataType::Complex128;
    let array = Array::of(data_type, &[3], &bytes);
    assert_eq!(run("identity", &[&array]).unwrap(), array);
}

proptest! {
    #[test]
    fn casts_of_integers_are_exact(values in prop::collection::vec(any::<i64>(), 1..60)) {
        let saturated: Vec<u16> = line("cast:to=uint16", DataType::Int64, &values);
        let wanted = values.iter().map(|&value| u16::try_from(value.clamp(0, 65_535)).unwrap());
        prop_assert_eq!(saturated, wanted.collect::<Vec<_>>());
        let wrapped: Vec<i8> = line("cast:to=int8,overflow=wrap", DataType::Int64, &values);
        let low = values.iter().map(|value| i8::from_le_bytes([value.to_le_bytes()[0]]));
        prop_assert_eq!(wrapped, low.collect::<Vec<_>>());
        let back: Vec<u64> = line("cast:to=uint64,overflow=wrap", DataType::Int64, &values);
        let bits = values.iter().map(|value| value.cast_unsigned());
        prop_assert_eq!(back, bits.collect::<Vec<_>>());
        let floats: Vec<f32> = line("cast:to=float32", DataType::Int64, &values);
        prop_assert_eq!(floats, values.iter().map(|&value| value as f32).collect::<Vec<_>>());
        let truths: Vec<u8> = line("cast:to=bool", DataType::Int64, &values);
        prop_assert_eq!(truths, values.iter().map(|&value| u8::from(value != 0)).collect::<Vec<_>>());
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "it saturates, as the cast does")]
    fn casts_of_floats_round_as_asked(values in prop::collection::vec(-1e6..1e6_f64, 1..60)) {
        let even: Vec<i16> = line("cast:to=int16", DataType::Float64, &values);
        let wanted = values.iter().map(|value| value.round_ties_even() as i16);
        prop_assert_eq!(even, wanted.collect::<Vec<_>>());
        let cut: Vec<i16> = line("cast:to=int16,round=zero", DataType::Float64, &values);
        prop_assert_eq!(cut, values.iter().map(|&value| value as i16).collect::<Vec<_>>());
    }

    #[test]
    fn clamps_replacements_and_comparisons_of_integers_are_exact(
        near in prop::collection::vec(-3..=3_i64, 1..40),
    ) {
        // 2^53 + 1 is no 64-bit float.
        const LARGE: i64 = (1 << 53) + 1;
        let values: Vec<i64> = near.iter().map(|near| LARGE + near).collect();
        let text = format!("clamp:min={},max={}", LARGE - 1, LARGE + 1);
        let clamped: Vec<i64> = line(&text, DataType::Int64, &values);
        let wanted = values.iter().map(|&value| value.clamp(LARGE - 1, LARGE + 1));
        prop_assert_eq!(clamped, wanted.collect::<Vec<_>>());
        let equal: Vec<u8> = line(&format!("equal:value={LARGE}"), DataType::Int64, &values);
        let wanted = near.iter().map(|&near| u8::from(near == 0));
        prop_assert_eq!(equal, wanted.collect::<Vec<_>>());
        let text = format!("threshold:min={LARGE},max={LARGE}.0");
        let within: Vec<u8> = line(&text.replace(".0", ""), DataType::Int64, &values);
        let wanted = near.iter().map(|&near| u8::from(near == 0));
        prop_assert_eq!(within, wanted.collect::<Vec<_>>());
        let text = format!("replace:from={LARGE},to={}", LARGE + 9);
        let replaced: Vec<i64> = line(&text, DataType::Int64, &values);
        let wanted = values.iter().map(|&value| if value == LARGE { LARGE + 9 } else { value });
        prop_assert_eq!(replaced, wanted.collect::<Vec<_>>());
        let text = format!("remap-labels:table={LARGE}>1;{}>2,default=0", LARGE + 1);
        let labels: Vec<i64> = line(&text, DataType::Int64, &values);
        let wanted = near.iter().map(|&near| match near { 0 => 1, 1 => 2, _ => 0 });
        prop_assert_eq!(labels, wanted.collect::<Vec<_>>());
        let inverted: Vec<i64> = line(&format!("invert:max={LARGE}"), DataType::Int64, &values);
        prop_assert_eq!(inverted, near.iter().map(|&near| -near).collect::<Vec<_>>());
    }

    #[test]
    fn inversion_twice_is_nothing(values in prop::collection::vec(any::<i64>(), 1..40)) {
        let once: Vec<i64> = line("invert", DataType::Int64, &values);
        prop_assert_eq!(&once, &values.iter().map(|value| !value).collect::<Vec<_>>());
        let twice: Vec<i64> = line("invert", DataType::Int64, &once);
        prop_assert_eq!(twice, values);
    }

    #[test]
    fn masks_choose(pairs in prop::collection::vec((any::<u32>(), 0..3_i8), 1..9000)) {
        let (values, flags): (Vec<u32>, Vec<i8>) = pairs.iter().copied().unzip();
        let shape = [values.len() as u64];
        let values = Array::of(DataType::Uint32, &shape, &values);
        let flags = Array::of(DataType::Int8, &shape, &flags);
        let found: Vec<u32> = run("mask:fill=7", &[&values, &flags]).unwrap().buffer.elements();
        let wanted = pairs.iter().map(|&(value, flag)| if flag != 0 { value } else { 7 });
        prop_assert_eq!(found, wanted.collect::<Vec<_>>());
        let found: Vec<u32> = run("mask:keep=zero", &[&values, &flags]).unwrap().buffer.elements();
        let wanted = pairs.iter().map(|&(value, flag)| if flag == 0 { value } else { 0 });
        prop_assert_eq!(found, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn rescaling_is_in_64_bits(values in prop::collection::vec(any::<i32>(), 1..3000)) {
        let found: Vec<f64> = line("rescale:scale=0.1,offset=3", DataType::Int32, &values);
        let wanted = values.iter().map(|&value| 0.1 * f64::from(value) + 3.0);
        prop_assert_eq!(found, wanted.collect::<Vec<_>>());
    }
}

#[test]
fn casts_of_special_floats_follow_the_rules() {
    let special = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300, 2.5, -2.5, 300.0];
    let cast = |text: &str| line::<f64, u8>(text, DataType::Float64, &special);
    assert_eq!(cast("cast:to=uint8"), [0, 255, 0, 0, 255, 2, 0, 255]);
    assert_eq!(cast("cast:to=uint8,nan=9"), [9, 255, 0, 0, 255, 2, 0, 255]);
    // 1e300 is a multiple of 256; -2 is 254.
    assert_eq!(cast("cast:to=uint8,overflow=wrap"), [0, 255, 0, 0, 0, 2, 254, 44]);
    assert_eq!(cast("cast:to=bool"), [1, 1, 1, 0, 1, 1, 1, 1]);
    let halves: Vec<f16> = line("cast:to=float16", DataType::Float64, &special);
    assert!(halves[0].is_nan() && halves[4] == f16::INFINITY && halves[3].is_sign_negative());
    let long: Vec<i64> = line("cast:to=int64", DataType::Float64, &[9.3e18, -9.3e18]);
    assert_eq!(long, [i64::MAX, i64::MIN]);
    let long: Vec<u64> = line("cast:to=uint64,overflow=wrap", DataType::Float64, &[-1.0, 2e19]);
    assert_eq!(long, [u64::MAX, 1_553_255_926_290_448_384]);
    let halves: Vec<f16> = line("cast:to=float16", DataType::Int64, &[65_519_i64, 65_520, -70_000]);
    assert_eq!(halves, [f16::MAX, f16::INFINITY, f16::NEG_INFINITY]);
}

#[test]
fn nan_follows_the_rules() {
    let elements = [f32::NAN, 1.0, -0.0];
    let floats = |text: &str| line::<f32, f32>(text, DataType::Float32, &elements);
    let truths = |text: &str| line::<f32, u8>(text, DataType::Float32, &elements);
    assert!(floats("clamp:min=0,max=1")[0].is_nan());
    assert!(floats("invert")[0].is_nan());
    assert!(floats("rescale:scale=2")[0].is_nan());
    assert_eq!(floats("replace:from=nan,to=5"), [5.0, 1.0, -0.0]);
    assert_eq!(floats("replace:from=0,to=5")[1..], [1.0, 5.0]);
    assert_eq!(truths("equal:value=nan"), [1, 0, 0]);
    assert_eq!(truths("equal:value=0"), [0, 0, 1]);
    assert_eq!(truths("threshold:min=-inf"), [0, 1, 1]);
    assert_eq!(truths("threshold:max=inf"), [0, 1, 1]);
    let scaled: Vec<u8> = line("rescale:scale=300,to=uint8", DataType::Float32, &elements);
    assert_eq!(scaled, [0, 255, 0]);
    let array = Array::of(DataType::Float32, &[3], &elements);
    let masked: Vec<f32> = run("mask:fill=-1", &[&array, &array]).unwrap().buffer.elements();
    assert!(masked[0].is_nan());
    assert_eq!(masked[1..], [1.0, -1.0]);
    let other = Array::of(DataType::Float32, &[3], &[7.0_f32, 8.0, 9.0]);
    let filled: Vec<f32> = run("where-missing", &[&array, &other]).unwrap().buffer.elements();
    assert_eq!(filled, [7.0, 1.0, 0.0]);
}

#[test]
fn constants_are_rounded_to_the_type_of_elements() {
    let found: Vec<u8> = line("equal:value=0.1", DataType::Float32, &[0.1_f32, 0.2]);
    assert_eq!(found, [1, 0]);
    let found: Vec<u8> = line("equal:value=0.5", DataType::Int8, &[0_i8, 1]);
    assert_eq!(found, [0, 0]);
    let found: Vec<u8> = line("equal:value=nan", DataType::Uint8, &[0_u8, 255]);
    assert_eq!(found, [0, 0]);
    let found: Vec<u8> = line("threshold:min=1.5", DataType::Int8, &[1_i8, 2]);
    assert_eq!(found, [0, 1]);
    let found: Vec<u8> = line("threshold:min=300", DataType::Uint8, &[0_u8, 255]);
    assert_eq!(found, [0, 0]);
    let found: Vec<u8> = line("clamp:min=-5.5,max=9.5", DataType::Uint8, &[0_u8, 10, 255]);
    assert_eq!(found, [0, 9, 9]);
}

#[test]
fn defaults_of_inversion_suit_the_type() {
    assert_eq!(line::<u8, u8>("invert", DataType::Uint8, &[0, 1, 255]), [255, 254, 0]);
    assert_eq!(line::<u8, u8>("invert", DataType::Bool, &[0, 1]), [1, 0]);
    assert_eq!(line::<i8, i8>("invert", DataType::Int8, &[-128, 0, 127]), [127, -1, -128]);
    assert_eq!(line::<f32, f32>("invert", DataType::Float32, &[0.25, 1.0]), [0.75, 0.0]);
    assert_eq!(line::<u16, u16>("invert:max=4095", DataType::Uint16, &[95, 5000]), [4000, 0]);
    assert_eq!(line::<u64, u64>("invert", DataType::Uint64, &[0, u64::MAX]), [u64::MAX, 0]);
}

#[test]
fn tables_keep_default_or_refuse() {
    let lut = |text: &str| line::<u8, u8>(text, DataType::Uint8, &[0, 1, 2, 200]);
    assert_eq!(lut("lut:table=1>10;2>20"), [0, 10, 20, 200]);
    assert_eq!(lut("lut:table=1>10,2>20,default=5"), [5, 10, 20, 5]);
    let floats: Vec<f32> =
        line("lut:table=0>0.5;1>nan,default=-1,to=float32", DataType::Uint8, &[0_u8, 1, 2]);
    assert!(floats[0] == 0.5 && floats[1].is_nan() && floats[2] == -1.0);
    let wide: Vec<u64> = line(
        "remap-labels:table=1>18446744073709551615,to=uint64,default=0",
        DataType::Int8,
        &[1_i8, -1],
    );
    assert_eq!(wide, [u64::MAX, 0]);
    let narrow = Array::of(DataType::Int16, &[2], &[1_i16, 300]);
    let error = run("remap-labels:table=1>2,to=uint8", &[&narrow]).unwrap_err().to_string();
    assert!(error.contains("300 is kept, and no value of the type"), "{error}");
    let truths: Vec<u8> = line("lut:table=7>1,default=0,to=bool", DataType::Int16, &[7_i16, 8]);
    assert_eq!(truths, [1, 0]);
}
