//! Opens the array that a source goes into.

use rechunk_format::ShardFormat;
use rechunk_store::{Role, Stores};

use super::Change;
use crate::chunk_keys;
use crate::error::store_error;
use crate::formats::{Documents, Fact};
use crate::open::{OpenArray, OpenOptions, Opened, open_node};
use crate::request::CopyRequest;
use crate::target::open_target;
use crate::{Error, Remedy};

/// Opens the array at the target, and the documents that say its shape.
pub(crate) async fn open_existing(
    request: &CopyRequest,
    stores: &Stores,
) -> Result<(OpenArray, Change), Error> {
    let location = &request.target;
    let store = open_target(location, stores)?;
    let wants_names = request.names_axes();
    let options = OpenOptions { axes: request.axes, wants_names, ..OpenOptions::default() };
    let opened = open_node(location, &options, &store).await;
    let opened = opened.map_err(|error| match error {
        Error::NotAnArray { reason, .. } if request.apply.is_some() => {
            conflict(location, &format!("is not an array: {reason}"), "write a new one first")
        }
        error => of_target(location, error),
    });
    let array = match opened? {
        Opened::Array(array) => *array,
        Opened::Group(..) => {
            let hint = "name the array inside it";
            return Err(conflict(location, "is a group, and the source is one array", hint));
        }
    };
    let format = array.metadata.format();
    let is_updated = request.apply.is_some() && format.has(Fact::InPlace);
    if !format.has(Fact::Growth) && !is_updated {
        let article = format.row().with_article;
        return Err(Error::Usage {
            message: format!("{location}: nothing can be put into {article} array that is there"),
            hint: Some("copy it to Zarr or N5, which can grow".into()),
        });
    }
    let array = if is_updated { in_place(location, array).await? } else { array };
    if array.described_by.is_some() {
        let reason = "is only described by consolidated metadata, and has none of its own";
        return Err(conflict(location, reason, "copy it anew"));
    }
    if array.spec().edges.is_some() && request.apply.is_some() {
        let reason = "has chunks that differ in length, which an operation does not write";
        return Err(conflict(location, reason, "copy it with --chunks, and update the copy"));
    }
    let control = store.with_role(Role::Control);
    let documents = Documents::fetch_wanted(&control, array.wanted).await;
    let documents = documents.map_err(|source| store_error("read", location, source))?;
    if documents.identity() != array.identity {
        let reason = "was changed by somebody while it was looked at";
        return Err(conflict(location, reason, "run again: then what was written is seen"));
    }
    let change = Change::of(location, &documents)?;
    Ok((array, change))
}

/// The array as its objects are named, if chunks of it can be written one by one.
async fn in_place(location: &str, array: OpenArray) -> Result<OpenArray, Error> {
    let (array, _) =
        chunk_keys::settled(array).await.map_err(|error| of_target(location, error))?;
    if array.array.layout().shards().is_some_and(ShardFormat::is_scattered) {
        let reason = "has shards that hold chunks from anywhere, which are not written";
        return Err(conflict(location, reason, "copy it, with other shards or none"));
    }
    if array.metadata.is_lossy() {
        let reason = "loses what is written to it: its chunks are only copied as they are";
        return Err(conflict(location, reason, "write a new array, of another encoding"));
    }
    Ok(array)
}

fn conflict(location: &str, reason: &str, hint: impl Into<Remedy>) -> Error {
    Error::Conflict {
        location: location.to_owned(),
        reason: reason.to_owned(),
        hint: Some(hint.into()),
    }
}

/// An error of reading as one of the target.
pub(crate) fn of_target(location: &str, error: Error) -> Error {
    match error {
        Error::NotAnArray { reason, .. } => conflict(
            location,
            &format!("is not an array: {reason}"),
            "without --append or --region a new one is written",
        ),
        Error::SourceMetadata { source, .. } => {
            conflict(location, &format!("has metadata that cannot be used: {source}"), "repair it")
        }
        Error::SourceStore { source, .. } => store_error("read", location, *source),
        other => other,
    }
}
