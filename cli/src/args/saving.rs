//! Options of plans that are saved.

use clap::Args;

/// A plan that is run later, as a whole or in parts.
#[derive(Debug, Clone, Args)]
pub(crate) struct SavingArgs {
    /// Worker processes, each with --max-mem, that are to do the plan in parts (`rechunk run
    /// --part`).
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub workers: u32,
    /// Save the plan for `rechunk run`.
    #[arg(long, value_name = "PLAN.json")]
    pub out: Option<String>,
}
