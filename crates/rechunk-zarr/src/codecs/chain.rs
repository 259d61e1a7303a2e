use std::borrow::Cow;
use std::mem;
use std::ops::Range;

use rechunk_codec::is_too_long;
use rechunk_format::{CodecCost, ElementOrder, FormatError};
use rechunk_kernel::wide;

use super::stage::{Stage, size};
use super::{checksum, workspace};
use crate::codec_spec::CodecSpec;
use crate::field::Field;
use crate::metadata::CHUNK_BYTES_MAX;
use crate::packed_numbers::reshaped;

/// Most bytes that filters may make of one. No filters that follow on each other make more, and it
/// is few enough that a chain of those that do not stays within bounds.
const GROWTH_MAX: u64 = 64;
/// Bytes that they may add to a chunk beside that: checksums.
const ADDED_MAX: u64 = 4096;
/// Most bytes of a chunk behind any codec: sums of such sizes cannot overflow.
const BYTES_MAX: u64 = GROWTH_MAX * CHUNK_BYTES_MAX;

/// The codecs of an array, in the order of encoding, and their bounds.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    stages: Vec<Stage>,
    /// Bytes of a decoded chunk, or the most there may be.
    chunk_bytes: usize,
    /// There are always exactly that many.
    is_exact: bool,
}

impl Chain {
    /// The chain for chunks of `chunk_bytes` whose elements lie in C order of `shape`.
    pub(crate) fn new(
        codecs: &[CodecSpec],
        chunk_bytes: u64,
        shape: &[u64],
    ) -> Result<Self, FormatError> {
        Self::build(codecs, (chunk_bytes, true), shape)
    }

    /// The chain for streams of at most `chunk_bytes`, by codecs that take any number of bytes.
    pub(crate) fn within(codecs: &[CodecSpec], chunk_bytes: u64) -> Result<Self, FormatError> {
        Self::build(codecs, (chunk_bytes, false), &[])
    }

    fn build(
        codecs: &[CodecSpec],
        (chunk_bytes, is_whole): (u64, bool),
        shape: &[u64],
    ) -> Result<Self, FormatError> {
        let (mut bound, mut is_exact) = (chunk_bytes, is_whole);
        let mut shape = Cow::Borrowed(shape);
        let mut stages = Vec::with_capacity(codecs.len());
        for codec in codecs {
            if let CodecSpec::Reshape(axes) = codec {
                // It moves no element: only others may have to know.
                let made = reshaped(axes, &shape);
                let field = Field::new("codecs", codec.name());
                shape = Cow::Owned(made.map_err(|reason| field.invalid(reason))?);
                continue;
            }
            let stage = Stage::new(codec, bound, is_exact, &shape)?;
            bound = wide(stage.encoded_bytes_max);
            let grown = chunk_bytes.saturating_mul(GROWTH_MAX).saturating_add(ADDED_MAX);
            if bound > BYTES_MAX || (stage.leaves_exact() && bound > grown) {
                let what = format!("{codec} that makes {bound} bytes of a chunk of {chunk_bytes}");
                return Err(Field::new("codecs", codec.name()).unsupported(what, ""));
            }
            is_exact = stage.leaves_exact();
            stages.push(stage);
        }
        Ok(Self { stages, chunk_bytes: size(chunk_bytes)?, is_exact: is_whole })
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

    /// Decodes a stream of a [`Chain::within`] a bound into `stream`. Returns false if it is longer
    /// than that.
    pub(crate) fn decode_within(
        &self,
        encoded: &[u8],
        stream: &mut Vec<u8>,
    ) -> Result<bool, FormatError> {
        if encoded.len() > self.encoded_bytes_max() {
            return Ok(false);
        }
        match self.decode_stages(encoded, mem::take(stream)) {
            Ok(decoded) => {
                *stream = decoded;
                Ok(stream.len() <= self.chunk_bytes)
            }
            Err(FormatError::Decode { reason, .. }) if self.is_too_long(&reason) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Whether a codec has refused bytes because they decode to more than it may make.
    fn is_too_long(&self, reason: &str) -> bool {
        self.stages.iter().any(|stage| is_too_long(reason, stage.decoded_bytes_max))
    }

    /// [`Chain::decode`] where only the bytes `wanted` are looked at.
    pub(crate) fn decode_part<'a>(
        &self,
        encoded: &'a [u8],
        wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        let [stage] = &self.stages[..] else { return self.decode(encoded, scratch) };
        stage.check_encoded(encoded)?;
        if !stage.decode_part(encoded, wanted, scratch)? {
            return self.decode(encoded, scratch);
        }
        stage.check_decoded(scratch)?;
        Ok(scratch)
    }

    /// [`rechunk_format::Layout::head_bytes`].
    pub(crate) fn head_bytes(&self) -> Option<usize> {
        let [stage] = &self.stages[..] else { return None };
        stage.head_bytes()
    }

    /// [`rechunk_format::Layout::block_bytes`].
    pub(crate) fn block_bytes(&self) -> Option<u64> {
        let [stage] = &self.stages[..] else { return None };
        stage.block_bytes()
    }

    /// [`rechunk_format::Layout::narrow`].
    pub(crate) fn narrow(
        &self,
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        let [stage] = &self.stages[..] else { return None };
        stage.narrow(head, stored_bytes, wanted)
    }

    /// Whether a decoded chunk may have so many bytes.
    fn takes(&self, bytes: usize) -> bool {
        bytes == self.chunk_bytes || !self.is_exact && bytes < self.chunk_bytes
    }

    fn check_raw(&self, encoded: &[u8]) -> Result<(), FormatError> {
        if self.takes(encoded.len()) {
            return Ok(());
        }
        let reason = format!("{} bytes, but a chunk has {}", encoded.len(), self.chunk_bytes);
        Err(FormatError::Decode { codec: "bytes", reason })
    }

    fn decode_stages(&self, encoded: &[u8], scratch: Vec<u8>) -> Result<Vec<u8>, FormatError> {
        // The innermost codec fills `scratch`; the others (rare) a buffer of their own.
        let innermost = self.stages.iter().position(|stage| !stage.is_in_place());
        let mut scratch = Some(scratch);
        let mut current = Cow::Borrowed(encoded);
        for (position, stage) in self.stages.iter().enumerate().rev() {
            stage.check_encoded(&current)?;
            if let CodecSpec::Checksum { kind, is_first } = stage.codec {
                checksum::strip(&mut current, kind, is_first)?;
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

    /// [`rechunk_format::Layout::check_stored`].
    pub(crate) fn check_stored(&self, encoded: &[u8]) -> Result<(), FormatError> {
        let mut current = Cow::Borrowed(encoded);
        for stage in self.stages.iter().rev() {
            stage.check_encoded(&current)?;
            let CodecSpec::Checksum { kind, is_first } = stage.codec else {
                return stage.check_header(&current);
            };
            checksum::strip(&mut current, kind, is_first)?;
        }
        self.check_raw(&current)
    }

    /// The stored form of a chunk, into `encoded`.
    pub(crate) fn encode(&self, elements: &[u8], encoded: &mut Vec<u8>) -> Result<(), FormatError> {
        if !self.takes(elements.len()) {
            let reason = format!("{} bytes, but a chunk has {}", elements.len(), self.chunk_bytes);
            return Err(FormatError::Encode { codec: "bytes", reason });
        }
        // The outermost codec fills `encoded`; the others (rare) a buffer of their own.
        let outermost = self.stages.iter().rposition(|stage| !stage.is_in_place());
        let mut reused = mem::take(encoded);
        let mut current = Cow::Borrowed(elements);
        for (position, stage) in self.stages.iter().enumerate() {
            if let CodecSpec::Checksum { kind, is_first } = stage.codec {
                checksum::add(current.to_mut(), kind, is_first);
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

    /// Cost of the chain.
    pub(crate) fn cost(&self) -> CodecCost {
        // The compressor takes most of the time; without one, the first codec stands for all.
        let main = self.stages.iter().find(|stage| stage.codec.is_compressor());
        let name = main.or(self.stages.first()).map(|stage| stage.codec.profile_name());
        let bound = self.encoded_bytes_max();
        let between = self.between_bytes();
        let largest = |of: fn(&Stage) -> u64| self.stages.iter().map(of).max().unwrap_or(0);
        CodecCost {
            name: name.unwrap_or_else(|| "none".to_owned()),
            is_raw: self.stages.is_empty(),
            encoded_bytes_max: wide(bound),
            decode_workspace_bytes: between + largest(workspace::decode_bytes),
            encode_workspace_bytes: between + largest(workspace::encode_bytes),
        }
    }

    fn encoded_bytes_max(&self) -> usize {
        self.stages.last().map_or(self.chunk_bytes, |stage| stage.encoded_bytes_max)
    }

    /// The most that whole buffers between stages take: while a stage runs, the one before it and
    /// the one behind it. Those at the ends are the caller's.
    fn between_bytes(&self) -> u64 {
        let between: Vec<u64> =
            self.stages.iter().skip(1).map(|stage| wide(stage.decoded_bytes_max)).collect();
        let pairs = between.windows(2).map(|pair| pair.iter().sum()).max();
        pairs.or(between.first().copied()).unwrap_or(0)
    }
}

/// The shape of a chunk as its elements lie, slowest axis first.
pub(crate) fn stored_shape(order: &ElementOrder, chunk_shape: &[u64]) -> Vec<u64> {
    order.axes.iter().filter_map(|&axis| chunk_shape.get(axis)).copied().collect()
}

/// True if the filters give back these elements as they are.
pub(crate) fn survives(codecs: &[CodecSpec], elements: &[u8]) -> bool {
    let bytes = wide(elements.len());
    let Ok(chain) = Chain::new(codecs, bytes, &[bytes]) else { return false };
    let (mut encoded, mut scratch) = (Vec::new(), Vec::new());
    chain.encode(elements, &mut encoded).is_ok()
        && chain.decode(&encoded, &mut scratch).is_ok_and(|decoded| decoded == elements)
}
