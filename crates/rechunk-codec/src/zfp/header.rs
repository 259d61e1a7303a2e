//! The header that zfp can put before its blocks: magic, type and shape, parameters. [zfp 1.0,
//! `zfp_write_header`](https://zfp.readthedocs.io/en/release1.0.1/high-level-api.html#header).
//!
//! It is read here and not by the library, which would believe it.

use super::bits::{BitReader, put};
use super::params::{
    BLOCK_BITS_MAX, BLOCK_BITS_MIN, EXPONENT_MIN, Field, HEADER_EXPONENT_BIAS, PLANES_MAX, Params,
};
use super::settings::Scalar;

/// Most bits of a header.
pub(super) const BITS_MAX: u64 = 148;

/// `zfp`, and the version of the coding that zfp 0.5 and 1.0 have.
const MAGIC: [u8; 4] = [b'z', b'f', b'p', 5];

/// Modes in their short form: fixed rates, then precisions, then reversible, then accuracies.
const SHORT_RATES: u32 = 2048;
const SHORT_PLANES: u32 = 128;
const SHORT_REVERSIBLE: u32 = SHORT_RATES + SHORT_PLANES;
const SHORT_BITS: u32 = 12;
/// Value that stands in place of the short form, if it is the long one.
const LONG: u32 = (1 << SHORT_BITS) - 1;

/// Contents of a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub field: Field,
    pub params: Params,
    /// Bits before the blocks.
    pub bits: u64,
}

/// Bits that hold an extent less one, by the number of axes.
fn extent_bits(axes: usize) -> u32 {
    match axes {
        // There would be room for 48, but zfp reads no more.
        1 => 32,
        2 => 24,
        3 => 16,
        _ => 12,
    }
}

/// Refuses shapes that a header has no room for.
pub(super) fn check_shape(shape: &[u64]) -> Result<(), String> {
    let most = 1_u64 << extent_bits(shape.len());
    match shape.iter().find(|&&extent| extent > most) {
        None => Ok(()),
        Some(extent) => Err(format!(
            "a chunk of {} axes with {extent} elements along one, but zfp's header has room for \
             {most}",
            shape.len()
        )),
    }
}

/// Reads a header and checks what it says by itself.
pub(super) fn read(encoded: &[u8]) -> Result<Header, String> {
    let mut bits = BitReader::new(encoded, 0);
    let magic = MAGIC.map(|_| u8::try_from(bits.take(8)).unwrap_or(0));
    if magic != MAGIC {
        return Err(match magic {
            [b'z', b'f', b'p', version] => {
                format!("version {version} of zfp's coding, but only {} can be read", MAGIC[3])
            }
            _ => "there is no header of zfp".to_owned(),
        });
    }
    let scalar = Scalar::ALL.into_iter().nth(index(bits.take(2))).unwrap_or(Scalar::Int32);
    let axes = index(bits.take(2)) + 1;
    let width = 48 / u32::try_from(axes).unwrap_or(1);
    let mut shape: Vec<u64> = (0..axes).map(|_| bits.take(width) + 1).collect();
    shape.reverse(); // the fastest axis is the first here
    let field = Field { scalar, shape };
    let params = read_params(&mut bits);
    if bits.position > 8 * encoded.len() as u64 {
        return Err(format!("{} bytes are too few for a header", encoded.len()));
    }
    params.check(&field).map_err(|reason| format!("the header says {reason}"))?;
    Ok(Header { field, params, bits: bits.position })
}

fn index(bits: u64) -> usize {
    usize::try_from(bits).unwrap_or(0)
}

fn read_params(bits: &mut BitReader) -> Params {
    let mut take = |count| u32::try_from(bits.take(count)).unwrap_or(0);
    let short = take(SHORT_BITS);
    let lossy = Params { min_exponent: EXPONENT_MIN, ..Params::REVERSIBLE };
    match short {
        LONG => Params {
            min_bits: take(15) + 1,
            max_bits: take(15) + 1,
            max_planes: take(7) + 1,
            min_exponent: take(15).cast_signed() - HEADER_EXPONENT_BIAS,
        },
        rate if rate < SHORT_RATES => Params { min_bits: rate + 1, max_bits: rate + 1, ..lossy },
        planes if planes < SHORT_REVERSIBLE => {
            Params { max_planes: planes - SHORT_RATES + 1, ..lossy }
        }
        SHORT_REVERSIBLE => Params::REVERSIBLE,
        accuracy => {
            let above = accuracy - SHORT_REVERSIBLE - 1;
            Params { min_exponent: EXPONENT_MIN + above.cast_signed(), ..lossy }
        }
    }
}

/// Writes a header; returns its bits. The shape has been checked.
pub(super) fn write(field: &Field, params: &Params, bytes: &mut Vec<u8>) -> u64 {
    bytes.clear();
    let mut position = 0;
    let mut put = |value, count| put(bytes, &mut position, value, count);
    for byte in MAGIC {
        put(u64::from(byte), 8);
    }
    let number = Scalar::ALL.iter().position(|&scalar| scalar == field.scalar).unwrap_or(0);
    put(number as u64, 2);
    let axes = field.shape.len().clamp(1, 4);
    put(axes as u64 - 1, 2);
    let width = if axes == 1 { 48 } else { extent_bits(axes) };
    field.shape.iter().rev().for_each(|extent| put(extent - 1, width));
    if let Some(mode) = short_mode(params) {
        put(u64::from(mode), SHORT_BITS);
        return position;
    }
    put(u64::from(LONG), SHORT_BITS);
    put(u64::from(params.min_bits.max(1) - 1), 15);
    put(u64::from(params.max_bits - 1), 15);
    put(u64::from(params.max_planes - 1), 7);
    let biased = params.min_exponent + HEADER_EXPONENT_BIAS;
    put(u64::from(biased.cast_unsigned()), 15);
    position
}

/// The short form of the parameters, where zfp writes it.
fn short_mode(params: &Params) -> Option<u32> {
    let lossy = Params { min_exponent: EXPONENT_MIN, ..Params::REVERSIBLE };
    let &Params { min_bits, max_bits, max_planes, min_exponent } = params;
    if *params == lossy {
        return None; // its defaults, which zfp calls expert
    }
    if min_bits == max_bits && max_planes == PLANES_MAX && min_exponent == EXPONENT_MIN {
        return (max_bits <= SHORT_RATES).then(|| max_bits - 1);
    }
    // zfp says other parameters one by one; more bits than the default too, which would be
    // forgotten.
    if min_bits != BLOCK_BITS_MIN || max_bits != BLOCK_BITS_MAX {
        return None;
    }
    match (max_planes, min_exponent) {
        (planes, EXPONENT_MIN) => Some(SHORT_RATES + planes - 1),
        _ if *params == Params::REVERSIBLE => Some(SHORT_REVERSIBLE),
        (PLANES_MAX, exponent) if (EXPONENT_MIN..=843).contains(&exponent) => {
            Some(SHORT_REVERSIBLE + 1 + (exponent - EXPONENT_MIN).cast_unsigned())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_come_back() {
        let lossy = Params { min_exponent: EXPONENT_MIN, ..Params::REVERSIBLE };
        let all = [
            (Params::REVERSIBLE, 96_u32),
            (lossy, 148),
            (Params { max_planes: 17, ..lossy }, 96),
            (Params { min_exponent: -7, ..lossy }, 96),
            (Params { min_exponent: 843, ..lossy }, 96),
            (Params { min_exponent: 844, ..lossy }, 148),
            (Params { min_bits: 128, max_bits: 128, ..lossy }, 96),
            (Params { min_bits: 2049, max_bits: 2049, ..lossy }, 148),
            (Params { min_bits: 32, max_bits: 4096, max_planes: 9, min_exponent: 3 }, 148),
            (Params { max_bits: 20_000, ..lossy }, 148),
        ];
        let shapes: [&[u64]; 4] = [&[1 << 32], &[3, 1 << 24], &[1, 65_536, 7], &[4096, 1, 2, 3]];
        for (params, size) in all.map(|(params, size)| (params, u64::from(size))) {
            for (scalar, shape) in Scalar::ALL.into_iter().zip(shapes) {
                let field = Field { scalar, shape: shape.to_vec() };
                let mut bytes = Vec::new();
                let bits = write(&field, &params, &mut bytes);
                assert_eq!((bits, bytes.len() as u64), (size, size.div_ceil(8)), "{params:?}");
                assert_eq!(read(&bytes).unwrap(), Header { field, params, bits });
                assert!(read(&bytes[..bytes.len() - 1]).is_err());
                check_shape(shape).unwrap();
            }
        }
        check_shape(&[4097, 1, 1, 1]).unwrap_err();
    }

    #[test]
    fn other_headers_are_named() {
        assert_eq!(
            read(b"zfp\x04").unwrap_err(),
            "version 4 of zfp's coding, but only 5 can be read"
        );
        assert_eq!(read(b"").unwrap_err(), "there is no header of zfp");
        assert_eq!(read(b"zfp\x05").unwrap_err(), "4 bytes are too few for a header");
    }
}
