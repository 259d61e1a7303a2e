//! Description of stored data: an array's metadata, how many of its chunks exist and how large they
//! are; or the members of a group.

use std::sync::Arc;

use futures::{StreamExt, TryStreamExt, stream};
use rechunk_array::Array;
use rechunk_grid::{ChunkGrid, DataType};
use rechunk_store::{Meter, Role, Store, StoreError, Stores};
use rechunk_zarr::ArrayMetadata;
use serde::Serialize;

use crate::access::{Access, AccessCost, access_cost};
use crate::chunk_keys::{self, OtherKeys};
use crate::chunk_sizes::{ChunkSizes, SizeSummary};
use crate::consolidated;
use crate::formats::METADATA_KEYS;
use crate::formats::two_documents::others;
use crate::group::{GroupInfo, group_info};
use crate::open::{OpenArray, OpenOptions, Opened, left_out, open_node, open_store};
use crate::readers::readers;
use crate::{Error, Remedy};

/// Smallest chunk that reads well, decoded bytes.
const SMALL_CHUNK_BYTES: u64 = 1 << 20;
/// Largest chunk that every reader and codec takes, decoded bytes.
const LARGE_CHUNK_BYTES: u64 = 2 << 30;

/// Most objects that are asked for one by one where they cannot be listed, and how many at once.
const ASKED_MAX: u64 = 10_000;
const ASKED_AT_ONCE: usize = 16;

/// Everything `rechunk info` shows.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "node", rename_all = "lowercase")]
pub enum Info {
    /// The location is an array.
    Array(Box<ArrayInfo>),
    /// The location is a group.
    Group(Box<GroupInfo>),
}

/// An array.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ArrayInfo {
    /// Location of the array.
    pub location: String,
    /// `zarr2` or `zarr3`.
    pub format: String,
    /// Extent of each axis, elements.
    pub shape: Vec<u64>,
    /// Dimension names.
    pub dimension_names: Option<Vec<Option<String>>>,
    /// Data type.
    pub data_type: String,
    /// Data type that its numbers are stored as, where codecs shift, scale or cast them
    /// (`scale_offset`, `cast_value`).
    pub stored_type: Option<String>,
    /// Shape of a chunk, elements; of the largest, where chunks differ.
    pub chunk_shape: Vec<u64>,
    /// Shape of the smallest chunk, where chunks differ (Zarr's `rectilinear` grid).
    pub smallest_chunk_shape: Option<Vec<u64>>,
    /// Bytes of a decoded chunk, the largest; `None` where elements differ in length.
    pub chunk_bytes: Option<u64>,
    /// Shape of a shard, elements, where chunks are kept in shards.
    pub shard_shape: Option<Vec<u64>>,
    /// Axes as stored, slowest first (`[0, 1, 2]` is C order).
    pub axes: Vec<usize>,
    /// Byte order.
    pub endian: String,
    /// Codecs in words.
    pub codecs: String,
    /// True if stored data carries checksums: a bit that flips there is noticed when it is read.
    pub checksums: bool,
    /// Libraries that read such an array, of those the tests try; `None` where none was tried.
    pub readers: Option<Vec<String>>,
    /// Fill value as little-endian hex bytes; `None` where the metadata says null.
    pub fill_value_hex: Option<String>,
    /// Fill value as people read it.
    pub fill_value: String,
    /// Number of chunks in the grid.
    pub chunks: u64,
    /// Number of shards in the grid, where chunks are kept in shards.
    pub shards: Option<u64>,
    /// Shards that are stored, where chunks are kept in shards.
    pub stored_shards: Option<u64>,
    /// Chunks that are stored, by themselves or in a shard; `None` where they were not counted.
    pub stored_chunks: Option<u64>,
    /// Chunks that are missing: they hold the fill value.
    pub missing_chunks: Option<u64>,
    /// Bytes of the elements, without padding; `None` where elements differ in length.
    pub decoded_bytes: Option<u64>,
    /// Bytes of the stored chunks.
    pub stored_bytes: u64,
    /// Bytes of a stored chunk (or shard), over all of them.
    pub stored_chunk_bytes: Option<SizeSummary>,
    /// Decoded over stored bytes, of the chunks that are stored.
    pub compression_ratio: Option<f64>,
    /// Files that a write which did not end has left.
    pub leftovers: KeyCount,
    /// Objects that are neither metadata nor chunks of the grid.
    pub foreign: KeyCount,
    /// The group above it whose consolidated metadata describes it.
    pub consolidated_in: Option<String>,
    /// The comment of the ZIP file it is in.
    pub archive_comment: Option<String>,
    /// Costs of the ways of reading that were asked about.
    pub access: Vec<AccessCost>,
    /// User attributes.
    pub attributes: serde_json::Value,
    /// Faults that it may have, in sentences.
    pub hints: Vec<String>,
}

/// Keys of one sort.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeyCount {
    /// Number of keys.
    pub count: u64,
    /// One of them, the first in order.
    pub example: Option<String>,
}

impl KeyCount {
    fn add(&mut self, key: &str) {
        self.count += 1;
        if self.example.as_deref().is_none_or(|example| key < example) {
            self.example = Some(key.to_owned());
        }
    }
}

/// Reads the metadata at `location`; of an array, lists the chunks too. Says what it takes to read
/// an array, or each in a group, in the ways of `access`.
///
/// Fails with [`Error::Usage`] if there is no such axis.
pub async fn info(
    location: &str,
    options: &OpenOptions,
    access: &[Access],
    stores: &Stores,
) -> Result<Info, Error> {
    let store = open_store(location, &stores.with_meter(&Meter::new()))?;
    match open_node(location, options, &store).await? {
        Opened::Array(open) => {
            array_info(&open, access, &store).await.map(Box::new).map(Info::Array)
        }
        Opened::Group(documents, format) => {
            group_info(location, &store, &documents, format, (options, stores), access)
                .await
                .map(Box::new)
                .map(Info::Group)
        }
    }
}

async fn array_info(
    open: &OpenArray,
    access: &[Access],
    store: &Store,
) -> Result<ArrayInfo, Error> {
    let access = array_access(open, access)?;
    let (consolidated_in, differs) = described_above(open, store).await?;
    let counted = Stored::count(open).await?;
    let (stored, other) = counted.or_under_other_keys(open).await?;
    let open = other.as_ref().map_or(open, |other| &other.array);
    let spec = open.spec().clone();
    let grid = open.grid()?;
    let layout = Arc::clone(open.array.layout());
    let shards = layout.shards().filter(|shards| !shards.is_scattered());
    let order = layout.element_order();
    let item_bytes = (!spec.data_type.is_variable()).then(|| spec.item_bytes());
    let chunk_bytes = item_bytes.map(|item| grid.chunk_elements().saturating_mul(item));
    let decoded_bytes = spec.decoded_bytes();
    let objects = open.object_grid()?;
    let stored_objects = stored.sizes.count();
    let stored_chunks = stored.chunks.unwrap_or(stored_objects);
    let stored_bytes = stored.sizes.total_bytes();
    let mut info = ArrayInfo {
        location: open.location.clone(),
        format: layout.format_name().to_owned(),
        decoded_bytes,
        shape: spec.shape,
        dimension_names: spec.dimension_names,
        data_type: open.metadata.data_type_name(),
        stored_type: open
            .metadata
            .zarr()
            .filter(|_| open.cast.is_none())
            .and_then(ArrayMetadata::stored_type)
            .map(DataType::name),
        smallest_chunk_shape: spec.edges.as_ref().map(|edges| edges.smallest(&spec.chunk_shape)),
        chunk_shape: spec.chunk_shape,
        chunk_bytes,
        shards: shards.map(|_| objects.count()),
        shard_shape: shards.map(|shards| shards.shard_shape().to_vec()),
        axes: order.axes.clone(),
        endian: format!("{:?}", order.endian).to_lowercase(),
        codecs: layout.codec_summary().to_owned(),
        // A file that is packed as a whole is so by gzip, which has one.
        checksums: layout.has_checksum() || open.packed.is_some(),
        readers: readers(&open.metadata)
            .map(|names| names.into_iter().map(str::to_owned).collect()),
        fill_value: open.metadata.fill_value_text(),
        fill_value_hex: spec.fill_value.map(|fill| crate::formats::hex(&fill.bytes)),
        chunks: grid.count(),
        stored_shards: shards.map(|_| stored_objects),
        stored_chunks: (!stored.is_uncounted).then_some(stored_chunks),
        missing_chunks: (!stored.is_uncounted).then(|| grid.count().saturating_sub(stored_chunks)),
        stored_bytes,
        stored_chunk_bytes: stored.sizes.summary().filter(|_| open.metadata.file_name().is_none()),
        compression_ratio: chunk_bytes.filter(|_| stored_bytes > 0 && !stored.is_uncounted).map(
            |bytes| {
                let padded = stored_chunks as f64 * bytes as f64;
                let decoded = match (stored.lengths_bytes, decoded_bytes) {
                    (Some(bytes), _) => bytes as f64,
                    // Chunks at the edges are clipped.
                    (None, Some(all)) if open.metadata.zarr().is_none() => {
                        all as f64 * stored_chunks as f64 / grid.count().max(1) as f64
                    }
                    _ => padded,
                };
                decoded / stored_bytes as f64
            },
        ),
        leftovers: stored.leftovers,
        foreign: stored.foreign,
        consolidated_in,
        archive_comment: store.archive_comment().await,
        access,
        attributes: open.metadata.plain_attributes(),
        hints: Vec::new(),
    };
    info.hints = hints(&info);
    info.hints.extend(differs);
    info.hints.extend(also_there(open, store).await?);
    info.hints.extend(other.as_ref().map(|other| other.said.clone()));
    if open.metadata.zarr().is_some_and(ArrayMetadata::has_shards_of_many_shapes) {
        let hint = "shards differ in length: each chunk of the grid is a shard, read as a whole";
        info.hints.push(hint.to_owned());
    }
    info.hints.extend(left_out(&open.location, store).await?);
    if let Some(example) = stored.damaged.example {
        let count = stored.damaged.count;
        info.hints.push(format!("{count} shards have no index that can be read, e.g. {example}"));
    }
    Ok(info)
}

/// Documents of other formats at the place of an array.
async fn also_there(open: &OpenArray, store: &Store) -> Result<Vec<String>, Error> {
    if open.metadata.file_name().is_some() || open.described_by.is_some() {
        return Ok(Vec::new());
    }
    let found = others(&store.with_role(Role::Control), open.metadata.format()).await;
    found.map_err(|source| Error::source_store(&open.location, source))
}

/// Costs of reading an array, for each way.
fn array_access(open: &OpenArray, access: &[Access]) -> Result<Vec<AccessCost>, Error> {
    if access.is_empty() {
        return Ok(Vec::new());
    }
    if open.metadata.file_name().is_some() {
        let message =
            format!("{} is one file without chunks: any read takes what it needs", open.location);
        return Err(Error::Usage { message, hint: Some(Remedy::AskNoAccess) });
    }
    let shards = open.array.layout().shards();
    let cost = |access: &Access| {
        let cost = access_cost(access, &open.location, open.spec(), shards);
        cost.ok_or_else(|| no_such_access(access, &open.location))
    };
    access.iter().map(cost).collect()
}

/// Nothing that was looked at can be read in this way.
pub(crate) fn no_such_access(access: &Access, location: &str) -> Error {
    let name = access.name();
    let message = match access {
        Access::Map => format!("there is no map in {location}: it takes two axes, and elements"),
        Access::Along(_) => format!("there is no dimension `{name}` with elements in {location}"),
    };
    Error::Usage { message, hint: Some(Remedy::SeeDimensions) }
}

/// The nearest group above whose consolidated metadata describes the array, and what is wrong if
/// that is not what the array says itself.
async fn described_above(
    open: &OpenArray,
    store: &Store,
) -> Result<(Option<String>, Option<String>), Error> {
    if let Some(group) = &open.described_by {
        return Ok((Some(group.clone()), None));
    }
    let found = consolidated::find(store).await;
    // A damaged document above is no fault of an array that has its own.
    let Ok(Some((documents, group))) = found else { return Ok((None, None)) };
    let differs = documents.array(None).ok().flatten().as_ref() != Some(&open.metadata);
    let hint = differs.then(|| {
        format!("the consolidated metadata of {group} says something else: consolidate again")
    });
    Ok((Some(group), hint))
}

/// Objects that are stored at the place of an array.
#[derive(Debug, Default)]
struct Stored {
    sizes: ChunkSizes,
    /// Chunks in the shards, where there are shards.
    chunks: Option<u64>,
    /// Decoded bytes of the stored chunks, where they differ in length.
    lengths_bytes: Option<u64>,
    /// There are too many to ask for each, and they cannot be listed; or there are shards that
    /// cannot be looked into.
    is_uncounted: bool,
    /// Shards whose index cannot be read.
    damaged: KeyCount,
    leftovers: KeyCount,
    foreign: KeyCount,
}

impl Stored {
    /// Counts objects under other keys, if none are under those that the metadata says.
    async fn or_under_other_keys(
        self,
        open: &OpenArray,
    ) -> Result<(Self, Option<OtherKeys>), Error> {
        let has_other_files = self.foreign.count > 0 || !open.array.store().can_list();
        if self.sizes.count() > 0 || self.is_uncounted || !has_other_files {
            return Ok((self, None));
        }
        let first = vec![0; open.spec().shape.len()];
        match chunk_keys::look(open, &[first]).await? {
            Some(other) => Ok((Self::count(&other.array).await?, Some(other))),
            None => Ok((self, None)),
        }
    }

    /// Sorts every object by its key: a chunk of the grid, metadata, or something else.
    async fn count(open: &OpenArray) -> Result<Self, Error> {
        let store = open.array.store().with_role(Role::Control);
        let failed = |source: StoreError| Error::source_store(&open.location, source);
        let grid = open.object_grid()?;
        let (count, example) = store.count_staging().await.map_err(failed)?;
        let leftovers = KeyCount { count, example };
        let mut stored = Self { leftovers, ..Self::default() };
        if let Some(name) = open.metadata.file_name() {
            // What else is in its folder is none of its affair.
            let size = match &open.packed {
                Some(packed) => packed.metadata().ok().map(|found| found.len()),
                None => store.head(&name).await.map_err(failed)?,
            };
            if let Some(size) = size {
                stored.sizes.add(size);
            }
            stored.chunks = Some(open.grid()?.count());
            return Ok(stored);
        }
        if !store.can_list() || open.array.is_scattered() {
            return stored.count_by_key(open, &store).await;
        }
        let mut keys = store.list("");
        while let Some((key, size)) = keys.try_next().await.map_err(failed)? {
            match open.array.layout().object_index(&key) {
                Some(index) if grid.contains(&index) => {
                    stored.add(open, &grid, &index, size);
                    stored.look_into(open, &store, &key, &index).await;
                }
                _ if is_metadata(&key) => {}
                _ if key.strip_suffix(".part").is_some() => stored.leftovers.add(&key),
                _ => stored.foreign.add(&key),
            }
        }
        Ok(stored)
    }

    /// Asks for every object by its key, where keys cannot be listed; for none if there are many.
    async fn count_by_key(mut self, open: &OpenArray, store: &Store) -> Result<Self, Error> {
        let grid = open.object_grid()?;
        if grid.count() > ASKED_MAX || open.array.is_scattered() {
            return Ok(Self { is_uncounted: true, ..self });
        }
        let layout = open.array.layout();
        let mut sizes = stream::iter(grid.indices().positions())
            .map(|index| async move {
                let key = layout.object_key(&index);
                let size = store.head(&key).await;
                size.map(|size| (key, index, size))
            })
            .buffered(ASKED_AT_ONCE);
        while let Some(asked) = sizes.next().await {
            let (key, index, size) =
                asked.map_err(|source| Error::source_store(&open.location, source))?;
            if let Some(size) = size {
                self.add(open, &grid, &index, size);
                self.look_into(open, store, &key, &index).await;
            }
        }
        Ok(self)
    }

    /// Adds a chunk, or a shard, that is stored.
    fn add(&mut self, open: &OpenArray, grid: &ChunkGrid, index: &[u64], size_bytes: u64) {
        self.sizes.add(size_bytes);
        if grid.edges().is_some() {
            let elements = grid.chunk(index).elements();
            let bytes = elements.saturating_mul(open.spec().item_bytes());
            self.lengths_bytes = Some(self.lengths_bytes.unwrap_or(0).saturating_add(bytes));
        }
    }

    /// Counts the chunks of shard `index`, if it is one.
    async fn look_into(&mut self, open: &OpenArray, store: &Store, key: &str, index: &[u64]) {
        let Some(format) = open.array.layout().shards() else { return };
        let array = Array::new(Arc::clone(open.array.layout()), store.clone());
        let found = array.read_index(format, index).await;
        if let Err(error) = &found {
            self.damaged.add(key);
            // What is damaged holds nothing that could be read; of what is not to be had, nobody
            // knows.
            self.is_uncounted |= !error.is_damage();
        }
        let chunks = found.ok().flatten().map_or(0, |found| found.count());
        self.chunks = Some(self.chunks.unwrap_or(0) + chunks);
    }
}

/// Documents that stand beside chunks: of each format, and of netCDF-C's flavour of Zarr.
fn is_metadata(key: &str) -> bool {
    const BESIDE: [&str; 4] = [".zmetadata", ".nczarray", ".nczattr", ".nczgroup"];
    METADATA_KEYS.contains(&key) || BESIDE.contains(&key)
}

fn hints(info: &ArrayInfo) -> Vec<String> {
    let mut hints = Vec::new();
    let Some(chunk_bytes) = info.chunk_bytes else {
        return vec!["elements differ in length: chunks can be copied, not re-cut".to_owned()];
    };
    if chunk_bytes > LARGE_CHUNK_BYTES {
        hints.push("chunks are larger than 2 GiB: many readers and codecs refuse them".to_owned());
    }
    // Chunks in shards cost no request each.
    let (objects, count, bytes) = match (info.shards, &info.shard_shape) {
        (Some(count), Some(shape)) => {
            let chunks =
                shape.iter().zip(&info.chunk_shape).map(|(shard, chunk)| shard / chunk.max(&1));
            ("shards", count, chunks.fold(chunk_bytes, u64::saturating_mul))
        }
        _ => ("chunks", info.chunks, chunk_bytes),
    };
    if bytes < SMALL_CHUNK_BYTES && count > 1 {
        hints.push(format!(
            "{count} {objects} of less than 1 MiB: requests, not bytes, will take the time"
        ));
    }
    for read in &info.access {
        if let Some(better) = &read.better {
            hints.push(format!(
                "{} takes {} requests; it would take {} with --chunks {}",
                read.access, read.requests, better.requests, better.spec
            ));
        }
    }
    if info.leftovers.count > 0 {
        hints.push(
            "a run that did not end has left files: copy with --resume removes them, or remove \
             them yourself when nothing writes here"
                .to_owned(),
        );
    }
    hints
}
