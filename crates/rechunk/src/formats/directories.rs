//! Nodes in directories that are no store: those below and above a location.

use std::path::Path;

use rechunk_zarr::NodeKind;

use super::{Format, METADATA_BYTES_MAX, Node};

/// Formats in the order in which their documents of nodes count in a directory.
const COUNT: [Format; 5] =
    [Format::Zarr2, Format::Zarr3, Format::Raw, Format::N5, Format::Precomputed];

/// Kind of the node in a directory; `None` if it is no array and no group. A document that cannot
/// be understood may be that of a group.
#[expect(
    clippy::disallowed_methods,
    reason = "directories below and above a location are no store"
)]
pub(crate) fn node_in(directory: &Path) -> Option<Node> {
    let file = |name: &str| directory.join(name);
    let document = |name: &str| {
        let path = file(name);
        let found = path.metadata().ok()?;
        let is_read = found.is_file() && found.len() <= METADATA_BYTES_MAX;
        is_read.then(|| std::fs::read(&path).ok()).flatten()
    };
    for format in COUNT {
        let key = format.row().keys.node;
        match format.schema().kind {
            None if file(key).is_file() => return Some(Node::Array(format)),
            None => {}
            Some(kind) => {
                let Some(bytes) = document(key) else { continue };
                if format.schema().is_own.is_some_and(|is_own| !is_own(&bytes)) {
                    continue;
                }
                let is_array = matches!(kind(&bytes), Ok(NodeKind::Array));
                let node = if is_array { Node::Array } else { Node::Group };
                return Some(node(format));
            }
        }
    }
    let is_group = |format: &Format| format.row().keys.group.is_some_and(|key| file(key).is_file());
    COUNT.into_iter().find(is_group).map(Node::Group)
}
