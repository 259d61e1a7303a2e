//! Data sets in a bucket.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rechunk_testkit::{Filter, Moment, Operation, Postgres, S3Server, ServerOptions};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::serving::{BYTES, Serving, block};
use crate::harness::{Done, Folder, Run};

const PLACE: &str = "lab/images";
const FOLLOWED: &str = "1/1/1/2/2/1";

/// A bucket, the server of its data sets, and their database.
struct Lab {
    s3: S3Server,
    folder: Folder,
    database: String,
}

impl Lab {
    fn new() -> Self {
        let s3 = S3Server::start(&ServerOptions::default()).unwrap();
        let folder = Folder::new();
        let database = format!("sqlite:{}", folder.at("images.sqlite"));
        Self { s3, folder, database }
    }

    fn root(&self) -> String {
        self.s3.url(PLACE)
    }

    fn run(&self, words: &[&str]) -> Run {
        let run = Run::rechunk(words).without("RUST_LOG").env("HOME", env!("CARGO_TARGET_TMPDIR"));
        let run = run.env("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9");
        self.s3.environment().iter().fold(run, |run, (name, value)| run.env(name, value))
    }

    fn go(&self, words: &[&str]) -> Done {
        self.run(words).go()
    }

    /// The words of a server that writes.
    fn words<'a>(&'a self, root: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        let words = ["serve", "datastore", root, "--write", "--database", &self.database];
        [&words[..], &["--listen", "127.0.0.1:0"], more].concat()
    }

    fn start(&self, more: &[&str]) -> Serving {
        let root = self.root();
        Serving::of(self.run(&self.words(&root, more)).start())
            .unwrap_or_else(|said| panic!("{said}"))
    }

    /// Path of a key on the disk of the bucket.
    fn disk(&self, key: &str) -> PathBuf {
        self.s3.root().join(S3Server::BUCKET).join(PLACE).join(key)
    }

    fn keys(&self, below: &str) -> Vec<String> {
        if !self.disk(below).exists() {
            return Vec::new();
        }
        let files = crate::harness::tree(&self.disk(below)).into_iter();
        files.filter(|(_, digest)| !digest.is_empty()).map(|(key, _)| key).collect()
    }

    /// Nothing is under way: no note, no upload.
    #[track_caller]
    fn assert_settled(&self) {
        let own = self.keys(".datastore");
        assert_eq!(own, ["format.json"], "left behind");
        assert_eq!(self.s3.unfinished_uploads().unwrap(), 0);
    }
}

pub(super) fn create(serving: &Serving, storage: &str, shard: Option<[u64; 3]>) -> String {
    let level = |factors: [u64; 3]| {
        let mut level = json!({"resolutions": factors, "blockDimensions": [16, 16, 16]});
        if let Some(shard) = shard {
            level["shardDimensions"] = json!(shard);
        }
        level
    };
    let description = json!({
        "voxelType": "uint16", "dimensions": [64, 32, 32], "compression": "gzip", "channels": 2,
        "storage": storage, "resolutionLevels": [level([1, 1, 1]), level([2, 2, 1])],
    });
    let body = description.to_string().into_bytes();
    let (status, id) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
    let id = String::from_utf8(id).unwrap();
    assert_eq!(status, 200, "{id}");
    id
}

pub(super) fn ask(serving: &Serving, method: &str, path: &str) -> (u16, Vec<u8>) {
    serving.ask(method, &format!("/datasets/{path}"), BYTES, b"").unwrap()
}

#[track_caller]
pub(super) fn write(serving: &Serving, path: &str, body: &[u8]) {
    let (status, said) = serving.ask("POST", &format!("/datasets/{path}"), BYTES, body).unwrap();
    assert_eq!(status, 200, "{path}: {}", String::from_utf8_lossy(&said));
}

pub(super) fn versions(serving: &Serving, id: &str) -> Value {
    let said: Value = serde_json::from_slice(&ask(serving, "GET", id).1).unwrap();
    said["versions"].clone()
}

/// All blocks of a data set in version 0, finest level first.
pub(super) fn blocks(serving: &Serving, id: &str) -> Vec<Vec<u8>> {
    let of = |level: &str, counts| serving.blocks(&format!("{id}/{level}"), counts, "0/1/0");
    [of("1/1/1", [4, 2, 2]), of("2/2/1", [2, 1, 2])].concat()
}

/// Writes most blocks of channel 1, and has a level follow.
pub(super) fn upload(serving: &Serving, id: &str) {
    for z in 0..2 {
        let places = (0..7).map(|number| (number % 4, number / 4));
        let path: Vec<String> = places.map(|(x, y)| format!("{x}/{y}/{z}/0/1/0")).collect();
        let body: Vec<u8> = (0..7).flat_map(|seed| block([16; 3], seed + 9 * z)).collect();
        write(serving, &format!("{id}/{FOLLOWED}/build/0/{}", path.join("/")), &body);
    }
}

fn lives_in_a_bucket(lab: &mut Lab) {
    let serving = lab.start(&[]);
    let ids = [("n5", None), ("zarr3", None), ("zarr3", Some([32, 32, 16]))]
        .map(|(storage, shard)| create(&serving, storage, shard));
    let mut seen = Vec::new();
    for id in &ids {
        upload(&serving, id);
        seen.push(blocks(&serving, id));
        assert_eq!(ask(&serving, "PATCH", &format!("{id}/0/1/0/latest/rebuild")).0, 200);
        assert!(blocks(&serving, id) == seen[0], "levels are other ones after a rebuild");
    }
    assert!(seen.iter().all(|blocks| *blocks == seen[0]));
    assert!(seen[0].iter().any(|block| block.len() == 12), "all are there");

    let id = &ids[0];
    let grown = serving.ask("POST", &format!("/datasets/{id}/channels"), "text/plain", b"1");
    assert_eq!(grown.unwrap().0, 200);
    let text =
        serving.ask("POST", &format!("/datasets/{id}/common-metadata"), "text/plain", b"kept");
    assert_eq!(text.unwrap().0, 200);
    for number in [1, 2] {
        assert_eq!(ask(&serving, "GET", &format!("{id}/1/1/1/new/write")).0, 307);
        assert!(lab.keys(&format!("{id}/{number}")).contains(&"export.xml".to_owned()));
    }
    write(&serving, &format!("{id}/1/1/1/2/0/0/0/0/2/0"), &block([16; 3], 77));
    assert_eq!(ask(&serving, "DELETE", &format!("{id}/1")).0, 200);
    assert_eq!(ask(&serving, "DELETE", &ids[1]).0, 200);
    assert!(lab.keys(&format!("{id}/1")).is_empty() && lab.keys(&ids[1]).is_empty());
    drop(serving);

    // What clients have written others read from the bucket.
    let array = format!("{}/{id}/0/export.n5/setup1/timepoint0/s0", lab.root());
    assert!(lab.go(&["info", &array]).ok().stdout.contains("uint16"));
    let target = lab.folder.at(&format!("{id}.npy"));
    lab.go(&["copy", &array, &target, "--max-mem", "64MiB"]).ok();
    let ours = fs::read(target).unwrap();
    let first: Vec<u8> = seen[0][0][12..44].chunks(2).flat_map(|two| [two[1], two[0]]).collect();
    let elements = &ours[ours.len() - 64 * 32 * 32 * 2..];
    assert_eq!(elements[..32], first);

    // After a restart all of it is there, and for a database that is made anew.
    let serving = lab.start(&[]);
    lab.assert_settled();
    let holds = |serving: &Serving| {
        assert_eq!(versions(serving, id), json!([0, 2]));
        assert_eq!(ask(serving, "GET", &format!("{id}/common-metadata")).1, b"kept");
        assert!(blocks(serving, id) == seen[0] && blocks(serving, &ids[2]) == seen[0]);
        let read = ask(serving, "GET", &format!("{id}/1/1/1/mixedLatest/0/0/0/0/2/0"));
        assert_eq!(read, (200, block([16; 3], 77)));
        assert_eq!(ask(serving, "GET", &ids[1]).0, 404);
    };
    holds(&serving);
    drop(serving);
    let (root, first) = (lab.root(), lab.database.clone());
    lab.database = format!("sqlite:{}", lab.folder.at(&format!("again-{id}.sqlite")));
    lab.go(&lab.words(&root, &[])).ends_with(3).says(&["another database", "serve import"]);
    let words = ["serve", "import", &root, "--database", &lab.database, "--json"];
    assert_eq!(lab.go(&words).ok().json()["datasets"], 2);
    holds(&lab.start(&[]));
    lab.database = first;
    lab.go(&lab.words(&root, &[])).ends_with(3).says(&["another database"]);
}

#[test]
fn data_sets_are_kept_in_a_bucket() {
    lives_in_a_bucket(&mut Lab::new());
}

#[test]
fn data_sets_are_kept_in_a_bucket_by_several_servers_with_postgresql() {
    let Some(postgres) = Postgres::start("data sets in a bucket").unwrap() else { return };
    let mut lab = Lab::new();
    lab.database = postgres.database("images").unwrap();
    let (a, b) = (lab.start(&[]), lab.start(&[]));
    // Blocks of one shard, by both.
    let id = create(&a, "zarr3", Some([64, 32, 32]));
    let both = [&a, &b];
    std::thread::scope(|scope| {
        for (which, serving) in both.into_iter().enumerate() {
            let id = &id;
            scope.spawn(move || {
                for number in 0..4 {
                    let (x, y) = (number % 4, u64::try_from(which).unwrap());
                    let sent = block([16; 3], u32::try_from(x * 2 + y).unwrap());
                    write(serving, &format!("{id}/{FOLLOWED}/build/0/{x}/{y}/0/0/1/0"), &sent);
                }
            });
        }
    });
    for number in 0..8 {
        let (x, y) = (number / 2, number % 2);
        let read = ask(both[x % 2], "GET", &format!("{id}/1/1/1/0/{x}/{y}/0/0/1/0"));
        assert_eq!(read, (200, block([16; 3], u32::try_from(number).unwrap())));
    }
    let followed = blocks(&a, &id);
    assert_eq!(ask(&b, "PATCH", &format!("{id}/0/1/0/latest/rebuild")).0, 200);
    assert!(blocks(&a, &id) == followed);
    assert_eq!(ask(&b, "DELETE", &id).0, 200);
    assert_eq!(ask(&a, "GET", &id).0, 404);
    drop((a, b));
    lives_in_a_bucket(&mut lab);
}

#[test]
fn a_kill_between_a_bucket_and_the_database_leaves_nothing_by_halves() {
    let lab = Lab::new();
    let mut serving = lab.start(&[]);
    let id = create(&serving, "n5", None);
    upload(&serving, &id);
    assert_eq!(ask(&serving, "GET", &format!("{id}/1/1/1/new/write")).0, 307);
    let kept = blocks(&serving, &id);
    let at = |operation: Operation, key: &str| {
        Filter::any().operation(operation).key(&format!("{PLACE}/{key}"))
    };
    let number = |id: &str| format!("/datasets/{id}/1/1/1/new/write");
    let description = json!({
        "voxelType": "uint8", "dimensions": [4, 4, 4], "compression": "raw",
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [4, 4, 4]}],
    });
    let description = description.to_string();
    let deletes = Filter::any().operation(Operation::Delete).operation(Operation::DeleteMany);
    // The request that it dies at, the request that a client sends, and versions that come or go.
    for (filter, method, path, body, more) in [
        (at(Operation::Put, "*/dataset.json"), "POST", "/datasets".to_owned(), &description[..], 0),
        (at(Operation::Put, "*/2/export.xml"), "GET", number(&id), "", 0),
        (deletes.clone(), "GET", number(&id), "", 1),
        (deletes.clone(), "DELETE", format!("/datasets/{id}/LATEST"), "", -1),
        (at(Operation::Put, "*/0/export.xml"), "POST", format!("/datasets/{id}/channels"), "1", 0),
    ] {
        for moment in [Moment::Before, Moment::After] {
            if versions(&serving, &id).as_array().unwrap().len() < 2 {
                assert_eq!(serving.ask("GET", &number(&id), BYTES, b"").unwrap().0, 307);
            }
            let before = versions(&serving, &id);
            let before = before.as_array().unwrap();
            let (path, before) =
                (path.replace("LATEST", &before.last().unwrap().to_string()), before.len());
            let hold = lab.s3.hold_nth(filter.clone(), 1, moment);
            std::thread::scope(|scope| {
                let (serving, path) = (&serving, &path);
                let asking = scope.spawn(move || {
                    let media =
                        if path.ends_with("/channels") { "text/plain" } else { "application/json" };
                    serving.ask(method, path, media, body.as_bytes())
                });
                hold.wait(Duration::from_secs(30))
                    .unwrap_or_else(|| panic!("{method} {path} never comes there"));
                serving.signal(Signal::KILL);
                assert_eq!(asking.join().unwrap(), None);
                hold.abandon();
            });
            serving.child.wait().unwrap();
            lab.s3.clear_hooks();
            serving = lab.start(&[]);
            lab.assert_settled();
            let said = format!("{method} {path} {moment:?}");
            let after = versions(&serving, &id);
            let after = after.as_array().unwrap();
            assert_eq!(Some(after.len()), before.checked_add_signed(more), "{said}");
            let keys = lab.keys(&id);
            let folders: BTreeSet<&str> =
                keys.iter().filter_map(|key| Some(key.split_once('/')?.0)).collect();
            assert_eq!(folders.len(), after.len(), "{said}");
            assert_eq!(ask(&serving, "GET", &format!("{id}/channels")).1, b"2", "{said}");
            assert!(blocks(&serving, &id) == kept, "{said}");
            let (_, all) = serving.ask("GET", "/datasets", BYTES, b"").unwrap();
            let all: Value = serde_json::from_slice(&all).unwrap();
            assert!(!all.to_string().contains("uint8"), "{said}: {all}");
        }
    }
}

#[test]
fn buckets_that_cannot_be_used_are_refused_with_words() {
    let lab = Lab::new();
    let root = lab.root();
    for command in [&["datastore", &root, "--write"][..], &["datastore", &root], &["import", &root]]
    {
        let run = lab.go(&[&["serve"], command].concat()).ends_with(2);
        run.says(&["--database", "sqlite:/var/lib/images.sqlite", "postgres://"]);
    }
    for root in ["http://127.0.0.1:9/images", "memory://images", &lab.folder.at("a.zip")] {
        fs::write(lab.folder.at("a.zip"), "PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")
            .unwrap();
        let run = lab.go(&lab.words(root, &[])).ends_with(2);
        run.says(&["neither a directory nor in a bucket"]);
    }
    let words = lab.words(&root, &["--timeout", "2"]);
    let wrong = lab.run(&words).env("AWS_SECRET_ACCESS_KEY", "wrong").go().ends_with(3);
    wrong.says(&[".datastore", "s3://"]);
    let elsewhere = "s3://not-there/images";
    lab.go(&lab.words(elsewhere, &["--timeout", "2"])).ends_with(3).says(&["not-there"]);
    assert!(lab.keys("").is_empty());
    // One that reads changes nothing, and finds nothing.
    let words = ["serve", "datastore", &root, "--database", &lab.database];
    lab.go(&words).ends_with(3).says(&["is not there"]);
    assert!(!fs::exists(lab.folder.at("images.sqlite")).unwrap());
    let serving = lab.start(&[]);
    let id = create(&serving, "n5", None);
    // A second that writes, and one that reads.
    lab.go(&lab.words(&root, &[])).ends_with(4).says(&["another process"]);
    let run = lab.go(&["serve", "import", &root, "--database", &lab.database]);
    run.ends_with(4).says(&["another process"]);
    let words = [&words[..], &["--listen", "127.0.0.1:0"]].concat();
    let reading = Serving::of(lab.run(&words).start()).unwrap();
    assert_eq!(ask(&reading, "GET", &id).0, 200);
    assert_eq!(ask(&reading, "DELETE", &id).0, 403);
}

#[test]
fn a_bucket_that_is_away_is_waited_for_then_answers_are_503() {
    let lab = Lab::new();
    let serving = lab.start(&["--timeout", "2"]);
    let ids = [create(&serving, "n5", None), create(&serving, "zarr3", Some([32, 32, 16]))];
    for id in &ids {
        upload(&serving, id);
    }
    let kept = blocks(&serving, &ids[0]);
    lab.s3.stop();
    let begun = Instant::now();
    for id in &ids {
        let place = format!("{id}/1/1/1/0/0/0/0/0/1/0");
        assert_eq!(ask(&serving, "GET", &place).0, 503);
        let path = format!("/datasets/{id}/{FOLLOWED}/build/0/0/0/0/0/1/0");
        let said = serving.ask("POST", &path, BYTES, &block([16; 3], 50)).unwrap();
        assert_eq!(said.0, 503, "{}", String::from_utf8_lossy(&said.1));
        assert_eq!(ask(&serving, "GET", &format!("{id}/1/1/1/new/write")).0, 503);
    }
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
    // What the database says needs no bucket.
    assert_eq!(ask(&serving, "GET", &ids[0]).0, 200);
    lab.s3.restart().unwrap();
    for id in &ids {
        assert!(blocks(&serving, id) == kept);
        assert_eq!(ask(&serving, "GET", &format!("{id}/1/1/1/new/write")).0, 307);
        assert_eq!(versions(&serving, id), json!([0, 1]));
    }
    // A short outage is waited out: less than the time that is given.
    drop(serving);
    let serving = lab.start(&["--timeout", "60"]);
    lab.s3.stop();
    std::thread::scope(|scope| {
        let asking =
            scope.spawn(|| ask(&serving, "GET", &format!("{}/1/1/1/0/0/0/0/0/1/0", ids[0])));
        std::thread::sleep(Duration::from_secs(1));
        lab.s3.restart().unwrap();
        assert_eq!(asking.join().unwrap(), (200, kept[0].clone()));
    });
}
