//! The formats of directories that are not read here, by what lies in them.

use rechunk_store::Store;

use super::{CONVERT, ICECHUNK, NotOurs, REFERENCES, WEBKNOSSOS, files, first_bytes};

/// Sign of a format in a directory.
#[derive(Debug, Clone, Copy)]
enum Sign {
    /// A file of this name, in whose first bytes this text stands.
    File(&'static str, &'static str),
    /// Files of both names.
    Both(&'static str, &'static str),
    /// Directories of all these names; only where a store can be listed.
    Directories(&'static [&'static str]),
}

const PRECOMPUTED: &str =
    "of a precomputed dataset rechunk reads the volume, in the directory above";
const MIGRATE: &str =
    "zarr-python 2 migrates it to version 2 in place: `zarr.storage.migrate_1to2(store)`";
/// Every format, what shows it, and what to do. The first one that fits is taken.
const DIRECTORIES: [(Sign, NotOurs); 11] = [
    (Sign::File("repo", "ICE🧊CHUNK"), NotOurs::new("an Icechunk repository", ICECHUNK)),
    (
        Sign::File("refs/branch.main/ref.json", "snapshot"),
        NotOurs::new("an Icechunk repository", ICECHUNK),
    ),
    (
        Sign::Directories(&["snapshots", "manifests"]),
        NotOurs::new("an Icechunk repository", ICECHUNK),
    ),
    (Sign::Directories(&["snapshots", "refs"]), NotOurs::new("an Icechunk repository", ICECHUNK)),
    (
        Sign::File("info", "neuroglancer_annotations"),
        NotOurs::new("a set of annotations of Neuroglancer", CONVERT),
    ),
    (
        Sign::File("info", "neuroglancer_"),
        NotOurs::new("meshes, skeletons or properties of Neuroglancer (precomputed)", PRECOMPUTED),
    ),
    (
        Sign::File("header.wkw", "WKW"),
        NotOurs::new("a dataset of WKW (webknossos-wrap)", WEBKNOSSOS),
    ),
    (Sign::Both("meta", "attrs"), NotOurs::new("an array of Zarr version 1", MIGRATE)),
    (Sign::Directories(&["__schema"]), NotOurs::new("an array of TileDB", CONVERT)),
    (Sign::Directories(&["__group"]), NotOurs::new("a group of TileDB", CONVERT)),
    (Sign::Directories(&["_delta_log"]), NotOurs::new("a table of Delta Lake", CONVERT)),
];

/// Those that may hold arrays of ours, which are better named.
const CONTAINERS: [(Sign, NotOurs); 1] = [(
    Sign::File("datasource-properties.json", "\"dataLayers\""),
    NotOurs::new("a dataset of webknossos", WEBKNOSSOS),
)];

/// Names of directories of files of one format, by that format.
const COLLECTIONS: [(&str, NotOurs); 6] = [
    ("HDF5", NotOurs::new("a directory of HDF5 or NetCDF-4 files", REFERENCES)),
    ("NetCDF-3", NotOurs::new("a directory of NetCDF-3 files", REFERENCES)),
    ("GRIB", NotOurs::new("a directory of GRIB files", REFERENCES)),
    ("TIFF", NotOurs::new("a directory of TIFF files", REFERENCES)),
    ("WKW", NotOurs::new("a directory of WKW files (webknossos-wrap)", WEBKNOSSOS)),
    ("Parquet", NotOurs::new("a directory of Parquet files", "rechunk reads arrays, not tables")),
];

/// The format of the directory at `store`.
pub(super) async fn at(store: &Store) -> Option<NotOurs> {
    first_shown(store, &DIRECTORIES).await
}

/// The format of a directory in which nothing of ours was found: of its files, where these have
/// one.
pub(super) async fn of_what_is_in(store: &Store) -> Option<NotOurs> {
    match first_shown(store, &CONTAINERS).await {
        None if store.can_list() => collection(store).await,
        found => found,
    }
}

async fn first_shown(store: &Store, table: &[(Sign, NotOurs)]) -> Option<NotOurs> {
    // Of a server that cannot be listed only names are asked for that say what it is.
    let below = if store.can_list() { store.list_directories("").await.ok()? } else { Vec::new() };
    for (sign, format) in table {
        if shows(store, &below, *sign).await {
            return Some(*format);
        }
    }
    None
}

async fn shows(store: &Store, below: &[String], sign: Sign) -> bool {
    match sign {
        Sign::File(key, text) => first_bytes(store, key)
            .await
            .is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains(text)),
        Sign::Both(one, other) => {
            first_bytes(store, one).await.is_some() && first_bytes(store, other).await.is_some()
        }
        Sign::Directories(names) => {
            names.iter().all(|name| below.iter().any(|found| found == name))
        }
    }
}

/// The format of the first files in a directory, if it is one and the same.
async fn collection(store: &Store) -> Option<NotOurs> {
    const LOOKED_AT: usize = 3;
    let files = store.list_first("", LOOKED_AT).await.ok()?;
    let mut format = None;
    for (key, _) in &files {
        let found = first_bytes(store, key).await.and_then(|bytes| files::of_bytes(&bytes))?;
        let (_, collection) = COLLECTIONS.iter().find(|(name, _)| found.name.contains(name))?;
        if *format.get_or_insert(*collection) != *collection {
            return None;
        }
    }
    format
}
