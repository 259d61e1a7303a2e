use super::BaselineError;
use super::geometry::{check_chunks, check_nonzero, memory_bytes};

/// Limit for consolidating one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Not at all (rechunker's `None`).
    Keep,
    /// To the length of the axis (rechunker's `-1`).
    Whole,
    /// To this many elements, or to the length of the axis if that is less.
    AtMost(u64),
}

impl Limit {
    /// Reads rechunker's notation, one entry per axis: `None`, `-1` or a number of elements.
    pub fn from_signed(limits: &[Option<i64>]) -> Result<Vec<Self>, BaselineError> {
        let read = |(axis, &limit): (usize, &Option<i64>)| match limit {
            None => Ok(Self::Keep),
            Some(-1) => Ok(Self::Whole),
            Some(limit) => u64::try_from(limit)
                .map(Self::AtMost)
                .map_err(|_| BaselineError::InvalidLimit { axis, limit: i128::from(limit) }),
        };
        limits.iter().enumerate().map(read).collect()
    }

    /// The extent (elements) this limit allows on an axis, `None` if the axis is kept.
    fn resolve(self, axis: usize, length: u64, chunk: u64) -> Result<Option<u64>, BaselineError> {
        match self {
            Self::Keep => Ok(None),
            Self::Whole => Ok(Some(length)),
            Self::AtMost(limit) if limit > length => Ok(Some(length)),
            Self::AtMost(limit) if limit >= chunk => Ok(Some(limit)),
            Self::AtMost(limit) => {
                Err(BaselineError::InvalidLimit { axis, limit: i128::from(limit) })
            }
        }
    }
}

/// Grows `chunks` (elements) towards `limits` while one chunk stays within `memory_bytes_max`,
/// last axis first. No `limits` means the shape.
///
/// Rechunker's `consolidate_chunks`. An axis is taken to its limit if that leaves memory to spare;
/// otherwise to the largest multiple of its chunk that fits. The original's ratio of two integers
/// in floating point has the same floor as the integer division here below 2^53 bytes (9 PB).
pub fn consolidate_chunks(
    shape: &[u64],
    chunks: &[u64],
    itemsize_bytes: u64,
    memory_bytes_max: u64,
    limits: Option<&[Limit]>,
) -> Result<Vec<u64>, BaselineError> {
    check_chunks("the chunk shape", shape, chunks)?;
    check_nonzero("the item size", itemsize_bytes)?;
    let uppers = resolve_limits(shape, chunks, limits)?;
    let memory_max = u128::from(memory_bytes_max);
    let chunk_bytes = memory_bytes(itemsize_bytes, chunks);
    if chunk_bytes > memory_max {
        return Err(BaselineError::ChunkOverBudget { chunk_bytes, memory_bytes_max });
    }

    let mut headroom = memory_max / chunk_bytes;
    let mut consolidated = chunks.to_vec();
    for axis in (0..shape.len()).rev() {
        let Some(upper) = uppers[axis] else { continue };
        consolidated[axis] = upper;
        // Strictly less: an exact fit takes the other branch, as in the original.
        if memory_bytes(itemsize_bytes, &consolidated) >= memory_max {
            let grown = u128::from(chunks[axis]).saturating_mul(headroom);
            consolidated[axis] = u64::try_from(grown).map_or(upper, |grown| grown.min(upper));
        }
        // A zero-length axis has zero-length chunks; nothing is left to divide by.
        headroom = memory_max / memory_bytes(itemsize_bytes, &consolidated).max(1);
    }
    Ok(consolidated)
}

fn resolve_limits(
    shape: &[u64],
    chunks: &[u64],
    limits: Option<&[Limit]>,
) -> Result<Vec<Option<u64>>, BaselineError> {
    let whole: Vec<Limit>;
    let limits = if let Some(limits) = limits {
        limits
    } else {
        whole = shape.iter().map(|&length| Limit::AtMost(length)).collect();
        &whole
    };
    if limits.len() != shape.len() {
        let (expected, found) = (shape.len(), limits.len());
        return Err(BaselineError::RankMismatch { what: "the limits", expected, found });
    }
    let axes = shape.iter().zip(chunks).zip(limits).enumerate();
    axes.map(|(axis, ((&length, &chunk), limit))| limit.resolve(axis, length, chunk)).collect()
}
