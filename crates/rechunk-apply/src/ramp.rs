//! Weights of task boxes: separable, exact, and adding up to 1 wherever two overlap.
//!
//! Along an axis a task box of work chunk `C` and blend `B` has weight 1 but for its first `2B`
//! voxels, the ramp, and its last `2B`, the ramp reversed. With `2B <= C` at most two task boxes
//! overlap, and voxel `k` of the one's ramp is voxel `2B + 1 - k` of the other's. A side at the
//! outer edge of the region has no ramp.

use serde::{Deserialize, Serialize};

use crate::spec::Mode;
use crate::voxel_box::{Span, VoxelBox};

/// Smallest weight of a ramp: a contribution is never nothing, also where the other one is missing.
const WEIGHT_MIN: f64 = 1e-30;

/// Ramp of one axis of a level: `2B` weights as numerators over a common denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ramp {
    mode: Mode,
    blend: u64,
    chunk: u64,
    denominator: u64,
}

impl Ramp {
    /// The ramp of a weighted `mode`: `blend` voxels per side of a work chunk of `chunk` voxels.
    /// `bump_bits` is the precision of bump weights, which are no fractions of small numbers: their
    /// denominator is 2 to that power. `None` if the mode has no weights, or if the denominator
    /// does not fit 63 bits.
    pub fn new(mode: Mode, blend: u64, chunk: u64, bump_bits: u32) -> Option<Self> {
        let odd = blend.checked_mul(2)?.checked_add(1)?;
        let denominator = match mode {
            Mode::Linear => odd,
            Mode::Quadratic => odd.checked_mul(odd)?,
            Mode::Bump => 1_u64.checked_shl(bump_bits)?,
            Mode::Max | Mode::Defer => return None,
        };
        (denominator <= 1 << 62).then_some(Self { mode, blend, chunk, denominator })
    }

    /// Number that the numerators are parts of.
    pub fn denominator(&self) -> u64 {
        self.denominator
    }

    /// Voxels of the ramp: two blends.
    pub fn length(&self) -> u64 {
        2 * self.blend
    }

    /// Numerator of voxel `k` of the ramp, from 1.
    ///
    /// ```
    /// use rechunk_apply::{Mode, Ramp};
    /// let ramp = Ramp::new(Mode::Quadratic, 2, 8, 30).unwrap();
    /// let numerators: Vec<u64> = (1..=4).map(|k| ramp.numerator(k)).collect();
    /// assert_eq!((numerators, ramp.denominator()), (vec![2, 8, 17, 23], 25));
    /// ```
    pub fn numerator(&self, k: u64) -> u64 {
        let (first_half, mirrored) = (k <= self.blend, self.length() + 1 - k);
        match self.mode {
            Mode::Linear => k,
            Mode::Quadratic if first_half => 2 * k * k,
            Mode::Quadratic => self.denominator - 2 * mirrored * mirrored,
            Mode::Bump if first_half => self.fixed(self.bump(k)),
            Mode::Bump => self.denominator - self.fixed(self.bump(mirrored)),
            Mode::Max | Mode::Defer => self.denominator,
        }
    }

    /// Weight of voxel `k` of the ramp, from 1, as a float.
    pub fn weight(&self, k: u64) -> f64 {
        match self.mode {
            Mode::Bump if k <= self.blend => self.bump(k),
            Mode::Bump => 1.0 - self.bump(self.length() + 1 - k),
            Mode::Linear | Mode::Quadratic | Mode::Max | Mode::Defer => {
                self.numerator(k) as f64 / self.denominator as f64
            }
        }
    }

    /// `g(i) / (g(i) + g(i + s - 2B))` with `i = k - 1`, as zetta_utils has it.
    fn bump(&self, k: u64) -> f64 {
        let size = (self.chunk + self.length()) as f64;
        let exponent = |index: f64| {
            let t = 2.0 * (index + 1.0) / (size + 1.0) - 1.0;
            -1.0 / (1.0 - t * t)
        };
        let index = k as f64 - 1.0;
        // A quotient of exponentials: neither of them may vanish where a box is long.
        let weight = 1.0 / (1.0 + (exponent(index + self.chunk as f64) - exponent(index)).exp());
        weight.max(WEIGHT_MIN)
    }

    /// A weight as a numerator; rounded.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a weight is from 0 to 1, the denominator at most 2^62"
    )]
    fn fixed(&self, weight: f64) -> u64 {
        ((weight * self.denominator as f64).round() as u64).clamp(1, self.denominator - 1)
    }
}

/// Weights of one axis of a task box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AxisWeights {
    pub(crate) span: Span,
    pub(crate) ramp: Option<Ramp>,
    pub(crate) has_low_ramp: bool,
    pub(crate) has_high_ramp: bool,
}

/// Place of a voxel in a task box.
enum Place {
    Ramp(Ramp, u64),
    Full(u64),
}

impl AxisWeights {
    fn place(&self, at: i64) -> Place {
        let Some(ramp) = self.ramp else { return Place::Full(1) };
        let from_start = Span::new(self.span.start, at).length();
        let to_end = Span::new(at, self.span.end).length();
        if self.has_low_ramp && from_start < ramp.length() {
            Place::Ramp(ramp, from_start + 1)
        } else if self.has_high_ramp && to_end <= ramp.length() {
            Place::Ramp(ramp, to_end)
        } else {
            Place::Full(ramp.denominator())
        }
    }

    /// Numerators of the voxels of `window`, which lies in the task box.
    pub fn numerators(&self, window: Span) -> Vec<u64> {
        let of = |at| match self.place(at) {
            Place::Ramp(ramp, k) => ramp.numerator(k),
            Place::Full(denominator) => denominator,
        };
        (window.start..window.end).map(of).collect()
    }

    /// Weights of the voxels of `window`, which lies in the task box.
    pub fn weights(&self, window: Span) -> Vec<f64> {
        let of = |at| match self.place(at) {
            Place::Ramp(ramp, k) => ramp.weight(k),
            Place::Full(_) => 1.0,
        };
        (window.start..window.end).map(of).collect()
    }
}

/// Task box, and the weights of its voxels: the product of those along each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileWeights {
    pub(crate) axes: Vec<AxisWeights>,
}

impl TileWeights {
    /// The box without ramps: each voxel has weight 1.
    pub fn flat(task_box: &VoxelBox) -> Self {
        let flat = |&span: &Span| AxisWeights {
            span,
            ramp: None,
            has_low_ramp: false,
            has_high_ramp: false,
        };
        Self { axes: task_box.axes.iter().map(flat).collect() }
    }

    /// Task box.
    pub fn bounds(&self) -> VoxelBox {
        VoxelBox::new(self.axes.iter().map(|axis| axis.span))
    }

    /// Weights along each axis.
    pub fn axes(&self) -> &[AxisWeights] {
        &self.axes
    }
}
