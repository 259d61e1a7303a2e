//! N5: `attributes.json`, and blocks of every compression.

use std::sync::OnceLock;

use rechunk_format::{FormatError, Layout};
use rechunk_n5::{
    AxisOrder, BLOCK_BYTES_MAX, N5Layout, N5Metadata, group_document, parse_dataset, parse_group,
    reserved_names,
};

use super::round_trip;

/// A document: what it says of a group, and of a dataset if it is one.
#[expect(clippy::panic, reason = "a target fails by panicking")]
pub(crate) fn attributes(data: &[u8]) -> bool {
    let mut is_accepted = false;
    if let Ok(group) = parse_group(data) {
        let written = group_document(&group.attributes, group.version);
        // What would make it a dataset is left out.
        if reserved_names(&group.attributes).is_empty() {
            assert_eq!(parse_group(&written).as_ref().ok(), Some(&group));
        }
        assert_eq!(parse_dataset(&written).ok(), Some(None));
        let _ = group.plain_attributes();
        is_accepted = true;
    }
    if let Ok(Some(metadata)) = parse_dataset(data) {
        let again = parse_dataset(&metadata.document());
        assert_eq!(again.as_ref().ok().and_then(Option::as_ref), Some(&metadata), "{again:?}");
        assert!(metadata.block_bytes() <= BLOCK_BYTES_MAX);
        for axis_order in [AxisOrder::Reversed, AxisOrder::Kept] {
            match N5Layout::new(metadata.clone(), axis_order) {
                Ok(layout) => holds(&layout, &metadata),
                Err(error) => panic!("accepted, but without a layout: {error}"),
            }
        }
        is_accepted = true;
    }
    is_accepted
}

/// Properties of the layout of any metadata that was accepted.
fn holds(layout: &N5Layout, metadata: &N5Metadata) {
    let spec = layout.spec();
    let grid = spec.grid();
    assert!(grid.is_ok(), "{grid:?}");
    let Ok(grid) = grid else { return };
    let last: Vec<u64> =
        (0..grid.rank()).map(|axis| grid.count_along(axis).saturating_sub(1)).collect();
    assert_eq!(layout.object_index(&layout.object_key(&last)), Some(last));
    assert_eq!(spec.dimension_names.as_ref().map_or(grid.rank(), Vec::len), grid.rank());
    let names = usize::from(spec.dimension_names.is_some());
    assert_eq!(metadata.user_attributes().len() + names, metadata.attributes.len());
    let is_variable = spec.data_type.is_variable();
    assert!(is_variable || layout.codec_cost().encoded_bytes_max >= metadata.block_bytes());
}

/// Compressions; the first byte of the input chooses.
const CASES: [&str; 12] = [
    r#"{"type": "raw"}"#,
    r#"{"type": "gzip", "level": 1}"#,
    r#"{"type": "gzip", "level": 1, "useZlib": true}"#,
    r#"{"type": "bzip2", "blockSize": 1}"#,
    r#"{"type": "xz", "preset": 0}"#,
    r#"{"type": "lz4", "blockSize": 64}"#,
    r#"{"type": "lz4"}"#,
    r#"{"type": "zstd", "level": 1}"#,
    r#"{"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}"#,
    r#"{"type": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 2, "blocksize": 512}"#,
    r#"{"type": "blosc", "cname": "snappy", "clevel": 5, "shuffle": 0, "typesize": 8}"#,
    r#"{"type": "blosc", "cname": "zlib", "clevel": 1, "shuffle": -1}"#,
];

fn layouts() -> &'static [N5Layout] {
    static LAYOUTS: OnceLock<Vec<N5Layout>> = OnceLock::new();
    LAYOUTS.get_or_init(|| CASES.iter().map(|compression| layout(compression)).collect())
}

#[expect(clippy::panic, reason = "a target fails by panicking")]
fn layout(compression: &str) -> N5Layout {
    let document = format!(
        r#"{{"dimensions": [40, 24], "blockSize": [32, 24], "dataType": "int32",
        "compression": {compression}}}"#
    );
    let is_group = || FormatError::Metadata { key: String::new(), reason: "a group".to_owned() };
    parse_dataset(document.as_bytes())
        .and_then(|metadata| metadata.ok_or_else(is_group))
        .and_then(|metadata| N5Layout::new(metadata, AxisOrder::Reversed))
        .unwrap_or_else(|error| panic!("{compression}: {error}"))
}

/// A byte that names the compression, then a block: the first, which is not at the edge.
pub(crate) fn block(data: &[u8]) -> bool {
    let Some((&choice, block)) = data.split_first() else { return false };
    round_trip(&layouts()[usize::from(choice) % CASES.len()], block, true)
}
