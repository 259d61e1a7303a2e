//! The inputs of a plan's first stage: chunks of the source, or whole shards.

use rechunk_plan::{AxisCuts, Cuts, DraftInput, PlanRequest};

/// The source as a first stage takes it in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inputs<'a> {
    pub request: &'a PlanRequest,
    /// Cuts of axes on which source chunks differ in length.
    pub cuts: &'a Cuts<'a>,
    /// Whole source shards are fetched at once, not their chunks.
    pub reads_shards: bool,
}

/// Units that the first stage may fetch at once: chunks, or whole shards where there are such. Of a
/// shard whose elements differ in length it is not known whether it can be held.
pub(crate) fn readings(request: &PlanRequest) -> &'static [bool] {
    let is_whole = request.source.has_whole_shards() && !request.is_variable;
    if is_whole { &[false, true] } else { &[false] }
}

/// Extents of the array, at least 1: a box that spans every axis.
pub(crate) fn axis_extents(request: &PlanRequest) -> Vec<u64> {
    request.shape.iter().map(|&extent| extent.max(1)).collect()
}

impl<'a> Inputs<'a> {
    /// Units that the first stage reads.
    pub(crate) fn read_input(&self) -> DraftInput {
        if self.reads_shards { DraftInput::SourceShards } else { DraftInput::SourceChunks }
    }

    /// Shape of what the first stage fetches at a time, elements.
    pub(crate) fn read_unit(&self) -> &'a [u64] {
        let source = &self.request.source;
        if self.reads_shards { source.commit_shape() } else { &source.chunk_shape }
    }

    /// Number of what the first stage fetches along `axis`.
    pub(crate) fn inputs_along(&self, axis: usize) -> u64 {
        let extent = self.request.shape[axis].max(1);
        self.cuts
            .axis(axis)
            .map_or_else(|| extent.div_ceil(self.read_unit()[axis]), AxisCuts::count)
    }

    /// At least as many of them as a tile of `extent` meets.
    pub(crate) fn whole_step(&self, axis: usize, extent: u64) -> u64 {
        let all = || extent.div_ceil(self.read_unit()[axis]).saturating_add(1);
        self.cuts.axis(axis).map_or_else(all, AxisCuts::count)
    }
}
