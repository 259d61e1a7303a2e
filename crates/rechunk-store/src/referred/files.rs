//! The files that references lead to: from the name in a reference to a store and a key in it.
//!
//! A document of references is somebody else's, and it names what this machine is to open. What it
//! may name depends on where it lies: see `docs/design/019-references.md`.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::{Component, Path as FilePath, PathBuf};
use std::sync::{Mutex, PoisonError};

use url::{Host, Url};

use crate::connections::Connections;
use crate::location::{Place, parse};
use crate::remote::{Address, Scheme};
use crate::{Store, StoreError};

/// Directories whose stores are kept open; beyond that they are opened again.
const OPEN_MAX: usize = 1024;

/// Where a document of references lies, without its own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base {
    /// In a directory of this machine; absolute.
    Local(PathBuf),
    /// At a URL, without a slash at its end: `s3://bucket/a`.
    Url(String),
}

/// Opens what references name.
#[derive(Debug)]
pub(crate) struct Files {
    base: Base,
    connections: Connections,
    /// Stores by the directory they are of.
    open: Mutex<HashMap<String, Store>>,
}

/// A file: the directory it is in, and its name there.
#[derive(Debug, PartialEq, Eq)]
struct File {
    directory: String,
    name: String,
    is_remote: bool,
}

impl Files {
    pub(crate) fn new(base: Base, connections: Connections) -> Self {
        Self { base, connections, open: Mutex::default() }
    }

    /// The store that holds the file named `url`, and its key there. Nothing is sent.
    pub(crate) fn open(&self, url: &str) -> Result<(Store, String), StoreError> {
        let refuse =
            |reason: String| StoreError::Location { location: shown(url), reason, source: None };
        let File { directory, name, .. } = self.locate(url).map_err(refuse)?;
        // A panic elsewhere cannot leave the table half-changed.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = open.get(&directory) {
            return Ok((store.clone(), name));
        }
        let store = self.connections.open(&directory)?;
        if open.len() >= OPEN_MAX {
            open.clear();
        }
        open.insert(directory, store.clone());
        Ok((store, name))
    }

    /// Whether the file named `url` is reached over a network.
    pub(crate) fn is_remote(&self, url: &str) -> bool {
        self.locate(url).is_ok_and(|file| file.is_remote)
    }

    /// Where the file is, or why it is not opened.
    fn locate(&self, url: &str) -> Result<File, String> {
        if url.is_empty() {
            return Err("no file is named".to_owned());
        }
        if url.split_once("::").is_some_and(|(_, rest)| rest.contains("://")) {
            return Err("a file inside of a file (a chain of URLs) is not read".to_owned());
        }
        if url.chars().any(char::is_control) {
            return Err("there is a control character in it".to_owned());
        }
        match url.split_once("://") {
            Some(("file" | "local", path)) => {
                self.local(path.strip_prefix("localhost").unwrap_or(path), true)
            }
            Some(("gcs", rest)) => self.remote(&format!("gs://{rest}")),
            Some(("memory", _)) if !matches!(&self.base, Base::Url(base) if base.starts_with("memory://")) => {
                Err("memory:// is not read from here".to_owned())
            }
            Some(_) => self.remote(url),
            None if FilePath::new(url).is_absolute() => self.local(url, false),
            None => self.relative(url),
        }
    }

    /// A file of this machine, which only a document that lies there may name.
    fn local(&self, path: &str, is_url: bool) -> Result<File, String> {
        if matches!(self.base, Base::Url(_)) {
            return Err("references that do not lie on this machine may not name its files; \
                        download the references, if you trust them"
                .to_owned());
        }
        let path = FilePath::new(path);
        if is_url && !path.is_absolute() {
            return Err("a file URL needs an absolute path".to_owned());
        }
        local_file(path)
    }

    fn remote(&self, url: &str) -> Result<File, String> {
        let is_http = url.starts_with("http://") || url.starts_with("https://");
        if is_http && url.contains(['?', '#']) {
            return Err("a URL that is signed or has a query is not read".to_owned());
        }
        match parse(url) {
            Ok(Place::Remote(address)) if address.scheme == Scheme::Datastore => {
                Err("it is a data set of a server, which is no file".to_owned())
            }
            Ok(Place::Remote(address)) => {
                self.check_host(&address)?;
                Ok(File { is_remote: true, ..url_file(url)? })
            }
            Ok(Place::Memory { .. }) => url_file(url),
            Ok(Place::Local(_)) => Err("it is no URL".to_owned()),
            Err(StoreError::Location { reason, .. }) => Err(reason),
            Err(_) => {
                Err("it is no s3://, gs://, az://, http(s):// or file:// URL and no path"
                    .to_owned())
            }
        }
    }

    /// References from elsewhere do not make this machine ask itself, or the services that answer
    /// to it alone.
    fn check_host(&self, address: &Address) -> Result<(), String> {
        let Base::Url(base) = &self.base else { return Ok(()) };
        let is_same = base == &address.root || base.starts_with(&format!("{}/", address.root));
        if address.scheme != Scheme::Http || is_same {
            return Ok(());
        }
        // As the client reads it: a host has many writings.
        let url = Url::parse(&address.root).map_err(|error| error.to_string())?;
        if url.host().is_some_and(|host| !is_inside(&host)) {
            return Ok(());
        }
        Err("references from elsewhere may not name this machine or what only it can reach; \
             download the references, if you trust them"
            .to_owned())
    }

    fn relative(&self, path: &str) -> Result<File, String> {
        match &self.base {
            Base::Local(directory) => local_file(&directory.join(path)),
            Base::Url(base) => {
                let is_remote = !base.starts_with("memory://");
                let joined = join_url(base, path)
                    .ok_or_else(|| format!("it leads out of what holds the references, {base}"))?;
                Ok(File { is_remote, ..url_file(&joined)? })
            }
        }
    }
}

fn local_file(path: &FilePath) -> Result<File, String> {
    let parts = path.parent().and_then(FilePath::to_str).zip(path.file_name());
    let parts = parts.and_then(|(directory, name)| Some((directory, name.to_str()?)));
    let (directory, name) = parts.ok_or("it is the path of no file")?;
    if matches!(path.components().next_back(), Some(Component::ParentDir)) {
        return Err("it is the path of no file".to_owned());
    }
    Ok(File { directory: directory.to_owned(), name: name.to_owned(), is_remote: false })
}

/// The directory and the name of a URL, which has both.
fn url_file(url: &str) -> Result<File, String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    match rest.rsplit_once('/') {
        Some((directory, name)) if !name.is_empty() => {
            let (directory, name) = (format!("{scheme}://{directory}"), unescaped(scheme, name)?);
            Ok(File { directory, name, is_remote: false })
        }
        _ => Err("it names no file".to_owned()),
    }
}

/// A name as a key: in a URL of HTTP some characters are written as numbers.
fn unescaped(scheme: &str, name: &str) -> Result<String, String> {
    if !matches!(scheme, "http" | "https") {
        return Ok(name.to_owned());
    }
    let bytes = crate::percent::percent_decode(name);
    let name = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let name = name.filter(|name| !name.contains('/'));
    name.ok_or_else(|| "a % in it stands for no character of a name".to_owned())
}

/// `path` from `base` on; `None` if it leads above the bucket or server.
fn join_url(base: &str, path: &str) -> Option<String> {
    let (scheme, rest) = base.split_once("://")?;
    let (root, below) = rest.split_once('/').unwrap_or((rest, ""));
    let mut names: Vec<&str> = below.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "." | "" => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(format!("{scheme}://{root}/{}", names.join("/")))
}

/// Names of this machine, and of what answers to it alone.
const INSIDE: [&str; 6] = [
    "localhost",
    "localhost6",
    "ip6-localhost",
    "ip6-loopback",
    "metadata.google.internal",
    "metadata.goog",
];

/// Addresses at which clouds give credentials to a machine of theirs, beside the link-local ones.
const METADATA: [Ipv4Addr; 3] = [
    Ipv4Addr::new(100, 100, 100, 200),
    Ipv4Addr::new(168, 63, 129, 16),
    Ipv4Addr::new(192, 0, 0, 192),
];

/// A host that is this machine or a service beside it.
fn is_inside(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => is_inside_v4(*address),
        Host::Ipv6(address) => is_inside_v6(*address),
        Host::Domain(name) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            let is_local = [".localhost", ".localdomain"].iter().any(|end| name.ends_with(end));
            is_local || INSIDE.contains(&name.as_str())
        }
    }
}

fn is_inside_v4(address: Ipv4Addr) -> bool {
    let is_this = address.is_loopback() || address.octets()[0] == 0;
    is_this || address.is_link_local() || METADATA.contains(&address)
}

fn is_inside_v6(address: Ipv6Addr) -> bool {
    let is_this = address.is_loopback() || address.is_unspecified();
    let is_near = address.is_unicast_link_local() || address.is_unique_local();
    is_this || is_near || address.to_ipv4().is_some_and(is_inside_v4)
}

/// A name as it is repeated in a message: without what may be a secret.
pub(crate) fn shown(url: &str) -> String {
    let (place, query) = url.split_once('?').map_or((url, ""), |(place, _)| (place, "?…"));
    let mut parts = place.split("://");
    let mut open = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let authority = part.split('/').next().unwrap_or_default();
        let secret = authority.rsplit_once('@').map_or("", |(secret, _)| secret);
        // `abfss://container@account.host` has no secret there.
        let is_container = open.ends_with("abfs") || open.ends_with("abfss");
        open.push_str("://");
        if secret.is_empty() || (is_container && !secret.contains(':')) {
            open.push_str(part);
        } else {
            open.push('…');
            open.push_str(&part[secret.len()..]);
        }
    }
    let shown: String = open.chars().take(200).collect();
    let cut = if shown.len() < open.len() { "…" } else { "" };
    format!("{shown}{cut}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(base: &str) -> Files {
        let base = if base.contains("://") {
            Base::Url(base.to_owned())
        } else {
            Base::Local(PathBuf::from(base))
        };
        Files::new(base, Connections::default())
    }

    fn located(base: &str, url: &str) -> Result<(String, String), String> {
        files(base).locate(url).map(|file| (file.directory, file.name))
    }

    #[test]
    fn a_name_is_a_path_a_url_or_relative_to_the_references() {
        for (base, url, directory, name) in [
            ("/data", "/a b/x#y%20.nc", "/a b", "x#y%20.nc"),
            ("/data", "file:///a/x.nc", "/a", "x.nc"),
            ("/data", "x.nc", "/data", "x.nc"),
            ("/data", "../sub/x.nc", "/data/../sub", "x.nc"),
            ("/data", "s3://bucket/a/x.nc", "s3://bucket/a", "x.nc"),
            ("/data", "gcs://bucket/x.nc", "gs://bucket", "x.nc"),
            ("/data", "http://localhost:1/a%20b.nc", "http://localhost:1", "a b.nc"),
            ("s3://bucket/refs", "../x.nc", "s3://bucket", "x.nc"),
            ("s3://bucket", "a//./x.nc", "s3://bucket/a", "x.nc"),
            ("s3://bucket", "https://host/x.nc", "https://host", "x.nc"),
            ("http://127.0.0.1:80/a", "http://127.0.0.1:80/x.nc", "http://127.0.0.1:80", "x.nc"),
            ("memory://m", "x.nc", "memory://m", "x.nc"),
        ] {
            let expected = (directory.to_owned(), name.to_owned());
            assert_eq!(located(base, url), Ok(expected), "{base} {url}");
        }
    }

    #[test]
    fn references_from_elsewhere_name_no_file_and_no_service_of_this_machine() {
        for base in ["s3://bucket/refs", "https://host", "memory://m"] {
            for url in
                ["/etc/passwd", "file:///etc/passwd", "local:///etc/passwd", "file://localhost/x"]
            {
                assert!(located(base, url).unwrap_err().contains("this machine"), "{base} {url}");
            }
            for host in [
                "localhost",
                "LOCALHOST:80",
                "127.0.0.1",
                "127.1",
                "2130706433",
                "0x7f.1",
                "[::1]:80",
                "0.0.0.0",
                "[::ffff:127.0.0.1]",
                "169.254.169.254",
                "[fe80::1]",
                "metadata.google.internal.",
                "a.localhost",
                "localhost.",
                "127.0.0.1.",
                "0x7f000001",
                "017700000001",
                "127.0.0.1\\latest\\meta-data",
                "127\u{3002}0\u{3002}0\u{3002}1:8077",
                "loc\u{ad}alhost",
                "\u{ff4c}ocalhost",
                "%6cocalhost",
                "[fd00:ec2::254]",
                "[::ffff:a9fe:a9fe]",
                "[::]",
                "100.100.100.200",
            ] {
                let error = located(base, &format!("http://{host}/x")).unwrap_err();
                assert!(error.contains("only it can reach"), "{host}: {error}");
            }
        }
        assert!(located("s3://bucket/a", "../../x").unwrap_err().contains("leads out"));
        assert!(located("http://host/a", "http://hostile/x").is_ok());
        assert!(located("http://localhost:80/a", "http://localhost:8080/x").is_err());
        assert!(located("http://host/a", "http://no host/x").is_err());
    }

    #[test]
    fn what_cannot_be_opened_is_refused_with_its_reason() {
        for (url, words) in [
            ("", "no file"),
            ("zip://x.nc::s3://b/y.zip", "chain"),
            ("ftp://host/x", "s3://"),
            ("https://host/x?sig=canary", "signed"),
            ("s3://bucket", "names no file"),
            ("s3://bucket/", "names no file"),
            ("file://relative", "absolute"),
            ("memory://m/x", "memory"),
            ("a\nb", "control"),
            ("http://host/a%2fb", "%"),
            ("..", "no file"),
        ] {
            let error = located("/data", url).unwrap_err();
            assert!(error.contains(words) && !error.contains("canary"), "{url}: {error}");
        }
        let long = format!("https://user:{}@host/x", "canary".repeat(50));
        for url in [
            "https://user:canary@host/x",
            "http://host/x?sig=canary",
            "zip://x.nc::https://user:canary@host/y",
            "abfss://box:canary@host/x",
            &long,
        ] {
            let error = files("/data").open(url).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
