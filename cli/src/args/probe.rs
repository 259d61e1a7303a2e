//! Options of `rechunk probe`.

use clap::Args;

use super::StoreArgs;

/// `rechunk probe`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk probe /data --out here.json                     # writes below /data, removes it again
  rechunk probe /data --read big.nc --seconds 60          # reads only
  rechunk plan sst.zarr/sst --chunks -1,30,30 --profile here.json")]
pub(crate) struct ProbeArgs {
    /// The place to measure: objects are written below it and removed.
    pub location: String,
    /// Write the profile to FILE; stores that a profile of that name has are kept.
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Write nothing: read this object of the location.
    #[arg(long, value_name = "KEY")]
    pub read: Option<String>,
    /// Most bytes written, and most bytes read.
    #[arg(long, value_name = "BYTES", default_value = "1GiB")]
    pub bytes: String,
    /// About how long it may take, store and codecs together.
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=86400))]
    pub seconds: u32,
    #[command(flatten)]
    pub stores: StoreArgs,
    /// Print one JSON object: the profile, and what was measured for it.
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
}
