//! The metadata documents of a place, as bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures::FutureExt;
use rechunk_format::FormatError;
use rechunk_n5::{ATTRIBUTES_KEY, parse_dataset, parse_group};
use rechunk_raw::{ARRAY_JSON, parse_array_json};
use rechunk_store::{Store, StoreError};
use rechunk_zarr::{
    ArrayDocuments, Consolidated, GroupDocuments, GroupMetadata, NodeKind, ZarrVersion,
    check_zgroup, node_kind, parse_v2, parse_v3, stands_for_n5,
};
use sha2::{Digest, Sha256};

use crate::axes::Axes;
use crate::format::Format;
use crate::large_document;
pub(crate) use crate::large_document::METADATA_BYTES_MAX;
use crate::metadata::Metadata;

/// Bytes up to which a document of a group is taken as it is: it has fewer values than are allowed.
const DOCUMENT_BYTES_USUAL: usize = 256 << 10;

/// Keys of all such documents.
pub(crate) const METADATA_KEYS: [&str; 6] =
    ["zarr.json", ".zarray", ".zgroup", ".zattrs", ATTRIBUTES_KEY, ARRAY_JSON];

/// Documents that were found at a place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    zarr_json: Option<Bytes>,
    zarray: Option<Bytes>,
    zgroup: Option<Bytes>,
    zattrs: Option<Bytes>,
    /// Of N5.
    attributes_json: Option<Bytes>,
    /// Of files of raw elements.
    array_json: Option<Bytes>,
}

/// Which documents of a place are looked at, where it may have those of several formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Wanted {
    /// The newest.
    #[default]
    Newest,
    /// Those of the format that the group above is read in; where there are none, the newest.
    First(Format),
    /// Those of the format alone.
    Only(Format),
}

/// Kind of a place, by its documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Array(Format),
    Group(Format),
}

impl Documents {
    /// Reads them: those of Zarr v3 where they are there, else v2, else N5.
    pub(crate) async fn fetch(store: &Store) -> Result<Self, StoreError> {
        let zarr_json = zarr_json(store).await?;
        if zarr_json.is_some() {
            return Ok(Self { zarr_json, ..Self::default() });
        }
        Self::fetch_others(store).await
    }

    /// Reads those that are wanted.
    pub(crate) async fn fetch_wanted(store: &Store, wanted: Wanted) -> Result<Self, StoreError> {
        match wanted {
            Wanted::Newest | Wanted::First(Format::Zarr3) => Self::fetch(store).await,
            Wanted::Only(format) => Self::fetch_of(store, format).await,
            Wanted::First(format) => {
                let own = Self::fetch_of(store, format).await?;
                if own.is_something() {
                    return Ok(own);
                }
                let others = Self::fetch(store).await?;
                // A directory without a document is a group of N5; a converter has given it one.
                let is_left = format == Format::N5 && others.is_group_left_by_n5();
                Ok(if is_left { Self::default() } else { others })
            }
        }
    }

    /// Reads those of one format.
    pub(crate) async fn fetch_of(store: &Store, format: Format) -> Result<Self, StoreError> {
        let get = |key| store.get(key, METADATA_BYTES_MAX).boxed();
        let mut documents = Self::default();
        match format {
            Format::Zarr3 => documents.zarr_json = zarr_json(store).await?,
            Format::N5 => documents.attributes_json = get(ATTRIBUTES_KEY).await?,
            Format::Zarr2 => {
                let (zarray, zattrs) = futures::join!(get(".zarray"), get(".zattrs"));
                documents.zarray = zarray?;
                if documents.zarray.is_none() {
                    documents.zgroup = get(".zgroup").await?;
                }
                if documents.is_something() {
                    documents.zattrs = zattrs?;
                }
            }
            Format::Raw | Format::Npy | Format::Nii => {
                documents.array_json = get(ARRAY_JSON).await?;
            }
        }
        Ok(documents)
    }

    /// Fetches, as [`Documents::fetch`] does, from a place that is waited for, or is hardly one of
    /// Zarr v3. Where answers take long, all documents are requested at once, for a few requests
    /// more if it is one.
    pub(crate) async fn fetch_at_once(store: &Store) -> Result<Self, StoreError> {
        // A web server may have its own mind about some of these names, and let one wait for it.
        if !store.answers_late() || !store.can_list() {
            return Self::fetch(store).await;
        }
        let zarr_json = zarr_json(store);
        // It fails as soon as that one does: of a store that is gone nothing else need be asked.
        let others = Self::fetch_others(store).map(Ok);
        let (zarr_json, others) = futures::try_join!(zarr_json.boxed(), others.boxed())?;
        match zarr_json {
            None => others,
            zarr_json => Ok(Self { zarr_json, ..Self::default() }),
        }
    }

    /// Those that are looked at where there are none of Zarr v3.
    async fn fetch_others(store: &Store) -> Result<Self, StoreError> {
        let get = |key| store.get(key, METADATA_BYTES_MAX).boxed();
        let mut documents = Self::default();
        // All at once, because answers may take long; what comes of those that are not looked at is
        // nobody's.
        let (zarray, zgroup, zattrs, array_json, attributes_json) = futures::join!(
            get(".zarray"),
            get(".zgroup"),
            get(".zattrs"),
            get(ARRAY_JSON),
            get(ATTRIBUTES_KEY)
        );
        documents.zarray = zarray?;
        if documents.zarray.is_none() {
            documents.zgroup = zgroup?;
        }
        if documents.zarray.is_some() || documents.zgroup.is_some() {
            documents.zattrs = zattrs?;
        } else {
            documents.array_json = array_json?;
        }
        if documents.is_empty() {
            documents.attributes_json = attributes_json?;
        }
        Ok(documents)
    }

    /// Those that a job has saved, by key.
    pub(crate) fn of_saved(saved: &BTreeMap<String, String>) -> Self {
        let document = |key: &str| saved.get(key).map(|text| Bytes::from(text.clone()));
        Self {
            zarr_json: document("zarr.json"),
            zarray: document(".zarray"),
            zgroup: document(".zgroup"),
            zattrs: document(".zattrs"),
            attributes_json: document(ATTRIBUTES_KEY),
            array_json: document(ARRAY_JSON),
        }
    }

    /// All of them in one byte string, see [`Documents::from_record`].
    pub(crate) fn to_record(&self) -> Vec<u8> {
        let mut record = Vec::new();
        for document in self.all() {
            let length = document.as_ref().map_or(u64::MAX, |document| document.len() as u64);
            record.extend(length.to_le_bytes());
            record.extend(document.as_deref().unwrap_or_default());
        }
        record
    }

    /// Those that were put in a byte string; `None` if it is none of theirs.
    pub(crate) fn from_record(record: &[u8]) -> Option<Self> {
        let mut found: [Option<Bytes>; 6] = Default::default();
        let mut rest = record;
        for document in &mut found {
            let (length, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            let length = u64::from_le_bytes(*length);
            if length != u64::MAX {
                let (bytes, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                *document = Some(Bytes::copy_from_slice(bytes));
                rest = after;
            }
        }
        let [zarr_json, zarray, zgroup, zattrs, attributes_json, array_json] = found;
        Some(Self { zarr_json, zarray, zgroup, zattrs, attributes_json, array_json })
    }

    fn all(&self) -> [&Option<Bytes>; 6] {
        let Self { zarr_json, zarray, zgroup, zattrs, attributes_json, array_json } = self;
        [zarr_json, zarray, zgroup, zattrs, attributes_json, array_json]
    }

    /// Those of an array in a consolidated document.
    pub(crate) fn of_array(version: ZarrVersion, array: ArrayDocuments) -> Self {
        let document = Some(Bytes::from(array.array));
        let zattrs = array.zattrs.map(Bytes::from);
        match version {
            ZarrVersion::V2 => Self { zarray: document, zattrs, ..Self::default() },
            ZarrVersion::V3 => Self { zarr_json: document, ..Self::default() },
        }
    }

    /// Those of a group in a consolidated document.
    pub(crate) fn of_group(version: ZarrVersion, group: GroupDocuments) -> Self {
        let document = Some(Bytes::from(group.group));
        let zattrs = group.zattrs.map(Bytes::from);
        match version {
            ZarrVersion::V2 => Self { zgroup: document, zattrs, ..Self::default() },
            ZarrVersion::V3 => Self { zarr_json: document, ..Self::default() },
        }
    }

    /// The document that makes the place something, by key.
    pub(crate) fn main_key(&self) -> Option<&'static str> {
        let found = [
            ("zarr.json", &self.zarr_json),
            (".zarray", &self.zarray),
            (".zgroup", &self.zgroup),
            (ARRAY_JSON, &self.array_json),
            (ATTRIBUTES_KEY, &self.attributes_json),
        ];
        found.into_iter().find_map(|(key, document)| document.as_ref().map(|_| key))
    }

    fn is_something(&self) -> bool {
        self.main_key().is_some()
    }

    /// True for a `zarr.json` that says it stands for an N5 node: `n5tozarr` leaves such ones.
    pub(crate) fn stands_for_n5(&self) -> bool {
        self.zarr_json.as_deref().is_some_and(stands_for_n5)
    }

    fn is_group_left_by_n5(&self) -> bool {
        self.stands_for_n5() && matches!(self.node(), Ok(Some(Node::Group(_))))
    }

    /// The version of N5 that a container says.
    pub(crate) fn says_n5_version(&self) -> bool {
        let group = self.attributes_json.as_deref().map(parse_group);
        group.is_some_and(|group| group.is_ok_and(|group| group.version.is_some()))
    }

    /// Whether they are those of a group of Zarr v3 with consolidated metadata.
    pub(crate) fn is_consolidated(&self) -> bool {
        let consolidated = self.zarr_json.as_ref().map(|document| {
            // What is damaged is told where it is read.
            Consolidated::parse(ZarrVersion::V3, document).is_ok_and(|found| found.is_some())
        });
        consolidated.unwrap_or(false)
    }

    fn is_empty(&self) -> bool {
        let found = [&self.zarr_json, &self.zarray, &self.zgroup, &self.array_json];
        found.into_iter().all(Option::is_none)
    }

    /// Kind of the place; `None` without documents.
    pub(crate) fn node(&self) -> Result<Option<Node>, FormatError> {
        if let Some(document) = &self.zarr_json {
            return Ok(Some(match node_kind(document)? {
                NodeKind::Array => Node::Array(Format::Zarr3),
                NodeKind::Group => Node::Group(Format::Zarr3),
            }));
        }
        if self.zarray.is_some() {
            return Ok(Some(Node::Array(Format::Zarr2)));
        }
        if self.array_json.is_some() {
            return Ok(Some(Node::Array(Format::Raw)));
        }
        if let Some(document) = &self.attributes_json {
            let is_array = parse_dataset(document)?.is_some();
            let node = if is_array { Node::Array } else { Node::Group };
            return Ok(Some(node(Format::N5)));
        }
        Ok(self.zgroup.is_some().then_some(Node::Group(Format::Zarr2)))
    }

    /// The format of the document that says what the place is.
    pub(crate) fn document_format(&self) -> Format {
        match self {
            Self { zarr_json: Some(_), .. } => Format::Zarr3,
            Self { attributes_json: Some(_), .. } => Format::N5,
            _ => Format::Zarr2,
        }
    }

    /// The array they describe; `None` if they describe none.
    ///
    /// `axes` is what is to become of the axes of N5, if it was said.
    pub(crate) fn array(&self, axes: Option<Axes>) -> Result<Option<Metadata>, FormatError> {
        let Some(Node::Array(_)) = self.node()? else { return Ok(None) };
        if let Some(document) = &self.zarr_json {
            return Ok(Some(Metadata::Zarr(Box::new(parse_v3(document)?))));
        }
        if let Some(document) = &self.zarray {
            let metadata = parse_v2(document, self.zattrs.as_deref())?;
            return Ok(Some(Metadata::Zarr(Box::new(metadata))));
        }
        if let Some(document) = &self.array_json {
            return Ok(Some(Metadata::Raw(Box::new(parse_array_json(document)?))));
        }
        let Some(document) = &self.attributes_json else { return Ok(None) };
        Ok(parse_dataset(document)?.map(|metadata| {
            let axes = axes.or_else(|| Axes::noted(&metadata.attributes)).unwrap_or_default();
            Metadata::N5(Box::new(metadata), axes)
        }))
    }

    /// The group they describe; one without attributes where they describe none. What makes a place
    /// a group of v2 is only here asked to be in order: whatever it says, no array is there.
    pub(crate) fn group(&self) -> Result<GroupMetadata, FormatError> {
        let Some(Node::Group(format)) = self.node()? else { return Ok(GroupMetadata::default()) };
        self.zgroup.as_deref().map_or(Ok(()), check_zgroup)?;
        match (self.attributes(), format.zarr_version()) {
            (Some(document), Some(version)) => GroupMetadata::parse(version, document),
            (Some(document), None) => {
                Ok(GroupMetadata::with_attributes(parse_group(document)?.attributes))
            }
            _ => Ok(GroupMetadata::default()),
        }
    }

    /// The document with the attributes of a group.
    pub(crate) fn attributes(&self) -> Option<&Bytes> {
        let found = self.zarr_json.as_ref().or(self.zattrs.as_ref());
        found.or(self.attributes_json.as_ref())
    }

    /// Returns the document that says the shape of an array, and its key. `None` where none does,
    /// or where it is not one that is ever changed.
    pub(crate) fn shape_document(&self) -> Option<(&'static str, Bytes)> {
        let found = [
            ("zarr.json", &self.zarr_json),
            (".zarray", &self.zarray),
            (ATTRIBUTES_KEY, &self.attributes_json),
        ];
        found.into_iter().find_map(|(key, document)| Some((key, document.clone()?)))
    }

    /// SHA-256 of the documents of an array, hex.
    pub(crate) fn identity(&self) -> String {
        let mut hash = Sha256::new();
        for document in
            [&self.zarr_json, &self.zarray, &self.zattrs, &self.attributes_json, &self.array_json]
        {
            let bytes = document.as_deref().unwrap_or_default();
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        hex(&hash.finalize())
    }
}

/// The `zarr.json` of a place; without consolidated metadata if that makes it large.
async fn zarr_json(store: &Store) -> Result<Option<Bytes>, StoreError> {
    let found = store.get("zarr.json", METADATA_BYTES_MAX).await;
    match found {
        Ok(Some(bytes)) if bytes.len() > DOCUMENT_BYTES_USUAL => {
            let split = large_document::split(ZarrVersion::V3, &bytes);
            // What is damaged is told where it is read.
            Ok(Some(split.map_or(bytes, |split| split.rest)))
        }
        Err(too_large @ StoreError::TooLarge { size_bytes, .. }) => {
            let split = large_document::read_in_pieces(store, ZarrVersion::V3, size_bytes).await?;
            split.and_then(Result::ok).map_or(Err(too_large), |split| Ok(Some(split.rest)))
        }
        found => found,
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
