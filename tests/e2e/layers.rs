//! Holds the crates to the table of layers in docs/ARCHITECTURE.md. Arrows point down only, crates
//! of one layer are strangers, pure crates know no I/O, and nobody uses what its row does not name.
//!
//! The table is the one whose head is `| crate | layer | may use |`. `layer` is `L0`, `L1`, …, with
//! `pure` after it for a crate without I/O; `may use` names crates of the workspace, with commas,
//! or is `nothing`. A third party that only some crates may name stands in [`ONLY`].

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

use crate::harness::root;

const TABLE_HEAD: [&str; 3] = ["crate", "layer", "may use"];
/// Crates that a pure crate may not depend on: runtimes, stores, the operating system.
const IMPURE: [&str; 10] = [
    "async-trait",
    "futures",
    "futures-util",
    "object_store",
    "reqwest",
    "rustix",
    "tempfile",
    "tokio",
    "tokio-util",
    "tracing-subscriber",
];
/// Third parties that only these crates may name.
const ONLY: [(&str, &[&str]); 8] = [
    ("object_store", &["rechunk-store", "rechunk-testkit"]),
    ("zarrs", &["rechunk-codec"]),
    ("lz4-sys", &["rechunk-kernel"]),
    ("axum", &["rechunk-serve"]),
    ("cap-std", &["rechunk-serve"]),
    ("clap", &["rechunk-cli"]),
    ("indicatif", &["rechunk-cli"]),
    ("sqlx", &["rechunk-register"]),
];

#[derive(Debug)]
struct Row {
    layer: u32,
    is_pure: bool,
    may_use: Vec<String>,
}

/// The rows of the table by crate.
fn table() -> BTreeMap<String, Row> {
    let path = root().join("docs/ARCHITECTURE.md");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} has the table of layers: {error}", path.display()));
    let rows: Vec<Vec<String>> =
        text.lines().filter(|line| line.trim().starts_with('|')).map(cells).collect();
    let head = rows.iter().position(|row| row == &TABLE_HEAD);
    let head = head.expect("docs/ARCHITECTURE.md has a table | crate | layer | may use |");
    // Until the next table: a row of another width.
    let body = rows[head + 1..].iter().take_while(|row| row.len() == 3 && row != &&TABLE_HEAD);
    let body = body.filter(|row| !row[0].starts_with('-') && !row[0].starts_with(':'));
    body.map(|row| (row[0].clone(), parse(row))).collect()
}

fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_matches('|');
    line.split('|').map(|cell| cell.trim().replace('`', "")).collect()
}

fn parse(row: &[String]) -> Row {
    let (layer, rest) = row[1].split_once(char::is_whitespace).unwrap_or((&row[1], ""));
    let number = layer.strip_prefix('L').and_then(|number| number.parse().ok());
    let names = row[2].split(',').map(str::trim);
    Row {
        layer: number.unwrap_or_else(|| panic!("the layer of {} is `{}`", row[0], row[1])),
        is_pure: rest.trim() == "pure",
        may_use: names
            .filter(|name| !["", "nothing", "—", "-"].contains(name))
            .map(str::to_owned)
            .collect(),
    }
}

/// Crates of the workspace in the order of the root manifest, each with what it builds on.
fn packages() -> Vec<(String, Vec<String>)> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let members = metadata["workspace_members"].as_array().unwrap();
    let package = |id: &Value| {
        let all = metadata["packages"].as_array().unwrap();
        let package = all.iter().find(|package| &package["id"] == id).unwrap();
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let built_on = dependencies.filter(|dependency| dependency["kind"] != "dev");
        let name = |value: &Value| value["name"].as_str().unwrap().to_owned();
        (name(package), built_on.map(name).collect())
    };
    members.iter().map(package).collect()
}

#[test]
fn the_table_names_every_crate_and_no_other() {
    let (table, packages) = (table(), packages());
    for (name, _) in &packages {
        assert!(table.contains_key(name), "{name} has no row in docs/ARCHITECTURE.md");
    }
    for name in table.keys() {
        assert!(packages.iter().any(|(package, _)| package == name), "there is no crate {name}");
    }
}

#[test]
fn arrows_point_down_and_nobody_uses_what_is_not_allowed() {
    let (table, packages) = (table(), packages());
    for (name, dependencies) in &packages {
        let row = &table[name];
        for used in dependencies {
            if let Some(other) = table.get(used) {
                assert!(
                    other.layer < row.layer,
                    "{name} (L{}) uses {used} (L{}): arrows point down only",
                    row.layer,
                    other.layer
                );
                assert!(
                    row.may_use.contains(used),
                    "{name} may not use {used} by docs/ARCHITECTURE.md"
                );
            }
            for (party, users) in ONLY {
                assert!(
                    used != party || users.contains(&name.as_str()),
                    "only {users:?} may name {party}, not {name}"
                );
            }
            assert!(
                !row.is_pure || !IMPURE.contains(&used.as_str()),
                "{name} is pure and uses {used}"
            );
        }
        for allowed in &row.may_use {
            let lower = table
                .get(allowed)
                .unwrap_or_else(|| panic!("{name} may use {allowed}, which has no row"));
            assert!(
                lower.layer < row.layer,
                "the table lets {name} use {allowed}, which is not below it"
            );
        }
    }
}

#[test]
fn pure_crates_use_only_pure_crates() {
    let (table, packages) = (table(), packages());
    for (name, dependencies) in packages.iter().filter(|(name, _)| table[name].is_pure) {
        for used in dependencies {
            assert!(
                table.get(used).is_none_or(|row| row.is_pure),
                "{name} is pure and uses {used}"
            );
        }
    }
}

#[test]
fn members_of_the_workspace_stand_in_dependency_order() {
    let packages = packages();
    for (at, (name, dependencies)) in packages.iter().enumerate() {
        let later = packages[at..].iter().find(|(later, _)| dependencies.contains(later));
        assert!(later.is_none(), "{name} stands before {later:?}, which it uses");
    }
}
