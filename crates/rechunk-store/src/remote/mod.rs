//! Stores that are reached over the network: S3, GCS, Azure and (read only) HTTP.

mod address;
mod aws_files;
mod connect;
mod credentials;
mod failure;
mod limiter;
mod options;
mod wire;

pub(crate) use address::{Address, Scheme};
pub(crate) use failure::{Failure, access_hint, is_denial, range_hint, retries};
pub(crate) use limiter::{Limiter, Permit};
pub use options::StoreOptions;
pub(crate) use wire::attempts_of;

use std::sync::Arc;

use object_store::ObjectStore;

use crate::StoreError;

/// A connection to one bucket, container or server, shared by all that lies in it.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(crate) inner: Arc<dyn ObjectStore>,
    pub(crate) limiter: Arc<Limiter>,
}

impl Remote {
    /// Makes the clients for what `address` names. Nothing is sent.
    pub(crate) fn connect(address: &Address, options: &StoreOptions) -> Result<Self, StoreError> {
        let limiter = Limiter::new(options.concurrency());
        let inner = connect::connect(address, options, &limiter)?;
        Ok(Self { inner, limiter })
    }
}
