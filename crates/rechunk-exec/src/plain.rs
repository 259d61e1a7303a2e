//! Source chunks that are stored as they are: a task reads what it takes of each.

use rechunk_array::Array;
use rechunk_format::Plain;
use rechunk_plan::{Stage, StageInput, part_bytes_max};

/// How a stage reads them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainInput {
    /// How their elements are stored.
    pub stored: Plain,
    /// The most that a task reads of one, bytes.
    pub part_bytes_max: u64,
    /// One that a task takes all of is read with its padding, if a lane has room for that: what says whether all
    /// of an object came, its ETag, says nothing of a part.
    pub with_padding: bool,
}

impl PlainInput {
    /// `None` if whole chunks are read.
    pub(crate) fn of(stage: &Stage, source: &Array) -> Option<Self> {
        let stored = source.plain()?;
        if stage.input != StageInput::SourceChunks || stage.passthrough || stage.runs.is_some() {
            return None;
        }
        let (spec, order) = (source.layout().spec(), &source.layout().element_order().axes);
        let part_bytes_max =
            part_bytes_max(&spec.chunk_shape, order, stage.filled(), spec.item_bytes());
        let with_padding = stored == Plain::Padded && source.store().local_root().is_none();
        Some(Self { stored, part_bytes_max, with_padding })
    }
}
