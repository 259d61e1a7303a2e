//! Sources that no code under test has written: plain files of Zarr v2.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

/// Type of elements, with its name in Zarr v2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    U8,
    U16,
    I32,
    F32,
}

impl Kind {
    pub(super) const ALL: [Self; 5] = [Self::Bool, Self::U8, Self::U16, Self::I32, Self::F32];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Bool => "|b1",
            Self::U8 => "|u1",
            Self::U16 => "<u2",
            Self::I32 => "<i4",
            Self::F32 => "<f4",
        }
    }

    /// Its name as users write it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::U8 => "uint8",
            Self::U16 => "uint16",
            Self::I32 => "int32",
            Self::F32 => "float32",
        }
    }

    pub(super) fn item_bytes(self) -> usize {
        match self {
            Self::Bool | Self::U8 => 1,
            Self::U16 => 2,
            Self::I32 | Self::F32 => 4,
        }
    }

    /// The value as the type has it: integers are rounded half to even, and saturated.
    #[expect(clippy::cast_possible_truncation, reason = "a float32 rounds")]
    pub(super) fn rounded(self, value: f64) -> f64 {
        let (least, most) = match self {
            Self::F32 => return f64::from(value as f32),
            Self::Bool => (0.0, 1.0),
            Self::U8 => (0.0, 255.0),
            Self::U16 => (0.0, 65_535.0),
            Self::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        };
        value.round_ties_even().clamp(least, most)
    }

    /// Bytes of an element, little-endian.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "values fit")]
    fn encoded(self, value: f64) -> Vec<u8> {
        match self {
            Self::Bool | Self::U8 => vec![value as u8],
            Self::U16 => (value as u16).to_le_bytes().to_vec(),
            Self::I32 => (value as i32).to_le_bytes().to_vec(),
            Self::F32 => (value as f32).to_le_bytes().to_vec(),
        }
    }

    /// Elements from bytes in native byte order.
    pub(super) fn decoded(self, bytes: &[u8]) -> Vec<f64> {
        let value = |item: &[u8]| match self {
            Self::Bool | Self::U8 => f64::from(item[0]),
            Self::U16 => f64::from(u16::from_ne_bytes(item.try_into().unwrap())),
            Self::I32 => f64::from(i32::from_ne_bytes(item.try_into().unwrap())),
            Self::F32 => f64::from(f32::from_ne_bytes(item.try_into().unwrap())),
        };
        bytes.chunks(self.item_bytes()).map(value).collect()
    }
}

/// An array by arithmetic.
#[derive(Debug, Clone)]
pub(super) struct Volume {
    pub kind: Kind,
    pub shape: Vec<i64>,
    pub chunk: Vec<i64>,
    pub fill: f64,
    pub is_compressed: bool,
    /// Makes its elements others than those of another volume.
    pub seed: u64,
    /// Every so many chunks two of them are missing; 0: none.
    pub gaps: i64,
}

impl Volume {
    pub(super) fn new(kind: Kind, shape: &[i64], chunk: &[i64]) -> Self {
        let (shape, chunk) = (shape.to_vec(), chunk.to_vec());
        Self { kind, shape, chunk, fill: 0.0, is_compressed: false, seed: 1, gaps: 0 }
    }

    pub(super) fn counts(&self) -> Vec<i64> {
        let axes = self.shape.iter().zip(&self.chunk);
        axes.map(|(extent, chunk)| (extent + chunk - 1) / chunk).collect()
    }

    /// The chunk of an index is not stored.
    pub(super) fn is_missing(&self, index: &[i64]) -> bool {
        let counts = self.counts();
        let number = index.iter().zip(&counts).fold(0, |number, (at, count)| number * count + at);
        self.gaps > 0 && number % self.gaps < 2
    }

    /// The element at a position in the array.
    pub(super) fn value(&self, at: &[i64]) -> f64 {
        let index: Vec<i64> = at.iter().zip(&self.chunk).map(|(at, chunk)| at / chunk).collect();
        if self.is_missing(&index) { self.fill } else { self.stored(at) }
    }

    fn stored(&self, at: &[i64]) -> f64 {
        let hash = at.iter().fold(self.seed, |hash, at| {
            let hash = (hash ^ at.cast_unsigned()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^ (hash >> 31)
        });
        let below = |limit: u64| f64::from(u32::try_from((hash >> 8) % limit).unwrap());
        match self.kind {
            Kind::Bool => below(2),
            Kind::U8 => below(256),
            Kind::U16 => below(65_536),
            Kind::I32 => below(2_000_001) - 1e6,
            Kind::F32 => below(20_000) / 7.0 - 1000.0,
        }
    }

    /// Stores it.
    pub(super) fn write(&self, path: &Path) {
        fs::create_dir_all(path).unwrap();
        let codec = if self.is_compressed { r#"{"id": "gzip", "level": 1}"# } else { "null" };
        let fill = if self.kind == Kind::Bool {
            (self.fill > 0.0).to_string()
        } else {
            self.fill.to_string()
        };
        let document = format!(
            r#"{{"zarr_format": 2, "shape": {:?}, "chunks": {:?}, "dtype": "{}", "order": "C",
                 "compressor": {codec}, "fill_value": {fill}, "filters": null}}"#,
            self.shape,
            self.chunk,
            self.kind.name(),
        );
        fs::write(path.join(".zarray"), document).unwrap();
        for index in positions(&self.counts()).filter(|index| !self.is_missing(index)) {
            let mut bytes = Vec::new();
            for inside in positions(&self.chunk) {
                let axes = inside.iter().zip(index.iter().zip(&self.chunk));
                let at: Vec<i64> = axes.map(|(at, (index, chunk))| index * chunk + at).collect();
                // Beyond the end there is something that nobody may see.
                bytes.extend(self.kind.encoded(self.kind.rounded(self.stored(&at))));
            }
            if self.is_compressed {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(&bytes).unwrap();
                bytes = encoder.finish().unwrap();
            }
            let key: Vec<String> = index.iter().map(i64::to_string).collect();
            fs::write(path.join(key.join(".")), bytes).unwrap();
        }
    }
}

/// Positions of a box that begins at 0, C order.
pub(super) fn positions(shape: &[i64]) -> impl Iterator<Item = Vec<i64>> + use<> {
    let shape = shape.to_vec();
    (0..shape.iter().product::<i64>()).map(move |number| {
        let (mut rest, mut position) = (number, vec![0; shape.len()]);
        for axis in (0..shape.len()).rev() {
            position[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        position
    })
}
