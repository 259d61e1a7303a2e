//! All fields of a description, through the database.

use rechunk_datastore::{DatastoreError, NewDataset};
use rechunk_register::open_writable;
use serde_json::{Value, json};

use crate::databases::Place;

fn description(changes: &Value) -> NewDataset {
    let mut all = json!({
        "voxelType": "uint8", "dimensions": [4, 4, 4], "compression": "raw",
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]}],
    });
    for (key, value) in changes.as_object().unwrap() {
        all[key] = value.clone();
    }
    NewDataset::from_json(&all).unwrap()
}

#[tokio::test]
async fn a_description_comes_back_to_the_bit() {
    for place in Place::all("descriptions") {
        let datastore = open_writable(place.root(), &place.database).await.unwrap();
        let mut made = Vec::new();
        for changes in [
            json!({}),
            json!({
                "storage": "zarr3",
                "resolutionLevels": [
                    {"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4],
                     "shardDimensions": [16, 8, 4]},
                    {"resolutions": [2, 2, 1], "blockDimensions": [4, 4, 4]},
                ],
            }),
            json!({
                "dimensions": [i64::MAX >> 10, 1, 2], "label": "žluťoučký \u{1f40e} ''; --",
                "voxelUnit": "µm", "voxelResolution": [5e-324, 0.1, 1.797_693_134_862_315_7e308],
                "transformations": [[0.1, -0.0, 1e-300, 3.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]],
                "timepointResolution": {"value": 1e-7, "unit": ""},
                "channelResolution": {"value": 0.1_f64 + 0.2, "unit": "nm"},
                "angleResolution": {"value": 90, "unit": "°"}, "angles": 1, "channels": 3,
                "timepointIds": [0, 5, 2_147_483_647], "compression": "lz4",
                "resolutionLevels": [
                    {"resolutions": [1, 1, 1], "blockDimensions": [64, 32, 16]},
                    {"resolutions": [2_147_483_647, 2, 1], "blockDimensions": [1, 2, 3]},
                    {"resolutions": [3, 5, 7], "blockDimensions": [9, 9, 9]},
                ],
            }),
        ] {
            let new = description(&changes);
            let id = datastore.create(new.clone()).await.unwrap();
            made.push((new.named(id.clone()), id));
        }
        drop(datastore);
        let datastore = open_writable(place.root(), &place.database).await.unwrap();
        for (wanted, id) in made {
            let known = datastore.get(&id).await.unwrap();
            // As text: zeros have signs there. (In columns of SQLite they have none.)
            assert_eq!(format!("{:?}", known.dataset), format!("{wanted:?}"));
            assert_eq!(known.versions, [0]);
        }
    }
}

#[tokio::test]
async fn texts_are_kept_as_they_are_or_refused() {
    for place in Place::all("texts") {
        let datastore = open_writable(place.root(), &place.database).await.unwrap();
        let id = datastore.create(description(&json!({}))).await.unwrap();
        for text in ["a\0b\r\n", "'; DROP TABLE dataset_info; --", "", &"ž".repeat(4 << 20)] {
            datastore.set_common_metadata(&id, text.to_owned()).await.unwrap();
            assert!(datastore.common_metadata(&id).await.unwrap() == text);
            let copy = place.folder.path().join(&id).join("common-metadata.txt");
            assert!(std::fs::read(copy).unwrap() == text.as_bytes());
        }
        // PostgreSQL has no NUL in texts: nothing is left of such a data set.
        let odd = datastore.create(description(&json!({"voxelUnit": "a\u{0}b"}))).await;
        if place.is_sqlite() {
            let known = datastore.get(&odd.unwrap()).await.unwrap();
            assert_eq!(known.dataset.voxel_unit.as_deref(), Some("a\0b"));
        } else {
            let Err(DatastoreError::Senseless(reason)) = odd else { panic!("{odd:?}") };
            assert!(reason.contains("NUL"), "{reason}");
            datastore.set_common_metadata(&id, "done".to_owned()).await.unwrap();
            let folders = std::fs::read_dir(place.folder.path()).unwrap();
            assert_eq!(folders.count(), 2);
            assert_eq!(datastore.names().await.unwrap(), [id]);
        }
    }
}
