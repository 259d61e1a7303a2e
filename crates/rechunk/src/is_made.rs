//! Whether a version of a data set that is to be read is there.

use rechunk_store::Store;

use crate::Error;

/// Refuses to read a version that is still to be made.
pub(crate) fn check_is_made(location: &str, store: &Store) -> Result<(), Error> {
    if !store.is_new_version() {
        return Ok(());
    }
    Err(Error::Usage {
        message: format!("{location}: `new` is a version that is written"),
        hint: Some("read a number, `latest` or `mixedLatest`".into()),
    })
}
