//! Bytes and requests of objects that differ in length.

use crate::PlanRequest;
use crate::count::product;
use crate::cuts::Cuts;

/// Requests of the uploads of all target chunks, given what one of so many elements takes. Where
/// there are very many different ones, what the largest take.
pub(crate) fn over_lengths(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    takes: impl Fn(u64) -> u64,
) -> u64 {
    const SIZES_MAX: usize = 1 << 12;
    let chunk = &request.target.chunk_shape;
    let most = takes(product(chunk.iter().copied()));
    if most == 0 {
        return 0;
    }
    let mut sizes = vec![(1_u64, 1_u64)];
    for (axis, &extent) in chunk.iter().enumerate() {
        let along = match cuts.target_axis(axis) {
            Some(target) => target.lengths(),
            None => vec![(extent, request.shape[axis].div_ceil(extent))],
        };
        if sizes.len().saturating_mul(along.len()) > SIZES_MAX {
            return cuts.target_objects(request, chunk).saturating_mul(most);
        }
        let longer = sizes.iter().flat_map(|&(elements, count)| {
            let more = along.iter();
            more.map(move |&(length, often)| {
                (elements.saturating_mul(length), count.saturating_mul(often))
            })
        });
        sizes = longer.collect();
    }
    let requests = sizes.into_iter().map(|(elements, count)| takes(elements).saturating_mul(count));
    requests.fold(0, u64::saturating_add)
}

/// Expected bytes of `elements`, where those of a chunk of `chunk_elements` are `expected`.
pub(crate) fn scaled(expected: u64, elements: u64, chunk_elements: u64) -> u64 {
    let bytes = u128::from(expected) * u128::from(elements) / u128::from(chunk_elements.max(1));
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
