use std::io::Write;
use std::path::PathBuf;

use futures::TryStreamExt;
use rawzip::{CompressionMethod, ZipArchiveWriter};
use tempfile::TempDir;

use crate::{Role, Store, StoreError};

/// A ZIP file in a directory of its own.
struct Archive {
    directory: TempDir,
    bytes: Vec<u8>,
}

/// Entries as (name, method, content).
fn archive(entries: &[(&str, CompressionMethod, &[u8])]) -> Archive {
    let mut bytes = Vec::new();
    let mut writer = ZipArchiveWriter::new(&mut bytes);
    for &(name, method, content) in entries {
        let name = rawzip::path::EntryPath::verbatim(name.as_bytes());
        let started = writer.new_file(name).compression_method(method).start();
        let (mut entry, config) = started.unwrap();
        let descriptor = if method == CompressionMethod::DEFLATE {
            let encoder =
                flate2::write::DeflateEncoder::new(&mut entry, flate2::Compression::default());
            let mut data = config.wrap(encoder);
            data.write_all(content).unwrap();
            let (encoder, descriptor) = data.finish().unwrap();
            encoder.finish().unwrap();
            descriptor
        } else {
            let mut data = config.wrap(&mut entry);
            data.write_all(content).unwrap();
            data.finish().unwrap().1
        };
        entry.finish(descriptor).unwrap();
    }
    writer.finish().unwrap();
    Archive { directory: TempDir::new().unwrap(), bytes }
}

impl Archive {
    fn path(&self) -> PathBuf {
        self.directory.path().join("data.zarr.ZIP")
    }

    /// The store at `below` inside the archive.
    fn open(&self, below: &str) -> Store {
        std::fs::write(self.path(), &self.bytes).unwrap();
        let location = self.path().join(below).display().to_string();
        Store::open(&location).unwrap().with_role(Role::Source)
    }

    /// Changes bytes behind the first `signature`, in the file's own records.
    fn edit(mut self, signature: &[u8], offset: usize, bytes: &[u8]) -> Self {
        let found = self.bytes.windows(signature.len()).position(|part| part == signature);
        let start = found.unwrap() + offset;
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
        self
    }
}

const STORED: CompressionMethod = CompressionMethod::STORE;
const DEFLATED: CompressionMethod = CompressionMethod::DEFLATE;
/// Starts a record of the directory, and the end of it.
const RECORD: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";

/// Longer than a piece, and of no period that a piece has.
fn long() -> Vec<u8> {
    (0..700_001_u32).map(|i| (i % 251 + i / 9973).to_le_bytes()[0]).collect()
}

fn message(error: &StoreError) -> String {
    error.to_string()
}

#[tokio::test]
async fn whole_objects_and_ranges_of_both_kinds() {
    let content = long();
    let archive = archive(&[("a/c/0", STORED, &content), ("a/c/1", DEFLATED, &content)]);
    let store = archive.open("a");
    for key in ["c/0", "c/1"] {
        assert_eq!(store.head(key).await.unwrap(), Some(700_001));
        assert_eq!(store.get(key, 700_001).await.unwrap().unwrap(), content, "{key}");
        assert_eq!(
            store.get_range(key, 262_000, 300_000).await.unwrap(),
            content[262_000..562_000]
        );
        assert_eq!(store.get_range(key, 700_000, 1).await.unwrap(), content[700_000..]);
        let short = store.get_range(key, 700_000, 2).await.unwrap_err();
        assert!(matches!(short, StoreError::Short { got_bytes: 1, .. }), "{short}");
        let mut buffer = Vec::new();
        assert!(store.get_into(key, 800_000, &mut buffer).await.unwrap());
        assert!(buffer == content && buffer.capacity() == 800_000);
        let refused = store.get(key, 700_000).await.unwrap_err();
        assert!(matches!(refused, StoreError::TooLarge { size_bytes: 700_001, .. }), "{refused}");
    }
    assert_eq!(store.get("c/2", 1).await.unwrap(), None);
    let traffic = store.meter().traffic().source;
    assert_eq!((traffic.get_requests, traffic.get_missing), (12, 1));
    assert_eq!(traffic.read_bytes, 2 * (2 * 700_001 + 300_000 + 1));
}

#[tokio::test]
async fn lists_keep_to_the_prefix_and_the_last_of_a_name_counts() {
    let archive = archive(&[
        ("a/c/0", STORED, b"old"),
        ("a/c/", STORED, b""),
        ("a/zarr.json", STORED, b"{}"),
        ("a/c/0", DEFLATED, b"newer"),
        ("a.zarr/x", STORED, b"1"),
        ("ab", STORED, b""),
    ]);
    let all = |store: Store| async move {
        let mut all: Vec<_> = store.list("").try_collect().await.unwrap();
        all.sort();
        all
    };
    let root = archive.open("");
    let expected = [("a.zarr/x", 1), ("a/c/0", 5), ("a/zarr.json", 2), ("ab", 0)];
    assert_eq!(all(root.clone()).await, expected.map(|(key, size)| (key.to_owned(), size)));
    let expected = [("c/0", 5), ("zarr.json", 2)];
    let a = root.child("a").unwrap();
    assert_eq!(all(a.clone()).await, expected.map(|(key, size)| (key.to_owned(), size)));
    assert_eq!(a.get("c/0", 9).await.unwrap().unwrap(), "newer");
    assert!(a.exists_anything().await.unwrap() && a.local_root().is_none());
    assert!(!root.child("b").unwrap().exists_anything().await.unwrap());
    assert_eq!(a.archive(), Some(archive.path().as_path()));
}

#[tokio::test]
async fn nothing_is_written() {
    let archive = archive(&[("x", STORED, b"1")]);
    let store = archive.open("");
    let before = std::fs::read(archive.path()).unwrap();
    assert!(message(&store.put("y", Vec::new()).await.unwrap_err()).contains("only read"));
    assert!(store.put_durable("y", Vec::new()).await.is_err());
    assert!(store.delete("x").await.is_err());
    assert!(store.delete_prefix("").await.is_err());
    assert_eq!(std::fs::read(archive.path()).unwrap(), before);
}

#[tokio::test]
async fn damage_is_never_data_nor_missing() {
    let content = long();
    let plain = || archive(&[("x", STORED, &content)]);
    let inflated = || archive(&[("x", DEFLATED, &content)]);
    let sizes = |size: u32| size.to_le_bytes();
    for (case, archive, says) in [
        ("a flipped bit", plain().edit(&content[..9], 5000, b"?"), "CRC-32"),
        ("another CRC", inflated().edit(RECORD, 16, b"abcd"), "CRC-32"),
        ("shorter", inflated().edit(RECORD, 24, &sizes(600_000)), "longer than the directory"),
        ("longer", inflated().edit(RECORD, 24, &sizes(900_000)), "ends early"),
        ("two sizes", plain().edit(RECORD, 24, &sizes(900_000)), "two sizes"),
        ("beyond the file", plain().edit(RECORD, 20, &sizes(90_000_000)), "outside of the file"),
        ("no header there", plain().edit(RECORD, 42, &sizes(7)), "Invalid signature"),
        ("an unknown method", plain().edit(RECORD, 10, &[93, 0]), "method 93"),
        ("encrypted", plain().edit(RECORD, 8, &[9, 0]), "it is encrypted"),
        ("a lost entry", plain().edit(END, 8, &[2, 0, 2, 0]), "2 entries, but 1"),
        ("no directory", plain().edit(END, 0, b"...."), "no ZIP file"),
    ] {
        let store = archive.open("");
        let error = store.get("x", 1_000_000).await.unwrap_err();
        assert!(message(&error).contains(says), "{case}: {error}");
        assert!(message(&error).contains("data.zarr.ZIP"), "{case}: {error}");
    }
}

#[tokio::test]
async fn a_torn_file_is_an_error() {
    let content = long();
    let whole = archive(&[("x", STORED, &content), ("y", DEFLATED, &content)]);
    for kept in [0, 10, 1000, whole.bytes.len() - 1] {
        let bytes = whole.bytes[..kept].to_vec();
        let torn = Archive { directory: TempDir::new().unwrap(), bytes };
        assert!(torn.open("").get("x", 1_000_000).await.is_err(), "{kept}");
        assert!(torn.open("").exists_anything().await.is_err(), "{kept}");
    }
}

#[tokio::test]
async fn names_that_lead_elsewhere_are_refused() {
    for name in ["", "../x", "a/../../x", "/etc/passwd", "a//b", "a/./b", "/"] {
        let archive = archive(&[("x", STORED, b"1"), (name, STORED, b"2")]);
        let error = archive.open("").get("x", 9).await.unwrap_err();
        assert!(message(&error).contains("no name inside of it"), "{name}: {error}");
    }
}

#[test]
fn what_is_a_zip_file_and_what_is_not() {
    let archive = archive(&[]);
    assert!(archive.open("").archive().is_some());
    let directory = archive.directory.path().join("directory.zip");
    std::fs::create_dir(&directory).unwrap();
    for path in [directory, archive.directory.path().join("new.zip")] {
        let store = Store::open(path.to_str().unwrap()).unwrap();
        assert!(store.archive().is_none() && store.local_root().is_some());
    }
    let dots = archive.path().join("../x").display().to_string();
    assert!(Store::open(&dots).unwrap_err().to_string().contains(".. behind a ZIP file"));
}

#[tokio::test]
async fn zip_files_are_known_by_their_names() {
    let filled = archive(&[("zarr.json", STORED, b"{}"), ("0/c/0", DEFLATED, b"1")]);
    let empty = archive(&[]);
    let at = |name: &str, bytes: &[u8]| {
        let path = filled.directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.display().to_string()
    };
    for name in ["image.ozx", "IMAGE.OZX", "a.ome.ozx", "b.Ozx", "c.zarr.zip"] {
        let file = at(name, &filled.bytes);
        let store = Store::open(&file).unwrap();
        assert!(store.archive().is_some(), "{name}");
        assert_eq!(store.get("zarr.json", 2).await.unwrap().unwrap(), &b"{}"[..]);
        let below = Store::open(&format!("{file}/0")).unwrap();
        assert_eq!(below.get("c/0", 1).await.unwrap().unwrap(), &b"1"[..], "{name}");
        assert!(
            Store::open(&at(&format!("empty-{name}"), &empty.bytes)).unwrap().archive().is_some()
        );
    }
    for (name, bytes) in [
        ("not.bin", &b"PK"[..]),
        ("not.npy", b"\x93NUMPY"),
        ("not.zarr", b"PK\x05\x06 an empty archive"),
        ("not.raw", b""),
        ("not.npz", b"PK\x03\x04 arrays of NumPy"),
    ] {
        let store = Store::open(&at(name, bytes));
        assert!(store.map_or(true, |store| store.archive().is_none()), "{name}");
    }
    // What has the name of one has to be one, and says so where it is not.
    let error = Store::open(&at("not.ozx", b"PK")).unwrap().get("x", 1).await.unwrap_err();
    assert!(message(&error).contains("it is no ZIP file"), "{error}");
}

#[tokio::test]
async fn the_comment_of_a_file_is_read() {
    let plain = archive(&[("x", STORED, b"1")]);
    assert_eq!(plain.open("").archive_comment().await, None);
    for comment in [
        &br#"{"ome": {"version": "0.5", "zipFile": {"centralDirectory": {"jsonFirst": true}}}}"#[..],
        b"x",
        b"no \xff text",
        &vec![b'a'; 65_535],
    ] {
        let mut commented = archive(&[("x", STORED, b"1")]);
        let length = u16::try_from(comment.len()).unwrap().to_le_bytes();
        let at = commented.bytes.len() - 2;
        commented.bytes.splice(at.., length.iter().chain(comment).copied());
        let read = commented.open("").archive_comment().await.unwrap();
        assert_eq!(read, String::from_utf8_lossy(comment));
        assert_eq!(commented.open("").get("x", 1).await.unwrap().unwrap(), &b"1"[..]);
    }
    let mut cut = archive(&[("x", STORED, b"1")]);
    let at = cut.bytes.len() - 2;
    cut.bytes.splice(at.., [9, 0, b'a']);
    assert_eq!(cut.open("").archive_comment().await, None, "it says more than there is");
}
