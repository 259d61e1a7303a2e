//! Gaussian means against a plain reference, and their independence of where boxes are cut.

use proptest::prelude::*;
use rechunk_grid::DataType;
use rechunk_reduce::{GaussianAxis, GaussianWindow, Method, Rounding, gaussian};

use crate::boxes::Random;

/// Weights of the elements of an axis for a cell: those that count, and normalised.
fn weights(extent: u64, factor: u64, cell: u64) -> Vec<(usize, f64)> {
    if factor == 1 {
        return vec![(usize::try_from(cell).unwrap(), 1.0)];
    }
    let factor_f = factor as f64;
    let sigma = (factor_f.powi(2) - 1.0).sqrt() / (2.0 * 4_f64.ln().sqrt());
    let halo = (3.0 * sigma).ceil() as i64;
    let first = i64::try_from(cell * factor).unwrap();
    let centre = first as f64 + (factor_f - 1.0) / 2.0;
    let end = first + i64::try_from(factor).unwrap() + halo;
    let taps = (first - halo).max(0)..end.min(i64::try_from(extent).unwrap());
    let weight = |at: i64| (-(at as f64 - centre).powi(2) / (2.0 * sigma * sigma)).exp();
    let sum: f64 = taps.clone().map(weight).sum();
    taps.map(|at| (usize::try_from(at).unwrap(), weight(at) / sum)).collect()
}

fn reduced(
    rounding: Rounding,
    data_type: DataType,
    input: &[u8],
    window: &GaussianWindow,
) -> Vec<u8> {
    let cells: u64 = window.axes.iter().map(|axis| axis.cells).product();
    let mut output = vec![0xaa; usize::try_from(cells * data_type.item_bytes()).unwrap()];
    gaussian(rounding, data_type, input, window, &mut output).unwrap();
    output
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks(8).map(|item| f64::from_ne_bytes(item.try_into().unwrap())).collect()
}

fn random_bytes(elements: u64, seed: u64) -> Vec<u8> {
    let mut random = Random(seed | 1);
    let values = (0..elements).map(|_| random.next() as f64 / 1e16);
    values.flat_map(f64::to_ne_bytes).collect()
}

proptest! {
    #[test]
    fn cells_are_weighted_as_in_the_reference(
        axes in prop::collection::vec((1_u64..12, 1_u64..5), 1..=3), seed: u64,
    ) {
        let (shape, factors): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
        let input = random_bytes(shape.iter().product(), seed);
        let values = floats(&input);
        let window = GaussianWindow::whole(&shape, &factors);
        let found = floats(&reduced(Rounding::Down, DataType::Float64, &input, &window));
        let mut wanted = vec![(Vec::new(), 0.0); found.len()];
        for (at, (index, _)) in wanted.iter_mut().enumerate() {
            let mut rest = at as u64;
            for axis in window.axes.iter().rev() {
                index.insert(0, rest % axis.cells);
                rest /= axis.cells;
            }
        }
        for ((index, _), found) in wanted.iter().zip(found) {
            let mut taps = vec![(0, 1.0)];
            for (axis, &cell) in index.iter().enumerate() {
                let along = weights(shape[axis], factors[axis], cell);
                let extent = usize::try_from(shape[axis]).unwrap();
                let all = taps.iter().flat_map(|(row, weight)| {
                    along.iter().map(move |(at, other)| (row * extent + at, weight * other))
                });
                taps = all.collect();
            }
            let wanted: f64 = taps.iter().map(|(at, weight)| values[*at] * weight).sum();
            prop_assert!((found - wanted).abs() <= 1e-12 * wanted.abs().max(1.0));
        }
    }

    #[test]
    fn boxes_may_be_cut_anywhere(
        axes in prop::collection::vec((1_u64..30, 1_u64..5, any::<u64>(), any::<u64>()), 1..=3),
        extra in 0_u64..3, seed: u64,
    ) {
        let shape: Vec<_> = axes.iter().map(|axis| axis.0).collect();
        let factors: Vec<_> = axes.iter().map(|axis| axis.1).collect();
        let input = random_bytes(shape.iter().product(), seed);
        let whole = GaussianWindow::whole(&shape, &factors);
        let all = reduced(Rounding::Down, DataType::Float64, &input, &whole);
        // A range of cells along each axis, and the elements that they look at or a few more.
        let (mut window, mut origins, mut firsts) = (Vec::new(), Vec::new(), Vec::new());
        for (&(extent, factor, from, cells), axis) in axes.iter().zip(&whole.axes) {
            let from = from % axis.cells;
            let cells = 1 + cells % (axis.cells - from);
            let halo = Method::Gaussian.halo(factor) + extra;
            let origin = (from * factor).saturating_sub(halo);
            let end = ((from + cells) * factor + halo).min(extent);
            let start = from * factor - origin;
            window.push(GaussianAxis { extent: end - origin, start, cells, factor });
            origins.push(origin);
            firsts.push(from);
        }
        let extents: Vec<_> = window.iter().map(|axis| axis.extent).collect();
        let counts: Vec<_> = window.iter().map(|axis| axis.cells).collect();
        let part = crop(&input, &shape, &origins, &extents);
        let window = GaussianWindow { axes: window };
        let found = reduced(Rounding::Down, DataType::Float64, &part, &window);
        let cells: Vec<_> = whole.axes.iter().map(|axis| axis.cells).collect();
        prop_assert_eq!(found, crop(&all, &cells, &firsts, &counts));
    }
}

/// Part of a box of elements of 8 bytes.
fn crop(input: &[u8], shape: &[u64], start: &[u64], extents: &[u64]) -> Vec<u8> {
    let [extent, rest @ ..] = shape else { return input.to_vec() };
    let row = usize::try_from(rest.iter().product::<u64>() * 8).unwrap();
    assert_eq!(input.len(), row * usize::try_from(*extent).unwrap());
    let (first, count) = (usize::try_from(start[0]).unwrap(), usize::try_from(extents[0]).unwrap());
    let rows = input.chunks(row).skip(first).take(count);
    rows.flat_map(|row| crop(row, rest, &start[1..], &extents[1..])).collect()
}

#[test]
fn equal_elements_stay_equal() {
    for value in [0, 1, 77, 255_u8] {
        let input = vec![value; 7 * 9];
        let window = GaussianWindow::whole(&[7, 9], &[2, 3]);
        for rounding in [Rounding::HalfAway, Rounding::HalfEven] {
            let output = reduced(rounding, DataType::Uint8, &input, &window);
            assert_eq!(output, vec![value; 4 * 3]);
        }
    }
}

#[test]
fn a_nan_spreads_to_the_cells_that_look_at_it() {
    let mut values = [1.0; 20];
    values[10] = f64::NAN;
    let input: Vec<_> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    let window = GaussianWindow::whole(&[20], &[2]);
    let output = floats(&reduced(Rounding::HalfAway, DataType::Float64, &input, &window));
    let is_nan: Vec<_> = output.iter().map(|value| value.is_nan()).collect();
    // A cell looks at 3 elements before and after its own.
    let wanted: Vec<_> = (0..10).map(|cell| 2 * cell <= 13 && 2 * cell + 1 >= 7).collect();
    assert_eq!(is_nan, wanted);
}

#[test]
fn without_factors_elements_are_copied_exactly() {
    let input: Vec<_> = (0..6).flat_map(|at| (u64::MAX - at).to_ne_bytes()).collect();
    let axis = |extent, start, cells| GaussianAxis { extent, start, cells, factor: 1 };
    let window = GaussianWindow { axes: vec![axis(2, 1, 1), axis(3, 1, 2)] };
    let output = reduced(Rounding::Down, DataType::Uint64, &input, &window);
    assert_eq!(output, input[4 * 8..]);
}

#[test]
fn integers_are_rounded_as_told() {
    // Two elements weigh the same for a cell of both.
    for (rounding, wanted) in
        [(Rounding::HalfAway, -2_i8), (Rounding::HalfEven, -2), (Rounding::Down, -1)]
    {
        let input = [-1_i8, -2].map(|value| value.to_ne_bytes()[0]);
        let window = GaussianWindow::whole(&[2], &[2]);
        let output = reduced(rounding, DataType::Int8, &input, &window);
        assert_eq!(output, wanted.to_ne_bytes());
    }
}
