//! Reads URLs of remote stores: each names the connection it needs, and the place in it.

use crate::StoreError;
use crate::percent::percent_decode;

/// A kind of remote store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    S3,
    Gcs,
    Azure,
    Http,
    /// A level of a data set: all of its location is its root.
    Datastore,
}

impl Scheme {
    pub(crate) fn of(scheme: &str) -> Option<Self> {
        match scheme {
            "s3" | "s3a" => Some(Self::S3),
            "gs" => Some(Self::Gcs),
            "az" | "azure" | "adl" | "abfs" | "abfss" => Some(Self::Azure),
            "http" | "https" => Some(Self::Http),
            "datastore+http" | "datastore+https" => Some(Self::Datastore),
            _ => None,
        }
    }

    /// The scheme that its kind is known by.
    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Gcs => "gs",
            Self::Azure => "az",
            Self::Http => "http",
            Self::Datastore => "datastore",
        }
    }

    /// For messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::S3 => "S3",
            Self::Gcs => "GCS",
            Self::Azure => "Azure",
            Self::Http => "HTTP",
            Self::Datastore => "datastore",
        }
    }
}

/// A URL of a remote store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// Beginning of the URL, of which one client is made: `s3://bucket`, `http://host:port`.
    pub(crate) root: String,
    /// The place in it, `/`-separated; empty for all of it.
    pub(crate) below: String,
}

impl Address {
    /// The whole of it, to look up what was said of it.
    pub(crate) fn location(&self) -> String {
        format!("{}/{}", self.root, self.below)
    }

    /// Names of both places: one begins with the other if it is at it or below it. Schemes are
    /// spelled in one way, and where only one of two names its account it may be the same.
    pub(crate) fn names(&self, other: &Self) -> [String; 2] {
        let parts = |of: &Self| {
            let authority = of.root.split_once("://").map_or("", |(_, authority)| authority);
            let (container, account) = authority.split_once('@').unwrap_or((authority, ""));
            // `account.dfs.…` and `account.blob.…` are ways to one account.
            let account = account.split('.').next().unwrap_or_default();
            (container.to_owned(), account.to_lowercase())
        };
        let of_both = [self, other].map(|of| (of, parts(of)));
        let has_accounts = of_both.iter().all(|(_, (_, account))| !account.is_empty());
        of_both.map(|(of, (container, account))| {
            let account = if has_accounts { account } else { String::new() };
            let container =
                if of.scheme == Scheme::Http { container.to_lowercase() } else { container };
            format!("{}/{account}/{container}/{}", of.scheme.name(), of.below)
        })
    }

    /// Reads a URL; `None` if its scheme is of no remote store. Touches nothing.
    pub(crate) fn parse(location: &str) -> Result<Option<Self>, StoreError> {
        let Some((name, rest)) = location.split_once("://") else { return Ok(None) };
        let Some(scheme) = Scheme::of(name) else { return Ok(None) };
        let (authority, below) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            let is_server = matches!(scheme, Scheme::Http | Scheme::Datastore);
            let what = if is_server { "a server" } else { "a bucket" };
            return Err(StoreError::refused_location(
                location,
                &format!("it needs {what}: {name}://NAME/path"),
            ));
        }
        // `abfs://container@account.host` has its container there, and no secret.
        if authority.contains('@') && (scheme != Scheme::Azure || authority.contains(':')) {
            let place = format!("{name}://…@{}", authority.rsplit('@').next().unwrap_or_default());
            return Err(StoreError::refused_location(
                &place,
                "credentials do not belong into a location: it is printed",
            ));
        }
        if scheme == Scheme::Datastore {
            let root = location.trim_end_matches('/').to_owned();
            return Ok(Some(Self { scheme, root, below: String::new() }));
        }
        let mut below = below.trim_end_matches('/').to_owned();
        if scheme == Scheme::Http {
            if let Some((path, _)) = below.split_once(['?', '#']) {
                let place = format!("{name}://{authority}/{path}?…");
                let reason =
                    "an array has many objects, of which a signed or queried URL names one";
                return Err(StoreError::refused_location(&place, reason));
            }
            let bytes = percent_decode(&below).ok_or_else(|| {
                StoreError::refused_location(
                    location,
                    "a % in it is not followed by two hexadecimal digits",
                )
            })?;
            below = String::from_utf8(bytes)
                .map_err(|_| StoreError::refused_location(location, "its path is not UTF-8"))?;
        }
        Ok(Some(Self { scheme, root: format!("{name}://{authority}"), below }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_a_connection_and_a_place_in_it() {
        let address = |location: &str| {
            let found = Address::parse(location).unwrap().unwrap();
            (found.scheme, found.root, found.below)
        };
        let root = "s3://bucket".to_owned();
        assert_eq!(address("s3://bucket"), (Scheme::S3, root.clone(), String::new()));
        assert_eq!(address("s3://bucket/a/b%20c/"), (Scheme::S3, root, "a/b%20c".to_owned()));
        let (scheme, root, below) = address("https://host:8080/a%20b");
        assert_eq!(
            (scheme, root.as_str(), below.as_str()),
            (Scheme::Http, "https://host:8080", "a b")
        );
        let (scheme, root, _) = address("abfss://box@account.dfs.core.windows.net/x");
        assert_eq!(scheme, Scheme::Azure);
        assert_eq!(root, "abfss://box@account.dfs.core.windows.net");
        assert_eq!(Address::parse("ftp://host/x").unwrap(), None);
    }

    #[test]
    fn a_place_of_two_spellings_is_one() {
        let is_within = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|location| Address::parse(location).unwrap().unwrap());
            let [a, b] = a.names(&b);
            std::path::Path::new(&a).starts_with(b)
        };
        for (a, b) in [
            ("s3://b/x", "s3a://b/x/"),
            ("s3a://b/x/y", "s3://b/x"),
            ("az://box/x", "abfss://box@account.dfs.core.windows.net/x"),
            ("azure://box/x", "az://box/x"),
            ("adl://box@A.net/x", "abfs://box@a.net/x"),
            ("abfss://box@a.dfs.core.windows.net/x", "abfss://box@a.blob.core.windows.net/x"),
            ("https://Host/x", "https://host/x"),
        ] {
            assert!(is_within(a, b), "{a} {b}");
        }
        for (a, b) in [
            ("s3://b/x", "s3://b/xy"),
            ("s3://b/x", "gs://b/x"),
            ("abfss://box@a.net/x", "abfss://box@b.net/x"),
            ("s3://B/x", "s3://b/x"),
        ] {
            assert!(!is_within(a, b), "{a} {b}");
        }
    }

    #[test]
    fn secrets_in_a_location_are_refused_and_not_repeated() {
        for location in
            ["s3://key:canary@bucket/x", "https://user:canary@host/x", "http://h/x?sig=canary"]
        {
            let error = Address::parse(location).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{error}");
        }
        assert!(Address::parse("s3:///x").unwrap_err().to_string().contains("needs a bucket"));
    }
}
