//! The certificate of a server and its key: read from two files, and again when they change.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rechunk_store::StoreError;
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_rustls::rustls;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::{Error as PemError, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};

use crate::one_file::OneFile;

/// Largest file of a certificate or key, bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Time after which the files are read again.
const FRESH_TIME: Duration = Duration::from_secs(1);
/// The version of HTTP that is spoken behind the handshake.
const PROTOCOL: &[u8] = b"http/1.1";
/// Marks keys that only a passphrase opens, in both forms of PEM.
const ENCRYPTED: &[u8] = b"ENCRYPTED";

/// Why a certificate cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A path is none of a file, or nothing is there.
    #[error("there is no file {path}")]
    Missing {
        /// The path.
        path: String,
    },
    /// A file has no certificate, or no key.
    #[error("{path} has no {wanted} in PEM")]
    Without {
        /// The file.
        path: String,
        /// A certificate or a private key.
        wanted: &'static str,
    },
    /// The key is encrypted.
    #[error("the key in {path} is encrypted, and nobody is there to type its passphrase")]
    Encrypted {
        /// The file.
        path: String,
    },
    /// The key belongs to another certificate.
    #[error("the key in {key} is not that of the certificate in {certificate}")]
    OtherKey {
        /// The file of the certificate.
        certificate: String,
        /// The file of the key.
        key: String,
    },
    /// A file is damaged, or has a certificate or key of a kind that is not known.
    #[error("{path} cannot be used: {reason}")]
    Damaged {
        /// The file.
        path: String,
        /// The fault.
        reason: String,
    },
}

#[derive(Debug)]
struct Seen {
    /// Bytes of both files.
    bytes: [Bytes; 2],
    config: Arc<ServerConfig>,
    read: Instant,
}

/// A certificate with the chain that leads to it, and its key, both in PEM.
///
/// The files are read again, at most once a second, when clients come: a certificate that was
/// renewed is used without a restart. Files that cannot be used then leave the last ones in use.
#[derive(Debug)]
pub struct Certificate {
    chain: OneFile,
    key: OneFile,
    seen: Mutex<Seen>,
}

impl Certificate {
    /// Reads a certificate and its key.
    pub async fn read(certificate: &str, key: &str) -> Result<Self, CertificateError> {
        let (chain, key) = (file(certificate)?, file(key)?);
        let bytes = [contents(&chain).await?, contents(&key).await?];
        let config = configured([&chain, &key], &bytes)?;
        let seen = Mutex::new(Seen { bytes, config, read: Instant::now() });
        Ok(Self { chain, key, seen })
    }

    /// The settings of the next handshake.
    pub(crate) async fn current(&self) -> Arc<ServerConfig> {
        let mut seen = self.seen.lock().await;
        if seen.read.elapsed() >= FRESH_TIME {
            seen.read = Instant::now();
            match self.changed(&seen.bytes).await {
                Ok(None) => {}
                Ok(Some((bytes, config))) => {
                    tracing::info!("the certificate has been read again");
                    (seen.bytes, seen.config) = (bytes, config);
                }
                Err(error) => tracing::error!(%error, "the last certificate stays in use"),
            }
        }
        Arc::clone(&seen.config)
    }

    /// The files and their settings, if they are others than `before`.
    async fn changed(
        &self,
        before: &[Bytes; 2],
    ) -> Result<Option<([Bytes; 2], Arc<ServerConfig>)>, CertificateError> {
        let bytes = [contents(&self.chain).await?, contents(&self.key).await?];
        if bytes == *before {
            return Ok(None);
        }
        let config = configured([&self.chain, &self.key], &bytes)?;
        Ok(Some((bytes, config)))
    }
}

fn file(path: &str) -> Result<OneFile, CertificateError> {
    OneFile::at(path)?.ok_or_else(|| CertificateError::Missing { path: path.to_owned() })
}

async fn contents(file: &OneFile) -> Result<Bytes, CertificateError> {
    let missing = || CertificateError::Missing { path: file.path().to_owned() };
    file.read(FILE_BYTES_MAX).await?.ok_or_else(missing)
}

/// Settings of TLS 1.2 and 1.3 by the files of a certificate and of its key.
fn configured(
    [certificate, key]: [&OneFile; 2],
    [chain, secret]: &[Bytes; 2],
) -> Result<Arc<ServerConfig>, CertificateError> {
    let chain = CertificateDer::pem_slice_iter(chain).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| unusable(certificate, &error))?;
    if chain.is_empty() {
        let path = certificate.path().to_owned();
        return Err(CertificateError::Without { path, wanted: "certificate" });
    }
    if secret.windows(ENCRYPTED.len()).any(|bytes| bytes == ENCRYPTED) {
        return Err(CertificateError::Encrypted { path: key.path().to_owned() });
    }
    let secret = PrivateKeyDer::from_pem_slice(secret).map_err(|error| match error {
        PemError::NoItemsFound => {
            let path = key.path().to_owned();
            CertificateError::Without { path, wanted: "private key" }
        }
        error => unusable(key, &error),
    })?;
    let provider = Arc::new(default_provider());
    let both = CertifiedKey::from_der(chain, secret, &provider).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => CertificateError::OtherKey {
            certificate: certificate.path().to_owned(),
            key: key.path().to_owned(),
        },
        rustls::Error::InvalidCertificate(_) => unusable(certificate, &error),
        error => unusable(key, &error),
    })?;
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| unusable(certificate, &error))?;
    let resolver = Arc::new(SingleCertAndKey::from(both));
    let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
    config.alpn_protocols = vec![PROTOCOL.to_vec()];
    Ok(Arc::new(config))
}

fn unusable(file: &OneFile, error: &dyn std::error::Error) -> CertificateError {
    CertificateError::Damaged { path: file.path().to_owned(), reason: error.to_string() }
}
