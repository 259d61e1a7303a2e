//! Entry of the log for one request.

use std::time::Instant;

use crate::Fault;

/// Operation of a request, whatever the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// The object, or a range of it.
    Get,
    /// Metadata of the object, without its bytes.
    Head,
    /// A whole object is written.
    Put,
    /// An object is written from another one.
    Copy,
    /// One object is deleted.
    Delete,
    /// A list of objects is deleted.
    DeleteMany,
    /// Keys below a prefix.
    List,
    /// A multipart upload begins.
    CreateUpload,
    /// A part of a multipart upload.
    UploadPart,
    /// A multipart upload becomes an object.
    CompleteUpload,
    /// A multipart upload is given up.
    AbortUpload,
    /// Anything else: buckets, parts of an upload, unknown methods.
    Other,
}

impl Operation {
    /// Whether it changes what is stored.
    pub fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::Head | Self::List | Self::Other)
    }
}

/// One request as the server saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRecord {
    /// 1 for the first request since the server was started; never reset.
    pub number: u64,
    /// `GET`, `PUT`, …
    pub method: String,
    /// The bucket, empty where there is none.
    pub bucket: String,
    /// The key, decoded; empty for a request to a bucket.
    pub key: String,
    /// The query string as sent, empty if there was none.
    pub query: String,
    /// Operation of the request.
    pub operation: Operation,
    /// The `Range` header as sent.
    pub range: Option<String>,
    /// The status that was sent; `None` if no answer was begun.
    pub status: Option<u16>,
    /// Bytes of the request's body that were received.
    pub request_body_bytes: u64,
    /// Bytes of the answer's body that were handed to the connection.
    pub response_body_bytes: u64,
    /// Fault that was done on purpose; `None` if the request was served truthfully.
    pub fault: Option<Fault>,
    /// Number of times it was executed: 0 if a fault stood before it, 2 if it was delivered twice.
    pub executions: u32,
    /// When its head had arrived.
    pub started: Instant,
    /// When its answer was handed to the connection, or given up; `None` while it is in flight.
    pub ended: Option<Instant>,
}
