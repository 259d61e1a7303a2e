//! Memory that runs take, held against what operations declare. A program of its own: its allocator
//! counts, and nothing else may run beside it.

#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use peak_alloc::PeakAlloc;
use rechunk_grid::{DataType, Region};
use rechunk_ops::{BoxView, Operation, Output, TaskContext, operation, parse_settings};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Small things that are not worth a declaration: shapes, weights, names.
const SLACK_BYTES: u64 = 32 << 10;

/// Bytes that a run allocates at most at once.
fn peak_bytes(operation: &dyn Operation, data_type: DataType, shape: &[u64]) -> u64 {
    let elements = shape.iter().product::<u64>();
    let words = |item_bytes: u64| {
        // Bytes that are 0 or 1 are elements of every type, bool too.
        let words = usize::try_from((elements * item_bytes).div_ceil(8)).unwrap();
        (0..words).map(|word| (word as u64 * 0x9e37_79b9) & 0x0101_0101_0101_0101).collect()
    };
    let source: Vec<u64> = words(data_type.item_bytes());
    let to = operation.output_type(data_type).unwrap();
    let mut out: Vec<u64> = words(to.item_bytes());
    let of = |bytes: u64| usize::try_from(elements * bytes).unwrap();
    let bytes = &bytemuck::cast_slice(&source)[..of(data_type.item_bytes())];
    let out = &mut bytemuck::cast_slice_mut(&mut out)[..of(to.item_bytes())];
    let views = vec![BoxView::new(data_type, shape, bytes); operation.inputs()];
    let keep = Region::new(vec![1; shape.len()], shape.iter().map(|extent| extent - 2).collect());
    let context = TaskContext::whole(shape).keeping(keep);
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    match operation.output() {
        Output::Array => {
            operation.run(&views, out, &context).unwrap();
        }
        Output::Statistic(statistic) => {
            statistic.measure(&views[0], &context).unwrap();
        }
    }
    (ALLOCATOR.peak_usage() - before) as u64
}

#[test]
fn runs_take_no_more_than_they_declare() {
    let types = [DataType::Uint8, DataType::Uint16, DataType::Int64, DataType::Float16]
        .into_iter()
        .chain([DataType::Float32, DataType::Float64, DataType::Bool]);
    let types: Vec<_> = types.collect();
    for text in [
        "identity",
        "cast:to=float64",
        "rescale:scale=2",
        "clamp:min=1",
        "threshold:min=1",
        "invert",
        "lut:table=0>1;1>0",
        "mask",
        "where-missing:missing=0",
        "mean:size=5",
        "gaussian:sigma=2",
        "median:size=5",
        "min:size=3",
        "open:size=3",
        "sobel:axis=0",
        "gradient-magnitude",
        "laplacian",
        "dog:low=1,high=2",
        "histogram:range=0..9",
        "min-max-mean",
        "unique-count:limit=300000",
        "checksum",
    ] {
        let (name, settings) = parse_settings(text).unwrap();
        let operation = operation(&name, &settings).unwrap();
        for &data_type in &types {
            if operation.output_type(data_type).is_err() {
                continue;
            }
            for shape in [[40, 60, 70], [5, 400, 90], [150, 9, 20]] {
                let peak = peak_bytes(&*operation, data_type, &shape);
                let declared = operation.scratch_bytes(&shape, data_type);
                assert!(
                    peak <= declared + SLACK_BYTES,
                    "{text} of {data_type} {shape:?}: takes {peak} bytes, declares {declared}"
                );
            }
        }
    }
}
