//! Metadata of images in several resolutions: OME-Zarr, BigDataViewer, N5 viewers, GeoZarr. Pure.
//!
//! [`read_image`] finds an image in the attributes of a group, [`documents`] gives the attributes
//! of a new one, [`upgrade`] goes from one version of OME-Zarr to another, and [`check_image`] says
//! where an image disagrees with its arrays. Axes, shapes, scales and factors are in C order, also
//! those of N5 documents, which say them in Fortran order.

mod added;
mod affine;
mod array_axes;
mod axis;
mod bdv;
mod bdv_xml;
mod check;
mod conventions;
mod cut;
mod dialect;
mod documents;
mod documents_geozarr;
mod documents_n5;
mod documents_ome;
mod documents_precomputed;
mod error;
mod found;
mod image;
mod layout;
mod placement;
mod read;
mod read_geozarr;
mod read_n5;
mod read_ome;
mod units;
mod upgrade;
mod upgrade_images;
mod values;

pub use added::with_levels;
pub use array_axes::{ArrayAxes, read_axes_from_array};
pub use axis::{Axis, AxisKind};
pub use bdv::{
    BdvDataset, BdvSetup, bdv_dataset, bdv_level_attributes, bdv_setup_attributes,
    bdv_timepoint_attributes,
};
pub use bdv_xml::{BdvServer, BdvViews, bdv_xml, bdv_xml_of, read_bdv_xml};
pub use check::{check_image, true_factors};
pub use cut::{AxisCut, cut_levels};
pub use dialect::{Container, Dialect};
pub use documents::{Documents, documents, labels_group};
pub use error::ImageError;
pub use found::{FoundImage, FoundLevel};
pub use image::{Image, Level, level_transform};
pub use layout::derive_from_kept;
pub use read::read_image;
pub use upgrade::{Upgraded, upgrade};

#[cfg(test)]
mod tests;
