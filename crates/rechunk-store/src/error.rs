use std::error::Error;
use std::{fmt, io};

use thiserror::Error;

use crate::datastore::{is_missing_dataset, token_hint};
use crate::remote::{Failure, access_hint, is_denial, range_hint, retries};

/// Any error below this crate.
type Source = Box<dyn Error + Send + Sync>;

/// Why a location cannot be opened or an object not be moved.
///
/// The text is one sentence: what failed, on which key, where, why and, where one is known, what
/// to do. It already holds the last cause of the chain; `source()` is the whole chain, for logs.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The location is not one that can be opened.
    #[error("cannot open {location:?}: {reason}")]
    Location {
        /// The location as given.
        location: String,
        /// Reason of the refusal.
        reason: String,
        /// Error of the system.
        source: Option<io::Error>,
    },
    /// A scheme of no kind of store.
    #[error(
        "cannot open {location:?}: {scheme}:// is no kind of store; give a path or one of \
         s3://, gs://, az://, http(s)://, file://, memory://"
    )]
    UnsupportedScheme {
        /// The location as given.
        location: String,
        /// The part before `://`.
        scheme: String,
    },
    /// An operation this kind of store cannot do.
    #[error("{location} cannot {operation}: only a local directory can")]
    Unsupported {
        /// Label of the store.
        location: String,
        /// Operation, as a verb phrase.
        operation: &'static str,
    },
    /// A store whose objects cannot be listed.
    #[error("{location} cannot be listed: an HTTP server says only what is at a name")]
    NoListing {
        /// Label of the store.
        location: String,
    },
    /// A key that could leave the store or that it cannot hold.
    #[error("{key:?} is not a key for {location}: {reason}")]
    InvalidKey {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
        /// Reason of the refusal.
        reason: String,
    },
    /// An object that has to be there is not.
    #[error("{key} is missing in {location}")]
    NotFound {
        /// Label of the store.
        location: String,
        /// Its key.
        key: String,
    },
    /// There is something at the key, but not an object.
    #[error("{key} in {location} is {what}, not a file")]
    NotAnObject {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
        /// Kind of the thing that is there: `a directory`.
        what: &'static str,
    },
    /// An object larger than it may be; its body was not read.
    #[error(
        "{key} in {location} has {size_bytes} bytes, but at most {limit_bytes} can be right; \
         it is damaged, or not what its metadata says"
    )]
    TooLarge {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
        /// Its size.
        size_bytes: u64,
        /// The most it may have.
        limit_bytes: u64,
    },
    /// A file of another size than what is known to be in it has.
    #[error(
        "{key} in {location} has {size_bytes} bytes, but {expected_bytes} are expected; \
         it is damaged, or not what its metadata says"
    )]
    WrongSize {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
        /// Its size.
        size_bytes: u64,
        /// Size that it has to have, or to have at least.
        expected_bytes: u64,
    },
    /// Other bytes came than were stored.
    #[error("{key} in {location} came with other bytes than its ETag says that it has")]
    Damaged {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
    },
    /// It was written while it was to stay as it is.
    #[error(
        "{key} in {location} was written at {written}, while it was being read: what was read \
         before may be of another state"
    )]
    Changed {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
        /// When, as the store says.
        written: String,
    },
    /// It is not in the state in which something was said of it.
    #[error("{key} in {location} {reason}: it was changed after the reference to it was made")]
    Outdated {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
        /// Its state now, and then.
        reason: String,
    },
    /// It was there and is not any more.
    #[error(
        "{key} in {location} was there before, and is missing now: it was removed while it was being read"
    )]
    Removed {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
    },
    /// References that cannot be read, or are none.
    #[error("cannot read {location} as references: {reason}")]
    References {
        /// Label of the references.
        location: String,
        /// Fault of the references.
        reason: String,
    },
    /// An Icechunk repository that cannot be read, or is none.
    #[error("cannot read {location} as an Icechunk repository: {reason}")]
    Repository {
        /// Label of the repository.
        location: String,
        /// Fault of the repository.
        reason: String,
    },
    /// A file that a reference leads to cannot be read, or not as the reference says.
    #[error("{key} in {location} is {what}, but {source}")]
    Referenced {
        /// Label of the references.
        location: String,
        /// The key.
        key: String,
        /// Target of the reference: the bytes, and the file as the reference names it.
        what: String,
        /// Error of the file.
        source: Box<StoreError>,
    },
    /// Fewer bytes than the object, or the range that was asked for, has.
    #[error("{key} in {location} gave {got_bytes} of {wanted_bytes} bytes")]
    Short {
        /// Label of the store.
        location: String,
        /// The key.
        key: String,
        /// Bytes asked for.
        wanted_bytes: u64,
        /// Bytes that came or are there.
        got_bytes: u64,
    },
    /// The store refused or failed.
    #[error("cannot {action} {}: {}", place(.key, .location), cause(.source.as_ref()))]
    Failed {
        /// Label of the store.
        location: String,
        /// The key; empty for the store as a whole.
        key: String,
        /// Action that was tried, a verb.
        action: &'static str,
        /// Error of the store.
        source: Source,
    },
}

/// Whether `error` is that of a TLS certificate. The type of the TLS library's error is not ours to
/// name: its words are.
pub(crate) fn is_untrusted(error: &(dyn Error + 'static)) -> bool {
    chain(error).any(|cause| cause.to_string().contains("invalid peer certificate"))
}

impl StoreError {
    /// Refuses a location, for a reason.
    pub(crate) fn refused_location(location: &str, reason: &str) -> Self {
        let (location, reason) = (location.to_owned(), reason.to_owned());
        Self::Location { location, reason, source: None }
    }

    /// Something that has to be there is not.
    pub fn is_not_found(&self) -> bool {
        // What a key leads to has to be there.
        !matches!(self, Self::Referenced { .. })
            && (matches!(self, Self::NotFound { .. })
                || self.has_io_kind(&[io::ErrorKind::NotFound]))
    }

    /// The object is larger than it may be; its body was not read.
    pub fn is_too_large(&self) -> bool {
        matches!(self, Self::TooLarge { .. })
    }

    /// The object has not the size it has to have.
    pub fn is_wrong_size(&self) -> bool {
        matches!(self, Self::WrongSize { .. })
    }

    /// The data set that a location names is not there.
    pub fn is_missing_dataset(&self) -> bool {
        chain(self).any(is_missing_dataset)
    }

    /// The store does not let this user do that.
    pub fn is_permission_denied(&self) -> bool {
        self.has_io_kind(&[io::ErrorKind::PermissionDenied, io::ErrorKind::ReadOnlyFilesystem])
            || self.is_denied_by_server()
    }

    /// A server has said so, and not the system.
    pub fn is_denied_by_server(&self) -> bool {
        chain(self).any(is_denial)
    }

    /// The server's certificate is not trusted: signed by nobody we know, expired, or of another
    /// name.
    pub fn is_untrusted(&self) -> bool {
        is_untrusted(self)
    }

    /// A part of the path is a file, where a directory would have to be.
    pub fn is_not_a_directory(&self) -> bool {
        self.has_io_kind(&[io::ErrorKind::NotADirectory])
    }

    /// The disk or the quota is full.
    pub fn is_no_space(&self) -> bool {
        self.has_io_kind(&[io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded])
    }

    /// True if the operation may succeed when it is tried again; false for an error of unknown
    /// kind.
    pub fn is_retryable(&self) -> bool {
        use io::ErrorKind as Kind;
        if let Self::Referenced { source, .. } = self {
            return source.is_retryable();
        }
        matches!(self, Self::Short { .. } | Self::Damaged { .. })
            || self.failure().is_some_and(|failure| failure.is_passing())
            || self.has_io_kind(&[
                Kind::Interrupted,
                Kind::TimedOut,
                Kind::WouldBlock,
                Kind::ConnectionReset,
                Kind::ConnectionAborted,
                Kind::ConnectionRefused,
                Kind::NetworkDown,
                Kind::NetworkUnreachable,
                Kind::HostUnreachable,
                Kind::BrokenPipe,
                Kind::StaleNetworkFileHandle,
                Kind::ResourceBusy,
            ])
    }

    /// Whether the same operation may succeed cannot be told: it is tried again a few times only.
    pub(crate) fn is_unexplained(&self) -> bool {
        self.failure().is_some_and(|failure| failure.is_unexplained())
    }

    /// True where the library below has tried again by itself, and has given up.
    pub(crate) fn was_tried_again(&self) -> bool {
        chain(self).any(|error| retries(error).is_some())
    }

    /// Failure of a request to a remote store, with or without an answer.
    fn failure(&self) -> Option<Failure> {
        chain(self).find_map(Failure::of)
    }

    fn has_io_kind(&self, kinds: &[io::ErrorKind]) -> bool {
        chain(self)
            .filter_map(|error| error.downcast_ref::<io::Error>())
            .any(|error| kinds.contains(&error.kind()))
    }

    /// Translates an error of `object_store` into one of this crate.
    pub(crate) fn from_object_store(
        location: &str,
        key: &str,
        action: &'static str,
        error: object_store::Error,
    ) -> Self {
        let (location, key) = (location.to_owned(), key.to_owned());
        if let object_store::Error::NotFound { .. } = error {
            return Self::NotFound { location, key };
        }
        if let Some(special) = chain(&error).find_map(|e| e.downcast_ref::<NotAFile>()) {
            return Self::NotAnObject { location, key, what: special.what };
        }
        Self::Failed { location, key, action, source: Box::new(error) }
    }

    /// Kind of the thing that stands in place of a file, if that is the cause.
    pub(crate) fn not_a_file(&self) -> Option<&'static str> {
        chain(self).find_map(|error| error.downcast_ref::<NotAFile>()).map(|special| special.what)
    }
}

/// Something else in place of an object; travels inside an `object_store` error.
#[derive(Debug, Error)]
#[error("{what}, not a file")]
pub(crate) struct NotAFile {
    pub(crate) what: &'static str,
}

/// `error` and everything below it. An [`io::Error`] that wraps another is unwrapped too, which
/// its `source()` would skip.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error: &&'a (dyn Error + 'static)| {
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// `c/0/0 in data.zarr`, or the store alone.
fn place(key: &str, location: &str) -> String {
    if key.is_empty() { location.to_owned() } else { format!("{key} in {location}") }
}

/// The last cause of a chain, with a hint where one is known.
fn cause(error: &(dyn Error + Send + Sync + 'static)) -> impl fmt::Display {
    let error: &(dyn Error + 'static) = error;
    let last = chain(error).last().unwrap_or(error);
    let kind = chain(error).filter_map(|e| e.downcast_ref::<io::Error>()).last();
    let token = chain(error).find_map(token_hint).filter(|_| chain(error).any(is_denial));
    let other = || chain(error).find_map(|error| access_hint(error).or_else(|| range_hint(error)));
    let remote = token.or_else(other);
    let hint = remote.or(kind.map(|kind| hint(kind.kind())));
    let said = chain(error).find_map(Failure::of).and_then(|failure| failure.text());
    let said = said.unwrap_or_else(|| last.to_string());
    let retried = chain(error).find_map(retries).map_or(String::new(), |text| format!(", {text}"));
    format!("{said}{retried}{}", hint.unwrap_or_default())
}

fn hint(kind: io::ErrorKind) -> &'static str {
    use io::ErrorKind as Kind;
    match kind {
        Kind::PermissionDenied => "; check who owns it and its mode",
        Kind::ReadOnlyFilesystem => "; choose a place that can be written to",
        Kind::StorageFull | Kind::QuotaExceeded => "; make room",
        Kind::NotADirectory => "; a part of the path is a file",
        Kind::DirectoryNotEmpty => "; move what is there out of the way first",
        Kind::CrossesDevices => "; both have to be on one file system",
        Kind::InvalidFilename => {
            "; a name on the path is too long or has a character the file \
                                  system refuses"
        }
        _ => "",
    }
}
