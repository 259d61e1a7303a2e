use std::ffi::{c_char, c_int};

use lz4_sys as _; // the library, of which it does not name this function

#[expect(unsafe_code, reason = "says that the library has such a function")]
// SAFETY: name, arguments and result are those of `lz4.h`.
unsafe extern "C" {
    /// `lz4.h`, since 1.9.0 with exactly this meaning.
    #[link_name = "LZ4_decompress_safe_partial"]
    fn decompress_safe_partial(
        encoded: *const c_char,
        decoded: *mut c_char,
        encoded_bytes: c_int,
        wanted_bytes: c_int,
        decoded_bytes: c_int,
    ) -> c_int;
}

/// Decodes the first bytes of an LZ4 block, as many as `prefix` has, and stops there: what follows
/// is not looked at. How many there are, fewer if the block decodes to fewer; `None` if it is
/// damaged up to there, or one of the two is longer than 2 GiB. (The bindings, and safe crates on
/// top of them, decode whole blocks only.)
#[expect(unsafe_code, reason = "a function of the C library, which knows nothing of slices")]
pub fn decode_lz4_prefix(encoded: &[u8], prefix: &mut [u8]) -> Option<usize> {
    let encoded_bytes = c_int::try_from(encoded.len()).ok()?;
    let prefix_bytes = c_int::try_from(prefix.len()).ok()?;
    // SAFETY: the library reads `encoded_bytes` from the first pointer and writes `prefix_bytes` to
    // the second at most, whatever the block says ("safe": it is made for input that nobody vouches
    // for). Both are the lengths of slices that live until it returns, one of which is ours alone;
    // of these bytes none is uninitialized.
    let decoded_bytes = unsafe {
        decompress_safe_partial(
            encoded.as_ptr().cast(),
            prefix.as_mut_ptr().cast(),
            encoded_bytes,
            prefix_bytes,
            prefix_bytes,
        )
    };
    usize::try_from(decoded_bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Literals, matches near and far, and runs of one byte, which match themselves.
    fn block() -> (Vec<u8>, Vec<u8>) {
        let noise = |n: usize| (n.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()[0];
        let byte = |n: usize| match n / 100 % 4 {
            0 => noise(n),
            1 => 7,
            _ => noise(n % 300),
        };
        let elements: Vec<u8> = (0..3000).map(byte).collect();
        let encoded = lz4_flex::block::compress(&elements);
        assert!(encoded.len() < 2500, "{} bytes", encoded.len());
        (elements, encoded)
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls C")]
    fn as_many_bytes_as_are_wanted_and_no_more() {
        let (elements, encoded) = block();
        for wanted in 0..=elements.len() {
            let mut decoded = vec![0xaa; elements.len() + 1];
            assert_eq!(decode_lz4_prefix(&encoded, &mut decoded[..wanted]), Some(wanted));
            assert_eq!(decoded[..wanted], elements[..wanted], "{wanted}");
            assert!(decoded[wanted..].iter().all(|&byte| byte == 0xaa), "behind {wanted}");
        }
        let mut longer = vec![0; elements.len() + 100];
        assert_eq!(decode_lz4_prefix(&encoded, &mut longer), Some(elements.len()));
    }

    #[test]
    #[cfg_attr(miri, ignore = "calls C")]
    fn damage_stays_inside_and_what_is_behind_is_not_looked_at() {
        let (elements, encoded) = block();
        let (mut refused, mut unseen) = (0, 0);
        for at in 0..encoded.len() {
            for flip in [0xff, 0x80, 0x10, 1] {
                let mut damaged = encoded.clone();
                damaged[at] ^= flip;
                let mut decoded = vec![0xaa; 1100];
                let count = decode_lz4_prefix(&damaged, &mut decoded[..1000]);
                assert!(count.is_none_or(|count| count <= 1000), "byte {at} ^ {flip}");
                assert!(decoded[1000..].iter().all(|&byte| byte == 0xaa), "byte {at} ^ {flip}");
                refused += usize::from(count != Some(1000));
                unseen += usize::from(decoded[..1000] == elements[..1000]);
            }
        }
        assert!(refused > 50 && unseen > encoded.len() / 2, "{refused} {unseen}");
        for length in 0..encoded.len() {
            let mut decoded = vec![0; 2900];
            let count = decode_lz4_prefix(&encoded[..length], &mut decoded);
            assert!(count.is_none_or(|count| count <= 2900), "{length}");
        }
    }
}
