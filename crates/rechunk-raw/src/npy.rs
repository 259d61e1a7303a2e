//! `.npy` files: a header of one Python dict, and the elements (NumPy's NEP 1).

use rechunk_format::field::Field;
use rechunk_format::{ElementOrder, FormatError, numpy};
use rechunk_grid::{ArraySpec, DataType, Endian, RANK_MAX};
use serde_json::{Map, Value, json};

use crate::slab::slab_shape;
use crate::{Files, HEADER_BYTES_MAX, Header, RawMetadata, python, record};

/// Name of the header in messages.
const KEY: &str = "npy header";

const MAGIC: &[u8] = b"\x93NUMPY";

/// The elements begin at a multiple of this.
const ALIGNMENT_BYTES: usize = 64;

fn field(name: &str) -> Field {
    Field::new(KEY, name)
}

fn invalid(reason: impl Into<String>) -> FormatError {
    FormatError::Metadata { key: KEY.to_owned(), reason: reason.into() }
}

/// Reads the header of the `.npy` file `name` out of its first bytes, [`HEADER_BYTES_MAX`] of them
/// or all.
pub fn parse_npy(first_bytes: &[u8], name: &str) -> Result<RawMetadata, FormatError> {
    let (text, offset) = header_text(first_bytes)?;
    let Value::Object(mut dict) = python::parse(&text).map_err(invalid)? else {
        return Err(invalid("it is not a dict"));
    };
    let mut take = |name: &str| dict.remove(name).ok_or_else(|| field(name).invalid("is missing"));
    let (descr, fortran, shape) = (take("descr")?, take("fortran_order")?, take("shape")?);
    if let Some((name, _)) = dict.iter().next() {
        return Err(field(name).unsupported("this member", ""));
    }
    let (data_type, endian, record) = parse_descr(&descr)?;
    let shape = field("shape").shape(&shape)?;
    let rank = shape.len();
    if rank > RANK_MAX {
        return Err(field("shape").unsupported(format!("{rank} axes"), ""));
    }
    let is_fortran = field("fortran_order").boolean(&fortran)?;
    let axes = if is_fortran { (0..rank).rev().collect() } else { (0..rank).collect::<Vec<_>>() };
    let header = Header::Npy(first_bytes[..offset].to_vec());
    let chunk_shape = slab_shape(&shape, &axes, data_type.item_bytes());
    let metadata = RawMetadata {
        spec: ArraySpec {
            shape,
            data_type,
            chunk_shape,
            fill_value: None,
            dimension_names: None,
            edges: None,
        },
        order: ElementOrder { axes, endian },
        files: Files::Single {
            name: name.to_owned(),
            offset_bytes: u64::try_from(offset).unwrap_or(u64::MAX),
            header,
        },
        record,
        attributes: Map::new(),
    };
    metadata.check().map(|()| metadata)
}

/// The dict as text, and where the elements begin.
fn header_text(bytes: &[u8]) -> Result<(String, usize), FormatError> {
    let too_short = || invalid(format!("the file ends in it, after {} bytes", bytes.len()));
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let is_beginning = MAGIC.starts_with(bytes);
        return Err(if is_beginning { too_short() } else { invalid("this is no .npy file") });
    };
    let (&[major, minor], rest) = rest.split_first_chunk().ok_or_else(too_short)?;
    let (length, rest) = match (major, minor) {
        (1, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(too_short)?;
            (u64::from(u16::from_le_bytes(*length)), rest)
        }
        (2 | 3, 0) => {
            let (length, rest) = rest.split_first_chunk().ok_or_else(too_short)?;
            (u64::from(u32::from_le_bytes(*length)), rest)
        }
        _ => return Err(field("version").unsupported(format!("{major}.{minor}"), "")),
    };
    let before = bytes.len() - rest.len();
    let offset = usize::try_from(length).unwrap_or(usize::MAX).saturating_add(before);
    if u64::try_from(offset).is_ok_and(|offset| offset > HEADER_BYTES_MAX) {
        let hint = format!("at most {HEADER_BYTES_MAX} are");
        return Err(field("length").unsupported(format!("a header of {length} bytes"), &hint));
    }
    let text = bytes.get(before..offset).ok_or_else(too_short)?;
    let text = if major == 3 {
        String::from_utf8(text.to_vec()).map_err(|error| invalid(error.to_string()))?
    } else {
        text.iter().copied().map(char::from).collect() // Latin-1
    };
    Ok((text, offset))
}

fn parse_descr(descr: &Value) -> Result<(DataType, Endian, Option<Value>), FormatError> {
    let field = field("descr");
    if let Value::Array(list) = descr {
        let (data_type, fields) = record::parse(&field, list)?;
        return Ok((data_type, Endian::Little, Some(fields)));
    }
    let text = field.text(descr)?;
    if text.ends_with('O') {
        let hint = "its elements are pickled Python objects";
        return Err(field.unsupported(format!("data type {text:?}"), hint));
    }
    let (data_type, endian) = numpy::parse(&field, text)?;
    Ok((data_type, endian, None))
}

/// The header of an `.npy` file: version 1.0 where it will do, else 2.0, or 3.0 for names of fields
/// that are not Latin-1.
pub(crate) fn header(
    spec: &ArraySpec,
    order: &ElementOrder,
    record: Option<&Value>,
) -> Result<Vec<u8>, FormatError> {
    let rank = spec.shape.len();
    let is_c = order.axes.iter().copied().eq(0..rank);
    if !is_c && !order.axes.iter().copied().eq((0..rank).rev()) {
        let what = format!("order {:?} of the axes", order.axes);
        return Err(field("fortran_order").unsupported(what, ""));
    }
    let descr = if let Some(record) = record {
        python::literal(record, false)
    } else {
        let name = numpy::write(spec.data_type, order.endian).ok_or_else(|| {
            let hint = match spec.data_type {
                DataType::Variable => "a file has room for elements of one size: use Zarr",
                _ => "NumPy has no such type; write files of blocks",
            };
            field("descr").unsupported(format!("data type {}", spec.data_type), hint)
        })?;
        format!("'{name}'")
    };
    let fortran = if is_c { "False" } else { "True" };
    let shape = python::literal(&json!(spec.shape), true);
    let text = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let header = encode_header(&text);
    if u64::try_from(header.len()).is_ok_and(|bytes| bytes > HEADER_BYTES_MAX) {
        let what = format!("a header of {} bytes", header.len());
        return Err(field("descr").unsupported(what, ""));
    }
    Ok(header)
}

fn encode_header(text: &str) -> Vec<u8> {
    let latin: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    let is_latin = latin.is_some();
    let dict = latin.unwrap_or_else(|| text.as_bytes().to_vec());
    // Magic, version, length, dict and a newline, in whole steps.
    let padded = |length_bytes: usize| {
        let before = MAGIC.len() + 2 + length_bytes;
        (before + dict.len() + 1).next_multiple_of(ALIGNMENT_BYTES) - before
    };
    let mut header = MAGIC.to_vec();
    let length = match u16::try_from(padded(2)) {
        Ok(length) if is_latin => {
            header.extend([1, 0]);
            header.extend(length.to_le_bytes());
            usize::from(length)
        }
        _ => {
            header.extend([if is_latin { 2 } else { 3 }, 0]);
            let length = padded(4);
            header.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
            length
        }
    };
    let spaces = length - dict.len() - 1;
    header.extend(dict);
    header.extend(std::iter::repeat_n(b' ', spaces));
    header.push(b'\n');
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file of a header of that text.
    fn file(text: &str) -> Vec<u8> {
        encode_header(text)
    }

    fn refuse(bytes: &[u8]) -> String {
        parse_npy(bytes, "a.npy").unwrap_err().to_string()
    }

    fn dict(descr: &str, shape: &str) -> Vec<u8> {
        file(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"))
    }

    #[test]
    fn what_is_refused() {
        for (bytes, why) in [
            (dict("'|O'", "(3,)"), "pickled Python objects"),
            (dict("'<f16'", "(3,)"), "\"<f16\" is not supported"),
            (dict("'=i4'", "(3,)"), "not supported"),
            (dict("'|i4'", "(3,)"), "byte order"),
            (dict("'|V0'", "(3,)"), "of no bytes"),
            (dict("None", "(3,)"), "expected a string"),
            (dict("[('a', '|O')]", "(3,)"), "\"descr.a\": data type \"|O\""),
            (dict("[('a', '<i4', (1000, 1000))]", "(3,)"), "a record of 4000000 bytes"),
            (dict("'<i4'", "3"), "expected a list"),
            (dict("'<i4'", "(-3,)"), "not a literal"),
            (dict("'<i4'", "('3',)"), "non-negative"),
            (dict("'<i4'", "(9223372036854775807,)"), "63 bits"),
            (dict("'<i4'", "(2305843009213693952,)"), "63 bits"),
            (dict("'<i4'", "(0, 9223372036854775807, 5)"), "63 bits"),
            (dict("'<i4'", &format!("({})", "1,".repeat(33))), "33 axes"),
            (file("{'descr': '<i4', 'shape': ()}"), "\"fortran_order\": is missing"),
            (file("{'descr': '<i4', 'fortran_order': 0, 'shape': ()}"), "true or false"),
            (file("{'descr': '<i4', 'fortran_order': False, 'shape': (), 'x': 1}"), "\"x\""),
            (file("[1]"), "not a dict"),
            (file("__import__('os')"), "not a literal"),
            (b"PK\x03\x04".to_vec(), "this is no .npy file"),
            (b"\x93NUM".to_vec(), "after 4 bytes"),
            (b"\x93NUMPY\x01".to_vec(), "after 7 bytes"),
            (b"\x93NUMPY\x01\x00\xff".to_vec(), "after 9 bytes"),
            (b"\x93NUMPY\x01\x00\xff\x00{}".to_vec(), "after 12 bytes"),
            (b"\x93NUMPY\x04\x00\x02\x00{}".to_vec(), "4.0 is not supported"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}".to_vec(), "a header of 4294967295 bytes"),
            (b"\x93NUMPY\x03\x00\x02\x00\x00\x00\xff\xff".to_vec(), "utf-8"),
        ] {
            let error = refuse(&bytes);
            assert!(error.contains(why), "{why}: {error}");
        }
    }

    #[test]
    fn versions_are_as_low_as_they_may_be() {
        let spec = ArraySpec {
            shape: vec![3],
            data_type: DataType::Structured { bytes: 4 },
            chunk_shape: vec![1],
            fill_value: None,
            dimension_names: None,
            edges: None,
        };
        let order = ElementOrder::c_little(1);
        let version = |name: &str| {
            let record = json!([[name, "<i4"]]);
            let made = RawMetadata::npy(spec.clone(), order.clone(), Some(record), "a.npy");
            let header = made.unwrap().runs().header;
            assert!(header.len().is_multiple_of(64) && header.ends_with(b"\n"));
            assert_eq!(parse_npy(&header, "a.npy").unwrap().record, Some(json!([[name, "<i4"]])));
            header[6]
        };
        assert_eq!([version("a"), version("ä"), version(&"a".repeat(70_000))], [1, 1, 2]);
        assert_eq!(version("日"), 3);
    }

    #[test]
    fn what_numpy_has_no_name_for_is_refused() {
        let spec = ArraySpec {
            shape: vec![3],
            data_type: DataType::Bfloat16,
            chunk_shape: vec![1],
            fill_value: None,
            dimension_names: None,
            edges: None,
        };
        let made = RawMetadata::npy(spec, ElementOrder::c_little(1), None, "a.npy");
        assert!(made.unwrap_err().to_string().contains("bfloat16 is not supported; NumPy has no"));
    }
}
