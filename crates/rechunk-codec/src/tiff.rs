//! Compressors of TIFF files, which references to them name: LZW and `PackBits`. They are only
//! read.

use weezl::decode::Decoder;
use weezl::{BitOrder, LzwStatus};

use crate::KIB;

/// A decoder's table of 4096 codes, and the buffer it copies words from.
pub const LZW_WORKSPACE_BYTES: u64 = 128 * KIB;

/// Most bytes that `decoded` bytes can become: encoders may write short runs, and codes of 12 bits
/// for single bytes.
pub fn encoded_bytes_max(decoded: u64) -> u64 {
    decoded.saturating_mul(2).saturating_add(KIB)
}

/// Decodes LZW as TIFF has it (codes from the highest bit on, their length changed early) to at
/// most `bound` bytes.
pub fn decode_lzw(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    let mut decoder = Decoder::with_tiff_size_switch(BitOrder::Msb, 8);
    decoded.clear();
    decoded.resize(bound, 0);
    let (mut read, mut filled) = (0, 0);
    loop {
        // When all room is taken, one byte more tells a stream that ends from one that goes on.
        let mut spare = [0];
        let is_full = filled >= bound;
        let room = if is_full { &mut spare[..] } else { &mut decoded[filled..] };
        let step = decoder.decode_bytes(&encoded[read..], room);
        read += step.consumed_in;
        if is_full && step.consumed_out > 0 {
            return Err(format!("decodes to more than {bound} bytes"));
        }
        filled += step.consumed_out;
        match step.status {
            Ok(LzwStatus::Ok) if step.consumed_in > 0 || step.consumed_out > 0 => {}
            Ok(_) => break, // the end, or no code that says so
            // What is behind the last element is nobody's.
            Err(_) if is_full => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    decoded.truncate(filled);
    Ok(())
}

/// Decodes runs of bytes to at most `bound` bytes.
pub fn decode_pack_bits(encoded: &[u8], decoded: &mut Vec<u8>, bound: usize) -> Result<(), String> {
    decoded.clear();
    let mut rest = encoded;
    while let Some((&control, behind)) = rest.split_first() {
        let length = usize::from(control);
        let (count, taken) = match control {
            0..=127 => (length + 1, length + 1),
            128 => (0, 0), // nothing
            129.. => (257 - length, 1),
        };
        let run = behind.get(..taken).ok_or("it ends inside a run")?;
        if count > bound - decoded.len() {
            return Err(format!("decodes to more than {bound} bytes"));
        }
        match run {
            [byte] => decoded.resize(decoded.len() + count, *byte),
            bytes => decoded.extend_from_slice(bytes),
        }
        rest = &behind[taken..];
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digits).collect()
    }

    /// Bytes as imagecodecs 2026.10.10 encodes them (`lzw_encode`, `packbits_encode`).
    const LZW: &[(&str, &str)] = &[
        ("804040", ""),
        ("80186020", "61"),
        ("80186050382404", "61616161616161616161"),
        ("80184c5028240e0d0100", "616261626162616261626162"),
        (
            "800000202018100a0603820120a058301a0e078402212098502a160b860321a0d8703b0100",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d",
        ),
        (
            "80004020201800000301408070b810060a0000800051285c5607068740e110b8245e131381c4e0f0589c04",
            "010102030000030201010303030101010300000100020002030303030301020000010301020302030302030102000201020001020200000303000200",
        ),
        (
            "800020503824160d0784426150b864361d0f884462513851e0f27a8080",
            "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000078797a",
        ),
    ];
    const PACK_BITS: &[(&str, &str)] = &[
        ("", ""),
        ("0061", "61"),
        ("f761", "61616161616161616161"),
        ("0b616261626162616261626162", "616261626162616261626162"),
        (
            "1d000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d",
            "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d",
        ),
        (
            "ff0105020300000302ff01fe03fe01070300000100020002fc030901020000010301020302ff030902030102000201020001ff02ff00ff0302000200",
            "010102030000030201010303030101010300000100020002030303030301020000010301020302030302030102000201020001020200000303000200",
        ),
        (
            "8100b9000278797a",
            "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000078797a",
        ),
    ];

    #[test]
    fn what_imagecodecs_writes_is_read() {
        let mut decoded = Vec::new();
        for (encoded, wanted) in LZW {
            let (encoded, wanted) = (bytes(encoded), bytes(wanted));
            decode_lzw(&encoded, &mut decoded, wanted.len()).unwrap();
            assert_eq!(decoded, wanted);
            decode_lzw(&encoded, &mut decoded, wanted.len() + 9).unwrap();
            assert_eq!(decoded, wanted, "the caller compares lengths");
            if let Some(less) = wanted.len().checked_sub(1) {
                let error = decode_lzw(&encoded, &mut decoded, less).unwrap_err();
                assert!(error.contains("more than"), "{error}");
            }
        }
        for (encoded, wanted) in PACK_BITS {
            let (encoded, wanted) = (bytes(encoded), bytes(wanted));
            decode_pack_bits(&encoded, &mut decoded, wanted.len()).unwrap();
            assert_eq!(decoded, wanted);
            if let Some(less) = wanted.len().checked_sub(1) {
                decode_pack_bits(&encoded, &mut decoded, less).unwrap_err();
            }
        }
    }

    #[test]
    fn long_streams_go_through_all_lengths_of_codes() {
        let mut state = 1_u32;
        let noise: Vec<u8> = (0..60_000)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                u8::try_from(state >> 28).unwrap()
            })
            .collect();
        let mut encoder = weezl::encode::Encoder::with_tiff_size_switch(BitOrder::Msb, 8);
        let encoded = encoder.encode(&noise).unwrap();
        let mut decoded = Vec::new();
        decode_lzw(&encoded, &mut decoded, noise.len()).unwrap();
        assert_eq!(decoded, noise);
        assert!(encoded.len() as u64 <= encoded_bytes_max(noise.len() as u64));
        // A cut stream has fewer bytes, and the caller knows how many there must be.
        decode_lzw(&encoded[..encoded.len() / 2], &mut decoded, noise.len()).unwrap();
        assert!(decoded.len() < noise.len());
    }

    #[test]
    fn damaged_bytes_never_take_more_than_their_room() {
        let mut decoded = Vec::new();
        for seed in 0..2000_u32 {
            let noise: Vec<u8> = (0..seed % 67)
                .map(|at| {
                    (seed.wrapping_mul(2_654_435_761).wrapping_mul(at + 1) >> 13).to_le_bytes()[0]
                })
                .collect();
            for bound in [0, 1, 100] {
                let _ = decode_lzw(&noise, &mut decoded, bound);
                assert!(decoded.len() <= bound);
                let _ = decode_pack_bits(&noise, &mut decoded, bound);
                assert!(decoded.len() <= bound);
            }
        }
        for cut in [&[0_u8][..], &[5, 1, 2], &[200]] {
            let error = decode_pack_bits(cut, &mut decoded, 100).unwrap_err();
            assert!(error.contains("inside a run"), "{error}");
        }
        decode_pack_bits(&[128, 128, 0, 7], &mut decoded, 1).unwrap();
        assert_eq!(decoded, [7]);
    }
}
