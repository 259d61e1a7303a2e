//! Tokens, and datastores that are only read.

use rechunk_serve::{DatastoreOptions, Role, TokenFile};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Store, block, description};

struct Guarded {
    store: Store,
    _folder: TempDir,
    path: String,
    id: String,
}

impl Guarded {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens.json").to_str().unwrap().to_owned();
        let file = TokenFile::at(&path).unwrap();
        let admin = file.add("root", Role::Admin, None).await.unwrap();
        let options = DatastoreOptions {
            tokens: Some(TokenFile::at(&path).unwrap()),
            ..DatastoreOptions::default()
        };
        let store = Store::with(options).await;
        let request = store.served.client.post(format!("{}/datasets", store.served.base));
        let request = request.bearer_auth(&admin).header("content-type", "application/json");
        let answer = request.body(description(&json!({})).to_string()).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        let id = answer.text().await.unwrap();
        Self { store, _folder: folder, path, id }
    }

    async fn token(&self, name: &str, role: Role, datasets: Option<&[&str]>) -> String {
        let datasets = datasets.map(|names| names.iter().map(|&name| name.to_owned()).collect());
        let token = TokenFile::at(&self.path).unwrap().add(name, role, datasets).await.unwrap();
        // The server looks again after a second.
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        token
    }

    async fn status(&self, method: &str, path: &str, token: Option<&str>) -> u16 {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let is_post = method == reqwest::Method::POST;
        let mut request =
            self.store.served.client.request(method, format!("{}{path}", self.store.served.base));
        if is_post {
            request = request.header("content-type", "application/octet-stream").body(block(
                [1, 1, 1],
                2,
                1,
            ));
        }
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        request.send().await.unwrap().status().as_u16()
    }
}

#[tokio::test]
async fn each_role_has_its_rights_and_those_below() {
    let guarded = Guarded::new().await;
    let (id, store) = (&guarded.id, &guarded);
    let read = guarded.token("reader", Role::Read, None).await;
    let write = guarded.token("writer", Role::Write, Some(&[id])).await;
    let other = guarded.token("other", Role::Write, Some(&["another"])).await;
    let (see, put, delete) = (
        format!("/datasets/{id}"),
        format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0"),
        format!("/datasets/{id}/delete"),
    );
    for (token, wanted) in [
        (None, [401, 401, 401]),
        (Some("rck_wrong"), [403, 403, 403]),
        (Some(""), [401, 401, 401]),
        (Some(&*other), [403, 403, 403]),
        (Some(&*read), [200, 403, 403]),
        (Some(&*write), [200, 200, 403]),
    ] {
        let found = [
            store.status("GET", &see, token).await,
            store.status("POST", &put, token).await,
            store.status("GET", &delete, token).await,
        ];
        assert_eq!(found, wanted, "{token:?}");
    }
    // Whether somebody is alive is no secret, numbers are.
    assert_eq!(store.status("GET", "/healthz", None).await, 200);
    assert_eq!(store.status("GET", "/metrics", None).await, 401);
    assert_eq!(store.status("GET", "/metrics", Some(&read)).await, 200);
}

#[tokio::test]
async fn a_token_that_is_revoked_is_refused_and_none_is_in_the_file() {
    let guarded = Guarded::new().await;
    let token = guarded.token("short", Role::Read, None).await;
    let see = format!("/datasets/{}", guarded.id);
    assert_eq!(guarded.status("GET", &see, Some(&token)).await, 200);
    let text = std::fs::read_to_string(&guarded.path).unwrap();
    assert!(text.contains("\"short\"") && !text.contains(&token), "{text}");
    let file = TokenFile::at(&guarded.path).unwrap();
    file.revoke("short").await.unwrap();
    file.revoke("short").await.unwrap_err();
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert_eq!(guarded.status("GET", &see, Some(&token)).await, 403);
    assert_eq!(file.list().await.unwrap().tokens.len(), 1);
    file.add("root", Role::Read, None).await.unwrap_err();
    file.add("", Role::Read, None).await.unwrap_err();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tokens_that_are_made_at_once_are_all_there_also_by_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let file = at("tokens.json");
    TokenFile::at(&file).unwrap().add("first", Role::Read, None).await.unwrap();
    let mode = |mode: u32| std::os::unix::fs::PermissionsExt::from_mode(mode);
    let mode_of = || {
        let found = std::fs::metadata(&file).unwrap().permissions();
        std::os::unix::fs::PermissionsExt::mode(&found) & 0o777
    };
    assert_eq!(mode_of(), 0o600);
    std::fs::set_permissions(&file, mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&file, at("link.json")).unwrap();
    let made = (0..8).map(|number| {
        let path = if number % 2 == 0 { file.clone() } else { at("link.json") };
        tokio::spawn(async move {
            let file = TokenFile::at(&path).unwrap();
            file.add(&format!("t{number}"), Role::Read, None).await.unwrap();
        })
    });
    for one in made.collect::<Vec<_>>() {
        one.await.unwrap();
    }
    TokenFile::at(&at("link.json")).unwrap().revoke("t3").await.unwrap();
    let tokens = TokenFile::at(&file).unwrap().list().await.unwrap().tokens;
    let mut names: Vec<&str> = tokens.iter().map(|token| token.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["first", "t0", "t1", "t2", "t4", "t5", "t6", "t7"]);
    assert!(std::fs::symlink_metadata(at("link.json")).unwrap().is_symlink());
    assert_eq!(mode_of(), 0o640);
}

#[tokio::test]
async fn a_file_of_tokens_that_is_gone_or_damaged_lets_nobody_in() {
    let guarded = Guarded::new().await;
    let token = guarded.token("reader", Role::Read, None).await;
    let see = format!("/datasets/{}", guarded.id);
    for damage in [None, Some("{")] {
        match damage {
            None => std::fs::remove_file(&guarded.path).unwrap(),
            Some(text) => std::fs::write(&guarded.path, text).unwrap(),
        }
        tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
        assert_eq!(guarded.status("GET", &see, Some(&token)).await, 503);
    }
}

#[tokio::test]
async fn a_datastore_that_is_only_read_is_not_changed() {
    let store = Store::new().await;
    let id = store.create(&description(&json!({}))).await;
    let sent = block([64, 64, 60], 2, 1);
    assert_eq!(store.write(&id, "1/1/1/0/0/0/0/0/0/0", &sent).await, 200);
    store.start(&id, "1/1/1/new/write").await;
    let store = Store::at(store.close().await, false, DatastoreOptions::default()).await;
    assert_eq!(store.read(&id, "1/1/1/0/0/0/0/0/0/0").await, sent);
    assert_eq!(store.start(&id, "1/1/1/latest/read").await.0, 307);
    for (method, path) in [
        ("POST", "/datasets"),
        ("POST", "/datasets/x"),
        ("DELETE", &*format!("/datasets/{id}")),
        ("GET", &format!("/datasets/{id}/delete")),
        ("GET", &format!("/datasets/{id}/0/delete")),
        ("GET", &format!("/datasets/{id}/1/1/1/new/write")),
        ("GET", &format!("/datasets/{id}/1/1/1/0/write")),
        ("POST", &format!("/datasets/{id}/channels")),
        ("POST", &format!("/datasets/{id}/common-metadata")),
        ("POST", &format!("/datasets/{id}/1/1/1/0/0/0/0/0/0/0")),
    ] {
        assert_eq!(store.ask(method, path).await.0, 403, "{method} {path}");
    }
    assert_eq!(store.versions(&id).await, json!([0, 1]));
}
