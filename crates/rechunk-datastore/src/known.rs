use crate::{Dataset, DatastoreError};

/// A data set, and the versions it has, lowest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// The data set.
    pub dataset: Dataset,
    /// Numbers of its versions.
    pub versions: Vec<u64>,
}

impl Known {
    /// The highest version.
    pub fn latest(&self) -> Result<u64, DatastoreError> {
        let latest = self.versions.last().copied();
        latest.ok_or_else(|| DatastoreError::Unknown("the data set has no version".to_owned()))
    }

    /// True if there is the version `number`.
    pub fn has(&self, number: u64) -> bool {
        self.versions.contains(&number)
    }
}
