//! The order of members. It means nothing, but zarr-python 3.1 takes the nodes of one group from where they
//! stand one after the other, and loses those that stand apart, or does not open the hierarchy.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::metadata::ZarrVersion;

/// Brings the nodes of each group together, where the first of them stands. Where those of one depth are
/// together already, nothing moves.
pub(super) fn bring_together(members: &mut Map<String, Value>, version: ZarrVersion) {
    if are_together(members, version) {
        return;
    }
    let mut places = BTreeMap::new();
    for key in members.keys() {
        let next = places.len();
        places.entry(group_of(key, version).to_owned()).or_insert(next);
    }
    let mut sorted: Vec<(String, Value)> = std::mem::take(members).into_iter().collect();
    sorted.sort_by_key(|(key, _)| places.get(group_of(key, version)).copied());
    members.extend(sorted);
}

/// True if between two nodes of a group none of another group at the same depth stands.
fn are_together(members: &Map<String, Value>, version: ZarrVersion) -> bool {
    let (mut seen, mut latest) = (BTreeSet::new(), BTreeMap::new());
    members.keys().all(|key| {
        let group = group_of(key, version);
        latest.insert(depth(group), group) == Some(group) || seen.insert(group)
    })
}

/// The path of the group that a member's node is in.
fn group_of(key: &str, version: ZarrVersion) -> &str {
    let node = match version {
        ZarrVersion::V2 => parent(key),
        ZarrVersion::V3 => key,
    };
    parent(node)
}

/// What stands before the last slash.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn depth(group: &str) -> usize {
    if group.is_empty() { 0 } else { 1 + group.matches('/').count() }
}
