use std::fmt::Debug;
use std::io;

use async_trait::async_trait;

/// How what an `object_store` has answered for becomes durable, where its answer alone does not
/// mean that: a cache in front of a store, or a disk.
#[async_trait]
pub trait Durability: Debug + Send + Sync {
    /// Returns when everything that was put before the call would survive a power cut.
    async fn sync(&self) -> io::Result<()>;
}
