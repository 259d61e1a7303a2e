//! Filters against their definitions.

use proptest::prelude::*;
use rechunk_grid::{DataType, Region};

use crate::harness::{Array, line, parsed, run};

/// Elements of the window around an index, those outside repeated from the border.
fn window<T: Copy>(elements: &[T], shape: &[u64], index: &[u64], sizes: &[u64]) -> Vec<T> {
    let offsets = Region::whole(sizes).positions();
    let near = |offset: Vec<u64>| {
        let axes = index.iter().zip(&offset).zip(sizes).zip(shape);
        let linear = axes.fold(0, |linear, (((at, offset), size), extent)| {
            let at = (at + offset).saturating_sub(size / 2).min(extent - 1);
            linear * extent + at
        });
        elements[usize::try_from(linear).unwrap()]
    };
    offsets.map(near).collect()
}

/// Applies `of` to the window of each element.
fn brute<T: Copy, U>(
    elements: &[T],
    shape: &[u64],
    sizes: &[u64],
    of: impl Fn(Vec<T>) -> U,
) -> Vec<U> {
    let indices = Region::whole(shape).positions();
    indices.map(|index| of(window(elements, shape, &index, sizes))).collect()
}

/// A shape, sizes of a window, and elements.
fn boxes<T: Copy + std::fmt::Debug + 'static>(
    element: impl Strategy<Value = T> + Clone + 'static,
) -> impl Strategy<Value = (Vec<u64>, Vec<u64>, Vec<T>)> {
    let axes = prop::collection::vec((1..7_u64, 0..3_u64), 1..4);
    axes.prop_flat_map(move |axes| {
        let (shape, sizes): (Vec<_>, Vec<_>) =
            axes.into_iter().map(|(extent, reach)| (extent, 2 * reach + 1)).unzip();
        let count = usize::try_from(shape.iter().product::<u64>()).unwrap();
        (Just(shape), Just(sizes), prop::collection::vec(element.clone(), count))
    })
}

fn sized(name: &str, sizes: &[u64]) -> String {
    let sizes: Vec<_> = sizes.iter().map(u64::to_string).collect();
    format!("{name}:size={}", sizes.join(","))
}

/// The middle of a window; NaN if there is one in it.
fn middle_of(mut window: Vec<f32>) -> u32 {
    if window.iter().any(|value| value.is_nan()) {
        return f32::NAN.to_bits();
    }
    window.sort_by(f32::total_cmp);
    window[window.len() / 2].to_bits()
}

/// An extreme of a window; NaN if there is one in it.
fn extreme_of(window: &[f32], is_max: bool) -> u32 {
    if window.iter().any(|value| value.is_nan()) {
        return f32::NAN.to_bits();
    }
    let extreme = if is_max {
        window.iter().max_by(|a, b| a.total_cmp(b))
    } else {
        window.iter().min_by(|a, b| a.total_cmp(b))
    };
    extreme.unwrap().to_bits()
}

/// The integer nearest to a mean, ties to even, by exact arithmetic.
fn mean_of(window: &[i64]) -> i64 {
    let sum: i128 = window.iter().map(|&value| i128::from(value)).sum();
    let count = i128::try_from(window.len()).unwrap();
    let low = sum.div_euclid(count);
    let candidates = [low, low + 1];
    let distance = |value: &i128| (sum - value * count).abs();
    let nearest = candidates.into_iter().min_by_key(|value| (distance(value), value.rem_euclid(2)));
    i64::try_from(nearest.unwrap()).unwrap()
}

proptest! {
    #[test]
    fn means_of_integers_are_exact((shape, sizes, elements) in boxes(any::<i64>())) {
        let array = Array::of(DataType::Int64, &shape, &elements);
        let found: Vec<i64> = run(&sized("mean", &sizes), &[&array]).unwrap().buffer.elements();
        prop_assert_eq!(found, brute(&elements, &shape, &sizes, |window| mean_of(&window)));
    }

    #[test]
    fn means_of_short_integers_are_exact((shape, sizes, elements) in boxes(any::<u16>())) {
        let array = Array::of(DataType::Uint16, &shape, &elements);
        let found: Vec<u16> = run(&sized("mean", &sizes), &[&array]).unwrap().buffer.elements();
        let wide: Vec<_> = elements.iter().map(|&value| i64::from(value)).collect();
        let found: Vec<_> = found.into_iter().map(i64::from).collect();
        prop_assert_eq!(found, brute(&wide, &shape, &sizes, |window| mean_of(&window)));
    }

    #[test]
    fn extremes_and_medians_of_floats((shape, sizes, elements) in boxes(any::<f32>())) {
        let array = Array::of(DataType::Float32, &shape, &elements);
        let bits = |name: &str| {
            run(&sized(name, &sizes), &[&array]).unwrap().buffer.elements::<u32>()
        };
        let min = brute(&elements, &shape, &sizes, |window| extreme_of(&window, false));
        prop_assert_eq!(bits("min"), min);
        let max = brute(&elements, &shape, &sizes, |window| extreme_of(&window, true));
        prop_assert_eq!(bits("max"), max);
        prop_assert_eq!(bits("median"), brute(&elements, &shape, &sizes, middle_of));
    }

    #[test]
    fn extremes_and_medians_of_integers((shape, sizes, elements) in boxes(any::<u64>())) {
        let array = Array::of(DataType::Uint64, &shape, &elements);
        let found = |name: &str| {
            run(&sized(name, &sizes), &[&array]).unwrap().buffer.elements::<u64>()
        };
        let of = |pick: fn(&[u64]) -> u64| {
            brute(&elements, &shape, &sizes, |mut window| {
                window.sort_unstable();
                pick(&window)
            })
        };
        prop_assert_eq!(found("min"), of(|window| window[0]));
        prop_assert_eq!(found("max"), of(|window| window[window.len() - 1]));
        prop_assert_eq!(found("median"), of(|window| window[window.len() / 2]));
        let eroded = of(|window| window[0]);
        let opened = brute(&eroded, &shape, &sizes, |window| window.into_iter().max().unwrap());
        prop_assert_eq!(found("open"), opened);
    }

    #[test]
    fn medians_are_counted_as_they_are_selected(
        (shape, _, elements) in boxes(any::<i16>()),
        small in prop::collection::vec(0_u8..4, 64),
    ) {
        // A window of 125 elements is counted for 16 bits.
        let sizes = vec![[5; 3].as_slice(), &[25, 5], &[125]][3 - shape.len()].to_vec();
        let array = Array::of(DataType::Int16, &shape, &elements);
        let found: Vec<i16> = run(&sized("median", &sizes), &[&array]).unwrap().buffer.elements();
        let middle = |mut window: Vec<i16>| { window.sort_unstable(); window[window.len() / 2] };
        prop_assert_eq!(found, brute(&elements, &shape, &sizes, middle));
        let array = Array::of(DataType::Uint8, &[8, 8], &small);
        let found: Vec<u8> = run("median:size=3,5", &[&array]).unwrap().buffer.elements();
        let middle = |mut window: Vec<u8>| { window.sort_unstable(); window[window.len() / 2] };
        prop_assert_eq!(found, brute(&small, &[8, 8], &[3, 5], middle));
    }

    #[test]
    fn laplacians_of_integers_are_exact((shape, _, elements) in boxes(any::<u16>())) {
        let array = Array::of(DataType::Uint16, &shape, &elements);
        let out = run("laplacian", &[&array]).unwrap();
        prop_assert_eq!(out.data_type, DataType::Float32);
        let wide: Vec<_> = elements.iter().map(|&value| i64::from(value)).collect();
        let mut wanted = vec![0; wide.len()];
        for axis in 0..shape.len() {
            let sizes: Vec<_> = (0..shape.len()).map(|at| if at == axis { 3 } else { 1 }).collect();
            let second = brute(&wide, &shape, &sizes, |near| near[0] - 2 * near[1] + near[2]);
            wanted.iter_mut().zip(second).for_each(|(sum, value)| *sum += value);
        }
        let found: Vec<f32> = out.buffer.elements();
        let found: Vec<_> = found.into_iter().map(f64::from).collect();
        let wanted: Vec<_> = wanted.into_iter().map(|value| value as f64).collect();
        prop_assert_eq!(found, wanted);
    }

    #[test]
    fn gaussians_of_a_constant_are_it(value: u16, extent in 1..40_u64) {
        let elements = vec![value; usize::try_from(extent).unwrap()];
        let found: Vec<u16> = line("gaussian:sigma=2", DataType::Uint16, &elements);
        prop_assert_eq!(found, elements);
    }
}

#[test]
fn a_gaussian_has_the_weights_of_its_formula() {
    let mut elements = [0.0_f64; 17];
    elements[8] = 1.0;
    let found: Vec<f64> = line("gaussian:sigma=2", DataType::Float64, &elements);
    let weight = |distance: i32| (-0.125 * f64::from(distance * distance)).exp();
    let sum: f64 = (-8..=8).map(weight).sum();
    for (distance, found) in (-8..=8).zip(found) {
        assert!((found - weight(distance) / sum).abs() < 1e-16, "{distance}");
    }
}

#[test]
fn nan_and_infinities_spread_by_the_rules() {
    let line_of =
        |text: &str, elements: &[f32]| line::<f32, f32>(text, DataType::Float32, elements);
    let elements = [1.0, 2.0, f32::NAN, 4.0, 5.0, 6.0];
    let texts = ["gaussian:sigma=0.3", "mean:size=3", "median:size=3", "min:size=3", "max:size=3"];
    for text in texts {
        let found = line_of(text, &elements);
        let is_nan: Vec<_> = found.iter().map(|value| value.is_nan()).collect();
        assert_eq!(is_nan, [false, true, true, true, false, false], "{text}");
        // There is one NaN, whatever its bits were.
        assert_eq!(found[2].to_bits(), f32::NAN.to_bits(), "{text}");
    }
    for text in ["open:size=3", "close:size=3"] {
        let found = line_of(text, &elements);
        assert!(found[..5].iter().all(|value| value.is_nan()) && !found[5].is_nan(), "{text}");
    }
    let infinite = [1.0, f32::INFINITY, 2.0, 3.0, 4.0];
    for text in ["gaussian:sigma=0.3", "mean:size=3"] {
        let found = line_of(text, &infinite);
        assert_eq!(found[..3], [f32::INFINITY; 3], "{text}");
        assert!(found[3..].iter().all(|value| value.is_finite()), "{text}");
    }
    assert_eq!(line_of("median:size=3", &infinite), [1.0, 2.0, 3.0, 3.0, 4.0]);
    let both = [f32::INFINITY, 0.0, f32::NEG_INFINITY];
    assert!(line_of("mean:size=3", &both)[1].is_nan());
    let zeros = line_of("min:size=3", &[0.0, -0.0, 0.0]);
    assert!(zeros.iter().all(|zero| zero.is_sign_negative()));
}

#[test]
fn sums_of_nan_are_one_nan() {
    // Which of two NaN an addition passes on is up to the compiler.
    let bits = [0xffc1_2345_u32, 0x7fc5_4321, 0xff80_0001, 0x3f80_0000, 0x7f80_0000, 0xff80_0000];
    let elements = bits.map(f32::from_bits);
    for text in ["gaussian:sigma=1", "mean:size=9", "gradient-magnitude", "dog:low=1,high=2"] {
        let found: Vec<u32> = line(text, DataType::Float32, &elements);
        assert_eq!(found[..4], [f32::NAN.to_bits(); 4], "{text}");
    }
}

#[test]
fn halos_are_what_results_depend_on() {
    for (text, wanted) in [
        ("gaussian:sigma=2", [8, 8, 8]),
        ("gaussian:sigma=1,0,0.5,truncate=3", [3, 0, 2]),
        ("mean:size=1,3,5", [0, 1, 2]),
        ("median:size=3", [1, 1, 1]),
        ("open:size=1,3,5", [0, 2, 4]),
        ("sobel:axis=1,axes=1,2", [0, 1, 1]),
        ("gradient-magnitude", [1, 1, 1]),
        ("laplacian:axes=2", [0, 0, 1]),
        ("dog:low=0.5,high=0,1,2", [2, 4, 8]),
        ("invert", [0, 0, 0]),
    ] {
        let halo = parsed(text).halo(3).unwrap();
        assert_eq!(halo, wanted.map(|side| [side, side]), "{text}");
        assert_eq!(parsed(text).scale(3), [1, 1, 1], "{text}");
    }
}

#[test]
fn scalars_and_empty_boxes_are_taken() {
    for text in ["gaussian:sigma=2", "mean:size=3", "median:size=3", "open:size=5", "laplacian"] {
        for (shape, elements) in [(vec![], vec![7_i16]), (vec![0, 3], vec![])] {
            let array = Array::of(DataType::Int16, &shape, &elements);
            let result = run(text, &[&array]);
            if text == "laplacian" && shape.is_empty() {
                assert!(result.unwrap_err().to_string().contains("needs an axis"));
                continue;
            }
            let out = result.unwrap_or_else(|error| panic!("{text} of {shape:?}: {error}"));
            if text != "laplacian" {
                assert_eq!(out, array, "{text}");
            }
        }
    }
}
