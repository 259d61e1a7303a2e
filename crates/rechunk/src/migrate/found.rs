//! The array or group at the place of a migration, as its old documents say it.

use rechunk_store::{Role, Store};
use rechunk_zarr::GroupMetadata;

use super::request::MigrateRequest;
use crate::Error;
use crate::axes::Axes;
use crate::formats::{Documents, Fact, Format, Node, Wanted};
use crate::open::{OpenOptions, open_node};
use crate::tree::Found;

/// The place of a migration.
#[derive(Debug)]
pub(super) struct Place {
    pub location: String,
    pub store: Store,
    /// The format of the old documents.
    pub from: Format,
    /// The root has some.
    pub has_old: bool,
    pub to: Format,
    pub root: Root,
}

/// Array or group at the place.
#[derive(Debug)]
pub(super) enum Root {
    Array,
    Group(Box<GroupMetadata>, Box<Found>),
    /// It is in the new format, and nothing is left of the old one.
    Done,
}

impl Place {
    /// Looks at the place of `request`, in `store`.
    pub(super) async fn look(request: &MigrateRequest, store: &Store) -> Result<Self, Error> {
        let location = &request.location;
        let (to, olds) = (request.to, old_formats(request)?);
        let store = store.with_role(Role::Control);
        let (from, has_old, documents) = match old_documents(location, &olds, &store).await? {
            Some((format, documents)) => (format, true, documents),
            None => (olds[0], false, new_documents(request, &olds, &store).await?),
        };
        let place = |root| Self {
            location: location.clone(),
            store: store.clone(),
            from,
            has_old,
            to,
            root,
        };
        let invalid = |error| Error::source_metadata(location, error);
        if let Some(Node::Array(_)) = documents.node().map_err(invalid)? {
            return Ok(place(if has_old { Root::Array } else { Root::Done }));
        }
        let group = documents.group().map_err(invalid)?;
        // A run that was to remove the old documents has begun with those of the root.
        let format = if has_old { from } else { to };
        let mut found = Found::below(location, &store, format, Wanted::First(from)).await?;
        found.unreadable.append(&mut found.unreadable_groups);
        let arrays = std::mem::take(&mut found.arrays);
        found.add_groups_between(arrays.iter());
        found.arrays = arrays;
        Ok(place(Root::Group(Box::new(group), Box::new(found))))
    }

    /// Options for opening an array at it, or below it.
    pub(super) fn open_options(&self, is_member: bool) -> OpenOptions {
        let format = self.from;
        OpenOptions {
            axes: axes_over(format),
            source_format: Some(format).filter(|_| !is_member),
            reached_as: Some(format).filter(|_| is_member),
            is_member,
            ..OpenOptions::default()
        }
    }
}

/// Order of the axes over the same chunks: that of the keys of those.
pub(super) fn axes_over(format: Format) -> Option<Axes> {
    format.has(Fact::FastestFirst).then_some(Axes::Keep)
}

/// Formats whose chunks documents of `to` can lie over, in the order in which they are looked for.
fn old_formats(request: &MigrateRequest) -> Result<Vec<Format>, Error> {
    let all = request.to.lies_over();
    let asked = |format: &Format| request.source_format.is_none_or(|asked| asked == *format);
    let olds: Vec<Format> = all.iter().copied().filter(asked).collect();
    if !olds.is_empty() {
        return Ok(olds);
    }
    let from = request.source_format.map_or_else(String::new, |from| format!("{} ", from.name()));
    Err(Error::Usage {
        message: format!("{from}cannot become {} in place", request.to.name()),
        hint: Some(
            "zarr2 and n5 become zarr3, and zarr3 becomes zarr2; a copy writes any other format"
                .into(),
        ),
    })
}

/// The documents of the first of the old formats that has some.
async fn old_documents(
    location: &str,
    olds: &[Format],
    store: &Store,
) -> Result<Option<(Format, Documents)>, Error> {
    for format in olds {
        let documents = Documents::fetch_of(store, *format).await;
        let documents = documents.map_err(|error| {
            if error.is_not_a_directory() {
                return not_of(location, "a directory of documents and chunks, but a file");
            }
            Error::source_store(location, error)
        })?;
        if documents.main_key().is_some() {
            return Ok(Some((*format, documents)));
        }
    }
    // Some writers give the root of a container no document.
    let bare = Format::of_bare_container(location).filter(|format| olds.contains(format));
    let Some(bare) = bare else { return Ok(None) };
    let is_there = store.exists_anything().await;
    let is_there = is_there.map_err(|error| Error::source_store(location, error))?;
    Ok(is_there.then(|| (bare, Documents::default())))
}

/// The documents of the new format, where there are none of an old one; an error where there are
/// none either.
async fn new_documents(
    request: &MigrateRequest,
    olds: &[Format],
    store: &Store,
) -> Result<Documents, Error> {
    let location = &request.location;
    let documents = Documents::fetch_of(store, request.to).await;
    let documents = documents.map_err(|error| Error::source_store(location, error))?;
    if documents.main_key().is_some() && !request.undo {
        return Ok(documents);
    }
    let names: Vec<&str> = olds.iter().map(|format| format.name()).collect();
    if documents.main_key().is_some() {
        return Err(Error::Conflict {
            location: location.clone(),
            reason: format!("has no documents of {} to go back to", names.join(" or ")),
            hint: Some(
                "a migration to that format writes some, where the keys of chunks allow".into(),
            ),
        });
    }
    open_node(location, &OpenOptions::default(), store).await?;
    Err(not_of(location, &format!("in the format {}", names.join(" or "))))
}

/// The error of a place that has another format than a migration can begin with.
fn not_of(location: &str, wanted: &str) -> Error {
    Error::Usage {
        message: format!("{location} is not {wanted}"),
        hint: Some("a copy writes any other format".into()),
    }
}
