//! The order of members. It means nothing, but zarr-python 3.1 takes the nodes of one group from
//! where they stand one after the other, and loses those that stand apart, or does not open the
//! hierarchy.

use std::collections::{BTreeMap, BTreeSet};

use crate::metadata::ZarrVersion;

/// Names of members in an order in which the nodes of each group stand together, where the first of
/// them stands. Where those of one depth are together already, nothing moves.
pub(super) fn together<'a>(
    names: impl Iterator<Item = &'a str>,
    version: ZarrVersion,
) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.collect();
    if are_together(&names, version) {
        return names;
    }
    let mut places = BTreeMap::new();
    for name in &names {
        let next = places.len();
        places.entry(group_of(name, version)).or_insert(next);
    }
    names.sort_by_key(|name| places.get(group_of(name, version)).copied());
    names
}

/// True if between two nodes of a group none of another group at the same depth stands.
fn are_together(names: &[&str], version: ZarrVersion) -> bool {
    let (mut seen, mut latest) = (BTreeSet::new(), BTreeMap::new());
    names.iter().all(|name| {
        let group = group_of(name, version);
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

/// Part of a path before the last slash.
fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn depth(group: &str) -> usize {
    if group.is_empty() { 0 } else { 1 + group.matches('/').count() }
}
