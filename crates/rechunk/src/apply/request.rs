//! An apply as a user asks for it, as data: it is saved with the job.

use std::collections::BTreeMap;

use rechunk_apply::{Boundary, Expand, Mode, Round};
use rechunk_command::CommandSpec;
use rechunk_plan::MissingChunks;
use serde::{Deserialize, Serialize};

use super::{Function, Pads};
use crate::{ChunkSpec, PhysicalRegion, RegionSpec};

/// An operation and the boxes that it is applied to.
///
/// ```
/// use rechunk::{ApplyRequest, OperationRequest};
///
/// let operation = OperationRequest::parse("gaussian:sigma=2")?;
/// let apply = ApplyRequest::new(operation, "64,64,64".parse()?);
/// assert_eq!(apply.operation.name(), "gaussian");
/// # Ok::<(), rechunk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
#[non_exhaustive]
pub struct ApplyRequest {
    /// The operation.
    pub operation: OperationRequest,
    /// Locations of further sources, of the shape of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Levels above that of the operation, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<LevelRequest>,
    /// The level of the operation.
    pub bottom: LevelRequest,
    /// Region worked on; `None`: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<RegionSpec>,
    /// Region in a unit of length, in place of `region`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub physical: Option<PhysicalRegion>,
    /// Growth of the region.
    #[serde(default)]
    pub expand: Expand,
    /// Work chunks shrink to the region.
    #[serde(default)]
    pub shrink: bool,
    /// Work chunks above the bottom shrink so that they divide.
    #[serde(default)]
    pub auto_divide: bool,
    /// Voxels between work chunks of the top level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap: Option<Pads>,
    /// Largest box that one pull task reduces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_max: Option<ChunkSpec>,
    /// Asserts that tasks write the target themselves.
    #[serde(default)]
    pub direct: bool,
    /// Results beyond the region, where it grows, are not written.
    pub clip: bool,
    /// Rule for voxels beyond the sources.
    #[serde(default)]
    pub boundary: Boundary,
    /// Value of [`Boundary::Constant`]; `None`: the fill value of each source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constant: Option<String>,
    /// Rule for chunks that are not stored.
    #[serde(default)]
    pub missing: MissingChunks,
    /// When blended integers are rounded.
    #[serde(default)]
    pub round: Round,
    /// Labels may be averaged.
    #[serde(default)]
    pub blend_labels: bool,
    /// Blocks of the top level stay uncombined: the target is the array of them, with an axis more
    /// that tells their layers apart ([`rechunk_apply::DeferredArray`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub defer: bool,
    /// Results go into the array that is at the target; beyond the region it stays as it is.
    #[serde(default)]
    pub update: bool,
}

/// A level of work chunks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LevelRequest {
    /// Work chunk, before pads.
    pub work: ChunkSpec,
    /// Voxels on each side that are computed and dropped; `None`: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crop: Option<Pads>,
    /// Voxels on each side that overlap with neighbours; `None`: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blend: Option<Pads>,
    /// Rule for overlaps.
    #[serde(default)]
    pub mode: Mode,
}

/// An operation as it is asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum OperationRequest {
    /// One of [`crate::operations`].
    Named {
        /// Its name.
        name: String,
        /// Its settings.
        settings: BTreeMap<String, String>,
    },
    /// An external program, started for each box.
    Command(CommandSpec),
    /// Code of the caller.
    Function(Function),
}

impl OperationRequest {
    /// Reads `NAME[:key=value,…]`.
    pub fn parse(text: &str) -> Result<Self, crate::Error> {
        let (name, settings) =
            rechunk_ops::parse_settings(text).map_err(crate::Error::operation)?;
        Ok(Self::Named { name, settings })
    }

    /// It is a statistic: a value of the whole region, and no array.
    pub fn is_statistic(&self) -> Result<bool, crate::Error> {
        let Self::Named { name, settings } = self else { return Ok(false) };
        let built = rechunk_ops::operation(name, settings).map_err(crate::Error::operation)?;
        Ok(matches!(built.output(), rechunk_ops::Output::Statistic(_)))
    }

    /// Error of an apply without a target, of an operation that needs one, or whose blocks are to
    /// stay uncombined.
    pub fn without_target(&self, leaves_blocks: bool) -> crate::Error {
        let (code, message) = if leaves_blocks {
            ("NO_DST_DEFER", "without a target no combination can be deferred".to_owned())
        } else {
            let message = format!("`{}` has results to write: name a target too", self.name());
            ("NO_DST_NEEDS_SKIP", message)
        };
        crate::Error::Apply { code, message, proposal: None }
    }

    /// Its name, for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Named { name, .. } => name,
            Self::Command(command) => &command.command,
            Self::Function(function) => &function.name,
        }
    }
}

impl LevelRequest {
    /// Work chunks without pads.
    pub fn new(work: ChunkSpec) -> Self {
        Self { work, crop: None, blend: None, mode: Mode::default() }
    }

    fn names_axes(&self) -> bool {
        let pads = [&self.crop, &self.blend];
        matches!(self.work, ChunkSpec::Named(_))
            || pads.iter().any(|pads| matches!(pads, Some(Pads::Named(_))))
    }
}

impl ApplyRequest {
    /// One level of work chunks over all of the array.
    pub fn new(operation: OperationRequest, work: ChunkSpec) -> Self {
        Self {
            operation,
            sources: Vec::new(),
            levels: Vec::new(),
            bottom: LevelRequest::new(work),
            region: None,
            physical: None,
            expand: Expand::None,
            shrink: false,
            auto_divide: false,
            gap: None,
            reduce_max: None,
            direct: false,
            clip: true,
            boundary: Boundary::Constant,
            constant: None,
            missing: MissingChunks::Fill,
            round: Round::Level,
            blend_labels: false,
            defer: false,
            update: false,
        }
    }

    /// The request without the settings of programs that decide no element: an apply may be gone on
    /// with by others.
    pub(crate) fn deciding(&self) -> Self {
        let mut deciding = self.clone();
        if let OperationRequest::Command(command) = &mut deciding.operation {
            *command = command.deciding();
        }
        deciding
    }

    /// Whether a setting goes by the names of axes.
    pub(crate) fn names_axes(&self) -> bool {
        let levels = self.levels.iter().chain([&self.bottom]);
        let by_name = |pads: Option<&Pads>| matches!(pads, Some(Pads::Named(_)));
        let halo = match &self.operation {
            OperationRequest::Function(function) => function.halo.as_ref(),
            OperationRequest::Named { .. } | OperationRequest::Command(_) => None,
        };
        levels.into_iter().any(LevelRequest::names_axes)
            || by_name(halo)
            || by_name(self.gap.as_ref())
            || matches!(self.reduce_max, Some(ChunkSpec::Named(_)))
            || self.region.as_ref().is_some_and(RegionSpec::is_named)
            || self.physical.as_ref().is_some_and(PhysicalRegion::is_named)
    }
}
