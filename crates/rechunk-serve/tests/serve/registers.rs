//! Several servers over one store and one PostgreSQL, and a PostgreSQL that is away.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use futures::future::join_all;
use rechunk_serve::{Database, DatastoreOptions, open_read_only, open_writable};
use rechunk_testkit::Postgres;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::{ABSENT, POSTGRES, Store, block, description};

const JSON: &str = "application/json";

/// Two servers over one folder and one database.
struct Pair {
    postgres: Postgres,
    servers: [Store; 2],
    folder: TempDir,
}

impl Pair {
    async fn new(test: &str) -> Option<Self> {
        let postgres = Postgres::start(test).unwrap()?;
        let database = Database::parse(&postgres.database("images").unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // Each has a folder of its own to be dropped; both serve one.
        let server = async || {
            let options = DatastoreOptions::default();
            let served = crate::harness::serve(folder.path(), &database, true, options).await;
            Store { folder: tempfile::tempdir().unwrap(), served }
        };
        let servers = [server().await, server().await];
        Some(Self { postgres, servers, folder })
    }

    fn exists(&self, path: &str) -> bool {
        self.folder.path().join(path).exists()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_create_and_number_without_getting_in_each_others_way() {
    let Some(pair) = Pair::new("two servers").await else { return };
    let [a, b] = &pair.servers;
    let given = description(&json!({"channels": 1}));
    let creates = (0..12).map(|at| pair.servers[at % 2].create(&given));
    let ids: BTreeSet<String> = join_all(creates).await.into_iter().collect();
    assert_eq!(ids.len(), 12);
    for (at, id) in ids.iter().enumerate() {
        assert_eq!(pair.servers[at % 2].versions(id).await, json!([0]), "{id}");
    }
    let id = ids.first().unwrap();
    // As many versions as requests, each number once.
    let starts = (0..10).map(|at| pair.servers[at % 2].start(id, "1/1/1/new/write"));
    let paths: BTreeSet<String> =
        join_all(starts).await.into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths.len(), 10, "{paths:?}");
    assert_eq!(a.versions(id).await, json!((0..=10).collect::<Vec<_>>()));
    assert_eq!(b.versions(id).await, json!((0..=10).collect::<Vec<_>>()));
    // Channels of both count.
    let path = format!("/datasets/{id}/channels");
    join_all((0..6).map(|at| pair.servers[at % 2].post(&path, "text/plain", "1"))).await;
    assert_eq!(a.get(&path).await, (200, "7".into()));
    assert_eq!(b.get(&path).await, (200, "7".into()));
    let xml = std::fs::read_to_string(pair.folder.path().join(format!("{id}/10/export.xml")));
    assert!(xml.unwrap().contains("<id>6</id>"));
    // What one has made, the other has at once.
    let (status, path) = a.start(id, "1/1/1/new/write").await;
    assert_eq!(status, 307);
    let (status, said) = b.get(&path).await;
    assert_eq!(status, 200, "{said:?}");
    let sent = block([64, 64, 60], 2, 3);
    assert_eq!(b.write(id, "1/1/1/11/0/0/0/0/0/0", &sent).await, 200);
    assert_eq!(a.read(id, "1/1/1/mixedLatest/0/0/0/0/0/0").await, sent);
    let text = format!("/datasets/{id}/common-metadata");
    assert_eq!(a.post(&text, "text/plain", "said to a").await.0, 200);
    assert_eq!(&b.get(&text).await.1[..], b"said to a");
    // What one has removed is gone for the other, whatever it remembers.
    assert_eq!(b.read(id, "1/1/1/11/0/0/0/0/0/0").await, sent);
    assert_eq!(a.ask("DELETE", &format!("/datasets/{id}/11")).await.0, 200);
    assert_eq!(b.write(id, "1/1/1/11/0/0/0/0/0/0", &sent).await, 404);
    let deletes = join_all(pair.servers.iter().map(|server| {
        let path = format!("/datasets/{id}/10");
        async move { server.ask("DELETE", &path).await.0 }
    }));
    let mut deletes = deletes.await;
    deletes.sort_unstable();
    assert_eq!(deletes, [200, 404]);
    assert!(!pair.exists(&format!("{id}/10")) && !pair.exists(&format!("{id}/11")));
    assert_eq!(b.ask("DELETE", &format!("/datasets/{id}")).await.0, 200);
    assert_eq!(a.get(&format!("/datasets/{id}")).await.0, 404);
    assert!(!pair.exists(id));
    assert_eq!(pair.postgres.ask("images", "SELECT count(*) FROM dataset_info").unwrap(), "11\n");
    for left in ["under-way", "changes"] {
        let left = std::fs::read_dir(pair.folder.path().join(".datastore").join(left));
        assert_eq!(left.map_or(0, Iterator::count), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn levels_follow_what_two_servers_upload() {
    let Some(pair) = Pair::new("levels of two servers").await else { return };
    let given = description(&json!({
        "dimensions": [16, 16, 4], "timepoints": 1, "channels": 1, "compression": "raw",
        "resolutionLevels": [
            {"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]},
            {"resolutions": [4, 4, 1], "blockDimensions": [4, 4, 4]},
        ],
    }));
    let id = pair.servers[0].create(&given).await;
    for round in 0..3 {
        // All of them are below one block of the coarse level.
        let writes = (0..16).map(|at| {
            let (x, y, server) = (at % 4, at / 4, &pair.servers[at % 2]);
            let path = format!("1/1/1/4/4/1/build/0/{x}/{y}/0/0/0/0");
            let sent = block([4, 4, 4], 2, at + 16 * round);
            let id = &id;
            async move { server.write(id, &path, &sent).await }
        });
        assert!(join_all(writes).await.into_iter().all(|status| status == 200));
        let followed = pair.servers[0].read(&id, "4/4/1/0/0/0/0/0/0/0").await;
        let rebuild = format!("/datasets/{id}/0/0/0/0/rebuild");
        assert_eq!(pair.servers[1].ask("PATCH", &rebuild).await.0, 200);
        let rebuilt = pair.servers[1].read(&id, "4/4/1/0/0/0/0/0/0/0").await;
        assert!(followed == rebuilt, "round {round}");
        assert_ne!(&rebuilt[..], ABSENT);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocks_of_a_shard_that_two_servers_write_are_all_there() {
    let Some(pair) = Pair::new("a shard of two servers").await else { return };
    let given = description(&json!({
        "dimensions": [16, 16, 4], "timepoints": 1, "channels": 1, "compression": "raw",
        "storage": "zarr3",
        "resolutionLevels": [{
            "resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4], "shardDimensions": [16, 16, 4],
        }],
    }));
    let id = pair.servers[0].create(&given).await;
    for round in 0..3 {
        let place = |at: usize| format!("1/1/1/0/{}/{}/0/0/0/0", at % 4, at / 4);
        let sent = |at: usize| block([4, 4, 4], 2, at + 16 * round);
        let writes = (0..16).map(|at| {
            let (server, id) = (&pair.servers[at % 2], &id);
            async move { server.write(id, &place(at), &sent(at)).await }
        });
        assert!(join_all(writes).await.into_iter().all(|status| status == 200));
        for at in 0..16 {
            let read = pair.servers[(at + 1) % 2].read(&id, &place(at)).await;
            assert!(read == sent(at), "round {round}, block {at}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_away_for_ten_seconds_is_waited_for_and_blocks_are_served() {
    let Some(pair) = Pair::new("a database that is away").await else { return };
    let server = &pair.servers[0];
    let given = description(&json!({}));
    let id = server.create(&given).await;
    let sent = block([64, 64, 60], 2, 7);
    let at = "1/1/1/0/0/0/0/0/0/0";
    assert_eq!(server.write(&id, at, &sent).await, 200);
    assert_eq!(server.read(&id, at).await, sent);
    pair.postgres.down().unwrap();
    let gone = Instant::now();
    // Blocks of what is open.
    for _ in 0..5 {
        let asked = Instant::now();
        assert_eq!(server.read(&id, at).await, sent);
        assert!(asked.elapsed() < Duration::from_secs(5));
    }
    // Whatever needs the database says so, after a time that is bounded.
    let describe = server.served.get(&format!("/datasets/{id}")).send();
    let create = server.served.client.post(format!("{}/datasets", server.served.base));
    let create = create.header("content-type", JSON).body(given.to_string()).send();
    for answer in [describe.await.unwrap(), create.await.unwrap()] {
        assert_eq!(answer.status(), 503);
        assert!(answer.headers()["retry-after"].to_str().unwrap().parse::<u32>().unwrap() > 0);
        let said = answer.text().await.unwrap();
        assert!(said.contains("database") && !said.contains(pair.postgres.password()), "{said}");
    }
    assert!(gone.elapsed() < Duration::from_secs(25));
    assert_eq!(server.write(&id, at, &sent).await, 503);
    tokio::time::sleep(Duration::from_secs(10).saturating_sub(gone.elapsed())).await;
    pair.postgres.up().unwrap();
    // All goes on, without a restart.
    for (count, server) in pair.servers.iter().enumerate() {
        assert_eq!(server.versions(&id).await, json!((0..=count).collect::<Vec<_>>()));
        assert_eq!(server.write(&id, at, &sent).await, 200);
        assert_eq!(server.start(&id, "1/1/1/new/write").await.0, 307);
        assert_eq!(server.read(&id, at).await, sent);
    }
    assert_eq!(pair.servers[1].versions(&id).await, json!([0, 1, 2]));
}

#[tokio::test]
async fn rows_of_the_table_hold_with_postgresql_too() {
    let Some(postgres) = Postgres::start("rows with PostgreSQL").unwrap() else { return };
    let url = postgres.database("rows").unwrap();
    let own = std::env::current_exe().unwrap();
    let mut command = Command::new(own);
    command.args(["rows_blocks::", "rows_register::", "rows_start::", "rows_versions::"]);
    let output = command.env(POSTGRES, url).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("row_12_") && !said.contains(" 0 passed"), "{said}");
    let schemas = "SELECT count(*) FROM pg_tables WHERE tablename = 'dataset_versions'";
    let used: u32 = postgres.ask("rows", schemas).unwrap().trim().parse().unwrap();
    assert!(used > 20, "{used} stores had a database there");
}

#[tokio::test]
async fn databases_that_cannot_be_used_are_refused_and_nothing_is_written() {
    let Some(postgres) = Postgres::start("databases that are refused").unwrap() else { return };
    let url = postgres.database("images").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let refused = async |url: &str, words: &[&str]| {
        let store = rechunk_store::Store::open(root.to_str().unwrap()).unwrap();
        let database = Database::parse(url).unwrap();
        let error = open_writable(store, &database).await.unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "{url}: {error}");
        }
        assert!(!error.contains(postgres.password()) && !error.contains("wr0ng"), "{error}");
        assert!(!root.exists(), "{url}");
    };
    refused(&url.replace(postgres.password(), "wr0ng"), &["password"]).await;
    refused(&url.replace("/images", "/nowhere"), &["nowhere", "createdb"]).await;
    let port = url.rsplit(':').next().unwrap().split('/').next().unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    refused(&url.replace(port, &closed.to_string()), &["efused", "up"]).await;
    postgres.ask("images", "CREATE TABLE dataset_info (other INT)").unwrap();
    refused(&url, &["another program"]).await;
    postgres.ask("images", "DROP TABLE dataset_info").unwrap();
    // One that is fresh is none to be read.
    std::fs::create_dir(&root).unwrap();
    let open = || rechunk_store::Store::open(root.to_str().unwrap()).unwrap();
    let database = Database::parse(&url).unwrap();
    let error = open_read_only(open(), &database).await.unwrap_err().to_string();
    assert!(error.contains("no tables"), "{error}");
    drop(open_writable(open(), &database).await.unwrap());
    open_read_only(open(), &database).await.unwrap();
    // A newer schema.
    let newer = "INSERT INTO register_schema (version, description, success, checksum, \
                 execution_time) VALUES (99, 'x', true, '', 0)";
    postgres.ask("images", newer).unwrap();
    for error in [
        open_writable(open(), &database).await.unwrap_err(),
        open_read_only(open(), &database).await.unwrap_err(),
    ] {
        assert!(error.to_string().contains("newer version of rechunk"), "{error}");
    }
    postgres.ask("images", "DELETE FROM register_schema WHERE version = 99").unwrap();
    // Another root is not that of this database, and this root is not of another.
    let other = tempfile::tempdir().unwrap();
    let store = rechunk_store::Store::open(other.path().to_str().unwrap()).unwrap();
    let datastore = open_writable(open(), &database).await.unwrap();
    let new = rechunk_datastore::NewDataset::from_json(&description(&Value::from(
        serde_json::Map::new(),
    )));
    datastore.create(new.unwrap()).await.unwrap();
    let error = open_writable(store, &database).await.unwrap_err().to_string();
    assert!(error.contains("another"), "{error}");
    drop(datastore);
    let error = open_writable(open(), &Database::in_root(&root)).await.unwrap_err().to_string();
    assert!(error.contains("another database"), "{error}");
}
