//! Files whose elements lie where arithmetic says.

use rechunk_grid::{ArraySpec, ChunkGrid, GridError};
use serde::{Deserialize, Serialize};

/// Position of an array in files without codecs: any run of elements can be read or written by its
/// offset. Objects are *blocks*: boxes of elements, the last of each axis clipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFormat {
    /// Shape of the block a file holds, elements; of the array (1 for an axis of extent 0) where
    /// all of it is one file.
    pub block_shape: Vec<u64>,
    /// Bytes of a file before its first element.
    pub offset_bytes: u64,
    /// The array's axes, slowest-varying in a file first.
    pub axes: Vec<usize>,
    /// The first of those bytes; the others are zeros.
    pub header: Vec<u8>,
    /// A file may have more bytes behind its elements, which are nobody's business.
    pub has_tail: bool,
    /// All is one file, which is there even where the array has no elements.
    pub is_single: bool,
}

impl RunFormat {
    /// The grid of the files over an array of `spec`.
    pub fn grid(&self, spec: &ArraySpec) -> Result<ChunkGrid, GridError> {
        ChunkGrid::new(&spec.shape, &self.block_shape)
    }

    /// Bytes that file `index` of an array of `spec` has, header and all. Fails where that does
    /// not fit 63 bits.
    pub fn file_bytes(&self, spec: &ArraySpec, index: &[u64]) -> Result<u64, GridError> {
        let grid = self.grid(spec)?;
        // One file of an array without elements has no block in the grid.
        let elements = if grid.count() == 0 { 0 } else { grid.region(index).elements() };
        let bytes = elements.checked_mul(spec.item_bytes());
        bytes
            .and_then(|bytes| bytes.checked_add(self.offset_bytes))
            .filter(|&bytes| i64::try_from(bytes).is_ok())
            .ok_or_else(|| GridError::TooLarge { what: "a file", shape: spec.shape.clone() })
    }

    /// Index of the file that chunk `index` of an array of `spec` is in.
    pub fn file_of(&self, spec: &ArraySpec, index: &[u64]) -> Vec<u64> {
        let starts = index.iter().zip(&spec.chunk_shape).map(|(index, chunk)| index * chunk);
        starts.zip(&self.block_shape).map(|(start, block)| start / block).collect()
    }

    /// Index of every file, in C order.
    pub fn files(
        &self,
        spec: &ArraySpec,
    ) -> Result<impl Iterator<Item = Vec<u64>> + Send + use<>, GridError> {
        let indices = self.grid(spec)?.indices();
        let lone = (self.is_single && indices.is_empty()).then(|| vec![0; spec.shape.len()]);
        Ok(indices.positions().chain(lone))
    }
}

#[cfg(test)]
mod tests {
    use rechunk_grid::DataType;

    use super::*;

    fn spec(shape: &[u64]) -> ArraySpec {
        ArraySpec {
            shape: shape.to_vec(),
            data_type: DataType::Uint16,
            chunk_shape: vec![1; shape.len()],
            edges: None,
            fill_value: None,
            dimension_names: None,
        }
    }

    fn runs(block_shape: &[u64], is_single: bool) -> RunFormat {
        let axes = (0..block_shape.len()).collect();
        let block_shape = block_shape.to_vec();
        RunFormat {
            block_shape,
            offset_bytes: 10,
            axes,
            header: Vec::new(),
            has_tail: false,
            is_single,
        }
    }

    #[test]
    fn files_at_the_edge_are_clipped() {
        let (spec, runs) = (spec(&[5, 4]), runs(&[3, 2], false));
        let sizes: Vec<u64> = runs
            .files(&spec)
            .unwrap()
            .map(|index| runs.file_bytes(&spec, &index).unwrap())
            .collect();
        assert_eq!(sizes, [22, 22, 18, 18]);
        assert_eq!(runs.file_of(&spec, &[2, 3]), [0, 1]);
    }

    #[test]
    fn one_file_is_there_without_elements_too() {
        let empty = spec(&[0, 4]);
        let files = |runs: &RunFormat| runs.files(&empty).unwrap().collect::<Vec<_>>();
        assert_eq!(files(&runs(&[1, 4], true)), [[0, 0]]);
        assert_eq!(runs(&[1, 4], true).file_bytes(&empty, &[0, 0]), Ok(10));
        assert!(files(&runs(&[1, 4], false)).is_empty());
        let scalar = spec(&[]);
        assert_eq!(runs(&[], true).files(&scalar).unwrap().count(), 1);
        assert_eq!(runs(&[], true).file_bytes(&scalar, &[]), Ok(12));
    }

    #[test]
    fn files_too_large_to_be_are_refused() {
        let huge = spec(&[1 << 62]);
        assert!(runs(&[1 << 62], true).file_bytes(&huge, &[0]).is_err());
    }
}
