//! Comparison with scipy.ndimage: `fixtures/ops`.

use half::f16;
use rechunk_grid::DataType;
use serde_json::Value;

use crate::harness::{Array, run};

/// An array of a fixture.
fn array(value: &Value) -> Array {
    let data_type = DataType::from_name(value["data_type"].as_str().unwrap()).unwrap();
    let shape: Vec<u64> =
        value["shape"].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).collect();
    elements(data_type, &shape, &value["elements"])
}

/// Elements in JSON as an array.
fn elements(data_type: DataType, shape: &[u64], values: &Value) -> Array {
    let values = values.as_array().unwrap();
    let float = || values.iter().map(|value| value.as_f64().unwrap());
    let integer = || values.iter().map(|value| value.as_i64().unwrap());
    macro_rules! of {
        ($integer:ty) => {
            integer().map(|value| <$integer>::try_from(value).unwrap()).collect::<Vec<_>>()
        };
    }
    match data_type {
        DataType::Uint8 => Array::of(data_type, shape, &of!(u8)),
        DataType::Uint16 => Array::of(data_type, shape, &of!(u16)),
        DataType::Int16 => Array::of(data_type, shape, &of!(i16)),
        DataType::Int64 => Array::of(data_type, shape, &of!(i64)),
        DataType::Float16 => {
            Array::of(data_type, shape, &float().map(f16::from_f64).collect::<Vec<_>>())
        }
        #[expect(clippy::cast_possible_truncation, reason = "the fixture has 32-bit floats")]
        DataType::Float32 => {
            Array::of(data_type, shape, &float().map(|value| value as f32).collect::<Vec<_>>())
        }
        DataType::Float64 => Array::of(data_type, shape, &float().collect::<Vec<_>>()),
        other => panic!("{other} is not in the fixture"),
    }
}

/// Elements as floats.
fn floats(array: &Array) -> Vec<f64> {
    let buffer = &array.buffer;
    match array.data_type {
        DataType::Uint8 => buffer.elements::<u8>().into_iter().map(f64::from).collect(),
        DataType::Uint16 => buffer.elements::<u16>().into_iter().map(f64::from).collect(),
        DataType::Int16 => buffer.elements::<i16>().into_iter().map(f64::from).collect(),
        DataType::Int64 => buffer.elements::<i64>().into_iter().map(|value| value as f64).collect(),
        DataType::Float16 => buffer.elements::<f16>().into_iter().map(f64::from).collect(),
        DataType::Float32 => buffer.elements::<f32>().into_iter().map(f64::from).collect(),
        _ => buffer.elements::<f64>(),
    }
}

/// Largest difference from sums in float64 that is right for a type. It is half a unit of integers,
/// and rounding of the sums themselves, in units of the largest element.
fn allowed(input: DataType, to: DataType, largest: f64) -> f64 {
    let half = if matches!(to, DataType::Float16 | DataType::Float32 | DataType::Float64) {
        0.0
    } else {
        0.5
    };
    // The sums of integers of 8 bits are in float32, and so are those of narrow floats.
    let relative = match (input, to) {
        (_, DataType::Float16) => 6e-4,
        (_, DataType::Float32) | (DataType::Uint8, _) => 6e-7,
        _ => 1e-11,
    };
    half + relative * largest
}

#[test]
fn results_are_those_of_scipy() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ops/scipy.json");
    #[expect(clippy::disallowed_methods, reason = "a fixture")]
    let text = std::fs::read_to_string(path).unwrap();
    let fixture: Value = serde_json::from_str(&text).unwrap();
    let cases = fixture["cases"].as_array().unwrap();
    assert!(cases.len() > 100);
    for case in cases {
        let (op, name) = (case["op"].as_str().unwrap(), case["input"].as_str().unwrap());
        let input = array(&fixture["inputs"][name]);
        let out = run(op, &[&input]).unwrap_or_else(|error| panic!("{op} of {name}: {error}"));
        if case["exact"].as_bool().unwrap() {
            let wanted = elements(input.data_type, &input.shape, &case["output"]);
            assert_eq!(out, wanted, "{op} of {name}");
            continue;
        }
        let wanted: Vec<f64> = case["output"]
            .as_array()
            .unwrap()
            .iter()
            .map(|value| value.as_f64().unwrap())
            .collect();
        let magnitudes = floats(&input).into_iter().chain(wanted.clone()).map(f64::abs);
        let allowed = allowed(input.data_type, out.data_type, magnitudes.fold(0.0, f64::max));
        for (at, (found, wanted)) in floats(&out).into_iter().zip(wanted).enumerate() {
            let difference = (found - wanted).abs();
            assert!(
                difference <= allowed,
                "{op} of {name} at {at}: {found}, not {wanted}: {difference:e} > {allowed:e}"
            );
        }
    }
}
