//! Consolidated metadata.

use rechunk_format::FormatError;
use rechunk_zarr::{
    ArrayMetadata, Consolidated, ConsolidatedKind, ZarrVersion, parse_v2, parse_v3,
};

/// Most nodes of a document that are looked at.
const NODES_MAX: usize = 32;

/// A byte that is a 0 before `.zmetadata`, else before the `zarr.json` of a group; then it.
pub(crate) fn target(data: &[u8]) -> bool {
    let Some((&version, document)) = data.split_first() else { return false };
    let version = if version == 0 { ZarrVersion::V2 } else { ZarrVersion::V3 };
    let Ok(Some(consolidated)) = Consolidated::parse(version, document) else { return false };
    assert_eq!(consolidated.version(), version);
    reads_again(&consolidated);
    for (path, kind) in consolidated.nodes().take(NODES_MAX) {
        let found = consolidated.array(path);
        // In v2 documents of both kinds may stand at one path.
        assert!(found.is_some() || kind == ConsolidatedKind::Group, "{path:?}");
        let Some(Ok(metadata)) = array(&consolidated, path) else { continue };
        // What stands there can be put there, and beside it; groups above are made.
        for place in [path.to_owned(), format!("{path}/beside/new")] {
            let mut changed = consolidated.clone();
            let set = changed.set_array(&place, &metadata);
            assert!(set.is_ok(), "{set:?}");
            assert_eq!(array(&changed, &place), Some(Ok(metadata.clone())), "{place:?}");
            assert!(changed.nodes().count() >= consolidated.nodes().count());
            reads_again(&changed);
        }
    }
    consolidated.nodes().next().is_some()
}

/// The array of a path, where there is one; or why it cannot be used.
fn array(consolidated: &Consolidated, path: &str) -> Option<Result<ArrayMetadata, FormatError>> {
    let documents = consolidated.array(path)?;
    Some(match consolidated.version() {
        ZarrVersion::V2 => parse_v2(&documents.array, documents.zattrs.as_deref()),
        ZarrVersion::V3 => parse_v3(&documents.array),
    })
}

fn reads_again(consolidated: &Consolidated) {
    let again = Consolidated::parse(consolidated.version(), &consolidated.to_bytes());
    assert_eq!(again.as_ref(), Ok(&Some(consolidated.clone())));
}
