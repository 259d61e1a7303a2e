//! Methods of reduction, and rounding.

use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

use crate::error::ReduceError;

/// Element that stands for the elements of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Arithmetic mean. Exact for integers, with one rounding; floats are added as 64-bit floats in
    /// C order. NaN if any element is.
    Mean,
    /// Most frequent value, the smallest of those that are equally frequent. All NaN are one value,
    /// the largest; -0 is 0.
    Mode,
    /// The middle value, of an even count the lower of both. NaN if any element is.
    Median,
    /// The least value. NaN if any element is.
    Min,
    /// The largest value. NaN if any element is.
    Max,
    /// The first element.
    Stride,
    /// Mean of the elements in and around the cell, weighted by a Gaussian. NaN if any of them is.
    Gaussian,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 7] =
        [Self::Mean, Self::Mode, Self::Median, Self::Min, Self::Max, Self::Stride, Self::Gaussian];

    /// The name that people type.
    ///
    /// ```
    /// use rechunk_reduce::Method;
    /// assert_eq!(Method::from_name("median"), Some(Method::Median));
    /// assert!(Method::ALL.iter().all(|method| Method::from_name(method.name()) == Some(*method)));
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::Mode => "mode",
            Self::Median => "median",
            Self::Min => "min",
            Self::Max => "max",
            Self::Stride => "stride",
            Self::Gaussian => "gaussian",
        }
    }

    /// The method of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Whether the elements of a level are enough to compute those of the next exactly.
    pub fn is_chained(self) -> bool {
        match self {
            Self::Min | Self::Max | Self::Stride => true,
            Self::Mean | Self::Mode | Self::Median | Self::Gaussian => false,
        }
    }

    /// Whether sums over the cells of a level are enough to compute the next exactly.
    pub fn is_summed(self) -> bool {
        self == Self::Mean
    }

    /// Method for elements of which only the type is known: bool and 64-bit integers without a sign
    /// are taken for labels.
    ///
    /// ```
    /// use rechunk_grid::DataType;
    /// use rechunk_reduce::Method;
    /// assert_eq!(Method::usual(DataType::Uint64), Method::Mode);
    /// assert_eq!(Method::usual(DataType::Uint16), Method::Mean);
    /// ```
    pub fn usual(data_type: DataType) -> Self {
        match data_type {
            DataType::Bool | DataType::Uint64 => Self::Mode,
            _ => Self::Mean,
        }
    }

    /// Refuses a type of elements that the method does not take, with [`ReduceError::DataType`].
    ///
    /// All methods take bool, integers of 8 to 64 bits and floats of 16, 32 and 64 bits;
    /// [`Method::Stride`] takes every type whose elements have a size.
    pub fn check(self, data_type: DataType) -> Result<(), ReduceError> {
        let is_taken = match self {
            Self::Stride => !data_type.is_variable(),
            Self::Mean | Self::Mode | Self::Median | Self::Min | Self::Max | Self::Gaussian => {
                data_type.integer_range().is_some() || data_type.is_ieee_float()
            }
        };
        if is_taken { Ok(()) } else { Err(self.refuses(data_type)) }
    }

    /// Refusal of a type of elements.
    pub(crate) fn refuses(self, data_type: DataType) -> ReduceError {
        let taken = if self == Self::Stride {
            "elements of one size"
        } else {
            "bool, integers of 8 to 64 bits, and float16, float32, float64"
        };
        ReduceError::DataType { method: self.name(), data_type, taken }
    }

    /// Elements before the first and after the last of a cell that the method looks at, along an
    /// axis of `factor`: 0 but for [`Method::Gaussian`].
    ///
    /// ```
    /// use rechunk_reduce::Method;
    /// assert_eq!(Method::Mean.halo(2), 0);
    /// assert_eq!([1, 2, 3, 4].map(|factor| Method::Gaussian.halo(factor)), [0, 3, 4, 5]);
    /// ```
    pub fn halo(self, factor: u64) -> u64 {
        match self {
            Self::Gaussian if factor > 1 => whole((3.0 * sigma(factor)).ceil()),
            _ => 0,
        }
    }
}

/// Standard deviation, in elements, of the Gaussian for an axis of `factor`.
///
/// It takes a full width at half maximum from 1 to `factor` elements: Cardoso et al., "Scale factor
/// point spread function matching: beyond aliasing in image resampling", MICCAI 2015.
pub(crate) fn sigma(factor: u64) -> f64 {
    let factor = factor as f64;
    (factor * factor - 1.0).max(0.0).sqrt() / (2.0 * (2.0 * std::f64::consts::LN_2).sqrt())
}

/// A positive float without a fraction, as an integer.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and positive")]
fn whole(value: f64) -> u64 {
    value as u64
}

/// Rounding of a mean to an integer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// To the nearest; halves away from zero.
    #[default]
    HalfAway,
    /// To the nearest; halves to the even neighbour.
    HalfEven,
    /// Towards zero.
    Down,
}

impl Rounding {
    /// Every rounding.
    pub const ALL: [Self; 3] = [Self::HalfAway, Self::HalfEven, Self::Down];

    /// The name that people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::HalfAway => "half-away",
            Self::HalfEven => "half-even",
            Self::Down => "down",
        }
    }

    /// The rounding of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rounding| rounding.name() == name)
    }

    /// Rounds a float to an integer.
    pub(crate) fn round(self, value: f64) -> f64 {
        match self {
            Self::HalfAway => value.round(),
            Self::HalfEven => value.round_ties_even(),
            Self::Down => value.trunc(),
        }
    }
}
