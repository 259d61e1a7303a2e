//! Tells whether a body is the one that was stored, by the ETag of S3. That is the MD5 of an object
//! that was sent in one piece (unless the bucket encrypts with keys of its own).
//!
//! <https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html>. `object_store` does not look
//! at it, and a bit that flips on the way would be decoded.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use md5::{Digest, Md5};

/// Whether the ETags of a connection are MD5 sums, as far as is known.
#[derive(Debug, Default)]
pub(crate) struct Etags {
    /// One was found that is not.
    are_other: AtomicBool,
}

/// Result of comparing a body with its ETag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    /// The stored body, or there is nothing to tell by.
    Fine,
    /// It has this sum, and the ETag another.
    Differs([u8; 16]),
}

impl Etags {
    /// Looks at a whole body. `before` is the sum of a body of the same object that differed: if
    /// it comes again, it is the ETag that is something else.
    pub(crate) fn check(
        self: &Arc<Self>,
        etag: Option<&str>,
        bytes: &[u8],
        before: Option<[u8; 16]>,
    ) -> Body {
        let Some(expected) = etag.and_then(md5_of).filter(|_| !self.are_other()) else {
            return Body::Fine;
        };
        let found: [u8; 16] = Md5::digest(bytes).into();
        if found == expected {
            return Body::Fine;
        }
        if before == Some(found) {
            self.are_other.store(true, Ordering::Relaxed);
            return Body::Fine;
        }
        Body::Differs(found)
    }

    /// True if nothing can be told by them.
    pub(crate) fn are_other(&self) -> bool {
        self.are_other.load(Ordering::Relaxed)
    }
}

/// The sum an ETag is, if it can be one: 32 hex digits. (Of an object sent in parts it has a `-`.)
pub(crate) fn md5_of(etag: &str) -> Option<[u8; 16]> {
    let hex = etag.trim_matches('"');
    if hex.len() != 32 || !hex.is_ascii() {
        return None;
    }
    let mut sum = [0; 16];
    for (at, byte) in sum.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_differs_twice_alike_has_an_etag_that_is_no_sum() {
        let etags = Arc::new(Etags::default());
        let etag = Some("\"900150983cd24fb0d6963f7d28e17f72\""); // RFC 1321, "abc"
        assert_eq!(etags.check(etag, b"abc", None), Body::Fine);
        let Body::Differs(once) = etags.check(etag, b"abd", None) else { panic!() };
        assert_eq!(etags.check(etag, b"abc", Some(once)), Body::Fine);
        assert!(matches!(etags.check(etag, b"abe", Some(once)), Body::Differs(_)));
        assert!(!etags.are_other());
        assert_eq!(etags.check(etag, b"abd", Some(once)), Body::Fine);
        assert!(etags.are_other());
        assert_eq!(etags.check(etag, b"anything", None), Body::Fine);
    }

    #[test]
    fn only_whole_sums_are_sums() {
        assert!(md5_of("900150983cd24fb0d6963f7d28e17f72").is_some());
        for etag in ["", "\"900150983cd24fb0d6963f7d28e17f72-3\"", "0x8DC", "ééééééééééééééé+"]
        {
            assert_eq!(md5_of(etag), None, "{etag}");
        }
    }
}
