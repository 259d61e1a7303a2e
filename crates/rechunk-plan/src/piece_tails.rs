//! Bytes behind the elements of pieces.

use crate::PlanRequest;
use crate::absence::{parts_max, parts_of_three};
use crate::count::product;
use crate::cuts::{Boxes, Cuts};
use crate::geometry::PIECE_CHECKSUM_BYTES;

/// Bytes behind the elements of all pieces between boxes and a regular grid of `written`: what they
/// keep of absence, and their checksums.
pub(crate) fn tails(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    boxes: Boxes<'_>,
    written: &[u64],
) -> u64 {
    let pieces = cuts.pairs_with(request, boxes, written);
    let checksums = pieces.saturating_mul(PIECE_CHECKSUM_BYTES);
    if !request.keeps_absence {
        return checksums;
    }
    let parts = (0..written.len()).map(|axis| match cuts.target_axis(axis) {
        // Boxes end where chunks do.
        Some(target) if request.shape[axis] > 0 => target.parts(written[axis]),
        _ => parts_of_three(
            request.shape[axis],
            [boxes.shape[axis], written[axis], request.target.chunk_shape[axis]],
        ),
    });
    product(parts).saturating_add(checksums)
}

/// The most that a piece of `shape` keeps of absence, bytes.
pub(crate) fn marks_max(request: &PlanRequest, cuts: &Cuts<'_>, shape: &[u64]) -> u64 {
    if !request.keeps_absence {
        return 0;
    }
    product(shape.iter().enumerate().map(|(axis, &extent)| match cuts.target_axis(axis) {
        Some(target) => target.touched_max(extent),
        None => parts_max(extent, request.target.chunk_shape[axis]),
    }))
}
