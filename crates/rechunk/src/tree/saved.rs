//! The copy of a group as it is saved, in its state and in a plan.

use std::collections::BTreeMap;

use rechunk_store::check_below;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::adding::Adding;
use super::rules::Selection;
use super::{TreeArray, TreeJob};
use crate::formats::hex;
use crate::growth::Growth;
use crate::others::OtherFile;
use crate::request::CopyRequest;
use crate::{Axes, Error};

const TREE_VERSION: u32 = 1;

/// The copy of a group, as a run leaves it to be resumed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SavedTree {
    version: u32,
    request: CopyRequest,
    selection: Selection,
    /// SHA-256 of the groups with their attributes, hex.
    groups: String,
    arrays: Vec<SavedArray>,
    /// Files beside arrays and documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    others: Vec<OtherFile>,
    /// It was given up: what it has written is being removed, and nothing of that is whole any
    /// more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_given_up: bool,
    /// Its arrays are levels of an image that was there before, and stays.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    adds_levels: bool,
    /// Those of them that were there before, and are not removed yet to be made anew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    to_remove: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SavedArray {
    path: String,
    /// SHA-256 of the source's metadata documents, hex.
    source_identity: String,
    /// SHA-256 of the target's metadata documents, hex.
    target_identity: String,
    /// Place of the source in an array that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    growth: Option<Growth>,
}

impl SavedTree {
    pub(crate) fn new(job: &TreeJob) -> Self {
        let array = |TreeArray { path, job }: &TreeArray| {
            let saved = job.saved();
            let (source_identity, target_identity) = (saved.source_identity, saved.target_identity);
            let growth = saved.growth;
            SavedArray { path: path.clone(), source_identity, target_identity, growth }
        };
        let later = |(path, source_identity, target_identity): (&str, String, String)| SavedArray {
            path: path.to_owned(),
            source_identity,
            target_identity,
            growth: None,
        };
        let later = job.later.identities().map(later);
        Self {
            version: TREE_VERSION,
            request: job.request.clone(),
            selection: job.selection.clone(),
            groups: groups_identity(job),
            arrays: job.arrays.iter().map(array).chain(later).collect(),
            others: job.others.files.clone(),
            is_given_up: false,
            adds_levels: job.adds.is_some(),
            to_remove: job.adds.as_ref().map_or_else(Vec::new, Adding::paths_anew),
        }
    }

    pub(super) fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec_pretty(self).map_err(|error| state(error.to_string()))
    }

    pub(crate) fn from_json(bytes: &[u8]) -> Result<Self, Error> {
        let saved: Self =
            serde_json::from_slice(bytes).map_err(|error| state(error.to_string()))?;
        saved.check()?;
        Ok(saved)
    }

    /// Refuses one that this version cannot go on with, or that names places which are not its own.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.version != TREE_VERSION {
            return Err(state(format!("its version {} is not known", self.version)));
        }
        for SavedArray { path, .. } in &self.arrays {
            check_below(path).map_err(|reason| state(format!("its array {path:?}: {reason}")))?;
        }
        for path in &self.to_remove {
            check_below(path).map_err(|reason| state(format!("its level {path:?}: {reason}")))?;
        }
        for OtherFile { path, .. } in &self.others {
            check_below(path).map_err(|reason| state(format!("its file {path:?}: {reason}")))?;
        }
        let mut growths = self.arrays.iter().filter_map(|array| array.growth.as_ref());
        growths.try_for_each(Growth::check).map_err(state)?;
        Ok(())
    }

    /// The request for the whole group.
    pub(crate) fn request(&self) -> &CopyRequest {
        &self.request
    }

    /// Which arrays, and what differs for some.
    pub(crate) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// It again, given up.
    pub(super) fn given_up(&self) -> Self {
        Self { is_given_up: true, ..self.clone() }
    }

    /// True if what it has written is being removed.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// True if what was at the target before stays, whatever becomes of its arrays.
    pub(crate) fn adds_levels(&self) -> bool {
        self.adds_levels
    }

    /// Paths of levels that are to be removed before they are made anew.
    pub(super) fn to_remove(&self) -> &[String] {
        &self.to_remove
    }

    /// It again, when these levels are removed.
    pub(super) fn with_room(&self) -> Self {
        Self { to_remove: Vec::new(), ..self.clone() }
    }

    /// Paths of its arrays.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|array| array.path.as_str())
    }

    /// Paths of its other files.
    pub(crate) fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(|file| file.path.as_str())
    }

    /// Order of axes that was asked for.
    pub(super) fn axes(&self) -> Option<Axes> {
        self.request.axes
    }

    /// Where each of its arrays goes in one that exists, by path.
    pub(super) fn growths(self) -> impl Iterator<Item = (String, Option<Growth>)> {
        self.arrays.into_iter().map(|array| (array.path, array.growth))
    }

    /// Difference between this copy and another, in words; `None` if they are the same.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.request.source != other.request.source {
            return Some(format!("its source is {}", self.request.source));
        }
        if self.request.pyramid != other.request.pyramid {
            return Some("it makes other levels, or makes them in another way".to_owned());
        }
        let by_path = |tree: &'_ Self| -> BTreeMap<String, usize> {
            let paths = tree.arrays.iter().map(|array| array.path.clone());
            paths.zip(0..).collect()
        };
        let (mine, theirs) = (by_path(self), by_path(other));
        for array in &self.arrays {
            let (mine, path) = (array, &array.path);
            let theirs = theirs.get(path).and_then(|number| other.arrays.get(*number));
            let Some(theirs) = theirs else {
                return Some(format!("the array {path} is one of its arrays"));
            };
            if mine.source_identity != theirs.source_identity {
                return Some(format!("the metadata of the array {path} in the source has changed"));
            }
            if mine.growth != theirs.growth {
                let of = |array: &SavedArray| {
                    let growth = array.growth.as_ref();
                    growth.map_or_else(|| "is copied".to_owned(), |to| to.summary.clone())
                };
                return Some(format!("its array {path} {}, not {}", of(mine), of(theirs)));
            }
            if mine.target_identity != theirs.target_identity {
                return Some(format!(
                    "its array {path} has other chunks, codecs or another format"
                ));
            }
        }
        let is_new = |array: &&SavedArray| !mine.contains_key(&array.path);
        if let Some(theirs) = other.arrays.iter().find(is_new) {
            return Some(format!("the array {} is none of its arrays", theirs.path));
        }
        if let Some(difference) = self.difference_in_others(other) {
            return Some(difference);
        }
        if self.groups != other.groups {
            return Some("the groups of the source, their attributes or the format differ".into());
        }
        None
    }
}

impl SavedTree {
    /// Difference between the other files of two copies, in words.
    fn difference_in_others(&self, now: &Self) -> Option<String> {
        let find = |files: &[OtherFile], path: &str| {
            files.binary_search_by(|file| file.path.as_str().cmp(path)).is_ok()
        };
        if self.others == now.others {
            return None;
        }
        let gone = self.others.iter().find(|file| !find(&now.others, &file.path));
        let new = now.others.iter().find(|file| !find(&self.others, &file.path));
        let mut both = self.others.iter().zip(&now.others);
        Some(match (gone, new, both.find(|(before, now)| before != now)) {
            (Some(file), ..) => format!("the file {} is one of its files", file.path),
            (_, Some(file), _) => format!("the file {} is none of its files", file.path),
            (.., changed) => {
                let path = changed.map_or("", |(file, _)| file.path.as_str());
                format!("the file {path} of the source was written since")
            }
        })
    }
}

fn state(reason: String) -> Error {
    Error::State { path: "tree.json".to_owned(), reason }
}

fn groups_identity(job: &TreeJob) -> String {
    let mut hash = Sha256::new();
    hash.update(job.format.name());
    for (path, group) in [(&String::new(), &job.root)].into_iter().chain(&job.groups) {
        let [attributes, extensions] = [&group.attributes, &group.extensions]
            .map(|map| serde_json::Value::Object(map.clone()).to_string());
        for text in [path, &attributes, &extensions] {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    hex(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Status, clean and a resume go where the arrays are said to be.
    #[test]
    fn arrays_are_below_their_group() {
        let saved = |path: &str| {
            let growth = None;
            let identity = String::new();
            let array = SavedArray {
                path: path.to_owned(),
                source_identity: identity.clone(),
                target_identity: identity.clone(),
                growth,
            };
            let tree = SavedTree {
                version: TREE_VERSION,
                request: CopyRequest::new("a.zarr", "b.zarr"),
                selection: Selection::default(),
                groups: identity,
                arrays: vec![array],
                others: Vec::new(),
                adds_levels: false,
                to_remove: Vec::new(),
                is_given_up: false,
            };
            let read = SavedTree::from_json(&tree.to_json().unwrap());
            read.map(|tree| tree.paths().map(str::to_owned).collect::<Vec<_>>())
        };
        assert_eq!(saved("a/b").unwrap(), ["a/b"]);
        for path in ["../c.zarr", "a/../../c", "/etc", "", "a//b", "%2E%2e/c", "a\u{1b}[2J"] {
            let error = saved(path).unwrap_err().to_string();
            assert!(error.contains("tree.json") && error.contains("its array"), "{error}");
        }
    }
}
