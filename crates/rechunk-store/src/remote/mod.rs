//! Stores that are reached over the network: S3, GCS, Azure, data sets of a server, and (read only)
//! HTTP.

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
mod retry_after;
mod true_status;
mod wire;

pub(crate) use address::{Address, Scheme};
pub(crate) use etag::{Body, Etags, md5_of};
pub(crate) use failure::{
    Failure, access_hint, answered, is_answered, is_denial, range_hint, retries,
};
pub(crate) use latency::{Latencies, Like};
pub(crate) use limiter::{Limiter, Permit};
pub use options::StoreOptions;
pub(crate) use wire::{attempts_of, read_like, with_attempts};

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::client::{HttpClient, HttpConnector};
use object_store::multipart::MultipartStore;

use crate::StoreError;
use crate::server_clock::ServerClock;
use crate::versioned::Versioned;
use wire::Connector;

/// Makes the connection of a store that has a client of plain requests.
pub(crate) type Connect =
    Box<dyn FnOnce(Arc<dyn ObjectStore>, Option<Arc<dyn Versioned>>) -> Remote>;

/// A connection to one bucket, container or server, shared by all that lies in it.
#[derive(Clone)]
pub(crate) struct Remote {
    pub(crate) inner: Arc<dyn ObjectStore>,
    /// Client for uploads in parts, where there are such.
    pub(crate) multipart: Option<Arc<dyn MultipartStore>>,
    pub(crate) limiter: Arc<Limiter>,
    pub(crate) clock: Arc<ServerClock>,
    pub(crate) etags: Arc<Etags>,
    /// The version that it is, of an array that is there.
    pub(crate) versioned: Option<Arc<dyn Versioned>>,
}

impl Remote {
    /// A client that was made elsewhere: it is asked as it is.
    pub(crate) fn brought(inner: Arc<dyn ObjectStore>, limiter: Arc<Limiter>) -> Self {
        let (clock, etags) = (Arc::default(), Arc::default());
        Self { inner, multipart: None, limiter, clock, etags, versioned: None }
    }

    /// Makes the clients for what `address` names. Nothing is sent.
    pub(crate) fn connect(address: &Address, options: &StoreOptions) -> Result<Self, StoreError> {
        let limiter = Limiter::new(options.concurrency());
        let clock = Arc::new(ServerClock::default());
        let connector = Connector::new((address.scheme, options.timeout()), &limiter, &clock);
        let (inner, multipart) = connect::connect(address, options, connector)?;
        Ok(Self { inner, multipart, limiter, clock, etags: Arc::default(), versioned: None })
    }

    /// Makes a client of plain requests to the server at `address`, and the connection that a store
    /// is which sends its requests by it. Nothing is sent.
    pub(crate) fn http(
        address: &Address,
        options: &StoreOptions,
    ) -> Result<(HttpClient, Connect), StoreError> {
        let limiter = Limiter::new(options.concurrency());
        let clock = Arc::new(ServerClock::default());
        let connector = Connector::new((address.scheme, options.timeout()), &limiter, &clock);
        let is_plain = address.root.contains("http://");
        let options = connect::client_options(&address.location(), options, is_plain);
        let client = connector.connect(&options).map_err(|error| {
            let reason = format!("the client cannot be set up: {error}");
            StoreError::refused_location(&address.root, &reason)
        })?;
        let remote = Box::new(move |inner, versioned| {
            let etags = Arc::default();
            Self { inner, multipart: None, limiter, clock, etags, versioned }
        });
        Ok((client, remote))
    }
}
