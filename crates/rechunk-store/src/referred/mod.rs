//! Bytes that lie elsewhere than the keys that lead to them: of references, and of repositories.

pub(crate) mod cache;
pub(crate) mod files;
pub(crate) mod found;
pub(crate) mod read;
pub(crate) mod shared;

use self::files::{Base, Files};
use crate::connections::Connections;

/// Opens and reads what keys lead to.
#[derive(Debug)]
pub(crate) struct Referred {
    files: Files,
}

impl Referred {
    /// Reads files whose names are relative to `base`, through `connections`.
    pub(crate) fn new(base: Base, connections: Connections) -> Self {
        Self { files: Files::new(base, connections) }
    }

    /// Whether the file named `url` is reached over a network.
    pub(crate) fn is_remote(&self, url: &str) -> bool {
        self.files.is_remote(url)
    }
}
