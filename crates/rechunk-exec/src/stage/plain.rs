//! Source chunks that are stored as they are: a task reads what it takes of each.

use rechunk_format::Plain;
use rechunk_plan::{Stage, StageInput, part_bytes_max};

use crate::{Execution, Sink};

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
    /// `None` if whole chunks are read.
    pub(crate) fn of(stage: &Stage, execution: &Execution) -> Option<Self> {
        let source = &execution.source;
        let stored = source.plain()?;
        let takes_whole = matches!(execution.sink, Sink::Digest { of_encoded_chunks: true, .. });
        let is_other = stage.input != StageInput::SourceChunks || stage.runs.is_some();
        if takes_whole || is_other || stage.passthrough {
            return None;
        }
        let (spec, order) = (source.layout().spec(), &source.layout().element_order().axes);
        let part_bytes_max =
            part_bytes_max(&spec.chunk_shape, order, stage.filled(), spec.item_bytes());
        let with_padding = stored == Plain::Padded && source.store().local_root().is_none();
        Some(Self { stored, part_bytes_max, with_padding })
    }
}

/// The most bytes that a stage which reads source chunks fetches of one.
pub(crate) fn fetched_bytes_max(stage: &Stage, execution: &Execution) -> u64 {
    let whole = execution.source.layout().codec_cost().encoded_bytes_max;
    PlainInput::of(stage, execution).map_or(whole, |plain| plain.part_bytes_max)
}
