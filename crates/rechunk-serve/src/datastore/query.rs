//! Settings behind the question mark of a target.

use hyper::StatusCode;
use percent_encoding::percent_decode_str;

use super::failure::Failure;

/// A setting of a query, decoded; `None` if it is empty or not there.
pub(super) fn setting(query: Option<&str>, name: &str) -> Result<Option<String>, Failure> {
    let mut settings = query.unwrap_or_default().split('&');
    let found = settings.find_map(|setting| setting.strip_prefix(name)?.strip_prefix('='));
    let Some(found) = found.filter(|found| !found.is_empty()) else { return Ok(None) };
    let decoded = percent_decode_str(found).decode_utf8();
    let decoded = decoded.map_err(|_| {
        Failure::new(StatusCode::BAD_REQUEST, format!("{name} is no text in UTF-8"))
    })?;
    Ok(Some(decoded.into_owned()))
}
