//! A data set as it is recorded, and as clients see it.

use rechunk_format::ElementOrder;
use rechunk_grid::{ArraySpec, DataType, FillValue};
use rechunk_n5::{AxisOrder, Compression, N5Layout, N5Metadata, N5Type, parse_compression};
use rechunk_zarr::{
    ArrayMetadata, KeyEncoding, KeyStyle, TargetOptions, Verbatim, ZarrLayout, ZarrVersion,
    parse_codec_choice, target_metadata,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{DatastoreError, Level, Storage, View};

/// A distance between neighbours, and its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Its value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// A data set, without its versions, which are the folders that it has. Lists are x, y, z.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dataset {
    /// Its name.
    pub uuid: String,
    /// Type of an element, as N5 spells it.
    pub voxel_type: String,
    /// Elements along each axis at the finest resolution.
    pub dimensions: [u64; 3],
    /// Numbers of its timepoints, in order.
    pub timepoint_ids: Vec<u64>,
    /// Count of channels.
    pub channels: u64,
    /// Count of angles.
    pub angles: u64,
    /// An affine for each angle: three rows of four.
    pub transformations: Option<Vec<[f64; 12]>>,
    /// Unit of `voxel_resolution`.
    pub voxel_unit: Option<String>,
    /// Size of an element at the finest resolution.
    pub voxel_resolution: Option<[f64; 3]>,
    /// Distance between timepoints.
    pub timepoint_resolution: Option<Measure>,
    /// Distance between channels.
    pub channel_resolution: Option<Measure>,
    /// Distance between angles.
    pub angle_resolution: Option<Measure>,
    /// Compression of blocks, as N5 spells it.
    pub compression: String,
    /// Format that blocks are stored in.
    #[serde(default)]
    pub storage: Storage,
    /// Its resolutions.
    pub resolution_levels: Vec<Level>,
    /// A name for people.
    pub label: Option<String>,
}

impl Dataset {
    /// The type of an element.
    pub fn data_type(&self) -> Result<DataType, DatastoreError> {
        let data_type = DataType::from_name(&self.voxel_type);
        data_type.filter(|data_type| N5Type::of(*data_type).is_some()).ok_or_else(|| {
            let known =
                "uint8, uint16, uint32, uint64, int8, int16, int32, int64, float32, float64";
            let reason = format!("{:?} is no type of N5: {known}", self.voxel_type);
            DatastoreError::Field { field: "voxelType".to_owned(), reason }
        })
    }

    /// The compression of blocks.
    pub fn codec(&self) -> Result<Compression, DatastoreError> {
        let wrong =
            |reason: String| DatastoreError::Field { field: "compression".to_owned(), reason };
        let name = self.compression.as_str();
        match Compression::with_defaults(name) {
            // That of N5's Java library needs a plug-in and does not shuffle.
            Some(Compression::Blosc { .. }) => {
                parse_compression(name).map_err(|error| wrong(error.to_string()))
            }
            Some(compression) => Ok(compression),
            None => {
                let known = "raw, gzip, bzip2, lz4, xz, zstd, blosc";
                Err(wrong(format!("{name:?} is not known: {known}")))
            }
        }
    }

    /// The layout of the blocks of a level in N5, with axes as they are there.
    pub(crate) fn n5_layout(&self, level: &Level) -> Result<N5Layout, DatastoreError> {
        let metadata = N5Metadata {
            dimensions: level.dimensions(self.dimensions).to_vec(),
            block_size: level.block_dimensions.to_vec(),
            data_type: N5Type::Number(self.data_type()?),
            compression: self.codec()?,
            version: None,
            attributes: Map::new(),
        };
        Ok(N5Layout::new(metadata, AxisOrder::Kept)?)
    }

    /// Shape of the array of a level in Zarr: t, c, z, y, x.
    pub(crate) fn array_shape(&self, level: &Level) -> Vec<u64> {
        let [x, y, z] = level.dimensions(self.dimensions);
        let times = u64::try_from(self.timepoint_ids.len()).unwrap_or(u64::MAX);
        vec![times, self.channels, z, y, x]
    }

    /// The layout of the blocks of a level in Zarr: chunks of one timepoint and channel.
    pub(crate) fn zarr_layout(&self, level: &Level) -> Result<ZarrLayout, DatastoreError> {
        let chunk = |[x, y, z]: [u64; 3]| vec![1, 1, z, y, x];
        let (data_type, shape) = (self.data_type()?, self.array_shape(level));
        let names = ["t", "c", "z", "y", "x"].map(|name| Some(name.to_owned()));
        let plain = ArrayMetadata {
            order: ElementOrder::c_little(shape.len()),
            spec: ArraySpec {
                shape,
                data_type,
                chunk_shape: chunk(level.block_dimensions),
                edges: None,
                fill_value: Some(FillValue::zero(data_type.item_bytes())),
                dimension_names: Some(names.into()),
            },
            version: ZarrVersion::V3,
            codecs: Vec::new(),
            sharding: None,
            key_encoding: KeyEncoding { style: KeyStyle::Default, separator: '/' },
            attributes: Map::new(),
            verbatim: Verbatim::default(),
        };
        let options = TargetOptions {
            version: ZarrVersion::V3,
            chunk_shape: plain.spec.chunk_shape.clone(),
            shard_shape: level.shard_dimensions.map(chunk),
            codec: Some(parse_codec_choice(self.zarr_codec()?)?),
        };
        let (metadata, _) = target_metadata(&plain, &options)?;
        Ok(ZarrLayout::new(metadata)?)
    }

    /// The compression of blocks, as this project spells codecs of Zarr.
    fn zarr_codec(&self) -> Result<&'static str, DatastoreError> {
        Ok(match self.compression.as_str() {
            "raw" => "none",
            "gzip" => "gzip",
            "zstd" => "zstd",
            "blosc" => "blosc",
            other => {
                let reason = format!(
                    "{other:?} is no codec of Zarr 3 that readers have: raw, gzip, zstd, blosc"
                );
                return Err(DatastoreError::Field { field: "compression".to_owned(), reason });
            }
        })
    }

    /// The number of a level by its factors.
    pub fn level_at(&self, factors: [u64; 3]) -> Result<usize, DatastoreError> {
        let levels = self.resolution_levels.iter();
        levels.map(|level| level.resolutions).position(|own| own == factors).ok_or_else(|| {
            let [x, y, z] = factors;
            DatastoreError::Unknown(format!("the data set has no resolution {x}/{y}/{z}"))
        })
    }

    /// The number of a setup in BigDataViewer: a channel at an angle.
    pub fn setup(&self, channel: u64, angle: u64) -> u64 {
        Self::setup_of(channel, angle, self.angles)
    }

    /// [`Dataset::setup`] of a data set of so many angles.
    pub(crate) fn setup_of(channel: u64, angle: u64, angles: u64) -> u64 {
        channel.saturating_mul(angles).saturating_add(angle)
    }

    /// The view of a setup at a timepoint.
    pub fn view_of(&self, setup: u64, time: u64) -> View {
        let angles = self.angles.max(1);
        View { time, channel: setup / angles, angle: setup % angles }
    }

    /// All views, by timepoint, channel, then angle.
    pub fn views(&self) -> Vec<View> {
        let setups = 0..self.setup(self.channels, 0);
        let times = self.timepoint_ids.iter();
        times.flat_map(|&time| setups.clone().map(move |setup| self.view_of(setup, time))).collect()
    }

    /// Refuses timepoints, channels and angles that the data set does not have.
    pub fn check_view(&self, time: u64, channel: u64, angle: u64) -> Result<(), DatastoreError> {
        let unknown = |what: &str, number: u64| {
            Err(DatastoreError::Unknown(format!("the data set has no {what} {number}")))
        };
        if !self.timepoint_ids.contains(&time) {
            return unknown("timepoint", time);
        }
        if channel >= self.channels {
            return unknown("channel", channel);
        }
        if angle >= self.angles {
            return unknown("angle", angle);
        }
        Ok(())
    }

    /// The description that clients get, of a data set with these versions. It has no further key:
    /// clients refuse those that they do not know.
    pub fn to_json(&self, versions: &[u64]) -> Value {
        let level = |level: &Level| {
            let Level { resolutions, block_dimensions, .. } = level;
            json!({"resolutions": resolutions, "blockDimensions": block_dimensions})
        };
        let levels: Vec<Value> = self.resolution_levels.iter().map(level).collect();
        json!({
            "uuid": self.uuid,
            "voxelType": self.voxel_type,
            "dimensions": self.dimensions,
            "timepoints": self.timepoint_ids.len(),
            "channels": self.channels,
            "angles": self.angles,
            "transformations": self.transformations,
            "voxelUnit": self.voxel_unit,
            "voxelResolution": self.voxel_resolution,
            "timepointResolution": self.timepoint_resolution,
            "channelResolution": self.channel_resolution,
            "angleResolution": self.angle_resolution,
            "compression": self.compression,
            "resolutionLevels": levels,
            "versions": versions,
            "label": self.label,
            "viewRegistrations": null,
            "timepointIds": self.timepoint_ids,
            "datasetType": null,
        })
    }
}
