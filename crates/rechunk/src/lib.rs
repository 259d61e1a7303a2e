//! Re-cuts large chunked arrays (Zarr, N5, NumPy, NIfTI, references to NetCDF, Icechunk) within a
//! memory budget, and reads and writes regions of them.
//!
//! A copy is planned before the first byte moves: the plan says how many requests, bytes and how
//! much memory it takes. The run counts them, can be stopped at any time, and goes on where it was.
//! Locations are paths or URLs (`s3://`, `gs://`, `az://`, `https://`). The command line is a thin
//! face over this crate.
//!
//! # Copy, verify, read a region
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let at = |name: &str| folder.path().join(name).display().to_string();
//! # let (source, target) = (at("source.zarr"), at("target.zarr"));
//! # std::fs::create_dir(&source)?;
//! # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
//! #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
//! #     "fill_value": 0, "order": "C"}"#)?;
//! use std::sync::Arc;
//! use rechunk::{
//!     CancellationToken, CopyRequest, Existing, Job, NullObserver, OpenOptions, Planning, Running,
//!     Stores, open_array, verify,
//! };
//!
//! let (stores, options) = (Stores::default(), OpenOptions::default());
//! let mut request = CopyRequest::new(&source, &target);
//! request.chunks = "-1,2".parse()?; // all of the first axis, two of the second
//! let job = Job::prepare(request, &stores).await?; // nothing is written yet
//! let (observer, cancel) = (Arc::new(NullObserver), CancellationToken::new());
//! let mut running = Running::new(Existing::Refuse);
//! running.verify = true;
//! job.run(running, observer.clone(), cancel.clone()).await?;
//! let planning = Planning::default();
//! assert!(verify(&source, &target, &options, &planning, observer, cancel, &stores).await?.equal);
//! let array = open_array(&target, &options, &stores).await?;
//! let series: Vec<f32> = array.read_region_as([0..4, 2..3]).await?;
//! # assert_eq!(series, [0.0; 4]);
//! # Ok(())
//! # }
//! ```
//!
//! # What there is
//!
//! | to | call |
//! |---|---|
//! | copy an array or a group | [`prepare`], then [`Prepared::run`] |
//! | copy an array in ranges of its tasks | [`Job::begin`], then [`Begun::work`] |
//! | see a plan, and what other budgets would do | [`Job::plan_report`], [`what_if::WhatIf::new`] |
//! | compare two arrays or groups | [`verify`], [`verify_any`] |
//! | describe an array or a group | [`info`] |
//! | read elements | [`open_array`], then [`OpenArray::read_region`] |
//! | write elements | [`open_array`], then [`OpenArray::write_region`] |
//! | look at a copy, or remove what it left | [`status`], [`clean`] |
//! | write documents of another format over the same chunks | [`migrate`] |
//! | measure a store and this machine | [`probe`] |
//!
//! Everything waits asynchronously and needs a runtime of tokio with its I/O and time: [`Runtime`]
//! is the one that the command line has, [`allocator`] its settings of memory. Errors are an
//! [`Error`] with a [`Class`], a chain of causes and a hint.
//!
//! # Describe an array
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let at = |name: &str| folder.path().join(name).display().to_string();
//! # let (source, target) = (at("source.zarr"), at("target.zarr"));
//! # std::fs::create_dir(&source)?;
//! # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
//! #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
//! #     "fill_value": 0, "order": "C"}"#)?;
//! use rechunk::{Info, OpenOptions, Stores, info};
//!
//! let found = info(&source, &OpenOptions::default(), &[], &Stores::default()).await?;
//! let Info::Array(array) = found else { panic!("it is a group") };
//! assert_eq!(array.chunk_shape, [1, 6]);
//! # Ok(())
//! # }
//! ```
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files and look at them"))]

mod access;
mod advice;
pub mod allocator;
mod apply;
mod apply_error;
mod archive;
mod archive_packing;
mod archive_target;
mod around;
mod arrays_below;
mod attributes;
mod axes;
mod blame;
mod calendar;
mod carried;
mod cast;
mod check;
mod chunk_keys;
mod chunk_objects;
mod chunk_sizes;
mod class;
mod clean;
mod complete;
mod consolidated;
mod count_tasks;
mod dataset_creation;
mod described_members;
mod dimension_names;
mod element;
mod elements;
mod error;
mod finish;
mod fixed_source;
mod formats;
mod free_room;
mod group;
mod growth;
mod gzip_file;
mod image_above;
mod image_info;
mod info;
mod intermediate;
mod into_version;
mod is_copy;
mod is_made;
mod job;
mod lack;
mod large_document;
mod may_start;
mod member_location;
mod migrate;
mod missing;
mod missing_report;
mod no_array;
mod not_ours;
mod open;
mod others;
mod part_hold;
mod parts;
mod place;
mod placement;
mod plan_request;
pub mod planner;
mod prepare;
mod prepared;
mod probe;
mod profile;
mod pyramid;
mod readers;
mod real_path;
mod recount;
mod regions;
mod remedy;
mod repeats;
mod report;
mod request;
mod resumption;
mod run;
mod runtime;
mod sample;
mod saved_group;
mod saved_job;
mod saved_plan;
mod saving;
mod secrets;
mod selected;
mod settled;
mod shard_spec;
mod some_names;
mod source_check;
mod specified;
mod specify;
mod squeezed;
mod state_place;
mod status;
pub mod system;
mod target;
mod tasks_left;
mod tree;
mod undertaking;
mod variable;
mod verify;
mod voxel_grid;
mod wait;
mod walk;
pub mod what_if;
mod words;
mod work_dir;
mod writer_lock;

pub use access::{Access, AccessCost, BetterChunks};
pub use advice::MoreMemory;
pub use archive::ArchiveReport;
pub use axes::Axes;
pub use blame::Blame;
pub use carried::Carried;
pub use chunk_sizes::{SizeBin, SizeSummary};
pub use class::Class;
pub use clean::{Cleaned, clean};
pub use element::{Element, numpy_type};
pub use error::Error;
pub use formats::{Format, Metadata, RawFile};
pub use group::{GroupInfo, Member, MemberArray, MemberKind};
pub use growth::Growth;
pub use image_info::{ImageInfo, ImageLevel};
pub use info::{ArrayInfo, Info, KeyCount, info};
pub use job::Job;
pub use migrate::{DocumentReport, MigrateReport, MigrateRequest, migrate};
pub use missing_report::MissingReport;
pub use open::{OpenArray, OpenOptions, open_array};
pub use others::{Counted, ListedFile, OthersInfo, OthersReport};
pub use parts::{MarkedTasks, PartReport, PartsReport, StageTasks, WorkerProgress};
pub use placement::Placement;
pub use prepared::{CopyReport, Prepared, prepare};
pub use probe::{
    CodecMeasurement, CodecsMeasurement, ProbeOptions, Probed, Rung, StoreMeasurement, probe,
};
pub use profile::{CodecEntry, ProfileFile, SpeedsEntry, StoreEntry};
pub use pyramid::{
    LevelSize, LevelsRequest, PassReport, PyramidReport, PyramidRequest, ResolutionReport,
};
pub use remedy::Remedy;
pub use report::{DigestReport, MemoryReport, PlanReport, Report, StageReport, TaskReport};
pub use request::{CopyRequest, Existing, Planning, Running};
pub use runtime::Runtime;
pub use saved_group::SavedGroup;
pub use saved_job::SavedJob;
pub use saved_plan::SavedPlan;
pub use shard_spec::plan_shards;
pub use status::{
    ArrayStatus, MemberStatus, PartsStatus, RunState, StageStatus, Status, WriterStatus, status,
};
pub use target::lies_in;
pub use tree::{ArrayReport, Coords, Selection, Totals, TreeArray, TreeJob, TreeReport};
pub use undertaking::{Begun, RangeReport};
pub use verify::{Compared, Comparison, GroupComparison, MemberComparison, verify, verify_any};

pub use apply::{
    ApplyReport, ApplyRequest, Function, FunctionCall, LevelReport, LevelRequest, OperationRequest,
    Pads, StatisticReport, statistic, statistic_plan,
};
pub use rechunk_apply::{Boundary, Expand, Mode, OpOutput, Round};
pub use rechunk_array::{ArrayError, RegionError, RegionOptions};
pub use rechunk_command::{CommandSpec, FileFormat, Returns};
pub use rechunk_exec::{Event, NullObserver, Observer, TaskRange, WindowInput};
pub use rechunk_grid::{ArraySpec, DataType, Region, WriteEmpty, format_shape};
pub use rechunk_image::Dialect;
pub use rechunk_ops::{OperationInfo, operations};
pub use rechunk_plan::{
    Estimate, IntermediateGrid, LevelsFrom, MissingCells, MissingChunks, Strategy,
};
pub use rechunk_reduce::{Method as ReduceMethod, Rounding};
pub use rechunk_store::{Meter, RoleTraffic, StoreError, StoreOptions, Stores, Traffic, is_remote};
pub use rechunk_words::{
    ArrayRule, Asked, Cast, ChunkLengths, ChunkSpec, CodecSpec, Extent, JOB_FILE_BYTES_MAX,
    JobEntry, JobFault, JobNode, JobSyntax, JobValue, LengthUnit, LevelFactors, MaxMissing,
    PathPattern, PhysicalRegion, Position, RULE_SETTINGS, RegionSpec, ShardSpec, Share, Slice,
    SpanUnit, StagePart, TimeSpan, VoxelAxis, WordError, format_byte_size, parse_byte_size,
    parse_duration, parse_job_file,
};
pub use tokio_util::sync::CancellationToken;
