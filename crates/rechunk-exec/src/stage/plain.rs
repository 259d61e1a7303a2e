//! Source chunks that are stored as they are: a task reads what it takes of each.

use rechunk_array::Array;
use rechunk_format::Plain;
use rechunk_plan::{Stage, part_bytes_max};

/// Manner in which a stage reads plain chunks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainInput {
    /// Layout of their stored elements.
    pub stored: Plain,
    /// The most that a task reads of one, bytes.
    pub part_bytes_max: u64,
    /// Chunks that a task takes all of are read with their padding, if a lane has room for that.
    /// The ETag says whether all of an object came, but nothing of a part.
    pub with_padding: bool,
}

impl PlainInput {
    /// `None` if chunks of the source are not plain.
    pub(crate) fn of(stage: &Stage, source: &Array) -> Option<Self> {
        let stored = source.plain()?;
        let (spec, order) = (source.layout().spec(), &source.layout().element_order().axes);
        let part_bytes_max =
            part_bytes_max(&spec.chunk_shape, order, stage.filled(), spec.item_bytes());
        let with_padding = stored == Plain::Padded && source.store().local_root().is_none();
        Some(Self { stored, part_bytes_max, with_padding })
    }
}
