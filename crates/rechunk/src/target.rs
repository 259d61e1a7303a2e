//! Place of the new array. Nothing may be there, nothing may be in each other's way, and the
//! metadata that makes it an array is written last.

use std::path::{Path, PathBuf};

use futures::stream::{self, StreamExt};
use rechunk_n5::N5Version;
use rechunk_store::{Role, Store, StoreError, Stores, has_zip_name, remote_names};
use rechunk_zarr::GroupMetadata;

use crate::archive::{Archive, target_location};
use crate::consolidated::at_once;
use crate::error::store_error;
use crate::formats::{Documents, Format, Metadata, NewGroup, Node, node_in};
use crate::real_path::canonical;
use crate::{Error, Remedy};

/// Kind of a store that [`Store::read_only`] may name.
const ICECHUNK: &str = "an Icechunk repository";

/// Opens the target's place; nothing is created. A ZIP file is opened as it is, or where a run
/// builds it.
pub(crate) fn open_target(location: &str, stores: &Stores) -> Result<Store, Error> {
    if location.is_empty() {
        return Err(Error::Usage { message: "no target is named".to_owned(), hint: None });
    }
    let place = target_location(location);
    let store = stores.open(&place).map_err(|source| store_error("open", location, source))?;
    if Archive::of(location).is_none() {
        check_writable(location, &store)?;
    }
    Ok(store.with_role(Role::Target))
}

/// Refuses what is only read, and a ZIP file that a name asks for.
pub(crate) fn check_writable(location: &str, store: &Store) -> Result<(), Error> {
    let is_zip_name = |path: &Path| has_zip_name(path) && !path.is_dir();
    let asks_for_zip = store.local_root().is_some_and(|root| root.ancestors().any(is_zip_name));
    let (reason, hint) = match store.read_only() {
        Some("an HTTP server") => (
            "an HTTP server is only read".to_owned(),
            "write to a disk, or to the bucket behind it: s3://, gs://, az://",
        ),
        None if !asks_for_zip => return Ok(()),
        Some(what) if store.is_versioned() => (
            format!("{what} is only read"),
            "name a version by its number, `latest`, or `new` for one that is made",
        ),
        Some(what) if what == ICECHUNK => (
            format!("{what} is only read"),
            "write a Zarr store, which the icechunk package of Python can take in",
        ),
        Some(what) if what != "a ZIP file" => (
            format!("{what} is only read"),
            "write a directory of another name: what ends in .json, .parq or .parquet is taken for \
             references",
        ),
        _ => (
            "what is in a ZIP file stays as it is".to_owned(),
            "write a directory, or a ZIP file as a whole",
        ),
    };
    Err(Error::Usage {
        message: format!("cannot write {location}: {reason}"),
        hint: Some(hint.into()),
    })
}

/// Refuses a target that is the source, lies in it, or holds it, because the source is never
/// written to. An intermediate's place is checked likewise.
pub(crate) fn check_apart(source: &str, other: &str, what: &str) -> Result<(), Error> {
    let conflict = |reason: &str| Error::Conflict {
        location: other.to_owned(),
        reason: format!("{reason} {source}"),
        hint: Some(format!("choose another {what}").into()),
    };
    if other.is_empty() {
        return Ok(()); // none is named, which is refused elsewhere
    }
    let [a, b] = places(source, other);
    if a == b {
        Err(conflict("is the source"))
    } else if b.starts_with(&a) {
        Err(conflict("lies inside the source"))
    } else if a.starts_with(&b) {
        Err(conflict("contains the source"))
    } else {
        Ok(())
    }
}

/// True if two locations are one place.
pub(crate) fn is_same_place(a: &str, b: &str) -> bool {
    let [a, b] = places(a, b);
    a == b
}

/// Two locations as paths that compare as their places do.
fn places(a: &str, b: &str) -> [PathBuf; 2] {
    // A URL compares by its names, as a path does.
    let real = |location: &str| {
        canonical(location).unwrap_or_else(|| PathBuf::from(location.trim_end_matches('/')))
    };
    match remote_names(a, b) {
        Some(names) => names.map(PathBuf::from),
        None => [a, b].map(real),
    }
}

/// True if the local file `path` is at a local location or below it, by their real paths.
pub fn lies_in(path: &str, location: &str) -> bool {
    let real = canonical(path).zip(canonical(location));
    real.is_some_and(|(path, location)| path.starts_with(location))
}

/// Refuses one file where there are no files to be written in parts.
pub(crate) fn check_file(location: &str, store: &Store, target: &Metadata) -> Result<(), Error> {
    if target.file_name().is_none() || store.local_root().is_some() {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!(
            "cannot write {location}: an array that is one file has to be a local one"
        ),
        hint: Some("write it to a disk and upload it, or give --format zarr3".into()),
    })
}

/// Refuses a target where something is; `is_file`: it is to be one file.
pub(crate) async fn check_absent(
    location: &str,
    store: &Store,
    is_file: bool,
) -> Result<(), Error> {
    refuse_found(location, store, is_file, in_the_way(location, store, is_file).await).await
}

/// Obstacle at a target, in words; `None` if nothing is there.
pub(crate) type InTheWay = Result<Option<&'static str>, Error>;

/// [`check_absent`], when [`in_the_way`] was asked before.
pub(crate) async fn refuse_found(
    location: &str,
    store: &Store,
    is_file: bool,
    found: InTheWay,
) -> Result<(), Error> {
    let Some(reason) = found? else { return Ok(()) };
    let is_old_file = is_file && store.local_root().is_some_and(Path::is_file);
    let is_packed = store.archive().is_some();
    let is_array = is_old_file
        || is_packed && holds_node(store).await
        || !is_packed && matches!(what_is_at(store).await?, Some(Node::Array(_)));
    Err(Error::Conflict {
        location: location.to_owned(),
        reason: reason.to_owned(),
        hint: Some(if is_array { Remedy::Overwrite } else { "choose another target".into() }),
    })
}

/// Looks at what is at a target.
#[expect(clippy::disallowed_methods, reason = "what is no object of a store is in the way too")]
pub(crate) async fn in_the_way(location: &str, store: &Store, is_file: bool) -> InTheWay {
    if store.archive().is_some() {
        return Ok(Some("exists"));
    }
    if let Some(path) = store.local_root() {
        match std::fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Ok(found) if !found.is_dir() && !path.is_dir() => {
                return Ok(Some("exists and is a file"));
            }
            Ok(_) if is_file => {
                return Ok(Some("exists and is a directory, but the array is to be one file"));
            }
            // A directory is listed; what cannot be looked at is reported by listing it.
            Ok(_) | Err(_) => {}
        }
    }
    let empty = store.with_role(Role::Control).is_empty().await;
    let empty = empty.map_err(|source| store_error("look at", location, source))?;
    Ok((!empty).then_some("exists and is not empty"))
}

/// Refuses to replace what is no array of its own: a group with all its members, or somebody's
/// directory.
pub(crate) async fn check_replaceable(
    location: &str,
    store: &Store,
    is_file: bool,
) -> Result<(), Error> {
    if is_file && store.local_root().is_some_and(Path::is_file) {
        return Ok(());
    }
    let conflict = |reason: &str, hint: &str| Error::Conflict {
        location: location.to_owned(),
        reason: reason.to_owned(),
        hint: Some(hint.into()),
    };
    if store.archive().is_some() {
        if holds_node(store).await {
            return Ok(());
        }
        return Err(conflict(
            "holds no array or group of Zarr: no other file is replaced",
            "choose another target, or remove it yourself",
        ));
    }
    match what_is_at(store).await? {
        Some(Node::Array(_)) if !is_file => {}
        Some(Node::Group(_)) => {
            return Err(conflict(
                "is a group, which --overwrite does not replace",
                "name the array inside it",
            ));
        }
        Some(Node::Array(_)) => {
            return Err(conflict(
                "is an array in a directory, which --overwrite does not replace by one file",
                "choose another target, or remove it yourself",
            ));
        }
        None if store.local_root().is_some_and(Path::is_file) => {
            return Err(conflict(
                "is a file, which --overwrite does not replace by an array in a directory",
                "choose another target, or remove it yourself",
            ));
        }
        None => {
            return Err(conflict(
                "is not an array, and --overwrite replaces nothing else",
                "choose another target, or remove it yourself",
            ));
        }
    }
    Ok(())
}

/// True for a ZIP file of an array or group. One that cannot be read is somebody's.
pub(crate) async fn holds_node(store: &Store) -> bool {
    what_is_at(store).await.is_ok_and(|node| node.is_some())
}

/// Refuses a group where a run that is given up was to write an array: it was made since.
pub(crate) async fn check_no_group(location: &str, store: &Store) -> Result<(), Error> {
    match what_is_at(store).await? {
        Some(Node::Group(_)) => Err(Error::Conflict {
            location: location.to_owned(),
            reason: "holds an interrupted run, and has become a group since".to_owned(),
            hint: Some("move the group away, or choose another target".into()),
        }),
        Some(Node::Array(_)) | None => Ok(()),
    }
}

/// Refuses to go on with a run that was to write an array of these documents, saved, where there is
/// something else by now.
pub(crate) async fn check_still_its(
    location: &str,
    store: &Store,
    documents: &Documents,
) -> Result<(), Error> {
    let found = Documents::fetch(&store.with_role(Role::Control)).await;
    let found = found.map_err(|source| store_error("look at", location, source))?;
    if matches!(found.node(), Ok(None)) || found.identity() == documents.identity() {
        return Ok(());
    }
    Err(Error::Conflict {
        location: location.to_owned(),
        reason: "holds an interrupted run, and another array or group was written there since"
            .to_owned(),
        hint: Some("move that away, or choose another target".into()),
    })
}

/// True if there is a whole array at the target: its metadata is written last.
pub(crate) async fn is_array(store: &Store) -> Result<bool, Error> {
    if store.local_root().is_some_and(Path::is_file) {
        return Ok(true); // it got its name when it was whole
    }
    if store.archive().is_some() && !holds_node(store).await {
        return Ok(false);
    }
    let found = Documents::fetch(&store.with_role(Role::Control)).await;
    let found = found.map_err(|source| store_error("look at", store.label(), source))?;
    // What cannot be understood is there all the same.
    Ok(!matches!(found.node(), Ok(None | Some(Node::Group(_)))))
}

/// A group above a target that is to exist when that is committed.
#[derive(Debug)]
pub(crate) struct GroupAbove {
    place: Store,
    /// It was there when that was looked at.
    is_there: bool,
}

/// Groups above a target, outermost first, that are to exist when it is committed. They begin at
/// the outermost group that exists, or the nearest directory named like a container of the format,
/// and end at its parent. Refuses a place inside an array, or in a container of another format.
pub(crate) async fn groups_above(target: &Store, format: Format) -> Result<Vec<GroupAbove>, Error> {
    if target.is_volatile() {
        return Ok(Vec::new());
    }
    let failed = |source| store_error("look above", target.label(), source);
    let (mut places, mut container) = (Vec::new(), None);
    let mut place = target.with_role(Role::Control);
    while let Some((above, _)) = place.parent().map_err(failed)? {
        places.push(above.clone());
        let name = Path::new(above.label().trim_end_matches('/'));
        let ending = name.extension().and_then(|ending| ending.to_str());
        if ending.is_some() && ending == format.row().container_ending {
            container = Some(places.len());
            break;
        }
        place = above;
    }
    let mut groups = Vec::with_capacity(places.len());
    let looked_at = places.into_iter().map(|place| async move {
        let node = what_is_at(&place).await;
        (place, node)
    });
    let mut looked_at = stream::iter(looked_at).buffered(at_once(target));
    while let Some((place, node)) = looked_at.next().await {
        let node = node?;
        if let Some(node) = node {
            refuse_foreign(target.label(), place.label(), node, format)?;
            container = container.max(Some(groups.len() + 1));
        }
        groups.push(GroupAbove { place, is_there: node.is_some() });
    }
    groups.truncate(container.unwrap_or(0));
    groups.reverse();
    Ok(groups)
}

/// Kind of the node at a place; `None` if it is no array and no group.
async fn what_is_at(store: &Store) -> Result<Option<Node>, Error> {
    if let Some(path) = store.local_root() {
        return Ok(node_in(path));
    }
    let found = Documents::fetch_at_once(&store.with_role(Role::Control)).await;
    let found = match found {
        // Whoever may not look there has nothing there.
        Err(error) if error.is_permission_denied() => return Ok(None),
        found => found.map_err(|source| store_error("look at", store.label(), source))?,
    };
    Ok(match found.node() {
        Ok(node) => node,
        // What cannot be understood is there all the same, and may be a group: it is never
        // replaced.
        Err(_) => Some(Node::Group(found.document_format())),
    })
}

fn refuse_foreign(path: &str, ancestor: &str, node: Node, format: Format) -> Result<(), Error> {
    let conflict = |reason: String, hint: &str| {
        Err(Error::Conflict { location: path.to_owned(), reason, hint: Some(hint.into()) })
    };
    match node {
        Node::Array(_) => {
            conflict(format!("lies inside the array {ancestor}"), "choose a target outside it")
        }
        Node::Group(other) if other != format => conflict(
            format!("lies inside the {} group {ancestor}", other.name()),
            "give the same --format, or choose a target outside it",
        ),
        Node::Group(_) => Ok(()),
    }
}

/// Makes those of the directories above a target groups that are none yet; the outermost of N5 says
/// `n5_version`.
pub(crate) async fn create_groups(
    location: &str,
    groups: &[GroupAbove],
    format: Format,
    n5_version: N5Version,
) -> Result<(), Error> {
    let failed = |source| store_error("write the groups above", location, source);
    for (depth, GroupAbove { place: group, is_there }) in groups.iter().enumerate() {
        // Where answers take long the store is asked to look, if nothing was there before.
        let is_late = group.answers_late();
        if is_late && *is_there || !is_late && what_is_at(group).await?.is_some() {
            continue;
        }
        let n5_version = (depth == 0).then_some(n5_version);
        let created = create_group(group, format, n5_version).await;
        // Another copy into the same new container may have been first.
        if created.is_err() && what_is_at(group).await?.is_none() {
            created.map_err(failed)?;
        }
    }
    Ok(())
}

/// Makes a directory in which no documents are a group without attributes.
pub(crate) async fn create_group(
    place: &Store,
    format: Format,
    n5_version: Option<N5Version>,
) -> Result<(), StoreError> {
    let (group, needs_document, arrays) = (&GroupMetadata::default(), false, &[][..]);
    let new = NewGroup { group, n5_version, needs_document, arrays };
    let control = place.with_role(Role::Control);
    for (key, bytes) in (format.schema().group_documents)(&new) {
        if place.answers_late() {
            control.create(&key, bytes.into()).await?;
        } else {
            control.put_durable(&key, bytes).await?;
        }
    }
    Ok(())
}

/// Makes the array visible: groups above it first, its own metadata last, all durable.
pub(crate) async fn commit(
    location: &str,
    store: &Store,
    groups: &[GroupAbove],
    metadata: &Metadata,
    n5_version: N5Version,
) -> Result<(), Error> {
    create_groups(location, groups, metadata.format(), n5_version).await?;
    let failed = |source| store_error("write the metadata of", location, source);
    let control = store.with_role(Role::Control);
    for (key, bytes) in metadata.documents() {
        control.put_durable(&key, bytes).await.map_err(failed)?;
    }
    control.sync().await.map_err(failed)
}
