//! Dialects: conventions in which programs say that arrays are one image.

use serde::{Deserialize, Serialize};

/// A convention for the metadata of an image in several resolutions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Dialect {
    /// OME-Zarr up to 0.4: `multiscales` in the attributes of a Zarr v2 group.
    #[serde(rename = "ome-zarr-0.4")]
    OmeZarr04,
    /// OME-Zarr 0.5: `ome` in the attributes of a Zarr v3 group.
    #[serde(rename = "ome-zarr-0.5")]
    OmeZarr05,
    /// OME-Zarr 0.6: as 0.5, with named coordinate systems.
    #[serde(rename = "ome-zarr-0.6")]
    OmeZarr06,
    /// An N5 container of BigDataViewer, with its XML.
    #[serde(rename = "bdv-n5")]
    BdvN5,
    /// N5 groups `s0`, `s1` … as N5 viewers and COSEM describe them.
    #[serde(rename = "n5-viewer")]
    N5Viewer,
    /// The Zarr conventions `multiscales`, `spatial` and `proj`.
    #[serde(rename = "geozarr")]
    GeoZarr,
    /// Arrays beside each other, without metadata of an image.
    #[serde(rename = "plain")]
    Plain,
    /// A volume of Neuroglancer: its document lists the levels, as scales.
    #[serde(rename = "precomputed")]
    Precomputed,
}

/// A format of arrays that a dialect is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    /// Zarr version 2.
    Zarr2,
    /// Zarr version 3.
    Zarr3,
    /// N5.
    N5,
    /// Neuroglancer's precomputed volumes.
    Precomputed,
    /// Each of them.
    Any,
}

impl Dialect {
    /// Every dialect, in the order of their names in help.
    pub const ALL: [Self; 8] = [
        Self::OmeZarr04,
        Self::OmeZarr05,
        Self::OmeZarr06,
        Self::BdvN5,
        Self::N5Viewer,
        Self::GeoZarr,
        Self::Plain,
        Self::Precomputed,
    ];

    /// The name that people type and documents hold.
    ///
    /// ```
    /// use rechunk_image::Dialect;
    /// assert_eq!(Dialect::OmeZarr05.name(), "ome-zarr-0.5");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Self::OmeZarr04 => "ome-zarr-0.4",
            Self::OmeZarr05 => "ome-zarr-0.5",
            Self::OmeZarr06 => "ome-zarr-0.6",
            Self::BdvN5 => "bdv-n5",
            Self::N5Viewer => "n5-viewer",
            Self::GeoZarr => "geozarr",
            Self::Plain => "plain",
            Self::Precomputed => "precomputed",
        }
    }

    /// True for a version of OME-Zarr.
    ///
    /// ```
    /// use rechunk_image::Dialect;
    /// assert!(Dialect::OmeZarr06.is_ome() && !Dialect::GeoZarr.is_ome());
    /// ```
    pub fn is_ome(self) -> bool {
        matches!(self, Self::OmeZarr04 | Self::OmeZarr05 | Self::OmeZarr06)
    }

    /// The dialect of a name; `None` if no dialect has it.
    ///
    /// ```
    /// use rechunk_image::Dialect;
    /// assert_eq!(Dialect::from_name("bdv-n5"), Some(Dialect::BdvN5));
    /// assert_eq!(Dialect::from_name("BDV"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// The format of arrays that readers of the dialect look for.
    ///
    /// ```
    /// use rechunk_image::{Container, Dialect};
    /// assert_eq!(Dialect::OmeZarr04.container(), Container::Zarr2);
    /// ```
    pub fn container(self) -> Container {
        match self {
            Self::OmeZarr04 => Container::Zarr2,
            Self::OmeZarr05 | Self::OmeZarr06 | Self::GeoZarr => Container::Zarr3,
            Self::BdvN5 | Self::N5Viewer => Container::N5,
            Self::Plain => Container::Any,
            Self::Precomputed => Container::Precomputed,
        }
    }

    /// The version that documents of OME-Zarr hold; `None` for other dialects.
    pub(crate) fn ome_version(self) -> Option<&'static str> {
        match self {
            Self::OmeZarr04 => Some("0.4"),
            Self::OmeZarr05 => Some("0.5"),
            Self::OmeZarr06 => Some("0.6"),
            Self::BdvN5 | Self::N5Viewer | Self::GeoZarr | Self::Plain | Self::Precomputed => None,
        }
    }
}
