//! Opens, plans, runs, resumes and verifies: the public library.
//!
//! [`prepare`] opens a source and plans its copy without writing anything: a [`Job`] for an array,
//! a [`TreeJob`] for a group. [`Job::run`] and [`TreeJob::run`] run it; [`verify_any`] compares two
//! arrays or two groups; [`info`] describes an array or a group. The command line is a thin face
//! over this crate, and so will be the Python package.
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
mod prepare;
mod probe;
mod profile;
mod readers;
mod recount;
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

pub use rechunk_exec::{Event, NullObserver, Observer};
pub use rechunk_grid::{ArraySpec, DataType, WriteEmpty, format_shape};
pub use rechunk_plan::{self as planner, IntermediateGrid, Strategy};
pub use rechunk_store::{Meter, RoleTraffic, StoreError, StoreOptions, Stores, Traffic, is_remote};
pub use tokio_util::sync::CancellationToken;
