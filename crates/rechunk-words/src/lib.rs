//! Texts that people type, as values, and values as such texts again: sizes, chunk shapes, regions,
//! codecs, patterns, rules and job files. Pure.
//!
//! A value says what was asked for; what it means for an array that is open is worked out from its
//! [`ArraySpec`](rechunk_grid::ArraySpec) alone. Nothing here reads a file or opens an array.

#[macro_use]
mod text_form;

mod array_rule;
mod byte_size;
mod cast_spec;
mod chunk_spec;
mod codec_spec;
mod duration;
mod error;
mod extent;
mod job_file;
mod lengths;
mod level_factors;
mod max_missing;
mod path_pattern;
mod pattern;
mod physical_region;
mod select;
mod shard_spec;
mod share;
mod span;

pub use array_rule::{ArrayRule, RULE_SETTINGS};
pub use byte_size::{format_byte_size, parse_byte_size};
pub use cast_spec::Cast;
pub use chunk_spec::{ChunkSpec, axis_in_words, size_auto, sizing_bytes};
pub use codec_spec::CodecSpec;
pub use duration::parse_duration;
pub use error::{Asked, WordError};
pub use extent::Extent;
pub use job_file::{
    JOB_FILE_BYTES_MAX, JobEntry, JobFault, JobNode, JobSyntax, JobValue, Position, parse_job_file,
};
pub use lengths::ChunkLengths;
pub use level_factors::LevelFactors;
pub use max_missing::MaxMissing;
pub use path_pattern::PathPattern;
pub use pattern::Pattern;
pub use physical_region::{LengthUnit, PhysicalRegion, VoxelAxis};
pub use select::{RegionSpec, Slice};
pub use shard_spec::ShardSpec;
pub use share::{Share, StagePart};
pub use span::{SpanUnit, TimeSpan, unresolved};
