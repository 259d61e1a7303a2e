//! Extent of chunks along one axis.

use std::fmt;

use crate::WordError;
use crate::lengths::ChunkLengths;
use crate::span::TimeSpan;

/// Extent of chunks that is wished along one axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Extent {
    /// That many elements; cut to the axis where that is shorter.
    Elements(u64),
    /// That many elements, also where the axis is shorter (`10!`): for an array that will grow.
    Exactly(u64),
    /// The whole axis (`-1`).
    Whole,
    /// As the source (`keep`), also where that is larger than the axis.
    Keep,
    /// Sized so that a chunk is near the wanted bytes (`auto`).
    Auto,
    /// As many elements as the coordinate of the axis has in that time (`30D`); also where the axis
    /// is shorter, if `is_kept` (`30D!`).
    Span {
        /// The time.
        span: TimeSpan,
        /// The axis does not cut it.
        is_kept: bool,
    },
    /// A length for each chunk (`31+28+31`).
    Lengths(ChunkLengths),
}

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elements(elements) => write!(f, "{elements}"),
            Self::Exactly(elements) => write!(f, "{elements}!"),
            Self::Whole => f.write_str("-1"),
            Self::Keep => f.write_str("keep"),
            Self::Auto => f.write_str("auto"),
            Self::Lengths(lengths) => lengths.fmt(f),
            Self::Span { span, is_kept } => {
                write!(f, "{span}{}", if *is_kept { "!" } else { "" })
            }
        }
    }
}

impl Extent {
    /// Returns this extent, not cut by its axis.
    #[must_use]
    pub fn kept(self) -> Self {
        match self {
            Self::Elements(elements) => Self::Exactly(elements),
            Self::Span { span, .. } => Self::Span { span, is_kept: true },
            other => other,
        }
    }

    /// Parses an extent; says what is wrong with it otherwise.
    pub fn parse(text: &str) -> Result<Self, WordError> {
        if let Some(number) = text.strip_suffix('!') {
            return match Self::parse(number.trim_end())? {
                extent @ (Self::Elements(_) | Self::Span { is_kept: false, .. }) => {
                    Ok(extent.kept())
                }
                _ => Err(usage(format!(
                    "`{text}`: ! keeps a number of elements, or a time, that is longer than the axis"
                ))),
            };
        }
        match text {
            "-1" => Ok(Self::Whole),
            "keep" => Ok(Self::Keep),
            "auto" => Ok(Self::Auto),
            number => match number.parse() {
                // However it is spelled: 0, 00, +0.
                Ok(0) => {
                    Err(usage("a chunk extent cannot be 0 (-1 means the whole axis)".to_owned()))
                }
                Ok(elements) => Ok(Self::Elements(elements)),
                Err(_) => {
                    if let Some(span) = TimeSpan::parse(number) {
                        return Ok(Self::Span { span, is_kept: false });
                    }
                    if let Some(lengths) = ChunkLengths::parse(number) {
                        return lengths.map(Self::Lengths);
                    }
                    let wanted =
                        "a number, -1, keep, auto, a time like 30D or lengths like 31+28x2";
                    Err(usage(format!("`{text}` is not a chunk extent: {wanted}")))
                }
            },
        }
    }
}

fn usage(message: String) -> WordError {
    WordError::new(message, None)
}
