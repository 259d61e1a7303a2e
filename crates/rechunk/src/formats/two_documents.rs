//! Places with the documents of two formats. A store may be half moved from Zarr v2 to v3, or a
//! converter may have given each node of an N5 a `zarr.json`.
//!
//! Members of a group are read in the format the group is read in. At the place that was named
//! itself N5 goes first, whose blocks these are: a container that says its version, or a
//! `zarr.json` that says that it stands for what `attributes.json` describes. Else the newest that
//! can be read counts.

use rechunk_format::FormatError;
use rechunk_store::{Store, StoreError};

use crate::formats::{Documents, Format, Node, Wanted, has_ending};
use crate::open::OpenOptions;

/// The formats that a place may have documents of beside those of others, the newest first.
fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| format.has_groups())
}

impl OpenOptions {
    /// The documents that count.
    pub(crate) fn wanted(&self) -> Wanted {
        match (self.source_format, self.reached_as) {
            (Some(format), _) => Wanted::Only(format),
            (None, Some(format)) => Wanted::First(format),
            (None, None) => Wanted::Newest,
        }
    }
}

/// Those that count at `location`, where `found` are the newest, and how to find them again.
pub(crate) async fn decide(
    found: Documents,
    location: &str,
    store: &Store,
    wanted: Wanted,
) -> Result<(Documents, Wanted), StoreError> {
    let is_first = found.main_key().is_some() && found.document_format().is_looked_for_first();
    if !is_first || matches!(wanted, Wanted::Only(_)) {
        return Ok((found, wanted));
    }
    if wanted == Wanted::Newest
        && let Some(n5) = of_n5(&found, location, store).await?
    {
        return Ok((n5, Wanted::Only(Format::N5)));
    }
    if check_readable(&found).is_ok() {
        return Ok((found, wanted));
    }
    for format in formats().filter(|format| !format.is_looked_for_first()) {
        let other = Documents::fetch_of(store, format).await?;
        if other.main_key().is_some() && check_readable(&other).is_ok() {
            return Ok((other, Wanted::Only(format)));
        }
    }
    Ok((found, wanted))
}

/// The documents of N5, where those of Zarr v3 only stand for them.
async fn of_n5(
    found: &Documents,
    location: &str,
    store: &Store,
) -> Result<Option<Documents>, StoreError> {
    let is_group = matches!(found.node(), Ok(Some(Node::Group(_))));
    let stands_for_n5 = found.stands_for_n5();
    let is_in_n5 = location.split('/').any(|name| has_ending(name, "n5"));
    // One more file is little beside a group; a web server may have its own mind about its name.
    let may_be = stands_for_n5 || is_in_n5 || (is_group && store.can_list());
    if !may_be {
        return Ok(None);
    }
    let n5 = Documents::fetch_of(store, Format::N5).await?;
    let is_dataset = matches!(n5.node(), Ok(Some(Node::Array(_))));
    let is_n5 = if is_group {
        n5.says_n5_version() || (stands_for_n5 && n5.main_key().is_some() && !is_dataset)
    } else {
        is_dataset && (stands_for_n5 || is_in_n5)
    };
    Ok(is_n5.then_some(n5))
}

/// An error if nothing that is read is there.
fn check_readable(documents: &Documents) -> Result<(), FormatError> {
    match documents.node()? {
        Some(Node::Array(_)) => match documents.array(None)? {
            Some(metadata) => metadata.layout().map(drop),
            None => Ok(()),
        },
        _ => documents.group().map(drop),
    }
}

/// A sentence for each other format that a place of `format` has the document of.
pub(crate) async fn others(store: &Store, format: Format) -> Result<Vec<String>, StoreError> {
    let mut sentences = Vec::new();
    for other in formats().filter(|other| *other != format) {
        let documents = Documents::fetch_of(store, other).await?;
        // A document that is nothing by itself says nothing.
        let is_node = !matches!(documents.node(), Ok(None));
        if let Some(key) = documents.main_key().filter(|_| is_node) {
            let name = other.name();
            sentences.push(format!("also has {key}: read with --source-format {name}"));
        }
    }
    Ok(sentences)
}
