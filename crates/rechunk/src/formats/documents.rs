//! The metadata documents of a place, as bytes.

use std::collections::BTreeMap;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::join_all;
use rechunk_format::{FormatError, json};
use rechunk_n5::ATTRIBUTES_KEY;
use rechunk_precomputed::INFO_KEY;
use rechunk_raw::ARRAY_JSON;
use rechunk_store::{Store, StoreError};
use rechunk_zarr::{
    ArrayDocuments, Consolidated, GroupDocuments, GroupMetadata, NodeKind, ZarrVersion,
    stands_for_n5,
};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::schema::Members;
use super::{Fact, Format, Metadata, n5};
use crate::axes::Axes;
use crate::large_document;
pub(crate) use crate::large_document::METADATA_BYTES_MAX;

/// Bytes up to which a document of a group is taken as it is: it has fewer values than are allowed.
const DOCUMENT_BYTES_USUAL: usize = 256 << 10;

/// Keys of all such documents.
pub(crate) const METADATA_KEYS: [&str; 7] =
    ["zarr.json", ".zarray", ".zgroup", ".zattrs", ATTRIBUTES_KEY, ARRAY_JSON, INFO_KEY];

/// Names of documents that make a place an array or a group, for people.
pub(crate) const NO_DOCUMENT: &str =
    "none of zarr.json, .zarray, attributes.json, array.json and the info of a volume";

/// Those that are told apart by an identity, in its order. It is in saved jobs: others come last,
/// and only where they are there.
const IDENTITY_KEYS: [&str; 5] = ["zarr.json", ".zarray", ".zattrs", ATTRIBUTES_KEY, ARRAY_JSON];
const IDENTITY_KEYS_SINCE: [&str; 1] = [INFO_KEY];

/// Documents that were found at a place: those of one format.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    /// In the order of [`METADATA_KEYS`].
    found: Box<[Option<Bytes>; METADATA_KEYS.len()]>,
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
    fn get(&self, key: &str) -> Option<&Bytes> {
        let at = METADATA_KEYS.iter().position(|known| *known == key)?;
        self.found[at].as_ref()
    }

    fn set(&mut self, key: &str, document: Option<Bytes>) {
        if let Some(at) = METADATA_KEYS.iter().position(|known| *known == key) {
            self.found[at] = document;
        }
    }

    /// Reads them: those of the first format that a place is looked at for and that are there.
    pub(crate) async fn fetch(store: &Store) -> Result<Self, StoreError> {
        let first = Self::fetch_of(store, Format::LOOKED_FOR[0]).await?;
        if first.is_something() { Ok(first) } else { Self::fetch_others(store).await }
    }

    /// Reads those that are wanted.
    pub(crate) async fn fetch_wanted(store: &Store, wanted: Wanted) -> Result<Self, StoreError> {
        match wanted {
            Wanted::Newest => Self::fetch(store).await,
            Wanted::First(format) if format.is_looked_for_first() => Self::fetch(store).await,
            Wanted::Only(format) => Self::fetch_of(store, format).await,
            Wanted::First(format) => {
                let own = Self::fetch_of(store, format).await?;
                if own.is_something() {
                    return Ok(own);
                }
                let others = Self::fetch(store).await?;
                // A directory without a document is a group of it; a converter has given it one.
                let is_left = format.has(Fact::BareGroups) && others.is_group_left_by_n5();
                Ok(if is_left { Self::default() } else { others })
            }
        }
    }

    /// Reads those of one format.
    pub(crate) async fn fetch_of(store: &Store, format: Format) -> Result<Self, StoreError> {
        let keys = format.row().keys;
        let attributes = async {
            let key = keys.attributes?;
            Some(fetch_document(store, key).await)
        };
        let node = fetch_document(store, keys.node);
        let (node, attributes) = futures::join!(node.boxed(), attributes.boxed());
        let mut documents = Self::default();
        documents.set(keys.node, own(format, node?));
        if let Some(key) = keys.group.filter(|_| !documents.is_something()) {
            documents.set(key, fetch_document(store, key).await?);
        }
        if let Some((key, found)) = keys.attributes.zip(attributes)
            && documents.is_something()
        {
            documents.set(key, found?);
        }
        Ok(documents)
    }

    /// Fetches, as [`Documents::fetch`] does, from a place that is waited for, or is hardly one of
    /// the first format. Where answers take long, all documents are requested at once, for a few
    /// requests more if it is one.
    pub(crate) async fn fetch_at_once(store: &Store) -> Result<Self, StoreError> {
        // A web server may have its own mind about some of these names, and let one wait for it.
        if !store.answers_late() || !store.can_list() {
            return Self::fetch(store).await;
        }
        let first = Self::fetch_of(store, Format::LOOKED_FOR[0]);
        // It fails as soon as that one does: of a store that is gone nothing else need be asked.
        let others = Self::fetch_others(store).map(Ok);
        let (first, others) = futures::try_join!(first.boxed(), others.boxed())?;
        if first.is_something() { Ok(first) } else { others }
    }

    /// Those that are looked at where there are none of the first format.
    async fn fetch_others(store: &Store) -> Result<Self, StoreError> {
        let others = &Format::LOOKED_FOR[1..];
        let keys = others.iter().flat_map(|format| format.row().keys.all());
        // All at once, because answers may take long; what comes of those that are not looked at is
        // nobody's.
        let found = keys.map(|key| async move { (key, fetch_document(store, key).await) }.boxed());
        let mut found: BTreeMap<_, _> = join_all(found).await.into_iter().collect();
        let mut take = |key| found.remove(key).unwrap_or(Ok(None));
        for format in others {
            let (keys, mut documents) = (format.row().keys, Self::default());
            documents.set(keys.node, own(*format, take(keys.node)?));
            if let Some(key) = keys.group.filter(|_| !documents.is_something()) {
                documents.set(key, take(key)?);
            }
            if documents.is_something() {
                if let Some(key) = keys.attributes {
                    documents.set(key, take(key)?);
                }
                return Ok(documents);
            }
        }
        Ok(Self::default())
    }

    /// The members that the document of a group of `format` describes; `None` where they have
    /// documents of their own.
    pub(crate) fn members(&self, format: Format) -> Result<Option<Members>, FormatError> {
        let read = format.schema().members.zip(self.get(format.row().keys.node));
        read.map(|(read, document)| read(document)).transpose()
    }

    /// Those of an array of `format` that the document of its group describes.
    pub(crate) fn of_described(format: Format, document: Vec<u8>) -> Self {
        Self::of_member((format.row().keys.node, document), (None, None))
    }

    /// Those that a job has saved, by key.
    pub(crate) fn of_saved(saved: &BTreeMap<String, String>) -> Self {
        let document = |key: &str| saved.get(key).map(|text| Bytes::from(text.clone()));
        Self { found: Box::new(METADATA_KEYS.map(document)) }
    }

    /// All of them in one byte string, see [`Documents::from_record`].
    pub(crate) fn to_record(&self) -> Vec<u8> {
        let mut record = Vec::new();
        for document in self.found.iter() {
            let length = document.as_ref().map_or(u64::MAX, |document| document.len() as u64);
            record.extend(length.to_le_bytes());
            record.extend(document.as_deref().unwrap_or_default());
        }
        record
    }

    /// Those that were put in a byte string; `None` if it is none of theirs.
    pub(crate) fn from_record(record: &[u8]) -> Option<Self> {
        let mut documents = Self::default();
        let mut rest = record;
        for document in documents.found.iter_mut() {
            let (length, after) = rest.split_first_chunk::<8>()?;
            rest = after;
            let length = u64::from_le_bytes(*length);
            if length != u64::MAX {
                let (bytes, after) = rest.split_at_checked(usize::try_from(length).ok()?)?;
                *document = Some(Bytes::copy_from_slice(bytes));
                rest = after;
            }
        }
        Some(documents)
    }

    /// Those of an array in a consolidated document.
    pub(crate) fn of_array(version: ZarrVersion, array: ArrayDocuments) -> Self {
        let keys = Format::from(version).row().keys;
        Self::of_member((keys.node, array.array), (keys.attributes, array.zattrs))
    }

    /// Those of a group in a consolidated document.
    pub(crate) fn of_group(version: ZarrVersion, group: GroupDocuments) -> Self {
        let keys = Format::from(version).row().keys;
        let key = keys.group.unwrap_or(keys.node);
        Self::of_member((key, group.group), (keys.attributes, group.zattrs))
    }

    fn of_member(
        (key, document): (&str, Vec<u8>),
        attributes: (Option<&str>, Option<Vec<u8>>),
    ) -> Self {
        let mut documents = Self::default();
        documents.set(key, Some(Bytes::from(document)));
        if let (Some(key), Some(attributes)) = attributes {
            documents.set(key, Some(Bytes::from(attributes)));
        }
        documents
    }

    /// The document that makes the place something: its format, its key, and itself.
    fn main(&self) -> Option<(Format, &'static str, &Bytes)> {
        Format::LOOKED_FOR.into_iter().find_map(|format| {
            let keys = format.row().keys;
            let mut key = [Some(keys.node), keys.group].into_iter().flatten();
            key.find_map(|key| Some((format, key, self.get(key)?)))
        })
    }

    /// The document that makes the place something, by key.
    pub(crate) fn main_key(&self) -> Option<&'static str> {
        self.main().map(|(_, key, _)| key)
    }

    fn is_something(&self) -> bool {
        self.main_key().is_some()
    }

    /// True for a `zarr.json` that says it stands for an N5 node: `n5tozarr` leaves such ones.
    pub(crate) fn stands_for_n5(&self) -> bool {
        self.get("zarr.json").is_some_and(|document| stands_for_n5(document))
    }

    fn is_group_left_by_n5(&self) -> bool {
        self.stands_for_n5() && matches!(self.node(), Ok(Some(Node::Group(_))))
    }

    /// Whether they are those of a container of N5 that says its version.
    pub(crate) fn says_n5_version(&self) -> bool {
        self.get(ATTRIBUTES_KEY).is_some_and(|document| n5::says_version(document))
    }

    /// Whether they are those of a group of Zarr v3 with consolidated metadata.
    pub(crate) fn is_consolidated(&self) -> bool {
        let consolidated = self.get("zarr.json").map(|document| {
            // What is damaged is told where it is read.
            Consolidated::parse(ZarrVersion::V3, document).is_ok_and(|found| found.is_some())
        });
        consolidated.unwrap_or(false)
    }

    /// Kind of the place; `None` without documents.
    pub(crate) fn node(&self) -> Result<Option<Node>, FormatError> {
        let Some((format, key, document)) = self.main() else { return Ok(None) };
        if key != format.row().keys.node {
            return Ok(Some(Node::Group(format)));
        }
        let kind = format.schema().kind.map_or(Ok(NodeKind::Array), |kind| kind(document));
        Ok(Some(match kind? {
            NodeKind::Array => Node::Array(format),
            NodeKind::Group => Node::Group(format),
        }))
    }

    /// The format of the document that says what the place is; the first of all without one.
    pub(crate) fn document_format(&self) -> Format {
        self.main().map_or(Format::LOOKED_FOR[0], |(format, ..)| format)
    }

    /// The array they describe; `None` if they describe none.
    ///
    /// `axes` is what is to become of the axes of N5, if it was said.
    pub(crate) fn array(&self, axes: Option<Axes>) -> Result<Option<Metadata>, FormatError> {
        let Some(Node::Array(format)) = self.node()? else { return Ok(None) };
        let keys = format.row().keys;
        let Some(document) = self.get(keys.node) else { return Ok(None) };
        let attributes = keys.attributes.and_then(|key| self.get(key));
        (format.schema().array)(document, attributes.map(|bytes| &**bytes), axes)
    }

    /// The group they describe; one without attributes where they describe none. What makes a place
    /// a group is only here asked to be in order: whatever it says, no array is there.
    pub(crate) fn group(&self) -> Result<GroupMetadata, FormatError> {
        let Some(Node::Group(format)) = self.node()? else { return Ok(GroupMetadata::default()) };
        if let Some(document) = format.row().keys.group.and_then(|key| self.get(key)) {
            (format.schema().check_group)(document)?;
        }
        self.attributes_of(format)
            .map_or_else(|| Ok(GroupMetadata::default()), format.schema().group)
    }

    /// The attributes of a group of `format` as plain JSON.
    pub(crate) fn plain_attributes(&self, format: Format) -> Result<Value, FormatError> {
        let Some(document) = self.attributes_of(format) else {
            return Ok(Value::Object(Map::new()));
        };
        let group = (format.schema().group)(document)?;
        Ok(json::plain(&Value::Object(group.attributes)))
    }

    /// The document with the attributes of a group.
    fn attributes_of(&self, format: Format) -> Option<&[u8]> {
        let keys = format.row().keys;
        self.get(keys.attributes.unwrap_or(keys.node)).map(|bytes| &**bytes)
    }

    /// Returns the document that says the shape of an array, and its key. `None` where none does,
    /// or where it is not one that is ever changed.
    pub(crate) fn shape_document(&self) -> Option<(&'static str, Bytes)> {
        let (format, key, document) = self.main()?;
        let is_changed = format.has(Fact::Growth) || format.has(Fact::InPlace);
        let is_of_array = key == format.row().keys.node && is_changed;
        is_of_array.then(|| (key, document.clone()))
    }

    /// SHA-256 of the documents of an array, hex.
    pub(crate) fn identity(&self) -> String {
        let mut hash = Sha256::new();
        for key in IDENTITY_KEYS {
            let bytes = self.get(key).map(|bytes| &**bytes).unwrap_or_default();
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        for bytes in IDENTITY_KEYS_SINCE.iter().filter_map(|key| self.get(key)) {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        hex(&hash.finalize())
    }
}

/// A document of a node of `format`, unless another program calls another file so.
fn own(format: Format, document: Option<Bytes>) -> Option<Bytes> {
    let is_own = format.schema().is_own;
    document.filter(|document| is_own.is_none_or(|is_own| is_own(document)))
}

/// A document of a place.
async fn fetch_document(store: &Store, key: &str) -> Result<Option<Bytes>, StoreError> {
    if key == "zarr.json" {
        zarr_json(store).await
    } else {
        store.get(key, METADATA_BYTES_MAX).await
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_document_of_a_format_has_its_place() {
        let known: Vec<_> = Format::LOOKED_FOR.map(|format| format.row().keys.node).to_vec();
        for format in Format::ALL {
            let keys = format.row().keys;
            assert!(known.contains(&keys.node), "{}", format.name());
            for key in keys.all() {
                let mut documents = Documents::default();
                documents.set(key, Some(Bytes::from_static(b"{}")));
                assert_eq!(documents.get(key).map(|bytes| &**bytes), Some(&b"{}"[..]), "{key}");
            }
        }
    }

    #[test]
    fn the_first_format_looked_for_has_one_document() {
        // Nothing else is requested where it is there.
        assert_eq!(Format::LOOKED_FOR[0].row().keys.all().count(), 1);
    }

    #[test]
    fn documents_come_back_from_their_record() {
        let mut documents = Documents::default();
        documents.set(".zarray", Some(Bytes::from_static(b"{\"a\": 1}")));
        documents.set(".zattrs", Some(Bytes::new()));
        let record = documents.to_record();
        let found = Documents::from_record(&record).unwrap();
        assert_eq!(found.main_key(), Some(".zarray"));
        assert_eq!(found.found, documents.found);
        assert!(Documents::from_record(&record[1..]).is_none());
    }
}
