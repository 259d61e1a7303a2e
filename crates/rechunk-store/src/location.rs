//! From what a person types to a place: paths, `file://`, `memory:` and URLs of remote stores.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::StoreError;
use crate::datastore::LevelLocation;
use crate::percent::percent_decode;
use crate::remote::{Address, Scheme};
use crate::versioned_location::without_version;

/// A place a store can be opened at.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A directory, which need not exist.
    Local(PathBuf),
    /// A space in this process; without a name it lives as long as its store.
    Memory {
        /// The name other stores find it under.
        name: Option<String>,
        /// The part below it.
        below: String,
    },
    /// A place in a remote store.
    Remote(Address),
}

/// True if a location is of a store that is reached over the network.
pub fn is_remote(location: &str) -> bool {
    matches!(parse(&without_version(location)), Ok(Place::Remote(_)))
}

/// True if a location is of an array that is there before anything is written: a level of a data
/// set at a server ([`crate::Store::is_versioned`]).
pub fn is_versioned(location: &str) -> bool {
    matches!(parse(location), Ok(Place::Remote(address)) if address.scheme == Scheme::Datastore)
}

/// Kind of store that a location is of, by its scheme alone, however that is spelled: `local`,
/// `memory`, `s3`, `gs`, `az`, `http` or `datastore`.
///
/// ```
/// assert_eq!(rechunk_store::store_kind("abfss://box@account.dfs.core.windows.net/x"), "az");
/// assert_eq!(rechunk_store::store_kind("data/x.zarr"), "local");
/// ```
pub fn store_kind(location: &str) -> &'static str {
    if location == "memory:" {
        return "memory";
    }
    match location.split_once("://") {
        Some(("memory", _)) => "memory",
        Some((scheme, _)) => Scheme::of(scheme).map_or("local", Scheme::kind),
        None => "local",
    }
}

/// Names of two places in remote stores: one begins with the other if it is at it or below it. The
/// spelling of their URLs does not matter; `None` if one is elsewhere.
pub fn remote_names(a: &str, b: &str) -> Option<[String; 2]> {
    match (parse(&without_version(a)), parse(&without_version(b))) {
        (Ok(Place::Remote(a)), Ok(Place::Remote(b))) => Some(a.names(&b)),
        _ => None,
    }
}

/// Reads a location. Touches nothing.
pub(crate) fn parse(location: &str) -> Result<Place, StoreError> {
    if location.is_empty() {
        return Err(StoreError::refused_location(location, "it is empty"));
    }
    if location == "memory:" {
        return Ok(Place::Memory { name: None, below: String::new() });
    }
    let Some((scheme, rest)) = location.split_once("://").filter(|(s, _)| is_scheme(s)) else {
        return Ok(Place::Local(PathBuf::from(location)));
    };
    match scheme {
        "file" => file_url(location, rest).map(Place::Local),
        "memory" => {
            let (name, below) = rest.split_once('/').unwrap_or((rest, ""));
            if name.is_empty() {
                return Err(StoreError::refused_location(
                    location,
                    "it needs a name: memory://NAME",
                ));
            }
            let below = below.trim_end_matches('/').to_owned();
            Ok(Place::Memory { name: Some(name.to_owned()), below })
        }
        _ => match Address::parse(location)? {
            Some(address) => {
                if address.scheme == Scheme::Datastore {
                    LevelLocation::parse(location)?;
                }
                Ok(Place::Remote(address))
            }
            None => Err(StoreError::UnsupportedScheme {
                location: location.to_owned(),
                scheme: scheme.to_owned(),
            }),
        },
    }
}

fn is_scheme(text: &str) -> bool {
    let is_scheme_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.bytes().all(is_scheme_byte)
}

fn file_url(location: &str, rest: &str) -> Result<PathBuf, StoreError> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(StoreError::refused_location(
            location,
            "a file URL needs an absolute path: file:///data/x.zarr",
        ));
    }
    let bytes = percent_decode(path).ok_or_else(|| {
        StoreError::refused_location(
            location,
            "a % in it is not followed by two hexadecimal digits",
        )
    })?;
    let path = String::from_utf8(bytes)
        .map_err(|_| StoreError::refused_location(location, "its path is not UTF-8"))?;
    Ok(PathBuf::from(path))
}

/// The ZIP file that `path` is or leads into, and the `/`-separated rest: the outermost file that
/// has the name of one. A directory of such a name is a directory.
pub(crate) fn zip_file(
    location: &str,
    path: &Path,
) -> Result<Option<(PathBuf, String)>, StoreError> {
    let is_zip = |part: &&Path| has_zip_name(part) && part.is_file();
    let path: PathBuf = path.components().collect(); // without a / at the end
    let mut parts: Vec<&Path> = path.ancestors().collect();
    parts.reverse();
    let Some(file) = parts.into_iter().find(is_zip) else { return Ok(None) };
    let below = names_behind(location, &path, file, "it has a .. behind a ZIP file")?;
    Ok(Some((file.to_owned(), below)))
}

/// Finds the ZIP file that a local location is or would lead into, and the `/`-separated rest. The
/// file need not be there: it is the outermost name of one that is no directory, or is one that
/// `is_in_the_way` of a file to come.
///
/// ```
/// use rechunk_store::zip_place;
///
/// let (file, below) = zip_place("new/image.ozx/0", |_| false).unwrap();
/// assert_eq!((file.to_str(), &*below), (Some("new/image.ozx"), "0"));
/// assert!(zip_place("new/image.zarr", |_| true).is_none());
/// ```
pub fn zip_place(
    location: &str,
    is_in_the_way: impl Fn(&Path) -> bool,
) -> Option<(PathBuf, String)> {
    let Ok(Place::Local(path)) = parse(location) else { return None };
    let path: PathBuf = path.components().collect(); // without a / at the end
    let mut parts: Vec<&Path> = path.ancestors().collect();
    parts.reverse();
    let is_file = |part: &Path| !part.is_dir() || is_in_the_way(part);
    let file = parts.into_iter().find(|part| has_zip_name(part) && is_file(part))?;
    let below = names_behind(location, &path, file, "it has a .. behind a ZIP file").ok()?;
    Some((file.to_owned(), below))
}

/// The names of `path` behind `file`, `/`-separated; `..` is refused, and why.
pub(crate) fn names_behind(
    location: &str,
    path: &Path,
    file: &Path,
    refused: &str,
) -> Result<String, StoreError> {
    let mut below = Vec::new();
    for component in path.strip_prefix(file).unwrap_or(path).components() {
        match component {
            Component::Normal(name) => match name.to_str() {
                Some(name) => below.push(name),
                None => {
                    return Err(StoreError::refused_location(
                        location,
                        "a name in it is not UTF-8",
                    ));
                }
            },
            _ => return Err(StoreError::refused_location(location, refused)),
        }
    }
    Ok(below.join("/"))
}

/// Whether the last name of a path is that of a ZIP file: `.zip`, and `.ozx` for an OME-Zarr in one
/// (RFC-9).
pub fn has_zip_name(path: &Path) -> bool {
    let is_ending = |extension: &OsStr| {
        ["zip", "ozx"].iter().any(|ending| extension.eq_ignore_ascii_case(ending))
    };
    path.extension().is_some_and(is_ending)
}

/// A directory that exists, and the names below it that do not yet.
#[derive(Debug)]
pub(crate) struct Resolved {
    /// Absolute, with symbolic links resolved.
    pub(crate) existing: PathBuf,
    /// `/`-separated; empty if all of it exists.
    pub(crate) below: String,
}

/// Finds how much of `path` exists. Creates nothing.
pub(crate) fn resolve(location: &str, path: &Path) -> Result<Resolved, StoreError> {
    let failed = |source: io::Error| StoreError::Location {
        location: location.to_owned(),
        reason: source.to_string(),
        source: Some(source),
    };
    let mut existing = std::path::absolute(path).map_err(failed)?;
    let mut names = Vec::new();
    loop {
        match std::fs::canonicalize(&existing) {
            Ok(canonical) => {
                names.reverse();
                return Ok(Resolved { existing: canonical, below: names.join("/") });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if existing.symlink_metadata().is_ok() {
                    let link = existing.display();
                    let reason = format!("{link} is a symbolic link to something that is missing");
                    return Err(StoreError::refused_location(location, &reason));
                }
                names.push(last_name(location, &existing)?);
                existing.pop();
            }
            Err(error) => return Err(failed(error)),
        }
    }
}

/// Returns `root` with `below` under it; without the trailing slash an empty `below` would leave.
pub(crate) fn below(root: &Path, below: &str) -> PathBuf {
    if below.is_empty() { root.to_owned() } else { root.join(below) }
}

fn last_name(location: &str, path: &Path) -> Result<String, StoreError> {
    match path.components().next_back() {
        Some(Component::Normal(name)) => match name.to_str() {
            Some(name) => Ok(name.to_owned()),
            None => Err(StoreError::refused_location(location, "a name in it is not UTF-8")),
        },
        _ => Err(StoreError::refused_location(
            location,
            "it has a .. behind a directory that does not exist",
        )),
    }
}
