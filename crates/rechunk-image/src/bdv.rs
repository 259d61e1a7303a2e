//! Groups of BigDataViewer's N5 containers, and the setups of its XML.

use serde_json::{Map, Value, json};

use crate::axis::{AxisKind, names};
use crate::dialect::Dialect;
use crate::error::ImageError;
use crate::image::Image;

/// Most pairs of setup and timepoint that one XML names.
const VIEWS_MAX: u64 = 1 << 20;

/// A setup: a channel, angle or tile that is seen at each time.
#[derive(Debug, Clone, PartialEq)]
pub struct BdvSetup {
    /// Its number: its group is `setup` and the number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Size of level 0 in elements: x, y, z.
    pub size_xyz: [u64; 3],
    /// Size of an element of level 0 in `unit`: x, y, z. Finite.
    pub voxel_size_xyz: [f64; 3],
    /// Unit of lengths.
    pub unit: String,
    /// Number of its channel.
    pub channel: u64,
    /// Number of its angle.
    pub angle: u64,
    /// Place of the centre of element 0 of level 0 in `unit`: x, y, z. Finite.
    pub translation_xyz: [f64; 3],
}

/// A dataset of BigDataViewer: setups, each at each time.
#[derive(Debug, Clone, PartialEq)]
pub struct BdvDataset {
    /// Path of the N5 container, relative to the XML.
    pub n5_path: String,
    /// Its setups.
    pub setups: Vec<BdvSetup>,
    /// Count of timepoints; the first is 0.
    pub timepoints: u64,
}

/// The axes of an image in BigDataViewer: of space those for x, y and z; of time; of channels.
pub(crate) struct BdvAxes {
    pub space_xyz: [usize; 3],
    pub time: Option<usize>,
    pub channel: Option<usize>,
}

/// Finds the axes of an image; refuses what setups and timepoints cannot say.
pub(crate) fn bdv_axes(image: &Image) -> Result<BdvAxes, ImageError> {
    let wrong = |reason: String, hint: &str| ImageError::Axes {
        dialect: Dialect::BdvN5.name(),
        axes: names(&image.axes),
        reason,
        hint: hint.to_owned(),
    };
    let of = |kind: AxisKind| {
        let axes = image.axes.iter().enumerate();
        axes.filter(|(_, axis)| axis.kind == kind).map(|(at, _)| at).collect::<Vec<_>>()
    };
    let (space, times) = (of(AxisKind::Space), of(AxisKind::Time));
    let (channels, others) = (of(AxisKind::Channel), of(AxisKind::Other));
    let &[z, y, x] = space.as_slice() else {
        let reason = format!("{} of them are of space, it always has 3", space.len());
        return Err(wrong(reason, "add an axis of length 1, or write `n5-viewer` or `plain`"));
    };
    if times.len() > 1 || channels.len() > 1 || !others.is_empty() {
        let reason = "beside those of space it has one of time and one of channels".to_owned();
        return Err(wrong(reason, "write an image of each index, or `plain`"));
    }
    let shrinks = |&&axis: &&usize| image.levels.iter().any(|level| level.factors[axis] != 1);
    if let Some(&axis) = times.iter().chain(&channels).find(shrinks) {
        let reason = format!("axis {:?} shrinks, only those of space do", image.axes[axis].name);
        return Err(wrong(reason, "keep its factor at 1"));
    }
    let (time, channel) = (times.first().copied(), channels.first().copied());
    Ok(BdvAxes { space_xyz: [x, y, z], time, channel })
}

/// The dataset of an image: a setup for each channel. Fails if the image has not three axes of
/// space, beside at most one of time and one of channels.
///
/// ```
/// use rechunk_image::{Axis, Image, Level, bdv_dataset, bdv_xml};
/// let level = Level {
///     path: "s0".to_owned(),
///     factors: vec![1; 4],
///     scale: vec![1.0, 4.0, 1.0, 1.0],
///     translation: vec![0.0; 4],
///     shape: vec![2, 5, 6, 7],
/// };
/// let axes = ["c", "z", "y", "x"].map(Axis::of_name).to_vec();
/// let image = Image { name: "fly".to_owned(), axes, levels: vec![level], ..Image::default() };
/// let dataset = bdv_dataset(&image, "fly.n5")?;
/// assert_eq!(dataset.setups.len(), 2);
/// assert!(bdv_xml(&dataset).contains("<size>7 6 5</size>"));
/// # Ok::<(), rechunk_image::ImageError>(())
/// ```
pub fn bdv_dataset(image: &Image, n5_path: &str) -> Result<BdvDataset, ImageError> {
    let wrong = |reason: String| ImageError::Levels { image: image.name.clone(), reason };
    let none = || wrong("there are none; an image has at least one".to_owned());
    let axes = bdv_axes(image)?;
    let level = image.levels.first().ok_or_else(none)?;
    let rank = image.axes.len();
    if [level.shape.len(), level.scale.len(), level.translation.len()] != [rank; 3] {
        return Err(wrong(format!("level {:?} is not of {rank} axes", level.path)));
    }
    let count = |axis: Option<usize>| axis.map_or(1, |axis| level.shape[axis]);
    let (channels, timepoints) = (count(axes.channel), count(axes.time));
    if channels.saturating_mul(timepoints) > VIEWS_MAX {
        let views = format!("{channels} channels at {timepoints} times");
        return Err(wrong(format!("{views} are more views than {VIEWS_MAX}; write fewer at once")));
    }
    let unit = axes.space_xyz.iter().find_map(|&axis| image.axes[axis].unit.clone());
    let unit = unit.unwrap_or_else(|| "pixel".to_owned());
    let setups = (0..channels).map(|channel| BdvSetup {
        id: channel,
        name: match axes.channel {
            Some(_) => format!("{} channel {channel}", image.name),
            None => image.name.clone(),
        },
        size_xyz: axes.space_xyz.map(|axis| level.shape[axis]),
        voxel_size_xyz: axes.space_xyz.map(|axis| level.scale[axis]),
        unit: unit.clone(),
        channel,
        angle: 0,
        translation_xyz: axes.space_xyz.map(|axis| level.translation[axis]),
    });
    Ok(BdvDataset { n5_path: n5_path.to_owned(), setups: setups.collect(), timepoints })
}

/// Attributes of the group of a setup, of the factors of each level: x, y, z.
pub fn bdv_setup_attributes(factors_xyz: &[[u64; 3]], data_type: &str) -> Map<String, Value> {
    Map::from_iter([
        ("downsamplingFactors".to_owned(), json!(factors_xyz)),
        ("dataType".to_owned(), json!(data_type)),
    ])
}

/// Attributes of the group of a timepoint, of the sizes of an element of level 0: x, y, z.
pub fn bdv_timepoint_attributes(resolution_xyz: [f64; 3]) -> Map<String, Value> {
    Map::from_iter([
        ("multiScale".to_owned(), json!(true)),
        ("resolution".to_owned(), json!(resolution_xyz)),
    ])
}

/// Attributes of the array of a level, beside those of N5: its factors x, y, z.
pub fn bdv_level_attributes(factors_xyz: [u64; 3]) -> Map<String, Value> {
    Map::from_iter([("downsamplingFactors".to_owned(), json!(factors_xyz))])
}
