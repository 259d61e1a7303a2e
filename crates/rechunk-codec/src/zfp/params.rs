//! zfp's four parameters, which every mode comes down to, and what they make of a field.

use super::settings::{Scalar, ZfpMode};

/// Defaults of zfp (`ZFP_MIN_BITS` and so on).
pub(super) const BLOCK_BITS_MIN: u32 = 1;
pub(super) const BLOCK_BITS_MAX: u32 = 16658;
pub(super) const PLANES_MAX: u32 = 64;
pub(super) const EXPONENT_MIN: i32 = -1074;

/// Bounds of the values that a header can hold; none beyond them are taken.
const HEADER_BLOCK_BITS_MAX: u32 = 1 << 15;
pub(super) const HEADER_EXPONENT_BIAS: i32 = 16495;
const HEADER_EXPONENT_MAX: i32 = 0x7fff - HEADER_EXPONENT_BIAS;

/// Axes that zarrs counts with where it turns a rate into the bits of a block, whatever the array
/// has. Its decoder does the same, so its chunks can be read in no other way.
const ZARRS_RATE_AXES: usize = 3;

/// Elements of one type in a shape, slowest axis first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub scalar: Scalar,
    pub shape: Vec<u64>,
}

impl Field {
    /// Blocks of 4 elements along each axis; those at the edges are whole ones too.
    pub(super) fn blocks(&self) -> u64 {
        let blocks = self.shape.iter().map(|extent| extent.div_ceil(4));
        blocks.fold(1, u64::saturating_mul)
    }

    /// Values of a block.
    pub(super) fn block_values(&self) -> u32 {
        1 << (2 * self.shape.len().min(4))
    }

    pub(super) fn elements(&self) -> u64 {
        self.shape.iter().copied().fold(1, u64::saturating_mul)
    }
}

/// The parameters, checked: so that zfp's decoder, which counts without a look at the sign, reads
/// no more than [`Params::block_bits_max`] bits of any block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Params {
    pub min_bits: u32,
    pub max_bits: u32,
    pub max_planes: u32,
    pub min_exponent: i32,
}

impl Params {
    pub(super) const REVERSIBLE: Self = Self {
        min_bits: BLOCK_BITS_MIN,
        max_bits: BLOCK_BITS_MAX,
        max_planes: PLANES_MAX,
        min_exponent: EXPONENT_MIN - 1,
    };

    /// The parameters that a mode stands for. With a header they are numcodecs', without zarrs'.
    pub(super) fn of(mode: ZfpMode, field: &Field, has_header: bool) -> Result<Self, String> {
        let lossy = Self { min_exponent: EXPONENT_MIN, ..Self::REVERSIBLE };
        let params = match mode {
            ZfpMode::Expert { min_bits, max_bits, max_planes, min_exponent } => {
                Self { min_bits, max_bits, max_planes, min_exponent }
            }
            ZfpMode::FixedRate(rate) => {
                let axes = if has_header { field.shape.len() } else { ZARRS_RATE_AXES };
                let values = f64::from(1_u32 << (2 * axes.min(4)));
                let bits = (values * rate.get() + 0.5).floor();
                if bits > f64::from(HEADER_BLOCK_BITS_MAX) {
                    return Err(format!("a rate of {} is more than zfp can use", rate.get()));
                }
                let head = if field.scalar.exponent().is_some() { lossy.head(field) } else { 0 };
                let bits = small_integer(bits).max(head);
                Self { min_bits: bits, max_bits: bits, ..lossy }
            }
            ZfpMode::FixedPrecision(0) => lossy,
            ZfpMode::FixedPrecision(planes) => Self { max_planes: planes.min(PLANES_MAX), ..lossy },
            ZfpMode::FixedAccuracy(tolerance) => {
                Self { min_exponent: floor_log2(tolerance.get()), ..lossy }
            }
            ZfpMode::Reversible => Self::REVERSIBLE,
        };
        params.check(field)?;
        Ok(params)
    }

    /// Refuses what would make zfp count below zero, or more than its own headers can say.
    pub(super) fn check(&self, field: &Field) -> Result<(), String> {
        let &Self { min_bits, max_bits, max_planes, min_exponent } = self;
        let least = self.head(field).max(1);
        if min_bits > max_bits || max_bits < least || max_bits > HEADER_BLOCK_BITS_MAX {
            return Err(format!(
                "blocks of {min_bits} to {max_bits} bits, but the most must be from {least} to \
                 {HEADER_BLOCK_BITS_MAX}, and the least no more than that"
            ));
        }
        if !(1..=PLANES_MAX).contains(&max_planes) {
            return Err(format!("{max_planes} bit planes, but there are 1 to {PLANES_MAX}"));
        }
        if !(-HEADER_EXPONENT_BIAS..=HEADER_EXPONENT_MAX).contains(&min_exponent) {
            return Err(format!(
                "bit planes down to 2^{min_exponent}, but it must be from \
                 {} to {HEADER_EXPONENT_MAX}",
                -HEADER_EXPONENT_BIAS
            ));
        }
        Ok(())
    }

    pub(super) fn is_reversible(&self) -> bool {
        self.min_exponent < EXPONENT_MIN
    }

    /// Most bits of a block before its bit planes.
    fn head(&self, field: &Field) -> u32 {
        let exponent = field.scalar.exponent().map_or(0, |(bits, _)| bits + 1);
        match (self.is_reversible(), exponent) {
            (false, exponent) => exponent,
            (true, 0) => field.scalar.plane_count_bits(),
            (true, exponent) => exponent + 1 + field.scalar.plane_count_bits(),
        }
    }

    /// Most bits of a block: its head, its planes, and a bit for each value but one that says where
    /// it becomes significant. A reversible block says itself how many planes it has, and zfp's
    /// decoder does not hold that against `max_planes`.
    fn block_bits_max(&self, field: &Field) -> u32 {
        let values = field.block_values();
        let all = field.scalar.bits();
        let planes = if self.is_reversible() { all } else { self.max_planes.min(all) };
        let most = self.head(field) + values - 1 + values * planes;
        most.min(self.max_bits).max(self.min_bits)
    }

    /// Most bits of the blocks of a field.
    pub(super) fn stream_bits_max(&self, field: &Field) -> u64 {
        field.blocks().saturating_mul(u64::from(self.block_bits_max(field)))
    }

    /// Bits of the blocks, where they are the same for all values.
    pub(super) fn stream_bits_fixed(&self, field: &Field) -> Option<u64> {
        (self.min_bits == self.max_bits)
            .then(|| field.blocks().saturating_mul(u64::from(self.max_bits)))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the caller has compared it with a limit, and it is not below zero"
)]
fn small_integer(value: f64) -> u32 {
    value as u32
}

/// The largest power of two that is not above a tolerance; zfp's lowest for 0.
fn floor_log2(tolerance: f64) -> i32 {
    let bits = tolerance.to_bits() & !(1 << 63);
    let mantissa_bits = 52;
    let exponent = i32::try_from(bits >> mantissa_bits).unwrap_or(0);
    if bits == 0 {
        EXPONENT_MIN
    } else if exponent == 0 {
        // A subnormal number: its highest bit counts from the lowest exponent there is.
        let highest = 63 - bits.leading_zeros().cast_signed();
        EXPONENT_MIN + highest
    } else {
        exponent - 1023
    }
}

#[cfg(test)]
mod tests {
    use super::super::settings::Real;
    use super::*;

    fn field(scalar: Scalar, shape: &[u64]) -> Field {
        Field { scalar, shape: shape.to_vec() }
    }

    #[test]
    fn modes_become_the_parameters_of_zfp() {
        let plane = field(Scalar::Float32, &[5, 9]);
        let of = |mode, has_header| Params::of(mode, &plane, has_header);
        let bits = |mode, has_header| of(mode, has_header).map(|params| params.max_bits);
        let rate = |rate| ZfpMode::FixedRate(Real::new(rate).unwrap());
        assert_eq!(bits(rate(8.0), true), Ok(128));
        assert_eq!(bits(rate(8.0), false), Ok(512));
        assert_eq!(bits(rate(1.97), true), Ok(32));
        assert_eq!(bits(rate(0.0), true), Ok(9));
        assert!(of(rate(1e9), true).unwrap_err().contains("more than zfp can use"));
        let accuracy = |tolerance| ZfpMode::FixedAccuracy(Real::new(tolerance).unwrap());
        for (tolerance, exponent) in
            [(0.01, -7), (1.0, 0), (1.5, 0), (0.0, -1074), (5e-324, -1074), (1e-310, -1030)]
        {
            assert_eq!(
                of(accuracy(tolerance), true).unwrap().min_exponent,
                exponent,
                "{tolerance}"
            );
        }
        assert_eq!(of(ZfpMode::FixedPrecision(99), true).unwrap().max_planes, 64);
        assert!(of(ZfpMode::Reversible, true).unwrap().is_reversible());
    }

    /// A stream whose header allows few planes and says that it is reversible was read beyond its
    /// buffer.
    #[test]
    fn a_reversible_block_may_have_all_planes() {
        let solid = field(Scalar::Int64, &[5, 7, 3]);
        let few = Params { max_planes: 2, max_bits: HEADER_BLOCK_BITS_MAX, ..Params::REVERSIBLE };
        let all = Params { max_planes: PLANES_MAX, ..few };
        assert_eq!(few.stream_bits_max(&solid), all.stream_bits_max(&solid));
        let lossy = Params { min_exponent: EXPONENT_MIN, ..few };
        assert!(lossy.stream_bits_max(&solid) < few.stream_bits_max(&solid) / 10);
    }

    #[test]
    fn parameters_that_zfp_cannot_count_with_are_refused() {
        let expert = |min_bits, max_bits, max_planes, min_exponent| ZfpMode::Expert {
            min_bits,
            max_bits,
            max_planes,
            min_exponent,
        };
        for (scalar, mode) in [
            (Scalar::Float32, expert(1, 8, 64, 0)),
            (Scalar::Float64, expert(1, 11, 64, 0)),
            (Scalar::Float64, expert(1, 18, 64, -1075)),
            (Scalar::Int32, expert(1, 4, 64, -1075)),
            (Scalar::Int32, expert(0, 0, 64, 0)),
            (Scalar::Int32, expert(9, 8, 64, 0)),
            (Scalar::Int32, expert(1, 40_000, 64, 0)),
            (Scalar::Int32, expert(1, 100, 0, 0)),
            (Scalar::Int32, expert(1, 100, 65, 0)),
            (Scalar::Int32, expert(1, 100, 64, i32::MIN)),
            (Scalar::Int32, expert(1, 100, 64, i32::MAX)),
        ] {
            assert!(Params::of(mode, &field(scalar, &[4]), false).is_err(), "{scalar:?} {mode:?}");
        }
        let least = expert(1, 9, 64, 0);
        assert!(Params::of(least, &field(Scalar::Float32, &[4]), false).is_ok());
    }
}
