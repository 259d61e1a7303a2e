//! Clients of the servers.

use std::time::Duration;

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::gcp::{GoogleCloudStorage, GoogleCloudStorageBuilder};
use object_store::http::{HttpBuilder, HttpStore};
use object_store::{BackoffConfig, ClientOptions, RetryConfig};
use rechunk_testkit::{GcsServer, HttpServer, S3Server};

/// No retries: what a test sees is what the server did.
pub(crate) fn once() -> RetryConfig {
    retries(0)
}

pub(crate) fn retries(max_retries: usize) -> RetryConfig {
    let backoff = BackoffConfig {
        init_backoff: Duration::from_millis(1),
        max_backoff: Duration::from_millis(5),
        base: 2.0,
    };
    RetryConfig { backoff, max_retries, retry_timeout: Duration::from_mins(1) }
}

/// Time for which a client waits for an answer and its body.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) fn client() -> ClientOptions {
    // A client wants cryptography even where it speaks no TLS. Refused from the second call on.
    let _ = rustls::crypto::ring::default_provider().install_default();
    ClientOptions::new().with_allow_http(true).with_timeout(TIMEOUT)
}

pub(crate) fn s3(server: &S3Server, retry: RetryConfig) -> AmazonS3 {
    AmazonS3Builder::new()
        .with_endpoint(server.endpoint())
        .with_bucket_name(S3Server::BUCKET)
        .with_access_key_id(S3Server::ACCESS_KEY_ID)
        .with_secret_access_key(S3Server::SECRET_ACCESS_KEY)
        .with_region(S3Server::REGION)
        .with_client_options(client())
        .with_retry(retry)
        .build()
        .unwrap()
}

pub(crate) fn gcs(server: &GcsServer, retry: RetryConfig) -> GoogleCloudStorage {
    GoogleCloudStorageBuilder::new()
        .with_bucket_name(GcsServer::BUCKET)
        .with_service_account_key(server.service_account_key())
        .with_client_options(client())
        .with_retry(retry)
        .build()
        .unwrap()
}

pub(crate) fn http(server: &HttpServer, retry: RetryConfig) -> HttpStore {
    HttpBuilder::new()
        .with_url(server.endpoint())
        .with_client_options(client())
        .with_retry(retry)
        .build()
        .unwrap()
}
