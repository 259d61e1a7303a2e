//! A region of an array in units of length.

use std::fmt;

use rechunk_grid::ArraySpec;
use serde::{Deserialize, Serialize};

use crate::WordError;
use crate::chunk_spec::axis_in_words;

/// Unit of length that positions in an image are given in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum LengthUnit {
    /// 10⁻¹² m.
    Picometer,
    /// 10⁻¹⁰ m.
    Angstrom,
    /// 10⁻⁹ m.
    Nanometer,
    /// 10⁻⁶ m.
    Micrometer,
    /// 10⁻³ m.
    Millimeter,
    /// 10⁻² m.
    Centimeter,
    /// The unit of the SI.
    Meter,
    /// 10³ m.
    Kilometer,
}

/// Each unit with the number of picometres in it, and its names: the first is written, all are
/// read.
const UNITS: [(LengthUnit, f64, &[&str]); 8] = [
    (LengthUnit::Picometer, 1.0, &["pm", "picometer", "picometre"]),
    (LengthUnit::Angstrom, 1e2, &["angstrom", "Å", "ångström"]),
    (LengthUnit::Nanometer, 1e3, &["nm", "nanometer", "nanometre"]),
    // Both letters of Unicode that look like the prefix.
    (
        LengthUnit::Micrometer,
        1e6,
        &["um", "\u{b5}m", "\u{3bc}m", "micrometer", "micrometre", "micron"],
    ),
    (LengthUnit::Millimeter, 1e9, &["mm", "millimeter", "millimetre"]),
    (LengthUnit::Centimeter, 1e10, &["cm", "centimeter", "centimetre"]),
    (LengthUnit::Meter, 1e12, &["m", "meter", "metre"]),
    (LengthUnit::Kilometer, 1e15, &["km", "kilometer", "kilometre"]),
];

impl LengthUnit {
    /// Reads a name, as metadata and people write it: `nm`, `nanometer`, `nanometers`.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        let text = text.trim();
        let is_name = |name: &&str| {
            let plural = name.len() > 2 && text.strip_suffix('s').is_some_and(|one| one == *name);
            *name == text || plural
        };
        let found = UNITS.iter().find(|(_, _, names)| names.iter().any(is_name));
        found.map(|(unit, _, _)| *unit).ok_or_else(|| {
            let names: Vec<&str> = UNITS.iter().map(|(_, _, names)| names[0]).collect();
            WordError::new(
                format!("`{text}` is no unit of length"),
                Some(&format!("there are {}", names.join(" "))),
            )
        })
    }

    /// Number of `other` in one of it.
    ///
    /// ```
    /// use rechunk_words::LengthUnit;
    ///
    /// assert_eq!(LengthUnit::Micrometer.in_units_of(LengthUnit::Nanometer), 1000.0);
    /// ```
    pub fn in_units_of(self, other: Self) -> f64 {
        self.row().1 / other.row().1
    }

    fn row(self) -> &'static (Self, f64, &'static [&'static str]) {
        UNITS.iter().find(|(unit, _, _)| *unit == self).unwrap_or(&UNITS[0])
    }
}

text_form!(LengthUnit);

impl fmt::Display for LengthUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().2[0])
    }
}

/// Size and place of the voxels of one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VoxelAxis {
    /// Length of a voxel, more than 0.
    pub size: f64,
    /// Position of the first voxel.
    pub origin: f64,
    /// Unit of both; `None`: none of length, or none that is known.
    pub unit: Option<LengthUnit>,
}

/// Region of an array in a unit of length.
///
/// A voxel of number n takes up from `origin + n * size` to before the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PhysicalRegion {
    /// Unit of the positions.
    pub unit: LengthUnit,
    /// For each axis or each that is named, start and end; `None`: of the array.
    pub spans: Vec<(Option<String>, Option<f64>, Option<f64>)>,
}

impl PhysicalRegion {
    /// Reads positions in `unit`: one entry for each axis (`40:120,:,0:4.5`), or some by name
    /// (`z=40:120`).
    ///
    /// ```
    /// use rechunk_words::{LengthUnit, PhysicalRegion};
    ///
    /// let region = PhysicalRegion::parse("z=40:120.5,x=:1e3", LengthUnit::Nanometer)?;
    /// assert_eq!(region.spans[1], (Some("x".to_owned()), None, Some(1000.0)));
    /// # Ok::<(), rechunk_words::WordError>(())
    /// ```
    pub fn parse(text: &str, unit: LengthUnit) -> Result<Self, WordError> {
        let is_named = text.contains('=');
        let mut spans: Vec<(Option<String>, Option<f64>, Option<f64>)> = Vec::new();
        for entry in text.split(',').map(str::trim) {
            let (name, range) = match entry.split_once('=') {
                Some((name, range)) => (Some(name.trim().to_owned()), range),
                None if is_named => {
                    return Err(refused(&format!("`{entry}` has no name: name all or none")));
                }
                None => (None, entry),
            };
            if name.is_some() && spans.iter().any(|(other, _, _)| *other == name) {
                return Err(refused(&format!("`{entry}`: this axis is there twice")));
            }
            let (start, end) = range
                .split_once(':')
                .ok_or_else(|| refused(&format!("`{entry}` is no START:END")))?;
            spans.push((name, position(entry, start)?, position(entry, end)?));
        }
        Ok(Self { unit, spans })
    }

    /// Whether it goes by the names of axes.
    pub fn is_named(&self) -> bool {
        self.spans.iter().any(|(name, _, _)| name.is_some())
    }

    /// The region in voxels and parts of voxels: start and end of each axis. `axes` says the voxels
    /// of an array of `spec`.
    pub fn voxels(
        &self,
        spec: &ArraySpec,
        axes: &[VoxelAxis],
    ) -> Result<Vec<(f64, f64)>, WordError> {
        let whole = |extent: &u64| (0.0, *extent as f64);
        let mut found: Vec<(f64, f64)> = spec.shape.iter().map(whole).collect();
        let is_by_position = self.spans.iter().all(|(name, _, _)| name.is_none());
        if is_by_position && self.spans.len() != found.len() {
            return Err(refused(&format!(
                "it has {} entries, and the array {} axes",
                self.spans.len(),
                found.len()
            )));
        }
        for (number, (name, start, end)) in self.spans.iter().enumerate() {
            let axis = match name {
                None => number,
                Some(name) => spec
                    .axis_named(name)
                    .ok_or_else(|| refused(&format!("the array has no dimension `{name}`")))?,
            };
            if start.is_none() && end.is_none() {
                continue;
            }
            let Some(VoxelAxis { size, origin, unit: Some(unit) }) = axes.get(axis).copied() else {
                let axis = axis_in_words(spec, axis);
                return Err(refused(&format!("the array says no unit of length for {axis}")));
            };
            let scale = self.unit.in_units_of(unit);
            let at = |position: f64| (position * scale - origin) / size;
            let (low, high) = found[axis];
            found[axis] = (start.map_or(low, at), end.map_or(high, at));
        }
        Ok(found)
    }
}

/// Writes what [`PhysicalRegion::parse`] reads, and the unit.
impl fmt::Display for PhysicalRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |at: &Option<f64>| at.map_or_else(String::new, |at| at.to_string());
        let spans = self.spans.iter().map(|(name, start, end)| {
            let name = name.as_ref().map_or_else(String::new, |name| format!("{name}="));
            format!("{name}{}:{}", number(start), number(end))
        });
        write!(f, "{} {}", spans.collect::<Vec<_>>().join(","), self.unit)
    }
}

fn position(entry: &str, text: &str) -> Result<Option<f64>, WordError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.parse().ok().filter(|at: &f64| at.is_finite());
    number.map(Some).ok_or_else(|| refused(&format!("`{entry}`: `{text}` is not a number")))
}

fn refused(reason: &str) -> WordError {
    WordError::new(reason, Some("write it like `z=40:120.5,x=0:1000`, or `40:120.5,:,0:1000`"))
}

#[cfg(test)]
mod tests {
    use rechunk_grid::DataType;

    use super::*;

    fn spec() -> ArraySpec {
        ArraySpec {
            shape: vec![2, 100, 50],
            data_type: DataType::Uint8,
            chunk_shape: vec![1, 10, 10],
            edges: None,
            fill_value: None,
            dimension_names: Some(["c", "z", "x"].map(|name| Some(name.to_owned())).to_vec()),
        }
    }

    fn voxels(text: &str, unit: &str) -> Result<Vec<(f64, f64)>, String> {
        let axes = [
            VoxelAxis { size: 1.0, origin: 0.0, unit: None },
            VoxelAxis { size: 40.0, origin: 400.0, unit: Some(LengthUnit::Nanometer) },
            VoxelAxis { size: 0.004, origin: 0.0, unit: Some(LengthUnit::Micrometer) },
        ];
        let region = PhysicalRegion::parse(text, unit.parse().unwrap());
        let voxels = region.and_then(|region| region.voxels(&spec(), &axes));
        voxels.map_err(|error| error.to_string())
    }

    #[test]
    fn positions_become_voxels() {
        let near = |text, unit, expected: [(f64, f64); 3]| {
            for (found, wanted) in voxels(text, unit).unwrap().iter().zip(expected) {
                assert!((found.0 - wanted.0).abs() < 1e-9, "{text}: {found:?}");
                assert!((found.1 - wanted.1).abs() < 1e-9, "{text}: {found:?}");
            }
        };
        near("z=400:800", "nm", [(0.0, 2.0), (0.0, 10.0), (0.0, 50.0)]);
        near("z=0.8:,x=0.02:0.1", "\u{b5}m", [(0.0, 2.0), (10.0, 100.0), (5.0, 25.0)]);
        near(":,:,4:8", "nanometers", [(0.0, 2.0), (0.0, 100.0), (1.0, 2.0)]);
        near("x=:6", "nm", [(0.0, 2.0), (0.0, 100.0), (0.0, 1.5)]);
    }

    #[test]
    fn positions_that_mean_nothing_are_refused() {
        for (text, reason) in [
            ("z=1:2,z=3:4", "twice"),
            ("z=1:2,3:4", "no name"),
            ("z=5", "no START:END"),
            ("z=a:3", "not a number"),
            ("z=inf:3", "not a number"),
            ("y=1:2", "no dimension `y`"),
            ("1:2", "3 axes"),
            ("c=0:1", "no unit of length"),
        ] {
            let error = voxels(text, "nm").unwrap_err();
            assert!(error.contains(reason), "{text}: {error}");
        }
        let error = LengthUnit::parse("pixel").unwrap_err();
        assert!(error.hint.unwrap().contains("nm um"));
    }

    #[test]
    fn names_of_units_are_read_and_written() {
        for (text, written) in
            [("micron", "um"), ("Å", "angstrom"), ("m", "m"), ("millimetres", "mm"), ("km", "km")]
        {
            assert_eq!(LengthUnit::parse(text).unwrap().to_string(), written);
        }
        let region = PhysicalRegion::parse("z=40:120.5,x=:1e3", LengthUnit::Nanometer).unwrap();
        assert_eq!(region.to_string(), "z=40:120.5,x=:1000 nm");
    }
}
