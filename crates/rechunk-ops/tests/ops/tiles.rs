//! A box in tiles, each with its halo, is the box.

use proptest::prelude::*;
use rechunk_grid::{DataType, Region};
use rechunk_ops::{TaskContext, operations};

use crate::harness::{Array, TYPES, arrays, copy, parsed, run_in, shapes};

/// Operations of each kind, with settings.
const OPERATIONS: [&str; 24] = [
    "identity",
    "cast:to=int16,overflow=wrap",
    "rescale:scale=0.3,offset=-7",
    "clamp:min=10,max=100",
    "threshold:min=3",
    "equal:value=0",
    "replace:from=0,to=1",
    "invert",
    "lut:table=1>2;2>1",
    "remap-labels:table=1>2,default=0",
    "mask",
    "where-missing:missing=0",
    "mean:size=3",
    "gaussian:sigma=0.9",
    "median:size=3",
    "min:size=3",
    "max:size=5",
    "open:size=3",
    "close:size=3",
    "sobel:axis=0",
    "gradient-magnitude",
    "laplacian",
    "dog:low=0.5,high=1",
    "gaussian:sigma=1.3,truncate=2",
];

#[test]
fn every_operation_is_tiled() {
    for info in operations() {
        let is_here = OPERATIONS.iter().any(|text| text.split(':').next() == Some(info.name));
        assert!(is_here || info.result.starts_with("a statistic"), "{}", info.name);
    }
}

/// Computes an array tile by tile.
fn tiled(text: &str, inputs: &[&Array], tile: &[u64], only_kept: bool) -> Array {
    let (operation, shape) = (parsed(text), &inputs[0].shape);
    let halo = operation.halo(shape.len()).unwrap();
    let mut out = Array::zeros(operation.output_type(inputs[0].data_type).unwrap(), shape);
    let grid: Vec<_> =
        shape.iter().zip(tile).map(|(extent, tile)| extent.div_ceil(*tile)).collect();
    for index in Region::whole(&grid).positions() {
        let axes = 0..shape.len();
        let start: Vec<_> = axes.clone().map(|axis| index[axis] * tile[axis]).collect();
        let end: Vec<_> =
            axes.clone().map(|axis| (start[axis] + tile[axis]).min(shape[axis])).collect();
        let from: Vec<_> =
            axes.clone().map(|axis| start[axis].saturating_sub(halo[axis][0])).collect();
        let size = axes
            .clone()
            .map(|axis| (end[axis] + halo[axis][1]).min(shape[axis]) - from[axis])
            .collect();
        let padded = Region::new(from.clone(), size);
        let parts: Vec<_> = inputs.iter().map(|input| input.part(&padded)).collect();
        let parts: Vec<_> = parts.iter().collect();
        let within: Vec<_> = axes.clone().map(|axis| start[axis] - from[axis]).collect();
        let kept: Vec<_> = axes.map(|axis| end[axis] - start[axis]).collect();
        let context = TaskContext::whole(&padded.shape);
        let keep = Region::new(within.clone(), kept.clone());
        let context = if only_kept { context.keeping(keep) } else { context };
        let part = run_in(text, &parts, &context).unwrap();
        copy(&part, &within, &mut out, &start, &kept);
    }
    out
}

/// An operation, its inputs and the shape of tiles.
fn jobs() -> impl Strategy<Value = (&'static str, Vec<Array>, Vec<u64>)> {
    let chosen =
        (prop::sample::select(&OPERATIONS[..]), prop::sample::select(&TYPES[..]), shapes());
    let chosen = chosen.prop_filter("types and axes it takes", |(text, data_type, _)| {
        parsed(text).output_type(*data_type).is_ok()
    });
    chosen.prop_flat_map(|(text, data_type, shape)| {
        let inputs = parsed(text).inputs();
        let array = arrays(data_type, shape.clone());
        let tile: Vec<_> = shape.iter().map(|&extent| 1..=extent).collect();
        (Just(text), prop::collection::vec(array, inputs), tile)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn tiles_with_halos_have_the_bits_of_the_whole(
        (text, inputs, tile) in jobs(),
        only_kept: bool,
    ) {
        let inputs: Vec<_> = inputs.iter().collect();
        let whole = match run_in(text, &inputs, &TaskContext::whole(&inputs[0].shape)) {
            Ok(whole) => whole,
            Err(error) => return Err(TestCaseError::fail(format!("{text}: {error}"))),
        };
        prop_assert_eq!(tiled(text, &inputs, &tile, only_kept), whole, "{}", text);
    }
}

#[test]
fn long_rows_have_the_bits_of_short_ones() {
    // Sums are computed many at once; those at the end of a row one by one.
    let elements: Vec<f32> = (0_u16..3 * 500).map(|at| (f32::from(at) * 1.7).sin()).collect();
    let array = Array::of(DataType::Float32, &[3, 500], &elements);
    for text in ["gaussian:sigma=2", "mean:size=9", "max:size=7", "median:size=5", "laplacian"] {
        let whole = run_in(text, &[&array], &TaskContext::whole(&array.shape)).unwrap();
        for tile in [[1, 500], [3, 1], [2, 37], [3, 64]] {
            assert_eq!(tiled(text, &[&array], &tile, true), whole, "{text} {tile:?}");
        }
    }
}

#[test]
fn blocks_have_the_bits_of_the_whole() {
    // Larger than a block of the second cache: several blocks along the first axis.
    let elements: Vec<f64> = (0_u32..40 * 96 * 96).map(|at| f64::from(at).sqrt().sin()).collect();
    let array = Array::of(DataType::Float64, &[40, 96, 96], &elements);
    for text in ["gaussian:sigma=1.2", "open:size=3", "gradient-magnitude", "mean:size=5,1,3"] {
        let whole = run_in(text, &[&array], &TaskContext::whole(&array.shape)).unwrap();
        assert_eq!(tiled(text, &[&array], &[7, 96, 50], true), whole, "{text}");
    }
}
