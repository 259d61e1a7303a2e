//! Why a job cannot be prepared, by codes that programs know.

use std::fmt;

use thiserror::Error;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// Code of a refusal, as programs see it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode { $($(#[$doc])* $variant,)* }

        impl ErrorCode {
            /// Every code.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The code as text: `NOT_DIVISIBLE`.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

codes! {
    /// Without a target, results cannot be combined.
    NoTargetNeedsDirect = "NO_DST_NEEDS_SKIP",
    /// Without a target there are no array chunks to expand to.
    NoTargetArrayChunk = "NO_DST_BACKEND",
    /// Without a target nothing is reduced.
    NoTargetReduceMax = "NO_DST_MAXRED",
    /// Without a target or a domain there is no box to take by default.
    NoTargetWholeBox = "NO_DST_AUTO_BBOX",
    /// Without a target nothing can be deferred.
    NoTargetDefer = "NO_DST_DEFER",
    /// The box was given in two ways. For callers that read texts.
    BoxTwice = "BBOX_TWICE",
    /// The box was given in part. For callers that read texts.
    BoxMissing = "BBOX_MISSING",
    /// There is no operation. For callers that read texts.
    OpMissing = "OP_MISSING",
    /// There are two operations. For callers that read texts.
    OpTwice = "OP_TWICE",
    /// Pads or modes are given for another number of levels. For callers that read texts.
    NestedLength = "NESTED_LEN",
    /// A level below the top is deferred.
    DeferNotTop = "DEFER_NOT_TOP",
    /// A direct job cannot be deferred.
    DeferDirect = "DEFER_SKIP",
    /// The largest reduction is smaller than a work chunk of the top level.
    ReduceMaxBelowChunk = "MAXRED_LT_CHUNK",
    /// The largest reduction is smaller than an array chunk.
    ReduceMaxBelowArrayChunk = "MAXRED_LT_DST_CHUNK",
    /// A direct job has a blend.
    DirectBlend = "SKIP_BLEND",
    /// A direct job has a crop above the bottom level.
    DirectCrop = "SKIP_CROP",
    /// Chunks cannot be both made to divide and shrunk.
    AutoDivideShrink = "AUTODIV_SHRINK",
    /// Chunks that are made to divide need a box that may grow to whole work chunks.
    AutoDivideNoExpand = "AUTODIV_NO_EXPAND",
    /// Chunks that are made to divide exclude a box that grows to array chunks.
    AutoDivideArrayChunk = "AUTODIV_BACKEND",
    /// The box cannot grow to whole work chunks while these shrink to the box.
    ShrinkExpand = "SHRINK_EXPAND",
    /// A gap is odd.
    GapOdd = "GAP_ODD",
    /// A gap and a blend of the top level exclude each other.
    GapBlendTop = "GAP_BLEND_TOP",
    /// A gap excludes chunks that are made to divide.
    GapAutoDivide = "GAP_AUTODIV",
    /// A gap excludes chunks that shrink.
    GapShrink = "GAP_SHRINK",
    /// A gap excludes a box that grows to array chunks.
    GapArrayChunk = "GAP_BACKEND",
    /// A gap excludes a box that is rounded to voxels.
    GapVoxel = "GAP_RESOLUTION",
    /// A region is not a whole number of work chunks.
    NotDivisible = "NOT_DIVISIBLE",
    /// A blend is more than half a work chunk.
    BlendAboveHalf = "BLEND_GT_HALF",
    /// The box does not begin and end between voxels.
    BoxNotIntegral = "BBOX_NOT_INTEGRAL",
    /// Two work chunks of a direct job would write one array chunk.
    UnalignedWrite = "UNALIGNED_WRITE",
    /// There is no such blend mode.
    BlendMode = "BLEND_MODE",
    /// Making chunks divide leaves a level without voxels.
    AutoDivideEmpty = "AUTO_DIVISIBILITY_EMPTY",
    /// The box has no voxels.
    EmptyBox = "EMPTY_BBOX",
    /// An option is no longer there. For callers that read texts.
    RemovedOption = "REMOVED_OPTION",
    /// An operation returned another shape than it should have.
    OpShape = "OP_SHAPE",
    /// Elements of the data type cannot be combined exactly.
    BlendType = "BLEND_DTYPE",
    /// Labels would be averaged.
    LabelBlend = "BLEND_LABEL",
    /// The crop of the bottom level is no whole number of source voxels.
    CropNotIntegral = "CROP_NOT_INTEGRAL",
    /// Settings have different numbers of axes.
    Axes = "AXES",
    /// There is no level, or there are too many.
    Levels = "LEVELS",
    /// A work chunk, an array chunk or a scale is 0.
    Zero = "ZERO",
    /// The box reaches beyond the array.
    BoxOutside = "BBOX_OUTSIDE",
    /// A number is beyond its limit.
    TooLarge = "TOO_LARGE",
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a job is refused before anything is read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct ApplyError {
    /// The code of the refusal.
    pub code: ErrorCode,
    /// Fault, with values and limits.
    pub message: String,
    /// Setting that would do, where one is known: extents in C order with commas, or a word.
    pub proposal: Option<String>,
}

impl ApplyError {
    /// A refusal without a proposal.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), proposal: None }
    }

    /// The refusal with the setting that would do.
    #[must_use]
    pub fn with_proposal(mut self, proposal: Option<String>) -> Self {
        self.proposal = proposal;
        self
    }
}

/// `1,2,3`: how extents are proposed.
pub(crate) fn commas(extents: &[u64]) -> String {
    extents.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}
