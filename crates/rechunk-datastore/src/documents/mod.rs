//! Documents of a version, in the format of its blocks.

pub(crate) mod n5;
pub(crate) mod zarr;

use crate::{Dataset, DatastoreError, Storage};

/// A document: its key in the folder of a version, and its bytes.
pub(crate) type Document = (String, Vec<u8>);

/// All documents of a version.
pub(crate) fn documents(dataset: &Dataset) -> Result<Vec<Document>, DatastoreError> {
    match dataset.storage {
        Storage::N5 => n5::documents(dataset),
        Storage::Zarr3 => zarr::documents(dataset),
    }
}

/// Documents that a version has to get before it has the channels of `grown` from `first` on.
pub(crate) fn added_documents(
    grown: &Dataset,
    first: u64,
) -> Result<Vec<Document>, DatastoreError> {
    match grown.storage {
        Storage::N5 => {
            n5::setup_documents(grown, grown.setup(first, 0)..grown.setup(grown.channels, 0))
        }
        Storage::Zarr3 => Ok(Vec::new()),
    }
}

/// Documents that are replaced so that a version shows all channels of `grown`.
pub(crate) fn changed_documents(grown: &Dataset) -> Result<Vec<Document>, DatastoreError> {
    match grown.storage {
        Storage::N5 => Ok(vec![n5::export_xml(grown)]),
        Storage::Zarr3 => zarr::array_documents(grown),
    }
}
