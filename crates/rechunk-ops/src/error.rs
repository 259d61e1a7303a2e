//! Why an operation cannot be built, or cannot be run.

use rechunk_grid::DataType;
use thiserror::Error;

/// Why an operation cannot be built, or cannot be run on a box.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum OpError {
    /// No operation has this name.
    #[error("there is no operation `{name}`{}; operations are {known}", meant(nearest.as_deref()))]
    UnknownOperation {
        /// Name that was given.
        name: String,
        /// Known name that is spelled most like it, if one is near.
        nearest: Option<String>,
        /// Names of all operations.
        known: String,
    },
    /// The operation has no setting of this name.
    #[error(
        "operation `{operation}` has no setting `{key}`{}; {}",
        meant(nearest.as_deref()),
        listed(known)
    )]
    UnknownSetting {
        /// Name of the operation.
        operation: String,
        /// Name of the setting that was given.
        key: String,
        /// Known setting that is spelled most like it, if one is near.
        nearest: Option<String>,
        /// Settings of the operation; empty if there are none.
        known: String,
    },
    /// A text is no list of settings.
    #[error("`{text}` is no operation with settings: {reason}; write NAME, or NAME:key=value,…")]
    Syntax {
        /// The text.
        text: String,
        /// Mistake in it.
        reason: String,
    },
    /// A setting without a default was not given.
    #[error("operation `{operation}` needs `{key}`: {wanted}")]
    MissingSetting {
        /// Name of the operation.
        operation: String,
        /// Name of the setting.
        key: String,
        /// Values that it takes.
        wanted: String,
    },
    /// A setting has a value that it cannot have.
    #[error("operation `{operation}` cannot have `{key}={value}`: {wanted}")]
    BadSetting {
        /// Name of the operation.
        operation: String,
        /// Name of the setting.
        key: String,
        /// Value that was given.
        value: String,
        /// Values that it takes, or the limit that is passed.
        wanted: String,
    },
    /// The operation does not work on elements of this type.
    #[error("operation `{operation}` does not take {data_type} elements: {reason}")]
    DataType {
        /// Name of the operation.
        operation: String,
        /// Type of the elements.
        data_type: DataType,
        /// Reason, or a way around.
        reason: String,
    },
    /// A setting has another number of entries than the array has axes.
    #[error(
        "operation `{operation}` has `{key}` for {entries} axes, the array has {rank}; give one \
         value, or one for each axis, slowest first"
    )]
    Rank {
        /// Name of the operation.
        operation: String,
        /// Name of the setting.
        key: String,
        /// Entries of the setting.
        entries: usize,
        /// Axes of the array.
        rank: usize,
    },
    /// The operation takes another number of sources.
    #[error("operation `{operation}` takes {expected} sources, {given} are given")]
    Inputs {
        /// Name of the operation.
        operation: String,
        /// Sources that it takes.
        expected: usize,
        /// Sources that were given.
        given: usize,
    },
    /// Sources that have to agree do not.
    #[error("sources of operation `{operation}` differ: {reason}")]
    Disagree {
        /// Name of the operation.
        operation: String,
        /// Difference.
        reason: String,
    },
    /// A buffer does not hold the box that it is said to hold.
    #[error("operation `{operation}` was given a wrong buffer: {reason}")]
    Buffer {
        /// Name of the operation.
        operation: String,
        /// Mismatch.
        reason: String,
    },
    /// A box has more elements than can be addressed.
    #[error("a box of {shape} elements cannot be addressed; use smaller work chunks")]
    TooLarge {
        /// Shape of the box.
        shape: String,
    },
    /// A bound of memory would be passed.
    #[error("operation `{operation}` found more than {limit} {counted}; {hint}")]
    Limit {
        /// Name of the operation.
        operation: String,
        /// The bound.
        limit: u64,
        /// Things that are bounded.
        counted: String,
        /// Way around.
        hint: String,
    },
    /// Parts of a statistic do not belong together.
    #[error("parts of the statistic `{operation}` do not belong together: {reason}")]
    Partial {
        /// Name of the operation.
        operation: String,
        /// Difference.
        reason: String,
    },
    /// The operation was asked for elements, or for a statistic, and yields the other.
    #[error("operation `{operation}` yields {yields}")]
    Output {
        /// Name of the operation.
        operation: String,
        /// The operation's result: `a statistic, no array` or `an array, no statistic`.
        yields: String,
    },
}

/// Question after a mistyped name.
fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!(" (did you mean `{nearest}`?)"))
}

/// Sentence that lists settings.
fn listed(known: &str) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has {known}") }
}
