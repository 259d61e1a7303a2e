//! The description of the requests, held to the server.

use serde_json::{Value, json};

use crate::harness::{Store, block, description};

/// A path with the examples of its parameters; `id` for that of the data set.
fn filled(path: &str, operation: &Value, id: &str) -> String {
    let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
    let (queries, parameters): (Vec<_>, Vec<_>) =
        parameters.into_iter().partition(|parameter| parameter["in"] == "query");
    let path = parameters.iter().fold(path.to_owned(), |path, parameter| {
        let name = parameter["name"].as_str().unwrap();
        let example = match &parameter["example"] {
            Value::String(text) => text.clone(),
            number => number.to_string(),
        };
        let value = if name == "id" { id } else { &example };
        path.replace(&format!("{{{name}}}"), value)
    });
    let query = |parameter: &Value| {
        let (name, example) = (parameter["name"].as_str().unwrap(), &parameter["example"]);
        format!("{name}={}", example.to_string().trim_matches('"'))
    };
    let queries: Vec<String> = queries.iter().map(query).collect();
    if queries.is_empty() { path } else { format!("{path}?{}", queries.join("&")) }
}

#[tokio::test]
async fn every_request_that_is_described_is_answered_as_described() {
    let store = Store::new().await;
    let (status, text) = store.get("/openapi.json").await;
    assert_eq!(status, 200);
    let document: Value = serde_json::from_slice(&text).unwrap();
    let levels = json!([
        {"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]},
        {"resolutions": [2, 2, 2], "blockDimensions": [4, 4, 4]},
    ]);
    let given = description(&json!({"dimensions": [4, 4, 4], "resolutionLevels": levels}));
    let mut count = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            // With what is there, and with what is not.
            for exists in [true, false] {
                let id = if exists { store.create(&given).await } else { "nothing".to_owned() };
                let path = filled(path, operation, &id);
                assert!(!path.contains('{'), "{path} has a parameter that is not described");
                let method = reqwest::Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                let url = format!("{}{path}", store.served.base);
                let mut request = store.served.client.request(method.clone(), url);
                if let Some(content) = operation["requestBody"]["content"].as_object() {
                    let (media, body) = content.iter().next().unwrap();
                    let body = match &body["example"] {
                        Value::String(text) => text.clone().into_bytes(),
                        Value::Null => block([4, 4, 4], 2, 1),
                        value => value.to_string().into_bytes(),
                    };
                    request = request.header("content-type", media).body(body);
                }
                let status = request.send().await.unwrap().status().as_u16().to_string();
                let described = operation["responses"].get(&status);
                assert!(described.is_some(), "{method} {path}: {status} is not described");
                let is_fine = status.starts_with('2') || status.starts_with('3');
                // To delete the last version, or to register what is known, is refused.
                let is_refused = ["406", "409"].contains(&status.as_str());
                // Nobody has saved settings.
                let is_missed = (!exists && path.contains("nothing")) || path.ends_with("settings");
                assert_eq!(is_fine || is_refused, !is_missed, "{method} {path}: {status}");
                count += 1;
            }
        }
    }
    assert_eq!(count, 2 * 32);
}

#[tokio::test]
async fn descriptions_have_the_keys_that_are_described() {
    let store = Store::new().await;
    let document: Value = serde_json::from_slice(&store.get("/openapi.json").await.1).unwrap();
    let id = store.create(&description(&json!({}))).await;
    let keys = |value: &Value| {
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    };
    let schemas = &document["components"]["schemas"];
    assert_eq!(keys(&store.describe(&id).await), keys(&schemas["Dataset"]["properties"]));
    let level = store.read(&id, "1/1/1/0/").await;
    let level: Value = serde_json::from_slice(&level).unwrap();
    assert_eq!(keys(&level), keys(&schemas["Level"]["properties"]));
}
