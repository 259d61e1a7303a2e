//! Rows 15 to 18: where the blocks of a level are.

use reqwest::header::HeaderName;
use serde_json::{Value, json};

use crate::harness::{Store, description, header};

#[tokio::test]
async fn row_15_a_start_leads_to_a_level_that_describes_itself() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let answer = store
        .served
        .get(&format!("/datasets/{id}/1/1/1/latest/read?timeout=60000"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 307);
    let location = header(&answer, "location").to_owned();
    assert_eq!(location, format!("{}/datasets/{id}/1/1/1/0/", store.served.base));
    let answer = store.served.client.get(&location).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let said: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert_eq!(
        said,
        json!({"uuid": id, "version": 0, "mode": "READ_WRITE", "resolutionLevels": [[1, 1, 1]], "serverTimeout": -1})
    );
    // C++ takes the slash away.
    assert_eq!(
        store.served.client.get(location.trim_end_matches('/')).send().await.unwrap().status(),
        200
    );
    let (status, path) = store.start(&id, "2/2/1/mixedLatest/read-write").await;
    assert_eq!((status, path), (307, format!("/datasets/{id}/2/2/1/mixedLatest/")));
    let (_, body) = store.get(&format!("/datasets/{id}/2/2/1/mixedLatest/")).await;
    let said: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((&said["version"], &said["mode"]), (&json!(-1), &json!("READ")));
    // Levels are of numbers, not of words.
    assert_eq!(store.get(&format!("/datasets/{id}/1/1/1/latest/")).await.0, 400);
    assert_eq!(store.get(&format!("/datasets/{id}/1/1/1/word/")).await.0, 400);
}

#[tokio::test]
async fn row_16_each_start_of_new_makes_a_version() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    for number in 1..=2 {
        let (status, path) = store.start(&id, "1/1/1/new/write").await;
        assert_eq!((status, path), (307, format!("/datasets/{id}/1/1/1/{number}/")));
    }
    assert_eq!(store.versions(&id).await, json!([0, 1, 2]));
    for file in [
        "export.xml",
        "export.n5/attributes.json",
        "export.n5/setup1/timepoint1/s1/attributes.json",
    ] {
        let read =
            |version: u32| std::fs::read(store.path(&format!("{id}/{version}/{file}"))).unwrap();
        assert_eq!(read(0), read(2), "{file}");
    }
}

#[tokio::test]
async fn row_17_what_cannot_be_started_is_refused() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    for (path, wanted) in [
        ("1/1/1/new/read", 400),
        ("1/1/1/mixedLatest/write", 400),
        ("1/1/1/foo/read", 400),
        ("1/1/1/-1/read", 400),
        ("1/1/1/9/read", 404),
        ("3/3/3/latest/read", 404),
        ("1/1/1/latest/fly", 400),
        ("x/1/1/latest/read", 404),
        ("1/1/1/latest/read?timeout=abc", 400),
        ("1/1/1/latest/no-access", 307),
    ] {
        assert_eq!(store.start(&id, path).await.0, wanted, "{path}");
    }
    assert_eq!(store.versions(&id).await, json!([0]));
}

#[tokio::test]
async fn row_18_the_location_is_where_the_client_sees_the_server() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let path = format!("/datasets/{id}/1/1/1/0/read");
    let end = format!("/datasets/{id}/1/1/1/0/");
    for (headers, wanted) in [
        (vec![("host", "data.lab:8080")], "http://data.lab:8080"),
        (vec![("host", "inner"), ("x-forwarded-host", "data.org")], "http://data.org"),
        (
            vec![("x-forwarded-host", "data.org, inner"), ("x-forwarded-proto", "https")],
            "https://data.org",
        ),
        (
            vec![
                ("x-forwarded-host", "data.org"),
                ("x-forwarded-proto", "https"),
                ("x-forwarded-port", "8443"),
            ],
            "https://data.org:8443",
        ),
        (vec![("x-forwarded-host", "data.org"), ("x-forwarded-port", "80")], "http://data.org"),
        (
            vec![("x-forwarded-host", "data.org"), ("x-forwarded-prefix", "/em/store/")],
            "http://data.org/em/store",
        ),
    ] {
        let mut request = store.served.get(&path);
        for (name, value) in &headers {
            request = request.header(name.parse::<HeaderName>().unwrap(), *value);
        }
        let answer = request.send().await.unwrap();
        assert_eq!(header(&answer, "location"), format!("{wanted}{end}"), "{headers:?}");
    }
    for (name, value) in [
        ("x-forwarded-host", "a/b"),
        ("x-forwarded-host", "a@b"),
        ("x-forwarded-prefix", "//evil.org"),
        ("x-forwarded-prefix", "evil"),
    ] {
        let answer = store.served.get(&path).header(name, value).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{name}: {value}");
    }
    let options = rechunk_serve::DatastoreOptions {
        base_url: Some("https://fixed.org/x/".to_owned()),
        ..Default::default()
    };
    let store = Store::with(options).await;
    let id = store.create(&description(&json!({}))).await;
    let answer = store.served.get(&format!("/datasets/{id}/1/1/1/0/read")).send().await.unwrap();
    assert_eq!(header(&answer, "location"), format!("https://fixed.org/x/datasets/{id}/1/1/1/0/"));
}
