use std::fmt::Debug;
use std::io;

use async_trait::async_trait;

/// Durability of puts that an `object_store` has answered for, where its answer alone does not mean
/// it: behind a cache, or on a disk.
#[async_trait]
pub trait Durability: Debug + Send + Sync {
    /// Returns when everything that was put before the call would survive a power cut.
    async fn sync(&self) -> io::Result<()>;
}
