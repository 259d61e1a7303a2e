//! Ranges of objects that may be missing.

use bytes::Bytes;

use crate::wanted::Wanted;
use crate::{Store, StoreError};

impl Store {
    /// [`Store::get_range`] of an object that may be missing, then `None`; and its size.
    pub async fn get_range_if_there(
        &self,
        key: &str,
        start: u64,
        length: u64,
    ) -> Result<Option<(Bytes, u64)>, StoreError> {
        let mut bytes = Vec::new();
        let found = self.read(key, Wanted::Range { start, length }, length, &mut bytes).await?;
        Ok(found.map(|size| (Bytes::from(bytes), size)))
    }
}
