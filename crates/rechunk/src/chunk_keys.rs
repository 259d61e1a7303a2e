//! Arrays whose chunks lie under other keys than their metadata says.
//!
//! Chunks written by a nested store before there was a `dimension_separator`, metadata that was
//! copied without its chunks, a `zarr.json` with the other encoding: by the letter no chunk of such
//! an array is there, and it reads as nothing but its fill value. Looked for only where chunks are
//! missing.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::{Layout, ShardFormat};
use rechunk_grid::ChunkGrid;
use rechunk_store::{Role, Store, StoreError};
use rechunk_zarr::{KeyEncoding, KeyStyle, ZarrVersion};

use crate::Error;
use crate::formats::{Fact, Metadata};
use crate::open::OpenArray;
use crate::sample::sample;

/// Objects that are looked at where what is there can be listed.
const LISTED_MAX: usize = 1000;
/// Names that are looked at on a disk when chunks were missing.
const LOOKED_AT_MAX: usize = 100_000;
/// Chunks that are asked for under other keys where it cannot.
const ASKED_MAX: usize = 3;

/// An array that was opened, with the keys that its chunks have.
#[derive(Debug)]
pub(crate) struct OtherKeys {
    pub array: OpenArray,
    /// Which ones, and what the metadata says of them.
    pub said: String,
}

/// Other keys that the objects of an array may have.
#[derive(Debug)]
enum Convention {
    /// Zarr's other encodings: the array with that one.
    Zarr(KeyEncoding, Box<OpenArray>),
    /// Files that are compressed as a whole, with an ending of their own.
    Packed(Box<OpenArray>),
    /// Blocks of N5 in one directory (`0.1`). N5 knows no such thing, so which axis comes first is
    /// not said.
    FlatN5(Arc<dyn Layout>),
    /// Shards in two files, `.index` and `.data`, as they were before they were one.
    SplitShards(Arc<dyn Layout>),
}

/// Endings of shards of one file, and of the index of those that are two.
const SHARD_ENDING: &str = ".shard";
const SPLIT_ENDING: &str = ".index";

impl Convention {
    /// All that give other keys than the metadata does, each once.
    fn all(open: &OpenArray) -> Result<Vec<Self>, Error> {
        let rank = open.spec().shape.len();
        let own = open.array.layout();
        if rank > 1 && open.metadata.format().has(Fact::FlatBlocks) {
            return Ok(vec![Self::FlatN5(Arc::clone(own))]);
        }
        if own.shards().is_some_and(|shards| shards.tables().is_some()) {
            return Ok(vec![Self::SplitShards(Arc::clone(own))]);
        }
        let packed = open.metadata.in_packed_files();
        if !packed.is_empty() {
            let packed = packed.into_iter();
            return packed.map(|one| Ok(Self::Packed(Box::new(open.described_as(one)?)))).collect();
        }
        let ones = vec![1; rank];
        // Keys of the array as it was opened: the first chunk of a region is anywhere in the grid.
        let mut by_key = BTreeMap::new();
        for style in [KeyStyle::V2, KeyStyle::Default] {
            for separator in ['.', '/'] {
                let encoding = KeyEncoding { style, separator };
                let Some(array) = open.with_key_encoding(encoding)? else { continue };
                let key = array.array.layout().object_key(&ones);
                if key != own.object_key(&ones) {
                    by_key.entry(key).or_insert_with(|| Self::Zarr(encoding, Box::new(array)));
                }
            }
        }
        Ok(by_key.into_values().collect())
    }

    fn key(&self, index: &[u64]) -> String {
        match self {
            Self::Zarr(_, open) | Self::Packed(open) => open.array.layout().object_key(index),
            Self::FlatN5(layout) => layout.object_key(index).replace('/', "."),
            Self::SplitShards(layout) => {
                layout.object_key(index).replace(SHARD_ENDING, SPLIT_ENDING)
            }
        }
    }

    /// The index of an object, if it is the key of one in `grid`.
    fn index(&self, key: &str, grid: &ChunkGrid) -> Option<Vec<u64>> {
        let index = match self {
            Self::Zarr(_, open) | Self::Packed(open) => open.array.layout().object_index(key),
            Self::FlatN5(layout) if !key.contains('/') => {
                layout.object_index(&key.replace('.', "/"))
            }
            Self::FlatN5(_) => None,
            Self::SplitShards(layout) => {
                let name = key.strip_suffix(SPLIT_ENDING)?;
                let is_scattered = layout.shards().is_some_and(ShardFormat::is_scattered);
                // Then a name tells no chunk, and that one is there says enough.
                if is_scattered {
                    return Some(vec![0; grid.rank()]);
                }
                layout.object_index(&format!("{name}{SHARD_ENDING}"))
            }
        };
        index.filter(|index| index.len() == grid.rank() && grid.contains(index))
    }
}

impl Convention {
    /// Refuses chunks of which some are under the array's keys, like `missing`, and some under
    /// these.
    fn refused(&self, open: &OpenArray, missing: &str, there: &str) -> Error {
        match self {
            Self::SplitShards(_) => split_shards(open, there),
            Self::Zarr(..) | Self::Packed(_) | Self::FlatN5(_) => other_keys(open, missing, there),
        }
    }
}

impl OpenArray {
    /// Returns this array with other keys of its chunks, where its format has several ways to make
    /// them.
    fn with_key_encoding(&self, encoding: KeyEncoding) -> Result<Option<Self>, Error> {
        let metadata = self.metadata.with_key_encoding(encoding);
        metadata.map(|metadata| self.described_as(metadata)).transpose()
    }

    /// Returns this array as other metadata describes it.
    fn described_as(&self, metadata: Metadata) -> Result<Self, Error> {
        let layout = match &self.region {
            Some((shape, region)) => metadata.with_shape(shape).layout_of(region),
            None => metadata.layout(),
        };
        let layout = layout.map_err(|source| Error::source_metadata(&self.location, source))?;
        let layout = self.cast_layout(self.squeezed_layout(layout)?)?;
        let array = Array::new(layout, self.array.store().clone());
        Ok(Self { array, metadata, ..self.clone() })
    }
}

/// Looks for chunks of `open`, of which those at `asked` are missing, under other keys. `None`
/// where there are none; an error where it is not clear under which keys all of them are.
pub(crate) async fn look(open: &OpenArray, asked: &[Vec<u64>]) -> Result<Option<OtherKeys>, Error> {
    let conventions = Convention::all(open)?;
    if conventions.is_empty() {
        return Ok(None);
    }
    let grid = open.object_grid()?;
    let store = open.array.store().with_role(Role::Control);
    let failed = |source| Error::source_store(&open.location, source);
    let mut found = Vec::new();
    if store.lists_for_little() {
        let listed = some_keys(&store, grid.rank() + 1).await.map_err(failed)?;
        let own = |key: &str| {
            let index = open.array.layout().object_index(key)?;
            (index.len() == grid.rank() && grid.contains(&index)).then(|| key.to_owned())
        };
        let own = listed.iter().find_map(|key| own(key));
        for convention in conventions {
            let example = listed.iter().find(|key| convention.index(key, &grid).is_some());
            found.extend(example.map(|example| (convention, example.clone())));
        }
        if let (Some(own), Some((_, other))) = (own, found.first()) {
            return Err(two_conventions(open, &own, other));
        }
    } else {
        for convention in conventions {
            for index in asked.iter().take(ASKED_MAX) {
                let key = convention.key(index);
                if is_there(&store, &key).await {
                    found.push((convention, key));
                    break;
                }
            }
        }
    }
    if let [(_, one), (_, other), ..] = &found[..] {
        return Err(two_conventions(open, one, other));
    }
    found.pop().map(|(convention, example)| settle(open, convention, &example)).transpose()
}

/// Keys of a store, [`LISTED_MAX`] at most. On a disk names are read, no deeper than `depth`: sizes
/// would take most of the time.
async fn some_keys(store: &Store, depth: usize) -> Result<Vec<String>, StoreError> {
    if store.local_root().is_none() {
        let listed = store.list_first("", LISTED_MAX).await?;
        return Ok(listed.into_iter().map(|(key, _)| key).collect());
    }
    let take = |keys: &mut Vec<String>, key: &str| {
        keys.push(key.to_owned());
        if keys.len() < LISTED_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    store.fold_keys(depth, Vec::new(), take).await
}

/// The array with the keys that its chunks have, and which ones these are if its metadata says
/// others. Where its first chunk is there, nothing else is asked for.
pub(crate) async fn settled(open: OpenArray) -> Result<(OpenArray, Option<String>), Error> {
    let first = vec![0; open.spec().shape.len()];
    if !open.array.has_whole_objects() || !open.object_grid()?.contains(&first) {
        return Ok((open, None));
    }
    let store = open.array.store().with_role(Role::Control);
    let key = open.array.layout().object_key(&first);
    let is_there = store.exists(&key).await;
    if is_there.map_err(|source| Error::source_store(&open.location, source))? {
        return Ok((open, None));
    }
    let sample = sample(&open, false).await?;
    if !sample.found.is_empty() {
        return Ok((open, None));
    }
    let asked = if sample.missing.is_empty() { vec![first] } else { sample.missing };
    Ok(match look(&open, &asked).await? {
        Some(OtherKeys { array, said }) => (array, Some(said)),
        None => (open, None),
    })
}

/// An object that cannot be asked for is none that could be read.
async fn is_there(store: &Store, key: &str) -> bool {
    store.exists(key).await.unwrap_or(false)
}

fn settle(open: &OpenArray, found: Convention, example: &str) -> Result<OtherKeys, Error> {
    let zeros = vec![0; open.spec().shape.len()];
    let own = open.array.layout().object_key(&zeros);
    match found {
        Convention::Zarr(encoding, array) => {
            let said = format!(
                "no chunk is there under a key that the metadata says (like {own}), but some are under others (like \
                 {example}): these are read{}",
                remedy(&open.metadata, encoding)
            );
            Ok(OtherKeys { array: *array, said })
        }
        Convention::Packed(array) => {
            let said = format!("its chunks are in files that are compressed (like {example})");
            Ok(OtherKeys { array: *array, said })
        }
        Convention::SplitShards(_) => Err(split_shards(open, example)),
        Convention::FlatN5(_) => Err(Error::SourceChunks {
            location: open.location.clone(),
            reason: format!(
                "none of its blocks is there under a key of N5 (like {own}), but there are files like {example}: N5 \
                 has no keys with dots, and which axis they begin with is not known"
            ),
            hint: Some("give the blocks the names that N5 has for them".into()),
        }),
    }
}

fn split_shards(open: &OpenArray, example: &str) -> Error {
    Error::SourceChunks {
        location: open.location.clone(),
        reason: format!(
            "its shards are pairs of files, {SPLIT_ENDING} and .data (like {example}), as they were before they \
             were one file"
        ),
        hint: Some("write them anew with the tool that wrote them".into()),
    }
}

/// Hint of what the metadata would have to say; empty where it cannot.
fn remedy(metadata: &Metadata, KeyEncoding { style, separator }: KeyEncoding) -> String {
    match (metadata.zarr().map(|zarr| zarr.version), style) {
        (Some(ZarrVersion::V2), KeyStyle::V2) => {
            format!("; .zarray should say \"dimension_separator\": \"{separator}\"")
        }
        (Some(ZarrVersion::V3), style) => {
            let name = if style == KeyStyle::V2 { "v2" } else { "default" };
            format!(
                "; zarr.json should say \"chunk_key_encoding\": {{\"name\": \"{name}\", \"configuration\": \
                 {{\"separator\": \"{separator}\"}}}}"
            )
        }
        _ => String::new(),
    }
}

fn two_conventions(open: &OpenArray, one: &str, other: &str) -> Error {
    Error::SourceChunks {
        location: open.location.clone(),
        reason: format!("some of its chunks have keys like {one}, others keys like {other}"),
        hint: Some(
            "which of two chunks counts is not known: give all of them the keys that the metadata says".into(),
        ),
    }
}

/// Refuses an array of which chunks were missing, with keys like `missing`, and are there under
/// other keys.
pub(crate) async fn check_missing(open: &OpenArray, missing: &[String]) -> Result<(), Error> {
    let conventions = Convention::all(open)?;
    let Some(first) = missing.first().filter(|_| !conventions.is_empty()) else { return Ok(()) };
    let grid = open.object_grid()?;
    let store = open.array.store().with_role(Role::Control);
    if store.local_root().is_none() {
        let indices = missing.iter().filter_map(|key| open.array.layout().object_index(key));
        for index in indices.take(ASKED_MAX) {
            for convention in &conventions {
                let key = convention.key(&index);
                if is_there(&store, &key).await {
                    return Err(convention.refused(open, first, &key));
                }
            }
        }
        return Ok(());
    }
    let depth = grid.rank() + 1;
    let all = Arc::new(conventions);
    let conventions = Arc::clone(&all);
    let take = move |(looked_at, found): &mut (usize, Option<(usize, String)>), key: &str| {
        *looked_at += 1;
        let is_one = |convention: &Convention| convention.index(key, &grid).is_some();
        let number = conventions.iter().position(is_one);
        *found = number.map(|number| (number, key.to_owned()));
        if number.is_some() || *looked_at >= LOOKED_AT_MAX {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let found = store.fold_keys(depth, (0, None), take).await;
    let (_, found) = found.map_err(|source| Error::source_store(&open.location, source))?;
    found.map_or(Ok(()), |(number, key)| Err(all[number].refused(open, first, &key)))
}

fn other_keys(open: &OpenArray, missing: &str, there: &str) -> Error {
    Error::SourceChunks {
        location: open.location.clone(),
        reason: format!(
            "chunks are missing under the keys that its metadata says (like {missing}), and others lie there under \
             keys like {there}"
        ),
        hint: Some("give all chunks the keys that the metadata says, or have it say theirs".into()),
    }
}
