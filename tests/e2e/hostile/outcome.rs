//! Outcomes that cases must have, and their checks.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Scene;
use crate::harness::{Done, looks_finished};

/// Largest file whose content is compared; of larger ones the size is.
const COMPARED_BYTES_MAX: u64 = 1 << 20;

/// The elements an array must have: C order, little-endian.
#[derive(Debug, Clone)]
pub(crate) struct Elements {
    pub shape: Vec<u64>,
    pub bytes: Vec<u8>,
}

impl Elements {
    pub(crate) fn new(shape: &[u64], bytes: impl Into<Vec<u8>>) -> Self {
        Self { shape: shape.to_vec(), bytes: bytes.into() }
    }
}

/// Files that may be left at the target's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    /// Nothing at all.
    Nothing,
    /// A target without metadata and the work directory that a resume needs.
    Resumable,
    /// The case looks for itself.
    Anything,
}

/// Outcome that a case must have.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// The copy has these elements.
    Copied(Elements),
    /// An error with this exit code that says these words.
    Refused { code: i32, words: Vec<String>, left: Left },
    /// Damage that its codec cannot see: the copy ends well, or the chunk is named.
    CopiedOrStopped { words: Vec<String> },
    /// Success, and nothing more is asked.
    Done,
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

impl Outcome {
    /// A source that cannot be used: exit code 3, nothing written.
    pub(crate) fn refused(words: &[&str]) -> Self {
        Self::Refused { code: 3, words: owned(words), left: Left::Nothing }
    }

    /// A source that turns out to be damaged while it is copied: exit code 3, resumable.
    pub(crate) fn stopped(words: &[&str]) -> Self {
        Self::Refused { code: 3, words: owned(words), left: Left::Resumable }
    }

    /// Another exit code.
    pub(crate) fn fails(code: i32, words: &[&str], left: Left) -> Self {
        Self::Refused { code, words: owned(words), left }
    }

    /// See [`Outcome::CopiedOrStopped`].
    pub(crate) fn copied_or_stopped(words: &[&str]) -> Self {
        Self::CopiedOrStopped { words: owned(words) }
    }

    /// The `--chunks` to ask for: the whole array where its elements are looked at.
    pub(super) fn chunks(&self) -> Option<String> {
        match self {
            Self::Copied(elements) => Some(vec!["-1"; elements.shape.len()].join(",")),
            _ => None,
        }
    }

    pub(super) fn check(&self, done: &Done, scene: &Scene) -> Result<(), String> {
        match self {
            Self::Copied(elements) => check_copied(done, elements, scene),
            Self::Refused { code, words, left } => {
                check_refused(done, *code, words)?;
                left.check(scene)
            }
            Self::CopiedOrStopped { .. } | Self::Done if done.code == 0 => Ok(()),
            Self::CopiedOrStopped { words } => {
                check_refused(done, 3, words)?;
                Left::Resumable.check(scene)
            }
            Self::Done => Err("it should have ended well".to_owned()),
        }
    }
}

impl Left {
    fn check(self, scene: &Scene) -> Result<(), String> {
        let found = std::fs::read_dir(scene.at("out")).unwrap();
        let names: Vec<String> =
            found.map(|entry| entry.unwrap().file_name().display().to_string()).collect();
        let may_be = |name: &String| self == Self::Resumable && name.starts_with("t.zarr");
        if self != Self::Anything && !names.iter().all(may_be) {
            return Err(format!("{names:?} was left"));
        }
        if self == Self::Resumable && !names.iter().any(|name| name == "t.zarr.rechunk") {
            return Err("nothing was left to go on with".to_owned());
        }
        if self != Self::Anything && looks_finished(&scene.target()) {
            return Err("the target looks finished".to_owned());
        }
        Ok(())
    }
}

fn check_refused(done: &Done, code: i32, words: &[String]) -> Result<(), String> {
    if done.code != code {
        return Err(format!("it should have ended with {code}"));
    }
    match words.iter().find(|word| !done.stderr.contains(*word)) {
        None => Ok(()),
        Some(word) => Err(format!("it should have said {word:?}")),
    }
}

fn check_copied(done: &Done, elements: &Elements, scene: &Scene) -> Result<(), String> {
    if done.code != 0 {
        return Err("it should have been copied".to_owned());
    }
    let left: Vec<_> = std::fs::read_dir(scene.at("out")).unwrap().collect();
    if left.len() != 1 {
        return Err("there is more than the target".to_owned());
    }
    let found = read_whole(scene.target().as_ref())?;
    if found.shape != elements.shape {
        return Err(format!("the shape is {:?}", found.shape));
    }
    if found.bytes == elements.bytes {
        return Ok(());
    }
    let same = found.bytes.iter().zip(&elements.bytes).take_while(|(a, b)| a == b).count();
    let (found, wanted) = (found.bytes.len(), elements.bytes.len());
    Err(format!("{found} bytes are not the {wanted} wanted: they differ from byte {same} on"))
}

/// The elements of a Zarr v2 array of one uncompressed chunk (or of none, where it has no
/// elements).
fn read_whole(array: &Path) -> Result<Elements, String> {
    let document = std::fs::read(array.join(".zarray")).map_err(|error| error.to_string())?;
    let document: Value = serde_json::from_slice(&document).map_err(|error| error.to_string())?;
    let shape: Vec<u64> =
        document["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    if shape.contains(&0) {
        return Ok(Elements::new(&shape, []));
    }
    let dtype = document["dtype"].as_str().unwrap();
    let item_bytes: usize = dtype[2..].parse().unwrap();
    let key = if shape.is_empty() { "0".to_owned() } else { vec!["0"; shape.len()].join(".") };
    let separator = document["dimension_separator"].as_str().unwrap_or(".");
    let chunk = array.join(key.replace('.', separator));
    let mut bytes =
        std::fs::read(&chunk).map_err(|error| format!("{}: {error}", chunk.display()))?;
    if dtype.starts_with('>') {
        bytes.chunks_mut(item_bytes).for_each(<[u8]>::reverse);
    }
    if document["order"] == "F" {
        bytes = to_c_order(&bytes, &shape, item_bytes);
    }
    Ok(Elements { shape, bytes })
}

/// Elements in C order of those in F order.
pub(super) fn to_c_order(bytes: &[u8], shape: &[u64], item_bytes: usize) -> Vec<u8> {
    let mut sorted = Vec::with_capacity(bytes.len());
    for ordinal in 0..shape.iter().product::<u64>() {
        // The index by C order, the slowest axis last; and its place in F order.
        let (mut rest, mut index) = (ordinal, Vec::new());
        for extent in shape.iter().rev() {
            index.push(rest % extent);
            rest /= extent;
        }
        let by_f = index.iter().zip(shape.iter().rev());
        let place = by_f.fold(0, |place, (at, extent)| place * extent + at);
        let from = usize::try_from(place).unwrap() * item_bytes;
        sorted.extend_from_slice(&bytes[from..from + item_bytes]);
    }
    sorted
}

/// Contents of a path: kinds, sizes and contents, without following links or opening pipes.
pub(super) struct Listing(BTreeMap<Vec<u8>, String>);

impl Listing {
    pub(super) fn of(root: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut open = vec![root.to_owned()];
        while let Some(path) = open.pop() {
            let Ok(metadata) = path.symlink_metadata() else { continue };
            if metadata.is_dir() {
                let entries = std::fs::read_dir(&path).into_iter().flatten();
                open.extend(entries.map(|entry| entry.unwrap().path()));
            }
            found.insert(path.as_os_str().as_bytes().to_owned(), describe(&path, &metadata));
        }
        Self(found)
    }

    /// Paths that are not in both as they were.
    pub(super) fn changes(&self, after: &Self) -> Vec<String> {
        let is_same = |path: &&Vec<u8>| self.0.get(*path) != after.0.get(*path);
        let paths = self.0.keys().chain(after.0.keys()).filter(is_same);
        paths.map(|path| String::from_utf8_lossy(path).into_owned()).collect()
    }
}

fn describe(path: &Path, metadata: &std::fs::Metadata) -> String {
    let kind = metadata.file_type();
    if kind.is_dir() || kind.is_fifo() || kind.is_socket() {
        return format!("{kind:?} {:o}", metadata.mode());
    }
    if kind.is_symlink() {
        return format!("link to {}", std::fs::read_link(path).unwrap().display());
    }
    let digest = if metadata.len() <= COMPARED_BYTES_MAX {
        format!("{:x}", Sha256::digest(std::fs::read(path).unwrap_or_default()))
    } else {
        String::new()
    };
    format!("{} bytes {digest}", metadata.len())
}
