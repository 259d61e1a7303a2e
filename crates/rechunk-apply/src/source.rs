//! Positions in a source whose voxels are larger or smaller than those of the target.

use crate::spec::ScaleRatio;
use crate::tiles::signed;
use crate::voxel_box::Span;

/// Source voxels of a range of target voxels: those that they meet.
pub(crate) fn source_span(span: Span, scale: ScaleRatio) -> Span {
    let (source, target) = (signed(scale.source), signed(scale.target));
    let start = span.start.saturating_mul(source).div_euclid(target);
    let end = -(-span.end.saturating_mul(source)).div_euclid(target);
    Span::new(start, end)
}
