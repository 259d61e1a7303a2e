//! Contract of a place that does not ask a client of `object_store`, but reads its objects itself
//! in other stores.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::ObjectMeta;

use crate::StoreError;
use crate::view::View;
use crate::wanted::Wanted;

/// Place that is only read, in its own way. Requests are counted in the meter of the `view` they
/// are made in, and keys are below its prefix. Its futures are boxed: what every read of a store is
/// made of does not become larger by what few do.
#[async_trait]
pub(crate) trait Backend: Debug + Send + Sync {
    /// Returns the kind of the place, for people.
    fn what(&self) -> &'static str;

    /// Returns true if many requests are to be in flight, as far as is known.
    fn answers_late(&self) -> bool;

    /// Returns a sentence for people, if there is something that cannot be read.
    async fn warning(&self) -> Result<Option<String>, StoreError>;

    /// Returns `location`, which leads to the place, such that it stays at the state that is read.
    /// `None` if there is no such location, or it does already.
    async fn fixed_location(&self, _: &str) -> Result<Option<String>, StoreError> {
        Ok(None)
    }

    /// Reads what is wanted of an object into `buffer`, which gets room for `room_bytes` if it has
    /// to grow. Returns the size of the object, or `None` if there is none.
    async fn read(
        &self,
        view: &View,
        key: &str,
        wanted: Wanted<'_>,
        room_bytes: u64,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<u64>, StoreError>;

    /// Returns metadata of an object, without its bytes; `None` if there is none.
    async fn look_at(&self, view: &View, key: &str) -> Result<Option<ObjectMeta>, StoreError>;

    /// Lists the key, below the place, and the size of every object below it.
    fn list(self: Arc<Self>, view: &View) -> BoxStream<'static, Result<(String, u64), StoreError>>;

    /// Lists names of what has objects below it, directly below the place.
    async fn list_directories(&self, view: &View) -> Result<Vec<String>, StoreError>;
}
