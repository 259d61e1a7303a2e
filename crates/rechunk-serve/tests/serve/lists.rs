//! Lists of data sets and of rebuilds, and the paths of the design document.

use rechunk_serve::{DatastoreOptions, Role, TokenFile};
use serde_json::{Value, json};

use crate::harness::{ABSENT, Store, block, client, description, header};

async fn listed(store: &Store, path: &str, token: Option<&str>) -> (Vec<String>, Value) {
    let mut request = store.served.get(path);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let answer: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    let name = |one: &Value| one["uuid"].as_str().unwrap().to_owned();
    (answer["datasets"].as_array().unwrap().iter().map(name).collect(), answer)
}

#[tokio::test]
async fn data_sets_are_listed_by_name_and_page_by_page() {
    let store = Store::new().await;
    assert_eq!(listed(&store, "/datasets", None).await.0, Vec::<String>::new());
    let mut names = Vec::new();
    for _ in 0..5 {
        names.push(store.create(&description(&json!({}))).await);
    }
    names.sort();
    let (found, answer) = listed(&store, "/datasets", None).await;
    assert_eq!(found, names);
    assert_eq!((&answer["next"], &answer["writable"]), (&Value::Null, &json!(true)));
    assert_eq!(answer["datasets"][0], store.describe(&names[0]).await);
    let (found, answer) = listed(&store, "/datasets?limit=2", None).await;
    assert_eq!((&found[..], &answer["next"]), (&names[..2], &json!(names[1])));
    let rest = format!("/datasets?limit=3&after={}", names[1]);
    let (found, answer) = listed(&store, &rest, None).await;
    assert_eq!((&found[..], &answer["next"]), (&names[2..], &Value::Null));
    store.ask("DELETE", &format!("/datasets/{}", names[0])).await;
    assert_eq!(listed(&store, "/datasets/", None).await.0, names[1..]);
    // The copy in a folder is for those who have lost the database.
    std::fs::write(store.path(&format!("{}/dataset.json", names[1])), "{").unwrap();
    let store = Store::at(store.close().await, false, DatastoreOptions::default()).await;
    let (found, answer) = listed(&store, "/datasets", None).await;
    assert_eq!((&found[..], &answer["writable"]), (&names[1..], &json!(false)));
    for limit in ["0", "-1", "x", "1.5"] {
        assert_eq!(store.get(&format!("/datasets?limit={limit}")).await.0, 400);
    }
    assert_eq!(store.get("/datasets?after=%ff").await.0, 400);
    assert_eq!(store.ask("PUT", "/datasets").await.0, 405);
}

#[tokio::test]
async fn a_token_sees_the_data_sets_that_it_may_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens.json").to_str().unwrap().to_owned();
    let store = Store::new().await;
    let mut names = Vec::new();
    for _ in 0..3 {
        names.push(store.create(&description(&json!({}))).await);
    }
    names.sort();
    let file = TokenFile::at(&path).unwrap();
    let one = file.add("one", Role::Read, Some(vec![names[1].clone()])).await.unwrap();
    let all = file.add("all", Role::Read, None).await.unwrap();
    let tokens = Some(TokenFile::at(&path).unwrap());
    let options = DatastoreOptions { tokens, ..DatastoreOptions::default() };
    let store = Store::at(store.close().await, false, options).await;
    assert_eq!(listed(&store, "/datasets", Some(&one)).await.0, [names[1].clone()]);
    assert_eq!(listed(&store, "/datasets?limit=1", Some(&one)).await.1["next"], Value::Null);
    assert_eq!(listed(&store, "/datasets", Some(&all)).await.0, names);
    for path in ["/datasets", "/rebuilds", "/bdv/x/json", "/x/1/1/1/latest/read"] {
        assert_eq!(store.get(path).await.0, 401, "{path}");
    }
    // The page itself has no data.
    assert_eq!(store.get("/").await.0, 200);
}

/// A data set of 32³ in blocks of 8³, with a level of factors 2 and one of 4.
async fn cubes(store: &Store) -> String {
    let level = |factor: u32| json!({"resolutions": [factor, factor, factor], "blockDimensions": [8, 8, 8]});
    let id = store
        .create(&description(&json!({
            "voxelType": "uint8", "dimensions": [32, 32, 32], "compression": "gzip",
            "resolutionLevels": [level(1), level(2), level(4)],
        })))
        .await;
    for z in 0..4 {
        for y in 0..4 {
            for x in 0..4 {
                let sent = block([8, 8, 8], 1, x + y * 4 + z * 16);
                for view in ["0/0/0", "1/1/0"] {
                    let path = format!("1/1/1/0/{x}/{y}/{z}/{view}");
                    assert_eq!(store.write(&id, &path, &sent).await, 200);
                }
            }
        }
    }
    id
}

#[tokio::test]
async fn row_51_a_rebuild_of_the_design_document_makes_its_levels_of_all_views() {
    let store = Store::new().await;
    let id = cubes(&store).await;
    let (status, _) = store.get(&format!("/{id}/1/1/1/2/2/2/rebuild")).await;
    assert_eq!(status, 200);
    let first = store.read(&id, "2/2/2/0/0/0/0/0/0/0").await;
    assert_eq!(first.len(), 12 + 512);
    assert_eq!(store.read(&id, "2/2/2/0/0/0/0/1/1/0").await, first);
    assert_eq!(store.read(&id, "4/4/4/0/0/0/0/0/0/0").await, ABSENT);
    // As the request of the clients makes it.
    store.ask("PATCH", &format!("/datasets/{id}/0/0/0/latest/rebuild")).await;
    assert_eq!(store.read(&id, "2/2/2/0/0/0/0/0/0/0").await, first);
    assert_ne!(store.read(&id, "4/4/4/0/0/0/0/0/0/0").await, ABSENT);
    assert_eq!(store.read(&id, "4/4/4/0/0/0/0/1/1/0").await, ABSENT);
    let at = |path: &str| format!("/datasets/{id}/{path}");
    assert_eq!(store.ask("HEAD", &at("1/1/1/2/2/2/rebuild")).await.0, 405);
    assert_eq!(store.get(&at("1/1/1/3/3/3/rebuild")).await.0, 404);
    assert_eq!(store.get(&at("2/2/2/4/4/4/rebuild")).await.0, 400);
    assert_eq!(store.versions(&id).await, json!([0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_says_how_far_it_is_and_goes_on_without_its_client() {
    let store = Store::new().await;
    let id = cubes(&store).await;
    let rebuilds = async || {
        let answer: Value = serde_json::from_slice(&store.get("/rebuilds").await.1).unwrap();
        answer["rebuilds"].as_array().unwrap().clone()
    };
    assert!(rebuilds().await.is_empty());
    let path = format!("{}/datasets/{id}/1/1/1/2/2/2/4/4/4/rebuild", store.served.base);
    // Many at once, of which one is made after the other; each client leaves soon.
    let asked = (0..40).map(async |_| {
        let client = client().build().unwrap();
        let request = client.get(&path).timeout(std::time::Duration::from_millis(30)).send();
        let _ = request.await;
    });
    futures::future::join_all(asked).await;
    let mut seen = Vec::new();
    for _ in 0..2000 {
        let now = rebuilds().await;
        if now.is_empty() {
            break;
        }
        seen.push(now[0].clone());
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert!(rebuilds().await.is_empty());
    // 2³ blocks of factors 2 and one of factors 4, of each of 2 timepoints and 2 channels.
    for one in &seen {
        assert_eq!((&one["dataset"], &one["version"]), (&json!(id), &json!(0)));
        assert_eq!((&one["timepoint"], &one["blocks"]), (&Value::Null, &json!(36)));
        assert!(one["blocksBegun"].as_u64().unwrap() <= 36);
    }
    assert!(!seen.is_empty(), "all were done before anybody looked");
    assert_ne!(store.read(&id, "4/4/4/0/0/0/0/1/1/0").await, ABSENT);
}

#[tokio::test]
async fn paths_of_the_design_document_have_no_datasets_in_them() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let path = format!("/{id}/1/1/1/latest/read-write?timeout=10");
    let answer = store.served.get(&path).send().await.unwrap();
    assert_eq!(answer.status(), 307);
    // What they lead to is the place that clients know.
    let place = format!("{}/datasets/{id}/1/1/1/0/", store.served.base);
    assert_eq!(header(&answer, "location"), place);
    let sent = block([64, 64, 60], 2, 1);
    let (status, _) = store
        .post(&format!("/{id}/1/1/1/0/0/0/0/0/0/0"), "application/octet-stream", sent.clone())
        .await;
    assert_eq!(status, 200);
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, sent);
    let answer = store.served.get(&format!("/{id}/1/1/1/2/2/1/write")).send().await.unwrap();
    assert_eq!(answer.status(), 307);
    assert_eq!(store.get("/nothing/1/1/1/latest/read").await.0, 404);
    assert_eq!(store.get("/nothing").await.0, 404);
}
