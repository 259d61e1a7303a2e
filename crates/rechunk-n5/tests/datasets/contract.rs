//! N5, held to the contract of a format.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rechunk_conformance::formats::{Cuts, check_format_with};
use rechunk_grid::ArraySpec;
use rechunk_n5::{AxisOrder, N5Layout, N5Type, parse_dataset};
use serde_json::{Value, json};

/// Every shape but the scalar in two types, and ten types in one.
const LAYOUTS: usize = 2 * 9 + 10;

fn layout(spec: &ArraySpec, compression: &Value, order: AxisOrder) -> Option<N5Layout> {
    N5Type::of(spec.data_type)?;
    if spec.shape.is_empty() {
        return None;
    }
    let stored = |shape: &[u64]| -> Vec<u64> {
        match order {
            AxisOrder::Reversed => shape.iter().rev().copied().collect(),
            AxisOrder::Kept => shape.to_vec(),
        }
    };
    let document = json!({
        "dimensions": stored(&spec.shape), "blockSize": stored(&spec.chunk_shape),
        "dataType": spec.data_type.name(), "compression": compression,
    });
    let metadata = parse_dataset(document.to_string().as_bytes()).unwrap().unwrap();
    Some(N5Layout::new(metadata, order).unwrap())
}

#[test]
fn datasets_of_every_compression() {
    for compression in [
        json!({"type": "raw"}),
        json!({"type": "gzip", "level": 1}),
        json!({"type": "gzip", "level": 1, "useZlib": true}),
        json!({"type": "bzip2", "blockSize": 1}),
        json!({"type": "xz", "preset": 0}),
        json!({"type": "lz4", "blockSize": 64}),
        json!({"type": "zstd", "level": 3}),
        json!({"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0,
            "nthreads": 1}),
    ] {
        for order in [AxisOrder::Reversed, AxisOrder::Kept] {
            // The beginning of a block of lz4 may be a whole one as other writers store it.
            let cuts = if compression["type"] == "lz4" { Cuts::MayBeSilent } else { Cuts::Told };
            let make = |spec: &ArraySpec| layout(spec, &compression, order);
            let checked = check_format_with(cuts, make).unwrap();
            assert_eq!(checked.layouts, LAYOUTS, "{compression}");
        }
    }
}
