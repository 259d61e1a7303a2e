//! Databases of older and newer versions, and of others.

use rechunk_register::{open_read_only, open_writable};
use serde_json::json;

use crate::databases::Place;

const ID: &str = "3b0e6a52-7d8f-4c57-8e3a-9f3d2b1c4e5f";
const FORMAT: &str =
    r#"{"rechunk-datastore": 2, "register": "5f1d3c9e-0b7a-4f7e-9a55-2f6c1f0f7a10"}"#;

#[tokio::test]
async fn a_register_of_schema_1_becomes_one_of_this_version_with_all_that_is_in_it() {
    for place in Place::all("a register of schema 1") {
        let sql = if place.is_sqlite() {
            include_str!("schema_1/sqlite.sql")
        } else {
            include_str!("schema_1/postgres.sql")
        };
        place.run(sql).await;
        let own = place.folder.path().join(".datastore");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("format.json"), FORMAT).unwrap();
        // Whoever only reads changes nothing, also no schema.
        let error = open_read_only(place.root(), &place.database).await.unwrap_err().to_string();
        assert!(error.contains("an older version"), "{error}");
        let datastore = open_writable(place.root(), &place.database).await.unwrap();
        let known = datastore.get(ID).await.unwrap();
        let wanted = json!({
            "uuid": ID, "voxelType": "uint16", "dimensions": [100, 80, 60], "timepoints": 2,
            "channels": 2, "angles": 1, "voxelUnit": "um", "voxelResolution": [0.4, 0.4, 1.0],
            "transformations": [[1.0, 0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 6.0, 0.0, 0.0, 1.0, 7.0]],
            "timepointResolution": {"value": 1.5, "unit": "min"}, "channelResolution": null,
            "angleResolution": null, "compression": "gzip", "label": "embryo",
            "resolutionLevels": [
                {"resolutions": [1, 1, 1], "blockDimensions": [64, 64, 64]},
                {"resolutions": [2, 2, 1], "blockDimensions": [64, 64, 32]},
            ],
            "versions": [0, 2, 10], "timepointIds": [3, 7], "viewRegistrations": null,
            "datasetType": null,
        });
        assert_eq!(known.dataset.to_json(&known.versions), wanted);
        assert_eq!(datastore.common_metadata(ID).await.unwrap(), "a text");
        assert_eq!(datastore.names().await.unwrap(), [ID]);
        drop(datastore);
        // From now on it may be read.
        let datastore = open_read_only(place.root(), &place.database).await.unwrap();
        assert_eq!(datastore.get(ID).await.unwrap(), known);
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_or_of_another_program_is_refused() {
    for place in Place::all("a newer schema") {
        drop(open_writable(place.root(), &place.database).await.unwrap());
        let newer = "INSERT INTO register_schema SELECT 99, description, installed_on, success, \
                     checksum, execution_time FROM register_schema WHERE version = 1";
        place.run(newer).await;
        let before = tree(&place);
        for error in [
            open_writable(place.root(), &place.database).await.unwrap_err(),
            open_read_only(place.root(), &place.database).await.unwrap_err(),
        ] {
            let error = error.to_string();
            assert!(error.contains("newer version of rechunk (its schema is 99"), "{error}");
        }
        assert_eq!(tree(&place), before);
        place.run("DELETE FROM register_schema WHERE version = 99").await;
        open_writable(place.root(), &place.database).await.unwrap();
        place.run("DROP TABLE register_schema").await;
        let error = open_writable(place.root(), &place.database).await.unwrap_err().to_string();
        assert!(error.contains("another program"), "{error}");
    }
}

fn tree(place: &Place) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(place.folder.path().join(".datastore")).unwrap();
    let files = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let mut files: Vec<_> =
        files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap())).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_file_that_is_damaged_is_refused() {
    let place = Place::all("a damaged file").remove(0);
    drop(open_writable(place.root(), &place.database).await.unwrap());
    let whole = std::fs::read(place.file()).unwrap();
    std::fs::write(place.file(), [b"no database: ", &whole[13..]].concat()).unwrap();
    for error in [
        open_writable(place.root(), &place.database).await.unwrap_err(),
        open_read_only(place.root(), &place.database).await.unwrap_err(),
    ] {
        let error = error.to_string();
        assert!(
            error.contains("no file of SQLite") && error.contains("datastore.sqlite"),
            "{error}"
        );
    }
}
