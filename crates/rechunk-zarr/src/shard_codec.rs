//! `sharding_indexed` where it is not alone: inside a shard, after a transposition or before a
//! compressor. There a shard is encoded and decoded in memory as a whole, like any chunk.

use rechunk_format::{ElementOrder, FormatError, ShardFormat};
use rechunk_grid::{DataType, Endian};

use crate::codec_spec::CodecSpec;
use crate::codecs::encode_each;
use crate::field::Field;

/// A shard as a codec: elements in C order of its axes into bytes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ShardCodec {
    /// Layout of chunks in the shard.
    pub format: ShardFormat,
    /// Shape of a chunk, elements; axes as the shard has them.
    pub chunk_shape: Vec<u64>,
    /// Order of the elements in a decoded chunk. The shard's own elements have the same byte order.
    pub order: ElementOrder,
    /// Codecs of a chunk's bytes.
    pub codecs: Vec<CodecSpec>,
    /// Type of the elements.
    pub data_type: DataType,
    /// Element that fills a missing chunk, in the byte order of the shard.
    pub fill: Vec<u8>,
}

impl ShardCodec {
    /// Bytes of a decoded chunk.
    pub(crate) fn chunk_bytes(&self) -> u64 {
        let item_bytes = self.data_type.item_bytes();
        self.chunk_shape.iter().fold(item_bytes, |bytes, extent| bytes.saturating_mul(*extent))
    }

    /// Sets the fill element of every shard of `codecs`, also one inside another, and of blocks of
    /// N5. It is the fill value as the filters before them leave it. Fails where those have no
    /// place for it.
    pub(crate) fn set_fill(codecs: &mut [CodecSpec], fill: &[u8]) -> Result<(), String> {
        let mut fill = fill.to_vec();
        for codec in codecs {
            if let CodecSpec::Shards(shards) = codec {
                fill.clone_into(&mut shards.fill);
                Self::set_fill(&mut shards.codecs, &fill)?;
                return Ok(());
            }
            if let CodecSpec::N5Block(block) = codec {
                fill.clone_into(&mut block.fill);
                return Ok(());
            }
            fill = encode_each(codec, &fill)
                .map_err(|reason| format!("{codec} cannot encode the fill value: {reason}"))?;
        }
        Ok(())
    }

    /// `codecs` for a shard of `shape`, elements; axes as the shard has them. Where shards differ
    /// in shape, each has an index of its own size.
    pub(crate) fn for_shape(
        codecs: &[CodecSpec],
        shape: &[u64],
    ) -> Result<Vec<CodecSpec>, FormatError> {
        let fit = |codec: &CodecSpec| match codec {
            CodecSpec::Shards(shards) => {
                let mut shards = shards.clone();
                shards.format = shards
                    .format
                    .reshaped(shape, &shards.chunk_shape)
                    .map_err(|reason| Field::new("zarr.json", "chunk_grid").invalid(reason))?;
                Ok(CodecSpec::Shards(shards))
            }
            other => Ok(other.clone()),
        };
        codecs.iter().map(fit).collect()
    }

    /// Returns this codec of little-endian elements.
    #[must_use]
    pub(crate) fn little_endian(mut self) -> Self {
        if self.order.endian == Endian::Big {
            self.order.endian = Endian::Little;
            self.data_type.swap(&mut self.fill);
        }
        self.codecs = self.codecs.into_iter().map(CodecSpec::little_endian).collect();
        self
    }

    /// The codecs without any shard: what the chunks of the innermost are encoded with.
    pub(crate) fn without(codecs: &[CodecSpec]) -> Vec<CodecSpec> {
        let mut flat = Vec::with_capacity(codecs.len());
        for codec in codecs {
            if let CodecSpec::Shards(shards) = codec {
                flat.extend(Self::without(&shards.codecs));
                return flat; // what follows worked on the shard's bytes
            }
            flat.push(codec.clone());
        }
        flat
    }
}
