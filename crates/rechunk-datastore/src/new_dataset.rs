//! A data set as a client asks for it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::dataset::{Dataset, Measure};
use crate::json_field::JsonField;
use crate::{DatastoreError, Level, Storage};

/// Most elements along an axis: Java's `long`.
const EXTENT_MAX: u64 = i64::MAX.unsigned_abs();
/// Largest decoded block, bytes.
const BLOCK_BYTES_MAX: u64 = 1 << 30;
/// Most resolutions.
const LEVELS_MAX: usize = 32;
/// Most arrays of a version: a level of a channel at an angle at a timepoint.
pub(crate) const ARRAYS_MAX: u64 = 1 << 17;
/// Most characters of a label.
const LABEL_MAX: usize = 200;
/// Characters that a label does not have: those that some file system refuses.
const NOT_IN_LABELS: &str = ":\\/*\"?|<>'";

/// The description of a data set that is to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDataset {
    dataset: Dataset,
}

impl NewDataset {
    /// Reads the JSON of a client. Keys that nobody knows are ignored, as are `uuid` and
    /// `versions`; numbers may be strings. An error names the field.
    pub fn from_json(value: &Value) -> Result<Self, DatastoreError> {
        let Value::Object(map) = value else {
            let reason = "the description of a data set is a JSON object";
            return Err(DatastoreError::Senseless(reason.to_owned()));
        };
        let count = |name: &str| {
            JsonField::of(map, name).map_or(Ok(1), |field| field.integer(1, ARRAYS_MAX))
        };
        let dataset = Dataset {
            uuid: String::new(),
            voxel_type: JsonField::needed(map, "voxelType")?.text()?.to_owned(),
            dimensions: JsonField::needed(map, "dimensions")?
                .array(|extent| extent.integer(1, EXTENT_MAX))?,
            timepoint_ids: timepoint_ids(map)?,
            channels: count("channels")?,
            angles: count("angles")?,
            transformations: transformations(map)?,
            voxel_unit: text(map, "voxelUnit")?,
            voxel_resolution: JsonField::of(map, "voxelResolution")
                .map(|field| field.array(JsonField::float))
                .transpose()?,
            timepoint_resolution: measure(map, "timepointResolution")?,
            channel_resolution: measure(map, "channelResolution")?,
            angle_resolution: measure(map, "angleResolution")?,
            compression: compression(map)?,
            storage: storage(map)?,
            resolution_levels: levels(map)?,
            label: text(map, "label")?.map(|label| clean_label(&label)),
        };
        check(&dataset)?;
        Ok(Self { dataset })
    }

    /// The data set, with a name.
    pub fn named(self, uuid: String) -> Dataset {
        Dataset { uuid, ..self.dataset }
    }
}

/// Checks what fields have to do with each other.
pub(crate) fn check(dataset: &Dataset) -> Result<(), DatastoreError> {
    let wrong = |field: &str, reason: String| {
        Err(DatastoreError::Field { field: field.to_owned(), reason })
    };
    let item_bytes = dataset.data_type()?.item_bytes();
    dataset.codec()?;
    let mut factors = BTreeSet::new();
    for (at, level) in dataset.resolution_levels.iter().enumerate() {
        let field = format!("resolutionLevels[{at}]");
        if !factors.insert(level.resolutions) {
            return wrong(&field, format!("{:?} is there already", level.resolutions));
        }
        let sizes = level.block_dimensions.iter();
        let bytes = sizes.fold(item_bytes, |bytes, size| bytes.saturating_mul(*size));
        if bytes > BLOCK_BYTES_MAX {
            let reason = format!("a block has {bytes} bytes, at most {BLOCK_BYTES_MAX} are taken");
            return wrong(&format!("{field}.blockDimensions"), reason);
        }
        check_stored(dataset, level, &field)?;
    }
    let counts = [
        u64::try_from(dataset.timepoint_ids.len()).unwrap_or(u64::MAX),
        dataset.channels,
        dataset.angles,
        u64::try_from(dataset.resolution_levels.len()).unwrap_or(u64::MAX),
    ];
    let arrays = counts.iter().fold(1, |product: u64, count| product.saturating_mul(*count));
    if arrays > ARRAYS_MAX {
        let reason = "times timepoints, angles and resolutions";
        return wrong("channels", format!("{reason} are {arrays} arrays, more than {ARRAYS_MAX}"));
    }
    Ok(())
}

/// Checks that blocks of a level can be stored.
fn check_stored(dataset: &Dataset, level: &Level, field: &str) -> Result<(), DatastoreError> {
    let wrong = |field: String, reason: String| Err(DatastoreError::Field { field, reason });
    let made = match dataset.storage {
        Storage::N5 if level.shard_dimensions.is_some() => {
            let reason = "N5 has no shards: say \"storage\": \"zarr3\"".to_owned();
            return wrong(format!("{field}.shardDimensions"), reason);
        }
        Storage::N5 => dataset.n5_layout(level).map(drop),
        Storage::Zarr3 => dataset.zarr_layout(level).map(drop),
    };
    match made {
        Err(error @ DatastoreError::Field { .. }) => Err(error),
        Err(error) => wrong(field.to_owned(), error.to_string()),
        Ok(()) => Ok(()),
    }
}

/// The format of blocks; N5 where nothing is said.
fn storage(map: &Map<String, Value>) -> Result<Storage, DatastoreError> {
    let Some(field) = JsonField::of(map, "storage") else { return Ok(Storage::default()) };
    let name = field.text()?;
    Storage::from_name(name).ok_or_else(|| {
        let known = Storage::ALL.map(Storage::name).join(", ");
        field.wrong(format!("{name:?} is not known: {known}"))
    })
}

fn timepoint_ids(map: &Map<String, Value>) -> Result<Vec<u64>, DatastoreError> {
    let Some(field) = JsonField::of(map, "timepointIds") else {
        let count = JsonField::of(map, "timepoints");
        let count = count.map_or(Ok(1), |field| field.integer(1, ARRAYS_MAX))?;
        return Ok((0..count).collect());
    };
    let most = u64::from(i32::MAX.unsigned_abs());
    let ids = field.items()?.iter().map(|id| id.integer(0, most)).collect::<Result<Vec<_>, _>>()?;
    let sorted: BTreeSet<u64> = ids.iter().copied().collect();
    if ids.is_empty() {
        return Err(field.wrong("is empty"));
    }
    if sorted.len() != ids.len() {
        return Err(field.wrong("has a number twice"));
    }
    Ok(sorted.into_iter().collect())
}

fn transformations(map: &Map<String, Value>) -> Result<Option<Vec<[f64; 12]>>, DatastoreError> {
    let Some(field) = JsonField::of(map, "transformations") else { return Ok(None) };
    let items = field.items()?;
    items.iter().map(|affine| affine.array(JsonField::float)).collect::<Result<_, _>>().map(Some)
}

fn text(map: &Map<String, Value>, name: &str) -> Result<Option<String>, DatastoreError> {
    JsonField::of(map, name).map(|field| Ok(field.text()?.to_owned())).transpose()
}

fn measure(map: &Map<String, Value>, name: &str) -> Result<Option<Measure>, DatastoreError> {
    let Some(field) = JsonField::of(map, name) else { return Ok(None) };
    let unit = field.child("unit")?.text()?.to_owned();
    Ok(Some(Measure { value: field.child("value")?.float()?, unit }))
}

/// The compression; the design document calls it `storageCompression`.
fn compression(map: &Map<String, Value>) -> Result<String, DatastoreError> {
    let other = JsonField::of(map, "storageCompression");
    let field = JsonField::of(map, "compression").or(other);
    let field = field.map_or_else(|| JsonField::needed(map, "compression"), Ok)?;
    let name = field.text()?.to_lowercase();
    // A word of upstream's client in Python.
    Ok(if name == "none" { "raw".to_owned() } else { name })
}

fn levels(map: &Map<String, Value>) -> Result<Vec<Level>, DatastoreError> {
    let field = JsonField::needed(map, "resolutionLevels")?;
    let items = field.items()?;
    if items.is_empty() || items.len() > LEVELS_MAX {
        let reason = format!("has {} items; a data set has 1 to {LEVELS_MAX}", items.len());
        return Err(field.wrong(reason));
    }
    let most = u64::from(i32::MAX.unsigned_abs());
    let level = |item: &JsonField| {
        Ok(Level {
            resolutions: item.child("resolutions")?.array(|factor| factor.integer(1, most))?,
            block_dimensions: item.child("blockDimensions")?.array(|size| size.integer(1, most))?,
            shard_dimensions: item
                .optional("shardDimensions")?
                .map(|field| field.array(|size| size.integer(1, most)))
                .transpose()?,
        })
    };
    items.iter().map(level).collect()
}

/// A label with spaces for characters that it does not have.
pub(crate) fn clean_label(label: &str) -> String {
    let character = |c: char| if NOT_IN_LABELS.contains(c) || c.is_control() { ' ' } else { c };
    label.chars().take(LABEL_MAX).map(character).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn description() -> Value {
        json!({
            "voxelType": "uint16", "dimensions": [100, 80, 60], "compression": "gzip",
            "resolutionLevels": [
                {"resolutions": [1, 1, 1], "blockDimensions": [64, 64, 64]},
                {"resolutions": [2, 2, 1], "blockDimensions": [64, 64, 64]},
            ],
        })
    }

    fn read(value: &Value) -> Result<Dataset, DatastoreError> {
        NewDataset::from_json(value).map(|new| new.named("u".to_owned()))
    }

    #[test]
    fn counts_that_are_not_said_are_one() {
        let dataset = read(&description()).unwrap();
        assert_eq!((dataset.channels, dataset.angles), (1, 1));
        assert_eq!(dataset.timepoint_ids, [0]);
        assert_eq!(dataset.resolution_levels[1].dimensions(dataset.dimensions), [50, 40, 60]);
    }

    #[test]
    fn numbers_may_be_texts_and_doubles() {
        let mut value = description();
        value["dimensions"] = json!(["100", 80.0, "60"]);
        value["resolutionLevels"][0]["resolutions"] = json!(["1", "1", "1"]);
        assert_eq!(read(&value).unwrap(), read(&description()).unwrap());
    }

    #[test]
    fn errors_name_the_field() {
        for (path, wrong, field) in [
            ("/voxelType", json!("uint128"), "voxelType"),
            ("/voxelType", json!(null), "voxelType"),
            ("/compression", json!("foo"), "compression"),
            ("/compression", json!(null), "compression"),
            ("/dimensions", json!([1, 0, 1]), "dimensions[1]"),
            ("/dimensions", json!([1, -1, 1]), "dimensions[1]"),
            ("/dimensions", json!([1, 1.5, 1]), "dimensions[1]"),
            ("/dimensions", json!([1, 1]), "dimensions"),
            ("/resolutionLevels", json!([]), "resolutionLevels"),
            ("/resolutionLevels", json!(null), "resolutionLevels"),
            ("/resolutionLevels/1/resolutions", json!([2, 2]), "resolutionLevels[1].resolutions"),
            (
                "/resolutionLevels/1/resolutions",
                json!([2, 0, 1]),
                "resolutionLevels[1].resolutions[1]",
            ),
            ("/resolutionLevels/1/resolutions", json!([1, 1, 1]), "resolutionLevels[1]"),
            (
                "/resolutionLevels/0/blockDimensions",
                json!([0, 1, 1]),
                "resolutionLevels[0].blockDimensions[0]",
            ),
            (
                "/resolutionLevels/0/blockDimensions",
                json!([1024, 1024, 1024]),
                "resolutionLevels[0].blockDimensions",
            ),
            (
                "/resolutionLevels/0/blockDimensions",
                json!([2_147_483_647, 2_147_483_647, 2_147_483_647]),
                "resolutionLevels[0].blockDimensions",
            ),
        ] {
            let mut value = description();
            *value.pointer_mut(path).unwrap() = wrong.clone();
            let Err(DatastoreError::Field { field: said, .. }) = read(&value) else {
                panic!("{path} {wrong}: {:?}", read(&value));
            };
            assert_eq!(said, field, "{wrong}");
        }
        for (name, wrong) in [
            ("timepoints", json!(0)),
            ("timepointIds", json!([])),
            ("timepointIds", json!([3, 3])),
            ("timepointIds", json!([-1])),
            ("channels", json!(1_u64 << 40)),
            ("channels", json!(1 << 17)),
            ("angles", json!("many")),
            ("transformations", json!([[1, 2]])),
            ("voxelResolution", json!([1, 2])),
            ("voxelResolution", json!([1, 2, "NaN"])),
            ("timepointResolution", json!({"value": 1})),
            ("label", json!(7)),
        ] {
            let mut value = description();
            value[name] = wrong;
            let error = read(&value).unwrap_err().to_string();
            assert!(error.starts_with(name), "{name}: {error}");
        }
    }

    #[test]
    fn labels_are_names_of_files() {
        assert_eq!(clean_label("a/b:c"), "a b c");
        assert_eq!(clean_label("a\nb'<>"), "a b   ");
    }
}
