//! Options of `rechunk run`.

use clap::Args;

use super::{OutputArgs, RunningArgs, StoreArgs};

/// `rechunk run`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk run plan.json                                  # all of it, in this process
  rechunk run plan.json --stage 0 --part 3/40            # the 4th of 40 shares, anywhere
  rechunk run plan.json --stage 1 --part 3/40 --wait=2h  # when stage 0 is complete
  rechunk run plan.json --finish                         # when all shares are done

Exit 7 of a part or of --finish: others have not done yet what it needs; try again, or --wait.")]
pub(crate) struct RunArgs {
    /// A plan saved by `rechunk plan --out`.
    pub plan: String,
    #[command(flatten)]
    pub parts: PartArgs,
    /// Draw the run as a self-contained HTML page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    #[command(flatten)]
    pub running: RunningArgs,
    #[command(flatten)]
    pub stores: StoreArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// A plan in parts, by many processes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Many processes")]
pub(crate) struct PartArgs {
    /// Take the target for parts, and do nothing else; the first part does that too.
    #[arg(long, conflicts_with_all = ["stage", "part", "tasks", "finish", "wait"])]
    pub begin: bool,
    /// Number of the stage of which a part is done [that of a plan with one stage].
    #[arg(long, value_name = "S", requires = "of_stage")]
    pub stage: Option<usize>,
    /// Do this share of a stage: 0/40 is the first of forty, 39/40 the last. It may run twice, at
    /// once, late, and on any machine.
    #[arg(long, value_name = "I/N", group = "of_stage", conflicts_with = "finish")]
    pub part: Option<String>,
    /// Do these tasks of a stage of an array, by their numbers from 0: 0..4 are the first four.
    #[arg(long, value_name = "A..B", group = "of_stage", conflicts_with = "finish")]
    pub tasks: Option<String>,
    /// When all shares of all stages are done: make the target known, and remove the state.
    #[arg(long)]
    pub finish: bool,
    /// Wait for what other processes have not done yet, so long at most [1h].
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true,
        default_missing_value = "1h")]
    pub wait: Option<String>,
}
