//! The documents of Zarr.

use rechunk_zarr::{
    GroupMetadata, ZarrVersion, check_zgroup, group_documents_of, node_kind, parse_v2, parse_v3,
};

use crate::formats::Metadata;
use crate::formats::schema::Schema;

pub(crate) static V3: Schema = Schema {
    is_own: None,
    kind: Some(node_kind),
    array: |document, _, _| Ok(Some(Metadata::Zarr(Box::new(parse_v3(document)?)))),
    check_group: |_| Ok(()),
    group: |document| GroupMetadata::parse(ZarrVersion::V3, document),
    members: None,
    group_documents: |new| group_documents_of(ZarrVersion::V3, new.group),
};

pub(crate) static V2: Schema = Schema {
    is_own: None,
    kind: None,
    array: |document, zattrs, _| Ok(Some(Metadata::Zarr(Box::new(parse_v2(document, zattrs)?)))),
    check_group: check_zgroup,
    group: |document| GroupMetadata::parse(ZarrVersion::V2, document),
    members: None,
    group_documents: |new| group_documents_of(ZarrVersion::V2, new.group),
};
