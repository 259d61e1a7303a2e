//! One codec in its place in a chain.

use std::ops::Range;

use rechunk_codec::zfp::ZfpChunk;
use rechunk_codec::{
    BloscSettings, blosc, bzip2_streams, deflate, lz4_block, lzma, tiff, zstd_frames,
};
use rechunk_format::FormatError;

use super::{
    cast_value, checksum, filters, n5_blocks, pack_bits, pack_numbers, pcodec, predictor, shards,
    shuffle,
};
use crate::codec_json::zfp_element;
use crate::codec_spec::{CodecSpec, TiffCompressor, TypePair};
use crate::field::Field;

/// A codec in its place: what goes in and what comes out of it.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub(super) codec: CodecSpec,
    /// Most bytes before encoding.
    pub(super) decoded_bytes_max: usize,
    /// True if there are always exactly that many.
    pub(super) is_exact: bool,
    /// Most bytes after encoding.
    pub(super) encoded_bytes_max: usize,
    /// Shape of the chunk as the codec needs it, where it is zfp.
    pub(super) zfp: Option<ZfpChunk>,
    /// The chunk's shape as its elements lie, where it is a block of N5.
    shape: Vec<u64>,
}

impl Stage {
    /// `codec` for `decoded` bytes, exactly or at most, of a chunk of `shape`.
    pub(super) fn new(
        codec: &CodecSpec,
        decoded: u64,
        is_exact: bool,
        shape: &[u64],
    ) -> Result<Self, FormatError> {
        let item_bytes = item_bytes(codec);
        if item_bytes.is_some_and(|item_bytes| !is_exact || !decoded.is_multiple_of(item_bytes)) {
            let what = format!("{codec} on what is not a whole number of its elements");
            return Err(Field::new("codecs", codec.name()).unsupported(what, ""));
        }
        let zfp = zfp_chunk(codec, decoded, shape)?;
        let codec = &with_shape(codec, decoded, shape)?;
        let most = zfp.as_ref().map(ZfpChunk::encoded_bytes_max);
        Ok(Self {
            codec: codec.resolved(),
            decoded_bytes_max: size(decoded)?,
            is_exact,
            encoded_bytes_max: size(most.unwrap_or_else(|| encoded_bytes_max(codec, decoded)))?,
            zfp,
            shape: match codec {
                CodecSpec::N5Block(_) => shape.to_vec(),
                _ => Vec::new(),
            },
        })
    }

    /// True if there are always exactly as many bytes after encoding.
    pub(super) fn leaves_exact(&self) -> bool {
        self.is_exact && !self.codec.is_compressor() && !matches!(self.codec, CodecSpec::Shards(_))
    }

    /// True for what is done to the buffer itself.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self.codec, CodecSpec::Checksum { .. })
    }

    pub(super) fn check_encoded(&self, encoded: &[u8]) -> Result<(), FormatError> {
        let (found, most) = (encoded.len(), self.encoded_bytes_max);
        if found > most {
            return Err(
                self.damaged(format!("{found} encoded bytes are more than the {most} possible"))
            );
        }
        if self.leaves_exact() && found < most {
            return Err(self.damaged(format!("{found} encoded bytes instead of {most}")));
        }
        Ok(())
    }

    pub(super) fn check_decoded(&self, decoded: &[u8]) -> Result<(), FormatError> {
        self.check_decoded_bytes(decoded.len())
    }

    fn check_decoded_bytes(&self, found: usize) -> Result<(), FormatError> {
        let wanted = self.decoded_bytes_max;
        if !self.is_exact || found == wanted {
            return Ok(());
        }
        Err(self.damaged(format!("decodes to {found} bytes instead of {wanted}")))
    }

    /// An error if encoded bytes begin with what cannot be right.
    pub(super) fn check_header(&self, encoded: &[u8]) -> Result<(), FormatError> {
        match &self.codec {
            CodecSpec::Blosc { .. } => {
                let decoded = blosc::decoded_bytes(encoded, self.decoded_bytes_max);
                self.check_decoded_bytes(decoded.map_err(|reason| self.damaged(reason))?)
            }
            CodecSpec::Shards(shards) => shards.format.index_of(0, encoded).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn damaged(&self, reason: String) -> FormatError {
        FormatError::Decode { codec: self.codec.name(), reason }
    }

    /// Decodes into `decoded`, to at most `decoded_bytes_max` bytes.
    pub(super) fn decode(&self, encoded: &[u8], decoded: &mut Vec<u8>) -> Result<(), FormatError> {
        let bound = self.decoded_bytes_max;
        if let Some(zfp) = &self.zfp {
            return zfp.decode(encoded, decoded).map_err(|reason| self.damaged(reason));
        }
        match &self.codec {
            CodecSpec::Blosc { blocksize, .. } => {
                blosc::decode(encoded, decoded, bound, *blocksize)
            }
            CodecSpec::Zstd { .. } => zstd_frames::decode(encoded, decoded, bound),
            CodecSpec::Gzip { .. } => deflate::decode_gzip(encoded, decoded, bound),
            CodecSpec::Zlib { .. } => deflate::decode_zlib(encoded, decoded, bound),
            CodecSpec::Lz4 { .. } => lz4_block::decode(encoded, decoded, bound),
            CodecSpec::Bz2 { .. } => bzip2_streams::decode(encoded, decoded, bound),
            CodecSpec::Lzma(spec) => lzma::decode(encoded, decoded, bound, spec),
            CodecSpec::Pcodec { element, .. } => pcodec::decode(encoded, decoded, bound, *element),
            CodecSpec::PackBits(packing) => pack_bits::decode(encoded, decoded, bound, *packing),
            CodecSpec::Shards(shards) => shards::decode(encoded, decoded, bound, shards),
            CodecSpec::N5Block(block) => {
                n5_blocks::decode(encoded, decoded, bound, (block, &self.shape))
            }
            CodecSpec::PackedNumbers(packed) => {
                pack_numbers::decode(encoded, decoded, bound, packed)
            }
            CodecSpec::ScaleOffset(codec) => cast_value::decode_scaled(encoded, decoded, codec),
            CodecSpec::CastValue(cast) => cast_value::decode_cast(encoded, decoded, cast),
            CodecSpec::Tiff(TiffCompressor::Lzw) => tiff::decode_lzw(encoded, decoded, bound),
            CodecSpec::Tiff(TiffCompressor::PackBits) => {
                tiff::decode_pack_bits(encoded, decoded, bound)
            }
            CodecSpec::Predictor(codec) => predictor::decode(encoded, decoded, codec, &codec.shape),
            other => {
                decode_filter(other, encoded, decoded);
                Ok(())
            }
        }
        .map_err(|reason| self.damaged(reason))
    }

    /// [`Stage::decode`] where only the bytes `wanted` are looked at. False, and nothing is
    /// decoded, if the codec has no parts.
    pub(super) fn decode_part(
        &self,
        encoded: &[u8],
        wanted: Range<usize>,
        decoded: &mut Vec<u8>,
    ) -> Result<bool, FormatError> {
        let CodecSpec::Blosc { blocksize, .. } = self.codec else { return Ok(false) };
        blosc::decode_part(encoded, decoded, self.decoded_bytes_max, blocksize, wanted)
            .map_err(|reason| self.damaged(reason))?;
        Ok(true)
    }

    /// [`rechunk_format::Layout::head_bytes`].
    pub(super) fn head_bytes(&self) -> Option<usize> {
        let CodecSpec::Blosc { blocksize, .. } = self.codec else { return None };
        Some(blosc::head_bytes(self.decoded_bytes_max, blocksize))
    }

    /// [`rechunk_format::Layout::block_bytes`].
    pub(super) fn block_bytes(&self) -> Option<u64> {
        let &CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize } = &self.codec else {
            return None;
        };
        let settings = BloscSettings { cname, clevel, shuffle, typesize, blocksize };
        blosc::block_bytes(&settings, self.decoded_bytes_max)
            .and_then(|bytes| u64::try_from(bytes).ok())
    }

    /// [`rechunk_format::Layout::narrow`].
    pub(super) fn narrow(
        &self,
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        let CodecSpec::Blosc { blocksize, .. } = self.codec else { return None };
        blosc::narrow(head, stored_bytes, self.decoded_bytes_max, blocksize, wanted)
    }

    /// Encodes into `encoded`, whose contents are lost.
    pub(super) fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), FormatError> {
        let bound = self.encoded_bytes_max;
        let failed = |reason| FormatError::Encode { codec: self.codec.name(), reason };
        if let Some(zfp) = &self.zfp {
            return zfp.encode(decoded, encoded).map_err(failed);
        }
        match &self.codec {
            &CodecSpec::Blosc { cname, clevel, shuffle, typesize, blocksize } => {
                let settings = BloscSettings { cname, clevel, shuffle, typesize, blocksize };
                blosc::encode(decoded, encoded, &settings)
            }
            CodecSpec::Zstd { level, checksum } => {
                zstd_frames::encode(decoded, encoded, *level, *checksum)
            }
            CodecSpec::Gzip { level } => deflate::encode_gzip(decoded, encoded, *level),
            CodecSpec::Zlib { level } => deflate::encode_zlib(decoded, encoded, *level),
            CodecSpec::Lz4 { .. } => lz4_block::encode(decoded, encoded),
            CodecSpec::Bz2 { level } => bzip2_streams::encode(decoded, encoded, *level, bound),
            CodecSpec::Lzma(spec) => lzma::encode(decoded, encoded, bound, spec),
            CodecSpec::Pcodec { spec, element } => pcodec::encode(decoded, encoded, spec, *element),
            CodecSpec::Shards(shards) => shards::encode(decoded, encoded, shards),
            CodecSpec::N5Block(block) => n5_blocks::encode(decoded, encoded, (block, &self.shape)),
            CodecSpec::PackedNumbers(packed) => pack_numbers::encode(decoded, encoded, packed),
            CodecSpec::ScaleOffset(codec) => cast_value::encode_scaled(decoded, encoded, codec),
            CodecSpec::CastValue(cast) => cast_value::encode_cast(decoded, encoded, cast),
            CodecSpec::Tiff(_) | CodecSpec::Predictor(_) => {
                Err("it is read, and not written".to_owned())
            }
            other => {
                encode_filter(other, decoded, encoded);
                Ok(())
            }
        }
        .map_err(failed)
    }
}

/// The codec, where it is a predictor with the shape it works on.
fn with_shape(codec: &CodecSpec, decoded: u64, shape: &[u64]) -> Result<CodecSpec, FormatError> {
    let CodecSpec::Predictor(found) = codec else { return Ok(codec.clone()) };
    let mut found = found.clone();
    if found.shape.is_empty() {
        found.shape = shape.to_vec();
    }
    let checked = predictor::check(&found, &found.shape, decoded);
    checked.map_err(|reason| Field::new("codecs", codec.name()).invalid(reason))?;
    Ok(CodecSpec::Predictor(found))
}

/// A chunk of `decoded` bytes as zfp sees it; `None` for other codecs.
fn zfp_chunk(
    codec: &CodecSpec,
    decoded: u64,
    shape: &[u64],
) -> Result<Option<ZfpChunk>, FormatError> {
    let CodecSpec::Zfp { spec, element } = codec else { return Ok(None) };
    let refused = |reason: &str| {
        let what = format!("codec {:?} for this chunk", codec.name());
        Field::new("codecs", codec.name()).unsupported(what, reason)
    };
    let type_name = element.numpy();
    let element = zfp_element(*element)
        .ok_or_else(|| refused(&format!("it has little-endian numbers, and not {type_name}")))?;
    let chunk = ZfpChunk::new(*spec, element, shape).map_err(|reason| refused(&reason))?;
    if chunk.decoded_bytes() != decoded {
        let reason = format!("{decoded} bytes are no chunk of {type_name} of shape {shape:?}");
        return Err(refused(&reason));
    }
    Ok(Some(chunk))
}

/// Undoes a filter: buffers of the right size cannot fail.
pub(crate) fn decode_filter(codec: &CodecSpec, encoded: &[u8], decoded: &mut Vec<u8>) {
    match codec {
        CodecSpec::Shuffle { element_bytes } => {
            shuffle::decode(encoded, decoded, *element_bytes);
        }
        CodecSpec::Delta(types) => filters::decode_delta(encoded, decoded, *types),
        CodecSpec::FixedScaleOffset { types, offset, scale } => {
            filters::decode_scaled(encoded, decoded, *types, (*offset, *scale));
        }
        // Rounding is done once: what is stored are the elements, if in another type.
        CodecSpec::Quantize { types: TypePair { decoded: to, encoded: from }, .. }
        | CodecSpec::AsType(TypePair { decoded: to, encoded: from }) => {
            filters::convert(encoded, *from, decoded, *to);
        }
        _ => {
            decoded.clear();
            decoded.extend_from_slice(encoded);
        }
    }
}

fn encode_filter(codec: &CodecSpec, decoded: &[u8], encoded: &mut Vec<u8>) {
    match codec {
        CodecSpec::Shuffle { element_bytes } => {
            shuffle::encode(decoded, encoded, *element_bytes);
        }
        CodecSpec::Delta(types) => filters::encode_delta(decoded, encoded, *types),
        CodecSpec::FixedScaleOffset { types, offset, scale } => {
            filters::encode_scaled(decoded, encoded, *types, (*offset, *scale));
        }
        CodecSpec::Quantize { types, digits } => {
            filters::encode_quantized(decoded, encoded, *types, *digits);
        }
        CodecSpec::AsType(types) => {
            filters::convert(decoded, types.decoded, encoded, types.encoded);
        }
        CodecSpec::BitRound { keep_bits, element } => {
            filters::encode_bit_rounded(decoded, encoded, *element, *keep_bits);
        }
        CodecSpec::PackBits(packing) => pack_bits::encode(decoded, encoded, *packing),
        _ => {
            encoded.clear();
            encoded.extend_from_slice(decoded);
        }
    }
}

/// Bytes of the elements a codec looks at; `None` if it takes any bytes.
fn item_bytes(codec: &CodecSpec) -> Option<u64> {
    match codec {
        CodecSpec::Delta(types)
        | CodecSpec::AsType(types)
        | CodecSpec::FixedScaleOffset { types, .. }
        | CodecSpec::Quantize { types, .. } => Some(types.decoded.item_bytes() as u64),
        CodecSpec::BitRound { element, .. }
        | CodecSpec::Pcodec { element, .. }
        | CodecSpec::Zfp { element, .. } => Some(element.item_bytes() as u64),
        CodecSpec::Shuffle { element_bytes } => Some(u64::from(*element_bytes).max(1)),
        CodecSpec::PackBits(_) => Some(1),
        CodecSpec::PackedNumbers(packed) => Some(packed.data_type.item_bytes()),
        CodecSpec::ScaleOffset(codec) => Some(codec.element.item_bytes() as u64),
        CodecSpec::CastValue(cast) => Some(cast.types.decoded.item_bytes() as u64),
        CodecSpec::Predictor(codec) => Some(codec.element.item_bytes() as u64),
        CodecSpec::Shards(shards) => Some(shards.data_type.item_bytes()),
        CodecSpec::N5Block(block) => Some(block.data_type.item_bytes()),
        _ => None,
    }
}

/// Most bytes that `decoded` bytes can become; generous where other encoders may do worse.
fn encoded_bytes_max(codec: &CodecSpec, decoded: u64) -> u64 {
    match codec {
        CodecSpec::Blosc { .. } => blosc::encoded_bytes_max(decoded),
        CodecSpec::Checksum { .. } => decoded.saturating_add(checksum::BYTES as u64),
        CodecSpec::Zstd { .. }
        | CodecSpec::Gzip { .. }
        | CodecSpec::Zlib { .. }
        | CodecSpec::Lz4 { .. }
        | CodecSpec::Bz2 { .. }
        | CodecSpec::Lzma(_) => rechunk_codec::encoded_bytes_max(decoded),
        CodecSpec::Pcodec { spec, element } => pcodec::encoded_bytes_max(spec, *element, decoded),
        CodecSpec::PackBits(packing) => pack_bits::encoded_bytes(decoded, *packing),
        CodecSpec::PackedNumbers(packed) => pack_numbers::encoded_bytes(decoded, packed),
        CodecSpec::Tiff(_) => tiff::encoded_bytes_max(decoded),
        CodecSpec::CastValue(cast) => {
            let elements = decoded / cast.types.decoded.item_bytes() as u64;
            elements.saturating_mul(cast.types.encoded.item_bytes() as u64)
        }
        CodecSpec::Delta(types)
        | CodecSpec::AsType(types)
        | CodecSpec::FixedScaleOffset { types, .. }
        | CodecSpec::Quantize { types, .. } => {
            let elements = decoded / types.decoded.item_bytes() as u64;
            elements.saturating_mul(types.encoded.item_bytes() as u64)
        }
        // zfp's depends on the shape.
        CodecSpec::Shuffle { .. }
        | CodecSpec::BitRound { .. }
        | CodecSpec::Zfp { .. }
        | CodecSpec::ScaleOffset(_)
        | CodecSpec::Reshape(_)
        | CodecSpec::Predictor(_) => decoded,
        CodecSpec::Shards(shards) => shards::encoded_bytes_max(shards, decoded),
        CodecSpec::N5Block(block) => n5_blocks::encoded_bytes_max(block, decoded),
    }
}

/// Bytes as a size in memory.
pub(super) fn size(bytes: u64) -> Result<usize, FormatError> {
    usize::try_from(bytes).map_err(|_| {
        let what = format!("{bytes} bytes in one piece on this machine");
        Field::new("codecs", "chunk").unsupported(what, "use smaller chunks")
    })
}
