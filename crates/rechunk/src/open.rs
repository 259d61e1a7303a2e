//! Opening an array: which format is it, and what does its metadata say? The only place that
//! knows every format.

use std::sync::Arc;

use bytes::Bytes;
use futures::TryStreamExt;
use rechunk_array::Array;
use rechunk_format::{FormatError, Layout};
use rechunk_grid::{ArraySpec, ChunkGrid};
use rechunk_store::{Meter, Role, Store};
use rechunk_zarr::{ArrayMetadata, NodeKind, ZarrLayout, node_kind, parse_v2, parse_v3};
use sha2::{Digest, Sha256};

use crate::Error;

/// Largest metadata document that is read, bytes.
pub(crate) const METADATA_BYTES_MAX: u64 = 16 << 20;
/// Most keys looked at to say which arrays a group has.
const LISTED_KEYS_MAX: usize = 20_000;
/// Most arrays named in a message.
const NAMED_ARRAYS_MAX: usize = 12;

/// An array that was opened for reading.
#[derive(Debug, Clone)]
pub struct OpenArray {
    /// Where it is, as it was given.
    pub location: String,
    /// Layout and store.
    pub array: Array,
    /// The parsed metadata.
    pub metadata: ArrayMetadata,
    /// SHA-256 of its metadata documents, hex: the same array as another time?
    pub identity: String,
}

impl OpenArray {
    /// What it is.
    pub fn spec(&self) -> &ArraySpec {
        &self.metadata.spec
    }

    /// The grid of its objects: shards, else chunks.
    pub fn object_grid(&self) -> Result<ChunkGrid, Error> {
        ChunkGrid::new(&self.spec().shape, self.metadata.object_shape())
            .map_err(|error| Error::source_grid(&self.location, &error))
    }

    /// Its chunk grid; the metadata parser has checked that there is one.
    pub fn grid(&self) -> Result<ChunkGrid, Error> {
        self.spec().grid().map_err(|error| Error::source_grid(&self.location, &error))
    }
}

/// Opens the array at `location`; requests count as control.
pub async fn open_array(location: &str, meter: &Arc<Meter>) -> Result<OpenArray, Error> {
    let store = open_store(location, meter)?;
    let control = store.with_role(Role::Control);
    let documents = fetch_metadata(location, &control).await?;
    let metadata = documents.parse(location, &control).await?;
    let metadata_error = |source: FormatError| Error::source_metadata(location, source);
    let layout: Arc<dyn Layout> =
        Arc::new(ZarrLayout::new(metadata.clone()).map_err(metadata_error)?);
    Ok(OpenArray {
        location: location.to_owned(),
        array: Array::new(layout, store.with_role(Role::Source)),
        metadata,
        identity: documents.identity(),
    })
}

/// Opens a store to read from.
pub(crate) fn open_store(location: &str, meter: &Arc<Meter>) -> Result<Store, Error> {
    Store::open(location)
        .map(|store| store.with_meter(meter))
        .map_err(|source| Error::source_store(location, source))
}

/// The metadata documents that were found, as bytes.
#[derive(Debug, Default)]
struct Documents {
    zarr_json: Option<Bytes>,
    zarray: Option<Bytes>,
    zattrs: Option<Bytes>,
}

async fn fetch_metadata(location: &str, store: &Store) -> Result<Documents, Error> {
    let get = async |key: &str| {
        store
            .get(key, METADATA_BYTES_MAX)
            .await
            .map_err(|source| Error::source_store(location, source))
    };
    let mut documents = Documents { zarr_json: get("zarr.json").await?, ..Documents::default() };
    if documents.zarr_json.is_none() {
        documents.zarray = get(".zarray").await?;
        if documents.zarray.is_some() {
            documents.zattrs = get(".zattrs").await?;
        }
    }
    Ok(documents)
}

impl Documents {
    async fn parse(&self, location: &str, store: &Store) -> Result<ArrayMetadata, Error> {
        let metadata_error = |source: FormatError| Error::source_metadata(location, source);
        if let Some(document) = &self.zarr_json {
            return match node_kind(document).map_err(metadata_error)? {
                NodeKind::Array => parse_v3(document).map_err(metadata_error),
                NodeKind::Group => Err(group_error(location, store).await),
            };
        }
        if let Some(document) = &self.zarray {
            return parse_v2(document, self.zattrs.as_deref()).map_err(metadata_error);
        }
        Err(nothing_error(location, store).await)
    }

    fn identity(&self) -> String {
        let mut hash = Sha256::new();
        for document in [&self.zarr_json, &self.zarray, &self.zattrs] {
            let bytes = document.as_deref().unwrap_or_default();
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        hex(&hash.finalize())
    }
}

/// Bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}"); // writing to a String cannot fail
        text
    })
}

/// The location is a group: name the arrays in it.
async fn group_error(location: &str, store: &Store) -> Error {
    let arrays = arrays_below(store).await;
    let root = location.trim_end_matches('/');
    let hint = match arrays.as_slice() {
        [] => "name the array inside it".to_owned(),
        [first, ..] => format!("name one of its arrays, e.g. {root}/{first}"),
    };
    let reason = if arrays.is_empty() {
        "it is a Zarr group".to_owned()
    } else {
        format!("it is a Zarr group with the arrays {}", arrays.join(", "))
    };
    Error::NotAnArray { location: location.to_owned(), reason, hint: Some(hint) }
}

async fn arrays_below(store: &Store) -> Vec<String> {
    let mut arrays = Vec::new();
    let mut keys = store.list("");
    for _ in 0..LISTED_KEYS_MAX {
        let Ok(Some((key, _))) = keys.try_next().await else { break };
        if let Some(array) = key.strip_suffix("/.zarray").or_else(|| key.strip_suffix("/zarr.json"))
        {
            arrays.push(array.to_owned());
        }
    }
    arrays.sort_unstable();
    arrays.truncate(NAMED_ARRAYS_MAX);
    arrays
}

/// No metadata of ours: say what is there.
async fn nothing_error(location: &str, store: &Store) -> Error {
    let exists = async |key: &str| store.exists(key).await.unwrap_or(false);
    let (reason, hint) = if exists(".zgroup").await {
        return group_error(location, store).await;
    } else if exists("attributes.json").await {
        ("it looks like N5, which this version does not read yet", None)
    } else if store.exists_anything().await.unwrap_or(false) {
        ("it has neither zarr.json nor .zarray", Some("name the array inside the container"))
    } else {
        ("there is nothing at this location", Some("check the path"))
    };
    Error::NotAnArray {
        location: location.to_owned(),
        reason: reason.to_owned(),
        hint: hint.map(str::to_owned),
    }
}
