//! Options of `rechunk apply`.

use clap::Args;

use super::{OutputArgs, PlanningArgs, RawArgs, RunningArgs, SavingArgs, StoreArgs};

/// `rechunk apply`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk apply volume.zarr smooth.zarr --op gaussian:sigma=2 --work 128,128,128 --crop auto
  rechunk apply volume.zarr mask.zarr --op threshold:min=100 --work 256,256,256
  rechunk apply volume.zarr masked.zarr --op identity --work 64,512,512 --box z=10:20 --dry-run
  rechunk apply image.zarr mask.zarr out.zarr --op mask --work 64,512,512   # two sources
  rechunk apply volume.zarr --op histogram:bins=64 --work 64,512,512 --json
  rechunk apply em.zarr den.zarr --op median:size=3 --crop auto \\
                --level '64,1024,1024;blend=0,16,16' --work 64,352,352       # two levels
  rechunk apply em.zarr den.zarr --exec 'denoise {in} {out}' --exec-format tiff \\
                --work 64,512,512 --crop 0,8,8
  rechunk apply em.zarr den.zarr --op median:size=3 --crop auto --work 64,512,512 \\
                --workers 40 --out plan.json                  # then: rechunk run plan.json

Operations: identity cast rescale clamp threshold equal replace invert lut remap-labels mask
where-missing mean gaussian median min max open close sobel gradient-magnitude laplacian dog,
and the statistics histogram min-max-mean unique-count checksum;
their settings are in docs/reference.md.")]
pub(crate) struct ApplyArgs {
    /// The arrays to read, of one shape, and the array to write, which is the last; a statistic has
    /// none.
    #[arg(required = true, num_args = 1.., value_names = ["SOURCE", "TARGET"])]
    pub locations: Vec<String>,
    #[command(flatten)]
    pub operation: OperationArgs,
    #[command(flatten)]
    pub boxes: BoxArgs,
    #[command(flatten)]
    pub target_options: ResultArgs,
    #[command(flatten)]
    pub planning: PlanningArgs,
    #[command(flatten)]
    pub running: RunningArgs,
    /// Write into the array that is at the target: beyond --box it stays as it is.
    #[arg(long, conflicts_with = "overwrite")]
    pub update: bool,
    /// Print the plan and stop; so does --out.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub saving: SavingArgs,
    #[command(flatten)]
    pub stores: StoreArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The operation.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Operation")]
pub(crate) struct OperationArgs {
    /// The operation, with its settings: `gaussian:sigma=2`, `clamp:min=0,max=255`.
    #[arg(long, value_name = "NAME[:K=V,…]")]
    pub op: Option<String>,
    /// An external program, started for each box: `'denoise {in} {out}'`. Placeholders: {in} {in1}
    /// {out} {meta} {dir} {index} {shape} {dtype}. No shell; exit 99 means nothing to write; --cast
    /// says the type that it writes [default: that of the source].
    #[arg(long, value_name = "COMMAND")]
    pub exec: Option<String>,
    /// Files that the program reads and writes.
    #[arg(long, value_name = "FORMAT", default_value = "npy", value_parser = ["npy", "tiff", "raw"])]
    pub exec_format: String,
    /// Shape of its output: the box as it was read, or without the crop.
    #[arg(long, value_name = "WHAT", default_value = "padded", value_parser = ["padded", "cropped"])]
    pub exec_returns: String,
    /// Most programs at once [default: as --threads].
    #[arg(long, value_name = "N")]
    pub exec_jobs: Option<u32>,
    /// Memory of one program, which counts against --max-mem [default: 0].
    #[arg(long, value_name = "BYTES")]
    pub exec_mem: Option<String>,
    /// Time that one run may take; then it is killed [default: no limit].
    #[arg(long, value_name = "TIME")]
    pub exec_timeout: Option<String>,
    /// Number of times that a run that fails is tried again.
    #[arg(long, value_name = "N", default_value = "0")]
    pub exec_retries: u32,
    /// The program stays: it reads a line of JSON for each box on stdin, and answers with one on
    /// stdout (`{"ok": true}`).
    #[arg(long)]
    pub exec_persistent: bool,
    /// Elements beyond the border of a source: `constant=V` (without V the fill value), `nearest`,
    /// `reflect`, `symmetric`, `wrap`, as in `numpy.pad`.
    #[arg(long, value_name = "RULE", default_value = "constant")]
    pub boundary: String,
    /// Chunks that are not stored: they read as the fill value, have no call made, or are an error.
    /// With skip-if-any and skip-if-all nothing is written where those a call needs are missing.
    #[arg(long, value_name = "RULE", default_value = "fill", value_parser = ["fill", "skip-if-any", "skip-if-all", "error"])]
    pub missing: String,
    /// Blended integers are rounded at each level, or once in the end.
    #[arg(long, value_name = "WHEN", default_value = "level", value_parser = ["level", "end"])]
    pub round: String,
    /// Average labels all the same, where overlaps are blended by weights.
    #[arg(long)]
    pub blend_labels: bool,
}

/// Boxes that the operation is applied to.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Boxes")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct BoxArgs {
    /// Work chunk of the bottom level, before pads, in the words of --chunks: what one call gives.
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub work: String,
    /// Elements around a work chunk that are read, and whose results are dropped [default: 0]. One
    /// number, one for each axis (`0,2,2`), `y=2,x=2`, or `auto`: as many as the operation needs.
    #[arg(long, value_name = "SPEC")]
    pub crop: Option<String>,
    /// Elements on each side by which work chunks overlap; results are blended there [default: 0].
    #[arg(long, value_name = "SPEC")]
    pub blend: Option<String>,
    /// Blend of overlaps.
    #[arg(long, value_name = "MODE", default_value = "quadratic")]
    pub blend_mode: String,
    /// A level of larger work chunks above: `SPEC[;crop=SPEC][;blend=SPEC][;mode=MODE]`; its source
    /// is read once. Repeat it, the outermost first.
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    pub level: Vec<String>,
    /// Region worked on, in the words of --select of `copy` [default: all]. The target has the
    /// shape of the source; beyond the region nothing is written.
    #[arg(long = "box", value_name = "SPEC", allow_hyphen_values = true)]
    pub region: Option<String>,
    /// Unit of --box: `voxel`, or one of length (`nm`, `um`, …): `--box z=1.2:4.8,x=0:10`. Sizes of
    /// voxels are those that the source says: OME-Zarr, N5, COSEM, NIfTI.
    #[arg(long, value_name = "UNIT", default_value = "voxel")]
    pub box_units: String,
    /// Growth of the region: to whole array chunks of the target, to whole work chunks, or both.
    #[arg(long, value_name = "TO", default_value = "none", value_parser = ["none", "voxel", "array-chunk", "work", "both"])]
    pub expand: String,
    /// Work chunks shrink to the region.
    #[arg(long)]
    pub shrink: bool,
    /// Work chunks above the bottom shrink so that those below divide them.
    #[arg(long)]
    pub auto_divide: bool,
    /// Elements between work chunks of the top level that are neither computed nor written.
    #[arg(long, value_name = "SPEC")]
    pub gap: Option<String>,
    /// Largest box that is combined at once [default: a work chunk of the top level].
    #[arg(long, value_name = "SPEC")]
    pub reduce_max: Option<String>,
    /// Refuse what would need an intermediate.
    #[arg(long)]
    pub direct: bool,
    /// Leave the blocks of the top level uncombined, in the array DIR: an axis `layer` in front,
    /// and the region grown by --blend. TARGET is not written.
    #[arg(long, value_name = "DIR", conflicts_with = "update")]
    pub defer: Option<String>,
    /// Write no results beyond --box that its growth brings.
    #[arg(long, overrides_with = "no_clip")]
    pub clip: bool,
    /// Write them too.
    #[arg(long)]
    pub no_clip: bool,
}

/// The target.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct ResultArgs {
    /// Chunk shape, as of `copy` [default: the source's].
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true, default_value = "keep")]
    pub chunks: String,
    /// Shard shape of a target in Zarr v3 or precomputed, as of `copy`.
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub shards: Option<String>,
    /// Format [default: by the target's ending, else zarr3].
    #[arg(long, value_name = "FORMAT", value_parser = super::FORMATS)]
    pub format: Option<String>,
    /// Codec, as of `copy` [default: the source's].
    #[arg(long, value_name = "SPEC")]
    pub codec: Option<String>,
    /// Type of the results [default: the one that the operation gives]. A float type is also what
    /// the source is read as; to others, results are rounded to the nearest and saturated.
    #[arg(long, value_name = "TYPE")]
    pub cast: Option<String>,
    /// Chunks that hold only the fill value: as of `copy`.
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub write_empty: String,
    /// Order of axes between N5 or NIfTI and other formats, as of `copy`.
    #[arg(long, value_name = "ORDER", value_parser = super::AXES)]
    pub axes: Option<String>,
    #[command(flatten)]
    pub raw: RawArgs,
}
