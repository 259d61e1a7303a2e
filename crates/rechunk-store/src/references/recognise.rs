//! Which locations are references, or lead into some.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::tables::Tables;
use crate::local::files::open;

/// The name of the document in a directory of references.
pub(super) const TABLES_KEY: &str = ".zmetadata";

/// First members of documents of references.
const MEMBERS: [&str; 8] =
    ["version", "refs", "templates", "gen", ".zgroup", ".zattrs", ".zmetadata", "zarr.json"];

/// Text that only the consolidated metadata of a group has.
const CONSOLIDATED: &str = "\"zarr_consolidated_format\"";

/// Bytes at the beginning, or at the end, of a file that are looked at.
const LOOK_BYTES: u64 = 64;

/// Form in which references are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// A document of JSON.
    Json,
    /// A directory of Parquet files.
    Parquet,
}

impl Form {
    /// By the name of what it is in.
    fn of_name(name: &str) -> Option<Self> {
        let ending = Path::new(name).extension()?.to_str()?;
        match ending.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "parq" | "parquet" => Some(Self::Parquet),
            _ => None,
        }
    }
}

/// The form of the references that `path` is, a file or directory of this machine.
pub(super) fn at_local(path: &Path) -> Option<Form> {
    let metadata = path.metadata().ok()?;
    if metadata.is_dir() {
        return is_tables(path).then_some(Form::Parquet);
    }
    if !metadata.is_file() {
        return None;
    }
    let by_name = path.to_str().and_then(Form::of_name);
    (by_name == Some(Form::Json) || begins_like_references(path)).then_some(Form::Json)
}

/// A directory whose `.zmetadata` says how many rows the files beside it have: that of a group of
/// Zarr says nothing of the kind.
fn is_tables(path: &Path) -> bool {
    let Ok((mut file, found)) = open(&path.join(TABLES_KEY)) else { return false };
    if !found.is_file() {
        return false;
    }
    // The consolidated metadata of a group of Zarr may be long: it is not read just to be told
    // apart.
    let mut look = |from: SeekFrom| {
        let mut bytes = Vec::new();
        let read = file.seek(from).and_then(|_| (&file).take(LOOK_BYTES).read_to_end(&mut bytes));
        read.is_ok() && String::from_utf8_lossy(&bytes).contains(CONSOLIDATED)
    };
    let tail = i64::try_from(LOOK_BYTES.min(found.len())).unwrap_or(0);
    if look(SeekFrom::End(-tail)) || look(SeekFrom::Start(0)) {
        return false;
    }
    file.rewind().is_ok() && Tables::are_in(file)
}

/// A file whose first member is one of references.
fn begins_like_references(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = open(path).and_then(|(file, _)| file.take(LOOK_BYTES).read_to_end(&mut bytes));
    if read.is_err() {
        return false;
    }
    let text = String::from_utf8_lossy(&bytes);
    let member = text.trim_start().strip_prefix('{').map(str::trim_start);
    let member = member.and_then(|text| text.strip_prefix('"')?.split_once('"'));
    member.is_some_and(|(name, rest)| MEMBERS.contains(&name) && rest.trim_start().starts_with(':'))
}

/// The `/`-separated names that lead to references by their endings, those behind them, and their
/// form. The place itself is not asked.
pub(super) fn in_names(names: &str) -> Option<(String, String, Form)> {
    let mut end = 0;
    for name in names.split('/') {
        end += name.len();
        if let Some(form) = Form::of_name(name) {
            let behind = names[end..].trim_start_matches('/').to_owned();
            return Some((names[..end].to_owned(), behind, form));
        }
        end += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_known_by_their_names_or_by_what_is_in_them() {
        let found = |names: &str| in_names(names).map(|(place, below, _)| (place, below));
        let pair = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(found("a/refs.JSON/sst/x"), pair("a/refs.JSON", "sst/x"));
        assert_eq!(found("refs.parq"), pair("refs.parq", ""));
        assert_eq!(found("a.zarr/b"), None);
        assert_eq!(found(".json/x"), None, "a name without an ending");
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str, text: &str| {
            std::fs::write(directory.path().join(name), text).unwrap();
            at_local(&directory.path().join(name))
        };
        assert_eq!(at("a.json", "anything"), Some(Form::Json));
        assert_eq!(at("a.refs", "{ \"version\" : 1"), Some(Form::Json));
        assert_eq!(at("b.refs", "{\".zgroup\":"), Some(Form::Json));
        for other in ["{\"version\"", "{\"name\": 1", "[1]", "", "\u{93}NUMPY"] {
            assert_eq!(at("c.refs", other), None, "{other}");
        }
        assert_eq!(at_local(directory.path()), None);
        at(TABLES_KEY, r#"{"metadata": {"a/.zattrs": {"x": NaN}}, "zarr_consolidated_format": 1}"#);
        assert_eq!(at_local(directory.path()), None);
        at(TABLES_KEY, r#"{"metadata": {"a/.zattrs": {"x": NaN}}, "record_size": 10}"#);
        assert_eq!(at_local(directory.path()), Some(Form::Parquet));
    }
}
