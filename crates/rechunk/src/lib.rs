//! Re-cuts large chunked arrays (Zarr, N5, NumPy, NIfTI, references to NetCDF) within a memory
//! budget, and reads and writes regions of them.
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
//! | copy an array or a group | [`prepare`], then [`Job::run`] or [`TreeJob::run`] |
//! | see a plan, and what other budgets would do | [`Job::plan_report`], [`what_if::WhatIf::new`] |
//! | compare two arrays or groups | [`verify`], [`verify_any`] |
//! | describe an array or a group | [`info`] |
//! | read elements | [`open_array`], then [`OpenArray::read_region`] |
//! | write elements | [`open_array`], then [`OpenArray::write_region`] |
//! | look at a copy, or remove what it left | [`status`], [`clean`] |
//! | measure a store and this machine | [`probe`] |
//!
//! Everything waits asynchronously and needs a runtime of tokio with its I/O and time. Errors are
//! an [`Error`] with a [`Class`], a chain of causes and a hint.
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
mod arrays_below;
mod attributes;
mod axes;
mod block_files;
mod byte_size;
mod calendar;
mod carried;
mod cast;
mod cast_spec;
mod check;
mod chunk_keys;
mod chunk_objects;
mod chunk_sizes;
mod chunk_spec;
mod clean;
mod codec_spec;
mod complete;
mod consolidated;
mod dimension_names;
mod documents;
mod element;
mod elements;
mod error;
mod extent;
mod finish;
mod format;
mod group;
mod growth;
mod gzip_file;
mod info;
mod intermediate;
mod job;
mod job_file;
mod large_document;
mod max_missing;
mod member_location;
mod metadata;
mod missing;
mod missing_report;
mod not_ours;
mod open;
mod others;
mod path_pattern;
mod place;
mod placement;
pub mod planner;
mod prepare;
mod probe;
mod profile;
mod readers;
mod recount;
mod regions;
mod remedy;
mod repeats;
mod report;
mod request;
mod resumption;
mod run;
mod sample;
mod saved_job;
mod secrets;
mod select;
mod shard_spec;
mod single_file;
mod source_check;
mod specify;
mod status;
pub mod system;
mod target;
mod tree;
mod two_documents;
mod verify;
mod walk;
pub mod what_if;
mod work_dir;
mod writer_lock;

pub use access::{Access, AccessCost, BetterChunks};
pub use advice::MoreMemory;
pub use axes::Axes;
pub use byte_size::{format_byte_size, parse_byte_size};
pub use calendar::{SpanUnit, TimeSpan};
pub use carried::Carried;
pub use cast_spec::Cast;
pub use chunk_sizes::{SizeBin, SizeSummary};
pub use chunk_spec::ChunkSpec;
pub use clean::{Cleaned, clean};
pub use codec_spec::CodecSpec;
pub use element::Element;
pub use error::{Class, Error};
pub use extent::Extent;
pub use format::Format;
pub use group::{GroupInfo, Member, MemberArray, MemberKind};
pub use growth::Growth;
pub use info::{ArrayInfo, Info, KeyCount, info};
pub use job::Job;
pub use job_file::{
    JOB_FILE_BYTES_MAX, JobEntry, JobFault, JobNode, JobSyntax, JobValue, Position, parse_job_file,
};
pub use max_missing::MaxMissing;
pub use metadata::Metadata;
pub use missing_report::MissingReport;
pub use open::{OpenArray, OpenOptions, open_array};
pub use others::{Counted, ListedFile, OthersInfo, OthersReport};
pub use path_pattern::PathPattern;
pub use placement::Placement;
pub use probe::{
    CodecMeasurement, CodecsMeasurement, ProbeOptions, Probed, Rung, StoreMeasurement, probe,
};
pub use profile::{CodecEntry, ProfileFile, SpeedsEntry, StoreEntry};
pub use remedy::Remedy;
pub use report::{DigestReport, MemoryReport, PlanReport, Report, StageReport, TaskReport};
pub use request::{CopyRequest, Existing, Planning, Running};
pub use saved_job::SavedJob;
pub use select::{RegionSpec, Slice};
pub use shard_spec::{ShardSpec, plan_shards};
pub use single_file::RawFile;
pub use status::{ArrayStatus, MemberStatus, RunState, StageStatus, Status, WriterStatus, status};
pub use target::lies_in;
pub use tree::{
    ArrayReport, ArrayRule, Coords, Prepared, RULE_SETTINGS, Selection, Totals, TreeArray, TreeJob,
    TreeReport, prepare,
};
pub use verify::{Compared, Comparison, GroupComparison, MemberComparison, verify, verify_any};

pub use rechunk_array::{ArrayError, RegionError, RegionOptions};
pub use rechunk_exec::{Event, NullObserver, Observer};
pub use rechunk_grid::{ArraySpec, DataType, Region, WriteEmpty, format_shape};
pub use rechunk_plan::{IntermediateGrid, Strategy};
pub use rechunk_store::{Meter, RoleTraffic, StoreError, StoreOptions, Stores, Traffic, is_remote};
pub use tokio_util::sync::CancellationToken;
