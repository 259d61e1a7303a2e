//! Arrays in a directory of block files: all of them there, and of the right size?

use futures::TryStreamExt;
use rechunk_raw::RawMetadata;
use rechunk_store::{Role, Store};

use super::single_file::wrong_size;
use crate::Error;

/// Refuses an array of which a block is missing, too short or too long: every element has to be
/// stored.
pub(crate) async fn check_blocks(
    location: &str,
    metadata: &RawMetadata,
    store: &Store,
) -> Result<(), Error> {
    let Some(template) = metadata.key_template() else { return Ok(()) };
    let failed = |source| Error::source_store(location, source);
    let grid_error = |error| Error::source_grid(location, &error);
    let (spec, runs) = (&metadata.spec, metadata.runs());
    let grid = runs.grid(spec).map_err(grid_error)?;
    let control = store.with_role(Role::Control);
    let mut keys = control.list("");
    let mut found = 0_u64;
    while let Some((key, size_bytes)) = keys.try_next().await.map_err(failed)? {
        let index = template.index(&key, grid.rank()).filter(|index| grid.contains(index));
        let Some(index) = index else { continue };
        let wanted = metadata.file_bytes(&index).map_err(grid_error)?;
        if size_bytes != wanted {
            return Err(wrong_size(location, &key, size_bytes, wanted));
        }
        found += 1;
    }
    if found == grid.count() {
        return Ok(());
    }
    for index in grid.indices().positions() {
        let key = template.key(&index);
        if !control.exists(&key).await.map_err(failed)? {
            return Err(Error::NotAnArray {
                location: location.to_owned(),
                reason: format!(
                    "{key} is missing: {found} of {} block files are there",
                    grid.count()
                ),
                hint: Some("every block of a raw array has to be there".into()),
            });
        }
    }
    Ok(())
}
