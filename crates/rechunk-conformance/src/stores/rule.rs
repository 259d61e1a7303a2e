use rechunk_store::{Store, StoreError};

use crate::Violation;
use crate::violation::ensure;

/// A violation where an operation fails that must not.
pub(super) fn failed(store: &Store, action: &str, error: &StoreError) -> Violation {
    Violation::new(format!("{} cannot {action}: {error}", store.label()))
}

/// A violation of `rule` unless it is so.
pub(super) fn holds(store: &Store, is_so: bool, rule: &str) -> Result<(), Violation> {
    ensure(is_so, || format!("{}: this does not hold: {rule}", store.label()))
}
