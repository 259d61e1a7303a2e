//! The document of files of raw elements.

use rechunk_raw::parse_array_json;
use rechunk_zarr::GroupMetadata;

use crate::formats::Metadata;
use crate::formats::schema::Schema;

pub(crate) static SCHEMA: Schema = Schema {
    kind: None,
    array: |document, _, _| Ok(Some(Metadata::Raw(Box::new(parse_array_json(document)?)))),
    check_group: |_| Ok(()),
    group: |_| Ok(GroupMetadata::default()),
    group_documents: |_| Vec::new(),
};
