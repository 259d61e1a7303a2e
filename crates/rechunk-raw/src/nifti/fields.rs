//! Where the fields of the two versions of a NIfTI header are (nifti1.h, nifti2.h).

use serde_json::{Map, Number, Value};

use rechunk_grid::Endian;

/// A field: name, first byte, kind, how many.
pub(super) type Place = (&'static str, usize, Kind, usize);

/// Type of a number or a text of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    I16,
    I32,
    I64,
    F32,
    F64,
    /// Bytes up to the first 0.
    Text,
}

use Kind::{F32, F64, I16, I32, I64, Text, U8};

/// `nifti_1_header`, 348 bytes. Fields that NIfTI does not use are left out.
pub(super) const NIFTI_1: [Place; 32] = [
    ("dim_info", 39, U8, 1),
    ("dim", 40, I16, 8),
    ("intent_p1", 56, F32, 1),
    ("intent_p2", 60, F32, 1),
    ("intent_p3", 64, F32, 1),
    ("intent_code", 68, I16, 1),
    ("datatype", 70, I16, 1),
    ("bitpix", 72, I16, 1),
    ("slice_start", 74, I16, 1),
    ("pixdim", 76, F32, 8),
    ("vox_offset", 108, F32, 1),
    ("scl_slope", 112, F32, 1),
    ("scl_inter", 116, F32, 1),
    ("slice_end", 120, I16, 1),
    ("slice_code", 122, U8, 1),
    ("xyzt_units", 123, U8, 1),
    ("cal_max", 124, F32, 1),
    ("cal_min", 128, F32, 1),
    ("slice_duration", 132, F32, 1),
    ("toffset", 136, F32, 1),
    ("descrip", 148, Text, 80),
    ("aux_file", 228, Text, 24),
    ("qform_code", 252, I16, 1),
    ("sform_code", 254, I16, 1),
    ("quatern_b", 256, F32, 1),
    ("quatern_c", 260, F32, 1),
    ("quatern_d", 264, F32, 1),
    ("qoffset", 268, F32, 3),
    ("srow_x", 280, F32, 4),
    ("srow_y", 296, F32, 4),
    ("srow_z", 312, F32, 4),
    ("intent_name", 328, Text, 16),
];

/// `nifti_2_header`, 540 bytes.
pub(super) const NIFTI_2: [Place; 32] = [
    ("dim_info", 524, U8, 1),
    ("dim", 16, I64, 8),
    ("intent_p1", 80, F64, 1),
    ("intent_p2", 88, F64, 1),
    ("intent_p3", 96, F64, 1),
    ("intent_code", 504, I32, 1),
    ("datatype", 12, I16, 1),
    ("bitpix", 14, I16, 1),
    ("slice_start", 224, I64, 1),
    ("pixdim", 104, F64, 8),
    ("vox_offset", 168, I64, 1),
    ("scl_slope", 176, F64, 1),
    ("scl_inter", 184, F64, 1),
    ("slice_end", 232, I64, 1),
    ("slice_code", 496, I32, 1),
    ("xyzt_units", 500, I32, 1),
    ("cal_max", 192, F64, 1),
    ("cal_min", 200, F64, 1),
    ("slice_duration", 208, F64, 1),
    ("toffset", 216, F64, 1),
    ("descrip", 240, Text, 80),
    ("aux_file", 320, Text, 24),
    ("qform_code", 344, I32, 1),
    ("sform_code", 348, I32, 1),
    ("quatern_b", 352, F64, 1),
    ("quatern_c", 360, F64, 1),
    ("quatern_d", 368, F64, 1),
    ("qoffset", 376, F64, 3),
    ("srow_x", 400, F64, 4),
    ("srow_y", 432, F64, 4),
    ("srow_z", 464, F64, 4),
    ("intent_name", 508, Text, 16),
];

impl Kind {
    pub(super) fn bytes(self) -> usize {
        match self {
            U8 | Text => 1,
            I16 => 2,
            I32 | F32 => 4,
            I64 | F64 => 8,
        }
    }
}

/// The bytes of number `at` of a field in little-endian order, widened with zeros.
fn word(header: &[u8], place: Place, at: usize, endian: Endian) -> [u8; 8] {
    let bytes = place.2.bytes();
    let start = place.1 + at * bytes;
    let mut word = [0; 8];
    if let Some(stored) = header.get(start..start + bytes) {
        word[..bytes].copy_from_slice(stored);
        if endian == Endian::Big {
            word[..bytes].reverse();
        }
    }
    word
}

/// Number `at` of a field of integers.
pub(super) fn integer(header: &[u8], place: Place, at: usize, endian: Endian) -> i64 {
    let word = word(header, place, at, endian);
    let [a, b, c, d, ..] = word;
    match place.2 {
        I16 => i64::from(i16::from_le_bytes([a, b])),
        I32 => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(word),
    }
}

/// Number `at` of a field of floats.
pub(super) fn float(header: &[u8], place: Place, at: usize, endian: Endian) -> f64 {
    let word = word(header, place, at, endian);
    let [a, b, c, d, ..] = word;
    match place.2 {
        F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
        _ => f64::from_le_bytes(word),
    }
}

/// The field of a name. Every name that is asked for is in the tables.
pub(super) fn place(table: &[Place], name: &str) -> Place {
    table.iter().find(|place| place.0 == name).copied().unwrap_or(("", 0, U8, 0))
}

/// All fields as JSON, under their names.
pub(super) fn to_json(header: &[u8], table: &[Place], endian: Endian) -> Map<String, Value> {
    let value = |place: Place| -> Value {
        let (_, start, kind, count) = place;
        let one = |at| match kind {
            F32 | F64 => plain_float(float(header, place, at, endian)),
            _ => Value::from(integer(header, place, at, endian)),
        };
        match (kind, count) {
            (Text, _) => {
                let bytes = header.get(start..start + count).unwrap_or_default();
                let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(count);
                let end = end.min(bytes.len());
                bytes[..end].iter().copied().map(char::from).collect::<String>().into()
            }
            (_, 1) => one(0),
            _ => (0..count).map(one).collect(),
        }
    };
    table.iter().map(|&place| (place.0.to_owned(), value(place))).collect()
}

/// A float as a number where JSON has it, else as Zarr spells it.
fn plain_float(float: f64) -> Value {
    match Number::from_f64(float) {
        Some(number) => Value::Number(number),
        None if float.is_nan() => Value::from("NaN"),
        None => Value::from(if float > 0.0 { "Infinity" } else { "-Infinity" }),
    }
}

/// Sets number `at` of a field of integers; the value fits.
pub(super) fn set_integer(header: &mut [u8], place: Place, at: usize, value: i64, endian: Endian) {
    let bytes = place.2.bytes();
    set(header, place, at, &value.to_le_bytes()[..bytes], endian);
}

/// Sets number `at` of a field of floats.
#[expect(clippy::cast_possible_truncation, reason = "the field has 32 bits")]
pub(super) fn set_float(header: &mut [u8], place: Place, at: usize, value: f64, endian: Endian) {
    match place.2 {
        F32 => set(header, place, at, &(value as f32).to_le_bytes(), endian),
        _ => set(header, place, at, &value.to_le_bytes(), endian),
    }
}

/// Sets number `at` of a field to `bytes`, which are little-endian.
fn set(header: &mut [u8], place: Place, at: usize, bytes: &[u8], endian: Endian) {
    let start = place.1 + at * bytes.len();
    if let Some(stored) = header.get_mut(start..start + bytes.len()) {
        stored.copy_from_slice(bytes);
        if endian == Endian::Big {
            stored.reverse();
        }
    }
}
