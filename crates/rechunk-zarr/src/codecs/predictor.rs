//! TIFF's predictors: elements from differences, as imagecodecs decodes them.

use rechunk_grid::{DataType, Endian};

use super::value::Value;
use crate::element_type::ElementType;
use crate::tiff_codecs::Predictor;

/// Layout of a chunk's elements: rows of them, `step` of which lie between one and the next along
/// the axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rows {
    row: usize,
    step: usize,
}

/// Why chunks of that shape and so many bytes have no such predictor; nothing where they have.
pub(super) fn check(predictor: &Predictor, shape: &[u64], bytes: u64) -> Result<(), String> {
    let elements = rechunk_grid::element_count(shape).unwrap_or(u64::MAX);
    let wanted = elements.saturating_mul(predictor.element.data_type.item_bytes());
    if wanted != bytes {
        return Err(format!("its shape {shape:?} is of {wanted} bytes, but a chunk has {bytes}"));
    }
    rows(predictor.axis, shape).map(|_| ())
}

fn rows(axis: i64, shape: &[u64]) -> Result<Rows, String> {
    let rank = i64::try_from(shape.len()).unwrap_or(i64::MAX);
    let position = if axis < 0 { rank.saturating_add(axis) } else { axis };
    let wrong = || format!("there is no axis {axis} of {rank}");
    let position = usize::try_from(position).ok().filter(|&at| at < shape.len());
    let behind = position.and_then(|at| shape.get(at..)).ok_or_else(wrong)?;
    let size = |shape: &[u64]| {
        rechunk_grid::element_count(shape).and_then(|count| usize::try_from(count).ok())
    };
    let row = size(behind).ok_or_else(wrong)?;
    Ok(Rows { row, step: size(&behind[1..]).ok_or_else(wrong)? })
}

/// Undoes the predictor on chunks of that shape.
pub(super) fn decode(
    encoded: &[u8],
    decoded: &mut Vec<u8>,
    predictor: &Predictor,
    shape: &[u64],
) -> Result<(), String> {
    let Rows { row, step } = rows(predictor.axis, shape)?;
    decoded.clear();
    decoded.extend_from_slice(encoded);
    let row_bytes = row.saturating_mul(predictor.element.item_bytes());
    if row_bytes == 0 {
        return Ok(());
    }
    if predictor.is_float {
        let mut sums = vec![0; row_bytes];
        for (row, stored) in
            decoded.chunks_exact_mut(row_bytes).zip(encoded.chunks_exact(row_bytes))
        {
            add_up_bytes(stored, &mut sums, step);
            interleave(&sums, row, predictor.element);
        }
        return Ok(());
    }
    let element = as_integer(predictor.element);
    for row in decoded.chunks_exact_mut(row_bytes) {
        add_up(row, element, step.saturating_mul(element.item_bytes()));
    }
    Ok(())
}

/// Unsigned integers of the same size: differences wrap, those of floats too.
fn as_integer(element: ElementType) -> ElementType {
    let data_type = match element.item_bytes() {
        1 => DataType::Uint8,
        2 => DataType::Uint16,
        4 => DataType::Uint32,
        _ => DataType::Uint64,
    };
    ElementType { data_type, endian: element.endian }
}

/// Adds to each element the one `step` bytes before it.
fn add_up(row: &mut [u8], element: ElementType, step: usize) {
    let size = element.item_bytes();
    let mut at = step;
    while step > 0 && at + size <= row.len() {
        let before = Value::load(&row[at - step..at - step + size], element);
        let sum = Value::load(&row[at..at + size], element).add(before);
        sum.store(&mut row[at..at + size], element);
        at += size;
    }
}

fn add_up_bytes(stored: &[u8], sums: &mut [u8], step: usize) {
    sums.copy_from_slice(stored);
    for at in step..sums.len() {
        sums[at] = sums[at].wrapping_add(sums[at - step]);
    }
}

/// Elements from their highest bytes, then their second ones, and so on.
fn interleave(planes: &[u8], row: &mut [u8], element: ElementType) {
    let size = element.item_bytes();
    let count = planes.len() / size;
    for (number, item) in row.chunks_exact_mut(size).enumerate() {
        for (byte, slot) in item.iter_mut().enumerate() {
            let plane = if element.endian == Endian::Big { byte } else { size - 1 - byte };
            *slot = planes[plane * count + number];
        }
    }
}

/// Memory that decoding takes beside a chunk and its encoded form, bytes: a row.
pub(super) fn decode_workspace_bytes(predictor: &Predictor, decoded_bytes: u64) -> u64 {
    if predictor.is_float { decoded_bytes } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predictor(is_float: bool, kind: &str, axis: i64) -> Predictor {
        let (data_type, endian) = ElementType::parse(kind).unwrap();
        let element = ElementType::new(data_type, endian.unwrap_or(Endian::Little));
        Predictor { is_float, element, shape: Vec::new(), axis }
    }

    /// Decodes arrays that imagecodecs 2026.10.10 has encoded (`delta_encode`, `floatpred_encode`).
    #[test]
    fn chunks_of_imagecodecs_decode_to_what_it_encoded() {
        for (is_float, kind, axis, shape, encoded, elements) in CASES {
            let predictor = predictor(*is_float, kind, *axis);
            let (encoded, elements) = (bytes(encoded), bytes(elements));
            check(&predictor, shape, encoded.len() as u64).unwrap();
            let mut decoded = vec![9; 3];
            decode(&encoded, &mut decoded, &predictor, shape).unwrap();
            assert_eq!(decoded, elements, "{kind} {axis} {shape:?}");
        }
    }

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        (0..hex.len()).step_by(2).map(digits).collect()
    }

    /// Float or not, type, axis, shape, encoded, elements.
    type Case = (bool, &'static str, i64, &'static [u64], &'static str, &'static str);

    const CASES: &[Case] = &[
        (false, "u1", -1, &[2, 3], "a83dd3ab43bd", "a8e5b8abeeab"),
        (false, "i1", -1, &[2, 3], "f5a433052010", "f599cc052535"),
        (false, "<u2", -1, &[2, 3], "c0ad46ca39e8ec838a80e19c", "c0ad06783f60ec83760457a1"),
        (false, ">i2", -1, &[2, 3], "7c47ae02c2c7c2fa476dc3a6", "7c472a49ed10c2fa0a67ce0d"),
        (
            false,
            "<i4",
            -1,
            &[2, 3],
            "8f022647f673fe1a3fad143032b391689c82fbb8e7f109ea",
            "8f02264785762462c423399232b39168ce358d21b527970b",
        ),
        (
            false,
            ">u4",
            -1,
            &[2, 3],
            "b48a4200f0d8390ceb559d1a8101caffd43519312a721d77",
            "b48a4200a5627b0c90b818268101caff5536e4307fa901a7",
        ),
        (
            false,
            "<u8",
            -1,
            &[2, 3],
            "6df710c04edc083c50be2f88b9dc4f3302d522fb278b0b8a43287f2d2133cee5962db69e575351f235296b51571b558c",
            "6df710c04edc083cbdb5404808b9586fbf8a6343304464f943287f2d2133cee5d95535cc78861fd80e7fa01dd0a17464",
        ),
        (
            false,
            "<f4",
            -1,
            &[2, 3],
            "5397c6a05a2a70ddd1773f2c6b833badc9077afc0b39db65",
            "5397c6a0adc1367e7e3976aa6b833bad348bb5a93fc4900f",
        ),
        (
            false,
            "<u2",
            -2,
            &[2, 3, 2],
            "8a8987f58502b498ed00115933da7d45649b0f17265ca484",
            "8a8987f50f8c3b8efc8c4ce733da7d4597758c5cbdd130e1",
        ),
        (false, "u1", -2, &[1, 4, 3], "47d9d8e8a3834194d2e8a832", "47d9d82f7c5b70102d58b85f"),
        (false, "<i2", 0, &[3, 2], "48d7deaddcba6d719a8c73bf", "48d7dead24924b1fbe1ebede"),
        (
            true,
            "<f4",
            -1,
            &[2, 3],
            "c1027d4a7604826b7ac6ee05c00101b081dea7001d6b5f77",
            "31868ac11ff100c3246b0440007872c05f78f3c1d695d1c2",
        ),
        (
            true,
            ">f4",
            -1,
            &[2, 3],
            "418180712a0dea0a310f9a7142817e4eb8927877eb97d1e3",
            "41b3d41ec2dddeb842ea0f29428f514ac347c81b41d9b3fe",
        ),
        (
            true,
            "<f8",
            -1,
            &[2, 3],
            "4080801805f5ba7dea5a753534c865075e31965fbc57fd76c000009be515241773691982f2063e59b2f0af8908b84b75",
            "7604dfabcd0c584073633d7342895dc0e91f6ed87773524030e796f96c795bc07b7048ff859040c0f078383d070355c0",
        ),
        (true, "<f2", -1, &[2, 3], "5bf901446a45557ef47a546c", "995b03544855415595d301c7"),
        (
            true,
            "<f4",
            -2,
            &[1, 3, 2],
            "c042027f7f80c6320a00b0b1138b2218f10f9def24a90fd9",
            "84d407c0c5af7342a8f611c26ec773c1b7e7c14147d62441",
        ),
    ];

    #[test]
    fn a_shape_or_an_axis_that_a_chunk_has_not_got_is_refused() {
        let horizontal = predictor(false, "<u2", -1);
        for (axis, shape, bytes, words) in [
            (-1, &[3, 4][..], 23, "of 24 bytes"),
            (-1, &[3, 4], 0, "of 24 bytes"),
            (2, &[3, 4], 24, "no axis 2"),
            (-3, &[3, 4], 24, "no axis -3"),
            (-1, &[], 2, "no axis -1"),
            (i64::MIN, &[3, 4], 24, "no axis"),
            (-1, &[u64::MAX, 4], 24, "bytes"),
        ] {
            let predictor = Predictor { axis, ..horizontal.clone() };
            let reason = check(&predictor, shape, bytes).unwrap_err();
            assert!(reason.contains(words), "{axis} {shape:?}: {reason}");
        }
        for shape in [&[0, 4][..], &[4, 0]] {
            check(&horizontal, shape, 0).unwrap();
            decode(&[], &mut Vec::new(), &horizontal, shape).unwrap();
        }
    }
}
