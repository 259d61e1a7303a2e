//! Places that name a format: each is one that another format has to touch.
//!
//! The folder of the registry names formats, and so do tests. Elsewhere `format.has(Fact::Growth)`
//! or `metadata.codecs()` asks for what a name stood for.

use std::collections::BTreeSet;

use crate::sources::{root, sources};
use crate::table::{Rows, Table};

const TABLE: Table<3> = Table {
    name: "format_names",
    about: "Places in crates/rechunk/src, outside formats/ and tests, that name a format\n\
            (tests/ratchets/formats.rs): variants of Format and of Metadata, and calls that only\n\
            Zarr answers (zarr, zarr_version).",
    columns: ["Format::", "Metadata::", "of Zarr"],
};
/// The registry.
const FOLDER: &str = "crates/rechunk/src/formats/";
/// The sources that count.
const COUNTED: &str = "crates/rechunk/src/";

/// `Enum::Variant` for all variants of an enum in a file of the registry.
fn variants(file: &str, name: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join(FOLDER).join(file)).unwrap();
    let items = syn::parse_file(&text).unwrap().items;
    let found = items.iter().find_map(|item| match item {
        syn::Item::Enum(found) if found.ident == name => Some(found),
        _ => None,
    });
    let variants = found.unwrap_or_else(|| panic!("{file} has no enum {name}")).variants.iter();
    variants.map(|variant| format!("{name}::{}", variant.ident)).collect()
}

#[test]
fn formats_are_named_in_their_registry() {
    let of_zarr = [".zarr", ".zarr_version"].map(str::to_owned).into_iter().collect();
    let counted = [variants("format.rs", "Format"), variants("metadata.rs", "Metadata"), of_zarr];
    let mut found = Rows::new();
    for source in sources() {
        if !source.path.starts_with(COUNTED) || source.path.starts_with(FOLDER) {
            continue;
        }
        let count = |names: &BTreeSet<String>| {
            source.mentions.iter().filter(|mention| names.contains(*mention)).count()
        };
        found.insert(source.path.clone(), std::array::from_fn(|at| count(&counted[at])));
    }
    TABLE.hold(&found, |_| "; ask for a fact, or for what its family answers".to_owned());
}

#[test]
fn a_mention_is_seen_outside_tests() {
    let row = format!("{FOLDER}zarr/row.rs");
    let row = sources().iter().find(|source| source.path == row).expect("the rows of Zarr");
    assert!(row.mentions.iter().any(|mention| mention == "Fact::Shards"));
    let axes = format!("{COUNTED}axes.rs");
    let axes = sources().iter().find(|source| source.path == axes).expect("the order of axes");
    assert!(axes.text.contains("Format::Zarr3"), "its tests name formats");
    assert!(!axes.mentions.iter().any(|mention| mention == "Format::Zarr3"));
}
