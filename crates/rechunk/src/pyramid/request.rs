//! A pyramid as a user asks for it, as data: it is saved with the job.

use rechunk_image::Dialect;
use rechunk_plan::{LevelsFrom, MissingCells};
use rechunk_reduce::{Method, Rounding};
use rechunk_words::LevelFactors;
use serde::{Deserialize, Serialize};

/// Levels that are wanted beside the first, which is the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LevelsRequest {
    /// Of these factors against the source.
    Factors(LevelFactors),
    /// So many, each half as large along the axes of space that are not coarser than others.
    Count(u32),
    /// As many as it takes until no axis of space is longer than so many elements.
    Until(u64),
}

/// Size of a level where factors do not divide the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelSize {
    /// Whole cells: the rest of the source is in no cell.
    #[default]
    Floor,
    /// All of the source: the last cell has the elements that there are.
    Ceil,
}

impl LevelSize {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::Floor, Self::Ceil];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Ceil => "ceil",
        }
    }

    /// The choice of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.name() == name)
    }

    /// Elements of a level along an axis of `extent`.
    pub(crate) fn of(self, extent: u64, factor: u64) -> u64 {
        match self {
            Self::Floor => (extent / factor.max(1)).max(1),
            Self::Ceil => extent.div_ceil(factor.max(1)),
        }
    }
}

/// A pyramid: its levels, and how their elements are made.
///
/// ```
/// use rechunk::{LevelsRequest, PyramidRequest};
///
/// let pyramid = PyramidRequest::new(LevelsRequest::Factors("1,2,2;1,4,4".parse()?));
/// assert_eq!(pyramid.method, None); // the mean; of labels, the mode
/// # Ok::<(), rechunk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PyramidRequest {
    /// The levels.
    pub levels: LevelsRequest,
    /// Rule by which elements become fewer; `None`: the mean, of labels the mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// Elements are labels, whatever the image says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub labels: bool,
    /// Size of a level where factors do not divide the source.
    #[serde(default)]
    pub size: LevelSize,
    /// Array from which a level is computed.
    #[serde(default)]
    pub from: LevelsFrom,
    /// Rule by which means become integers.
    #[serde(default)]
    pub rounding: Rounding,
    /// Rule for chunks that are not stored.
    #[serde(default)]
    pub missing: MissingCells,
    /// Metadata that is written; `None`: as the source has it, else OME-Zarr, in N5
    /// BigDataViewer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Dialect>,
}

impl PyramidRequest {
    /// These levels, all else as is usual.
    pub fn new(levels: LevelsRequest) -> Self {
        Self {
            levels,
            method: None,
            labels: false,
            size: LevelSize::default(),
            from: LevelsFrom::default(),
            rounding: Rounding::default(),
            missing: MissingCells::default(),
            dialect: None,
        }
    }
}
