//! Makes the client of a remote store: what was said first, then the environment, then files.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::client::ClientConfigKey;
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::multipart::MultipartStore;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::credentials::Prompt;
use super::wire::{Connector, SILENCE};
use super::{Address, Scheme, StoreOptions, aws_files};
use crate::StoreError;

/// Time that a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(10);

/// A client, and the same for uploads in parts if the store has them.
type Client = (Arc<dyn ObjectStore>, Option<Arc<dyn MultipartStore>>);

fn in_parts<T: ObjectStore + MultipartStore>(client: T) -> Client {
    let client = Arc::new(client);
    (Arc::clone(&client) as _, Some(client as _))
}

/// Makes the client. Nothing is sent.
pub(crate) fn connect(
    address: &Address,
    options: &StoreOptions,
    connector: Connector,
) -> Result<Client, StoreError> {
    let location = address.location();
    let mut pairs = patience(options.timeout());
    pairs.extend(options.of(&location).into_iter().map(|(key, value)| (key, value.to_owned())));
    let setup = Setup { root: &address.root, pairs, retry: retry(options), connector };
    let built = match address.scheme {
        Scheme::S3 => setup.s3(),
        Scheme::Gcs => setup.gcs(),
        Scheme::Azure => setup.azure(),
        // One of data sets has a client of its own.
        Scheme::Http | Scheme::Datastore => setup.http(),
    };
    built.map_err(|error| StoreError::Location {
        location: address.root.clone(),
        reason: format!(
            "the {} client cannot be set up: {}",
            address.scheme.name(),
            without_values(&error.to_string(), &options.of(&location))
        ),
        source: None,
    })
}

/// Message of a client, unless it repeats the value of an option or of a variable: then only the
/// name of that.
#[expect(clippy::disallowed_methods, reason = "values of variables are kept out of a message")]
fn without_values(said: &str, options: &[(&str, &str)]) -> String {
    let repeats = |value: &str| !value.is_empty() && said.contains(value);
    let option = options.iter().filter(|(_, value)| repeats(value)).max_by_key(|(_, v)| v.len());
    if let Some((key, _)) = option {
        return format!("the value of the option {key} is none that it takes");
    }
    let is_ours = |name: &str| {
        ["AWS_", "GOOGLE_", "AZURE_"].iter().any(|beginning| name.starts_with(beginning))
    };
    let variable = std::env::vars()
        .filter(|(name, value)| is_ours(name) && repeats(value))
        .max_by_key(|(_, value)| value.len());
    match variable {
        Some((name, _)) => format!("the value of the variable {name} is none that it takes"),
        None => said.to_owned(),
    }
}

/// Timeouts of one request, as options that any kind of store knows: it may be long, as long as
/// something comes.
fn patience(timeout: Duration) -> Vec<(&'static str, String)> {
    let text = |duration: Duration| format!("{}ms", duration.as_millis().max(1));
    vec![
        ("timeout", text(timeout)),
        ("connect_timeout", text(CONNECT.min(timeout))),
        ("read_timeout", text(SILENCE.min(timeout))),
    ]
}

/// Options of a client of plain requests, for what is at `location`.
pub(super) fn client_options(
    location: &str,
    options: &StoreOptions,
    is_plain: bool,
) -> ClientOptions {
    let mut pairs = patience(options.timeout());
    pairs.extend(options.of(location).into_iter().map(|(key, value)| (key, value.to_owned())));
    let client = ClientOptions::new().with_allow_http(is_plain);
    pairs.into_iter().fold(client, |client, (key, value)| match key.parse() {
        Ok(key) => client.with_config(key, value),
        Err(_) => client,
    })
}

/// Retries of one request by the library: 5xx, 429, 408, and lost connections.
fn retry(options: &StoreOptions) -> RetryConfig {
    // A wait begins within the time and may end beyond it.
    let usual = BackoffConfig::default();
    let max_backoff = usual.max_backoff.min(options.timeout() / 4).max(usual.init_backoff);
    RetryConfig {
        backoff: BackoffConfig { max_backoff, ..usual },
        max_retries: usize::try_from(options.max_retries()).unwrap_or(usize::MAX),
        retry_timeout: options.timeout(),
    }
}

struct Setup<'a> {
    root: &'a str,
    /// Options, those that count more behind the others.
    pairs: Vec<(&'a str, String)>,
    retry: RetryConfig,
    connector: Connector,
}

impl Setup<'_> {
    /// `builder` with those of the options that it knows.
    fn apply<B, K: FromStr>(&self, builder: B, set: impl Fn(B, K, &str) -> B) -> B {
        self.pairs.iter().fold(builder, |builder, (key, value)| match key.parse() {
            Ok(key) => set(builder, key, value),
            Err(_) => builder,
        })
    }

    fn s3(self) -> object_store::Result<Client> {
        let builder = AmazonS3Builder::from_env();
        let mut builder =
            self.apply(builder, |builder, key, value| builder.with_config(key, value));
        let has = |builder: &AmazonS3Builder, key| builder.get_config_value(&key).is_some();
        let has_keys = has(&builder, AmazonS3ConfigKey::AccessKeyId);
        for (key, value) in aws_files::settings() {
            use AmazonS3ConfigKey::{AccessKeyId, SecretAccessKey, Token};
            // Keys of two places are not mixed.
            let is_key = matches!(key, AccessKeyId | SecretAccessKey | Token);
            if if is_key { !has_keys } else { !has(&builder, key) } {
                builder = builder.with_config(key, value);
            }
        }
        if is_plain(builder.get_config_value(&AmazonS3ConfigKey::Endpoint)) {
            builder = builder.with_allow_http(true);
        }
        let builder =
            builder.with_url(self.root).with_retry(self.retry).with_http_connector(self.connector);
        let credentials = Prompt::new(builder.clone().build()?.credentials());
        Ok(in_parts(builder.with_credentials(credentials).build()?))
    }

    fn gcs(self) -> object_store::Result<Client> {
        let builder = GoogleCloudStorageBuilder::from_env();
        let mut builder =
            self.apply(builder, |builder, key, value| builder.with_config(key, value));
        if is_plain(builder.get_config_value(&GoogleConfigKey::BaseUrl)) {
            builder =
                builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
        }
        let builder =
            builder.with_url(self.root).with_retry(self.retry).with_http_connector(self.connector);
        let credentials = Prompt::new(builder.clone().build()?.credentials());
        Ok(in_parts(builder.with_credentials(credentials).build()?))
    }

    fn azure(self) -> object_store::Result<Client> {
        let builder = MicrosoftAzureBuilder::from_env();
        let mut builder =
            self.apply(builder, |builder, key, value| builder.with_config(key, value));
        if is_plain(builder.get_config_value(&AzureConfigKey::Endpoint)) {
            builder = builder.with_allow_http(true);
        }
        let builder =
            builder.with_url(self.root).with_retry(self.retry).with_http_connector(self.connector);
        let credentials = Prompt::new(builder.clone().build()?.credentials());
        Ok(in_parts(builder.with_credentials(credentials).build()?))
    }

    fn http(self) -> object_store::Result<Client> {
        let builder = HttpBuilder::new();
        let mut builder =
            self.apply(builder, |builder, key, value| builder.with_config(key, value));
        if is_plain(Some(self.root.to_owned())) {
            builder = builder.with_config(ClientConfigKey::AllowHttp, "true");
        }
        let built = builder
            .with_url(self.root)
            .with_retry(self.retry)
            .with_http_connector(self.connector)
            .build()?;
        Ok((Arc::new(built), None))
    }
}

/// True for an endpoint that is named without TLS.
fn is_plain(endpoint: Option<String>) -> bool {
    endpoint.is_some_and(|endpoint| endpoint.starts_with("http://"))
}
