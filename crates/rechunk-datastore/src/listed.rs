//! The data sets that there are.

use crate::datastore::KNOWN;
use crate::{Datastore, DatastoreError};

impl Datastore {
    /// Names of known data sets behind `after` in the order of names, at most `count`.
    pub async fn names(
        &self,
        after: Option<&str>,
        count: usize,
    ) -> Result<Vec<String>, DatastoreError> {
        let files = self.root.list_level(KNOWN).await?.files;
        let mut names: Vec<String> = files.into_iter().map(|file| file.name).collect();
        names.sort_unstable();
        names.retain(|name| after.is_none_or(|after| name.as_str() > after));
        names.truncate(count);
        Ok(names)
    }
}
