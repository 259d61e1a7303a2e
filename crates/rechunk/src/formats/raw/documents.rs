//! The document of files of raw elements.

use rechunk_raw::parse_array_json;
use rechunk_zarr::GroupMetadata;

use crate::formats::Metadata;
use crate::formats::schema::Schema;

pub(crate) static SCHEMA: Schema = Schema {
    is_own: None,
    kind: None,
    array: |document, _, _| Ok(Some(Metadata::Raw(Box::new(parse_array_json(document)?)))),
    check_group: |_| Ok(()),
    group: |_| Ok(GroupMetadata::default()),
    members: None,
    group_documents: |_| Vec::new(),
};
