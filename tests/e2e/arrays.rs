//! Small writers of uncompressed Zarr arrays: a source that no code under test has touched.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

/// A little-endian, uncompressed array of float32 or uint16.
#[derive(Debug, Clone)]
pub(crate) struct RawArray {
    pub shape: Vec<u64>,
    pub chunks: Vec<u64>,
    pub version: u8,
    pub item_bytes: u64,
}

impl RawArray {
    /// A float32 array as Zarr v2.
    pub(crate) fn v2(shape: &[u64], chunks: &[u64]) -> Self {
        Self { shape: shape.to_vec(), chunks: chunks.to_vec(), version: 2, item_bytes: 4 }
    }

    /// A float32 array as Zarr v3.
    pub(crate) fn v3(shape: &[u64], chunks: &[u64]) -> Self {
        Self { version: 3, ..Self::v2(shape, chunks) }
    }

    /// Returns the array with elements of uint16.
    pub(crate) fn of_uint16(self) -> Self {
        Self { item_bytes: 2, ..self }
    }

    /// Its metadata document.
    pub(crate) fn metadata(&self) -> (&'static str, Value) {
        let is_float = self.item_bytes == 4;
        if self.version == 2 {
            let document = json!({
                "zarr_format": 2, "shape": self.shape, "chunks": self.chunks,
                "dtype": if is_float { "<f4" } else { "<u2" }, "compressor": null,
                "fill_value": 0, "order": "C", "filters": null, "dimension_separator": ".",
            });
            return (".zarray", document);
        }
        let document = json!({
            "zarr_format": 3, "node_type": "array", "shape": self.shape,
            "data_type": if is_float { "float32" } else { "uint16" },
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": self.chunks}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
            "fill_value": 0, "attributes": {},
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        });
        ("zarr.json", document)
    }

    /// Writes metadata and every chunk; elements depend on their position only, so that two arrays
    /// of one shape and type are equal whatever their chunks.
    pub(crate) fn write(&self, directory: &str) {
        let directory = Path::new(directory);
        std::fs::create_dir_all(directory).unwrap();
        let (name, document) = self.metadata();
        write_json(&directory.join(name), &document);
        let counts: Vec<u64> = self
            .shape
            .iter()
            .zip(&self.chunks)
            .map(|(&shape, &chunk)| shape.div_ceil(chunk))
            .collect();
        for ordinal in 0..counts.iter().product::<u64>() {
            let index = position(ordinal, &counts);
            let path = directory.join(self.key(&index));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let mut file = std::fs::File::create(&path).unwrap();
            file.write_all(&self.chunk(&index)).unwrap();
        }
    }

    /// Key of a chunk.
    pub(crate) fn key(&self, index: &[u64]) -> String {
        let index: Vec<String> = index.iter().map(u64::to_string).collect();
        if self.version == 2 { index.join(".") } else { format!("c/{}", index.join("/")) }
    }

    /// Bytes of a chunk, padding outside of the array as zeros.
    pub(crate) fn chunk(&self, index: &[u64]) -> Vec<u8> {
        let rank = self.shape.len();
        let (rows, row) = self.chunks.split_at(rank - 1);
        let row_elements = row[0];
        let row_count: u64 = rows.iter().product();
        let mut bytes = Vec::with_capacity(
            usize::try_from(row_count * row_elements * self.item_bytes).unwrap(),
        );
        for ordinal in 0..row_count {
            let mut at: Vec<u64> = position(ordinal, rows);
            at.push(0);
            let at: Vec<u64> = at
                .iter()
                .zip(index)
                .zip(&self.chunks)
                .map(|((inner, index), chunk)| index * chunk + inner)
                .collect();
            self.push_row(&mut bytes, &at, row_elements);
        }
        bytes
    }

    fn push_row(&self, bytes: &mut Vec<u8>, start: &[u64], elements: u64) {
        let inside = start.iter().zip(&self.shape).all(|(at, extent)| at < extent);
        let first =
            start.iter().zip(&self.shape).fold(0, |linear, (at, extent)| linear * extent + at);
        let last_axis = start.len() - 1;
        for offset in 0..elements {
            let inside = inside && start[last_axis] + offset < self.shape[last_axis];
            let value = if inside { element(first + offset) } else { 0 };
            if self.item_bytes == 4 {
                bytes.extend_from_slice(&f32::from(value).to_le_bytes());
            } else {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}

/// Smooth with a little noise: compresses, but not to nothing. Never the fill value.
fn element(linear: u64) -> u16 {
    let noise = linear.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60;
    let value = 1 + (linear / 8 % 4000) * 16 + noise;
    u16::try_from(value).unwrap()
}

/// Index of an ordinal in C order.
fn position(ordinal: u64, counts: &[u64]) -> Vec<u64> {
    let mut rest = ordinal;
    let mut index: Vec<u64> = counts
        .iter()
        .rev()
        .map(|&count| {
            let at = rest % count;
            rest /= count;
            at
        })
        .collect();
    index.reverse();
    index
}

/// Writes a JSON document.
pub(crate) fn write_json(path: &Path, document: &Value) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, serde_json::to_vec_pretty(document).unwrap()).unwrap();
}
