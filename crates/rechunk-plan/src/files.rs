//! Files that are copied as they are: in which pieces, and what that takes.

use std::ops::Range;

use crate::{Estimate, Multipart, Price, Profile, RoleEstimate};

/// Most bytes of a file that one request reads.
pub const FILE_PIECE_BYTES: u64 = 8 << 20;

/// The pieces in which a file of `bytes` bytes is read, in their order; none of an empty one.
pub fn file_pieces(bytes: u64) -> impl Iterator<Item = Range<u64>> {
    (0..bytes.div_ceil(FILE_PIECE_BYTES)).map(move |piece| {
        let start = piece.saturating_mul(FILE_PIECE_BYTES);
        start..start.saturating_add(FILE_PIECE_BYTES).min(bytes)
    })
}

/// Bytes of a part in which a file of `bytes` bytes is sent, where a store takes large objects in
/// parts.
pub fn file_part_bytes(bytes: u64) -> u64 {
    FILE_PIECE_BYTES.max(bytes.div_ceil(Multipart::PARTS_MAX))
}

/// Predicts what the copy of files of these sizes takes; `takes_parts`: the target's store takes
/// large objects in parts.
pub fn estimate_files(
    sizes: impl Iterator<Item = u64>,
    takes_parts: bool,
    profile: &Profile,
) -> Estimate {
    let (mut source, mut target) = (RoleEstimate::default(), RoleEstimate::default());
    for bytes in sizes {
        source.get_requests = source.get_requests.saturating_add(bytes.div_ceil(FILE_PIECE_BYTES));
        source.read_bytes = source.read_bytes.saturating_add(bytes);
        target.put_requests = target.put_requests.saturating_add(1);
        target.objects = target.objects.saturating_add(1);
        target.written_bytes = target.written_bytes.saturating_add(bytes);
        let part_bytes = file_part_bytes(bytes);
        if takes_parts && bytes > part_bytes {
            // One request begins it, and each part is one.
            let parts = bytes.div_ceil(part_bytes).saturating_add(1);
            target.part_requests = target.part_requests.saturating_add(parts);
        }
    }
    let mut price = Price::of(&source, &profile.source);
    price.add(&Price::of(&target, &profile.target));
    let waiting = source.get_requests as f64 * profile.source.get_seconds
        + target.put_requests.saturating_add(target.part_requests) as f64
            * profile.target.put_seconds;
    let moving = source.read_bytes as f64 / profile.source.read_bytes_per_second
        + target.written_bytes as f64 / profile.target.write_bytes_per_second;
    let (seconds, usd) = (waiting + moving, price.total_usd());
    Estimate { source, target, seconds, usd, price, ..Estimate::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreProfile;

    #[test]
    fn pieces_fill_the_file() {
        for bytes in [0, 1, FILE_PIECE_BYTES, FILE_PIECE_BYTES + 1, 3 * FILE_PIECE_BYTES] {
            let pieces: Vec<Range<u64>> = file_pieces(bytes).collect();
            assert_eq!(pieces.iter().map(|piece| piece.end - piece.start).sum::<u64>(), bytes);
            assert!(pieces.windows(2).all(|two| two[0].end == two[1].start));
            assert_eq!(pieces.len() as u64, bytes.div_ceil(FILE_PIECE_BYTES));
        }
    }

    #[test]
    fn requests_of_small_and_large_files() {
        let profile = Profile::uniform(&StoreProfile::built_in("s3").unwrap());
        let sizes = [0, 5, FILE_PIECE_BYTES, FILE_PIECE_BYTES + 1];
        let bytes = sizes.iter().sum::<u64>();
        for (takes_parts, parts) in [(true, 3), (false, 0)] {
            let found = estimate_files(sizes.into_iter(), takes_parts, &profile);
            assert_eq!((found.source.get_requests, found.source.read_bytes), (4, bytes));
            assert_eq!((found.target.put_requests, found.target.written_bytes), (4, bytes));
            assert_eq!(found.target.part_requests, parts);
            assert!(found.seconds > 0.0 && found.usd > 0.0);
        }
    }

    #[test]
    fn no_file_has_more_parts_than_stores_allow() {
        for bytes in [1_u64, 100 << 30, 5 << 40] {
            assert!(bytes.div_ceil(file_part_bytes(bytes)) <= Multipart::PARTS_MAX);
        }
    }
}
