//! Request of a user, as data: it is saved with the plan and with an interrupted run.

use rechunk_grid::WriteEmpty;
use rechunk_n5::N5Version;
use rechunk_plan::{IntermediateGrid, Profile, Strategy};
use rechunk_store::store_kind;
use serde::{Deserialize, Serialize};

use crate::apply::{ApplyRequest, OperationRequest};
use crate::axes::Axes;
use crate::formats::raw::RawFile;
use crate::formats::{Format, Metadata};
use crate::open::OpenOptions;
use crate::placement::Placement;
use crate::profile::{ProfileFile, choose};
use crate::pyramid::PyramidRequest;
use crate::{
    Cast, ChunkSpec, CodecSpec, Error, MaxMissing, PathPattern, RegionSpec, ShardSpec, system,
};

/// A copy: what to read, what to write, how to plan it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CopyRequest {
    /// Location of the source array.
    pub source: String,
    /// Location of the target array; empty for a plan that names none.
    pub target: String,
    /// Chunk shape.
    pub chunks: ChunkSpec,
    /// Shards; `None`: the source's, where chunks divide them.
    #[serde(default)]
    pub shards: Option<ShardSpec>,
    /// Numbers in `chunks` and `shards` are kept where an axis is shorter, as `--keep-extent` has
    /// it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_extent: bool,
    /// Bytes an `auto` chunk aims at.
    pub chunk_bytes: u64,
    /// Format of the target; `None`: by its name.
    pub format: Option<Format>,
    /// Order of axes between N5 or NIfTI and other formats; `None`: as the source notes, else
    /// reversed.
    #[serde(default)]
    pub axes: Option<Axes>,
    /// Description of the source, if that is a file without a header.
    #[serde(default)]
    pub raw: Option<RawFile>,
    /// Format whose documents say what the source is, where it has those of several; `None`: that
    /// of the group it is in, else the newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_format: Option<Format>,
    /// Place in an existing target where the source goes; `None`: a new array is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// Arrays that are not compared with those of the target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<PathPattern>,
    /// The region of the source that is copied; `None`: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<RegionSpec>,
    /// The type that elements are cast to; `None`: the source's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cast: Option<Cast>,
    /// Separator of the numbers in the names of chunks of Zarr: `.` or `/`. `None`: as in the
    /// source, where it is of the same version, else as is usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separator: Option<char>,
    /// Version that a new N5 container says; `None`: one that old readers take.
    #[serde(default)]
    pub n5_version: Option<String>,
    /// Codec; `None`: the source's.
    pub codec: Option<CodecSpec>,
    /// When all-fill chunks are written.
    pub write_empty: WriteEmpty,
    /// Most of the source that may be missing; `None`: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_missing: Option<MaxMissing>,
    /// Options of planning.
    pub planning: Planning,
    /// Location of an intermediate; `None`: beside the target; `memory:`: in memory.
    pub temp: Option<String>,
    /// The array is one of a data set that is copied: what other members and readers of the whole
    /// rely on is kept true.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_member: bool,
    /// Operation that is applied to the source; `None`: it is copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply: Option<Box<ApplyRequest>>,
    /// Levels that are made of the source; `None`: it is copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pyramid: Option<Box<PyramidRequest>>,
}

impl CopyRequest {
    /// The codec that is asked for; `None` where that of the source is to stay.
    pub(crate) fn asked_codec(&self) -> Option<&CodecSpec> {
        self.codec.as_ref().filter(|codec| !codec.is_keep())
    }

    /// The codec that is asked for, and by which `target` loses something: it is to hold other
    /// elements than are read.
    pub(crate) fn lossy_codec(&self, target: &Metadata) -> Option<&CodecSpec> {
        self.asked_codec().filter(|_| target.is_lossy())
    }

    /// Everything as it is in the source, and planned for this machine; chunks that are to be sized
    /// are near 16 MiB.
    pub fn new(source: &str, target: &str) -> Self {
        Self {
            source: source.to_owned(),
            target: target.to_owned(),
            chunks: ChunkSpec::Keep,
            shards: None,
            keep_extent: false,
            chunk_bytes: 16 << 20,
            format: None,
            axes: None,
            raw: None,
            source_format: None,
            placement: None,
            trust: Vec::new(),
            select: None,
            cast: None,
            separator: None,
            n5_version: None,
            codec: None,
            write_empty: WriteEmpty::Auto,
            max_missing: None,
            planning: Planning::default(),
            temp: None,
            is_member: false,
            apply: None,
            pyramid: None,
        }
    }

    /// The format of the target: as asked for, that of the dialect of an image, or that of its
    /// name.
    pub(crate) fn target_format(&self) -> Format {
        let dialect = self.pyramid.as_ref().and_then(|pyramid| pyramid.dialect);
        let of_dialect = dialect.and_then(|dialect| Format::of_images(dialect.container()));
        self.format.or(of_dialect).unwrap_or_else(|| Format::of_target(&self.target))
    }

    /// Options for opening the source.
    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions {
            axes: self.axes,
            raw: self.raw.clone(),
            source_format: self.source_format,
            reached_as: None,
            select: self.select.clone(),
            // Of an apply, other types are made of the results.
            cast: self.cast.clone().filter(|cast| match &self.apply {
                None => true,
                Some(apply) => {
                    let is_command = matches!(apply.operation, OperationRequest::Command(_));
                    cast.data_type().is_ieee_float() && !is_command
                }
            }),
            squeezed_for: (!self.target.is_empty()).then(|| self.target_format()),
            is_member: false,
            names: None,
            wants_names: self.names_axes(),
        }
    }

    /// Whether an option goes by the names of axes.
    pub(crate) fn names_axes(&self) -> bool {
        let placed = self.placement.as_ref();
        matches!(self.chunks, ChunkSpec::Named(_))
            || matches!(self.shards, Some(ShardSpec::Shape(ChunkSpec::Named(_))))
            || self.select.as_ref().is_some_and(RegionSpec::is_named)
            || placed.is_some_and(Placement::names_axes)
            || self.apply.as_ref().is_some_and(|apply| apply.names_axes())
    }

    /// Whether results go into the array that is at the target.
    pub(crate) fn is_update(&self) -> bool {
        self.apply.as_ref().is_some_and(|apply| apply.update)
    }

    /// The version that a new N5 container says.
    pub(crate) fn n5_version(&self) -> N5Version {
        self.n5_version.as_deref().map_or(N5Version::DEFAULT, N5Version::from_text)
    }
}

/// Options of planning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Planning {
    /// Memory budget of the process, bytes; `None`: half of what is free.
    pub memory_bytes: Option<u64>,
    /// CPU workers; `None`: the machine's cores.
    pub threads: Option<u32>,
    /// Requests in flight; `None`: as the store's profile says.
    pub concurrency: Option<u32>,
    /// Plan kind.
    pub strategy: Strategy,
    /// Grid of an intermediate.
    pub intermediate_grid: IntermediateGrid,
    /// Bounds one task's box alone, for comparisons.
    pub box_bytes: Option<u64>,
    /// Worker processes.
    pub workers: u32,
    /// A store that holds source and target may copy objects itself, where they are the same in
    /// both. False where all that is copied is to be seen, as when its digest is taken.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub store_copies: bool,
    /// True if the plans compared with the chosen one are told: kinds that cannot be cheaper are
    /// searched all the same. No part of the job: the plan is the same.
    #[serde(skip, default = "yes")]
    pub candidates: bool,
    /// Names of the store profiles of source, intermediate and target; `None`: by location.
    pub profiles: [Option<String>; 3],
    /// Profiles of the user's own stores; `None`: the built-in profiles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileFile>,
}

impl Default for Planning {
    fn default() -> Self {
        Self {
            memory_bytes: None,
            threads: None,
            concurrency: None,
            strategy: Strategy::Auto,
            intermediate_grid: IntermediateGrid::Exact,
            box_bytes: None,
            workers: 1,
            store_copies: true,
            candidates: true,
            profiles: [None, None, None],
            profile: None,
        }
    }
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_yes(value: &bool) -> bool {
    *value
}

impl Planning {
    /// The budget these options mean on this machine.
    pub fn budget(&self) -> rechunk_plan::Budget {
        rechunk_plan::Budget {
            memory_bytes: self.memory_bytes.unwrap_or_else(system::default_memory_bytes),
            box_bytes: self.box_bytes,
            threads: self.threads.unwrap_or_else(system::threads),
            concurrency: self.concurrency,
            workers: self.workers,
        }
    }

    /// The cost constants for stores at the given locations.
    pub fn profile(&self, locations: [&str; 3]) -> Result<Profile, Error> {
        choose(self.profile.as_ref(), &self.profiles, locations)
    }
}

/// It is on a local disk.
pub(crate) fn is_local(location: &str) -> bool {
    store_kind(location) == "local"
}

/// It is on an object store, which takes large objects in parts.
pub(crate) fn takes_parts(location: &str) -> bool {
    matches!(store_kind(location), "s3" | "gs" | "az")
}

/// Treatment of something that exists at the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// Refuse.
    Refuse,
    /// Replace it when the new array is complete; not where the source goes into what is there.
    Overwrite,
    /// Go on where an interrupted run of the same job stopped.
    Resume,
}

/// Options of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Running {
    /// Treatment of an existing target.
    pub existing: Existing,
    /// Read the target back before it is made visible.
    pub verify: bool,
    /// Leave the intermediate and the journal.
    pub keep_temp: bool,
    /// Wait for the disk: before a task counts as done, and before the target is said to be
    /// complete.
    pub durable: bool,
}

impl Running {
    /// A run that waits for the disk, reads nothing back, and leaves the target alone.
    pub fn new(existing: Existing) -> Self {
        Self { existing, verify: false, keep_temp: false, durable: true }
    }
}
