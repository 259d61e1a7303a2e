//! Pages of other origins that may read answers: none, unless an origin is named.

use std::str::FromStr;

use hyper::Method;
use hyper::header::{self, HeaderName, HeaderValue};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::ServeError;

/// Headers that a page's script may send.
const SENT: [HeaderName; 6] = [
    header::RANGE,
    header::IF_RANGE,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::AUTHORIZATION,
    header::CONTENT_TYPE,
];

/// Headers that a page's script may see.
const EXPOSED: [HeaderName; 6] = [
    header::ACCEPT_RANGES,
    header::CONTENT_LENGTH,
    header::CONTENT_RANGE,
    header::ETAG,
    header::LAST_MODIFIED,
    header::LOCATION,
];

/// The origin whose pages may read what is served.
///
/// ```
/// use rechunk_serve::CorsOrigin;
/// assert!("https://neuroglancer-demo.appspot.com".parse::<CorsOrigin>().is_ok());
/// assert!("*".parse::<CorsOrigin>().is_ok());
/// assert!("neuroglancer".parse::<CorsOrigin>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorsOrigin(HeaderValue);

impl FromStr for CorsOrigin {
    type Err = ServeError;

    fn from_str(text: &str) -> Result<Self, ServeError> {
        let wrong = || ServeError::Origin { origin: text.to_owned() };
        // As browsers send it: without a path, not even `/`.
        let host = text.split_once("://").map(|(_, host)| host);
        let is_origin = host.is_some_and(|host| !host.is_empty() && !host.contains(['/', ' ']));
        if text != "*" && !is_origin {
            return Err(wrong());
        }
        HeaderValue::from_str(text).map(Self).map_err(|_| wrong())
    }
}

impl CorsOrigin {
    /// The layer that tells browsers, and answers when they ask first.
    pub(crate) fn layer(&self, methods: &[Method]) -> CorsLayer {
        let origin =
            if self.0 == "*" { AllowOrigin::any() } else { AllowOrigin::exact(self.0.clone()) };
        CorsLayer::new()
            .allow_origin(origin)
            .allow_methods(methods.to_vec())
            .allow_headers(SENT)
            .expose_headers(EXPOSED)
    }
}
