//! The part of a server that differs between protocols; faults, log and sockets are the same for
//! all.

use std::time::Duration;

use bytes::Bytes;
use futures::future::BoxFuture;
use hyper::http::request::Parts;
use hyper::{Request, Response};

use crate::Operation;
use crate::body::{BoxError, PlainBody};

/// Object and operation of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) bucket: String,
    pub(crate) key: String,
    pub(crate) operation: Operation,
}

/// Asks, as an extension of a request for a list, for the state of that long ago.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AsOf(pub(crate) Duration);

/// A store behind HTTP that answers truthfully.
pub(crate) trait Backend: Send + Sync + 'static {
    /// Finds the subject of a request, from its head alone.
    fn subject(&self, head: &Parts) -> Subject;

    /// Executes the request. An error closes the connection.
    fn answer(
        &self,
        subject: Subject,
        request: Request<Bytes>,
    ) -> BoxFuture<'_, Result<Response<PlainBody>, BoxError>>;
}
