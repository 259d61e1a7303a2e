//! Snapshots: all groups and arrays of a repository at one time, and their manifests (*Snapshot
//! Files* of the specification).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use object_store::path::Path;

use super::flat::{Damaged, Table};
use super::id::Id;
use crate::key::check_below;

/// Bytes of the number of a node.
pub(super) const NODE_BYTES: usize = 8;

/// Largest metadata document, bytes.
const DOCUMENT_BYTES_MAX: usize = 16 << 20;
/// Latest time of a commit that is believed: the end of the year 9999.
const WRITTEN_MAX_MICROSECONDS: u64 = 253_402_300_799_000_000;
/// Most axes of an array.
const AXES_MAX: usize = 64;

/// Groups and arrays by their paths, of which the root's is empty.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) nodes: BTreeMap<String, Node>,
    /// When it was committed.
    pub(super) written: SystemTime,
    /// Paths that no key can have, and the first of them.
    odd: (usize, String),
}

/// A group or an array.
#[derive(Debug)]
pub(super) struct Node {
    /// Its `zarr.json`.
    pub(super) document: Bytes,
    pub(super) array: Option<ArrayNode>,
}

/// An array: where the references of its chunks are.
#[derive(Debug)]
pub(super) struct ArrayNode {
    pub(super) id: [u8; NODE_BYTES],
    pub(super) axes: usize,
    pub(super) manifests: Vec<ManifestRef>,
    /// The manifest that was found last: neighbours are in it, too.
    last: AtomicUsize,
}

/// A manifest, and the chunks that it is of.
#[derive(Debug)]
pub(super) struct ManifestRef {
    pub(super) id: Id,
    /// First chunk along each axis, and the one behind the last.
    extents: Vec<(u32, u32)>,
}

impl ManifestRef {
    /// True if the chunk at `index` is one of its chunks, whether it is there or not.
    pub(super) fn covers(&self, index: &[u32]) -> bool {
        index.len() == self.extents.len()
            && index.iter().zip(&self.extents).all(|(at, (from, to))| at >= from && at < to)
    }
}

impl ArrayNode {
    /// Position of the manifest of a chunk: the first that covers it. They do not overlap.
    pub(super) fn manifest_of(&self, index: &[u32]) -> Option<usize> {
        let last = self.last.load(Ordering::Relaxed);
        if self.manifests.get(last).is_some_and(|manifest| manifest.covers(index)) {
            return Some(last);
        }
        let found = self.manifests.iter().position(|manifest| manifest.covers(index))?;
        self.last.store(found, Ordering::Relaxed);
        Some(found)
    }
}

impl Snapshot {
    /// Reads the snapshot `id`, unpacked.
    pub(super) fn read(bytes: &Bytes, id: Id) -> Result<Self, String> {
        let table = Table::root(bytes).map_err(flat)?;
        if table.fixed(0).map_err(flat)?.map(Id) != Some(id) {
            return Err("it is another snapshot than its name says".to_owned());
        }
        let written = table.u64(3).map_err(flat)?.min(WRITTEN_MAX_MICROSECONDS);
        let written = UNIX_EPOCH + Duration::from_micros(written);
        let mut read = Self { nodes: BTreeMap::new(), written, odd: (0, String::new()) };
        for node in table.list(2).map_err(flat)?.tables() {
            let node = node.map_err(flat)?;
            let path = node.text(1).map_err(flat)?.ok_or_else(|| flat(Damaged))?;
            let Some(path) = key_of(path) else {
                if read.odd.0 == 0 {
                    read.odd.1 = path.chars().take(200).collect();
                }
                read.odd.0 += 1;
                continue;
            };
            let node = Node::read(bytes, &node).map_err(|fault| format!("{path:?}: {fault}"))?;
            if read.nodes.insert(path.to_owned(), node).is_some() {
                return Err(format!("{path:?} is in it twice"));
            }
        }
        // What is below an array would be taken for a chunk of it, or a chunk for that.
        let inside = read.nodes.keys().find_map(|path| {
            let above = path.match_indices('/').map(|(end, _)| &path[..end]);
            let root = (!path.is_empty()).then_some("");
            { above }
                .chain(root)
                .find(|above| read.is_array(above))
                .map(|above| format!("{path:?} is in {above:?}"))
        });
        match inside {
            Some(inside) => Err(format!("{inside}, which is an array")),
            None => Ok(read),
        }
    }

    fn is_array(&self, path: &str) -> bool {
        self.nodes.get(path).is_some_and(|node| node.array.is_some())
    }

    /// A sentence for people, if there are nodes that cannot be read.
    pub(super) fn warning(&self) -> Option<String> {
        let (count, first) = &self.odd;
        let (are, what) = if *count == 1 { ("is", "node") } else { ("are", "nodes") };
        (*count > 0).then(|| {
            format!(
                "{count} {what} of the repository {are} left out, whose path is no key: {first:?}"
            )
        })
    }

    /// The array that a key is in, with what is behind the array's path: that of the longest path.
    pub(super) fn array_of<'a>(&self, key: &'a str) -> Option<(&'a str, &ArrayNode, &'a str)> {
        let slashes = key.rmatch_indices('/').map(|(at, _)| (&key[..at], &key[at + 1..]));
        let mut places = slashes.chain([("", key)]);
        places.find_map(|(path, rest)| Some((path, self.nodes.get(path)?.array.as_ref()?, rest)))
    }
}

impl Node {
    fn read(bytes: &Bytes, node: &Table<'_>) -> Result<Self, String> {
        let document = node.vector(2, 1).map_err(flat)?.ok_or_else(|| flat(Damaged))?;
        if document.len() > DOCUMENT_BYTES_MAX {
            return Err(format!("its metadata has more than {DOCUMENT_BYTES_MAX} bytes"));
        }
        let array = match node.u8(3).map_err(flat)? {
            1 => {
                let data = node.table(4).map_err(flat)?.ok_or_else(|| flat(Damaged))?;
                let id = node.fixed(0).map_err(flat)?.ok_or_else(|| flat(Damaged))?;
                Some(ArrayNode::read(id, &data)?)
            }
            2 => None,
            other => return Err(format!("it is no group and no array (kind {other})")),
        };
        Ok(Self { document: bytes.slice_ref(document), array })
    }
}

impl ArrayNode {
    fn read(id: [u8; NODE_BYTES], data: &Table<'_>) -> Result<Self, String> {
        // A length and a length of chunks in version 1, a table in version 2.
        let first = data.vector(0, 16).map_err(flat)?.unwrap_or_default().len() / 16;
        let axes = first.max(data.list(3).map_err(flat)?.len());
        if axes > AXES_MAX {
            return Err("it has too many axes".to_owned());
        }
        let list = data.list(2).map_err(flat)?;
        let mut manifests = Vec::new();
        for manifest in list.tables() {
            let manifest = manifest.map_err(flat)?;
            let id = manifest.fixed(0).map_err(flat)?.map(Id).ok_or_else(|| flat(Damaged))?;
            let extents = manifest.vector(1, 8).map_err(flat)?.ok_or_else(|| flat(Damaged))?;
            if extents.len() != axes * 8 {
                return Err(format!("its manifest {id} has not as many axes as it"));
            }
            let pairs = extents.chunks_exact(8).map(|pair| {
                let number = |at: usize| {
                    let bytes = pair[at..].first_chunk();
                    bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
                };
                (number(0), number(4))
            });
            manifests.push(ManifestRef { id, extents: pairs.collect() });
        }
        Ok(Self { id, axes, manifests, last: AtomicUsize::new(0) })
    }
}

/// The key that a path of a node stands for; `None` if there is no such key.
fn key_of(path: &str) -> Option<&str> {
    let key = path.strip_prefix('/')?;
    let is_key =
        check_below(key).is_ok() && Path::parse(key).is_ok_and(|path| path.as_ref() == key);
    (key.is_empty() || is_key).then_some(key)
}

fn flat(damaged: Damaged) -> String {
    damaged.to_string()
}
