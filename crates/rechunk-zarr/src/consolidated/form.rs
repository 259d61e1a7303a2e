//! The form of a consolidated document: its key, and where in it the documents of nodes stand.

use crate::field::Field;
use crate::metadata::ZarrVersion;

const V2_KEY: &str = ".zmetadata";
pub(super) const V3_KEY: &str = "zarr.json";
pub(super) const V3_MEMBER: &str = "consolidated_metadata";

/// Kind of the node that a member of a consolidated document describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsolidatedKind {
    /// An array.
    Array,
    /// A group.
    Group,
}

/// Key of the document that may hold consolidated metadata, relative to the group.
pub(super) fn key_of(version: ZarrVersion) -> &'static str {
    match version {
        ZarrVersion::V2 => V2_KEY,
        ZarrVersion::V3 => V3_KEY,
    }
}

/// The object of members in a document.
pub(super) fn members_field(version: ZarrVersion) -> Field {
    match version {
        ZarrVersion::V2 => Field::new(V2_KEY, "metadata"),
        ZarrVersion::V3 => Field::new(V3_KEY, V3_MEMBER).child("metadata"),
    }
}

/// Keys that lead to the object of members.
pub(super) fn members_path(version: ZarrVersion) -> &'static [&'static str] {
    match version {
        ZarrVersion::V2 => &["metadata"],
        ZarrVersion::V3 => &[V3_MEMBER, "metadata"],
    }
}

/// The path of the node whose document a member is.
pub(super) fn parent_of(name: &str, version: ZarrVersion) -> &str {
    match version {
        ZarrVersion::V2 => name.rsplit_once('/').map_or("", |(path, _)| path),
        ZarrVersion::V3 => name,
    }
}
