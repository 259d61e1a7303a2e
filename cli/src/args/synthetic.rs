//! Options of `rechunk plan` for shapes alone, and of what it compares with.

use clap::Args;

const BASELINES: [&str; 7] =
    ["ppc", "naive", "read-modify-write", "clustered", "multiple", "keep-draft", "keep-paper"];

/// Planning without data.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Planning without data")]
pub(crate) struct SyntheticArgs {
    /// Shape of the array.
    #[arg(long, value_name = "SHAPE", conflicts_with = "source")]
    pub shape: Option<String>,
    /// Data type.
    #[arg(long, value_name = "TYPE", requires = "shape")]
    pub dtype: Option<String>,
    /// Chunk shape of the source.
    #[arg(long, value_name = "SHAPE", requires = "shape")]
    pub source_chunks: Option<String>,
    /// Plan as others do, to compare: rechunker's push-pull-consolidated (`ppc`), a task per target
    /// chunk (`naive`), or a write per source chunk, which changes what is there
    /// (`read-modify-write`); between raw files also `clustered`, `multiple`, `keep-draft` and
    /// `keep-paper`.
    #[arg(long, value_name = "NAME", value_parser = BASELINES)]
    pub baseline: Option<String>,
    /// With `--baseline ppc`: a task reads one source chunk.
    #[arg(long, requires = "baseline")]
    pub no_consolidate_reads: bool,
    /// With `--baseline ppc`: a task writes one target chunk.
    #[arg(long, requires = "baseline")]
    pub no_consolidate_writes: bool,
}
