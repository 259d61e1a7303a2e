//! Consolidated metadata of the groups above an array. It is read where the array has no document
//! of its own, and kept true when an array is written.

use futures::stream::{self, StreamExt};
use rechunk_format::FormatError;
use rechunk_store::{DirectoryLock, Role, Store, StoreError};
use rechunk_zarr::{Consolidated, ZarrVersion};

use crate::Error;
use crate::error::store_error;
use crate::formats::{Documents, Format, Metadata};
use crate::large_document;

/// Most levels above an array that are looked at.
const LEVELS_MAX: usize = 32;
/// Documents that are asked for at once where answers take long.
const AT_ONCE: usize = 16;

/// A consolidated document of a group above an array.
#[derive(Debug)]
pub(crate) struct Above {
    /// The group.
    pub group: Store,
    /// The array's path in it.
    pub path: String,
    pub document: Consolidated,
}

/// Why the documents above are not known.
#[derive(Debug)]
pub(crate) enum Fault {
    Store(StoreError),
    Damaged { group: String, source: FormatError },
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// As a fault of what is read.
    pub(crate) fn of_source(self, location: &str) -> Error {
        match self {
            Self::Store(source) => Error::source_store(location, source),
            Self::Damaged { group, source } => Error::source_metadata(&group, source),
        }
    }

    /// As something in the way of what is written.
    pub(crate) fn of_target(self, location: &str) -> Error {
        match self {
            Self::Store(source) => store_error("look above", location, source),
            Self::Damaged { group, source } => Error::Conflict {
                location: location.to_owned(),
                reason: format!(
                    "lies in the group {group}, whose metadata is damaged, so that the new array \
                     cannot be put into it: {source}"
                ),
                hint: Some("repair that document, or remove it and consolidate again".into()),
            },
        }
    }
}

/// The consolidated documents above a place, nearest first.
pub(crate) async fn above(store: &Store) -> Result<Vec<Above>, Fault> {
    let mut places = Vec::new();
    let (mut place, mut path) = (store.with_role(Role::Control), String::new());
    for _ in 0..LEVELS_MAX {
        let Some((group, name)) = place.parent()? else { break };
        path = if path.is_empty() { name } else { format!("{name}/{path}") };
        let of = |version| (group.clone(), path.clone(), version);
        places.extend([ZarrVersion::V3, ZarrVersion::V2].map(of));
        place = group;
    }
    let fetched = places.into_iter().map(|(group, path, version)| async move {
        let document = fetch(&group, version).await;
        (group, path, document)
    });
    let mut fetched = stream::iter(fetched).buffered(at_once(store));
    let mut found = Vec::new();
    while let Some((group, path, document)) = fetched.next().await {
        match document {
            Ok(None) => {}
            Ok(Some(document)) => found.push(Above { group, path, document }),
            // Whoever may not look there has no hierarchy there.
            Err(Fault::Store(error)) if error.is_permission_denied() => break,
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// Number of levels above a place that are looked at together.
pub(crate) fn at_once(store: &Store) -> usize {
    if store.answers_late() { AT_ONCE } else { 1 }
}

/// The consolidated document of a group, if it has one.
pub(crate) async fn fetch(
    group: &Store,
    version: ZarrVersion,
) -> Result<Option<Consolidated>, Fault> {
    let Some(found) = large_document::read(group, version).await? else { return Ok(None) };
    found
        .map(|found| found.consolidated)
        .map_err(|source| Fault::Damaged { group: group.label().to_owned(), source })
}

/// The documents of an array that has none of its own, from the nearest group that describes it;
/// and the label of that group.
pub(crate) async fn find(store: &Store) -> Result<Option<(Documents, String)>, Fault> {
    for above in above(store).await? {
        if let Some(array) = above.document.array(&above.path) {
            let documents = Documents::of_array(above.document.version(), array);
            return Ok(Some((documents, above.group.label().to_owned())));
        }
    }
    Ok(None)
}

/// Refuses a target whose consolidated documents could not be kept true: before anything is
/// written.
pub(crate) async fn check(location: &str, target: &Store, format: Format) -> Result<(), Error> {
    if target.is_volatile() {
        return Ok(());
    }
    for above in above(target).await.map_err(|fault| fault.of_target(location))? {
        if Some(above.document.version()) != format.zarr_version()
            && above.document.array(&above.path).is_some()
        {
            return Err(Error::Conflict {
                location: location.to_owned(),
                reason: format!(
                    "is described in the consolidated metadata of {} as {}, where the new array \
                     cannot be described",
                    above.group.label(),
                    above.document.version().format_name()
                ),
                hint: Some("give the same --format, or remove the consolidated metadata".into()),
            });
        }
    }
    Ok(())
}

/// Puts the array that now is at `target` into every consolidated document above it. The outermost
/// goes last: whoever opens the hierarchy there sees all of the change. Doing it again changes
/// nothing.
pub(crate) async fn update(location: &str, target: &Store, array: &Metadata) -> Result<(), Error> {
    let Some(array) = array.zarr() else { return Ok(()) };
    update_with(location, target, array.version, |document, path| document.set_array(path, array))
        .await
}

/// Has `change` applied, with the path of `target`, to every consolidated document above it.
pub(crate) async fn update_with(
    location: &str,
    target: &Store,
    version: ZarrVersion,
    change: impl Fn(&mut Consolidated, &str) -> Result<(), FormatError>,
) -> Result<(), Error> {
    if target.is_volatile() {
        return Ok(());
    }
    let failed = |source| store_error("update the consolidated metadata above", location, source);
    for above in above(target).await.map_err(|fault| fault.of_target(location))? {
        if above.document.version() != version {
            continue;
        }
        // Another copy may have written an array into this group in the meantime.
        let _lock = DirectoryLock::take(&above.group).await.map_err(failed)?;
        let found = fetch(&above.group, version).await;
        let Some(mut document) = found.map_err(|fault| fault.of_target(location))? else {
            continue;
        };
        change(&mut document, &above.path).map_err(Error::target_metadata)?;
        if document.is_changed() {
            large_document::write(&above.group, &document).await.map_err(failed)?;
        }
    }
    Ok(())
}
