//! Neuroglancer's precomputed volumes as a format: `info` and chunks. Pure: no I/O, no async.
//!
//! [`parse_info`] reads an `info` into a [`Volume`], of which each [`Scale`] is an array:
//! [`Volume::array`] gives its [`PrecomputedMetadata`]. [`PrecomputedMetadata::new_target`] makes
//! that of an array to be written, and [`PrecomputedMetadata::document`] its `info`.
//! [`PrecomputedLayout`] says where chunks are and codes them.
//!
//! A volume counts its axes x, y, z, channel, the first fastest; here they are `z, y, x`, or
//! `c, z, y, x` where there are several channels, in C order. No element moves either way.
//!
//! What is read here was written by others: documents and chunks are bounded before they are
//! believed, and no header's claim becomes an allocation. Formats: the specification of
//! Neuroglancer, <https://github.com/google/neuroglancer>; what tensorstore and cloud-volume do.

mod attributes;
mod choice;
mod chunk_name;
mod cseg;
mod encoding;
mod field;
mod images;
mod info;
mod layout;
mod metadata;
mod names;
mod packed_objects;
mod scale;
mod sharding;
mod target;
mod volume;
mod voxel_type;

pub use attributes::derived_names;
pub use choice::{Choice, parse_choice};
pub use encoding::{BlockSize, Encoding, JpegQuality};
pub use info::{Volume, is_volume, parse_info};
pub use layout::PrecomputedLayout;
pub use metadata::{CHUNK_BYTES_MAX, GZIP_LEVEL_DEFAULT, Packing, PrecomputedMetadata};
pub use names::INFO_KEY;
pub use scale::Scale;
pub use sharding::{ShardHash, Sharding};
pub use target::{PrecomputedTarget, TargetShards};
pub use volume::{scale_key, volume_document};
