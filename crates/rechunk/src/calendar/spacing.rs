//! Spacing of the values of a coordinate. They are looked at one after the other; two are kept.

use std::cmp::Ordering;

/// A value, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    /// Which is the larger; `None` where one is none.
    pub(crate) fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(&b)),
            (a, b) => a.float().partial_cmp(&b.float()),
        }
    }

    fn minus(self, other: Self) -> f64 {
        match (self, other) {
            // Exact before it is rounded: nanoseconds since 1970 have more digits than a float.
            (Self::Integer(a), Self::Integer(b)) => a.saturating_sub(b) as f64,
            (a, b) => a.float() - b.float(),
        }
    }

    fn float(self) -> f64 {
        match self {
            Self::Integer(integer) => integer as f64,
            Self::Float(float) => float,
        }
    }
}

/// Values that were seen, in the order of the axis, not all of them.
#[derive(Debug)]
pub(super) struct Spacings {
    /// Relative error of a value as it is stored; 0 for integers.
    epsilon: f64,
    first: Option<Number>,
    last: Option<(u64, Number)>,
    /// Between the first two.
    step: Option<f64>,
    /// The first that is another, and where it begins.
    other: Option<(u64, f64)>,
    largest: f64,
}

/// A spacing that is the same all along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spacing {
    /// Between neighbours, in the unit of the values; not negative.
    pub step: f64,
    /// Error that the step may have, because of the precision of the values.
    pub slack: f64,
}

/// That the spacing is not the same all along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Irregular {
    /// Between the first two values.
    pub first: f64,
    /// Another, and the position of the value it begins at.
    pub other: f64,
    pub at: u64,
    /// Of all values that were seen.
    pub mean: f64,
}

impl Spacings {
    pub(super) fn new(epsilon: f64) -> Self {
        Self { epsilon, first: None, last: None, step: None, other: None, largest: 0.0 }
    }

    /// Takes note of the value at `position`, which is behind those before.
    pub(super) fn see(&mut self, position: u64, value: Number) {
        self.largest = self.largest.max(value.float().abs());
        self.first.get_or_insert(value);
        let Some((before, previous)) = self.last.replace((position, value)) else { return };
        let spacing = value.minus(previous) / position.saturating_sub(before).max(1) as f64;
        let step = *self.step.get_or_insert(spacing);
        let tolerance = 2.0 * self.slack() + 1e-9 * step.abs();
        if self.other.is_none() && (spacing - step).abs() > tolerance {
            self.other = Some((before, spacing));
        }
    }

    /// Error that a difference of two values may have.
    fn slack(&self) -> f64 {
        2.0 * self.epsilon * self.largest
    }

    /// The spacing that all have; `None` of fewer than two values.
    pub(super) fn spacing(&self) -> Option<Result<Spacing, Irregular>> {
        let (first, step, (position, last)) = (self.first?, self.step?, self.last?);
        let mean = last.minus(first) / position.max(1) as f64;
        Some(match self.other {
            Some((at, other)) => Err(Irregular { first: step, other, at, mean }),
            None => Ok(Spacing { step: mean.abs(), slack: self.slack() / position.max(1) as f64 }),
        })
    }
}
