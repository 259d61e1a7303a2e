//! The document of a precomputed volume.

use rechunk_format::FormatError;
use rechunk_precomputed::{INFO_KEY, is_volume, parse_info, volume_document};
use rechunk_zarr::{GroupMetadata, NodeKind};
use serde_json::{Map, Value};

use crate::formats::Metadata;
use crate::formats::schema::{Members, Schema};

/// A volume of one scale is an array, one of several a group of them.
pub(crate) static SCHEMA: Schema = Schema {
    is_own: Some(is_volume),
    kind: Some(|document| {
        let is_array = parse_info(document)?.scales.len() == 1;
        Ok(if is_array { NodeKind::Array } else { NodeKind::Group })
    }),
    array: |document, _, _| {
        let volume = parse_info(document)?;
        let [scale] = &volume.scales[..] else { return Ok(None) };
        Ok(Some(Metadata::Precomputed(Box::new(volume.array(scale)?))))
    },
    check_group: |_| Ok(()),
    group: |document| {
        let attributes = parse_info(document)?.group_attributes();
        Ok(GroupMetadata::with_attributes(attributes))
    },
    members: Some(|document| {
        let volume = parse_info(document)?;
        let mut members = Members { others: volume.other_directories(), ..Members::default() };
        for scale in &volume.scales {
            let key = scale.key.clone();
            if scale.is_below() {
                members.arrays.push((key, volume.document_of(scale)));
            } else {
                let reason =
                    format!("its key in {INFO_KEY} leads to no directory below the volume");
                members.unreachable.push((key, reason));
            }
        }
        Ok(members)
    }),
    group_documents: |new| {
        let document = volume_of(new.arrays, &new.group.attributes);
        // Arrays that are no scales of one volume were refused when they were planned.
        document.ok().map(|document| (INFO_KEY.to_owned(), document)).into_iter().collect()
    },
};

/// The document of a volume with these arrays as scales; an error where that is none.
pub(crate) fn volume_of(
    arrays: &[(String, Metadata)],
    attributes: &Map<String, Value>,
) -> Result<Vec<u8>, FormatError> {
    let scale = |(path, metadata): &'_ (String, Metadata)| match metadata {
        Metadata::Precomputed(array) => Some((path.clone(), array.clone())),
        Metadata::Zarr(_) | Metadata::N5(..) | Metadata::Raw(_) => None,
    };
    let scales: Vec<_> = arrays.iter().filter_map(scale).collect();
    let scales: Vec<_> = scales.iter().map(|(path, array)| (path.as_str(), &**array)).collect();
    volume_document(&scales, attributes)
}
