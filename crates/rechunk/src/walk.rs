//! Walking down a hierarchy: every directory that is not inside an array.

use rechunk_store::{Store, StoreError};

use crate::documents::Documents;

/// Deepest directory that is looked at, below the one the walk starts at.
const DEPTH_MAX: usize = 32;

/// Has every directory below `store` looked at, at most `limit` of them; `visit` is given its path
/// and its documents, and says whether there may be more below it. True if there is more than was
/// looked at.
pub(crate) async fn walk(
    store: &Store,
    limit: usize,
    mut visit: impl FnMut(&str, &Documents) -> bool,
) -> Result<bool, StoreError> {
    if !store.can_list() {
        return Ok(false); // only metadata above can say what there is
    }
    let mut open = vec![String::new()];
    let (mut seen, mut is_cut) = (0, false);
    while let Some(directory) = open.pop() {
        let mut names = store.list_directories(&directory).await?;
        names.sort_unstable();
        for name in names.into_iter().rev() {
            seen += 1;
            if seen > limit {
                return Ok(true);
            }
            let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
            let place = store.child(&path)?;
            let documents = Documents::fetch(&place).await?;
            // Where a run keeps its state there may be half an array, below; what is one itself is none.
            if path.ends_with(".rechunk") && matches!(documents.node(), Ok(None)) {
                continue;
            }
            if !visit(&path, &documents) {
                continue;
            }
            if path.split('/').count() < DEPTH_MAX {
                open.push(path);
            } else {
                is_cut |= !store.list_directories(&path).await?.is_empty();
            }
        }
    }
    Ok(is_cut)
}
