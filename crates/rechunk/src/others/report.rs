//! Reports of other files.

use serde::{Deserialize, Serialize};

use super::{Counted, OtherFile, Others};

/// Most files that a report lists.
const LISTED_MAX: usize = 100;

/// Other files in the report of a plan or a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct OthersReport {
    /// Files that are copied.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Paths of the first hundred of them.
    pub paths: Vec<String>,
    /// Of these, files that an earlier run has copied; absent for a plan that was not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<u64>,
    /// Files that `--no-others`, `--include` or `--exclude` leaves out.
    #[serde(default)]
    pub left_out: Counted,
}

/// Other files in a group that `rechunk info` describes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OthersInfo {
    /// Number of files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The first hundred of them.
    pub listed: Vec<ListedFile>,
    /// There are directories that were not looked at.
    pub truncated: bool,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ListedFile {
    /// Its path in the group.
    pub path: String,
    /// Its size, bytes.
    pub bytes: u64,
}

impl OthersReport {
    /// Of a plan; `None` where there is nothing to say.
    pub(crate) fn of(others: &Others) -> Option<Self> {
        let Counted { files, bytes } = Counted::of(&others.files);
        if files == 0 && others.left_out.files == 0 {
            return None;
        }
        let paths = others.files.iter().take(LISTED_MAX).map(|file| file.path.clone()).collect();
        Some(Self { files, bytes, paths, resumed: None, left_out: others.left_out })
    }
}

impl OthersInfo {
    pub(crate) fn of(files: &[OtherFile], truncated: bool) -> Self {
        let Counted { files: count, bytes } = Counted::of(files);
        let listed = files.iter().take(LISTED_MAX);
        let listed = listed.map(|file| ListedFile { path: file.path.clone(), bytes: file.bytes });
        Self { files: count, bytes, listed: listed.collect(), truncated }
    }
}
