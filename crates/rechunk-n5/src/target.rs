//! The metadata of a dataset that is about to be written.

use rechunk_format::FormatError;
use rechunk_grid::ArraySpec;
use serde_json::{Map, Value};

use crate::compression::Compression;
use crate::data_type::N5Type;
use crate::dimension_names::{AxisOrder, write_names};
use crate::metadata::{
    BLOCK_SIZE, COMPRESSION, COMPRESSION_TYPE, DATA_TYPE, DIMENSIONS, N5Metadata, field,
};
use crate::version::{N5Version, VERSION_KEY};

/// Names in `attributes.json` that a user's attributes cannot have.
pub(crate) const RESERVED: [&str; 6] =
    [VERSION_KEY, DIMENSIONS, BLOCK_SIZE, DATA_TYPE, COMPRESSION, COMPRESSION_TYPE];

/// Choices for a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct N5Target {
    /// Its compression.
    pub compression: Compression,
    /// Order in which its axes are written.
    pub axis_order: AxisOrder,
    /// The version it says, if it is the root of its container.
    pub version: Option<N5Version>,
}

impl N5Metadata {
    /// The metadata of a dataset that holds the array `spec`, with chunks of `spec.chunk_shape`,
    /// and a sentence for whatever cannot be kept.
    pub fn new_target(
        spec: &ArraySpec,
        attributes: &Map<String, Value>,
        target: &N5Target,
    ) -> Result<(Self, Vec<String>), FormatError> {
        let data_type = N5Type::of(spec.data_type).ok_or_else(|| {
            let hint = "N5 has integers of 8 to 64 bits, float32 and float64: use --format zarr3";
            field(DATA_TYPE).unsupported(format!("data type {:?}", spec.data_type.name()), hint)
        })?;
        let mut warnings = Vec::new();
        let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        if spec.fill_value.as_ref().is_some_and(|fill| !is_zero(&fill.bytes)) {
            let reason = "N5 has no fill value: chunks that are missing are written in full";
            warnings.push(reason.to_owned());
        }
        let mut attributes = attributes.clone();
        for name in RESERVED {
            if attributes.shift_remove(name).is_some() {
                let reason = "is a name that N5 uses itself: it is left out";
                warnings.push(format!("the attribute {name:?} {reason}"));
            }
        }
        write_names(
            &mut attributes,
            spec.dimension_names.as_deref().unwrap_or_default(),
            target.axis_order,
        );
        let metadata = Self {
            dimensions: target.axis_order.turn(&spec.shape),
            block_size: target.axis_order.turn(&spec.chunk_shape),
            data_type,
            compression: target.compression,
            version: target.version,
            attributes,
        };
        metadata.check()?;
        Ok((metadata, warnings))
    }
}
