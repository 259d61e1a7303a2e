//! Walking down a hierarchy: every directory that is not inside an array.

use futures::stream::{self, StreamExt};
use rechunk_store::{Level, Store, StoreError};

use crate::consolidated::at_once;
use crate::formats::{Documents, Wanted};

/// Deepest directory that is looked at, below the one the walk starts at.
const DEPTH_MAX: usize = 32;

/// Most directories that are looked at where all have to be: more arrays than a job can plan.
pub(crate) const DIRECTORIES_MAX: usize = 200_000;

/// Directory that is visited.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Visited<'a> {
    /// One with these documents, or none.
    Documents(&'a Documents),
    /// Contents of a directory that is gone into; told before those of directories below it. The
    /// answer does not matter.
    Level(&'a Level),
    /// That of the state of a run: below it there may be half an array, which is none. It is not
    /// gone into.
    State,
}

/// Has `store` and every directory below it looked at, at most `limit` of them. `visit` gets each
/// path and its contents, by the documents that are `wanted`, and says whether there may be more
/// below it. Returns the first place that was not looked at, if there is one.
pub(crate) async fn walk(
    store: &Store,
    limit: usize,
    wanted: Wanted,
    mut visit: impl FnMut(&str, Visited<'_>) -> bool,
) -> Result<Option<String>, StoreError> {
    if !store.can_list() {
        return Ok(None); // only metadata above can say what there is
    }
    let mut open = vec![String::new()];
    let (mut seen, mut left_out) = (0, None);
    while let Some(directory) = open.pop() {
        let level = store.list_level(&directory).await?;
        visit(&directory, Visited::Level(&level));
        let mut names = level.directories;
        names.sort_unstable();
        let paths = names
            .into_iter()
            .map(|name| if directory.is_empty() { name } else { format!("{directory}/{name}") });
        let fetched = paths.map(|path| async move {
            let documents = Documents::fetch_wanted(&store.child(&path)?, wanted).await?;
            Ok::<_, StoreError>((path, documents))
        });
        let mut fetched = stream::iter(fetched).buffered(at_once(store));
        let mut below = Vec::new();
        while let Some(found) = fetched.next().await {
            let (path, documents) = found?;
            seen += 1;
            if seen > limit {
                return Ok(Some(path));
            }
            // What is an array itself is no state.
            if path.ends_with(".rechunk") && matches!(documents.node(), Ok(None)) {
                visit(&path, Visited::State);
                continue;
            }
            if !visit(&path, Visited::Documents(&documents)) {
                continue;
            }
            if path.split('/').count() < DEPTH_MAX {
                below.push(path);
            } else if left_out.is_none() {
                let deeper = store.list_directories(&path).await?;
                left_out = deeper.first().map(|name| format!("{path}/{name}"));
            }
        }
        open.extend(below.into_iter().rev());
    }
    Ok(left_out)
}
