//! Options of `rechunk status` and `rechunk clean`.

use clap::Args;

use super::StoreArgs;

/// `rechunk status`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk status by-pixel.zarr
  rechunk status s3://lab/by-pixel.zarr --json
  rechunk status s3://lab/by-pixel.zarr --watch=30s    # until nothing is under way any more
  rechunk status by-pixel.zarr --watch --html now.html # a page that a browser loads again")]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub of: StatusArgs,
    /// Look again and again, every so often [2s], and show what has changed, until the target is
    /// complete or given up. With --json an object for each change.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true,
        default_missing_value = "2s")]
    pub watch: Option<String>,
    /// Also write a page of the stages, parts and arrays here, with --watch each time.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
}

/// `rechunk clean`, and what is looked at by `rechunk status`.
#[derive(Debug, Clone, Args)]
pub(crate) struct StatusArgs {
    /// The target of the run.
    pub target: String,
    #[command(flatten)]
    pub stores: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}
