//! Names the format of a place that is not read here, and says what to do about it.
//!
//! Asked only where nothing of ours was found: a few small requests more do not matter then, and no
//! more than a few kilobytes of any object are read.

mod directories;
mod files;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rechunk_store::{End, Role, Store};

use crate::Error;
use files::LOOK_BYTES;

/// A format that is not read here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotOurs {
    /// Its name, with an article: `an HDF5 file`.
    name: &'static str,
    /// Advice for a user who has such data.
    hint: &'static str,
}

const REFERENCES: &str = "make references to what is in it with kerchunk or VirtualiZarr, and name these: rechunk reads \
                          them (.json, .parquet)";
const CONVERT: &str = "convert it to Zarr first, with a library that reads it";
const UNPACK: &str = "unpack it first, and name what was in it";
const ICECHUNK: &str = "name a version behind it: REPOSITORY#branch=main, #tag=NAME or #snapshot=ID (then what is in it: \
                        #branch=main/PATH); where its name ends in .icechunk, main is read without that";
const ICECHUNK_FILE: &str = "name the repository that it is in";
const WEBKNOSSOS: &str =
    "convert it to Zarr first, e.g. with `webknossos convert` of the webknossos package of Python";

impl NotOurs {
    const fn new(name: &'static str, hint: &'static str) -> Self {
        Self { name, hint }
    }

    /// The error that `what` (of `location`) is such a thing.
    pub(crate) fn error(self, location: &str, what: &str) -> Error {
        Error::NotAnArray {
            location: location.to_owned(),
            reason: format!("{what} is {}, which rechunk does not read", self.name),
            hint: Some(self.hint.into()),
        }
    }
}

/// The format of a file of which these are the first bytes.
pub(crate) fn of_bytes(first: &[u8]) -> Option<NotOurs> {
    files::of_bytes(first)
}

/// Error that names the format at `location`; `None` if nobody knows it.
pub(crate) async fn recognise(location: &str, store: &Store) -> Option<Error> {
    let store = store.with_role(Role::Control);
    if let Some(found) = file_at(&store).await {
        return Some(found.error(location, "it"));
    }
    directories::at(&store).await.map(|found| found.error(location, "it"))
}

/// The format of a directory in which no array was found, as an error; `None` if nobody knows it.
pub(crate) async fn recognise_contents(location: &str, store: &Store) -> Option<Error> {
    let store = store.with_role(Role::Control);
    directories::of_what_is_in(&store).await.map(|found| found.error(location, "it"))
}

/// The format of the file that the place itself is.
async fn file_at(store: &Store) -> Option<NotOurs> {
    if store.local_root().is_some_and(|root| !root.is_file()) || store.archive().is_some() {
        return None;
    }
    let (folder, name) = store.parent().ok()??;
    first_bytes(&folder, &name).await.and_then(|bytes| of_bytes(&bytes))
}

/// That a path of this machine leads through a file, and what that is; `None` if it does not, or
/// nobody knows the file.
#[expect(clippy::disallowed_methods, reason = "a file above a location is no object of a store")]
pub(crate) fn leads_through(location: &str) -> Option<Error> {
    let above =
        Path::new(location).ancestors().skip(1).find(|path| path.symlink_metadata().is_ok());
    let path = above.filter(|path| path.is_file())?;
    let mut first = Vec::new();
    File::open(path).ok()?.take(LOOK_BYTES).read_to_end(&mut first).ok()?;
    of_bytes(&first).map(|found| found.error(location, &path.display().to_string()))
}

/// The first bytes of an object; `None` where there is none that can be read.
async fn first_bytes(store: &Store, key: &str) -> Option<Vec<u8>> {
    if store.local_root().is_some_and(|root| !root.join(key).is_file()) {
        return None; // a pipe would let one wait
    }
    let found = store.get_end(key, End::First, LOOK_BYTES).await.ok()??;
    Some(found.0.to_vec())
}
