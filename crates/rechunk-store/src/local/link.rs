//! Directories that are symbolic links to others.

use std::io;
use std::path::PathBuf;

use crate::{Store, StoreError};

/// A symbolic link in place of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The path that it leads to, as it says.
    pub target: PathBuf,
    /// False if there is nothing there, as of a disk that is not mounted.
    pub leads_somewhere: bool,
}

impl Store {
    /// The symbolic link that its directory is; `None` if it is none, or not there.
    pub async fn link(&self) -> Result<Option<Link>, StoreError> {
        let Some(root) = self.local_root().map(ToOwned::to_owned) else { return Ok(None) };
        let look = move || {
            if !root.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                return Ok(None);
            }
            let leads_somewhere = match root.metadata() {
                Ok(_) => true,
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(error) => return Err(error),
            };
            Ok(Some(Link { target: root.read_link()?, leads_somewhere }))
        };
        self.moment("", "look at", 0, look).await
    }
}
