//! Data sets as rows of tables.

use rechunk_datastore::{Dataset, DatastoreError, Known};
use serde_json::{Map, Value, json};
use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AnyConnection, Row};

use crate::failures::failed;

/// Fields of a description that have columns. All others are together in one.
const WITH_COLUMNS: [&str; 16] = [
    "uuid",
    "voxelType",
    "dimensions",
    "timepointIds",
    "channels",
    "angles",
    "transformations",
    "voxelUnit",
    "voxelResolution",
    "timepointResolution",
    "channelResolution",
    "angleResolution",
    "compression",
    "storage",
    "resolutionLevels",
    "label",
];

const SELECT: &str = "SELECT uuid, voxel_type, dimension_x, dimension_y, dimension_z, timepoint_ids, \
    channels, angles, transformations, voxel_unit, voxel_resolution_x, voxel_resolution_y, \
    voxel_resolution_z, timepoint_resolution, timepoint_unit, channel_resolution, channel_unit, \
    angle_resolution, angle_unit, compression, label, more, \
    storage, (SELECT string_agg(CAST(number AS TEXT), ',') FROM dataset_versions WHERE dataset_uuid = $1) \
    AS versions FROM dataset_info WHERE uuid = $1";

const LEVELS: &str = "SELECT factor_x, factor_y, factor_z, block_x, block_y, block_z, \
    shard_x, shard_y, shard_z FROM dataset_resolutions WHERE dataset_uuid = $1 ORDER BY number";

const TEXT: &str = "SELECT common_metadata FROM dataset_info WHERE uuid = $1";

const INSERT: &str = "INSERT INTO dataset_info (voxel_type, dimension_x, dimension_y, dimension_z, \
    timepoint_ids, channels, angles, transformations, voxel_unit, voxel_resolution_x, \
    voxel_resolution_y, voxel_resolution_z, timepoint_resolution, timepoint_unit, \
    channel_resolution, channel_unit, angle_resolution, angle_unit, compression, label, more, storage, uuid, \
    common_metadata) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, \
    $17, $18, $19, $20, $21, $22, $23, $24)";

const UPDATE: &str = "UPDATE dataset_info SET voxel_type = $1, dimension_x = $2, dimension_y = $3, \
    dimension_z = $4, timepoint_ids = $5, channels = $6, angles = $7, transformations = $8, \
    voxel_unit = $9, voxel_resolution_x = $10, voxel_resolution_y = $11, voxel_resolution_z = $12, \
    timepoint_resolution = $13, timepoint_unit = $14, channel_resolution = $15, channel_unit = $16, \
    angle_resolution = $17, angle_unit = $18, compression = $19, label = $20, more = $21, \
    storage = $22 WHERE uuid = $23";

/// A number as columns have it.
pub(crate) fn column(number: u64) -> Result<i64, DatastoreError> {
    i64::try_from(number)
        .map_err(|_| DatastoreError::Senseless(format!("{number} is no number of a data set")))
}

fn damaged(id: &str, reason: impl std::fmt::Display) -> DatastoreError {
    DatastoreError::Register(format!("the row of {id}: {reason}"))
}

/// Finds the data set `id` and its versions.
pub(crate) async fn find(
    connection: &mut AnyConnection,
    id: &str,
) -> Result<Option<Known>, sqlx::Error> {
    let row = sqlx::query(SELECT).bind(id.to_owned()).fetch_optional(&mut *connection).await?;
    let Some(row) = row else { return Ok(None) };
    let levels = sqlx::query(LEVELS).bind(id.to_owned()).fetch_all(connection).await?;
    // Removed between the two.
    if levels.is_empty() {
        return Ok(None);
    }
    known(&row, &levels).map(Some)
}

fn known(row: &AnyRow, levels: &[AnyRow]) -> Result<Known, sqlx::Error> {
    let level = |row: &AnyRow| {
        let whole = |name: &str| row.try_get::<i64, _>(name);
        let some = |name: &str| row.try_get::<Option<i64>, _>(name);
        let shard = match (some("shard_x")?, some("shard_y")?, some("shard_z")?) {
            (Some(x), Some(y), Some(z)) => json!([x, y, z]),
            _ => Value::Null,
        };
        Ok::<_, sqlx::Error>(json!({
            "resolutions": [whole("factor_x")?, whole("factor_y")?, whole("factor_z")?],
            "blockDimensions": [whole("block_x")?, whole("block_y")?, whole("block_z")?],
            "shardDimensions": shard,
        }))
    };
    let levels = levels.iter().map(level).collect::<Result<Vec<Value>, _>>()?;
    let whole = |name: &str| row.try_get::<i64, _>(name);
    let text = |name: &str| row.try_get::<Option<String>, _>(name);
    let float = |name: &str| row.try_get::<Option<f64>, _>(name);
    let parsed = |name: &str| {
        let text = text(name)?.unwrap_or_else(|| "null".to_owned());
        serde_json::from_str::<Value>(&text).map_err(|error| sqlx::Error::Decode(error.into()))
    };
    let measure = |value: &str, unit: &str| {
        let measure = float(value)?.zip(text(unit)?);
        Ok::<_, sqlx::Error>(measure.map(|(value, unit)| json!({"value": value, "unit": unit})))
    };
    let sizes =
        (float("voxel_resolution_x")?, float("voxel_resolution_y")?, float("voxel_resolution_z")?);
    let voxel_resolution = match sizes {
        (Some(x), Some(y), Some(z)) => json!([x, y, z]),
        _ => Value::Null,
    };
    let mut fields: Map<String, Value> = match parsed("more")? {
        Value::Object(more) => more,
        _ => Map::new(),
    };
    for (name, value) in [
        ("uuid", json!(text("uuid")?)),
        ("voxelType", json!(text("voxel_type")?)),
        (
            "dimensions",
            json!([whole("dimension_x")?, whole("dimension_y")?, whole("dimension_z")?]),
        ),
        ("timepointIds", parsed("timepoint_ids")?),
        ("channels", json!(whole("channels")?)),
        ("angles", json!(whole("angles")?)),
        ("transformations", parsed("transformations")?),
        ("voxelUnit", json!(text("voxel_unit")?)),
        ("voxelResolution", voxel_resolution),
        ("timepointResolution", json!(measure("timepoint_resolution", "timepoint_unit")?)),
        ("channelResolution", json!(measure("channel_resolution", "channel_unit")?)),
        ("angleResolution", json!(measure("angle_resolution", "angle_unit")?)),
        ("compression", json!(text("compression")?)),
        ("storage", json!(text("storage")?)),
        ("resolutionLevels", Value::Array(levels)),
        ("label", json!(text("label")?)),
    ] {
        fields.insert(name.to_owned(), value);
    }
    let dataset = serde_json::from_value(Value::Object(fields));
    let dataset: Dataset = dataset.map_err(|error| sqlx::Error::Decode(error.into()))?;
    let numbers = text("versions")?.unwrap_or_default();
    let numbers = numbers.split(',').filter(|number| !number.is_empty()).map(str::parse);
    let numbers = numbers.collect::<Result<Vec<u64>, _>>();
    let mut versions = numbers.map_err(|error| sqlx::Error::Decode(error.into()))?;
    versions.sort_unstable();
    Ok(Known { dataset, versions })
}

/// Binds the columns of a description, `uuid` last.
fn bound<'q>(
    sql: &'static str,
    dataset: &Dataset,
) -> Result<Query<'q, Any, AnyArguments>, DatastoreError> {
    let id = &dataset.uuid;
    let json = |value: Result<String, serde_json::Error>| value.map_err(|error| damaged(id, error));
    let mut more = match serde_json::to_value(dataset) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => Map::new(),
        Err(error) => return Err(damaged(id, error)),
    };
    more.retain(|name, _| !WITH_COLUMNS.contains(&name.as_str()));
    let more = (!more.is_empty()).then(|| Value::Object(more).to_string());
    let transformations = dataset.transformations.as_ref();
    let transformations =
        transformations.map(|all| json(serde_json::to_string(all))).transpose()?;
    let [x, y, z] = dataset.dimensions;
    // Not kept: sqlx 0.9.0 prepares it for floats of 32 bits where a float is absent, and then
    // sends one of 64 bits to it.
    let mut query = sqlx::query(sql)
        .persistent(false)
        .bind(dataset.voxel_type.clone())
        .bind(column(x)?)
        .bind(column(y)?)
        .bind(column(z)?)
        .bind(json(serde_json::to_string(&dataset.timepoint_ids))?)
        .bind(column(dataset.channels)?)
        .bind(column(dataset.angles)?)
        .bind(transformations)
        .bind(dataset.voxel_unit.clone());
    for axis in 0..3 {
        query = query.bind(dataset.voxel_resolution.map(|size| size[axis]));
    }
    let measures =
        [&dataset.timepoint_resolution, &dataset.channel_resolution, &dataset.angle_resolution];
    for measure in measures {
        query = query.bind(measure.as_ref().map(|measure| measure.value));
        query = query.bind(measure.as_ref().map(|measure| measure.unit.clone()));
    }
    let query = query.bind(dataset.compression.clone()).bind(dataset.label.clone()).bind(more);
    Ok(query.bind(dataset.storage.name()).bind(id.clone()))
}

/// Writes a data set without versions, which is not there yet.
pub(crate) async fn insert(
    connection: &mut AnyConnection,
    dataset: &Dataset,
    common_metadata: String,
) -> Result<(), DatastoreError> {
    let query = bound(INSERT, dataset)?.bind(common_metadata.into_bytes());
    query.execute(&mut *connection).await.map_err(|error| failed(&error))?;
    insert_levels(connection, dataset).await
}

/// Replaces the description of a data set that is there.
pub(crate) async fn update(
    connection: &mut AnyConnection,
    dataset: &Dataset,
) -> Result<(), DatastoreError> {
    let levels = sqlx::query("DELETE FROM dataset_resolutions WHERE dataset_uuid = $1");
    for query in [bound(UPDATE, dataset)?, levels.bind(dataset.uuid.clone())] {
        query.execute(&mut *connection).await.map_err(|error| failed(&error))?;
    }
    insert_levels(connection, dataset).await
}

async fn insert_levels(
    connection: &mut AnyConnection,
    dataset: &Dataset,
) -> Result<(), DatastoreError> {
    let sql = "INSERT INTO dataset_resolutions (dataset_uuid, number, factor_x, factor_y, factor_z, \
               block_x, block_y, block_z, shard_x, shard_y, shard_z) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    for (number, level) in (0_i64..).zip(&dataset.resolution_levels) {
        let mut query = sqlx::query(sql).bind(dataset.uuid.clone()).bind(number);
        for size in level.resolutions.into_iter().chain(level.block_dimensions) {
            query = query.bind(column(size)?);
        }
        for axis in 0..3 {
            let size = level.shard_dimensions.map(|sizes| column(sizes[axis])).transpose()?;
            query = query.bind(size);
        }
        query.execute(&mut *connection).await.map_err(|error| failed(&error))?;
    }
    Ok(())
}

/// The text that clients keep with a data set; `None` if there is no such data set.
pub(crate) async fn common_metadata(
    connection: &mut AnyConnection,
    id: &str,
) -> Result<Option<String>, sqlx::Error> {
    let row = sqlx::query(TEXT).bind(id.to_owned()).fetch_optional(connection).await?;
    let bytes = row.map(|row| row.try_get::<Vec<u8>, _>("common_metadata")).transpose()?;
    let text = bytes.map(String::from_utf8).transpose();
    text.map_err(|error| sqlx::Error::Decode(error.into()))
}

/// Names of all data sets, in order.
pub(crate) async fn names(connection: &mut AnyConnection) -> Result<Vec<String>, sqlx::Error> {
    let sql = "SELECT uuid FROM dataset_info ORDER BY uuid";
    let rows = sqlx::query(sql).fetch_all(connection).await?;
    rows.iter().map(|row| row.try_get::<String, _>("uuid")).collect()
}
