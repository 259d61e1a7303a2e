//! `--tls-cert` and `--tls-key`.

use rechunk::Error;
use rechunk_serve::{Certificate, CertificateError};

use crate::args::TlsArgs;
use crate::request::usage;

/// The certificate that is asked for.
pub(super) async fn certificate(args: &TlsArgs) -> Result<Option<Certificate>, Error> {
    // The parser takes both or neither.
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let read = Certificate::read(chain, key).await;
    read.map(Some).map_err(|error| usage(error.to_string(), hint(&error)))
}

fn hint(error: &CertificateError) -> Option<&'static str> {
    match error {
        CertificateError::Encrypted { .. } => {
            Some("write it without one: openssl pkey -in key.pem -out plain.pem")
        }
        CertificateError::Without { .. } | CertificateError::OtherKey { .. } => {
            Some("--tls-cert is the certificate, then those that signed it; --tls-key its own key")
        }
        _ => None,
    }
}
