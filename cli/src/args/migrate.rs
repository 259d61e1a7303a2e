//! Options of `rechunk migrate`.

use clap::Args;

use super::StoreArgs;

/// `rechunk migrate`.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "\
Examples:
  rechunk migrate old.zarr --dry-run                # which documents would be written?
  rechunk migrate old.zarr                          # Zarr v3 over the chunks of Zarr v2
  rechunk migrate volume.n5                         # zarr.json beside each attributes.json
  rechunk migrate s3://lab/old.zarr --json
  rechunk migrate old.zarr --undo                   # takes the new documents away again
  rechunk migrate old.zarr --remove-old             # only Zarr v3 is left
  rechunk migrate old.zarr --to zarr2               # the way back after that

No chunk is read, written or moved. The old documents stay as they are, byte for byte, unless
--remove-old is given. The group is Zarr v3 to its readers when the document of its root is
written, last: after a kill the same command goes on, and --undo goes back.")]
pub(crate) struct MigrateArgs {
    /// The array, or the group with everything below it.
    pub path: String,
    /// Format whose documents are written.
    #[arg(long, value_name = "FORMAT", default_value = "zarr3", value_parser = ["zarr3", "zarr2"])]
    pub to: String,
    /// Format that it is in, where it has documents of several [default: the one that is there].
    #[arg(long, value_name = "FORMAT", value_parser = ["zarr3", "zarr2", "n5"])]
    pub source_format: Option<String>,
    /// Take the documents of --to away again, where they say what the old ones say.
    #[arg(long, conflicts_with = "remove_old")]
    pub undo: bool,
    /// Remove the old documents when all new ones are there; what they said is written anew by
    /// --to with their format.
    #[arg(long)]
    pub remove_old: bool,
    /// Say which documents would be written and removed, and stop.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub stores: StoreArgs,
    /// Print one JSON object, with the keys of all documents.
    #[arg(long)]
    pub json: bool,
    /// Say nothing but errors.
    #[arg(short, long)]
    pub quiet: bool,
}
