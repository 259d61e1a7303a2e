//! The array that is copied, and what its copy has to be.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rechunk_testkit::SimStore;

pub(crate) const ROOT: &str = "s3://sim";
pub(crate) const TARGET: &str = "target.zarr";
/// Key of the document that makes the target an array.
pub(crate) const METADATA: &str = "target.zarr/.zarray";
/// The array of most tests.
const SMALL: Copied = Copied { shape: [24, 18], source_chunk: [5, 18], target_chunk: [7, 4] };

/// An array of two axes that is copied into other chunks. No two of its elements are alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copied {
    pub shape: [usize; 2],
    pub source_chunk: [usize; 2],
    pub target_chunk: [usize; 2],
}

impl Copied {
    fn chunk(&self, shape: [usize; 2], at: [usize; 2]) -> Vec<u8> {
        let element = |row: usize, column: usize| {
            let inside = row < self.shape[0] && column < self.shape[1];
            let value = if inside { 1 + row * self.shape[1] + column } else { 0 };
            u16::try_from(value).unwrap().to_le_bytes()
        };
        let rows = at[0] * shape[0]..(at[0] + 1) * shape[0];
        rows.flat_map(|row| {
            let columns = at[1] * shape[1]..(at[1] + 1) * shape[1];
            columns.flat_map(move |column| element(row, column)).collect::<Vec<_>>()
        })
        .collect()
    }

    fn chunks(&self, shape: [usize; 2]) -> BTreeMap<String, Vec<u8>> {
        let count = |axis: usize| self.shape[axis].div_ceil(shape[axis]);
        let places = (0..count(0)).flat_map(|row| (0..count(1)).map(move |column| [row, column]));
        places.map(|at| (format!("{}.{}", at[0], at[1]), self.chunk(shape, at))).collect()
    }

    /// The objects of the source.
    pub(crate) fn source(&self) -> Vec<(String, Vec<u8>)> {
        let metadata = format!(
            r#"{{"zarr_format":2,"shape":{:?},"chunks":{:?},"dtype":"<u2",
            "compressor":null,"fill_value":0,"order":"C","filters":null}}"#,
            self.shape, self.source_chunk
        );
        let chunks = self.chunks(self.source_chunk).into_iter();
        let objects = chunks.chain([(".zarray".to_owned(), metadata.into_bytes())]);
        objects.map(|(key, bytes)| (format!("source.zarr/{key}"), bytes)).collect()
    }

    /// A store with the source in it.
    pub(crate) fn disk(&self, seed: u64) -> SimStore {
        let disk = SimStore::new(seed);
        for (key, bytes) in self.source() {
            disk.put(&key, Bytes::from(bytes));
        }
        disk
    }

    /// The chunk shape of the target, as it is asked for.
    pub(crate) fn target_chunks(&self) -> String {
        format!("{},{}", self.target_chunk[0], self.target_chunk[1])
    }

    /// The chunks that the target has to have.
    pub(crate) fn right(&self) -> BTreeMap<String, Vec<u8>> {
        let chunks = self.chunks(self.target_chunk).into_iter();
        chunks.map(|(key, bytes)| (format!("{TARGET}/{key}"), bytes)).collect()
    }
}

/// The objects of the source.
pub(crate) fn source() -> Vec<(String, Vec<u8>)> {
    SMALL.source()
}

/// A store with the source in it.
pub(crate) fn disk(seed: u64) -> SimStore {
    SMALL.disk(seed)
}

/// The chunk shape of the target, as it is asked for.
pub(crate) fn target_chunks() -> String {
    SMALL.target_chunks()
}

/// An error unless the target has its metadata and all its chunks.
pub(crate) fn check_complete(disk: &SimStore) -> Result<(), String> {
    check_target(disk, &SMALL.right())
}

/// An error unless the target has its metadata and all chunks that are `right`.
pub(crate) fn check_target(
    disk: &SimStore,
    right: &BTreeMap<String, Vec<u8>>,
) -> Result<(), String> {
    if disk.object(METADATA).is_none() {
        return Err("the target has no metadata".to_owned());
    }
    for (key, bytes) in right {
        if disk.object(key).as_deref() != Some(&bytes[..]) {
            return Err(format!("{key} is not right"));
        }
    }
    Ok(())
}

/// Finds faults in what is written, as it is written: chunks that are not right, and metadata
/// before the last chunk.
pub(crate) fn watch(disk: &SimStore) -> Arc<Mutex<Vec<String>>> {
    let findings = Arc::new(Mutex::new(Vec::new()));
    let (found, mut left) = (Arc::clone(&findings), SMALL.right());
    let right = SMALL.right();
    disk.watch(move |client, key, bytes| {
        left.remove(key);
        if right.get(key).is_some_and(|right| right != bytes) {
            found.lock().unwrap().push(format!("client {client} writes wrong bytes to {key}"));
        }
        if key == METADATA && !left.is_empty() {
            found.lock().unwrap().push(format!("client {client} ends without {left:?}"));
        }
    });
    findings
}
