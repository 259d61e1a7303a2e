//! Golden examples.

use rechunk_grid::DataType;
use rechunk_reduce::{Method, Rounding, SumType, reduce};

fn ramp() -> Vec<u8> {
    (0..35_u32).map(|at| u8::try_from(at * 7 % 251).unwrap()).collect()
}

fn reduced(method: Method, rounding: Rounding, input: &[u8], shape: [u64; 2]) -> Vec<u8> {
    let cells = shape.iter().map(|extent| extent.div_ceil(2)).product::<u64>();
    let mut output = vec![0; usize::try_from(cells).unwrap()];
    reduce(method, rounding, DataType::Uint8, input, &shape, &[2, 2], &mut output).unwrap();
    output
}

#[test]
fn means_of_a_ramp() {
    // Cells at the end have two elements: 42 and 91 make 66.5, 196 and 203 make 199.5.
    for (rounding, means) in [
        (Rounding::HalfAway, [28, 42, 56, 67, 126, 140, 154, 165, 200, 214, 228, 238]),
        (Rounding::HalfEven, [28, 42, 56, 66, 126, 140, 154, 164, 200, 214, 228, 238]),
        (Rounding::Down, [28, 42, 56, 66, 126, 140, 154, 164, 199, 213, 227, 238]),
    ] {
        assert_eq!(reduced(Method::Mean, rounding, &ramp(), [5, 7]), means, "{rounding:?}");
    }
}

#[test]
fn medians_of_a_ramp() {
    let medians = reduced(Method::Median, Rounding::HalfAway, &ramp(), [5, 7]);
    assert_eq!(medians, [7, 21, 35, 42, 105, 119, 133, 140, 196, 210, 224, 238]);
}

#[test]
fn modes_of_labels() {
    let labels = [
        [1, 2, 3, 3, 0, 0, 9],
        [2, 1, 3, 5, 0, 7, 9],
        [4, 4, 6, 6, 8, 8, 1],
        [5, 5, 6, 7, 8, 0, 2],
        [1, 1, 1, 1, 2, 2, 2],
    ];
    let modes = reduced(Method::Mode, Rounding::HalfAway, labels.as_flattened(), [5, 7]);
    assert_eq!(modes, [1, 3, 0, 9, 4, 6, 8, 1, 1, 1, 2, 2]);
}

#[test]
fn halves_are_rounded_as_told() {
    let mean = |rounding, pair: [i8; 2]| {
        let input = pair.map(|value| value.to_ne_bytes()[0]);
        let mut output = [0];
        reduce(Method::Mean, rounding, DataType::Int8, &input, &[2], &[2], &mut output).unwrap();
        i8::from_ne_bytes(output)
    };
    let pairs = [[1, 2], [2, 3], [-1, -2], [-2, -3], [-1, 0], [0, 1]];
    for (rounding, wanted) in [
        (Rounding::HalfAway, [2, 3, -2, -3, -1, 1]),
        (Rounding::HalfEven, [2, 2, -2, -2, 0, 0]),
        (Rounding::Down, [1, 2, -1, -2, 0, 0]),
    ] {
        assert_eq!(pairs.map(|pair| mean(rounding, pair)), wanted, "{rounding:?}");
    }
}

#[test]
fn means_of_large_integers_are_exact() {
    let input: Vec<_> =
        [u64::MAX, u64::MAX - 1, u64::MAX, u64::MAX].iter().flat_map(|v| v.to_ne_bytes()).collect();
    let mut output = [0; 8];
    let rounding = Rounding::HalfAway;
    reduce(Method::Mean, rounding, DataType::Uint64, &input, &[4], &[4], &mut output).unwrap();
    assert_eq!(u64::from_ne_bytes(output), u64::MAX);
    reduce(Method::Mean, Rounding::Down, DataType::Uint64, &input, &[4], &[4], &mut output)
        .unwrap();
    assert_eq!(u64::from_ne_bytes(output), u64::MAX - 1);
}

#[test]
fn sums_of_many_small_elements_do_not_overflow() {
    // Accumulators widen at 257 elements of 8 bits, and at 65537 elements.
    for (volume, value) in [(256, 255_u8), (257, 255), (65_536, 255), (65_537, 255), (65_537, 128)]
    {
        let input = vec![value; volume];
        for data_type in [DataType::Uint8, DataType::Int8] {
            let mut output = [0];
            let extent = volume as u64;
            let (shape, factors) = ([extent], [extent]);
            let rounding = Rounding::HalfAway;
            reduce(Method::Mean, rounding, data_type, &input, &shape, &factors, &mut output)
                .unwrap();
            assert_eq!(output, [value], "{volume} {data_type}");
        }
    }
    for volume in [65_536, 65_537] {
        for value in [u16::MAX, 1 << 15] {
            let input: Vec<_> = (0..volume).flat_map(|_| value.to_ne_bytes()).collect();
            for data_type in [DataType::Uint16, DataType::Int16] {
                let mut output = [0; 2];
                let (shape, factors) = ([volume], [volume]);
                let rounding = Rounding::HalfEven;
                reduce(Method::Mean, rounding, data_type, &input, &shape, &factors, &mut output)
                    .unwrap();
                assert_eq!(u16::from_ne_bytes(output), value, "{volume} {data_type}");
            }
        }
    }
}

#[test]
fn a_mean_of_halves_is_rounded_once() {
    // The mean is just above the middle of 512 and 512.5; the nearest 32-bit float is the middle.
    let halves = [2048.0, 1.0, 2_f64.powi(-24), 0.0].map(half::f16::from_f64);
    let input: Vec<_> = halves.iter().flat_map(|half| half.to_ne_bytes()).collect();
    let mut output = [0; 2];
    let rounding = Rounding::HalfAway;
    reduce(Method::Mean, rounding, DataType::Float16, &input, &[4], &[4], &mut output).unwrap();
    assert_eq!(half::f16::from_ne_bytes(output).to_f64(), 512.5);
}

#[test]
fn a_mode_keeps_the_bits_of_its_first_element() {
    let nan = f32::from_bits(0x7fc0_1234);
    let mode = |values: [f32; 4]| {
        let input: Vec<_> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let mut output = [0; 4];
        let rounding = Rounding::HalfAway;
        reduce(Method::Mode, rounding, DataType::Float32, &input, &[4], &[4], &mut output).unwrap();
        u32::from_ne_bytes(output)
    };
    assert_eq!(mode([1.0, -0.0, 0.0, 2.0]), (-0.0_f32).to_bits());
    assert_eq!(mode([1.0, 0.0, -0.0, 2.0]), 0);
    assert_eq!(mode([nan, f32::NAN, 1.0, 2.0]), nan.to_bits());
    assert_eq!(mode([nan, f32::NAN, 1.0, 1.0]), 1_f32.to_bits());
}

#[test]
fn of_two_zeros_the_least_has_the_sign() {
    for zeros in [[0.0, -0.0], [-0.0, 0.0_f64]] {
        let input: Vec<_> = zeros.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let extreme = |method| {
            let mut output = [0; 8];
            let rounding = Rounding::HalfAway;
            reduce(method, rounding, DataType::Float64, &input, &[2], &[2], &mut output).unwrap();
            f64::from_ne_bytes(output).is_sign_negative()
        };
        assert!(extreme(Method::Min) && !extreme(Method::Max));
    }
}

#[test]
fn a_stride_copies_elements_of_any_size() {
    let input: Vec<u8> = (0..5 * 3 * 12).collect();
    let mut output = [0; 3 * 2 * 12];
    let data_type = DataType::Structured { bytes: 12 };
    let rounding = Rounding::HalfAway;
    reduce(Method::Stride, rounding, data_type, &input, &[5, 3], &[2, 2], &mut output).unwrap();
    let firsts = [0, 2, 6, 8, 12, 14].map(|element| (element * 12..).take(12).collect::<Vec<u8>>());
    assert_eq!(output.to_vec(), firsts.concat());
    let mut output = [0; 16 * 2];
    let input: Vec<u8> = (0..16 * 5).collect();
    let data_type = DataType::Complex128;
    reduce(Method::Stride, rounding, data_type, &input, &[5], &[4], &mut output).unwrap();
    assert_eq!(output.to_vec(), [&input[..16], &input[64..]].concat());
}

#[test]
fn an_empty_box_has_no_cells_and_a_scalar_has_one() {
    for method in Method::ALL.into_iter().filter(|method| *method != Method::Gaussian) {
        let rounding = Rounding::HalfAway;
        reduce(method, rounding, DataType::Int16, &[], &[3, 0], &[2, 2], &mut []).unwrap();
        let mut output = [0];
        reduce(method, rounding, DataType::Uint8, &[5], &[], &[], &mut output).unwrap();
        assert_eq!(output, [5]);
    }
}

#[test]
fn means_hand_on_sums_and_other_methods_items() {
    for (data_type, sum_bytes) in
        [(DataType::Bool, 8), (DataType::Uint16, 8), (DataType::Int64, 16), (DataType::Float32, 8)]
    {
        for method in Method::ALL {
            let bytes = if method == Method::Mean { sum_bytes } else { data_type.item_bytes() };
            assert_eq!(method.handed_on_bytes(data_type), bytes, "{} {data_type}", method.name());
        }
    }
    let structured = DataType::Structured { bytes: 12 };
    assert_eq!(Method::Stride.handed_on_bytes(structured), 12);
}

#[test]
fn sums_have_types() {
    for (data_type, sum_type, bytes) in [
        (DataType::Bool, SumType::I64, 8),
        (DataType::Uint32, SumType::I64, 8),
        (DataType::Int64, SumType::I128, 16),
        (DataType::Uint64, SumType::I128, 16),
        (DataType::Float16, SumType::F64, 8),
    ] {
        assert_eq!((SumType::of(data_type), sum_type.item_bytes()), (sum_type, bytes));
    }
}
