//! Arrays that are described by the document of the group that they lie in alone: scales of
//! precomputed volumes.

use rechunk_store::{Store, StoreError};

use crate::formats::{Documents, Format};
use crate::member_location::member_path;

/// Most levels above an array that are looked at: paths of members have few names.
const LEVELS_MAX: usize = 3;

/// The documents of an array that has none of its own, from the group above it that describes it;
/// and the label of that group.
pub(crate) async fn described_member(
    store: &Store,
) -> Result<Option<(Documents, String)>, StoreError> {
    let (mut place, mut path) = (store.clone(), String::new());
    for _ in 0..LEVELS_MAX {
        let Some((group, name)) = place.parent()? else { break };
        path = if path.is_empty() { name } else { member_path(&name, &path) };
        for format in Format::ALL.into_iter().filter(|format| format.describes_members()) {
            let documents = match Documents::fetch_of(&group, format).await {
                Ok(documents) => documents,
                // Whoever may not look there has no volume there.
                Err(error) if error.is_permission_denied() => return Ok(None),
                Err(error) => return Err(error),
            };
            // What is damaged describes nothing; who opens it is told.
            let members = documents.members(format).ok().flatten().unwrap_or_default();
            let found = members.arrays.into_iter().find(|(member, _)| *member == path);
            if let Some((_, document)) = found {
                let documents = Documents::of_described(format, document);
                return Ok(Some((documents, group.label().to_owned())));
            }
        }
        place = group;
    }
    Ok(None)
}

/// Paths of the arrays that the document of the group at `store` describes.
pub(crate) async fn described_members(store: &Store) -> Vec<String> {
    let mut paths = Vec::new();
    for format in Format::ALL.into_iter().filter(|format| format.describes_members()) {
        let Ok(documents) = Documents::fetch_of(store, format).await else { continue };
        let members = documents.members(format).ok().flatten().unwrap_or_default();
        paths.extend(members.arrays.into_iter().map(|(path, _)| path));
    }
    paths
}
