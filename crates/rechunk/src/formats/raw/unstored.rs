//! An array that is stored nowhere: what a target is specified by.

use rechunk_format::ElementOrder;
use rechunk_grid::ArraySpec;
use rechunk_raw::{Files, KeyTemplate, RawMetadata};
use serde_json::Map;

use crate::formats::Metadata;

/// The metadata of an array of which nothing is known but its specification.
pub(crate) fn of_spec(spec: ArraySpec) -> Metadata {
    let rank = spec.shape.len();
    Metadata::Raw(Box::new(RawMetadata {
        spec,
        order: ElementOrder::c_little(rank),
        files: Files::Blocks { key: KeyTemplate::usual(rank), offset_bytes: 0 },
        record: None,
        attributes: Map::new(),
    }))
}
