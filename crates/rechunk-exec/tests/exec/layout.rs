//! A layout of its own: raw or run-length encoded, in any order of axes and bytes.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rechunk_format::{CodecCost, ElementOrder, FormatError, Layout, Plain, ShardFormat};
use rechunk_grid::ArraySpec;

/// Encoding of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Codec {
    Raw,
    /// The elements of the array, no padding. Only for sources.
    Clipped,
    /// Pairs of a count and a byte.
    Runs,
    /// The bytes and their CRC32C.
    Checked,
    /// The place of the first byte in the chunk, and the bytes: parts of it can be read.
    Placed,
}

/// Counts chunks between the question for their key and the end of their decoding.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    now: AtomicI64,
    pub most: AtomicI64,
}

#[derive(Debug)]
pub(crate) struct TestLayout {
    spec: ArraySpec,
    order: ElementOrder,
    codec: Codec,
    cost: CodecCost,
    identity: String,
    pub shards: Option<ShardFormat>,
    pub tells_absence: bool,
    pub gauge: Option<Arc<Gauge>>,
    /// Time that decoding takes.
    pub delay: Duration,
    /// Decoding panics.
    pub panics: bool,
    /// Parts of a chunk do not decode.
    pub refuses_parts: bool,
    /// The file of a chunk, here, is removed when a part of it is to be decoded.
    pub vanishes_in: Option<PathBuf>,
}

/// Value of the other bytes of a chunk of which a part is decoded.
const NOT_READ: u8 = 0xee;

impl TestLayout {
    pub(crate) fn new(spec: ArraySpec, order: ElementOrder, codec: Codec) -> Self {
        let bytes = spec.chunk_shape.iter().product::<u64>() * spec.item_bytes();
        let cost = CodecCost {
            name: "none".to_owned(),
            is_raw: codec == Codec::Raw,
            encoded_bytes_max: match codec {
                Codec::Raw | Codec::Clipped => bytes,
                Codec::Runs => 2 * bytes,
                Codec::Checked => bytes + 4,
                Codec::Placed => bytes + 8,
            },
            decode_workspace_bytes: 0,
            encode_workspace_bytes: 0,
        };
        let identity = format!("{codec:?} {order:?} {:?}", spec.data_type);
        Self {
            spec,
            order,
            codec,
            cost,
            identity,
            shards: None,
            tells_absence: false,
            gauge: None,
            delay: Duration::ZERO,
            panics: false,
            refuses_parts: false,
            vanishes_in: None,
        }
    }
}

impl TestLayout {
    /// Where, in the decoded chunk, the elements of the array are, in the order that they are
    /// stored in.
    fn offsets(&self, index: &[u64]) -> Vec<usize> {
        let grid = self.spec.grid().unwrap();
        let (chunk, region) = (grid.chunk(index), grid.region(index));
        let strides = self.order.strides_bytes(&chunk.shape, self.spec.item_bytes());
        let positions = region.positions_in(&self.order.axes);
        let offset = |position: Vec<u64>| {
            let steps = position.iter().zip(&chunk.start).zip(&strides);
            steps.map(|((at, start), stride)| (at - start) * stride).sum::<u64>()
        };
        positions.map(|position| usize::try_from(offset(position)).unwrap()).collect()
    }
}

impl Layout for TestLayout {
    fn spec(&self) -> &ArraySpec {
        &self.spec
    }

    fn format_name(&self) -> &'static str {
        "test"
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

    fn codec_summary(&self) -> &'static str {
        "test"
    }

    fn shards(&self) -> Option<&ShardFormat> {
        self.shards.as_ref()
    }

    fn object_key(&self, index: &[u64]) -> String {
        if let Some(gauge) = &self.gauge {
            let now = gauge.now.fetch_add(1, Ordering::SeqCst) + 1;
            gauge.most.fetch_max(now, Ordering::SeqCst);
        }
        let index: Vec<String> = index.iter().map(u64::to_string).collect();
        format!("c/{}", index.join(".")).trim_end_matches('/').to_owned()
    }

    fn object_index(&self, key: &str) -> Option<Vec<u64>> {
        let index = key.strip_prefix('c')?.trim_start_matches('/');
        index.split('.').filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
    }

    fn plain(&self) -> Option<Plain> {
        let plain = match self.codec {
            Codec::Raw => Some(Plain::Padded),
            Codec::Clipped => Some(Plain::Clipped),
            Codec::Runs | Codec::Checked | Codec::Placed => None,
        };
        plain.filter(|_| self.shards.is_none())
    }

    fn tells_absence(&self) -> bool {
        self.tells_absence
    }

    fn decode<'a>(
        &self,
        _index: &[u64],
        encoded: &'a [u8],
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        std::thread::sleep(self.delay);
        assert!(!self.panics, "on purpose");
        if let Some(gauge) = &self.gauge {
            gauge.now.fetch_sub(1, Ordering::SeqCst);
        }
        if self.codec == Codec::Raw {
            return Ok(encoded);
        }
        if self.codec == Codec::Checked {
            let whole = encoded.split_last_chunk::<4>();
            return match whole {
                Some((bytes, sum)) if crc32c::crc32c(bytes) == u32::from_le_bytes(*sum) => {
                    Ok(bytes)
                }
                _ => Err(FormatError::Decode { codec: "crc", reason: "checksum".to_owned() }),
            };
        }
        if self.codec == Codec::Placed {
            return match encoded.split_first_chunk::<8>() {
                Some(([0, 0, 0, 0, 0, 0, 0, 0], bytes)) => Ok(bytes),
                _ => Err(FormatError::Decode { codec: "place", reason: "a part".to_owned() }),
            };
        }
        if encoded.len() % 2 == 1 {
            return Err(FormatError::Decode { codec: "runs", reason: "half a run".to_owned() });
        }
        scratch.clear();
        for run in encoded.chunks_exact(2) {
            scratch.extend(std::iter::repeat_n(run[1], usize::from(run[0])));
        }
        Ok(scratch)
    }

    fn decode_part<'a>(
        &self,
        index: &[u64],
        encoded: &'a [u8],
        _wanted: Range<usize>,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], FormatError> {
        if let Some(folder) = &self.vanishes_in {
            std::fs::remove_file(folder.join(self.object_key(index))).unwrap();
        }
        if self.codec != Codec::Placed || self.refuses_parts {
            return self.decode(index, encoded, scratch);
        }
        let damaged = || FormatError::Decode { codec: "place", reason: "damaged".to_owned() };
        let (place, bytes) = encoded.split_first_chunk::<8>().ok_or_else(damaged)?;
        let start = usize::try_from(u64::from_le_bytes(*place)).map_err(|_| damaged())?;
        scratch.clear();
        scratch.resize(usize::try_from(self.cost.encoded_bytes_max - 8).unwrap(), NOT_READ);
        let place = scratch.get_mut(start..start + bytes.len()).ok_or_else(damaged)?;
        place.copy_from_slice(bytes);
        Ok(scratch)
    }

    fn head_bytes(&self) -> Option<usize> {
        (self.codec == Codec::Placed).then_some(8)
    }

    fn narrow(
        &self,
        _index: &[u64],
        head: &mut [u8],
        stored_bytes: u64,
        wanted: Range<usize>,
    ) -> Option<Range<u64>> {
        assert_eq!(stored_bytes, self.cost.encoded_bytes_max);
        let [start, end] = [wanted.start, wanted.end].map(|at| u64::try_from(at).unwrap());
        head.copy_from_slice(&start.to_le_bytes());
        Some(8 + start..8 + end)
    }

    fn encode(
        &self,
        index: &[u64],
        elements: &[u8],
        encoded: &mut Vec<u8>,
    ) -> Result<(), FormatError> {
        encoded.clear();
        if self.codec == Codec::Clipped {
            let item_bytes = usize::try_from(self.spec.item_bytes()).unwrap();
            for offset in self.offsets(index) {
                encoded.extend_from_slice(&elements[offset..offset + item_bytes]);
            }
            return Ok(());
        }
        if self.codec == Codec::Raw {
            encoded.extend_from_slice(elements);
            return Ok(());
        }
        if self.codec == Codec::Checked {
            encoded.extend_from_slice(elements);
            encoded.extend(crc32c::crc32c(elements).to_le_bytes());
            return Ok(());
        }
        if self.codec == Codec::Placed {
            encoded.extend([0; 8]);
            encoded.extend_from_slice(elements);
            return Ok(());
        }
        for &byte in elements {
            match encoded.last_chunk_mut::<2>() {
                Some([count, value]) if *value == byte && *count < u8::MAX => *count += 1,
                _ => encoded.extend([1, byte]),
            }
        }
        Ok(())
    }
}
