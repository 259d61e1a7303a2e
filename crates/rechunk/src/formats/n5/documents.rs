//! The documents of N5.

use rechunk_n5::{ATTRIBUTES_KEY, group_document, parse_dataset, parse_group};
use rechunk_zarr::{GroupMetadata, NodeKind};

use crate::axes::Axes;
use crate::formats::Metadata;
use crate::formats::schema::Schema;

pub(crate) static SCHEMA: Schema = Schema {
    is_own: None,
    kind: Some(|document| {
        let is_array = parse_dataset(document)?.is_some();
        Ok(if is_array { NodeKind::Array } else { NodeKind::Group })
    }),
    array: |document, _, axes| {
        Ok(parse_dataset(document)?.map(|metadata| {
            let axes = axes.or_else(|| Axes::noted(&metadata.attributes)).unwrap_or_default();
            Metadata::N5(Box::new(metadata), axes)
        }))
    },
    check_group: |_| Ok(()),
    group: |document| Ok(GroupMetadata::with_attributes(parse_group(document)?.attributes)),
    members: None,
    group_documents: |new| {
        // Without attributes any directory is a group; the container says its version.
        let attributes = &new.group.attributes;
        if !new.needs_document && new.n5_version.is_none() && attributes.is_empty() {
            return Vec::new();
        }
        vec![(ATTRIBUTES_KEY.to_owned(), group_document(attributes, new.n5_version))]
    },
};

/// Whether a document says a version of N5, as that of a container does.
pub(crate) fn says_version(document: &[u8]) -> bool {
    parse_group(document).is_ok_and(|group| group.version.is_some())
}
