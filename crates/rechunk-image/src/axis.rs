//! Axes of an image, and the kind that a name stands for.

/// The kind of thing that indices along an axis count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AxisKind {
    /// Places: x, y, z, latitude …
    Space,
    /// Times.
    Time,
    /// Channels or bands.
    Channel,
    /// Something else, or not known.
    Other,
}

/// An axis of an image.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Its name, e.g. `x`.
    pub name: String,
    /// The kind of thing that it counts.
    pub kind: AxisKind,
    /// Unit of scale and translation along it, as its document says it.
    pub unit: Option<String>,
}

const TIME: [&str; 6] = ["t", "time", "times", "frame", "timepoint", "date"];
const CHANNEL: [&str; 6] = ["c", "ch", "channel", "channels", "band", "bands"];
const SPACE: [&str; 21] = [
    "x",
    "y",
    "z",
    "lat",
    "latitude",
    "lon",
    "long",
    "longitude",
    "row",
    "rows",
    "col",
    "cols",
    "column",
    "columns",
    "depth",
    "height",
    "width",
    "easting",
    "northing",
    "rlat",
    "rlon",
];

impl AxisKind {
    /// The kind that a name stands for, of any case.
    pub(crate) fn of_name(name: &str) -> Self {
        let name = name.to_lowercase();
        let is_in = |names: &[&str]| names.contains(&name.as_str());
        if is_in(&SPACE) {
            Self::Space
        } else if is_in(&TIME) {
            Self::Time
        } else if is_in(&CHANNEL) {
            Self::Channel
        } else {
            Self::Other
        }
    }
}

impl Axis {
    /// An axis of a name, of the kind that the name stands for, without a unit.
    ///
    /// ```
    /// use rechunk_image::{Axis, AxisKind};
    /// assert_eq!(Axis::of_name("z").kind, AxisKind::Space);
    /// assert_eq!(Axis::of_name("Time").kind, AxisKind::Time);
    /// assert_eq!(Axis::of_name("wavelength").kind, AxisKind::Other);
    /// ```
    pub fn of_name(name: &str) -> Self {
        Self { name: name.to_owned(), kind: AxisKind::of_name(name), unit: None }
    }

    /// The axes that arrays of `rank` mostly have: `y, x`, up to `t, c, z, y, x`.
    pub(crate) fn of_rank(rank: usize) -> Vec<Self> {
        let names: &[&str] = match rank {
            1 => &["x"],
            2 => &["y", "x"],
            3 => &["z", "y", "x"],
            4 => &["c", "z", "y", "x"],
            5 => &["t", "c", "z", "y", "x"],
            _ => return (0..rank).map(|at| Self::of_name(&format!("dim_{at}"))).collect(),
        };
        names.iter().map(|name| Self::of_name(name)).collect()
    }
}

/// The names of axes, for messages.
pub(crate) fn names(axes: &[Axis]) -> String {
    axes.iter().map(|axis| axis.name.as_str()).collect::<Vec<_>>().join(", ")
}
