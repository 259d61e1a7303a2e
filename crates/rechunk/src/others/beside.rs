//! Finds the other files of a group of which the nodes are known.

use std::collections::BTreeSet;

use rechunk_store::{Store, StoreError};

use super::{Others, OthersInfo};
use crate::formats::{Documents, Node, Wanted};

/// Lists the files beside `arrays` and `groups`, which are paths below `store`, from at most
/// `limit` directories. Only directories that are neither are asked for documents.
pub(crate) async fn beside(
    (store, wanted): (&Store, Wanted),
    arrays: &BTreeSet<String>,
    groups: &BTreeSet<String>,
    limit: usize,
) -> Result<OthersInfo, StoreError> {
    let mut others = Others::default();
    let mut open = vec![String::new()];
    let (mut seen, mut truncated) = (0, false);
    while let Some(directory) = open.pop() {
        seen += 1;
        if seen > limit {
            truncated = true;
            break;
        }
        let level = store.list_level(&directory).await?;
        others.add(&directory, &level);
        for name in level.directories {
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            if arrays.contains(&path) {
                continue;
            }
            if groups.contains(&path) || !is_closed(store, wanted, &path).await? {
                open.push(path);
            }
        }
    }
    others.sort();
    Ok(OthersInfo::of(&others.files, truncated))
}

/// Whether a directory of which nothing is known is an array, or the state of a run.
async fn is_closed(store: &Store, wanted: Wanted, path: &str) -> Result<bool, StoreError> {
    if path.ends_with(".rechunk") {
        return Ok(true);
    }
    let documents = Documents::fetch_wanted(&store.child(path)?, wanted).await?;
    // What cannot be read is not gone into, as it is not where a group is copied.
    Ok(!matches!(documents.node(), Ok(None | Some(Node::Group(_)))))
}
