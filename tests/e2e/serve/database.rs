//! The database of a datastore on the command line.

use std::fs;
use std::path::Path;

use rechunk_testkit::Postgres;
use serde_json::{Value, json};

use super::serving::{BYTES, Serving, block};
use crate::harness::{Folder, Run, copy_directory, is_root, open_to_all, rechunk};

const FILE: &str = ".datastore/datastore.sqlite";

fn create(serving: &Serving) -> String {
    let description = json!({
        "voxelType": "uint16", "dimensions": [32, 32, 32], "compression": "raw", "label": "kept",
        "resolutionLevels": [{"resolutions": [1, 1, 1], "blockDimensions": [32, 32, 32]}],
    });
    let body = description.to_string().into_bytes();
    let (status, id) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
    assert_eq!(status, 200, "{id:?}");
    String::from_utf8(id).unwrap()
}

fn get(serving: &Serving, path: &str) -> (u16, Vec<u8>) {
    serving.ask("GET", &format!("/datasets/{path}"), BYTES, b"").unwrap()
}

/// A root with two data sets, of which one has versions 0 and 1, a block and a text.
fn filled(folder: &Folder) -> (String, String, String) {
    let root = folder.at("root");
    let serving = Serving::start(&["datastore", &root, "--write"]);
    let (first, second) = (create(&serving), create(&serving));
    assert_eq!(get(&serving, &format!("{first}/1/1/1/new/write")).0, 307);
    let path = format!("/datasets/{first}/1/1/1/1/0/0/0/0/0/0");
    assert_eq!(serving.ask("POST", &path, BYTES, &block([32; 3], 1)).unwrap().0, 200);
    let path = format!("/datasets/{first}/common-metadata");
    assert_eq!(serving.ask("POST", &path, "text/plain", b"its text").unwrap().0, 200);
    (root, first, second)
}

fn holds(serving: &Serving, first: &str, second: &str, described: &Value) {
    let (status, said) = get(serving, first);
    assert_eq!(status, 200);
    assert_eq!(serde_json::from_slice::<Value>(&said).unwrap(), *described);
    assert_eq!(get(serving, second).0, 200);
    assert_eq!(get(serving, &format!("{first}/common-metadata")).1, b"its text");
    assert_eq!(get(serving, &format!("{first}/1/1/1/1/0/0/0/0/0/0")).1, block([32; 3], 1));
}

fn describe(root: &str, id: &str) -> Value {
    let serving = Serving::start(&["datastore", root]);
    serde_json::from_slice(&get(&serving, id).1).unwrap()
}

#[test]
fn an_import_makes_a_database_of_what_is_on_the_disk() {
    let folder = Folder::new();
    let (root, first, second) = filled(&folder);
    let described = describe(&root, &first);
    fs::remove_file(folder.at(&format!("root/{FILE}"))).unwrap();
    // One of another program, one that is none, one that is damaged, and a file.
    copy_directory(Path::new(&root).join(&first).as_ref(), folder.at("root/foreign").as_ref());
    fs::remove_file(folder.at("root/foreign/dataset.json")).unwrap();
    fs::create_dir_all(folder.at("root/none/export.n5")).unwrap();
    fs::create_dir_all(folder.at("root/damaged/0")).unwrap();
    fs::write(folder.at("root/damaged/dataset.json"), "{").unwrap();
    fs::write(folder.at("root/a file"), "").unwrap();
    for more in [&[][..], &["--write"]] {
        let refused = rechunk(&[&["serve", "datastore", &root], more].concat()).ends_with(3);
        refused.says(&["another database", &format!("rechunk serve import {root}")]);
        assert!(!Path::new(&folder.at(&format!("root/{FILE}"))).exists());
    }
    let said = rechunk(&["serve", "import", &root, "--json"]).ok().json();
    assert_eq!((&said["datasets"], &said["versions"]), (&json!(3), &json!(5)), "{said}");
    let left: Vec<_> = said["left"].as_array().unwrap().iter().map(|one| &one["folder"]).collect();
    assert_eq!(left, ["damaged", "none"], "{said}");
    assert!(said["left"][0]["reason"].as_str().unwrap().contains("dataset.json"), "{said}");
    assert_eq!(said["removed"], json!([]));
    let serving = Serving::start(&["datastore", &root]);
    holds(&serving, &first, &second, &described);
    let (_, foreign) = get(&serving, "foreign");
    let foreign: Value = serde_json::from_slice(&foreign).unwrap();
    assert_eq!(foreign["versions"], json!([0, 1]));
    assert_eq!(foreign["dimensions"], described["dimensions"]);
    drop(serving);
    // What has no folder any more leaves the database; again, nothing changes.
    fs::remove_dir_all(folder.at("root/foreign")).unwrap();
    let run = rechunk(&["serve", "import", &root]).ok();
    assert!(run.stdout.starts_with("2 data sets, 3 versions are in sqlite:"), "{}", run.stdout);
    assert!(run.stdout.contains("removed foreign: it has no folder"), "{}", run.stdout);
    let again = rechunk(&["serve", "import", &root]).ok();
    assert!(!again.stdout.contains("removed"), "{}", again.stdout);
    holds(&Serving::start(&["datastore", &root, "--write"]), &first, &second, &described);
    rechunk(&["serve", "import", &folder.at("nowhere")]).ends_with(3).says(&["no such directory"]);
    assert!(!Path::new(&folder.at("nowhere")).exists());
    // A whole root that is copied is one.
    copy_directory(root.as_ref(), folder.at("copy").as_ref());
    holds(&Serving::start(&["datastore", &folder.at("copy")]), &first, &second, &described);
}

#[test]
fn a_root_of_a_version_without_a_database_is_taken_over() {
    let folder = Folder::new();
    let (root, first, second) = filled(&folder);
    let described = describe(&root, &first);
    // As that version has it: marks, and a copy of the folder that was never registered.
    fs::remove_file(folder.at(&format!("root/{FILE}"))).unwrap();
    fs::write(folder.at("root/.datastore/format.json"), "{\"rechunk-datastore\": 1}\n").unwrap();
    fs::create_dir(folder.at("root/.datastore/known")).unwrap();
    for id in [&first, &second] {
        fs::write(folder.at(&format!("root/.datastore/known/{id}")), "").unwrap();
    }
    copy_directory(Path::new(&root).join(&first).as_ref(), folder.at("root/unknown").as_ref());
    let refused = rechunk(&["serve", "datastore", &root]).ends_with(3);
    refused.says(&["in no database yet", &format!("rechunk serve import {root}")]);
    assert!(!Path::new(&folder.at(&format!("root/{FILE}"))).exists());
    let serving = Serving::start(&["datastore", &root, "--write"]);
    holds(&serving, &first, &second, &described);
    assert_eq!(get(&serving, "unknown").0, 404);
    drop(serving);
    assert_eq!(fs::read_dir(folder.at("root/.datastore/known")).unwrap().count(), 0);
    holds(&Serving::start(&["datastore", &root]), &first, &second, &described);
}

#[test]
fn a_root_moves_to_postgresql_by_an_import() {
    let Some(postgres) = Postgres::start("a move to PostgreSQL").unwrap() else { return };
    let url = postgres.database("images").unwrap();
    let folder = Folder::new();
    let (root, first, second) = filled(&folder);
    let described = describe(&root, &first);
    let words = ["serve", "datastore", &root, "--write", "--database", &url];
    let refused = rechunk(&words).ends_with(3);
    let command = format!("rechunk serve import {root} --database URL");
    refused.says(&["another database", &command]);
    let run = rechunk(&["serve", "import", &root, "--database", &url, "--json"]).ok();
    assert_eq!(run.json()["datasets"], json!(2));
    assert!(!format!("{run:?}").replace(&url, "").contains(postgres.password()), "{run:?}");
    let words = ["datastore", &root, "--write", "--database", &url];
    let (a, mut b) = (Serving::start(&words), Serving::start(&words));
    holds(&a, &first, &second, &described);
    holds(&b, &first, &second, &described);
    let third = create(&a);
    assert_eq!(get(&b, &third).0, 200);
    // Beside them nobody writes with another database.
    let alone = rechunk(&["serve", "import", &root]).ends_with(4);
    alone.says(&["is written by another process"]);
    b.signal(rustix::process::Signal::TERM);
    let (code, said) = b.ended();
    assert_eq!(code, Some(0));
    assert!(!said.contains(postgres.password()), "{said}");
    // The tables are those of the design.
    let sql =
        format!("SELECT number FROM dataset_versions WHERE dataset_uuid = '{first}' ORDER BY 1");
    assert_eq!(postgres.ask("images", &sql).unwrap(), "0\n1\n");
    let wrong = url.replace(postgres.password(), "wr0ng");
    let words = ["serve", "datastore", &root, "--database", &wrong];
    let run = rechunk(&words).ends_with(3).says(&["the user or the password is wrong"]);
    assert!(!run.stderr.contains("wr0ng"), "{}", run.stderr);
}

#[test]
fn databases_that_cannot_be_used_are_refused() {
    let folder = Folder::new();
    let root = folder.at("root");
    for (url, words) in [
        ("mysql://ada:s3cret@db/x", &["--database", "mysql", "sqlite:PATH or postgres://"][..]),
        ("postgres://ada:s3cret@db", &["--database", "names no database"]),
        ("postgres://ada:s3cret@db/x?pasword=s3cret", &["--database", "pasword"]),
        ("sqlite:", &["--database", "names no file"]),
        ("images", &["--database", "scheme"]),
    ] {
        for command in [&["serve", "datastore", &root, "--write"][..], &["serve", "import", &root]]
        {
            if command[1] == "import" {
                fs::create_dir_all(&root).unwrap();
            }
            let run = rechunk(&[command, &["--database", url]].concat()).ends_with(2).says(words);
            assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
            let _ = fs::remove_dir(&root);
        }
    }
    assert!(!Path::new(&root).exists());
    // A file that is no database.
    let text = folder.at("notes.sqlite");
    fs::write(
        &text,
        "these are no tables, but a text that is long enough to be looked at\n".repeat(99),
    )
    .unwrap();
    let database = format!("sqlite:{text}");
    for more in [&["--write"][..], &[]] {
        fs::create_dir_all(&root).unwrap();
        let words = [&["serve", "datastore", &root, "--database", &database], more].concat();
        rechunk(&words).ends_with(3).says(&["notes.sqlite", "no file of SQLite"]);
        fs::remove_dir(&root).unwrap();
    }
    let (root, first, second) = filled(&folder);
    // A second process that writes.
    let serving = Serving::start(&["datastore", &root, "--write"]);
    rechunk(&["serve", "datastore", &root, "--write"]).ends_with(4).says(&["another process"]);
    rechunk(&["serve", "import", &root]).ends_with(4).says(&["another process"]);
    // One that reads sees what the first has written.
    let reading = Serving::start(&["datastore", &root]);
    let third = create(&serving);
    assert_eq!(get(&reading, &third).0, 200);
    drop((serving, reading));
    // A root that may only be read.
    if is_root() {
        let place = Folder::public();
        let copy = place.at("root");
        copy_directory(root.as_ref(), copy.as_ref());
        for path in ["", "/.datastore", &format!("/{first}")] {
            open_to_all(format!("{copy}{path}").as_ref(), 0o755);
        }
        open_to_all(place.path(), 0o755);
        let words = ["serve", "datastore", &copy, "--write"];
        let run = Run::rechunk(&words).by_user(65534).go().fails();
        assert_eq!(run.code, 3, "{run:?}");
        run.says(&["have to be writable"]);
        // Reading it is fine.
        let words = ["serve", "datastore", &copy, "--listen", "127.0.0.1:0"];
        let serving = Serving::of(Run::rechunk(&words).by_user(65534).start());
        let serving = serving.unwrap_or_else(|said| panic!("{said}"));
        assert_eq!(get(&serving, &second).0, 200);
    }
}
