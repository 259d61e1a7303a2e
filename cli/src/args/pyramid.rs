//! Options of `rechunk pyramid`.

use clap::{ArgGroup, Args};

use super::{OutputArgs, PlanningArgs, RawArgs, RunningArgs, StoreArgs};

/// `rechunk pyramid`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk pyramid em.zarr/s0 em.ome.zarr --levels 4                 # halved while voxels allow
  rechunk pyramid em.npy em.ome.zarr --factors '1,2,2;1,4,4;2,8,8' --chunks 64,256,256
  rechunk pyramid image.ome.zarr image.ome.zarr --until 256         # adds levels to an image
  rechunk pyramid cells.zarr cells.ome.zarr --levels 3 --labels     # the most frequent label
  rechunk pyramid scan.zarr scan.n5 --factors '2,2,2;4,4,4' --as bdv-n5   # and scan.xml
  rechunk pyramid em.zarr/s0 s3://lab/em.ome.zarr --until 512 --shards 256,2048,2048 --dry-run

Factors are against level 0, one list for each level, slowest axis first; level 0 is always there.
An integer mean is rounded once, from level 0, whatever the plan. The settings of methods, sizes and
metadata are in docs/reference.md.")]
pub(crate) struct PyramidArgs {
    /// The array that is level 0, or an image (OME-Zarr, N5, GeoZarr), whose level 0 is taken.
    pub source: String,
    /// The image to write; the image of the source, to add levels to it.
    pub target: String,
    #[command(flatten)]
    pub levels: LevelArgs,
    #[command(flatten)]
    pub target_options: ImageArgs,
    #[command(flatten)]
    pub planning: PlanningArgs,
    #[command(flatten)]
    pub running: RunningArgs,
    /// Print the plan and stop.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub stores: StoreArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The levels.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Levels")]
#[command(group = ArgGroup::new("wanted").required(true).args(["factors", "levels", "until"]))]
pub(crate) struct LevelArgs {
    /// Factors of each level against level 0: `1,2,2;1,4,4`, or by name `y=2,x=2;y=4,x=4`. Any
    /// whole numbers; from level to level they grow.
    #[arg(long, value_name = "LIST")]
    pub factors: Option<String>,
    /// Number of levels below level 0, each half as large along the axes of space. An axis whose
    /// voxels are twice as large as others' waits.
    #[arg(long, value_name = "N")]
    pub levels: Option<u32>,
    /// As many levels as it takes until no axis of space has more than N elements.
    #[arg(long, value_name = "N")]
    pub until: Option<u64>,
    /// Rule by which elements become fewer [default: mean; of labels mode].
    #[arg(long, value_name = "METHOD", value_parser = ["mean", "mode", "median", "min", "max", "stride", "gaussian"])]
    pub method: Option<String>,
    /// Elements are labels. Images that say so (`image-label`) and the types bool and uint64 are
    /// taken for labels without it.
    #[arg(long)]
    pub labels: bool,
    /// Cells of a level where factors do not divide the source: whole ones only, or also those that
    /// its end cuts.
    #[arg(long, value_name = "RULE", default_value = "floor", value_parser = ["floor", "ceil"])]
    pub size: String,
    /// Compute each level from level 0, or from the level before as it was rounded.
    #[arg(long, value_name = "LEVEL", default_value = "s0", value_parser = ["s0", "previous"])]
    pub from: String,
    /// Rounding of means to integers: halves away from zero or to the even one, or cut off.
    #[arg(long, value_name = "RULE", default_value = "half-away", value_parser = ["half-away", "half-even", "down"])]
    pub round: String,
    /// Chunks that are not stored: their elements count as the fill value, or do not count. A chunk
    /// for which nothing is stored is not written either way.
    #[arg(long, value_name = "RULE", default_value = "fill", value_parser = ["fill", "skip"])]
    pub missing: String,
    /// Metadata that is written [default: ome-zarr-0.5; in Zarr v2 ome-zarr-0.4, in N5 bdv-n5; of
    /// an image that gets levels, its own].
    #[arg(long = "as", value_name = "DIALECT", value_parser = ["ome-zarr-0.4", "ome-zarr-0.5", "ome-zarr-0.6", "bdv-n5", "n5-viewer", "geozarr", "plain", "precomputed"])]
    pub dialect: Option<String>,
}

/// The target.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct ImageArgs {
    /// Chunk shape of every level, as of `copy` [default: the source's].
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true, default_value = "keep")]
    pub chunks: String,
    /// Shard shape of every level in Zarr v3 or precomputed, as of `copy`.
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub shards: Option<String>,
    /// Bytes that `auto` chunks aim at.
    #[arg(long, value_name = "BYTES", default_value = "16MiB")]
    pub chunk_bytes: String,
    /// Format [default: that of --as, else by the target's ending, else zarr3].
    #[arg(long, value_name = "FORMAT", value_parser = ["zarr3", "zarr2", "n5", "precomputed"])]
    pub format: Option<String>,
    /// Codec, as of `copy` [default: the source's].
    #[arg(long, value_name = "SPEC")]
    pub codec: Option<String>,
    /// Only a region of the source, as of `copy`; its place is said in the metadata.
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub select: Option<String>,
    /// Type to read elements as, as of `copy`.
    #[arg(long, value_name = "TYPE")]
    pub cast: Option<String>,
    /// Sign between the numbers in the names of chunks of a Zarr target [default: `/`].
    #[arg(long, value_name = "SIGN", value_parser = [".", "/"], hide_short_help = true)]
    pub separator: Option<String>,
    /// Order of axes between N5 or NIfTI and other formats, as of `copy`.
    #[arg(long, value_name = "ORDER", value_parser = super::AXES)]
    pub axes: Option<String>,
    /// Version that a new N5 container says, as of `copy`.
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    pub n5_version: Option<String>,
    /// Chunks that hold only the fill value: as of `copy`.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub write_empty: String,
    #[command(flatten)]
    pub raw: RawArgs,
}
