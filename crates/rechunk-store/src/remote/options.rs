//! Options of remote stores: a user's settings, and patience.

use std::fmt;
use std::time::Duration;

use object_store::aws::AmazonS3ConfigKey;
use object_store::azure::AzureConfigKey;
use object_store::client::ClientConfigKey;
use object_store::gcp::GoogleConfigKey;

use crate::StoreError;

/// Most repetitions of a request.
const MAX_RETRIES: u32 = 10;
/// Time for which a store may fail to answer.
const TIMEOUT: Duration = Duration::from_mins(3);
/// Requests in flight to one bucket.
const CONCURRENCY: u32 = 256;

/// Options of remote stores. Never saved; its `Debug` form shows no value.
#[derive(Clone)]
pub struct StoreOptions {
    pairs: Vec<Pair>,
    max_retries: u32,
    timeout: Duration,
    concurrency: u32,
    bytes_per_second: Option<u64>,
}

#[derive(Clone)]
struct Pair {
    /// Beginning of the locations it is for; `None`: all.
    location: Option<String>,
    key: String,
    value: String,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            pairs: Vec::new(),
            max_retries: MAX_RETRIES,
            timeout: TIMEOUT,
            concurrency: CONCURRENCY,
            bytes_per_second: None,
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.pairs.iter().map(|pair| pair.key.as_str()).collect();
        f.debug_struct("StoreOptions")
            .field("keys", &keys)
            .field("max_retries", &self.max_retries)
            .field("timeout", &self.timeout)
            .field("concurrency", &self.concurrency)
            .field("bytes_per_second", &self.bytes_per_second)
            .finish()
    }
}

impl StoreOptions {
    /// Adds `KEY=VALUE`, for all stores that know the key, or `LOCATION,KEY=VALUE`, for those
    /// whose location begins with `LOCATION`. Keys are those of `object_store`, e.g. `endpoint`,
    /// `region`, `skip_signature`. An error does not repeat the value.
    pub fn add(&mut self, text: &str) -> Result<(), StoreError> {
        let Some((left, value)) = text.split_once('=') else {
            return Err(StoreError::refused_location(
                "--store-option",
                "it is KEY=VALUE or LOCATION,KEY=VALUE",
            ));
        };
        let (location, key) = match left.rsplit_once(',') {
            Some((location, key)) => (Some(location.to_owned()), key),
            None => (None, left),
        };
        let written = key.trim();
        let key = written.to_ascii_lowercase();
        if !is_known(&key) {
            // Who leaves the key out, and has a secret that ends in =, has that for a key.
            let name =
                if is_name(written) { format!(" {key:?}") } else { " of such a name".into() };
            let reason = format!(
                "no kind of store has an option{name}; endpoint, region, skip_signature are some"
            );
            return Err(StoreError::refused_location("--store-option", &reason));
        }
        self.pairs.push(Pair { location, key, value: value.to_owned() });
        Ok(())
    }

    /// Sets the number of further tries of a request that fails for a moment.
    #[must_use]
    pub fn with_max_retries(self, max_retries: u32) -> Self {
        Self { max_retries, ..self }
    }

    /// Sets the time that an operation may take with all its retries while the store does not
    /// answer.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Most requests in flight to one bucket or server.
    #[must_use]
    pub fn with_concurrency(self, concurrency: u32) -> Self {
        Self { concurrency: concurrency.max(1), ..self }
    }

    /// Most bytes a second that are moved to and from all stores together, local ones too, those
    /// in memory not.
    #[must_use]
    pub fn with_bytes_per_second(self, bytes_per_second: u64) -> Self {
        Self { bytes_per_second: Some(bytes_per_second), ..self }
    }

    pub(crate) fn max_retries(&self) -> u32 {
        self.max_retries
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn concurrency(&self) -> u32 {
        self.concurrency
    }

    pub(crate) fn bytes_per_second(&self) -> Option<u64> {
        self.bytes_per_second
    }

    /// Key and value of what was said for `location`, the most particular last.
    pub(crate) fn of<'a>(&'a self, location: &str) -> Vec<(&'a str, &'a str)> {
        let is_for = |pair: &&Pair| pair.location.as_ref().is_none_or(|l| location.starts_with(l));
        let mut found: Vec<&Pair> = self.pairs.iter().filter(is_for).collect();
        found.sort_by_key(|pair| pair.location.as_ref().map_or(0, String::len)); // stable
        found.into_iter().map(|pair| (pair.key.as_str(), pair.value.as_str())).collect()
    }
}

/// Looks like the name of an option, and not like a key or a token: words of one case.
fn is_name(text: &str) -> bool {
    const LONGEST: usize = 60;
    let is_word = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-');
    let has_one_case = text.to_ascii_lowercase() == text || text.to_ascii_uppercase() == text;
    has_one_case && text.len() <= LONGEST && text.chars().all(is_word)
}

/// Whether any kind of store has an option of this name.
fn is_known(key: &str) -> bool {
    key.parse::<AmazonS3ConfigKey>().is_ok()
        || key.parse::<GoogleConfigKey>().is_ok()
        || key.parse::<AzureConfigKey>().is_ok()
        || key.parse::<ClientConfigKey>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_particular_option_comes_last() {
        let mut options = StoreOptions::default();
        options.add("s3://one/a,endpoint=http://a").unwrap();
        options.add("endpoint=http://all").unwrap();
        options.add("s3://one,endpoint=http://one").unwrap();
        let endpoint = |location: &str| options.of(location).last().map(|pair| pair.1);
        assert_eq!(endpoint("s3://one/a/x"), Some("http://a"));
        assert_eq!(endpoint("s3://one/b"), Some("http://one"));
        assert_eq!(endpoint("s3://two"), Some("http://all"));
    }

    #[test]
    fn values_are_never_shown() {
        let mut options = StoreOptions::default();
        options.add("secret_access_key=canary").unwrap();
        assert!(!format!("{options:?}").contains("canary"));
        let error = options.add("secret_acess_key=canary").unwrap_err().to_string();
        assert!(error.contains("secret_acess_key") && !error.contains("canary"), "{error}");
        for option in ["wJalrXUtnFEMI7canary=", "s3://b,canary7EXAMPLEkey==", "canary"] {
            let error = options.add(option).unwrap_err().to_string();
            assert!(!error.to_ascii_lowercase().contains("canary"), "{error}");
        }
    }
}
