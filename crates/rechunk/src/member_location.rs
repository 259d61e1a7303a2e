//! Locations of the members of a group.

/// The place of `path` below `root`; nowhere below a target that is not named.
pub(crate) fn member_location(root: &str, path: &str) -> String {
    if root.is_empty() {
        return String::new();
    }
    // A URL's % are read as codes, and behind ? and # there is no path; names of buckets are taken
    // as they are.
    let is_url = ["file://", "http://", "https://"].iter().any(|scheme| root.starts_with(scheme));
    let path = if is_url {
        path.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
    } else {
        path.to_owned()
    };
    format!("{}/{path}", root.trim_end_matches('/'))
}

/// Path of the member `name` of the group at `path`, of which the root's is empty.
pub(crate) fn member_path(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

/// Paths of the groups between a root and the node at `path`, the outermost first.
pub(crate) fn paths_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(end, _)| &path[..end])
}
