//! The digest of what a run takes from its source: each element once, by the task that owns it.

use std::sync::{Mutex, PoisonError};

use rechunk_array::Array;
use rechunk_format::Layout;
use rechunk_grid::{ChunkGrid, Endian, Region};
use rechunk_kernel::{DIGEST_METHOD, Digest, DigestKeys, wide};

use crate::Fault;
use crate::execution::{ENCODED_METHOD, VARIABLE_METHOD};
use crate::stage::way_in::WayIn;
use crate::units::frame;
use crate::units::input::{Brought, Input};

/// Method by which a stage takes a digest.
#[derive(Debug)]
pub(crate) enum StageDigest {
    /// Not at all: it reads no source, compares, or moves runs of bytes.
    None,
    /// Of decoded elements.
    Elements {
        keys: DigestKeys,
        /// Bytes of an element that change places together to be canonical; 1 if they are.
        swap_bytes: usize,
        /// Elements of a missing chunk, canonical.
        fill: Vec<u8>,
    },
    /// Of chunks as they are stored.
    Encoded { keys: DigestKeys },
    /// Of elements that differ in length.
    Variable {
        keys: DigestKeys,
        /// Item of an element of a missing chunk.
        fill: [u8; ITEM_BYTES],
    },
}

/// Bytes that stand for an element that has another length than others, or for a stored chunk.
const ITEM_BYTES: usize = 2 * size_of::<u64>();

/// Element that absent chunks of an array are full of, where elements differ in length and its
/// metadata names one.
pub(crate) fn named_fill(layout: &dyn Layout) -> Option<&[u8]> {
    layout.variable()?.fill()
}

/// Item that stands for an element of any length in a digest: its CRC32C and its length plus one.
pub(crate) fn element_item(element: &[u8]) -> [u8; ITEM_BYTES] {
    let mut item = [0; ITEM_BYTES];
    let (checksum, length) = item.split_at_mut(ITEM_BYTES / 2);
    checksum.copy_from_slice(&u64::from(crc32c::crc32c(element)).to_le_bytes());
    length.copy_from_slice(&wide(element.len()).saturating_add(1).to_le_bytes());
    item
}

impl StageDigest {
    /// Chooses the digest of inputs that come in by `way_in`.
    pub(crate) fn new(way_in: &WayIn, source: &Array, item_bytes: usize) -> Self {
        match way_in {
            WayIn::Pieces | WayIn::Runs => return Self::None,
            WayIn::StoredChunks | WayIn::StoredShards(_) => return Self::of_encoded_chunks(),
            WayIn::Chunks | WayIn::Plain(_) | WayIn::Shards(_) => {}
            WayIn::Variable => return Self::of_variable(source),
        }
        let (spec, layout) = (source.layout().spec(), source.layout());
        let swap_bytes = match layout.element_order().endian {
            Endian::Little => 1,
            Endian::Big => usize::try_from(spec.data_type.swap_bytes()).unwrap_or(1),
        };
        Self::Elements {
            keys: DigestKeys::new(spec.shape.len(), item_bytes),
            swap_bytes,
            fill: spec.fill_item(Endian::Little),
        }
    }

    /// Of chunks as they are stored.
    pub(crate) fn of_encoded_chunks() -> Self {
        Self::Encoded { keys: DigestKeys::new(1, ITEM_BYTES) }
    }

    fn of_variable(source: &Array) -> Self {
        let layout = source.layout();
        let fill = named_fill(layout.as_ref()).unwrap_or_default();
        let keys = DigestKeys::new(layout.spec().shape.len(), ITEM_BYTES);
        Self::Variable { keys, fill: element_item(fill) }
    }

    /// It is one of chunks as they are stored.
    pub(crate) fn is_of_encoded_chunks(&self) -> bool {
        matches!(self, Self::Encoded { .. })
    }

    /// The name of the method; `None` if no digest is taken.
    pub(crate) fn method(&self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::Elements { .. } => Some(DIGEST_METHOD),
            Self::Encoded { .. } => Some(ENCODED_METHOD),
            Self::Variable { .. } => Some(VARIABLE_METHOD),
        }
    }

    /// The digest of the elements of `region` of what an input has brought from the source.
    pub(crate) fn of_elements(
        &self,
        region: &Region,
        input: &Input,
        brought: Brought<'_>,
    ) -> Result<Digest, Fault> {
        let Self::Elements { keys, swap_bytes, .. } = self else { return Ok(Digest::default()) };
        match brought {
            Brought::Chunk(bytes) => {
                frame::digest(keys, region, (bytes, &input.frame), *swap_bytes)
            }
            Brought::Nothing => self.of_nothing(region),
            Brought::Piece(..) => Ok(Digest::default()),
        }
    }

    /// The digest of `region` where nothing of it is stored.
    pub(crate) fn of_nothing(&self, region: &Region) -> Result<Digest, Fault> {
        match self {
            Self::Elements { keys, fill, .. } => {
                keys.filled(fill, &region.start, &region.shape).map_err(Fault::Kernel)
            }
            Self::Variable { keys, fill } => {
                keys.filled(fill, &region.start, &region.shape).map_err(Fault::Kernel)
            }
            Self::Encoded { .. } | Self::None => Ok(Digest::default()),
        }
    }

    /// The digest of chunk `index` of `grid` as it is stored.
    pub(crate) fn of_chunk(
        &self,
        grid: &ChunkGrid,
        index: &[u64],
        encoded: &[u8],
    ) -> Result<Digest, Fault> {
        let Self::Encoded { keys } = self else { return Ok(Digest::default()) };
        let ordinal = grid.indices().ordinal(index);
        keys.filled(&element_item(encoded), &[ordinal], &[1]).map_err(Fault::Kernel)
    }
}

/// A digest that is added to from many threads.
#[derive(Debug, Default)]
pub(crate) struct DigestSum(Mutex<Digest>);

impl DigestSum {
    pub(crate) fn add(&self, digest: Digest) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += digest;
    }

    pub(crate) fn get(&self) -> Digest {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
