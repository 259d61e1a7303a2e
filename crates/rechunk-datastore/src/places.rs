//! Keys of a datastore in its store.

/// The folder of a data set, or of a version.
pub(crate) fn folder(id: &str, version: Option<u64>) -> String {
    version.map_or_else(|| id.to_owned(), |number| format!("{id}/{number}"))
}

/// Copy of the description of a data set, in its folder: it is copied with it.
pub(crate) const RECORD: &str = "dataset.json";
/// Copy of the text that clients keep with a data set, in its folder.
pub(crate) const COMMON_METADATA: &str = "common-metadata.txt";
/// Our own folder.
pub(crate) const OWN: &str = ".datastore";
/// Says that a place is a datastore, and which register knows it.
pub(crate) const FORMAT: &str = ".datastore/format.json";
/// Marks of data sets that were known, of versions without a register.
pub(crate) const MARKS: &str = ".datastore/known";
/// Folders that are being made or removed: nobody misses one.
pub(crate) const UNDER_WAY: &str = ".datastore/under-way";
/// Notes of changes that are under way.
pub(crate) const CHANGES: &str = ".datastore/changes";
/// Notes of uploads in parts that are under way, in a bucket.
pub(crate) const UPLOADS: &str = ".datastore/uploads";
/// Notes of levels that have to follow what was written.
pub(crate) const DIRTY: &str = ".datastore/dirty";
