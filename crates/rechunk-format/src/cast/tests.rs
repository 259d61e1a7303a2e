use std::cmp::Ordering;

use half::{bf16, f16};
use proptest::prelude::*;
use rechunk_grid::{DataType, Endian, FillValue};

use super::*;

const NUMBERS: [DataType; 13] = [
    DataType::Bool,
    DataType::Int8,
    DataType::Int16,
    DataType::Int32,
    DataType::Int64,
    DataType::Uint8,
    DataType::Uint16,
    DataType::Uint32,
    DataType::Uint64,
    DataType::Float16,
    DataType::Bfloat16,
    DataType::Float32,
    DataType::Float64,
];

/// A value, exactly: an integer, or a float that is none.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    Integer(i128),
    Other(f64),
}

/// The value that bytes stand for, by what the types say of themselves.
fn value(data_type: DataType, bytes: &[u8]) -> Value {
    macro_rules! integer {
        ($t:ty) => {
            Value::Integer(<$t>::from_le_bytes(bytes.try_into().unwrap()).into())
        };
    }
    let float = match data_type {
        DataType::Bool => return Value::Integer(i128::from(bytes[0] != 0)),
        DataType::Int8 => return integer!(i8),
        DataType::Int16 => return integer!(i16),
        DataType::Int32 => return integer!(i32),
        DataType::Int64 => return integer!(i64),
        DataType::Uint8 => return integer!(u8),
        DataType::Uint16 => return integer!(u16),
        DataType::Uint32 => return integer!(u32),
        DataType::Uint64 => return integer!(u64),
        DataType::Float16 => f16::from_le_bytes(bytes.try_into().unwrap()).to_f64(),
        DataType::Bfloat16 => bf16::from_le_bytes(bytes.try_into().unwrap()).to_f64(),
        DataType::Float32 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
        _ => f64::from_le_bytes(bytes.try_into().unwrap()),
    };
    #[expect(clippy::cast_possible_truncation, reason = "checked on the way back")]
    let integer = float as i128;
    // 2^127 and more are integers too, and too large for all that is asked here.
    if float.is_finite()
        && float.abs() < 1e38
        && (integer as f64).total_cmp(&float).is_eq()
        && !(float == 0.0 && float.is_sign_negative())
    {
        Value::Integer(integer)
    } else {
        Value::Other(float)
    }
}

/// Exact order of two finite values.
fn order(a: Value, b: Value) -> Ordering {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.cmp(&b),
        (Value::Other(a), Value::Other(b)) => a.partial_cmp(&b).unwrap(),
        // A float that is no integer is below 2^53, or beyond all integers that are asked about.
        (Value::Integer(a), Value::Other(b)) if b.abs() < 1e37 => {
            #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
            let floor = b.floor() as i128;
            a.cmp(&floor).then(if b > b.floor() { Ordering::Less } else { Ordering::Equal })
        }
        (Value::Integer(_), Value::Other(b)) => 0.0.partial_cmp(&b).unwrap(),
        (Value::Other(_), Value::Integer(_)) => order(b, a).reverse(),
    }
}

fn run(from: DataType, to: DataType, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut cast = vec![0xAA; usize::try_from(to.item_bytes()).unwrap()];
    converter(from, to).unwrap().run(bytes, Endian::Little, &mut cast, 0).is_none().then_some(cast)
}

/// The neighbours of a finite float of a type, one bit away on either side.
fn neighbours(to: DataType, bytes: &[u8]) -> Vec<Value> {
    let mut raw = [0; 8];
    raw[..bytes.len()].copy_from_slice(bytes);
    let bits = u64::from_le_bytes(raw);
    let magnitude = bits & ((1 << (8 * bytes.len() - 1)) - 1);
    let sign = bits & !magnitude;
    let at = |magnitude: u64| value(to, &(magnitude | sign).to_le_bytes()[..bytes.len()]);
    [magnitude.checked_sub(1), Some(magnitude + 1)].into_iter().flatten().map(at).collect()
}

/// Checks a cast without the code that casts.
fn check(from: DataType, to: DataType, bytes: &[u8]) {
    let (wanted, cast) = (value(from, bytes), run(from, to, bytes));
    let what = || format!("{from} {bytes:?} = {wanted:?} to {to}: {cast:?}");
    let Some(float_bits) = number::float_bits(to) else {
        let (low, high) = match to {
            DataType::Bool => (0, 1),
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => {
                let end = 1_i128 << (8 * to.item_bytes() - 1);
                (-end, end - 1)
            }
            _ => (0, (1_i128 << (8 * to.item_bytes())) - 1),
        };
        let wanted = if wanted == Value::Other(-0.0) { Value::Integer(0) } else { wanted };
        match wanted {
            Value::Integer(integer) if (low..=high).contains(&integer) => {
                assert_eq!(value(to, cast.as_ref().unwrap()), wanted, "{}", what());
            }
            _ => assert!(cast.is_none(), "{}", what()),
        }
        return;
    };
    match (wanted, &cast) {
        (Value::Other(float), Some(cast)) if float.is_nan() => {
            assert!(matches!(value(to, cast), Value::Other(found) if found.is_nan()), "{}", what());
        }
        (Value::Other(float), Some(cast)) if float.is_infinite() => {
            assert_eq!(value(to, cast), wanted, "{}", what());
        }
        (_, Some(cast)) => {
            let found = value(to, cast);
            assert!(!matches!(found, Value::Other(f) if !f.is_finite()), "{}", what());
            let is_exact = order(found, wanted) == Ordering::Equal;
            assert!(is_exact || rounds(from, to), "{}", what());
            // No neighbour is nearer, and of two that are as near it is the even one.
            for other in neighbours(to, cast) {
                if matches!(other, Value::Other(f) if !f.is_finite()) {
                    continue;
                }
                let (near, far) = (distance(found, wanted), distance(other, wanted));
                let ordering = near.partial_cmp(&far).unwrap();
                let is_even = cast[0] & 1 == 0;
                assert!(
                    ordering == Ordering::Less || (ordering == Ordering::Equal && is_even),
                    "{}: {other:?} is nearer",
                    what()
                );
            }
        }
        (_, None) => {
            let most = match to {
                DataType::Float16 => 65_520.0,
                // Half a step beyond the largest.
                DataType::Bfloat16 => f64::from_bits(0x47ef_f000_0000_0000),
                _ => f64::from_bits(0x47ef_ffff_f000_0000),
            };
            let beyond = match wanted {
                Value::Integer(integer) => (integer as f64).abs() >= most,
                Value::Other(float) => float.abs() >= most,
            };
            assert!(beyond && float_bits < 53, "{}", what());
        }
    }
}

/// Distance of two finite values: exact where both are integers of 64 bits or floats near each
/// other.
fn distance(a: Value, b: Value) -> f64 {
    match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => a.abs_diff(b) as f64,
        (Value::Other(a), Value::Other(b)) => (a - b).abs(),
        (Value::Integer(a), Value::Other(b)) | (Value::Other(b), Value::Integer(a)) => {
            (a as f64 - b).abs()
        }
    }
}

#[test]
fn every_value_of_8_and_16_bits_becomes_itself_or_an_error() {
    let small = |data_type: &&DataType| data_type.item_bytes() <= 2;
    for from in NUMBERS.iter().filter(small) {
        for to in NUMBERS {
            for stored in 0..=u16::MAX {
                let bytes = stored.to_le_bytes();
                if from.item_bytes() == 2 {
                    check(*from, to, &bytes);
                } else if bytes[1] == 0 {
                    check(*from, to, &bytes[..1]);
                }
            }
        }
    }
}

#[test]
fn borders_of_types_are_met_exactly() {
    for (from, to, fits, value) in [
        (DataType::Float64, DataType::Int64, false, 9_223_372_036_854_775_808.0_f64),
        (DataType::Float64, DataType::Int64, true, -9_223_372_036_854_775_808.0),
        (DataType::Float64, DataType::Uint64, true, 18_446_744_073_709_549_568.0),
        (DataType::Float64, DataType::Uint64, false, 18_446_744_073_709_551_616.0),
        (DataType::Float64, DataType::Uint8, false, 0.5),
        (DataType::Float64, DataType::Uint8, true, -0.0),
        (DataType::Float64, DataType::Int16, false, f64::NAN),
        (DataType::Float64, DataType::Int16, false, f64::INFINITY),
        (DataType::Float64, DataType::Float32, false, 3.5e38),
        (DataType::Float64, DataType::Float32, true, 1e-60),
        (DataType::Float64, DataType::Float32, true, f64::NEG_INFINITY),
        (DataType::Float64, DataType::Float16, true, 65_519.999),
        (DataType::Float64, DataType::Float16, false, 65_520.0),
        (DataType::Float64, DataType::Bool, false, 2.0),
    ] {
        assert_eq!(run(from, to, &value.to_le_bytes()).is_some(), fits, "{value} as {to}");
    }
    // Just beyond the middle of two: not rounded twice.
    for (wide, half) in [(2_049.000_000_000_1, 2050.0), (2049.0, 2048.0), (2051.0, 2052.0)] {
        let found = run(DataType::Float64, DataType::Float16, &f64::to_le_bytes(wide)).unwrap();
        assert!((f16::from_le_bytes(found.try_into().unwrap()).to_f64() - half).abs() < 1e-9);
    }
    let middle = (1_i64 << 62) + (1 << 54);
    for (integer, up) in [(middle, false), (middle + 1, true), (-middle - 1, true)] {
        let found = run(DataType::Int64, DataType::Bfloat16, &integer.to_le_bytes()).unwrap();
        let found = bf16::from_le_bytes(found.try_into().unwrap()).to_f64().abs();
        assert_eq!(found > 2_f64.powi(62), up, "{integer}");
    }
}

#[test]
fn byte_orders_and_fill_values() {
    let convert = converter(DataType::Int16, DataType::Float32).unwrap();
    let mut cast = [0; 8];
    assert_eq!(convert.run(&[0, 5, 0xff, 0xff], Endian::Big, &mut cast, 0), None);
    assert_eq!(cast, [0, 0, 0xa0, 0x40, 0, 0, 0x80, 0xbf]);
    let fill = |value: f64| FillValue { bytes: value.to_le_bytes().to_vec() };
    let to = |value| cast_fill_value(&fill(value), DataType::Float64, DataType::Int16);
    assert_eq!(to(-5.0).unwrap().bytes, (-5_i16).to_le_bytes());
    let error = to(f64::NAN).unwrap_err().to_string();
    assert_eq!(error, "the fill value NaN does not fit int16");
    assert_eq!(to(1e300).unwrap_err().to_string(), "the fill value 1e300 does not fit int16");
}

#[test]
fn types_are_named_as_numpy_and_zarr_do() {
    let of = |text| CastTo::parse(text).map(|to| (to.data_type, to.endian));
    assert_eq!(of("float32"), Some((DataType::Float32, Endian::Little)));
    assert_eq!(of(">i2"), Some((DataType::Int16, Endian::Big)));
    assert_eq!(of(" u8 "), Some((DataType::Uint64, Endian::Little)));
    assert_eq!(of("|b1"), Some((DataType::Bool, Endian::Little)));
    for text in ["", "float128", "<U5", "complex64", "int4", "<M8[ns]", "float8_e5m2", "é"] {
        assert_eq!(of(text), None, "{text}");
    }
    assert!(castable_names().contains(&"bfloat16".to_owned()));
    for (from, to, does) in [
        (DataType::Int64, DataType::Float64, true),
        (DataType::Int32, DataType::Float64, false),
        (DataType::Int32, DataType::Float32, true),
        (DataType::Uint8, DataType::Bfloat16, false),
        (DataType::Float64, DataType::Float32, true),
        (DataType::Float16, DataType::Bfloat16, true),
        (DataType::Bfloat16, DataType::Float16, true),
        (DataType::Bfloat16, DataType::Float32, false),
        (DataType::Float64, DataType::Int8, false),
    ] {
        assert_eq!(rounds(from, to), does, "{from} {to}");
    }
}

#[test]
fn casts_are_those_of_numpy() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/cast.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let bytes = |hex: &str| -> Vec<u8> {
        (0..hex.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap())
            .collect()
    };
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [from, to] = [words[0], words[1]].map(|name| DataType::from_name(name).unwrap());
        let (source, expected) = (bytes(words[2]), bytes(words[3]));
        let [from_bytes, to_bytes] = [from, to].map(|of| usize::try_from(of.item_bytes()).unwrap());
        assert!(expected.len() >= 2 * to_bytes, "{line}");
        for (source, expected) in source.chunks(from_bytes).zip(expected.chunks(to_bytes)) {
            let is_nan = matches!(value(to, expected), Value::Other(float) if float.is_nan());
            match run(from, to, source) {
                Some(found) if is_nan => {
                    assert!(matches!(value(to, &found), Value::Other(float) if float.is_nan()));
                }
                found => assert_eq!(found.as_deref(), Some(expected), "{from} {to} {source:?}"),
            }
        }
    }
    assert_eq!(text.lines().count(), 12 * 11);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn any_value_becomes_itself_the_nearest_or_an_error(
        from in 0_usize..13, to in 0_usize..13, bits: u64, shift in 0_u32..64, is_whole: bool,
    ) {
        let (from, to) = (NUMBERS[from], NUMBERS[to]);
        let float = |value: f64| -> Vec<u8> {
            match from {
                #[expect(clippy::cast_possible_truncation, reason = "any float will do")]
                DataType::Float32 => (value as f32).to_le_bytes().to_vec(),
                DataType::Float64 => value.to_le_bytes().to_vec(),
                _ => bits.to_le_bytes().to_vec(),
            }
        };
        // Small numbers and whole ones too, which bits alone seldom are.
        let bytes = if is_whole && from.item_bytes() >= 4 && number::float_bits(from).is_some() {
            float((bits >> shift) as f64)
        } else {
            (bits >> shift).to_le_bytes().to_vec()
        };
        let item = usize::try_from(from.item_bytes()).unwrap();
        check(from, to, &bytes[..item]);
    }
}
