//! The metadata documents of a place, as bytes.

use bytes::Bytes;
use rechunk_format::FormatError;
use rechunk_store::{Store, StoreError};
use rechunk_zarr::{ArrayDocuments, NodeKind, ZarrVersion, node_kind, parse_v2, parse_v3};
use sha2::{Digest, Sha256};

use crate::format::Format;
use crate::metadata::Metadata;

/// Largest metadata document that is read, bytes.
pub(crate) const METADATA_BYTES_MAX: u64 = 16 << 20;

/// What was found at a place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Documents {
    zarr_json: Option<Bytes>,
    zarray: Option<Bytes>,
    zgroup: Option<Bytes>,
    zattrs: Option<Bytes>,
}

/// What documents say that a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Array(Format),
    Group(Format),
}

impl Documents {
    /// Reads them: v3 where it is there, else v2.
    pub(crate) async fn fetch(store: &Store) -> Result<Self, StoreError> {
        let get = async |key: &str| store.get(key, METADATA_BYTES_MAX).await;
        let mut documents = Self { zarr_json: get("zarr.json").await?, ..Self::default() };
        if documents.zarr_json.is_some() {
            return Ok(documents);
        }
        documents.zarray = get(".zarray").await?;
        if documents.zarray.is_none() {
            documents.zgroup = get(".zgroup").await?;
        }
        if documents.zarray.is_some() || documents.zgroup.is_some() {
            documents.zattrs = get(".zattrs").await?;
        }
        Ok(documents)
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

    /// What they say the place is; `None` where there are none.
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
        Ok(self.zgroup.is_some().then_some(Node::Group(Format::Zarr2)))
    }

    /// The array they describe; `None` if they describe none.
    pub(crate) fn array(&self) -> Result<Option<Metadata>, FormatError> {
        let Some(Node::Array(_)) = self.node()? else { return Ok(None) };
        let metadata = match (&self.zarr_json, &self.zarray) {
            (Some(document), _) => Metadata::Zarr(parse_v3(document)?),
            (None, Some(document)) => Metadata::Zarr(parse_v2(document, self.zattrs.as_deref())?),
            _ => return Ok(None),
        };
        Ok(Some(metadata))
    }

    /// The document with the attributes of a group.
    pub(crate) fn attributes(&self) -> Option<&Bytes> {
        self.zarr_json.as_ref().or(self.zattrs.as_ref())
    }

    /// SHA-256 of the documents of an array, hex.
    pub(crate) fn identity(&self) -> String {
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
