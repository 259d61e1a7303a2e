//! Contract of a place that is one version of an array which is there before anything is written.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::StoreError;

/// Place whose array is described by somebody else: its elements are read and written, and its
/// shape, chunks and type stay.
#[async_trait]
pub(crate) trait Versioned: Debug + Send + Sync {
    /// Returns the reason why nothing can be written to it, if there is one: its kind, for people.
    fn read_only(&self) -> Option<&'static str>;

    /// True if it is a version that is still to be made: there is nothing to be read.
    fn is_new(&self) -> bool;

    /// Returns a name of the version whose blocks it has; `None` for one that is still to be made.
    /// Places of one name have the same blocks.
    async fn version_name(&self) -> Result<Option<String>, StoreError>;

    /// Makes the version that a location asks for as a new one; returns the location of it.
    async fn make(&self) -> Result<String, StoreError>;
}
