//! Reading and writing the documents of a format.

use rechunk_format::FormatError;
use rechunk_n5::N5Version;
use rechunk_zarr::{GroupMetadata, NodeKind};

use super::Metadata;
use crate::axes::Axes;

type ReadKind = fn(&[u8]) -> Result<NodeKind, FormatError>;
type ReadArray = fn(&[u8], Option<&[u8]>, Option<Axes>) -> Result<Option<Metadata>, FormatError>;
type ReadMembers = fn(&[u8]) -> Result<Members, FormatError>;
/// Documents by their keys.
type KeyedDocuments = Vec<(String, Vec<u8>)>;

/// Functions that read and write the documents of one format.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Says whether a document is one of its own, where other programs call other files so too.
    pub is_own: Option<fn(&[u8]) -> bool>,
    /// Says whether the document of a node is an array's or a group's; `None` where it is an
    /// array's whatever it says.
    pub kind: Option<ReadKind>,
    /// Reads the document of an array, and the one with its attributes where that is another; order
    /// of the axes if it was said. `None` if it describes no array.
    pub array: ReadArray,
    /// Refuses a document that makes a place a group and does not say so.
    pub check_group: fn(&[u8]) -> Result<(), FormatError>,
    /// Reads the document with the attributes of a group.
    pub group: fn(&[u8]) -> Result<GroupMetadata, FormatError>,
    /// Reads the document of a group that is all that describes its members; `None` where members
    /// have documents of their own.
    pub members: Option<ReadMembers>,
    /// Writes the documents of a group.
    pub group_documents: fn(&NewGroup<'_>) -> KeyedDocuments,
}

/// Members of a group that its document describes.
#[derive(Debug, Default)]
pub(crate) struct Members {
    /// Paths of the arrays, each with the document that it would have in its own place.
    pub arrays: Vec<(String, Vec<u8>)>,
    /// Paths of those that cannot be reached, and why.
    pub unreachable: Vec<(String, String)>,
    /// Paths of what else lies in the group, and is no array.
    pub others: Vec<String>,
}

/// A group that is to be written.
#[derive(Debug)]
pub(crate) struct NewGroup<'a> {
    pub group: &'a GroupMetadata,
    /// The version that a container of N5 says, `None` for a group in one.
    pub n5_version: Option<N5Version>,
    /// Nothing but its document makes it a group: nothing is to be below it.
    pub needs_document: bool,
    /// Its arrays by path, where the document describes them; none where it is not known.
    pub arrays: &'a [(String, Metadata)],
}
