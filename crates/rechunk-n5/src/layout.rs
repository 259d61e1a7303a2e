//! The byte layout of one dataset.

mod stored;

pub use stored::PlainBlock;

use rechunk_format::{CodecCost, ElementOrder, FormatError, Layout, ShardFormat};
use rechunk_grid::{ArraySpec, Endian};

use crate::Compression;
use crate::block::{self, HeaderError, header_bytes_max};
use crate::block_shape::Rows;
use crate::dimension_names::AxisOrder;
use crate::metadata::{DATA_TYPE, N5Metadata, field};
use crate::payload;

/// Largest encoded block of elements of variable length that is copied, bytes. Nothing in the
/// metadata bounds one, and memory for it has to be reserved before it is read.
pub const VARIABLE_BLOCK_BYTES_MAX: u64 = 16 << 20;

const ADVICE: &str =
    "keep the same chunks (--chunks keep), format and codec: then chunks are copied as they are";

/// A dataset's layout: where its blocks are and what their bytes mean.
#[derive(Debug, Clone)]
pub struct N5Layout {
    metadata: N5Metadata,
    axis_order: AxisOrder,
    spec: ArraySpec,
    order: ElementOrder,
    cost: CodecCost,
    /// Shape of a full block in N5's order, elements, and bytes of an element: as sizes in memory.
    block_size: Vec<usize>,
    item_bytes: usize,
    identity: String,
    summary: String,
}

impl N5Layout {
    /// The layout that `metadata` describes, its axes in `axis_order`.
    pub fn new(metadata: N5Metadata, axis_order: AxisOrder) -> Result<Self, FormatError> {
        metadata.check()?;
        let spec = metadata.spec(axis_order);
        let axes = (0..spec.shape.len()).collect::<Vec<_>>();
        let order = ElementOrder {
            axes: if axis_order == AxisOrder::Kept {
                axes.into_iter().rev().collect()
            } else {
                axes
            },
            // Of single bytes there is only one order.
            endian: if spec.item_bytes() > 1 { Endian::Big } else { Endian::Little },
        };
        let size = |extent: u64| {
            let wrong = || field("blockSize").unsupported(format!("{extent} on this machine"), "");
            usize::try_from(extent).map_err(|_| wrong())
        };
        let block_size = metadata.block_size.iter().copied().map(size).collect::<Result<_, _>>()?;
        let item_bytes = size(spec.item_bytes())?;
        let (cost, identity) = (cost(&metadata), identity(&metadata, &order));
        let summary = metadata.compression.to_string();
        Ok(Self {
            metadata,
            axis_order,
            spec,
            order,
            cost,
            block_size,
            item_bytes,
            identity,
            summary,
        })
    }

    /// The metadata it was made from.
    pub fn metadata(&self) -> &N5Metadata {
        &self.metadata
    }

    /// Order of N5's axes in the array.
    pub fn axis_order(&self) -> AxisOrder {
        self.axis_order
    }

    fn damaged(&self, reason: String) -> FormatError {
        FormatError::Decode { codec: self.metadata.compression.name(), reason }
    }

    /// That elements of variable length are not looked at.
    fn not_decoded(&self) -> FormatError {
        let name = self.metadata.data_type.shown_name();
        let what = format!("decoding elements of variable length ({name})");
        field(DATA_TYPE).unsupported(what, ADVICE)
    }

    /// Bytes of a full block.
    fn block_bytes(&self) -> usize {
        self.block_size.iter().product::<usize>() * self.item_bytes
    }

    /// The sizes in a block's header, none larger than a full block, and its payload.
    fn split<'a>(&self, encoded: &'a [u8]) -> Result<(Vec<usize>, &'a [u8]), FormatError> {
        let most = self.cost.encoded_bytes_max;
        if encoded.len() as u64 > most {
            let found = encoded.len();
            let reason = format!("{found} encoded bytes are more than the {most} possible");
            return Err(self.damaged(reason));
        }
        let (sizes, payload) =
            block::read(encoded, self.block_size.len()).map_err(|error| match error {
                HeaderError::Damaged(reason) => FormatError::Decode { codec: "N5 block", reason },
                HeaderError::Variable(mode) => {
                    let what = format!("decoding a block of mode {mode} (variable length)");
                    field(DATA_TYPE).unsupported(what, ADVICE)
                }
            })?;
        let sizes = sizes.iter().zip(&self.block_size).map(|(&size, &full)| {
            usize::try_from(size).ok().filter(|size| *size <= full).ok_or_else(|| {
                let reason = format!("the header says {size} elements along an axis of {full}");
                FormatError::Decode { codec: "N5 block", reason }
            })
        });
        Ok((sizes.collect::<Result<_, _>>()?, payload))
    }

    /// Shape of the stored block `index`, in N5's order: its part inside the array, as Java writes
    /// it.
    fn stored_sizes(&self, index: &[u64]) -> Vec<u32> {
        let index = self.axis_order.turn(index);
        let axes = self.metadata.dimensions.iter().zip(&self.metadata.block_size).zip(index);
        axes.map(|((&extent, &block), position)| {
            let rest = extent.saturating_sub(position.saturating_mul(block));
            u32::try_from(rest.min(block)).unwrap_or(u32::MAX)
        })
        .collect()
    }

    fn encode_block(
        &self,
        header: &[u8],
        elements: &[u8],
        encoded: &mut Vec<u8>,
        rows: &Rows,
    ) -> Result<(), String> {
        let compression = &self.metadata.compression;
        let packed;
        let elements = if rows.bytes() == elements.len() {
            elements
        } else {
            let mut buffer = Vec::with_capacity(rows.bytes());
            rows.gather(elements, &mut buffer);
            packed = buffer;
            &packed
        };
        encoded.clear();
        let most = payload::encoded_bytes_max(compression, elements.len() as u64);
        let most = usize::try_from(most).map_err(|error| error.to_string())?;
        // Room for the header too, so that nothing moves to another place for it.
        encoded.reserve_exact(most.saturating_add(header.len()));
        payload::encode(compression, elements, encoded, self.spec.item_bytes())?;
        drop(encoded.splice(..0, header.iter().copied()));
        Ok(())
    }
}

impl Layout for N5Layout {
    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn format_name(&self) -> &'static str {
        "n5"
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
        self.metadata.compression.has_checksum()
    }

    fn shards(&self) -> Option<&ShardFormat> {
        None
    }

    fn object_key(&self, index: &[u64]) -> String {
        let parts: Vec<String> = self.axis_order.turn(index).iter().map(u64::to_string).collect();
        parts.join("/")
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        let parts: Vec<u64> =
            key.split('/').map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let index = self.axis_order.turn(&parts);
        // Equal again from the index: `01` or `+1` name no block.
        (index.len() == self.spec.shape.len() && self.object_key(&index) == key).then_some(index)
    }

    /// N5 has no fill value: an absent block is no data.
    fn tells_absence(&self) -> bool {
        true
    }

    fn decode<'a>(
        &self,
        _index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        if self.spec.data_type.is_variable() {
            return Err(self.not_decoded());
        }
        let (sizes, payload) = self.split(encoded)?;
        let rows = Rows::new(&sizes, &self.block_size, self.item_bytes);
        let full = self.block_bytes();
        scratch.clear();
        // At once, so that nothing moves to another place when the block is spread.
        scratch.reserve_exact(full);
        payload::decode(&self.metadata.compression, payload, scratch, rows.bytes())
            .map_err(|reason| self.damaged(reason))?;
        if rows.bytes() < full {
            scratch.resize(full, 0);
            rows.spread(scratch);
        }
        Ok(scratch)
    }

    fn check_stored(&self, _index: &[u64], encoded: &[u8]) -> Result<(), FormatError> {
        if self.spec.data_type.is_variable() {
            return Ok(()); // nothing is known of them
        }
        let (sizes, payload) = match self.split(encoded) {
            Err(FormatError::Unsupported { .. }) => return Ok(()), // that is no damage
            split => split?,
        };
        let bytes = Rows::new(&sizes, &self.block_size, self.item_bytes).bytes();
        if self.metadata.compression == Compression::Raw && payload.len() != bytes {
            let reason = format!("{} bytes instead of {bytes}", payload.len());
            return Err(self.damaged(reason));
        }
        Ok(())
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        if self.spec.data_type.is_variable() {
            return Err(self.not_decoded());
        }
        let refuse =
            |reason| FormatError::Encode { codec: self.metadata.compression.name(), reason };
        if elements.len() != self.block_bytes() {
            let (found, wanted) = (elements.len(), self.block_bytes());
            return Err(refuse(format!("{found} bytes, but a block has {wanted}")));
        }
        let sizes = self.stored_sizes(index);
        let fit = |size: &u32| usize::try_from(*size).map_err(|error| refuse(error.to_string()));
        let stored = sizes.iter().map(fit).collect::<Result<Vec<_>, _>>()?;
        let rows = Rows::new(&stored, &self.block_size, self.item_bytes);
        self.encode_block(&block::write(&sizes), elements, encoded, &rows).map_err(refuse)
    }
}

fn cost(metadata: &N5Metadata) -> CodecCost {
    let (compression, bytes) = (&metadata.compression, metadata.block_bytes());
    let name = compression.profile_name();
    if metadata.data_type.data_type().is_variable() {
        return CodecCost {
            name,
            is_raw: false,
            encoded_bytes_max: VARIABLE_BLOCK_BYTES_MAX,
            decode_workspace_bytes: 0,
            encode_workspace_bytes: 0,
        };
    }
    let header_bytes = header_bytes_max(metadata.dimensions.len() as u64);
    let axes = metadata.dimensions.iter().zip(&metadata.block_size);
    let is_clipped = axes.into_iter().any(|(extent, block)| extent % block > 0);
    CodecCost {
        name,
        // There is a header, and blocks at the edge are smaller.
        is_raw: false,
        encoded_bytes_max: header_bytes + payload::encoded_bytes_max(compression, bytes),
        decode_workspace_bytes: payload::decode_workspace_bytes(compression, bytes),
        // What is stored of a block at the edge is put together first.
        encode_workspace_bytes: payload::encode_workspace_bytes(compression, bytes)
            + if is_clipped { bytes } else { 0 },
    }
}

/// Data type, order and resolved compression.
fn identity(metadata: &N5Metadata, order: &ElementOrder) -> String {
    let resolved = metadata.compression.resolved(metadata.data_type.data_type().item_bytes());
    format!("n5 {} {:?} {resolved:?}", metadata.data_type.shown_name(), order.axes)
}

#[cfg(test)]
mod tests;
