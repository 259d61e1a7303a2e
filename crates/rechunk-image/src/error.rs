//! Reasons why an image cannot be said in a dialect.

use thiserror::Error;

/// Why metadata of an image cannot be written or upgraded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The dialect has no way to say these axes.
    #[error("{dialect} cannot say the axes {axes}: {reason}; {hint}")]
    Axes {
        /// Name of the dialect.
        dialect: &'static str,
        /// Names of the axes, in C order, with commas between.
        axes: String,
        /// The rule that they break.
        reason: String,
        /// The way out.
        hint: String,
    },
    /// The levels do not fit the axes or each other.
    #[error("the levels of image {image:?}: {reason}")]
    Levels {
        /// Name of the image.
        image: String,
        /// The level and its fault.
        reason: String,
    },
    /// No such upgrade is defined.
    #[error("{from} cannot become {to}: {reason}")]
    Upgrade {
        /// Dialect or kind of the attributes.
        from: String,
        /// Name of the wanted dialect.
        to: &'static str,
        /// The obstacle, and what to do about it.
        reason: String,
    },
}
