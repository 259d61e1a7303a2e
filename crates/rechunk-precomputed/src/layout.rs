//! The byte layout of one scale.

mod cost;

use std::sync::Arc;

use rechunk_codec::deflate;
use rechunk_format::{CodecCost, ElementOrder, FormatError, Layout, Plain, ShardFormat};
use rechunk_grid::{ArraySpec, ChunkGrid};
use rechunk_kernel::{copy_region, narrow};

use self::cost::{cost, identity, inner_bytes_max, summary};
use crate::chunk_name;
use crate::cseg::{self, Labels};
use crate::encoding::Encoding;
use crate::field::field;
use crate::images::{self, Pixels};
use crate::metadata::{Packing, PrecomputedMetadata};
use crate::names::{CHUNK_SIZES, SIZE};
use crate::packed_objects::{self, Looks};
use crate::sharding::Minishards;

/// A scale's layout: where its chunks are and what their bytes mean.
#[derive(Debug, Clone)]
pub struct PrecomputedLayout {
    metadata: PrecomputedMetadata,
    spec: ArraySpec,
    grid: ChunkGrid,
    shards: Option<(Arc<Minishards>, ShardFormat)>,
    order: ElementOrder,
    cost: CodecCost,
    identity: String,
    summary: String,
    /// Bytes of a full chunk, and of an element.
    chunk_bytes: usize,
    item_bytes: usize,
    /// Most bytes of an encoded chunk, without a compression around it.
    inner_bytes_max: usize,
}

impl PrecomputedLayout {
    /// The layout that `metadata` describes.
    pub fn new(metadata: PrecomputedMetadata) -> Result<Self, FormatError> {
        metadata.check()?;
        let spec = metadata.spec();
        let grid = ChunkGrid::new(&spec.shape, &spec.chunk_shape)
            .map_err(|error| field(SIZE).invalid(error.to_string()))?;
        let size = |bytes: u64| {
            let wrong =
                || field(CHUNK_SIZES).unsupported(format!("{bytes} bytes on this machine"), "");
            usize::try_from(bytes).map_err(|_| wrong())
        };
        let (chunk_bytes, item_bytes) = (size(metadata.chunk_bytes())?, size(spec.item_bytes())?);
        let inner_bytes_max = size(inner_bytes_max(&metadata))?;
        let (cost, identity) = (cost(&metadata), identity(&metadata));
        let summary = summary(&metadata);
        let order = ElementOrder::c_little(spec.shape.len());
        let shards = metadata.shards()?;
        Ok(Self {
            metadata,
            spec,
            grid,
            shards,
            order,
            cost,
            identity,
            summary,
            chunk_bytes,
            item_bytes,
            inner_bytes_max,
        })
    }

    /// The metadata it was made from.
    pub fn metadata(&self) -> &PrecomputedMetadata {
        &self.metadata
    }

    fn codec(&self) -> &'static str {
        self.metadata.encoding.name()
    }

    /// True if objects are nothing but voxels.
    fn is_bare(&self) -> bool {
        self.metadata.encoding == Encoding::Raw && self.metadata.packing == Packing::None
    }

    /// Shape of what is stored of chunk `index`, which is clipped at the end of the volume, and its
    /// bytes.
    fn stored(&self, index: &[u64]) -> (Vec<u64>, usize) {
        let region = self.grid.region(index);
        let elements = narrow(region.elements());
        (region.shape, elements.saturating_mul(self.item_bytes).min(self.chunk_bytes))
    }

    /// Begin and end of chunk `index` along x, y and z, as its name has them.
    fn bounds(&self, index: &[u64]) -> ([i64; 3], [i64; 3]) {
        let zyx = &index[index.len().saturating_sub(3)..];
        let mut bounds = ([0; 3], [0; 3]);
        for (axis, number) in zyx.iter().rev().enumerate() {
            let (size, chunk) = (self.metadata.size[axis], self.metadata.chunk_size[axis]);
            let begin = number.saturating_mul(chunk);
            let end = begin.saturating_add(chunk).min(size).max(begin);
            let at = |voxels: u64| {
                let voxels = i64::try_from(voxels).unwrap_or(i64::MAX);
                self.metadata.voxel_offset[axis].saturating_add(voxels)
            };
            (bounds.0[axis], bounds.1[axis]) = (at(begin), at(end));
        }
        bounds
    }

    /// First bytes of every chunk of the encoding, without a compression around it.
    fn head(&self) -> &'static [u8] {
        match self.metadata.encoding {
            Encoding::Png => &[0x89, b'P', b'N', b'G'],
            Encoding::Jpeg(_) => &[0xff, 0xd8],
            // The offset of the first channel is that of what follows the offsets.
            Encoding::CompressedSegmentation(_) if self.metadata.channels == 1 => &[1, 0, 0, 0],
            Encoding::CompressedSegmentation(_) | Encoding::Raw => &[],
        }
    }

    /// Name of chunk `index`.
    fn chunk_name(&self, index: &[u64]) -> String {
        let (begin, end) = self.bounds(index);
        chunk_name::write(begin, end)
    }

    /// Labels of what is stored of a chunk.
    fn labels(&self, shape: &[u64], block: crate::BlockSize) -> Labels {
        let [x, y, z] = xyz(shape);
        Labels {
            size: [x, y, z].map(narrow),
            channels: narrow(self.metadata.channels),
            block: block.xyz().map(narrow),
            item_bytes: self.item_bytes,
        }
    }

    /// Pixels of what is stored of a chunk.
    fn pixels(&self, shape: &[u64]) -> Pixels {
        let size = xyz(shape);
        Pixels {
            voxels: size.iter().map(|extent| narrow(*extent)).product(),
            width: narrow(size[0]),
            chunk_voxels: self.metadata.chunk_size.iter().product(),
            channels: narrow(self.metadata.channels),
            item_bytes: self.item_bytes,
        }
    }

    /// Decodes an encoded chunk, what is stored of which has `shape`, into as many bytes.
    fn decode_inner(&self, shape: &[u64], inner: &[u8], decoded: &mut [u8]) -> Result<(), String> {
        match self.metadata.encoding {
            Encoding::Raw => {
                if inner.len() != decoded.len() {
                    return Err(wrong_size(inner.len(), decoded.len(), self.metadata.packing));
                }
                decoded.copy_from_slice(inner);
                Ok(())
            }
            Encoding::CompressedSegmentation(block) => {
                cseg::decode(inner, &self.labels(shape, block), decoded)
            }
            Encoding::Jpeg(_) => images::decode_jpeg(inner, &self.pixels(shape), decoded),
            Encoding::Png => images::decode_png(inner, &self.pixels(shape), decoded),
        }
    }

    /// Encodes what is stored of a chunk.
    fn encode_inner(
        &self,
        shape: &[u64],
        stored: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), String> {
        encoded.clear();
        match self.metadata.encoding {
            Encoding::Raw => {
                encoded.extend_from_slice(stored);
                Ok(())
            }
            Encoding::CompressedSegmentation(block) => {
                cseg::encode(stored, &self.labels(shape, block), encoded)
            }
            Encoding::Jpeg(Some(quality)) => {
                images::encode_jpeg(stored, &self.pixels(shape), quality, encoded)
            }
            Encoding::Jpeg(None) => {
                Err("JPEG loses what it writes: chunks are only copied as they are".to_owned())
            }
            Encoding::Png => images::encode_png(stored, &self.pixels(shape), encoded),
        }
    }

    /// Copies what is stored of a clipped chunk between its stored form and a full chunk.
    fn move_clipped(
        &self,
        shape: &[u64],
        source: (&[u8], &[u64]),
        target: (&mut [u8], &[u64]),
    ) -> Result<(), String> {
        let strides = |of: &[u64]| self.order.strides_bytes(of, self.spec.item_bytes());
        let (source, source_strides) = (source.0, strides(source.1));
        let (target, target_strides) = (target.0, strides(target.1));
        copy_region(
            self.item_bytes,
            shape,
            source,
            0,
            &source_strides,
            target,
            0,
            &target_strides,
            1,
        )
        .map_err(|error| error.to_string())
    }

    /// Decodes into `scratch`, which has the bytes of a full chunk, all 0.
    fn decode_into(&self, index: &[u64], object: &[u8], scratch: &mut [u8]) -> Result<(), String> {
        let (shape, bytes) = self.stored(index);
        let raw_bytes = (self.metadata.encoding == Encoding::Raw).then_some(bytes);
        let mut buffer = Vec::new();
        let bound = raw_bytes.unwrap_or(self.inner_bytes_max);
        let looks = Looks { raw_bytes, head: self.head() };
        let packing = self.metadata.packing;
        let inner = packed_objects::unpack(packing, object, looks, bound, &mut buffer)?;
        if bytes == self.chunk_bytes {
            return self.decode_inner(&shape, inner, scratch);
        }
        let full = &self.spec.chunk_shape;
        if raw_bytes == Some(inner.len()) {
            return self.move_clipped(&shape, (inner, &shape), (scratch, full));
        }
        let mut clipped = vec![0; bytes];
        self.decode_inner(&shape, inner, &mut clipped)?;
        self.move_clipped(&shape, (&clipped, &shape), (scratch, full))
    }

    fn encode_stored(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), String> {
        if elements.len() != self.chunk_bytes {
            return Err(format!("{} bytes are no chunk of {}", elements.len(), self.chunk_bytes));
        }
        let (shape, bytes) = self.stored(index);
        let mut clipped = Vec::new();
        let stored = if bytes == self.chunk_bytes {
            elements
        } else {
            clipped.resize(bytes, 0);
            let full = &self.spec.chunk_shape;
            self.move_clipped(&shape, (elements, full), (&mut clipped, &shape))?;
            &clipped
        };
        let level = match self.metadata.packing {
            Packing::Gzip { level } => level,
            Packing::None | Packing::Told => return self.encode_inner(&shape, stored, encoded),
            Packing::Brotli => return Err("brotli is only read".to_owned()),
        };
        if self.metadata.encoding == Encoding::Raw {
            return deflate::encode_gzip(stored, encoded, i32::from(level));
        }
        let mut inner = Vec::new();
        self.encode_inner(&shape, stored, &mut inner)?;
        deflate::encode_gzip(&inner, encoded, i32::from(level))
    }
}

impl Layout for PrecomputedLayout {
    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn format_name(&self) -> &'static str {
        "precomputed"
    }

    fn element_order(&self) -> &ElementOrder {
        &self.order
    }

    fn codec_cost(&self) -> &CodecCost {
        &self.cost
    }

    fn encoding_identity(&self) -> &str {
        &self.identity
    }

    fn codec_summary(&self) -> &str {
        &self.summary
    }

    fn has_checksum(&self) -> bool {
        matches!(self.metadata.packing, Packing::Gzip { .. })
    }

    fn shards(&self) -> Option<&ShardFormat> {
        self.shards.as_ref().map(|(_, format)| format)
    }

    fn shard_number(&self, index: &[u64]) -> u64 {
        self.shards.as_ref().map_or(0, |(tables, _)| tables.number(index))
    }

    fn object_key(&self, index: &[u64]) -> String {
        let name = match (&self.shards, self.metadata.packing) {
            (Some((tables, _)), _) => tables.name(index),
            (None, Packing::Gzip { .. }) => self.chunk_name(index) + packed_objects::GZIP_ENDING,
            (None, Packing::Brotli) => self.chunk_name(index) + packed_objects::BROTLI_ENDING,
            (None, Packing::None | Packing::Told) => self.chunk_name(index),
        };
        match self.metadata.key.as_str() {
            "" => name,
            key => format!("{key}/{name}"),
        }
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        let name = key.rsplit('/').next()?;
        if let Some((tables, format)) = &self.shards {
            let index = tables.index_named(name, self.spec.shape.len())?;
            let begin = index.iter().zip(format.chunks()).map(|(index, chunks)| index * chunks);
            let is_inside = self.grid.contains(&begin.collect::<Vec<_>>());
            return (is_inside && self.object_key(&index) == key).then_some(index);
        }
        let endings = [packed_objects::GZIP_ENDING, packed_objects::BROTLI_ENDING];
        let name = endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
        let (begin, _) = chunk_name::read(name)?;
        let mut index = vec![0; self.spec.shape.len()];
        for (axis, place) in index.iter_mut().rev().take(3).enumerate() {
            let voxels = begin[axis].checked_sub(self.metadata.voxel_offset[axis])?;
            *place = u64::try_from(voxels).ok()? / self.metadata.chunk_size[axis];
        }
        // Equal again from the index: no chunk begins between others, and `01` is no number.
        (self.grid.contains(&index) && self.object_key(&index) == key).then_some(index)
    }

    fn plain(&self) -> Option<Plain> {
        let form = if self.cost.is_raw { Plain::Padded } else { Plain::Clipped };
        (self.is_bare() && self.shards.is_none()).then_some(form)
    }

    fn decode<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        let refuse = |reason: String| FormatError::Decode { codec: self.codec(), reason };
        let most = self.cost.encoded_bytes_max;
        if encoded.len() as u64 > most {
            let found = encoded.len();
            return Err(refuse(format!("{found} encoded bytes are more than the {most} possible")));
        }
        if self.is_bare()
            && encoded.len() == self.chunk_bytes
            && self.stored(index).1 == encoded.len()
        {
            return Ok(encoded);
        }
        scratch.clear();
        scratch.reserve_exact(self.chunk_bytes);
        scratch.resize(self.chunk_bytes, 0);
        self.decode_into(index, encoded, scratch).map_err(refuse)?;
        Ok(scratch)
    }

    fn check_stored(&self, index: &[u64], encoded: &[u8]) -> Result<(), FormatError> {
        let (_, bytes) = self.stored(index);
        if self.is_bare() && encoded.len() != bytes {
            let reason = wrong_size(encoded.len(), bytes, self.metadata.packing);
            return Err(FormatError::Decode { codec: self.codec(), reason });
        }
        Ok(())
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        self.encode_stored(index, elements, encoded)
            .map_err(|reason| FormatError::Encode { codec: self.codec(), reason })
    }
}

/// Extents along x, y and z of a shape.
fn xyz(shape: &[u64]) -> [u64; 3] {
    let mut size = [1; 3];
    for (extent, known) in size.iter_mut().zip(shape.iter().rev()) {
        *extent = *known;
    }
    size
}

fn wrong_size(found: usize, wanted: usize, packing: Packing) -> String {
    let guess = match packing {
        Packing::Told => {
            ": is the object compressed with something else than gzip and brotli (Content-Encoding)?"
        }
        Packing::None | Packing::Gzip { .. } | Packing::Brotli => "",
    };
    format!("it has {found} bytes, not {wanted}{guess}")
}

#[cfg(test)]
mod tests;
