//! Paths of the arrays in a group, for a message.

use rechunk_store::{Role, Store};
use rechunk_zarr::{ConsolidatedKind, ZarrVersion};

use crate::consolidated;
use crate::described_members::described_members;
use crate::formats::{Node, Wanted};
use crate::walk::{Visited, walk};

/// Most directories that are looked at.
const LOOKED_AT_MAX: usize = 1000;

/// Paths of the arrays below a place, in their order: those that are found soon, also where they
/// cannot be read. None where it cannot be listed.
pub(crate) async fn arrays_below(store: &Store) -> Vec<String> {
    let store = store.with_role(Role::Control);
    let mut paths = Vec::new();
    for version in [ZarrVersion::V3, ZarrVersion::V2] {
        if let Ok(Some(document)) = consolidated::fetch(&store, version).await {
            let arrays = document.nodes().filter(|(_, kind)| *kind == ConsolidatedKind::Array);
            paths.extend(arrays.map(|(path, _)| path.to_owned()));
        }
    }
    if paths.is_empty() {
        paths = described_members(&store).await;
    }
    if paths.is_empty() {
        let mut walked = Vec::new();
        let cut = walk(&store, LOOKED_AT_MAX, Wanted::Newest, |path, visited| {
            let Visited::Documents(documents) = visited else { return false };
            let is_group = matches!(documents.node(), Ok(None | Some(Node::Group(_))));
            if !is_group {
                walked.push(path.to_owned());
            }
            is_group
        });
        if cut.await.is_ok() {
            paths = walked;
        }
    }
    paths.sort_unstable();
    paths
}
