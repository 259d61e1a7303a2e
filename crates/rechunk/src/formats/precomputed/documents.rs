//! The document of a precomputed volume.

use rechunk_precomputed::{INFO_KEY, is_volume, parse_info};
use rechunk_zarr::{GroupMetadata, NodeKind};

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
    group: |document| Ok(GroupMetadata::with_attributes(parse_info(document)?.others())),
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
    group_documents: |_| Vec::new(),
};
