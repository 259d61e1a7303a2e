//! Stores that are reached over the network: S3, GCS, Azure and (read only) HTTP.

mod address;
mod aws_files;
mod connect;
mod credentials;
mod etag;
mod failure;
mod hedge;
mod latency;
mod limiter;
mod listing_page;
mod options;
mod true_status;
mod wire;

pub(crate) use address::{Address, Scheme};
pub(crate) use etag::{Body, Etags, md5_of};
pub(crate) use failure::{Failure, access_hint, is_denial, range_hint, retries};
pub(crate) use latency::{Latencies, Like};
pub(crate) use limiter::{Limiter, Permit};
pub use options::StoreOptions;
pub(crate) use wire::{attempts_of, read_like, with_attempts};

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::multipart::MultipartStore;

use crate::StoreError;
use crate::server_clock::ServerClock;
use wire::Connector;

/// A connection to one bucket, container or server, shared by all that lies in it.
#[derive(Clone)]
pub(crate) struct Remote {
    pub(crate) inner: Arc<dyn ObjectStore>,
    /// Client for uploads in parts, where there are such.
    pub(crate) multipart: Option<Arc<dyn MultipartStore>>,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) clock: Arc<ServerClock>,
    pub(crate) etags: Arc<Etags>,
}

impl Remote {
    /// A client that was made elsewhere: it is asked as it is.
    pub(crate) fn brought(inner: Arc<dyn ObjectStore>, limiter: Arc<Limiter>) -> Self {
        Self { inner, multipart: None, limiter, clock: Arc::default(), etags: Arc::default() }
    }

    /// Makes the clients for what `address` names. Nothing is sent.
    pub(crate) fn connect(address: &Address, options: &StoreOptions) -> Result<Self, StoreError> {
        let limiter = Limiter::new(options.concurrency());
        let clock = Arc::new(ServerClock::default());
        let connector = Connector::new((address.scheme, options.timeout()), &limiter, &clock);
        let (inner, multipart) = connect::connect(address, options, connector)?;
        Ok(Self { inner, multipart, limiter, clock, etags: Arc::default() })
    }
}
