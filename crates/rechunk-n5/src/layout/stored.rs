//! Blocks as they are stored, of any size up to that of a full one.

use std::ops::Range;

use rechunk_format::FormatError;

use super::N5Layout;
use crate::Compression;
use crate::block;
use crate::block_shape::Rows;
use crate::payload;

/// Sizes of a block that is not compressed, and where its elements lie in its stored bytes.
pub type PlainBlock = (Vec<u32>, Range<usize>);

impl N5Layout {
    /// Encodes a block of `sizes` elements along each axis, in N5's order. `elements` are
    /// big-endian, first axis fastest. No size may be larger than that of a full block; 0 is fine.
    pub fn encode_stored(&self, sizes: &[u32], elements: &[u8]) -> Result<Vec<u8>, FormatError> {
        let refuse =
            |reason| FormatError::Encode { codec: self.metadata.compression.name(), reason };
        let header = block::write(sizes);
        let (stored, _) = self.split(&header)?;
        let rows = Rows::new(&stored, &self.block_size, self.item_bytes);
        if rows.bytes() != elements.len() {
            let (found, wanted) = (elements.len(), rows.bytes());
            return Err(refuse(format!("{found} bytes, but a block of {sizes:?} has {wanted}")));
        }
        let mut encoded = Vec::new();
        self.encode_block(&header, elements, &mut encoded, &rows).map_err(refuse)?;
        Ok(encoded)
    }

    /// Decodes a stored block to its sizes, in N5's order, and its elements, big-endian, first axis
    /// fastest. Never allocates more than a full block and the declared workspace.
    pub fn decode_stored(&self, encoded: &[u8]) -> Result<(Vec<u32>, Vec<u8>), FormatError> {
        if self.spec.data_type.is_variable() {
            return Err(self.not_decoded());
        }
        let (sizes, payload) = self.split(encoded)?;
        let bytes = Rows::new(&sizes, &self.block_size, self.item_bytes).bytes();
        let mut elements = Vec::new();
        if bytes > 0 {
            elements.reserve_exact(bytes);
            payload::decode(&self.metadata.compression, payload, &mut elements, bytes)
                .map_err(|reason| self.damaged(reason))?;
        }
        // Each is at most that of a full block, which came from 32 bits.
        let narrow = |size: &usize| u32::try_from(*size).unwrap_or(u32::MAX);
        Ok((sizes.iter().map(narrow).collect(), elements))
    }
}

impl N5Layout {
    /// Finds sizes and elements of a stored block that is not compressed: where the elements lie
    /// in `encoded`. `None` of other blocks, which have to be [decoded](N5Layout::decode_stored).
    pub fn plain_stored(&self, encoded: &[u8]) -> Result<Option<PlainBlock>, FormatError> {
        if self.spec.data_type.is_variable() || self.metadata.compression != Compression::Raw {
            return Ok(None);
        }
        let (sizes, payload) = self.split(encoded)?;
        let bytes = Rows::new(&sizes, &self.block_size, self.item_bytes).bytes();
        if bytes > 0 && payload.len() != bytes {
            let found = payload.len();
            return Err(self.damaged(format!("{found} bytes of elements instead of {bytes}")));
        }
        let start = encoded.len() - payload.len();
        let narrow = |size: &usize| u32::try_from(*size).unwrap_or(u32::MAX);
        Ok(Some((sizes.iter().map(narrow).collect(), start..start + bytes)))
    }
}

#[cfg(test)]
mod tests {
    use rechunk_grid::DataType;
    use serde_json::Map;

    use crate::{AxisOrder, Compression, N5Layout, N5Metadata, N5Type};

    fn layout(compression: Compression) -> N5Layout {
        let metadata = N5Metadata {
            dimensions: vec![10, 10, 1],
            block_size: vec![4, 4, 4],
            data_type: N5Type::of(DataType::Uint16).unwrap(),
            compression,
            version: None,
            attributes: Map::new(),
        };
        N5Layout::new(metadata, AxisOrder::Reversed).unwrap()
    }

    #[test]
    fn a_block_keeps_its_sizes_also_beyond_the_array() {
        for name in ["raw", "gzip", "bzip2", "xz", "lz4", "blosc", "zstd"] {
            let layout = layout(Compression::with_defaults(name).unwrap());
            for sizes in [[4, 4, 4], [1, 2, 3], [0, 4, 4], [0, 0, 0], [2, 2, 1]] {
                let bytes = sizes.iter().product::<u32>() * 2;
                let elements: Vec<u8> = (0..bytes).map(|at| at.to_le_bytes()[0]).collect();
                let stored = layout.encode_stored(&sizes, &elements).unwrap();
                let (found, decoded) = layout.decode_stored(&stored).unwrap();
                if let Some((sizes, at)) = layout.plain_stored(&stored).unwrap() {
                    assert_eq!((&sizes, &stored[at]), (&found, &decoded[..]));
                    let short = &stored[..stored.len() - 1];
                    assert!(elements.is_empty() || layout.plain_stored(short).is_err());
                }
                assert_eq!((found, decoded), (sizes.to_vec(), elements), "{name} {sizes:?}");
            }
        }
    }

    #[test]
    fn sizes_that_no_block_has_are_refused() {
        let layout = layout(Compression::Raw);
        for (sizes, bytes) in [
            (&[5, 1, 1][..], 10),
            (&[1, 1, 1], 1),
            (&[1, 1, 1], 3),
            (&[1, 1], 2),
            (&[u32::MAX, 1, 1], 2),
        ] {
            layout.encode_stored(sizes, &vec![0; bytes]).unwrap_err();
        }
        let mut stored = layout.encode_stored(&[1, 1, 1], &[1, 2]).unwrap();
        stored[7] = 9;
        layout.decode_stored(&stored).unwrap_err();
        layout.decode_stored(&[]).unwrap_err();
    }
}
