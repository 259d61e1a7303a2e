//! Locations of chunks outside of a repository, as locations of this crate.

use crate::percent::percent_decode;

/// Translates the location of a file. Its path is that of a URL, in which a `%` and two digits
/// stand for a character, whatever the scheme; a query or fragment is no part of it.
pub(super) fn url_of(location: &str) -> Result<String, String> {
    let no_url = || format!("its location {location:?} is no URL");
    let (scheme, rest) = location.split_once("://").ok_or_else(no_url)?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme == "vcc" {
        let container = rest.split('/').next().unwrap_or_default();
        return Err(format!(
            "its location is relative to the container {container:?} of virtual chunks, which is \
             not read; have absolute locations written (icechunk's set_virtual_ref with a full URL)"
        ));
    }
    // The client of HTTP takes a URL as it is.
    if matches!(&*scheme, "http" | "https") {
        return Ok(format!("{scheme}://{rest}"));
    }
    let (authority, path) = rest.split_at(rest.find('/').ok_or_else(no_url)?);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path = percent_decode(path).and_then(|path| String::from_utf8(path).ok());
    Ok(format!("{scheme}://{authority}{}", path.ok_or_else(no_url)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_a_url_whatever_its_scheme() {
        for (location, url) in [
            ("s3://b/a%20b/x.nc", "s3://b/a b/x.nc"),
            ("S3://b/x#y", "s3://b/x"),
            ("gcs://b/a%23b", "gcs://b/a#b"),
            ("file:///data/a%25b.nc", "file:///data/a%b.nc"),
            ("https://h/a%20b?q", "https://h/a%20b?q"),
        ] {
            assert_eq!(url_of(location).as_deref(), Ok(url), "{location}");
        }
        for (location, words) in [
            ("x.nc", "no URL"),
            ("s3://b", "no URL"),
            ("s3://b/%", "no URL"),
            ("vcc://c/x", "\"c\""),
        ] {
            let error = url_of(location).unwrap_err();
            assert!(error.contains(words), "{location}: {error}");
        }
    }
}
