//! The datastore without HTTP.
#![expect(clippy::disallowed_methods, reason = "tests look at files")]

#[cfg(test)]
mod following;
