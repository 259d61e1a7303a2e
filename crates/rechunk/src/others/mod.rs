//! Other files: whatever lies in a group beside its arrays and its metadata documents, such as
//! Parquet tables, `datasource-properties.json` or `METADATA.ome.xml`. They are copied byte by
//! byte.
//!
//! Files below the path of an array belong to that array: they are not looked for, because that
//! would list all chunks.

mod beside;
mod copy;
mod described;
mod growth;
mod report;
mod same;

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use rechunk_store::{Level, check_below};
use serde::{Deserialize, Serialize};

use crate::format_byte_size;
use crate::formats::Format;
use crate::member_location::paths_above;
use crate::{Error, Remedy};

pub(crate) use beside::beside;
pub(crate) use copy::{CopyOthers, remove_begun};
pub(crate) use growth::differences;
pub use report::{ListedFile, OthersInfo, OthersReport};
pub(crate) use same::{first_difference, is_same};

/// Most other files that a job keeps a list of.
const OTHERS_MAX: usize = 200_000;
/// Most files named in a message.
const NAMED_MAX: usize = 4;
/// Documents of consolidated metadata beside those of nodes.
const CONSOLIDATED_KEY: &str = ".zmetadata";
/// The ending of files that are being written.
const UNFINISHED_ENDING: &str = ".part";
const UNFINISHED: &str = "its name is that of an unfinished file";

/// A file of a group that is neither a metadata document nor a chunk.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct OtherFile {
    /// Its path in the group.
    pub path: String,
    /// Its size, bytes.
    pub bytes: u64,
    /// When it was last written, milliseconds since 1970.
    pub modified_milliseconds: i64,
}

/// The other files of a group.
#[derive(Debug)]
pub(crate) struct Others {
    /// In the order of their paths.
    pub files: Vec<OtherFile>,
    /// Paths of what is not copied whatever is asked for, by the reason.
    passed_over: BTreeMap<&'static str, Vec<String>>,
    /// Files and bytes that `--no-others`, `--include` or `--exclude` leaves out.
    pub left_out: Counted,
    /// There are more than a job takes.
    is_cut: bool,
    /// The store cannot be asked what it has.
    pub is_unknown: bool,
    /// When the list was begun: a file that is written later is not copied by halves.
    pub listed_at: SystemTime,
}

/// Number of files, and of their bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Counted {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Counted {
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = &'a OtherFile>) -> Self {
        files.into_iter().fold(Self::default(), |sum, file| Self {
            files: sum.files.saturating_add(1),
            bytes: sum.bytes.saturating_add(file.bytes),
        })
    }
}

impl Default for Others {
    #[expect(clippy::disallowed_methods, reason = "a file that is written later is refused")]
    fn default() -> Self {
        Self {
            files: Vec::new(),
            passed_over: BTreeMap::new(),
            left_out: Counted::default(),
            is_cut: false,
            is_unknown: false,
            listed_at: SystemTime::now(),
        }
    }
}

impl Others {
    /// Adds those among the files at `directory`, a path in the group, which is inside of no array.
    pub(crate) fn add(&mut self, directory: &str, level: &Level) {
        let path = |name: &str| match directory {
            "" => name.to_owned(),
            _ => format!("{directory}/{name}"),
        };
        for file in level.files.iter().filter(|file| !is_document(&file.name)) {
            let path = path(&file.name);
            if file.name.ends_with(UNFINISHED_ENDING) {
                self.pass_over(path, UNFINISHED);
            } else if let Err(reason) = check_below(&path) {
                self.pass_over(path, reason);
            } else if self.files.len() < OTHERS_MAX {
                let (bytes, modified_milliseconds) = (file.bytes, file.modified_milliseconds);
                self.files.push(OtherFile { path, bytes, modified_milliseconds });
            } else {
                self.is_cut = true;
            }
        }
        for (name, reason) in &level.passed_over {
            self.pass_over(path(name), reason);
        }
    }

    fn pass_over(&mut self, path: String, reason: &'static str) {
        self.passed_over.entry(reason).or_default().push(path);
    }

    /// Puts them in order when all have been added.
    pub(crate) fn sort(&mut self) {
        self.files.sort_unstable();
        for paths in self.passed_over.values_mut() {
            paths.sort_unstable();
        }
    }

    /// Paths of all of them, also of those that cannot be copied.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> + Clone {
        let passed_over = self.passed_over.values().flatten().map(String::as_str);
        self.files.iter().map(|file| file.path.as_str()).chain(passed_over)
    }

    /// Leaves those that `selects` by their path.
    pub(crate) fn select(&mut self, selects: impl Fn(&str) -> bool) {
        let left_out = Counted::of(self.files.iter().filter(|file| !selects(&file.path)));
        self.files.retain(|file| selects(&file.path));
        self.left_out = left_out;
        for paths in self.passed_over.values_mut() {
            paths.retain(|path| selects(path));
        }
        self.passed_over.retain(|_, paths| !paths.is_empty());
    }

    /// Leaves none.
    pub(crate) fn leave_out(&mut self) {
        let all = Counted::of(&self.files);
        self.left_out.files = self.left_out.files.saturating_add(all.files);
        self.left_out.bytes = self.left_out.bytes.saturating_add(all.bytes);
        self.files.clear();
        (self.is_cut, self.is_unknown) = (false, false);
        self.passed_over.clear();
    }

    /// Whether a file lies below the directory at `path`, whether it is copied or not.
    pub(crate) fn is_below(&self, path: &str) -> bool {
        let below = |file: &str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        // Paths in order: those below a directory stand together, behind those that sort before
        // `/`.
        let from = format!("{path}/");
        let first = self.files.partition_point(|file| file.path < from);
        self.files.get(first).is_some_and(|file| below(&file.path))
            || self.passed_over.values().flatten().any(|file| below(file))
    }

    /// Paths of the directories in which, or below which, files are copied.
    pub(crate) fn folders(&self) -> BTreeSet<String> {
        self.files.iter().flat_map(|file| paths_above(&file.path)).map(str::to_owned).collect()
    }

    /// Refuses a group with more of them than a job takes.
    pub(crate) fn check(&self, location: &str) -> Result<(), Error> {
        if !self.is_cut {
            return Ok(());
        }
        Err(Error::NotATree {
            location: location.to_owned(),
            reason: format!(
                "it has more than {OTHERS_MAX} files that are neither metadata nor chunks"
            ),
            hint: Some(Remedy::NoOthers),
        })
    }

    /// Warnings about files that are not copied.
    pub(crate) fn warnings(&self, no_others: bool) -> Vec<String> {
        let mut warnings = Vec::new();
        if no_others && self.left_out.files > 0 {
            warnings.push(format!("--no-others: {} left out", are(self.left_out)));
        }
        if self.is_unknown {
            warnings.push(
                "files beside the arrays cannot be listed over HTTP: if the group has some, they \
                 are not copied"
                    .to_owned(),
            );
        }
        for (reason, paths) in &self.passed_over {
            let (files, are) = if paths.len() == 1 { ("file", "is") } else { ("files", "are") };
            warnings.push(format!(
                "{} other {files} {are} not copied, {reason}: {}",
                paths.len(),
                named(paths.iter().map(String::as_str)),
            ));
        }
        warnings
    }
}

/// True if a file of this name is a metadata document, which is written anew.
fn is_document(name: &str) -> bool {
    // What has no groups has a document only in a directory that is one array.
    Format::of_key(name).is_some_and(Format::has_groups) || name == CONSOLIDATED_KEY
}

/// The first names, and how many more there are.
fn named<'a>(paths: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = paths.len().saturating_sub(NAMED_MAX);
    let mut names: Vec<String> = paths.take(NAMED_MAX).map(str::to_owned).collect();
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// `1 other file (12 B)`, `2 other files (1.5 KiB)`.
pub(crate) fn in_words(counted: Counted) -> String {
    let s = if counted.files == 1 { "" } else { "s" };
    format!("{} other file{s} ({})", counted.files, format_byte_size(counted.bytes))
}

fn are(counted: Counted) -> String {
    let verb = if counted.files == 1 { "is" } else { "are" };
    format!("{} {verb}", in_words(counted))
}

#[cfg(test)]
mod tests {
    use rechunk_store::LevelFile;

    use super::*;

    fn file(name: &str, bytes: u64) -> LevelFile {
        LevelFile { name: name.to_owned(), bytes, modified_milliseconds: 0 }
    }

    fn others(levels: &[(&str, &[&str])]) -> Others {
        let mut others = Others::default();
        for (directory, names) in levels {
            let files = names.iter().map(|name| file(name, 2)).collect();
            others.add(directory, &Level { files, ..Level::default() });
        }
        others.sort();
        others
    }

    fn paths(others: &Others) -> Vec<&str> {
        others.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn documents_and_unfinished_files_are_no_other_files() {
        let names = [
            "zarr.json",
            ".zgroup",
            ".zarray",
            ".zattrs",
            ".zmetadata",
            "attributes.json",
            "x.part",
            "array.json",
            ".DS_Store",
            "._x",
            "0",
            "c",
            "part.0.parquet",
            "zarr.json.bak",
        ];
        let found = others(&[("", &names)]);
        let kept = ["._x", ".DS_Store", "0", "array.json", "c", "part.0.parquet", "zarr.json.bak"];
        let mut sorted = paths(&found);
        sorted.sort_unstable_by_key(|path| kept.iter().position(|kept| kept == path));
        assert_eq!(sorted, kept);
        let warnings = found.warnings(false);
        assert_eq!(warnings, [format!("1 other file is not copied, {UNFINISHED}: x.part")]);
    }

    /// Names come from a store: none leads out of the target.
    #[test]
    fn hostile_names_are_passed_over() {
        for name in ["..", ".", "%2e%2e", "a\u{1b}[2J", ""] {
            let found = others(&[("g", &[name])]);
            assert!(found.files.is_empty(), "{name:?}");
            assert_eq!(found.warnings(false).len(), 1, "{name:?}");
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let mut found = others(&[("", &["a"]), ("g", &["b", "c"]), ("g-h", &["d"])]);
        assert_eq!(paths(&found), ["a", "g-h/d", "g/b", "g/c"]);
        assert!(found.is_below("g") && found.is_below("g-h") && !found.is_below("a"));
        found.select(|path| path != "g/b");
        assert_eq!((paths(&found).len(), found.left_out), (3, Counted { files: 1, bytes: 2 }));
        assert!(found.warnings(false).is_empty());
        found.leave_out();
        assert_eq!(found.left_out, Counted { files: 4, bytes: 8 });
        assert_eq!(found.warnings(true), ["--no-others: 4 other files (8 B) are left out"]);
    }
}
