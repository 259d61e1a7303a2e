//! Directories of this machine: their files, and what only they can do. Files are read and written
//! in runs of bytes, locked, appended to, made without names, and moved past the page cache.

pub(crate) mod announce;
pub(crate) mod append_file;
#[cfg(target_os = "linux")]
pub(crate) mod direct_file;
pub(crate) mod directory_lock;
pub(crate) mod file_runs;
pub(crate) mod files;
pub(crate) mod habits;
pub(crate) mod held_directory;
pub(crate) mod link;
pub(crate) mod moments;
pub(crate) mod open;
pub(crate) mod part_file;
pub(crate) mod range_reader;
pub(crate) mod read_file;
pub(crate) mod reading;
pub(crate) mod runs;
pub(crate) mod staged_file;
pub(crate) mod tree;
pub(crate) mod unnamed_file;
pub(crate) mod writing;
