//! Options of `rechunk demo`.

use clap::Args;

use super::OutputArgs;

/// `rechunk demo`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Directory to work in; it must not exist or be empty.
    #[arg(default_value = "rechunk-demo")]
    pub directory: String,
    #[command(flatten)]
    pub output: OutputArgs,
}
