//! Clients that speak TLS, certificates that are renewed, and files that are none.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use rcgen::generate_simple_self_signed;
use rechunk_serve::{
    Certificate, CertificateError, Database, DatastoreOptions, Limits, Server, datastore_view,
    open_writable,
};
use serde_json::json;
use tempfile::TempDir;

use crate::harness::{Served, client, description, header};

/// Files of a certificate for this machine, and of its key.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        let files = Self { folder: tempfile::tempdir().unwrap() };
        files.renew();
        files
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Replaces both files; returns the certificate.
    fn renew(&self) -> String {
        let both = generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        std::fs::write(self.path("key.pem"), both.signing_key.serialize_pem()).unwrap();
        std::fs::write(self.path("cert.pem"), both.cert.pem()).unwrap();
        both.cert.pem()
    }

    fn certificate(&self) -> String {
        std::fs::read_to_string(self.path("cert.pem")).unwrap()
    }

    async fn read(&self) -> Result<Certificate, CertificateError> {
        Certificate::read(&self.path("cert.pem"), &self.path("key.pem")).await
    }

    async fn served(&self, router: Router, limits: Limits) -> Served {
        let server = Server::bind("127.0.0.1:0", limits).await.unwrap();
        let server = server.with_certificate(self.read().await.unwrap());
        Served::run(server, router, trusting(&self.certificate()))
    }
}

/// A client that trusts one certificate only.
fn trusting(certificate: &str) -> reqwest::ClientBuilder {
    let certificate = reqwest::Certificate::from_pem(certificate.as_bytes()).unwrap();
    client().tls_certs_only([certificate])
}

fn here() -> Router {
    Router::new().route("/", get(|| async { "here" }))
}

#[tokio::test]
async fn who_trusts_the_certificate_is_answered_and_others_are_not() {
    let files = Files::new();
    let served = files.served(here(), Limits::default()).await;
    assert!(served.base.starts_with("https://127.0.0.1:"), "{}", served.base);
    let answer = served.get("/").send().await.unwrap();
    assert_eq!(answer.version(), reqwest::Version::HTTP_11);
    assert_eq!(answer.text().await.unwrap(), "here");
    let other = trusting(&Files::new().certificate()).build().unwrap();
    other.get(&served.base).send().await.unwrap_err();
    // Without TLS nothing is said, in whatever protocol.
    let plain = served.base.replace("https", "http");
    served.client.get(plain).send().await.unwrap_err();
}

#[tokio::test]
async fn clients_are_led_to_addresses_of_tls() {
    let (files, folder) = (Files::new(), tempfile::tempdir().unwrap());
    let root = rechunk_store::Store::open(folder.path().to_str().unwrap()).unwrap();
    let database = Database::in_root(folder.path());
    let datastore = open_writable(root, &database).await.unwrap();
    let options = DatastoreOptions { is_tls: true, ..DatastoreOptions::default() };
    let served = files.served(datastore_view(datastore, options), Limits::default()).await;
    let request = served.client.post(format!("{}/datasets", served.base));
    let request = request.header("content-type", "application/json");
    let answer = request.body(description(&json!({})).to_string()).send().await.unwrap();
    let id = answer.text().await.unwrap();
    let start = format!("/datasets/{id}/1/1/1/latest/read");
    let answer = served.get(&start).send().await.unwrap();
    let led_to = header(&answer, "location");
    assert_eq!(led_to, format!("{}/datasets/{id}/1/1/1/0/", served.base));
    assert_eq!(served.client.get(led_to).send().await.unwrap().status(), 200);
    // A proxy that takes plain requests for it says so.
    let answer = served.get(&start).header("x-forwarded-proto", "http").send().await.unwrap();
    assert!(header(&answer, "location").starts_with("http://"));
}

#[tokio::test]
async fn a_certificate_that_is_renewed_is_used_and_a_damaged_one_is_not() {
    let files = Files::new();
    let served = files.served(here(), Limits::default()).await;
    served.get("/").send().await.unwrap();
    let client = |certificate: &str| trusting(certificate).build().unwrap();
    let renewed = files.renew();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    client(&renewed).get(&served.base).send().await.unwrap();
    std::fs::write(files.path("key.pem"), "none").unwrap();
    tokio::time::sleep(Duration::from_millis(1100)).await;
    client(&renewed).get(&served.base).send().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_that_does_not_come_is_not_waited_for() {
    let limits = Limits { head_time: Duration::from_millis(500), ..Limits::default() };
    let files = Files::new();
    let mut served = files.served(here(), limits).await;
    let address = served.address;
    let waited = tokio::task::spawn_blocking(move || {
        let begun = Instant::now();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        // The first bytes of a greeting.
        stream.write_all(&[0x16, 3, 1]).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
        begun.elapsed()
    });
    assert!(waited.await.unwrap() < Duration::from_secs(50));
    // Nor does one hold up a server that is told to stop.
    let _idle = TcpStream::connect(address).unwrap();
    served.stop.cancel();
    let ended = tokio::time::timeout(Duration::from_secs(20), &mut served.task).await;
    ended.expect("the server has not ended").unwrap();
}

/// A key of Ed25519 that openssl has encrypted with a passphrase.
const ENCRYPTED: &str = "\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIGbMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgUeTQ+42xE7QICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEJzoRFIGMXWj+YovDJAWLUkEQKlP
BPpNVGArjCBk3mPEHDpqBFDid1Kw/uqmpJw0fWh93Y1UBkUMI4yEcnX3tZz18E4H
XBAoqh+PLSr0VmkANTU=
-----END ENCRYPTED PRIVATE KEY-----
";

#[tokio::test]
async fn files_that_are_no_certificate_and_its_key_are_named() {
    let files = Files::new();
    let at = |name: &str| files.path(name);
    let write = |name: &str, text: &str| std::fs::write(files.path(name), text).unwrap();
    write("text", "nothing of use");
    write("encrypted", ENCRYPTED);
    write(
        "old",
        "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
    );
    write("broken", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    write("cut", files.certificate().split_at(200).0);
    let other = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    write("other", &other.signing_key.serialize_pem());
    for (certificate, key, said) in [
        ("nowhere", "key.pem", "there is no file"),
        ("cert.pem", "nowhere", "there is no file"),
        ("text", "key.pem", "has no certificate in PEM"),
        ("key.pem", "key.pem", "has no certificate in PEM"),
        ("cert.pem", "text", "has no private key in PEM"),
        ("cert.pem", "cert.pem", "has no private key in PEM"),
        ("cert.pem", "encrypted", "is encrypted"),
        ("cert.pem", "old", "is encrypted"),
        ("cert.pem", "other", "is not that of the certificate"),
        ("broken", "key.pem", "cannot be used"),
        ("cut", "key.pem", "cannot be used"),
    ] {
        let error = Certificate::read(&at(certificate), &at(key)).await.unwrap_err().to_string();
        assert!(error.contains(said), "{certificate} {key}: {error}");
        let named = [certificate, key].iter().any(|name| error.contains(&at(name)));
        assert!(named, "{certificate} {key}: {error}");
    }
    Certificate::read("/", "/").await.unwrap_err();
    // Those who renew certificates lead to them by links.
    std::os::unix::fs::symlink(at("cert.pem"), at("live.pem")).unwrap();
    Certificate::read(&at("live.pem"), &at("key.pem")).await.unwrap();
}
