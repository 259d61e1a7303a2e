//! Spaces in memory that have a name, shared by the whole process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use object_store::memory::InMemory;

static NAMED: Mutex<BTreeMap<String, Arc<InMemory>>> = Mutex::new(BTreeMap::new());

/// The space called `name`, made when it is first asked for; it lives until the process ends.
pub(crate) fn named(name: &str) -> Arc<InMemory> {
    // A panic elsewhere cannot leave the map half-changed.
    let mut spaces = NAMED.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(spaces.entry(name.to_owned()).or_default())
}
