//! Places that are in use, shared by all who open them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::StoreError;

/// Places by name: what is read of one is read once, and let go with the last who uses it.
pub(crate) struct Shared<T>(Mutex<BTreeMap<String, Weak<T>>>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Shared")
    }
}

impl<T> Shared<T> {
    /// Returns the place called `name` that is in use, or else what `make` makes.
    pub(crate) fn get_or_make(
        &self,
        name: &str,
        make: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<Arc<T>, StoreError> {
        // A panic elsewhere cannot leave the map half-changed.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = known.get(name).and_then(Weak::upgrade) {
            return Ok(place);
        }
        let place = Arc::new(make()?);
        known.retain(|_, place| place.strong_count() > 0);
        known.insert(name.to_owned(), Arc::downgrade(&place));
        Ok(place)
    }
}
