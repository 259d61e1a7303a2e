use rechunk_grid::GridError;
use rechunk_plan::Strategy;
use thiserror::Error;

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A shape or chunk shape cannot be used.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Nothing fits the memory budget.
    #[error(
        "no plan{} fits {budget_bytes} bytes of memory: the least that works is {minimum_bytes} bytes",
        strategy_note(*strategy)
    )]
    DoesNotFit {
        /// The strategy that was asked for.
        strategy: Strategy,
        /// Bytes that were allowed.
        budget_bytes: u64,
        /// The least budget with which planning succeeds, bytes.
        minimum_bytes: u64,
    },
    /// The forced strategy does not apply to these arrays, whatever the memory.
    #[error("strategy `{strategy}` does not apply here: {reason}")]
    NotApplicable {
        /// The strategy that was asked for.
        strategy: Strategy,
        /// Why it cannot work.
        reason: &'static str,
    },
    /// The counts of an apply are more than can be counted.
    #[error("the operation cannot be applied: {reason}")]
    Apply {
        /// Reason, in words.
        reason: String,
    },
    /// A number of the request is out of its range.
    #[error("{what} must be {range}")]
    OutOfRange {
        /// The number.
        what: &'static str,
        /// The range that is allowed.
        range: &'static str,
    },
}

fn strategy_note(strategy: Strategy) -> String {
    match strategy {
        Strategy::Auto => String::new(),
        forced => format!(" of kind `{forced}`"),
    }
}
