//! An array as it would be described if its elements were of another type.

use rechunk_grid::{DataType, Endian, FillValue};

use crate::codec_spec::CodecSpec;
use crate::element_type::ElementType;
use crate::metadata::ArrayMetadata;
use crate::n5_block::without_n5_blocks;
use crate::shard_codec::ShardCodec;

impl ArrayMetadata {
    /// Returns this array with elements of another type, for a target to follow from, and the
    /// codecs that are left out. Those are about elements of the old type.
    pub fn with_elements(
        &self,
        data_type: DataType,
        endian: Endian,
        fill_value: Option<FillValue>,
    ) -> (Self, Vec<String>) {
        let mut cast = without_n5_blocks(self).unwrap_or_else(|| self.clone());
        let element = ElementType::new(data_type, endian);
        cast.spec.data_type = data_type;
        cast.spec.fill_value = fill_value;
        cast.order.endian = element.endian;
        (cast.verbatim.data_type, cast.verbatim.fill_value) = (None, None);
        let mut left_out = Vec::new();
        let codecs = ShardCodec::without(&cast.codecs).into_iter();
        cast.codecs = codecs
            .filter_map(|codec| {
                let name = codec.to_string();
                let kept = recast(codec, element);
                if kept.is_none() {
                    left_out.push(name);
                }
                kept
            })
            .collect();
        (cast, left_out)
    }
}

/// The codec for elements of another type; `None` if it is only for those of the old one.
fn recast(codec: CodecSpec, element: ElementType) -> Option<CodecSpec> {
    Some(match codec {
        CodecSpec::Blosc { cname, clevel, shuffle, blocksize, .. } => {
            let typesize = u8::try_from(element.item_bytes()).unwrap_or(1);
            CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize }
        }
        CodecSpec::Shuffle { .. } => {
            let element_bytes = u32::try_from(element.item_bytes()).unwrap_or(1);
            CodecSpec::Shuffle { element_bytes }
        }
        CodecSpec::Zstd { .. }
        | CodecSpec::Gzip { .. }
        | CodecSpec::Zlib { .. }
        | CodecSpec::Lz4 { .. }
        | CodecSpec::Bz2 { .. }
        | CodecSpec::Lzma(_)
        | CodecSpec::Tiff(_)
        | CodecSpec::Checksum { .. } => codec,
        CodecSpec::Pcodec { .. }
        | CodecSpec::Zfp { .. }
        | CodecSpec::Delta(_)
        | CodecSpec::FixedScaleOffset { .. }
        | CodecSpec::Quantize { .. }
        | CodecSpec::AsType(_)
        | CodecSpec::BitRound { .. }
        | CodecSpec::PackBits(_)
        | CodecSpec::PackedNumbers(_)
        | CodecSpec::ScaleOffset(_)
        | CodecSpec::CastValue(_)
        | CodecSpec::Reshape(_)
        | CodecSpec::Predictor(_)
        | CodecSpec::Shards(_)
        | CodecSpec::N5Block(_) => return None,
    })
}
