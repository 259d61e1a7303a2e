//! The arrays of a plan: the sides of a request, and an intermediate between each two stages.

use rechunk_plan::{ArrayId, ArrayRole, PlanArray, PlanRequest, Side};

/// The array that stage `position` reads.
pub(crate) fn read_by(position: usize) -> ArrayId {
    ArrayId(position)
}

/// The array that stage `position` writes.
pub(crate) fn written_by(position: usize) -> ArrayId {
    ArrayId(position.saturating_add(1))
}

/// Source, intermediates in their order, target: `tiles` are those of the stages.
pub(crate) fn arrays<'a>(
    request: &PlanRequest,
    tiles: impl ExactSizeIterator<Item = &'a [u64]>,
) -> Vec<PlanArray> {
    let array =
        |role, chunk| PlanArray::new(role, request.shape.clone(), request.item_bytes, chunk);
    let side = |role, side: &Side| PlanArray {
        edges: side.edges.clone(),
        shard: side.shard_shape().map(<[u64]>::to_vec),
        ..array(role, side.chunk_shape.clone())
    };
    let writing = tiles.len().saturating_sub(1);
    let between = tiles.take(writing).map(|tile| PlanArray {
        uploads: request.intermediate_uploads(),
        ..array(ArrayRole::Intermediate, tile.to_vec())
    });
    let target =
        PlanArray { uploads: request.target_uploads(), ..side(ArrayRole::Target, &request.target) };
    let source = side(ArrayRole::Source, &request.source);
    std::iter::once(source).chain(between).chain([target]).collect()
}
