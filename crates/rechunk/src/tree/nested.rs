//! Consolidated metadata of groups below the root of a copy: those that have it in the source have
//! it again.

use rechunk_zarr::{Consolidated, GroupMetadata, ZarrVersion};

use super::commit::{TreeDocuments, is_readable};
use crate::Error;

impl TreeDocuments {
    /// Puts consolidated metadata into `documents`, those of the group at `path`, if it had some in
    /// the source and readers take it.
    pub(super) fn consolidate(
        &self,
        path: &str,
        group: &GroupMetadata,
        documents: &mut Vec<(String, Vec<u8>)>,
    ) -> Result<(), Error> {
        let version = self.format.zarr_version().filter(|_| self.consolidated.contains(path));
        let Some(version) = version else { return Ok(()) };
        let mut document = Consolidated::new(version, group);
        let below = |other: &str| other.strip_prefix(path)?.strip_prefix('/').map(str::to_owned);
        for (other, group) in &self.groups {
            if let Some(rest) = below(other) {
                document.set_group(&rest, group);
            }
        }
        for (other, array) in &self.arrays {
            if let (Some(rest), Some(metadata)) = (below(other), array.zarr()) {
                document.set_array(&rest, metadata).map_err(Error::target_metadata)?;
            }
        }
        insert(version, &document, documents);
        Ok(())
    }
}

/// Puts a consolidated document in before the one that makes its place a group, or in its place.
pub(super) fn insert(
    version: ZarrVersion,
    document: &Consolidated,
    documents: &mut Vec<(String, Vec<u8>)>,
) {
    let (key, bytes) = (Consolidated::key(version), document.to_bytes());
    if !is_readable(version, &bytes) {
        return;
    }
    match version {
        ZarrVersion::V2 => {
            let last = documents.len().saturating_sub(1);
            documents.insert(last, (key.to_owned(), bytes));
        }
        // In v3 they are one document.
        ZarrVersion::V3 => *documents = vec![(key.to_owned(), bytes)],
    }
}
