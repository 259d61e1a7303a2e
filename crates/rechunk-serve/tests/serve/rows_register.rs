//! Rows 1 to 14: data sets that are created, described, registered and deleted.

use std::fs;

use rechunk_serve::DatastoreOptions;
use serde_json::{Value, json};

use crate::harness::{Store, block, description};

#[tokio::test]
async fn row_01_a_data_set_is_created_and_described() {
    let store = Store::new().await;
    let given = description(
        &json!({"label": "embryo", "transformations": [[1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 1, 7]]}),
    );
    let id = store.create(&given).await;
    assert_eq!(id.len(), 36);
    let said = store.describe(&id).await;
    let mut wanted = given.clone();
    for (key, value) in [
        ("uuid", json!(id)),
        ("versions", json!([0])),
        ("timepointIds", json!([0, 1])),
        ("viewRegistrations", Value::Null),
        ("datasetType", Value::Null),
        ("transformations", json!([[1.0, 0.0, 0.0, 5.0, 0.0, 1.0, 0.0, 6.0, 0.0, 0.0, 1.0, 7.0]])),
    ] {
        wanted[key] = value;
    }
    // Equal: there is no key that clients do not know.
    assert_eq!(said, wanted);
    for setup in 0..2 {
        for time in 0..2 {
            for (level, dimensions) in [[100, 80, 60], [50, 40, 60]].into_iter().enumerate() {
                let array = format!(
                    "{id}/0/export.n5/setup{setup}/timepoint{time}/s{level}/attributes.json"
                );
                let said: Value =
                    serde_json::from_slice(&fs::read(store.path(&array)).unwrap()).unwrap();
                assert_eq!(said["dimensions"], json!(dimensions));
                assert_eq!(said["blockSize"], json!([64, 64, 64]));
                assert_eq!(
                    (&said["dataType"], &said["compression"]["type"]),
                    (&json!("uint16"), &json!("gzip"))
                );
            }
        }
        let group = store.path(&format!("{id}/0/export.n5/setup{setup}/attributes.json"));
        let said: Value = serde_json::from_slice(&fs::read(group).unwrap()).unwrap();
        assert_eq!(
            said,
            json!({"downsamplingFactors": [[1, 1, 1], [2, 2, 1]], "dataType": "uint16"})
        );
    }
    let xml = fs::read_to_string(store.path(&format!("{id}/0/export.xml"))).unwrap();
    for part in [
        "<n5 type=\"relative\">export.n5</n5>",
        "<size>100 80 60</size>",
        "<size>0.4 0.4 1.0</size>",
        "<integerpattern>0, 1</integerpattern>",
        "<ViewRegistration timepoint=\"1\" setup=\"1\">",
        "<affine>1.0 0.0 0.0 5.0 0.0 1.0 0.0 6.0 0.0 0.0 1.0 7.0</affine>",
    ] {
        assert!(xml.contains(part), "{part}: {xml}");
    }
}

#[tokio::test]
async fn row_02_numbers_may_be_strings_as_in_the_design_document() {
    let store = Store::new().await;
    let mut given = description(&json!({
        "dimensions": ["100", "80", "60"], "timepoints": "3", "channels": "1", "angles": "2",
        "voxelResolution": ["0.4", "0.4", "1.0"], "versions": ["0"], "storageCompression": "lz4",
        "resolutionLevels": [{"resolutions": ["1", "1", "1"], "blockDimensions": ["64", "64", "64"]}],
        "unknownKey": {"is": "ignored"},
    }));
    given.as_object_mut().unwrap().remove("compression");
    let id = store.create(&given).await;
    let said = store.describe(&id).await;
    assert_eq!(said["dimensions"], json!([100, 80, 60]));
    assert_eq!((&said["timepoints"], &said["angles"]), (&json!(3), &json!(2)));
    assert_eq!(said["compression"], json!("lz4"));
    assert_eq!(said["voxelResolution"], json!([0.4, 0.4, 1.0]));
}

#[tokio::test]
async fn row_03_counts_that_are_missing_are_one() {
    let store = Store::new().await;
    let id = store
        .create(&json!({
            "voxelType": "uint8", "dimensions": [4, 4, 4], "compression": "raw",
            "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]}],
        }))
        .await;
    let said = store.describe(&id).await;
    assert_eq!(
        (&said["timepoints"], &said["channels"], &said["angles"]),
        (&json!(1), &json!(1), &json!(1))
    );
}

#[tokio::test]
async fn row_04_timepoints_may_have_numbers() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"timepointIds": [7, 3]}))).await;
    assert_eq!(store.describe(&id).await["timepointIds"], json!([3, 7]));
    let sent = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/3/0/0", &sent).await, 200);
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/3/0/0").await, sent);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &sent).await, 404);
    let xml = fs::read_to_string(store.path(&format!("{id}/0/export.xml"))).unwrap();
    assert!(xml.contains("<integerpattern>3, 7</integerpattern>"), "{xml}");
}

#[tokio::test]
async fn row_05_fields_that_are_wrong_are_named_and_nothing_is_created() {
    let store = Store::new().await;
    let level = |resolutions: Value, block: Value| json!([{"resolutions": resolutions, "blockDimensions": block}]);
    for (changes, field) in [
        (json!({"voxelType": "uint128"}), "voxelType"),
        (json!({"compression": "foo"}), "compression"),
        (json!({"resolutionLevels": []}), "resolutionLevels"),
        (json!({"resolutionLevels": null}), "resolutionLevels"),
        (
            json!({"resolutionLevels": level(json!([1, 1]), json!([4, 4, 4]))}),
            "resolutionLevels[0].resolutions",
        ),
        (
            json!({"resolutionLevels": level(json!([1, 0, 1]), json!([4, 4, 4]))}),
            "resolutionLevels[0].resolutions[1]",
        ),
        (
            json!({"resolutionLevels": level(json!([1, 1, 1]), json!([0, 4, 4]))}),
            "resolutionLevels[0].blockDimensions[0]",
        ),
        (
            json!({"resolutionLevels": level(json!([1, 1, 1]), json!([1024, 1024, 513]))}),
            "resolutionLevels[0].blockDimensions",
        ),
        (json!({"dimensions": [0, 1, 1]}), "dimensions[0]"),
        (json!({"dimensions": [1, 1, -5]}), "dimensions[2]"),
        (json!({"channels": 2_000_000_000}), "channels"),
    ] {
        let text = description(&changes).to_string();
        let (status, said) = store.post("/datasets", "application/json", text).await;
        assert_eq!(status, 400, "{changes}: {said}");
        assert!(said.starts_with(&format!("{field}: ")), "{changes}: {said}");
    }
    let left: Vec<_> = fs::read_dir(store.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, [".datastore"]);
}

#[tokio::test]
async fn row_06_broken_json_is_400_and_another_type_415() {
    let store = Store::new().await;
    for broken in ["{", "", "[1, 2]", "7", "{\"voxelType\": \"uint8\", }"] {
        assert_eq!(store.post("/datasets", "application/json", broken).await.0, 400, "{broken}");
    }
    let text = description(&json!({})).to_string();
    assert_eq!(store.post("/datasets", "text/plain", text.clone()).await.0, 415);
    let untyped = store.served.client.post(format!("{}/datasets", store.served.base));
    assert_eq!(untyped.body(text.clone()).send().await.unwrap().status(), 415);
    // The path with a slash at its end is the same.
    assert_eq!(store.post("/datasets/", "application/json; charset=utf-8", text).await.0, 200);
    let large = format!("{{\"label\": \"{}\"", "x".repeat(5 << 20));
    assert_eq!(store.post("/datasets", "application/json", large).await.0, 413);
}

#[tokio::test]
async fn row_07_what_is_posted_twice_is_two_data_sets() {
    let store = Store::new().await;
    let given = description(&json!({}));
    let (first, second) = (store.create(&given).await, store.create(&given).await);
    assert_ne!(first, second);
    let (mut first, mut second) = (store.describe(&first).await, store.describe(&second).await);
    first["uuid"].take();
    second["uuid"].take();
    assert_eq!(first, second);
}

#[tokio::test]
async fn row_08_labels_have_spaces_for_what_file_systems_refuse() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"label": "a/b:c"}))).await;
    assert_eq!(store.describe(&id).await["label"], json!("a b c"));
}

#[tokio::test]
async fn row_09_a_data_set_that_is_not_there_is_404() {
    let store = Store::new().await;
    for path in [
        "nothing",
        "nothing/channels",
        "nothing/common-metadata",
        "nothing/1/1/1/0/read",
        "nothing/1/1/1/0/",
    ] {
        assert_eq!(store.get(&format!("/datasets/{path}")).await.0, 404, "{path}");
    }
}

#[tokio::test]
async fn row_10_deleting_what_is_not_there_is_404() {
    let store = Store::new().await;
    assert_eq!(store.ask("DELETE", "/datasets/nothing").await.0, 404);
    assert_eq!(store.get("/datasets/nothing/delete").await.0, 404);
}

#[tokio::test]
async fn row_11_a_data_set_is_deleted_with_its_folder() {
    let store = Store::new().await;
    for (method, end) in [("DELETE", ""), ("GET", "/delete")] {
        let id = store.create(&description(&json!({}))).await;
        assert!(store.path(&id).is_dir());
        // Whoever only asks what would be said changes nothing.
        assert_eq!(store.ask("HEAD", &format!("/datasets/{id}/delete")).await.0, 405);
        assert_eq!(store.ask(method, &format!("/datasets/{id}{end}")).await.0, 200);
        assert!(!store.path(&id).exists());
        assert_eq!(store.get(&format!("/datasets/{id}")).await.0, 404);
    }
    let left = fs::read_dir(store.path(".datastore/under-way")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

#[tokio::test]
async fn row_12_a_folder_that_is_copied_is_registered() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"label": "kept"}))).await;
    let sent = block([64, 64, 60], 2, 5);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/1/1/0", &sent).await, 200);
    store.post(&format!("/datasets/{id}/common-metadata"), "text/plain", "kept too").await;

    let other = Store::new().await;
    copy_folder(&store.path(&id), &other.path(&id));
    let path = format!("/datasets/{id}");
    assert_eq!(other.get(&path).await.0, 404);
    assert_eq!(other.post(&path, "text/plain", "").await.0, 200);
    assert_eq!(other.post(&path, "text/plain", "").await.0, 409);
    assert_eq!(other.describe(&id).await, store.describe(&id).await);
    assert_eq!(other.read(&id, "1/1/1/0/0/0/0/1/1/0").await, sent);
    assert_eq!(&other.get(&format!("{path}/common-metadata")).await.1[..], b"kept too");

    // A folder of another server has no record: the documents of BigDataViewer say it.
    let foreign = other.path("foreign");
    copy_folder(&store.path(&id), &foreign);
    fs::remove_file(foreign.join("dataset.json")).unwrap();
    fs::remove_file(foreign.join("common-metadata.txt")).unwrap();
    fs::write(foreign.join("a label"), "").unwrap();
    assert_eq!(other.post("/datasets/foreign", "text/plain", "").await.0, 200);
    let (said, own) = (other.describe("foreign").await, store.describe(&id).await);
    for key in [
        "dimensions",
        "voxelType",
        "timepointIds",
        "channels",
        "angles",
        "compression",
        "resolutionLevels",
        "voxelUnit",
        "voxelResolution",
        "versions",
    ] {
        assert_eq!(said[key], own[key], "{key}");
    }
    assert_eq!(said["label"], json!("a label"));
    assert_eq!(other.read("foreign", "1/1/1/0/0/0/0/1/1/0").await, sent);

    assert_eq!(other.post("/datasets/missing", "text/plain", "").await.0, 404);
    fs::create_dir(other.path("empty")).unwrap();
    assert_eq!(other.post("/datasets/empty", "text/plain", "").await.0, 404);
    // Nothing outside the root is touched.
    let outside = other
        .folder
        .path()
        .parent()
        .unwrap()
        .join(format!("rechunk-outside-{}", std::process::id()));
    copy_folder(&store.path(&id), &outside);
    let name = outside.file_name().unwrap().to_str().unwrap();
    for target in [
        format!("/datasets/../{name}"),
        format!("/datasets/%2e%2e%2f{name}"),
        "/datasets/%2e%2e".to_owned(),
        "/datasets/..".to_owned(),
        "/datasets/.datastore".to_owned(),
    ] {
        for method in ["POST", "DELETE", "GET"] {
            let said = other.served.raw(method, &target).await;
            assert!(said.starts_with("HTTP/1.1 4"), "{method} {target}: {said}");
        }
    }
    assert!(outside.join("0/export.n5").is_dir());
    fs::remove_dir_all(outside).unwrap();
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

#[tokio::test]
async fn row_13_common_metadata_are_kept_as_they_are() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let path = format!("/datasets/{id}/common-metadata");
    assert_eq!(store.get(&path).await, (200, "".into()));
    let text: String = "žluťoučký kůň \u{1f40e}\r\n".repeat(50_000);
    assert!(text.len() > 1 << 20);
    assert_eq!(store.post(&path, "text/plain", text.clone()).await.0, 200);
    assert_eq!(store.get(&path).await.1, text.as_bytes());
    assert_eq!(store.post(&path, "application/json", "{}").await.0, 415);
    assert_eq!(store.post(&path, "text/plain", vec![0xff, 0xfe]).await.0, 400);
    assert_eq!(store.get(&path).await.1, text.as_bytes());
    assert_eq!(store.post("/datasets/nothing/common-metadata", "text/plain", "x").await.0, 404);
    // It survives the server.
    let again = Store::at(store.close().await, false, DatastoreOptions::default()).await;
    assert_eq!(again.get(&path).await.1, text.as_bytes());
}

#[tokio::test]
async fn row_14_channels_are_added_to_all_versions() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({"angles": 2}))).await;
    let sent = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/1/1", &sent).await, 200);
    store.start(&id, "1/1/1/new/write").await;
    let path = format!("/datasets/{id}/channels");
    assert_eq!(store.get(&path).await, (200, "2".into()));
    assert_eq!(store.post(&path, "text/plain", "2").await.0, 200);
    assert_eq!(store.get(&path).await, (200, "4".into()));
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/1/1").await, sent);
    for version in 0..2 {
        for setup in 0..8 {
            let array =
                format!("{id}/{version}/export.n5/setup{setup}/timepoint1/s1/attributes.json");
            assert!(store.path(&array).is_file(), "{array}");
        }
        let xml = fs::read_to_string(store.path(&format!("{id}/{version}/export.xml"))).unwrap();
        assert!(xml.contains("<id>7</id>") && !xml.contains("<id>8</id>"), "{xml}");
    }
    assert_eq!(store.write(&id, "1/1/1/1/0/0/0/1/3/1", &sent).await, 200);
    for wrong in ["abc", "0", "-1", "1.5", "99999999999999999999", "100000000"] {
        assert_eq!(store.post(&path, "text/plain", wrong).await.0, 400, "{wrong}");
    }
    assert_eq!(store.post(&path, "text/plain", "").await.0, 200);
    assert_eq!(store.get(&path).await, (200, "5".into()));
    for method in ["PUT", "DELETE"] {
        assert_eq!(store.ask(method, &path).await.0, 405);
    }
}
