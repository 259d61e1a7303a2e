//! Length of the blocks that c-blosc cuts a chunk into (1.21, `compute_blocksize` and
//! `split_block`).

use crate::BloscName;
use crate::blosc_blocks::is_split;

/// c-blosc's `MIN_BUFFERSIZE`: what is shorter is copied, and no block is.
pub(crate) const BYTES_MIN: usize = 128;
/// c-blosc's `L1`.
const CACHE_BYTES: usize = 32 << 10;
/// Shortest and longest block that is split; longest stream of one.
const SPLIT_BYTES_MIN: usize = 64 << 10;
const SPLIT_BYTES_MAX: usize = 1 << 20;
const STREAM_BYTES_MAX: usize = 256 << 10;

/// Bytes of a block of a chunk of `bytes`; `blocksize` as metadata says it (0: what suits).
pub(crate) fn block_bytes(
    cname: BloscName,
    clevel: u8,
    typesize: usize,
    blocksize: usize,
    bytes: usize,
) -> usize {
    let typesize = typesize.max(1);
    let is_slow = matches!(cname, BloscName::Lz4hc | BloscName::Zlib | BloscName::Zstd);
    let mut block = bytes;
    if blocksize > 0 {
        block = blocksize.max(BYTES_MIN);
    } else if bytes >= CACHE_BYTES {
        let unit = if is_slow { 2 * CACHE_BYTES } else { CACHE_BYTES };
        block = match clevel {
            0 => unit / 4,
            1 => unit / 2,
            2 => unit,
            3 => unit * 2,
            4 | 5 => unit * 4,
            9 if is_slow => unit * 16,
            _ => unit * 8,
        };
    }
    if clevel > 0 && cname != BloscName::Zstd && is_split(typesize, block) {
        block = block.min(STREAM_BYTES_MAX).saturating_mul(typesize);
        block = block.clamp(SPLIT_BYTES_MIN, SPLIT_BYTES_MAX);
    }
    block = block.min(bytes);
    if block > typesize { block / typesize * typesize } else { block.max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blosc::encode_by_library;
    use crate::{BloscSettings, Shuffle};

    #[test]
    fn blocks_are_as_long_as_c_blosc_makes_them() {
        let mut seen = 0;
        for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
            let Some(cname) = BloscName::from_name(cname) else { continue };
            for (clevel, typesize) in [(1, 2), (3, 1), (5, 2), (5, 8), (6, 4), (9, 4), (9, 20)] {
                for (bytes, blocksize) in [(2_000_000, 0), (40_000, 0), (2_000_000, 100_000)] {
                    let shuffle = Shuffle::Byte;
                    let settings = BloscSettings { cname, clevel, shuffle, typesize, blocksize };
                    let Ok(encoded) = encode_by_library(&vec![1; bytes], settings) else {
                        continue; // this build may be without the codec
                    };
                    let said = u32::from_le_bytes(*encoded[8..].first_chunk().unwrap());
                    let typesize = usize::from(typesize);
                    let found = block_bytes(cname, clevel, typesize, blocksize as usize, bytes);
                    assert_eq!(found, said as usize, "{settings:?} {bytes}");
                    seen += 1;
                }
            }
        }
        assert!(seen > 100, "{seen}");
    }
}
