//! The arrays of a plan: the sides of a request, and an intermediate between each two stages.

use rechunk_plan::{ArrayId, ArrayRole, PlanArray, PlanRequest};

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
    let (shape, item_bytes) = (&request.shape, request.item_bytes);
    let source = PlanArray::of_side(ArrayRole::Source, shape.clone(), item_bytes, &request.source);
    let writing = tiles.len().saturating_sub(1);
    let between = tiles.take(writing).map(|tile| PlanArray {
        uploads: request.intermediate_uploads(),
        ..PlanArray::new(ArrayRole::Intermediate, shape.clone(), item_bytes, tile.to_vec())
    });
    let target = PlanArray {
        uploads: request.target_uploads(),
        ..PlanArray::of_side(ArrayRole::Target, shape.clone(), item_bytes, &request.target)
    };
    std::iter::once(source).chain(between).chain([target]).collect()
}
