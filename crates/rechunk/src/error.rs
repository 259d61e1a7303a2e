//! Errors of a job, in classes that scripts can tell apart.

use std::error::Error as StdError;

use rechunk_array::{ArrayError, RegionError};
use rechunk_exec::{ExecError, Fault};
use rechunk_format::FormatError;
use rechunk_grid::GridError;
use rechunk_planner::PlanError;
use rechunk_store::StoreError;
use thiserror::Error;

use crate::Remedy;
use crate::class::Class;
use crate::remedy::within;
use crate::secrets::without_secrets;

/// Hint where a server's certificate is not trusted.
const TRUST: &str = "if the server is yours, or a proxy signs for it, name a file with its \
                     certificate authority in SSL_CERT_FILE";

/// Why a job cannot be done or was not finished.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The request itself is wrong.
    #[error("{message}")]
    Usage {
        /// Mistake, in a sentence.
        message: String,
        /// Advice for another request, if there is any.
        hint: Option<Remedy>,
    },
    /// The location holds no array that can be read.
    #[error("{location} is not an array: {reason}")]
    NotAnArray {
        /// The location.
        location: String,
        /// Reason, which may say what is there instead.
        reason: String,
        /// Advice, if there is any.
        hint: Option<Remedy>,
    },
    /// The group cannot be copied as it is.
    #[error("cannot copy the group {location}: {reason}")]
    NotATree {
        /// The location.
        location: String,
        /// Which of its members are in the way, and why.
        reason: String,
        /// Advice, if there is any.
        hint: Option<Remedy>,
    },
    /// Chunks of the source are missing, or are not where they should be.
    #[error("cannot copy {location}: {reason}")]
    SourceChunks {
        /// The location.
        location: String,
        /// Which chunks, and what is wrong with them.
        reason: String,
        /// Advice, if there is any.
        hint: Option<Remedy>,
    },
    /// An array of a group is to blame.
    #[error("the array {path}")]
    Member {
        /// Its path in the group.
        path: String,
        /// Why.
        #[source]
        source: Box<Error>,
    },
    /// The source's metadata cannot be used.
    #[error("cannot use the metadata of {location}")]
    SourceMetadata {
        /// The location.
        location: String,
        /// Fault in its metadata.
        #[source]
        source: Box<FormatError>,
    },
    /// An array cannot be read as the type it was to be cast to, whatever it holds.
    #[error("cannot cast {location}")]
    Cast {
        /// The location.
        location: String,
        /// Why.
        #[source]
        source: Box<FormatError>,
    },
    /// The array asked for cannot be written.
    #[error("the target cannot be written as asked")]
    TargetMetadata {
        /// Why.
        #[source]
        source: Box<FormatError>,
    },
    /// Something is there already, or source and target are in each other's way.
    #[error("{location} {reason}")]
    Conflict {
        /// The location.
        location: String,
        /// Obstacle, in words.
        reason: String,
        /// Advice, if there is any.
        hint: Option<Remedy>,
    },
    /// No plan.
    #[error("there is no plan{}", within(*budget_bytes, source))]
    Plan {
        /// The memory budget, bytes.
        budget_bytes: u64,
        /// Why.
        #[source]
        source: Box<PlanError>,
    },
    /// A store refused while the source was being opened.
    #[error("cannot read {location}")]
    SourceStore {
        /// The location.
        location: String,
        /// Why.
        #[source]
        source: Box<StoreError>,
    },
    /// A store refused.
    #[error("cannot {doing}")]
    Store {
        /// Operation that failed, in words.
        doing: String,
        /// Why.
        #[source]
        source: Box<StoreError>,
    },
    /// A run stopped before its end.
    #[error("stopped after {done} of {total} tasks")]
    Run {
        /// Tasks that are done and kept.
        done: u64,
        /// Of these, done by earlier runs.
        resumed: u64,
        /// All tasks.
        total: u64,
        /// Advice, if there is any.
        hint: Option<Remedy>,
        /// Why.
        #[source]
        source: Box<ExecError>,
    },
    /// All is written, but the files of the target could not be given their names.
    #[error("cannot finish {location}")]
    Finish {
        /// The target.
        location: String,
        /// Why.
        #[source]
        source: Box<ArrayError>,
    },
    /// Two arrays cannot be equal, whatever they hold.
    #[error("{a} and {b} differ: {difference}")]
    Unlike {
        /// One array.
        a: String,
        /// The other.
        b: String,
        /// In what.
        difference: String,
    },
    /// A region of an array cannot be read.
    #[error("cannot read a region of {location}")]
    ReadRegion {
        /// The array.
        location: String,
        /// Why.
        #[source]
        source: Box<RegionError>,
    },
    /// A region of an array cannot be written.
    #[error("cannot write a region of {location}")]
    WriteRegion {
        /// The array.
        location: String,
        /// Why.
        #[source]
        source: Box<RegionError>,
    },
    /// An operation cannot be applied so.
    #[error("{message}")]
    Apply {
        /// Code of the refusal, as programs know it: `NOT_DIVISIBLE`.
        code: &'static str,
        /// Fault, with values and limits.
        message: String,
        /// Setting that would do, where one is known.
        proposal: Option<String>,
    },
    /// A comparison stopped before its end.
    #[error("the arrays could not be compared")]
    Compare {
        /// Why.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// The target does not hold what the source holds.
    #[error("the target differs from the source in {count} elements, first at {first:?}")]
    VerifyFailed {
        /// Elements that differ.
        count: u64,
        /// Position of the first in C order.
        first: Vec<u64>,
    },
    /// Other processes have not done yet what this one needs.
    #[error("{location} {reason}")]
    NotYet {
        /// The target.
        location: String,
        /// The tasks that are missing, in words.
        reason: String,
        /// Advice, if there is any.
        hint: Option<Remedy>,
    },
    /// Something other than a run was interrupted; nothing is left of it.
    #[error("{doing} was interrupted; nothing is left of it")]
    Interrupted {
        /// Operation that was ended, in words.
        doing: String,
    },
    /// The target is not what was read from the source, but what the source holds now.
    #[error(
        "the target {location} has the digest {found}, but what was read from the source had \
         {expected}; yet their elements are equal now: the source or the target has changed since, \
         or was read wrongly"
    )]
    DigestDiffers {
        /// The target.
        location: String,
        /// Digest of the target, hex.
        found: String,
        /// Digest of what was read, hex.
        expected: String,
    },
    /// A file of ours (a saved plan, a journal) cannot be used.
    #[error("{path}: {reason}")]
    State {
        /// The file.
        path: String,
        /// Reason why it cannot be used.
        reason: String,
    },
}

impl Error {
    pub(crate) fn source_store(location: &str, source: StoreError) -> Self {
        Self::SourceStore { location: location.to_owned(), source: Box::new(source) }
    }

    pub(crate) fn source_metadata(location: &str, source: FormatError) -> Self {
        Self::SourceMetadata { location: location.to_owned(), source: Box::new(source) }
    }

    /// The error of a value that was given to `option`: a wrong request names it.
    #[must_use]
    pub fn given_to(self, option: &str) -> Self {
        match self {
            Self::Usage { message, hint } => {
                Self::Usage { message: format!("{option}: {message}"), hint }
            }
            other => other,
        }
    }

    pub(crate) fn of_member(self, path: &str) -> Self {
        Self::Member { path: path.to_owned(), source: Box::new(self) }
    }

    /// Why two arrays could not be compared: both are read, as no task of a copy that somebody
    /// knows of.
    pub(crate) fn compare(error: ExecError) -> Self {
        let source: Box<dyn StdError + Send + Sync> = match error {
            ExecError::Task { fault: Fault::Source(error) | Fault::Target(error), .. }
            | ExecError::Run(Fault::Source(error) | Fault::Target(error)) => Box::new(error),
            ExecError::Task { fault, .. } => Box::new(fault),
            other => Box::new(other),
        };
        Self::Compare { source }
    }

    /// True if a target was read back, and is not what was written to it.
    pub(crate) fn is_of_damaged_target(&self) -> bool {
        match self {
            Self::VerifyFailed { .. } | Self::DigestDiffers { .. } => true,
            Self::Compare { source } => source.downcast_ref().is_some_and(ArrayError::is_damage),
            _ => false,
        }
    }

    pub(crate) fn target_metadata(source: FormatError) -> Self {
        Self::TargetMetadata { source: Box::new(source) }
    }

    /// That there is no plan within `budget_bytes`.
    pub fn no_plan(budget_bytes: u64, source: PlanError) -> Self {
        Self::Plan { budget_bytes, source: Box::new(source) }
    }

    /// The class of the error.
    pub fn class(&self) -> Class {
        match self {
            Self::Usage { .. } | Self::TargetMetadata { .. } | Self::Apply { .. } => Class::Usage,
            Self::Member { source, .. } => source.class(),
            Self::Conflict { .. } => Class::Target,
            Self::ReadRegion { source, .. } | Self::WriteRegion { source, .. } => {
                self.class_of_region(source)
            }
            Self::Plan { source, .. } => match **source {
                PlanError::DoesNotFit { .. } => Class::Memory,
                PlanError::Grid(_) => Class::Source,
                _ => Class::Usage,
            },
            Self::Run { source, .. } if source.is_cancelled() => Class::Interrupted,
            error if error.lack_bytes().is_some() => Class::Memory,
            // A store that does not answer may answer another time.
            Self::Run { source, .. } if source.is_source_fault() && !source.is_retryable() => {
                Class::Source
            }
            Self::Compare { source }
                if source.downcast_ref().is_some_and(ExecError::is_cancelled) =>
            {
                Class::Interrupted
            }
            // Both arrays of a comparison are sources.
            Self::NotAnArray { .. }
            | Self::NotATree { .. }
            | Self::SourceChunks { .. }
            | Self::SourceMetadata { .. }
            | Self::SourceStore { .. }
            | Self::Cast { .. }
            | Self::Compare { .. } => Class::Source,
            Self::Interrupted { .. } => Class::Interrupted,
            Self::NotYet { .. } => Class::NotYet,
            Self::VerifyFailed { .. } | Self::DigestDiffers { .. } | Self::Unlike { .. } => {
                Class::Differ
            }
            Self::Store { source, .. }
                if matches!(**source, StoreError::UnsupportedScheme { .. }) =>
            {
                Class::Usage
            }
            // Only places to write to are opened under this error.
            Self::Store { source, .. }
                if matches!(**source, StoreError::Location { .. })
                    && !source.is_permission_denied() =>
            {
                Class::Target
            }
            Self::Run { .. } | Self::Finish { .. } | Self::Store { .. } | Self::State { .. } => {
                Class::Failed
            }
        }
    }

    fn class_of_region(&self, source: &RegionError) -> Class {
        match source {
            RegionError::Memory { .. } => Class::Memory,
            RegionError::ReadOnly { .. } => Class::Target,
            source if source.is_usage() => Class::Usage,
            // A store that does not answer may answer another time.
            source if source.chunk().is_some_and(ArrayError::is_retryable) => Class::Failed,
            _ if matches!(self, Self::ReadRegion { .. }) => Class::Source,
            _ => Class::Failed,
        }
    }

    /// Way out of it, where there is some.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Usage { hint, .. }
            | Self::NotAnArray { hint, .. }
            | Self::NotATree { hint, .. }
            | Self::SourceChunks { hint, .. }
            | Self::Conflict { hint, .. }
            | Self::NotYet { hint, .. }
            | Self::Run { hint, .. } => hint.clone(),
            Self::Apply { code, proposal, .. } => Remedy::of_apply(code, proposal.as_deref()),
            Self::Member { source, .. } => source.remedy(),
            Self::VerifyFailed { .. } | Self::DigestDiffers { .. } => Some(Remedy::CopyAgain),
            Self::Cast { .. } => Some(Remedy::CastWider),
            Self::Compare { .. } => self.lack_bytes().map(|bytes| Remedy::MoreMemory { bytes }),
            Self::Plan { source, .. } => match **source {
                PlanError::DoesNotFit { minimum_bytes, .. } => {
                    Some(Remedy::MoreMemory { bytes: minimum_bytes })
                }
                _ => None,
            },
            Self::ReadRegion { source, .. } | Self::WriteRegion { source, .. } => match **source {
                RegionError::Memory { .. } => {
                    Some(Remedy::from("allow more with `RegionOptions::with_memory_bytes`"))
                }
                RegionError::TooLarge { .. } => {
                    Some(Remedy::from("read it in parts, or into a buffer of yours"))
                }
                _ => None,
            },
            Self::SourceStore { source, .. }
                if matches!(**source, StoreError::Changed { .. } | StoreError::Removed { .. }) =>
            {
                Some(Remedy::StartUnwritten)
            }
            Self::Store { source, .. } if source.is_no_space() => Some(Remedy::MakeRoom),
            Self::Finish { source, .. } if source.is_no_space() => Some(Remedy::MakeRoom),
            Self::Store { source, .. } | Self::SourceStore { source, .. }
                if source.is_untrusted() =>
            {
                Some(TRUST.into())
            }
            Self::Store { source, .. } | Self::SourceStore { source, .. }
                if source.is_permission_denied() && !source.is_denied_by_server() =>
            {
                Some("check the permissions of the path and its parent directories".into())
            }
            _ => None,
        }
    }

    /// The error and what caused it, outermost first, each once; without what the URLs in it may
    /// have of passwords and signatures.
    pub fn chain(&self) -> Vec<String> {
        let mut chain = vec![without_secrets(&self.to_string())];
        let mut next = StdError::source(self);
        while let Some(error) = next {
            let text = without_secrets(&error.to_string());
            // Wrappers that print their cause would say it twice.
            if chain.last().is_none_or(|last| !last.ends_with(&text)) {
                chain.push(text);
            }
            next = error.source();
        }
        chain
    }

    pub(crate) fn source_grid(location: &str, error: &GridError) -> Self {
        Self::NotAnArray { location: location.to_owned(), reason: error.to_string(), hint: None }
    }
}

/// Error of a store while `doing` something at a place, in words: "write", "look at".
pub(crate) fn store_error(doing: &str, what: &str, source: StoreError) -> Error {
    Error::Store { doing: format!("{doing} {what}"), source: Box::new(source) }
}
