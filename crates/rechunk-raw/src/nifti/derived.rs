//! Headers of arrays that are made of another: a region of it, or other types of its elements.
//!
//! Names of fields and the meaning of both transforms are those of `nifti1.h`: a voxel's place is
//! by `srow_x` … `srow_z` (`sform`), and by `quatern_b` … `qoffset_z` and `pixdim` (`qform`).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rechunk_grid::{DataType, Endian};
use serde_json::{Map, Value};

use super::fields::{Place, float, integer, place, set_float, set_integer};
use super::{ATTRIBUTE, EXACT, Version, attributes, kind_of, parse_dim, types};

/// A header that attributes keep.
struct KeptHeader {
    version: Version,
    endian: Endian,
    bytes: Vec<u8>,
}

/// Makes the header that `attributes` keep one of a region of its array, at its place in space and
/// time.
///
/// `start` and `shape` are in the file's order, fastest first. The attributes stay as they are if
/// they keep none of an array that the region is of.
pub fn select_nifti(attributes: &mut Map<String, Value>, start: &[u64], shape: &[u64]) {
    change(attributes, |header| {
        let whole = parse_dim(&header.bytes, header.table(), header.endian).ok()?;
        let is_of = whole.len() == start.len() && whole.len() == shape.len();
        let mut axes = whole.iter().zip(start).zip(shape);
        let fits = axes.all(|((extent, start), length)| {
            *length > 0 && start.checked_add(*length).is_some_and(|end| end <= *extent)
        });
        (is_of && fits).then(|| header.select(&whole, start, shape))
    });
}

/// Makes the header that `attributes` keep one of elements of another type; they stay as they are
/// if NIfTI has no such type. Slope and intercept still lead from elements to values.
pub fn cast_nifti(attributes: &mut Map<String, Value>, data_type: DataType) {
    change(attributes, |header| {
        let bits = i64::try_from(8 * data_type.item_bytes()).ok()?;
        header.set_integer("datatype", 0, types::code(data_type)?);
        header.set_integer("bitpix", 0, bits);
        Some(())
    });
}

/// Writes the header anew that `attributes` keep, if they keep one and `by` changes it.
fn change(kept: &mut Map<String, Value>, by: impl FnOnce(&mut KeptHeader) -> Option<()>) {
    let changed = || -> Option<Value> {
        let text = kept.get(ATTRIBUTE)?.get(EXACT)?.as_str()?;
        let bytes = BASE64_STANDARD.decode(text).ok()?;
        let (version, endian) = kind_of(&bytes).ok()?;
        let is_whole = bytes.len() >= version.data_offset_min();
        let mut header = is_whole.then_some(KeptHeader { version, endian, bytes })?;
        by(&mut header)?;
        attributes(version, &header.bytes, endian).shift_remove(ATTRIBUTE)
    };
    if let Some(changed) = changed() {
        kept.insert(ATTRIBUTE.to_owned(), changed);
    }
}

impl KeptHeader {
    fn table(&self) -> &'static [Place] {
        self.version.table()
    }

    fn integer(&self, name: &str, at: usize) -> i64 {
        integer(&self.bytes, place(self.table(), name), at, self.endian)
    }

    fn float(&self, name: &str, at: usize) -> f64 {
        float(&self.bytes, place(self.table(), name), at, self.endian)
    }

    fn set_integer(&mut self, name: &str, at: usize, value: i64) {
        let place = place(self.table(), name);
        set_integer(&mut self.bytes, place, at, value, self.endian);
    }

    fn add(&mut self, name: &str, at: usize, shift: f64) {
        let sum = self.float(name, at) + shift;
        let place = place(self.table(), name);
        set_float(&mut self.bytes, place, at, sum, self.endian);
    }

    /// Number of the axis, from 0, that slices are counted on, if it is said: bits 4 and 5 of
    /// `dim_info`.
    fn slice_axis(&self) -> Option<usize> {
        let axis = usize::try_from((self.integer("dim_info", 0) >> 4) & 3).ok()?;
        axis.checked_sub(1)
    }

    fn select(&mut self, whole: &[u64], start: &[u64], shape: &[u64]) {
        for (axis, extent) in shape.iter().enumerate() {
            self.set_integer("dim", axis + 1, i64::try_from(*extent).unwrap_or(i64::MAX));
        }
        let steps = |axis: usize| start.get(axis).map_or(0.0, |start| *start as f64);
        let steps = [steps(0), steps(1), steps(2), steps(3)];
        for name in ["srow_x", "srow_y", "srow_z"] {
            let shift = (0..3).map(|axis| times(self.float(name, axis), steps[axis])).sum();
            self.add(name, 3, shift);
        }
        let sizes = [1, 2, 3].map(|axis| self.float("pixdim", axis));
        let third = if self.float("pixdim", 0) < 0.0 { -sizes[2] } else { sizes[2] };
        let along = [sizes[0], sizes[1], third];
        for (row, turned) in self.rotation().into_iter().enumerate() {
            let shift = (0..3).map(|axis| times(turned[axis] * along[axis], steps[axis])).sum();
            self.add("qoffset", row, shift);
        }
        self.add("toffset", 0, times(self.float("pixdim", 4), steps[3]));
        // When a slice was taken is said by its number; of some of them it cannot be said.
        let slices = self.slice_axis().unwrap_or(2);
        if whole.get(slices) != shape.get(slices) {
            for name in ["slice_start", "slice_end", "slice_code"] {
                self.set_integer(name, 0, 0);
            }
        }
    }

    /// The rotation of `qform`, row by row, of the quaternion whose first part is not stored.
    fn rotation(&self) -> [[f64; 3]; 3] {
        let [b, c, d] = ["quatern_b", "quatern_c", "quatern_d"].map(|name| self.float(name, 0));
        let rest = 1.0 - (b * b + c * c + d * d);
        // Rounding may take it below 0: half a turn, of a unit quaternion.
        let (a, b, c, d) = if rest < 1e-7 {
            let length = (b * b + c * c + d * d).sqrt();
            (0.0, b / length, c / length, d / length)
        } else {
            (rest.sqrt(), b, c, d)
        };
        [
            [a * a + b * b - c * c - d * d, 2.0 * (b * c - a * d), 2.0 * (b * d + a * c)],
            [2.0 * (b * c + a * d), a * a + c * c - b * b - d * d, 2.0 * (c * d - a * b)],
            [2.0 * (b * d - a * c), 2.0 * (c * d + a * b), a * a + d * d - c * c - b * b],
        ]
    }
}

/// Returns a product in which nothing is taken of what is not said, NaN among it.
fn times(size: f64, steps: f64) -> f64 {
    if steps == 0.0 { 0.0 } else { size * steps }
}
