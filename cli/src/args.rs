//! Arguments that can be typed: flags with their help. Their meaning is given in `request.rs`.

mod apply;
mod demo;
mod migrate;
mod probe;
mod pyramid;
mod run;
mod saving;
mod selection;
mod serve;
mod status;
mod synthetic;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use apply::{ApplyArgs, BoxArgs, OperationArgs};
pub(crate) use demo::DemoArgs;
pub(crate) use migrate::MigrateArgs;
pub(crate) use probe::ProbeArgs;
pub(crate) use pyramid::{LevelArgs, PyramidArgs};
pub(crate) use run::RunArgs;
pub(crate) use saving::SavingArgs;
pub(crate) use selection::SelectionArgs;
pub(crate) use serve::{DatastoreArgs, ImportArgs, ServeArgs, ServeCommand, TlsArgs, TokenCommand};
pub(crate) use status::{StatusArgs, WatchArgs};
pub(crate) use synthetic::SyntheticArgs;

const AFTER: &str = "\
Locations are paths or URLs (file:// s3:// gs:// az:// http(s):// memory://, datastore+http:// for
data sets); what is inside a container follows it: data.zarr/air, data.zip/air, image.ozx/0,
references of kerchunk (refs.json/air, refs.parq), Icechunk (a.icechunk/air, a#branch=main/air)

Examples:
  rechunk copy sst.zarr/sst by-pixel.zarr --chunks time=-1,lat=30,lon=30 --max-mem 1GiB
  rechunk plan sst.zarr/sst --chunks -1,30,30 --svg plan.svg
  rechunk plan --shape 6443,17999,36000 --dtype int16 --source-chunks 5,1799,3600 \\
               --chunks 6443,100,100 --max-mem 2GB --source-profile s3 --target-profile s3
  rechunk copy group.zarr new.zarr --chunks time=-1,lat=30,lon=30
  rechunk verify sst.zarr/sst by-pixel.zarr

Exit codes: 0 done, 1 failed while running (resumable), 2 usage, 3 source missing, damaged or
unsupported, 4 target exists or conflicts, 5 does not fit the memory budget, 6 differences found,
7 not yet (other processes), 130 interrupted (resumable).";

/// Re-cut large chunked arrays: planned, within memory, verified.
#[derive(Debug, Parser)]
#[command(name = "rechunk", version, after_help = AFTER, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// Write log messages to FILE, behind what is in it [default: stderr, warnings only]; RUST_LOG
    /// says which.
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "RECHUNK_LOG_FILE",
        help_heading = "Output"
    )]
    pub log_file: Option<std::path::PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Re-cut an array, or all arrays of a group, into other chunks, another format or another
    /// codec.
    Copy(CopyArgs),
    /// Apply an operation to an array, box by box, within memory.
    Apply(Box<ApplyArgs>),
    /// Make an image in several resolutions of an array, or add levels to an image.
    Pyramid(Box<PyramidArgs>),
    /// Write documents of another format over the chunks that an array or a group has; no chunk
    /// moves.
    Migrate(MigrateArgs),
    /// Say what `copy` would do and cost; write nothing.
    Plan(PlanArgs),
    /// Run a plan saved by `plan --out`.
    Run(RunArgs),
    /// Show an array (shape, type, chunks, codecs, attributes, sizes, missing chunks), or what is
    /// in a group.
    Info(InfoArgs),
    /// Compare two arrays element by element, or two groups with all files in them; exit 6 if they
    /// differ.
    Verify(VerifyArgs),
    /// Say what became of a run: is it going on, was it interrupted, how far had it come?
    Status(WatchArgs),
    /// Remove what an interrupted run has left: its state, its intermediate, chunks of a target
    /// that is not complete.
    #[command(after_help = "\
Examples:
  rechunk clean by-pixel.zarr          # give an interrupted run up; --resume would go on with it
  rechunk clean s3://lab/by-pixel.zarr --json")]
    Clean(StatusArgs),
    /// Measure a store and this machine's codecs; write a profile for `--profile`.
    Probe(ProbeArgs),
    /// Serve stores over HTTP, to viewers and programs that read URLs; or data sets with versions.
    Serve(ServeArgs),
    /// Re-cut a small real satellite series that ships with the program.
    Demo(DemoArgs),
    /// Print the completion script of a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page; or write it and those of all commands into a directory.
    Man {
        /// An existing directory, for `rechunk.1`, `rechunk-copy.1` and so on.
        directory: Option<std::path::PathBuf>,
    },
}

impl Command {
    /// True if it is to print a JSON object.
    pub(crate) fn wants_json(&self) -> bool {
        match self {
            Self::Copy(args) => args.output.json,
            Self::Apply(args) => args.output.json,
            Self::Pyramid(args) => args.output.json,
            Self::Plan(args) => args.output.json,
            Self::Run(args) => args.output.json,
            Self::Info(args) => args.json,
            Self::Verify(args) => args.output.json,
            Self::Status(args) => args.of.json,
            Self::Clean(args) => args.json,
            Self::Migrate(args) => args.json,
            Self::Probe(args) => args.json,
            Self::Demo(args) => args.output.json,
            Self::Serve(_) | Self::Completions { .. } | Self::Man { .. } => false,
        }
    }
}

/// Options in a file.
#[derive(Debug, Clone, Args)]
pub(crate) struct JobArgs {
    /// Read options from a TOML, YAML or JSON file, by the names they have here, and `source` and
    /// `target`; what is said here counts before the file, the file before RECHUNK_* variables.
    /// Locations in it are relative to it.
    #[arg(long, value_name = "FILE")]
    pub job: Option<String>,
}

/// How much is said, and where.
#[derive(Debug, Clone, Args)]
pub(crate) struct OutputArgs {
    /// Print one JSON object on stdout and nothing else there.
    #[arg(long)]
    pub json: bool,
    /// Progress on stderr: a bar on a terminal, plain lines, JSON lines, or none.
    #[arg(long, value_enum, default_value_t = Progress::Auto, env = "RECHUNK_PROGRESS")]
    pub progress: Progress,
    /// Say nothing but errors.
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: the candidates of the plan; twice: debug messages.
    #[arg(short, long, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Progress {
    /// A bar if stderr is a terminal, else none.
    Auto,
    /// A bar.
    Bar,
    /// A line now and then.
    Plain,
    /// JSON lines.
    Json,
    /// Nothing.
    None,
}

/// What decides the plan.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Planning")]
pub(crate) struct PlanningArgs {
    /// Hard budget of the working memory of the process, all threads together: `512MiB`, `2GB`
    /// [default: half of what the machine or cgroup has free].
    #[arg(long, value_name = "BYTES", env = "RECHUNK_MAX_MEM")]
    pub max_mem: Option<String>,
    /// Force a plan kind; an error names the memory it needs if it cannot fit.
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = STRATEGIES)]
    pub strategy: String,
    /// Grid of an intermediate: exact pieces, or the regular min(read, write).
    #[arg(long, value_name = "GRID", default_value = "exact", value_parser = ["exact", "min"])]
    pub intermediate: String,
    /// CPU workers [default: the cores of the machine].
    #[arg(long, value_name = "N", env = "RECHUNK_THREADS", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    /// Requests in flight [default: what the store takes].
    #[arg(long, value_name = "N", env = "RECHUNK_CONCURRENCY", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub concurrency: Option<u32>,
    /// Bound one task's box alone, as rechunker's max_mem does (for comparisons; plan only).
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    pub box_bytes: Option<String>,
    /// What your stores cost and how fast this machine's codecs are: a file as `rechunk probe`
    /// writes it [default: built-in profiles].
    #[arg(long, value_name = "FILE", env = "RECHUNK_PROFILE")]
    pub profile: Option<String>,
    /// Profile of the source: local, hdd, s3, gs, az, http, datastore, memory, or one of --profile.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub source_profile: Option<String>,
    /// Store profile of the intermediate.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub temp_profile: Option<String>,
    /// Store profile of the target.
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub target_profile: Option<String>,
}

const STRATEGIES: [&str; 8] =
    ["auto", "passthrough", "direct", "keep", "pull", "push-pull", "multistage", "memory"];
const FORMATS: [&str; 7] = ["zarr3", "zarr2", "n5", "precomputed", "raw", "npy", "nii"];
const AXES: [&str; 2] = ["reverse", "keep"];

/// What the target shall be.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Target")]
pub(crate) struct TargetArgs {
    /// Chunk shape: `1460,30,30`, or by dimension name `time=-1,lat=30`; -1 is the whole axis,
    /// `keep` as the source, `auto` near --chunk-bytes, `30D` as many elements as the coordinate
    /// has in 30 days (Y, M, W, D, h, min, s); in Zarr v3 also months of the calendar, `31+28+30x2`
    /// a length for each chunk. `10!` is kept where the axis is shorter.
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true, default_value = "keep")]
    pub chunks: String,
    /// Shard shape of a target in Zarr v3 or precomputed, in the same words: chunks are put into
    /// objects of that shape; `none` for an object per chunk, `auto` near 512 MiB [default: the
    /// source's shards, where the chunks divide them].
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub shards: Option<String>,
    /// Keep every number in --chunks and --shards where the axis is shorter (`10!` keeps one): for
    /// an array that will grow.
    #[arg(long)]
    pub keep_extent: bool,
    /// What `auto` chunks aim at.
    #[arg(long, value_name = "BYTES", default_value = "16MiB")]
    pub chunk_bytes: String,
    /// Format [default: by the target's ending, else zarr3].
    #[arg(long, value_name = "FORMAT", value_parser = FORMATS)]
    pub format: Option<String>,
    /// Codec: `zstd:3`, `gzip:5`, `blosc:lz4:5:shuffle`, `none`, or the format's own JSON
    /// [default: the source's].
    #[arg(long, value_name = "SPEC")]
    pub codec: Option<String>,
    /// Only a region of the source: `time=0:1000,lat=10:20` by dimension name, or `0:1000,:,5` for
    /// every axis; START:STOP as Python has it, negative ones from the end, no steps.
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub select: Option<String>,
    /// Cast the elements to another type: `float32`, `uint8`, `>i2`. What does not fit is an error
    /// and nothing is published; to round to the nearest is what a cast to a float means.
    #[arg(long, value_name = "TYPE")]
    pub cast: Option<String>,
    /// What stands between the numbers in the names of chunks of a Zarr target [default: the
    /// source's in the same version, else `.` in v2, `/` in v3].
    #[arg(long, value_name = "SIGN", value_parser = [".", "/"], hide_short_help = true)]
    pub separator: Option<String>,
    /// Put the source behind the end of the target, an array or all arrays of a group, along a
    /// dimension (`time`) or an axis (`0`); the target keeps its chunks, codecs and attributes, and
    /// is seen at its new length when all is written.
    #[arg(long, value_name = "DIMENSION", conflicts_with = "region")]
    pub append: Option<String>,
    /// Put the source into a region of the target, which has its shape: `time=100:200`, in the
    /// words of --select.
    #[arg(long, value_name = "SPEC", allow_hyphen_values = true)]
    pub region: Option<String>,
    /// With --append and --region, do not compare these arrays with those of the target (a path, or
    /// a pattern as in --include): other values, units or order are right there.
    #[arg(long, value_name = "GLOB")]
    pub trust: Vec<String>,
    /// What becomes of axes between N5 or NIfTI, which count them fastest first, and other formats:
    /// their order is reversed and no element moves, or kept [default: what the source notes, else
    /// reverse].
    #[arg(long, value_name = "ORDER", value_parser = AXES)]
    pub axes: Option<String>,
    /// Version that a new N5 container says [default: 2.5.1, which old readers take too].
    #[arg(long, value_name = "VERSION", hide_short_help = true)]
    pub n5_version: Option<String>,
    /// Chunks that hold only the fill value: not written unless the format tells absent from
    /// zero (auto), written (always), not written (never).
    #[arg(long, value_name = "WHEN", default_value = "auto", value_parser = ["auto", "always", "never"])]
    pub write_empty: String,
    /// How much of the source may be missing: a part of its chunks (`5%`) or a number of them; 0
    /// refuses any missing chunk. Of a group: of each array [default: any part, read as the fill
    /// value].
    #[arg(long, value_name = "N%")]
    pub max_missing: Option<String>,
    #[command(flatten)]
    pub raw: RawArgs,
}

/// What is in a file that has no header.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Files without a header")]
pub(crate) struct RawArgs {
    /// Read the source by the documents of this format, where it has those of several [default: of
    /// the group it is in, else the newest]; `raw` goes with --shape, for files that are read in
    /// runs of bytes.
    #[arg(long, value_name = "FORMAT", value_parser = ["zarr3", "zarr2", "n5", "precomputed", "raw"])]
    pub source_format: Option<String>,
    /// The source is a file of elements alone: extent of each axis, slowest first.
    #[arg(long = "raw-shape", id = "raw-shape", value_name = "SHAPE", requires = "raw-dtype")]
    pub shape: Option<String>,
    /// Its data type: `uint16`, `float32`.
    #[arg(long = "raw-dtype", id = "raw-dtype", value_name = "TYPE", requires = "raw-shape")]
    pub dtype: Option<String>,
    /// The last axis is the fastest (C), or the first (F).
    #[arg(long = "raw-order", id = "raw-order", value_name = "ORDER", default_value = "C", value_parser = ["C", "F"], hide_short_help = true)]
    pub order: String,
    /// Its byte order.
    #[arg(long = "raw-endian", id = "raw-endian", value_name = "ORDER", default_value = "little", value_parser = ["little", "big"], hide_short_help = true)]
    pub endian: String,
    /// Bytes before its first element.
    #[arg(
        long = "raw-offset",
        id = "raw-offset",
        value_name = "BYTES",
        default_value = "0",
        hide_short_help = true
    )]
    pub offset: String,
}

/// How a run treats what it finds and leaves.
#[derive(Debug, Clone, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(next_help_heading = "Running")]
pub(crate) struct RunningArgs {
    /// Where an intermediate may go: a directory, or `memory:` (counts against the budget)
    /// [default: beside the target].
    #[arg(long, value_name = "LOCATION", env = "RECHUNK_TEMP")]
    pub temp: Option<String>,
    /// Leave the intermediate and the journal when done.
    #[arg(long)]
    pub keep_temp: bool,
    /// Replace a target that exists; the old one stays until the new one is complete (on a disk;
    /// an object store cannot rename, there it goes first).
    #[arg(long, conflicts_with = "resume")]
    pub overwrite: bool,
    /// Go on where an interrupted run stopped, or start if there is none (with --append and
    /// --region: refuse then, so that nothing is appended twice).
    #[arg(long)]
    pub resume: bool,
    /// Read the target back and compare it with the source before it is made visible.
    #[arg(long)]
    pub verify: bool,
    /// Do not wait for the disk (a power cut, also soon after the run, may then cost all of it).
    #[arg(long)]
    pub no_fsync: bool,
}

/// How remote stores are reached.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Stores")]
pub(crate) struct StoreArgs {
    /// An option of remote stores, e.g. `endpoint=http://localhost:9000`, `region=eu-west-1`,
    /// `skip_signature=true` (public data); for some of them only: `s3://bucket,endpoint=…`.
    #[arg(long, value_name = "[LOCATION,]K=V")]
    pub store_option: Vec<String>,
    /// How often a request that fails for a moment is tried again [default: 10].
    #[arg(long, value_name = "N", env = "RECHUNK_MAX_RETRIES")]
    pub max_retries: Option<u32>,
    /// How long a store may fail to answer before the run gives up, e.g. `30`, `90s`, `5m`
    /// [default: 3m].
    #[arg(long, value_name = "SECONDS", env = "RECHUNK_TIMEOUT")]
    pub timeout: Option<String>,
    /// Most bytes a second that are read and written, all stores together, e.g. `20MB`
    /// [default: no limit].
    #[arg(long, value_name = "BYTES", env = "RECHUNK_BWLIMIT")]
    pub bwlimit: Option<String>,
}

/// `rechunk copy`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk copy sst.zarr/sst by-pixel.zarr --chunks time=-1,lat=30,lon=30 --max-mem 1GiB
  rechunk copy old.zarr new.zarr --format zarr3 --codec zstd:5          # convert, same chunks
  rechunk copy sst.zarr by-pixel.zarr --chunks -1,30,30 --resume        # after an interruption
  rechunk copy sst.zarr by-pixel.zarr --chunks -1,30,30 --dry-run       # what would it cost?
  rechunk copy sst.zarr by-pixel.zarr --chunks -1,30,30 --html run.html # a page of plan and run
  rechunk copy group.zarr new.zarr --chunks time=-1,lat=30,lon=30       # a whole group
  rechunk copy volume.n5/s0 volume.zarr/s0 --chunks 64,64,64            # N5 to Zarr
  rechunk copy blocks whole.npy --max-mem 2GiB                          # merge raw files
  rechunk copy scan.nii.gz scan.zarr --chunks 64,64,64                  # NIfTI
  rechunk copy era5.json era5.zarr --format zarr2 --chunks time=-1      # NetCDF, by references of kerchunk
  rechunk copy s3://lab/sst.zarr/sst s3://lab/by-pixel.zarr --chunks -1,30,30
  rechunk copy s3://public/sst.zarr sst.zarr --store-option skip_signature=true --chunks keep
  rechunk copy group.zarr new.zarr --chunks time=-1 --select time=-365:,lat=100:200
  rechunk copy group.zarr new.zarr --chunks time=30D,lat=45,lon=90      # as long as a time
  rechunk copy --job monthly.toml --resume                              # options in a file
  rechunk copy group.zarr small.zarr --cast float32 --var 'mask: cast uint8'
  rechunk copy group.zarr new.zarr --exclude 'raw/**' --var 'air/*: chunks -1,30,30; codec zstd:5'
  rechunk copy 2026-11-22.zarr archive.zarr --append time               # one more day
  rechunk copy corrected.zarr archive.zarr --region time=100:107        # a week again")]
pub(crate) struct CopyArgs {
    /// The array to read, or the group: with all arrays and groups below it.
    pub source: String,
    /// The array or group to write.
    pub target: String,
    #[command(flatten)]
    pub job: JobArgs,
    #[command(flatten)]
    pub target_options: TargetArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub planning: PlanningArgs,
    #[command(flatten)]
    pub running: RunningArgs,
    /// Print the plan and stop.
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub stores: StoreArgs,
    /// Draw the plan into FILE.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// Write the plan, and after the run what it did, into FILE: one page to be read in a browser.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `rechunk plan`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk plan sst.zarr/sst by-pixel.zarr --chunks -1,30,30 --max-mem 512MiB --out plan.json
  rechunk plan sst.zarr/sst --chunks -1,30,30 --html plan.html      # would more memory help?
  rechunk plan sst.zarr/sst s3://b/by-pixel.zarr --chunks -1,30,30 --workers 40 --out plan.json
  rechunk plan --job monthly.toml                                   # what `copy` would do
  rechunk plan --shape 6443,17999,36000 --dtype int16 --source-chunks 5,1799,3600 \\
               --chunks 6443,100,100 --max-mem 2GB --workers 20 \\
               --source-profile s3 --temp-profile s3 --target-profile s3")]
pub(crate) struct PlanArgs {
    /// The array or group to read; leave it out to plan with --shape.
    pub source: Option<String>,
    /// The array or group that would be written.
    pub target: Option<String>,
    #[command(flatten)]
    pub job: JobArgs,
    #[command(flatten)]
    pub target_options: TargetArgs,
    #[command(flatten)]
    pub selection: SelectionArgs,
    #[command(flatten)]
    pub planning: PlanningArgs,
    #[command(flatten)]
    pub synthetic: SyntheticArgs,
    #[command(flatten)]
    pub stores: StoreArgs,
    /// Where an intermediate may go.
    #[arg(long, value_name = "LOCATION", env = "RECHUNK_TEMP")]
    pub temp: Option<String>,
    #[command(flatten)]
    pub saving: SavingArgs,
    /// Draw the plan into FILE.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<String>,
    /// Write the plan into FILE: one page to be read in a browser.
    #[arg(long, value_name = "FILE")]
    pub html: Option<String>,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// `rechunk info`.
#[derive(Debug, Clone, Args)]
pub(crate) struct InfoArgs {
    /// The array or group.
    pub path: String,
    /// What it takes to read it so: `time` (all times at one place), `map` (the two fastest axes at
    /// one time) or the name of a dimension; several with commas between them.
    #[arg(long, value_name = "HOW")]
    pub access: Option<String>,
    /// What becomes of the axes of N5 or NIfTI, as for `copy`.
    #[arg(long, value_name = "ORDER", value_parser = AXES)]
    pub axes: Option<String>,
    #[command(flatten)]
    pub raw: RawArgs,
    #[command(flatten)]
    pub stores: StoreArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `rechunk verify`.
#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyArgs {
    /// One array, or group.
    pub a: String,
    /// The other.
    pub b: String,
    /// What becomes of the axes of N5 or NIfTI, as for `copy`.
    #[arg(long, value_name = "ORDER", value_parser = AXES)]
    pub axes: Option<String>,
    #[command(flatten)]
    pub raw: RawArgs,
    /// Hard budget of the working memory.
    #[arg(long, value_name = "BYTES", env = "RECHUNK_MAX_MEM")]
    pub max_mem: Option<String>,
    /// CPU workers.
    #[arg(long, value_name = "N", env = "RECHUNK_THREADS", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Option<u32>,
    #[command(flatten)]
    pub stores: StoreArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}
