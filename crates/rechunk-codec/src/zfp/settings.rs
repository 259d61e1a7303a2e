//! Settings of zfp, as metadata has them.

use std::fmt;

/// Settings of zfp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ZfpSpec {
    /// Limit on the encoded values.
    pub mode: ZfpMode,
    /// True if each chunk begins with zfp's own header, as numcodecs' `zfpy` writes it. A decoder
    /// then does what the header says; without one, what the mode says.
    pub has_header: bool,
}

impl ZfpSpec {
    /// Returns this codec in the mode that gives back exactly the values that it got.
    #[must_use]
    pub fn reversible(self) -> Self {
        Self { mode: ZfpMode::Reversible, ..self }
    }
}

/// The modes of zfp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ZfpMode {
    /// zfp's own four parameters.
    Expert {
        /// Least bits of a block.
        min_bits: u32,
        /// Most bits of a block.
        max_bits: u32,
        /// Most bit planes, 1 to 64.
        max_planes: u32,
        /// Lowest bit plane, as a power of two; below -1074 the block is stored reversibly.
        min_exponent: i32,
    },
    /// So many bits for each value.
    FixedRate(Real),
    /// So many bit planes; 0 is all.
    FixedPrecision(u32),
    /// Values differ by at most this; 0 is as little as zfp's transformation can.
    FixedAccuracy(Real),
    /// Every bit comes back.
    Reversible,
}

/// For people: `rate 8`.
impl fmt::Display for ZfpMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expert { min_bits, max_bits, max_planes, min_exponent } => {
                write!(formatter, "expert {min_bits} {max_bits} {max_planes} {min_exponent}")
            }
            Self::FixedRate(rate) => write!(formatter, "rate {}", rate.get()),
            Self::FixedPrecision(planes) => write!(formatter, "precision {planes}"),
            Self::FixedAccuracy(tolerance) => write!(formatter, "accuracy {}", tolerance.get()),
            Self::Reversible => formatter.write_str("reversible"),
        }
    }
}

/// A finite number, not below zero, that can be compared bit by bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Real(u64);

impl Real {
    /// `None` for what is not finite or below zero.
    pub fn new(value: f64) -> Option<Self> {
        // Without the sign of a negative zero.
        (value.is_finite() && value >= 0.0).then(|| Self((value + 0.0).to_bits()))
    }

    /// The number.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// The types zfp is given: its own four, and those that zarrs makes one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ZfpElement {
    Int8,
    Int16,
    Int32,
    Int64,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
    Float32,
    Float64,
}

impl ZfpElement {
    /// Bytes of an element as it is outside of zfp.
    pub fn item_bytes(self) -> u64 {
        match self {
            Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64 | Self::Uint64 | Self::Float64 => 8,
        }
    }

    /// True for zfp's own types. numcodecs takes no other.
    pub fn is_native(self) -> bool {
        matches!(self, Self::Int32 | Self::Int64 | Self::Float32 | Self::Float64)
    }

    /// True where zfp holds the lower half of the numbers only.
    pub fn is_halved(self) -> bool {
        matches!(self, Self::Uint32 | Self::Uint64)
    }

    pub(super) fn scalar(self) -> Scalar {
        match self {
            Self::Int64 | Self::Uint64 => Scalar::Int64,
            Self::Float32 => Scalar::Float32,
            Self::Float64 => Scalar::Float64,
            _ => Scalar::Int32,
        }
    }
}

/// zfp's own types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Int32,
    Int64,
    Float32,
    Float64,
}

impl Scalar {
    /// In the order of zfp's numbers in a header, from 0 on.
    pub(super) const ALL: [Self; 4] = [Self::Int32, Self::Int64, Self::Float32, Self::Float64];

    /// Bits of a value, and the most bit planes there can be.
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Int32 | Self::Float32 => 32,
            Self::Int64 | Self::Float64 => 64,
        }
    }

    /// Bits of the exponent of a float, and what is added to it; `None` for integers.
    pub(super) fn exponent(self) -> Option<(u32, i32)> {
        match self {
            Self::Float32 => Some((8, 127)),
            Self::Float64 => Some((11, 1023)),
            Self::Int32 | Self::Int64 => None,
        }
    }

    /// Bits that say how many bit planes a block has that is stored reversibly.
    pub(super) fn plane_count_bits(self) -> u32 {
        if self.bits() == 32 { 5 } else { 6 }
    }
}
