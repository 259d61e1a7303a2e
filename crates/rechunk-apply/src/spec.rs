//! A job as it is asked for.

use std::fmt;
use std::str::FromStr;

use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

use crate::error::{ApplyError, ErrorCode};
use crate::voxel_box::{Span, VoxelBox};

/// Most levels a job may have.
pub const LEVELS_MAX: usize = 16;

/// Largest extent, coordinate or pad, in voxels. Sums over levels then fit 64 bits.
pub const EXTENT_MAX: u64 = 1 << 48;

/// Most calls of the operation along one axis of a task, so that they can be listed.
pub const AXIS_CALLS_MAX: u64 = 1 << 18;

/// Largest side of a [`ScaleRatio`].
pub const SCALE_MAX: u64 = 1 << 12;

/// Rule by which the overlaps of task boxes become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Weights grow in equal steps.
    Linear,
    /// Weights follow two parabolas.
    #[default]
    Quadratic,
    /// Weights follow the bump function `exp(-1 / (1 - t²))`.
    Bump,
    /// The largest value counts.
    Max,
    /// Nothing is combined: blocks stay as they are, for somebody else. Top level only.
    Defer,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 5] = [Self::Linear, Self::Quadratic, Self::Bump, Self::Max, Self::Defer];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Quadratic => "quadratic",
            Self::Bump => "bump",
            Self::Max => "max",
            Self::Defer => "defer",
        }
    }

    /// Values are averaged.
    pub fn is_weighted(self) -> bool {
        match self {
            Self::Linear | Self::Quadratic | Self::Bump => true,
            Self::Max | Self::Defer => false,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = ApplyError;

    fn from_str(text: &str) -> Result<Self, ApplyError> {
        Self::ALL.into_iter().find(|mode| mode.name() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            ApplyError::new(
                ErrorCode::BlendMode,
                format!("`{text}` is no blend mode; there are {known}"),
            )
        })
    }
}

/// One level of work chunks. All extents are target voxels, C order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LevelSpec {
    /// Work chunk, before pads.
    pub chunk: Vec<u64>,
    /// Voxels on each side that are computed or read, and dropped; none: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crop: Vec<u64>,
    /// Voxels on each side that overlap with neighbours; none: 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blend: Vec<u64>,
    /// Rule for overlaps.
    #[serde(default)]
    pub mode: Mode,
}

impl LevelSpec {
    /// A level of work chunks without pads.
    pub fn new(chunk: impl Into<Vec<u64>>) -> Self {
        let mode = Mode::default();
        Self { chunk: chunk.into(), crop: Vec::new(), blend: Vec::new(), mode }
    }

    /// The level with a crop.
    #[must_use]
    pub fn crop(mut self, crop: impl Into<Vec<u64>>) -> Self {
        self.crop = crop.into();
        self
    }

    /// The level with a blend.
    #[must_use]
    pub fn blend(mut self, blend: impl Into<Vec<u64>>, mode: Mode) -> Self {
        (self.blend, self.mode) = (blend.into(), mode);
        self
    }
}

/// Levels from the sizes of inputs after padding, outermost first. Each chunk is its input less two
/// blends, that of the bottom level also less two crops; the levels above have no crop.
/// Such a job divides its chunks ([`ApplySpec::auto_divide`]) and lets its box grow to work chunks.
///
/// ```
/// use rechunk_apply::{Mode, levels_of_inputs};
/// let levels = levels_of_inputs(&[vec![28], vec![12]], &[1], &[2], Mode::Linear)?;
/// assert_eq!((levels[0].chunk[0], levels[1].chunk[0]), (24, 6));
/// # Ok::<(), rechunk_apply::ApplyError>(())
/// ```
pub fn levels_of_inputs(
    inputs: &[Vec<u64>],
    crop: &[u64],
    blend: &[u64],
    mode: Mode,
) -> Result<Vec<LevelSpec>, ApplyError> {
    let mut levels = Vec::with_capacity(inputs.len());
    for (at, input) in inputs.iter().enumerate() {
        let is_bottom = at + 1 == inputs.len();
        let mut chunk = Vec::with_capacity(input.len());
        for (axis, &size) in input.iter().enumerate() {
            let of = |pads: &[u64]| pads.get(axis).copied().unwrap_or(0);
            let pads = of(blend).saturating_add(if is_bottom { of(crop) } else { 0 });
            let left = size.checked_sub(pads.saturating_mul(2)).filter(|&left| left > 0);
            chunk.push(left.ok_or_else(|| {
                ApplyError::new(
                    ErrorCode::Zero,
                    format!(
                        "an input of {size} voxels along axis {axis} has no voxel between pads of \
                         {pads}"
                    ),
                )
            })?);
        }
        let crop = if is_bottom { crop.to_vec() } else { Vec::new() };
        levels.push(LevelSpec { chunk, crop, blend: blend.to_vec(), mode });
    }
    Ok(levels)
}

/// Box that is worked on, in target voxels.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoxSpec {
    /// The whole target, or the whole domain.
    #[default]
    Whole,
    /// Whole voxels.
    Voxels(VoxelBox),
    /// Parts of voxels, as from physical units: start and end of each axis.
    Fractional(Vec<(f64, f64)>),
}

impl BoxSpec {
    /// A box in whole voxels: start and end of each axis.
    pub fn voxels(axes: impl IntoIterator<Item = (i64, i64)>) -> Self {
        Self::Voxels(VoxelBox::new(axes.into_iter().map(Span::from)))
    }

    /// A box in physical units: start and end of each axis, size of a voxel, and position of the
    /// array's first voxel, in the unit.
    ///
    /// ```
    /// use rechunk_apply::BoxSpec;
    /// let asked = BoxSpec::physical(&[(40.0, 120.0)], &[4.0], &[0.0]);
    /// assert_eq!(asked, BoxSpec::Fractional(vec![(10.0, 30.0)]));
    /// ```
    pub fn physical(axes: &[(f64, f64)], voxel: &[f64], origin: &[f64]) -> Self {
        let axes = axes.iter().zip(voxel.iter().zip(origin));
        let axes = axes
            .map(|((start, end), (size, origin))| ((start - origin) / size, (end - origin) / size));
        Self::Fractional(axes.collect())
    }
}

/// Growth of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expand {
    /// Not at all.
    #[default]
    None,
    /// To whole voxels. All that follow do so too, unless there is a gap.
    Voxel,
    /// To whole array chunks, on both sides.
    ArrayChunk,
    /// To whole work chunks of the top level: the end moves.
    Work,
    /// To whole array chunks, then to whole work chunks.
    Both,
}

impl Expand {
    /// The box grows to array chunks.
    pub fn to_array_chunks(self) -> bool {
        match self {
            Self::ArrayChunk | Self::Both => true,
            Self::None | Self::Voxel | Self::Work => false,
        }
    }

    /// The box grows to work chunks.
    pub fn to_work_chunks(self) -> bool {
        match self {
            Self::Work | Self::Both => true,
            Self::None | Self::Voxel | Self::ArrayChunk => false,
        }
    }
}

/// When blended integers are rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Round {
    /// At each level, to the target's type.
    #[default]
    Level,
    /// Once, in what is written: levels below hand on exact fractions.
    End,
}

/// Meaning of the values that an operation gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueKind {
    /// Values that may be averaged.
    #[default]
    Intensity,
    /// Names of things: never averaged.
    Label,
    /// Labels that are averaged all the same, because the user wants it.
    LabelForced,
}

/// Size of a target voxel in source voxels, along one axis: `source` for every `target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct ScaleRatio {
    /// Voxels of the source.
    pub source: u64,
    /// Voxels of the target.
    pub target: u64,
}

impl ScaleRatio {
    /// One to one.
    pub const ONE: Self = Self { source: 1, target: 1 };
}

impl From<(u64, u64)> for ScaleRatio {
    fn from((source, target): (u64, u64)) -> Self {
        Self { source, target }
    }
}

impl From<ScaleRatio> for (u64, u64) {
    fn from(scale: ScaleRatio) -> Self {
        (scale.source, scale.target)
    }
}

/// The array that is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetGrid {
    /// Shape, elements.
    pub shape: Vec<u64>,
    /// Extent of a commit unit: of a shard where there are shards, else of a chunk.
    pub chunk: Vec<u64>,
}

/// A job of chunk-wise apply as it is asked for. Extents are target voxels in C order; an empty
/// list stands for 0 (or, of scales, 1) along each axis.
///
/// ```
/// use rechunk_apply::{ApplySpec, LevelSpec, Mode, prepare};
/// use rechunk_grid::DataType;
/// let level = LevelSpec::new([8]).blend([2], Mode::Linear).crop([1]);
/// let spec = ApplySpec::new(&[24], &[8], DataType::Uint8, vec![level]);
/// let plan = prepare(&spec)?;
/// assert_eq!(plan.task_count(), 3);
/// # Ok::<(), rechunk_apply::ApplyError>(())
/// ```
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, as users have them"
)]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApplySpec {
    /// The array that is written; none for statistics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetGrid>,
    /// Shape of the whole box where there is no target: that of the source, in target voxels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<Vec<u64>>,
    /// Type of the values that the operation gives and the target stores.
    pub data_type: DataType,
    /// Box that is worked on.
    #[serde(default)]
    pub region: BoxSpec,
    /// Levels, outermost first.
    pub levels: Vec<LevelSpec>,
    /// Voxels between work chunks of the top level that are neither computed nor written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gap: Vec<u64>,
    /// Growth of the box.
    #[serde(default)]
    pub expand: Expand,
    /// Work chunks shrink to the box, and lower ones to those above.
    #[serde(default)]
    pub shrink: bool,
    /// Work chunks above the bottom shrink so that they divide.
    #[serde(default)]
    pub auto_divide: bool,
    /// Largest box that one pull task reduces; none: a work chunk of the top level, or an array
    /// chunk where that is larger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduce_max: Option<Vec<u64>>,
    /// Asserts that tasks write the target themselves; refused where that is unsafe.
    #[serde(default)]
    pub direct: bool,
    /// Blocks of the top level are left uncombined.
    #[serde(default)]
    pub defer: bool,
    /// Results beyond the asked box, where the box has grown, are not written.
    #[serde(default = "yes")]
    pub clip: bool,
    /// When blended integers are rounded.
    #[serde(default)]
    pub round: Round,
    /// Target voxels in source voxels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scale: Vec<ScaleRatio>,
    /// Meaning of the values.
    #[serde(default)]
    pub value_kind: ValueKind,
}

fn yes() -> bool {
    true
}

impl ApplySpec {
    /// A job over a whole target of `shape` in chunks (or shards) of `chunk`, all else by default.
    pub fn new(shape: &[u64], chunk: &[u64], data_type: DataType, levels: Vec<LevelSpec>) -> Self {
        let target = TargetGrid { shape: shape.to_vec(), chunk: chunk.to_vec() };
        Self { target: Some(target), ..Self::without_target(shape, data_type, levels) }
    }

    /// A job over a whole domain of `shape` that writes nothing.
    pub fn without_target(shape: &[u64], data_type: DataType, levels: Vec<LevelSpec>) -> Self {
        Self {
            target: None,
            domain: Some(shape.to_vec()),
            data_type,
            region: BoxSpec::Whole,
            levels,
            gap: Vec::new(),
            expand: Expand::None,
            shrink: false,
            auto_divide: false,
            reduce_max: None,
            direct: false,
            defer: false,
            clip: true,
            round: Round::Level,
            scale: Vec::new(),
            value_kind: ValueKind::Intensity,
        }
    }
}
