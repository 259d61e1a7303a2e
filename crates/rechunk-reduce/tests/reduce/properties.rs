//! Properties of reductions of random boxes.

use proptest::prelude::*;
use rechunk_grid::DataType;
use rechunk_reduce::{
    Counts, Method, Rounding, SumType, fold_cells, fold_counts, reduce, reduce_masked, round_sums,
    sum_cells, sum_cells_masked,
};

use crate::boxes::{Sample, samples};
use crate::reference::{
    METHODS, Value, assert_item, cells, cells_shape, item_bytes, read, reduce_cell,
};

fn reduced(method: Method, rounding: Rounding, sample: &Sample) -> Vec<u8> {
    let Sample { data_type, shape, factors, input, .. } = sample;
    let cells: u64 = cells_shape(shape, factors).iter().product();
    let mut output = vec![0xaa; usize::try_from(cells * data_type.item_bytes()).unwrap()];
    reduce(method, rounding, *data_type, input, shape, factors, &mut output).unwrap();
    output
}

fn sums_of(sample: &Sample, factors: &[u64]) -> Vec<u8> {
    let Sample { data_type, shape, input, .. } = sample;
    let cells: u64 = cells_shape(shape, factors).iter().product();
    let sum_bytes = SumType::of(*data_type).item_bytes();
    let mut sums = vec![0xaa; usize::try_from(cells * sum_bytes).unwrap()];
    sum_cells(*data_type, input, shape, factors, &mut sums).unwrap();
    sums
}

/// Counts of a box without missing elements.
fn counts_of_box(shape: &[u64], factors: &[u64]) -> Counts<'static> {
    let axis = |(&extent, &factor): (&u64, &u64)| {
        (0..extent.div_ceil(factor)).map(|cell| factor.min(extent - cell * factor)).collect()
    };
    Counts::Axes(shape.iter().zip(factors).map(axis).collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn every_method_reduces_each_cell_as_the_reference(sample in samples()) {
        let bytes = item_bytes(sample.data_type);
        let items: Vec<_> = sample.input.chunks(bytes).collect();
        let cells = cells(&sample.shape, &sample.factors);
        for method in METHODS {
            for rounding in Rounding::ALL {
                let output = reduced(method, rounding, &sample);
                for (cell, found) in cells.iter().zip(output.chunks(bytes)) {
                    let cell: Vec<_> = cell.iter().map(|&at| items[at]).collect();
                    let wanted = reduce_cell(method, rounding, sample.data_type, &cell);
                    assert_item(method, sample.data_type, found, wanted);
                }
                if method != Method::Mean {
                    break;
                }
            }
        }
    }

    #[test]
    fn elements_that_are_masked_do_not_count(sample in samples()) {
        let Sample { data_type, shape, factors, input, mask } = &sample;
        let bytes = item_bytes(*data_type);
        let items: Vec<_> = input.chunks(bytes).collect();
        let cells = cells(shape, factors);
        let fill = vec![1; bytes];
        for method in METHODS {
            let mut output = vec![0xaa; cells.len() * bytes];
            let mut presence = vec![7; cells.len()];
            reduce_masked(
                method, Rounding::HalfEven, *data_type, input, mask, shape, factors, &fill,
                &mut output, &mut presence,
            ).unwrap();
            for ((cell, found), is_present) in cells.iter().zip(output.chunks(bytes)).zip(presence) {
                let present = cell.iter().filter(|&&at| mask[at] == 1);
                let present: Vec<_> = present.map(|&at| items[at]).collect();
                assert_eq!(is_present, u8::from(!present.is_empty()));
                if present.is_empty() {
                    assert_eq!(found, fill);
                } else {
                    let wanted = reduce_cell(method, Rounding::HalfEven, *data_type, &present);
                    assert_item(method, *data_type, found, wanted);
                }
            }
        }
    }

    #[test]
    fn sums_divided_by_counts_are_means(sample in samples()) {
        let Sample { data_type, shape, factors, input, mask } = &sample;
        let fill = vec![1; item_bytes(*data_type)];
        for rounding in Rounding::ALL {
            let wanted = reduced(Method::Mean, rounding, &sample);
            let (sums, counts) = (sums_of(&sample, factors), counts_of_box(shape, factors));
            let mut means = vec![0; wanted.len()];
            round_sums(*data_type, rounding, &sums, &counts, &fill, &mut means).unwrap();
            assert_same_items(*data_type, &means, &wanted);

            let cells = wanted.len() / fill.len();
            let (mut sums, mut counts) = (vec![0xaa; sums.len()], vec![99; cells]);
            sum_cells_masked(*data_type, input, mask, shape, factors, &mut sums, &mut counts)
                .unwrap();
            round_sums(*data_type, rounding, &sums, &Counts::Each(&counts), &fill, &mut means)
                .unwrap();
            let (mut wanted, mut presence) = (vec![0; wanted.len()], vec![0; cells]);
            reduce_masked(
                Method::Mean, rounding, *data_type, input, mask, shape, factors, &fill,
                &mut wanted, &mut presence,
            ).unwrap();
            assert_same_items(*data_type, &means, &wanted);
            assert_eq!(counts.iter().map(|&count| u8::from(count > 0)).collect::<Vec<_>>(), presence);
        }
    }

    #[test]
    fn sums_of_sums_are_sums(sample in samples(), factor in 1_u64..5) {
        let Sample { data_type, shape, factors, .. } = &sample;
        let (sum_type, sums) = (SumType::of(*data_type), sums_of(&sample, factors));
        let level = cells_shape(shape, factors);
        let more = vec![factor; level.len()];
        let bytes = usize::try_from(sum_type.item_bytes()).unwrap();
        let cells = cells(&level, &more);
        let mut folded = vec![0xaa; cells.len() * bytes];
        fold_cells(sum_type, &sums, &level, &more, &mut folded).unwrap();
        if sum_type == SumType::F64 {
            let sums: Vec<_> =
                sums.chunks(8).map(|sum| f64::from_ne_bytes(sum.try_into().unwrap())).collect();
            for (cell, found) in cells.iter().zip(folded.chunks(8)) {
                let wanted = cell[1..].iter().fold(sums[cell[0]], |sum, &at| sum + sums[at]);
                assert_same_items(DataType::Float64, found, &wanted.to_ne_bytes());
            }
        } else {
            let both: Vec<_> = factors.iter().map(|one| one * factor).collect();
            assert_eq!(folded, sums_of(&sample, &both));
        }
    }

    #[test]
    fn counts_of_counts_are_counts(sample in samples(), factor in 1_u64..5) {
        let Sample { shape, factors, mask, .. } = &sample;
        let level = cells_shape(shape, factors);
        let more = vec![factor; level.len()];
        let both: Vec<_> = factors.iter().map(|one| one * factor).collect();
        let ones: Vec<_> = mask.iter().map(|&mask| u64::from(mask)).collect();
        let (fine, coarse) = (cells(shape, factors), cells(shape, &both));
        let (mut counts, mut folded) = (vec![0; fine.len()], vec![99; coarse.len()]);
        fold_counts(&ones, shape, factors, &mut counts).unwrap();
        fold_counts(&counts, &level, &more, &mut folded).unwrap();
        let wanted = coarse.iter().map(|cell| cell.iter().map(|&at| ones[at]).sum());
        assert_eq!(folded, wanted.collect::<Vec<u64>>());
    }

    #[test]
    fn a_chained_method_needs_no_finer_level(sample in samples(), factor in 1_u64..5) {
        let Sample { data_type, shape, factors, .. } = &sample;
        for method in METHODS.into_iter().filter(|method| method.is_chained()) {
            let level = Sample {
                shape: cells_shape(shape, factors),
                factors: vec![factor; factors.len()],
                input: reduced(method, Rounding::Down, &sample),
                ..sample.clone()
            };
            let both = factors.iter().map(|one| one * factor).collect();
            let direct = Sample { factors: both, ..sample.clone() };
            let chained = reduced(method, Rounding::Down, &level);
            assert_same_items(*data_type, &chained, &reduced(method, Rounding::Down, &direct));
        }
    }

    #[test]
    fn buffers_need_no_alignment(sample in samples()) {
        let Sample { data_type, shape, factors, input, .. } = &sample;
        for method in METHODS {
            let wanted = reduced(method, Rounding::Down, &sample);
            let (mut shifted, mut output) = (vec![0], vec![0; wanted.len() + 1]);
            shifted.extend_from_slice(input);
            let target = &mut output[1..];
            reduce(method, Rounding::Down, *data_type, &shifted[1..], shape, factors, target)
                .unwrap();
            assert_eq!(target, wanted);
        }
    }
}

/// Compares bits, of NaN whether both are.
fn assert_same_items(data_type: DataType, found: &[u8], wanted: &[u8]) {
    let bytes = item_bytes(data_type);
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.chunks(bytes).zip(wanted.chunks(bytes)) {
        let is_nan = |item| matches!(read(data_type, item), Value::Float(value) if value.is_nan());
        assert!(found == wanted || (is_nan(found) && is_nan(wanted)), "{found:?} {wanted:?}");
    }
}
