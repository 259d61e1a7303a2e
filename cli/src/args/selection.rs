//! Options of groups: which of their arrays, and what they say.

use clap::Args;

/// Which arrays of a group, and what differs for some.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Groups")]
pub(crate) struct SelectionArgs {
    /// Only these arrays, and other files, of the group: a path, or a pattern; `*` stays within a
    /// name, `**` goes across groups; the path of a group is all below it.
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Not these arrays, and other files, of the group.
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
    /// Rules for some arrays: `GLOB: chunks SPEC; codec SPEC; shards SPEC; write-empty WHEN;
    /// cast TYPE`; of several that set the same, the last counts.
    #[arg(long, value_name = "RULE")]
    pub var: Vec<String>,
    /// Coordinates (one axis, named as the array) that no rule is about: one chunk each, as they
    /// are, or as the other arrays [default: single, where --chunks asks for other chunks].
    #[arg(long, value_name = "WHAT", value_parser = ["single", "keep", "follow"])]
    pub coords: Option<String>,
    /// Leave out the files of a group that are neither metadata nor chunks (Parquet tables, XML);
    /// they are copied as they are otherwise. Files inside the directory of an array never are.
    #[arg(long)]
    pub no_others: bool,
    /// Version of OME-Zarr that groups say: images, plates, wells, labels [default: the source's,
    /// of another version of Zarr ome-zarr-0.4 in zarr2 and ome-zarr-0.5 in zarr3].
    #[arg(long = "as", value_name = "VERSION", value_parser = ["ome-zarr-0.4", "ome-zarr-0.5", "ome-zarr-0.6"])]
    pub dialect: Option<String>,
}
