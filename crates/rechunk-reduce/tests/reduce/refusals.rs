//! Refusals, and names.

use rechunk_grid::DataType;
use rechunk_reduce::{
    Counts, GaussianAxis, GaussianWindow, Method, ReduceError, Rounding, SumType, fold_cells,
    gaussian, reduce, round_sums, sum_cells,
};

use crate::reference::TYPES;

#[test]
fn types_are_refused_by_method_and_name() {
    for method in Method::ALL {
        assert!(TYPES.iter().all(|data_type| method.check(*data_type) == Ok(())));
        let others = DataType::ALL.into_iter().filter(|data_type| !TYPES.contains(data_type));
        for data_type in others {
            assert_eq!(method.check(data_type).is_ok(), method == Method::Stride, "{data_type}");
        }
        assert!(method.check(DataType::Variable).is_err());
    }
    let error = Method::Mean.check(DataType::Complex64).unwrap_err();
    assert_eq!(
        error.to_string(),
        "method `mean` does not take complex64 elements: it takes bool, integers of 8 to 64 bits, \
         and float16, float32, float64"
    );
}

#[test]
fn boxes_that_do_not_fit_are_refused() {
    let mut output = [0; 2];
    let mut run = |input: &[u8], shape: &[u64], factors: &[u64]| {
        let rounding = Rounding::HalfAway;
        reduce(Method::Max, rounding, DataType::Uint8, input, shape, factors, &mut output)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        run(&[0; 4], &[4], &[2, 2]),
        "2 factors are given for a box of 1 axes; give one for each axis"
    );
    assert_eq!(run(&[0; 4], &[4], &[0]), "the factor of axis 0 is 0, the least is 1");
    assert_eq!(run(&[0; 3], &[4], &[2]), "the input has 3 bytes, its shape has 4");
    assert_eq!(run(&[0; 6], &[6], &[2]), "the output has 2 bytes, its shape has 3");
    assert_eq!(
        run(&[], &[u64::MAX, 4], &[2, 2]),
        "a box of 18446744073709551615 × 4 elements cannot be addressed; use smaller boxes"
    );
}

#[test]
fn sums_that_could_overflow_are_refused() {
    let (extent, limit) = ((1 << 31) + 1, 1 << 31);
    let error = ReduceError::TooManyElements { elements: extent, limit };
    let (shape, factors) = ([extent], [extent]);
    let (mean, rounding) = (Method::Mean, Rounding::Down);
    for data_type in [DataType::Uint8, DataType::Int32] {
        let refused = reduce(mean, rounding, data_type, &[], &shape, &factors, &mut []);
        assert_eq!(refused, Err(error.clone()));
        assert_eq!(sum_cells(data_type, &[], &shape, &factors, &mut []), Err(error.clone()));
    }
    let sums: Vec<_> = [1 << 62, 1 << 62].map(i64::to_ne_bytes).concat();
    let refused = fold_cells(SumType::I64, &sums, &[2], &[2], &mut [0; 8]);
    assert_eq!(refused, Err(ReduceError::TooManyElements { elements: 2, limit: 1 }));
}

#[test]
fn buffers_of_sums_are_checked() {
    let refusal = |sums: &[u8], fill: &[u8], output: &mut [u8]| {
        let counts = Counts::Axes(vec![vec![2, 1]]);
        let rounding = Rounding::HalfAway;
        let refused = round_sums(DataType::Int16, rounding, sums, &counts, fill, output);
        refused.unwrap_err().to_string()
    };
    let sums = [0; 16];
    assert_eq!(
        refusal(&sums[1..], &[0; 2], &mut [0; 4]),
        "the buffer of sums has 15 bytes, its shape has 16"
    );
    assert_eq!(refusal(&sums, &[0; 3], &mut [0; 4]), "the fill value has 3 bytes, its shape has 2");
    assert_eq!(refusal(&sums, &[0; 2], &mut [0; 5]), "the output has 5 bytes, its shape has 4");
}

#[test]
fn windows_that_do_not_fit_are_refused() {
    let refusal = |axis: GaussianAxis| {
        let window = GaussianWindow { axes: vec![axis] };
        let mut output = [0; 4];
        gaussian(Rounding::Down, DataType::Uint8, &[0; 4], &window, &mut output).unwrap_err()
    };
    let axis = GaussianAxis { extent: 4, start: 2, cells: 2, factor: 2 };
    assert_eq!(refusal(axis), ReduceError::Window { axis: 0, start: 2, cells: 2, extent: 4 });
    let none = GaussianAxis { factor: 0, ..axis };
    assert_eq!(refusal(none), ReduceError::Factor { axis: 0 });
    let far = GaussianAxis { factor: u64::MAX, cells: 3, ..axis };
    assert!(matches!(refusal(far), ReduceError::Window { .. }));
    let reduced = reduce(Method::Gaussian, Rounding::Down, DataType::Uint8, &[], &[], &[], &mut []);
    assert_eq!(reduced, Err(ReduceError::LooksAround { method: "gaussian" }));
}

#[test]
fn a_factor_beyond_all_memory_makes_one_cell() {
    let window = GaussianWindow::whole(&[3], &[u64::MAX]);
    let mut output = [0];
    gaussian(Rounding::HalfAway, DataType::Uint8, &[3; 3], &window, &mut output).unwrap();
    assert_eq!(output, [3]);
    let (shape, factors) = ([3], [u64::MAX]);
    let (median, rounding) = (Method::Median, Rounding::Down);
    reduce(median, rounding, DataType::Uint8, &[3, 1, 2], &shape, &factors, &mut output).unwrap();
    assert_eq!(output, [2]);
}

#[test]
fn names_of_roundings_round_trip() {
    for rounding in Rounding::ALL {
        assert_eq!(Rounding::from_name(rounding.name()), Some(rounding));
    }
    assert_eq!(Rounding::from_name("up"), None);
    assert_eq!(Method::from_name("average"), None);
}
