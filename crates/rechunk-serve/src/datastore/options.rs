use std::num::NonZeroU32;
use std::time::Duration;

use crate::tokens::TokenFile;

/// Settings of a server of data sets.
#[derive(Debug)]
pub struct DatastoreOptions {
    /// The URL that clients reach the server by, where neither `Host` nor the headers of a proxy
    /// say it.
    pub base_url: Option<String>,
    /// True if clients reach the server by TLS: what they are led to begins with `https`.
    pub is_tls: bool,
    /// Tokens and their rights; `None`: everybody may do everything that the datastore allows.
    pub tokens: Option<TokenFile>,
    /// Most requests in a second of a token, or without tokens of an address; `None`: any number.
    pub rate: Option<NonZeroU32>,
    /// Most bytes of a request's body.
    pub body_bytes_max: u64,
    /// Bytes of bodies that are held at once; further ones wait.
    pub upload_bytes: u64,
    /// Bytes of blocks that are held at once to be sent; further ones wait.
    pub download_bytes: u64,
    /// Time in which a client has to send some bytes of a body.
    pub stall_time: Duration,
    /// Time in which a body has to be there.
    pub body_time: Duration,
}

impl Default for DatastoreOptions {
    fn default() -> Self {
        Self {
            base_url: None,
            is_tls: false,
            tokens: None,
            rate: None,
            body_bytes_max: 32 << 20,
            upload_bytes: 64 << 20,
            download_bytes: 96 << 20,
            stall_time: Duration::from_secs(30),
            body_time: Duration::from_mins(10),
        }
    }
}
