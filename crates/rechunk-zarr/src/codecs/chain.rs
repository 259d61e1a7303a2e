use std::borrow::Cow;
use std::mem;

use rechunk_format::{CodecCost, FormatError};

use super::{blosc, crc32c_trailer, deflate, workspace, zstd_frames};
use crate::codec_spec::CodecSpec;
use crate::field::Field;

/// What an encoder other than ours may have added beyond an eighth: headers and empty blocks.
const SLACK_BYTES: u64 = 64 << 10;

/// A codec in its place: what goes in and what comes out of it.
#[derive(Debug, Clone)]
struct Stage {
    codec: CodecSpec,
    /// Most bytes before encoding.
    decoded_bytes_max: usize,
    /// True if there are always exactly that many.
    is_exact: bool,
    /// Most bytes after encoding.
    encoded_bytes_max: usize,
}

/// The codecs of an array, in the order of encoding, and their bounds.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    stages: Vec<Stage>,
    chunk_bytes: usize,
}

impl Chain {
    /// The chain for chunks of `chunk_bytes`.
    pub(crate) fn new(codecs: &[CodecSpec], chunk_bytes: u64) -> Result<Self, FormatError> {
        let (mut bound, mut is_exact) = (chunk_bytes, true);
        let mut stages = Vec::with_capacity(codecs.len());
        for codec in codecs {
            let encoded = encoded_bytes_max(codec, bound);
            stages.push(Stage {
                codec: codec.resolved(),
                decoded_bytes_max: size(bound)?,
                is_exact,
                encoded_bytes_max: size(encoded)?,
            });
            is_exact &= *codec == CodecSpec::Crc32c;
            bound = encoded;
        }
        Ok(Self { stages, chunk_bytes: size(chunk_bytes)? })
    }

    /// The bytes of a chunk: of `encoded` itself where there is no codec, else of `scratch`.
    pub(crate) fn decode<'a>(
        &self,
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        if self.stages.is_empty() {
            self.check_raw(encoded)?;
            return Ok(encoded);
        }
        *scratch = self.decode_stages(encoded, mem::take(scratch))?;
        Ok(scratch)
    }

    fn check_raw(&self, encoded: &[u8]) -> Result<(), FormatError> {
        if encoded.len() == self.chunk_bytes {
            return Ok(());
        }
        let reason = format!("{} bytes, but a chunk has {}", encoded.len(), self.chunk_bytes);
        Err(FormatError::Decode { codec: "bytes", reason })
    }

    fn decode_stages(&self, encoded: &[u8], scratch: Vec<u8>) -> Result<Vec<u8>, FormatError> {
        // The innermost compressor fills `scratch`; the others (rare) a buffer of their own.
        let innermost = self.stages.iter().position(|stage| stage.codec != CodecSpec::Crc32c);
        let mut scratch = Some(scratch);
        let mut current = Cow::Borrowed(encoded);
        for (position, stage) in self.stages.iter().enumerate().rev() {
            stage.check_encoded(&current)?;
            if stage.codec == CodecSpec::Crc32c {
                crc32c_trailer::strip(&mut current)?;
            } else {
                let reused = (Some(position) == innermost).then(|| scratch.take());
                let mut decoded = reused.flatten().unwrap_or_default();
                stage.decode(&current, &mut decoded)?;
                current = Cow::Owned(decoded);
            }
            stage.check_decoded(&current)?;
        }
        match (current, scratch) {
            (Cow::Owned(decoded), _) => Ok(decoded),
            (Cow::Borrowed(bytes), scratch) => {
                let mut decoded = scratch.unwrap_or_default();
                decoded.clear();
                decoded.extend_from_slice(bytes);
                Ok(decoded)
            }
        }
    }

    /// The stored form of a chunk, into `encoded`.
    pub(crate) fn encode(&self, elements: &[u8], encoded: &mut Vec<u8>) -> Result<(), FormatError> {
        if elements.len() != self.chunk_bytes {
            let reason = format!("{} bytes, but a chunk has {}", elements.len(), self.chunk_bytes);
            return Err(FormatError::Encode { codec: "bytes", reason });
        }
        // The outermost compressor fills `encoded`; the others (rare) a buffer of their own.
        let outermost = self.stages.iter().rposition(|stage| stage.codec != CodecSpec::Crc32c);
        let mut reused = mem::take(encoded);
        let mut current = Cow::Borrowed(elements);
        for (position, stage) in self.stages.iter().enumerate() {
            if stage.codec == CodecSpec::Crc32c {
                crc32c_trailer::append(current.to_mut());
            } else {
                let is_outermost = Some(position) == outermost;
                let mut output = if is_outermost { mem::take(&mut reused) } else { Vec::new() };
                stage.encode(&current, &mut output)?;
                current = Cow::Owned(output);
            }
        }
        *encoded = match current {
            Cow::Owned(bytes) => bytes,
            Cow::Borrowed(bytes) => {
                reused.clear();
                reused.extend_from_slice(bytes);
                reused
            }
        };
        Ok(())
    }

    /// What this costs.
    pub(crate) fn cost(&self) -> CodecCost {
        let main = self.stages.iter().find(|stage| stage.codec != CodecSpec::Crc32c);
        let name = main.or(self.stages.first()).map(|stage| stage.codec.profile_name());
        let bound = self.stages.last().map_or(self.chunk_bytes, |stage| stage.encoded_bytes_max);
        // Between stages lie whole buffers; the codecs' own memory is freed from one to the next.
        let between: u64 =
            self.stages.iter().skip(1).map(|stage| wide(stage.decoded_bytes_max)).sum();
        let largest = |of: fn(&CodecSpec, u64) -> u64| {
            self.stages.iter().map(|s| of(&s.codec, wide(s.decoded_bytes_max))).max().unwrap_or(0)
        };
        CodecCost {
            name: name.unwrap_or_else(|| "none".to_owned()),
            is_raw: self.stages.is_empty(),
            encoded_bytes_max: wide(bound),
            decode_workspace_bytes: between + largest(workspace::decode_bytes),
            encode_workspace_bytes: between + largest(workspace::encode_bytes),
        }
    }
}

impl Stage {
    fn check_encoded(&self, encoded: &[u8]) -> Result<(), FormatError> {
        if encoded.len() <= self.encoded_bytes_max {
            return Ok(());
        }
        let (found, most) = (encoded.len(), self.encoded_bytes_max);
        Err(self.damaged(format!("{found} encoded bytes are more than the {most} possible")))
    }

    fn check_decoded(&self, decoded: &[u8]) -> Result<(), FormatError> {
        if !self.is_exact || decoded.len() == self.decoded_bytes_max {
            return Ok(());
        }
        let (found, wanted) = (decoded.len(), self.decoded_bytes_max);
        Err(self.damaged(format!("decodes to {found} bytes instead of {wanted}")))
    }

    fn damaged(&self, reason: String) -> FormatError {
        FormatError::Decode { codec: self.codec.name(), reason }
    }

    /// Decodes into `decoded`, to at most `decoded_bytes_max` bytes.
    fn decode(&self, encoded: &[u8], decoded: &mut Vec<u8>) -> Result<(), FormatError> {
        let bound = self.decoded_bytes_max;
        match &self.codec {
            CodecSpec::Blosc { blocksize, .. } => {
                blosc::decode(encoded, decoded, bound, *blocksize)
            }
            CodecSpec::Zstd { .. } => zstd_frames::decode(encoded, decoded, bound),
            CodecSpec::Gzip { .. } => deflate::decode_gzip(encoded, decoded, bound),
            CodecSpec::Zlib { .. } => deflate::decode_zlib(encoded, decoded, bound),
            // Not compressed: stripped in place by the chain.
            CodecSpec::Crc32c => Ok(()),
        }
        .map_err(|reason| self.damaged(reason))
    }

    /// Encodes into `encoded`, whose contents are lost.
    fn encode(&self, decoded: &[u8], encoded: &mut Vec<u8>) -> Result<(), FormatError> {
        match &self.codec {
            CodecSpec::Blosc { .. } => blosc::encode(decoded, encoded, &self.codec),
            CodecSpec::Zstd { level, checksum } => {
                zstd_frames::encode(decoded, encoded, *level, *checksum)
            }
            CodecSpec::Gzip { level } => deflate::encode_gzip(decoded, encoded, *level),
            CodecSpec::Zlib { level } => deflate::encode_zlib(decoded, encoded, *level),
            // Not a compressor: appended by the chain.
            CodecSpec::Crc32c => Ok(()),
        }
        .map_err(|reason| FormatError::Encode { codec: self.codec.name(), reason })
    }
}

/// Most bytes that `decoded` bytes can become; generous where other encoders may do worse.
fn encoded_bytes_max(codec: &CodecSpec, decoded: u64) -> u64 {
    match codec {
        // The format stores what it cannot compress as it is, behind its header.
        CodecSpec::Blosc { .. } => decoded.saturating_add(blosc::HEADER_BYTES as u64),
        CodecSpec::Crc32c => decoded.saturating_add(crc32c_trailer::BYTES as u64),
        CodecSpec::Zstd { .. } | CodecSpec::Gzip { .. } | CodecSpec::Zlib { .. } => {
            decoded.saturating_add(decoded / 8).saturating_add(SLACK_BYTES)
        }
    }
}

fn size(bytes: u64) -> Result<usize, FormatError> {
    usize::try_from(bytes).map_err(|_| {
        let what = format!("{bytes} bytes in one piece on this machine");
        Field::new("codecs", "chunk").unsupported(what, "use smaller chunks")
    })
}

fn wide(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
