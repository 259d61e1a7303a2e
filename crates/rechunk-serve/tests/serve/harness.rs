//! A server of this process, and clients of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use rechunk_serve::{
    Database, DatastoreOptions, Limits, Server, datastore_view, open_read_only, open_writable,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_rustls::rustls::crypto::ring;
use tokio_util::sync::CancellationToken;

/// A client to be configured, with cryptography for TLS.
pub(crate) fn client() -> reqwest::ClientBuilder {
    // Refused from the second call on.
    let _ = ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy()
}

/// A server that answers until this is dropped.
pub(crate) struct Served {
    pub address: SocketAddr,
    pub base: String,
    pub client: reqwest::Client,
    pub stop: CancellationToken,
    pub task: JoinHandle<()>,
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Served {
    pub(crate) async fn with(router: Router) -> Self {
        Self::within(router, Limits::default()).await
    }

    pub(crate) async fn within(router: Router, limits: Limits) -> Self {
        let server = Server::bind("127.0.0.1:0", limits).await.unwrap();
        Self::run(server, router, client())
    }

    pub(crate) fn run(server: Server, router: Router, client: reqwest::ClientBuilder) -> Self {
        let (address, base) = (server.address(), server.url());
        let stop = CancellationToken::new();
        let task = tokio::spawn(server.run(router, stop.clone()));
        let client = client.redirect(reqwest::redirect::Policy::none());
        Self { address, base, client: client.build().unwrap(), stop, task }
    }

    pub(crate) fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.get(format!("{}{path}", self.base))
    }

    pub(crate) fn head(&self, path: &str) -> reqwest::RequestBuilder {
        self.client.head(format!("{}{path}", self.base))
    }

    /// The whole answer to a request whose target is sent as it is: no client of HTTP does that.
    pub(crate) async fn raw(&self, method: &str, target: &str) -> String {
        let text = format!("{method} {target} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
        self.raw_bytes(text.into_bytes()).await
    }

    /// Everything that the server says to some bytes, until it closes.
    pub(crate) async fn raw_bytes(&self, sent: Vec<u8>) -> String {
        let address = self.address;
        tokio::task::spawn_blocking(move || {
            let mut stream = TcpStream::connect(address).unwrap();
            stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
            // The server may have answered, and closed, before it has read all.
            let _ = stream.write_all(&sent);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            String::from_utf8_lossy(&answer).into_owned()
        })
        .await
        .unwrap()
    }
}

/// A header of an answer, as text.
pub(crate) fn header<'a>(response: &'a reqwest::Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

/// A server of the data sets in a folder.
pub(crate) async fn serve(
    folder: &Path,
    database: &Database,
    writable: bool,
    options: DatastoreOptions,
) -> Served {
    let root = rechunk_store::Store::open(folder.to_str().unwrap()).unwrap();
    let datastore = if writable {
        open_writable(root, database).await
    } else {
        open_read_only(root, database).await
    };
    Served::with(datastore_view(datastore.unwrap(), options)).await
}

/// Has the tests of rows done with a PostgreSQL: where it is. Each store has a database there.
pub(crate) const POSTGRES: &str = "RECHUNK_TEST_POSTGRES";

/// The database of a store: that of its root, unless all tests are to be done with another.
fn database_of(root: &Path) -> Database {
    let Ok(url) = std::env::var(POSTGRES) else { return Database::in_root(root) };
    let name = root.file_name().unwrap().to_str().unwrap();
    let schema = name.bytes().fold("t".to_owned(), |name, byte| format!("{name}{byte:02x}"));
    let sql = format!("CREATE SCHEMA IF NOT EXISTS {schema}");
    rechunk_testkit::ask_postgres(&url, &sql).unwrap();
    Database::parse(&format!("{url}?options[search_path]={schema}")).unwrap()
}

/// A datastore on a disk, served, and writable unless said otherwise.
pub(crate) struct Store {
    pub folder: TempDir,
    pub served: Served,
}

impl Store {
    pub(crate) async fn new() -> Self {
        Self::with(DatastoreOptions::default()).await
    }

    pub(crate) async fn with(options: DatastoreOptions) -> Self {
        Self::at(tempfile::tempdir().unwrap(), true, options).await
    }

    pub(crate) async fn at(folder: TempDir, writable: bool, options: DatastoreOptions) -> Self {
        let database = database_of(folder.path());
        Self::of(folder, &database, writable, options).await
    }

    /// A datastore with a database that is named.
    pub(crate) async fn of(
        folder: TempDir,
        database: &Database,
        writable: bool,
        options: DatastoreOptions,
    ) -> Self {
        let served = serve(folder.path(), database, writable, options).await;
        Self { folder, served }
    }

    /// Stops the server; what is on the disk stays.
    pub(crate) async fn close(self) -> TempDir {
        let Self { folder, mut served } = self;
        served.stop.cancel();
        (&mut served.task).await.unwrap();
        folder
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Status and body of the answer to a request without a body.
    pub(crate) async fn ask(&self, method: &str, path: &str) -> (u16, Bytes) {
        let method = reqwest::Method::from_bytes(method.as_bytes()).unwrap();
        let url = format!("{}{path}", self.served.base);
        let answer = self.served.client.request(method, url).send().await.unwrap();
        (answer.status().as_u16(), answer.bytes().await.unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, Bytes) {
        self.ask("GET", path).await
    }

    pub(crate) async fn post(
        &self,
        path: &str,
        media: &str,
        body: impl Into<Vec<u8>>,
    ) -> (u16, String) {
        let request = self.served.client.post(format!("{}{path}", self.served.base));
        let request = request.header("content-type", media).body(body.into());
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// Creates a data set; returns its name.
    pub(crate) async fn create(&self, description: &Value) -> String {
        let (status, id) =
            self.post("/datasets", "application/json", description.to_string()).await;
        assert_eq!(status, 200, "{id}");
        id
    }

    pub(crate) async fn describe(&self, id: &str) -> Value {
        let (status, body) = self.get(&format!("/datasets/{id}")).await;
        assert_eq!(status, 200, "{body:?}");
        serde_json::from_slice(&body).unwrap()
    }

    /// Writes blocks at `path`, which is `RX/RY/RZ/V/x/y/z/t/c/a…`.
    pub(crate) async fn write(&self, id: &str, path: &str, body: &[u8]) -> u16 {
        let path = format!("/datasets/{id}/{path}");
        self.post(&path, "application/octet-stream", body).await.0
    }

    pub(crate) async fn read(&self, id: &str, path: &str) -> Bytes {
        let (status, body) = self.get(&format!("/datasets/{id}/{path}")).await;
        assert_eq!(status, 200, "{path}: {body:?}");
        body
    }

    /// Follows a start; returns status and the path that it leads to.
    pub(crate) async fn start(&self, id: &str, path: &str) -> (u16, String) {
        let answer = self.served.get(&format!("/datasets/{id}/{path}")).send().await.unwrap();
        let location = header(&answer, "location").to_owned();
        (answer.status().as_u16(), location.replace(&self.served.base, ""))
    }

    pub(crate) async fn versions(&self, id: &str) -> Value {
        self.describe(id).await["versions"].clone()
    }
}

/// A description of a data set with these changes.
pub(crate) fn description(changes: &Value) -> Value {
    let mut all = json!({
        "voxelType": "uint16", "dimensions": [100, 80, 60], "timepoints": 2, "channels": 2, "angles": 1,
        "voxelUnit": "um", "voxelResolution": [0.4, 0.4, 1.0],
        "timepointResolution": {"value": 1.0, "unit": "min"}, "channelResolution": null,
        "angleResolution": null, "compression": "gzip", "label": null, "transformations": null,
        "resolutionLevels": [
            {"resolutions": [1, 1, 1], "blockDimensions": [64, 64, 64]},
            {"resolutions": [2, 2, 1], "blockDimensions": [64, 64, 64]},
        ],
    });
    for (key, value) in changes.as_object().unwrap() {
        all[key] = value.clone();
    }
    all
}

/// A block on the wire, made here and not by the library.
pub(crate) fn wire(sizes: [i32; 3], elements: &[u8]) -> Vec<u8> {
    let mut bytes = sizes.map(i32::to_be_bytes).concat();
    bytes.extend_from_slice(elements);
    bytes
}

/// A block of bytes that look like none other.
pub(crate) fn block(sizes: [i32; 3], item_bytes: usize, seed: usize) -> Vec<u8> {
    let count: usize = sizes.iter().map(|size| usize::try_from(*size).unwrap()).product();
    let byte =
        |at: usize| (at.wrapping_mul(2_654_435_761).wrapping_add(seed * 97) >> 7).to_le_bytes()[0];
    wire(sizes, &(0..count * item_bytes).map(byte).collect::<Vec<_>>())
}

/// The bytes of a block that is not available.
pub(crate) const ABSENT: &[u8] = &[0xff; 12];
