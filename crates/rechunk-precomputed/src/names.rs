//! Names in the document of a volume.

/// Key of the document of a volume, relative to it.
pub const INFO_KEY: &str = "info";

/// Fields of the document.
pub(crate) const AT_TYPE: &str = "@type";
pub(crate) const DATA_TYPE: &str = "data_type";
pub(crate) const NUM_CHANNELS: &str = "num_channels";
pub(crate) const SCALES: &str = "scales";

/// Field that holds the attributes of the user, which a volume has no place for.
pub(crate) const ATTRIBUTES: &str = "attributes";

/// Fields of a scale.
pub(crate) const KEY: &str = "key";
pub(crate) const SIZE: &str = "size";
pub(crate) const RESOLUTION: &str = "resolution";
pub(crate) const VOXEL_OFFSET: &str = "voxel_offset";
pub(crate) const CHUNK_SIZES: &str = "chunk_sizes";
pub(crate) const SHARDING: &str = "sharding";
pub(crate) const ENCODING: &str = "encoding";
pub(crate) const BLOCK_SIZE: &str = "compressed_segmentation_block_size";
pub(crate) const JPEG_QUALITY: &str = "jpeg_quality";
pub(crate) const PNG_LEVEL: &str = "png_level";

/// Field of a scale whose chunks are files compressed as a whole: the level of gzip. Only we write
/// it; others find such files by their ending.
pub(crate) const GZIP_LEVEL: &str = "rechunk_gzip_level";
