use std::io::{Seek, SeekFrom};
use std::path::PathBuf;

use futures::TryStreamExt;
use rawzip::{CompressionMethod, ZipArchive};
use tempfile::TempDir;

use super::*;

/// A directory of objects, and the file that it is packed into.
struct Lab {
    folder: TempDir,
}

impl Lab {
    fn new(objects: &[&str]) -> Self {
        let lab = Self { folder: TempDir::new().unwrap() };
        for key in objects {
            let path = lab.built().join(key);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, key.repeat(3)).unwrap();
        }
        lab
    }

    fn built(&self) -> PathBuf {
        self.folder.path().join("built")
    }

    fn part(&self) -> PathBuf {
        self.folder.path().join("packed/x.zip.part")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("x.zip")
    }

    async fn pack(
        &self,
        packing: &Packing,
        may_replace: bool,
    ) -> Result<Option<Packed>, StoreError> {
        let store = Store::open(&self.built().display().to_string()).unwrap();
        let places = (&*self.part(), &*self.file());
        store.pack_zip(places, packing, async || Ok(may_replace)).await
    }

    /// Names of the entries, in the order of the directory; of the file it is the same.
    fn names(&self) -> Vec<String> {
        let mut buffer = vec![0; MAX_CENTRAL_DIRECTORY_RECORD_SIZE];
        let file = File::open(self.file()).unwrap();
        let archive = ZipArchive::from_file(file, &mut buffer).unwrap();
        let (mut names, mut last) = (Vec::new(), None);
        let mut records = archive.entries(&mut buffer);
        while let Some(record) = records.next_entry().unwrap() {
            assert_eq!(record.compression_method(), CompressionMethod::STORE);
            assert!(last < Some(record.local_header_offset()), "{names:?}");
            last = Some(record.local_header_offset());
            let name = std::str::from_utf8(record.file_path().as_bytes()).unwrap().to_owned();
            assert_eq!(record.flags().is_utf8(), !name.is_ascii(), "{name}");
            names.push(name);
        }
        names
    }
}

/// The objects of the ZIP file at `path`, read by us.
async fn read(path: &FilePath) -> Vec<(String, Vec<u8>)> {
    let store = Store::open(&path.display().to_string()).unwrap();
    let mut listed: Vec<(String, u64)> = store.list("").try_collect().await.unwrap();
    listed.sort();
    let mut found = Vec::new();
    for (key, bytes) in listed {
        let content = store.get(&key, bytes).await.unwrap().unwrap();
        found.push((key, content.to_vec()));
    }
    found
}

#[tokio::test]
async fn documents_come_first_breadth_first() {
    let keys = [
        "0/c/0/0",
        "0/zarr.json",
        "0/c/0/1",
        "zarr.json",
        "b/a/zarr.json",
        "b/zarr.json",
        "a/zarr.json",
        "README",
        "b/a/c/0",
        "a/zarr.json.txt",
    ];
    let lab = Lab::new(&keys);
    let mut packing = Packing::default();
    (packing.comment, packing.verify) = (r#"{"ome": "ü"}"#.to_owned(), true);
    let packed = lab.pack(&packing, true).await.unwrap().unwrap();
    let order = [
        "zarr.json",
        "0/zarr.json",
        "a/zarr.json",
        "b/zarr.json",
        "b/a/zarr.json",
        "0/c/0/0",
        "0/c/0/1",
        "README",
        "a/zarr.json.txt",
        "b/a/c/0",
    ];
    assert_eq!(lab.names(), order);
    let content_bytes = keys.iter().map(|key| wide(key.len() * 3)).sum();
    let bytes = lab.file().metadata().unwrap().len();
    assert_eq!(packed, Packed { entries: 10, content_bytes, bytes });
    assert!(bytes > content_bytes);
    let mut expected = keys.map(|key| (key.to_owned(), key.repeat(3).into_bytes())).to_vec();
    expected.sort();
    assert_eq!(read(&lab.file()).await, expected);
    let store = Store::open(&lab.file().display().to_string()).unwrap();
    assert_eq!(store.archive_comment().await.as_deref(), Some(&*packing.comment));
    assert!(!lab.part().exists());
}

#[tokio::test]
async fn the_same_objects_make_the_same_file() {
    let packed = async || {
        let lab = Lab::new(&["zarr.json", "c/1", "c/0"]);
        lab.pack(&Packing::default(), true).await.unwrap().unwrap();
        fs::read(lab.file()).unwrap()
    };
    assert_eq!(packed().await, packed().await);
}

#[test]
fn each_name_is_there_once() {
    let mut keys = ["b/.zarray", "c", ".zgroup", "c", ".zattrs", ".zmetadata"].map(str::to_owned);
    keys[0].push('s'); // no document
    let mut keys = keys.to_vec();
    in_order(&mut keys);
    assert_eq!(keys, [".zmetadata", ".zgroup", ".zattrs", "b/.zarrays", "c"]);
}

#[tokio::test]
async fn names_stay_as_they_are() {
    let lab = Lab::new(&["a:b/c", "ä:ö/ü", "a b/.c", "x..y/z"]);
    lab.pack(&Packing::default(), true).await.unwrap().unwrap();
    assert_eq!(lab.names(), ["a b/.c", "a:b/c", "x..y/z", "ä:ö/ü"]);
}

#[tokio::test]
async fn what_is_there_stays_until_the_new_file_is_whole() {
    let lab = Lab::new(&["zarr.json", "c/0"]);
    fs::write(lab.file(), "old").unwrap();
    let is_old = || fs::read(lab.file()).unwrap() == b"old";
    assert_eq!(lab.pack(&Packing::default(), false).await.unwrap(), None);
    assert!(is_old() && lab.part().exists());
    let packing = Packing::default();
    packing.cancel.cancel();
    let error = lab.pack(&packing, true).await.unwrap_err().to_string();
    assert!(error.contains("stopped") && is_old(), "{error}");
    // A link in the place of the file under way is not followed.
    fs::remove_file(lab.part()).unwrap();
    std::os::unix::fs::symlink(lab.file(), lab.part()).unwrap();
    assert_eq!(lab.pack(&Packing::default(), false).await.unwrap(), None);
    assert!(is_old());
    lab.pack(&Packing::default(), true).await.unwrap().unwrap();
    assert_eq!(lab.names(), ["zarr.json", "c/0"]);
}

#[tokio::test]
async fn a_damaged_file_is_noticed() {
    let lab = Lab::new(&["zarr.json", "c/0"]);
    lab.pack(&Packing::default(), true).await.unwrap().unwrap();
    let cancel = CancellationToken::new();
    let found = |entries| check(File::open(lab.file()).unwrap(), entries, &cancel);
    found(2).unwrap();
    assert!(found(3).unwrap_err().to_string().contains("2 entries"));
    let mut bytes = fs::read(lab.file()).unwrap();
    let at = bytes.windows(6).position(|part| part == b"c/0c/0").unwrap();
    bytes[at + 3] ^= 1; // behind its name begins its content
    fs::write(lab.file(), bytes).unwrap();
    assert_eq!(found(2).unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[tokio::test]
async fn more_entries_than_16_bits_count() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("many.zip");
    let file = BufWriter::new(File::create_new(&path).unwrap());
    let mut zip = Zip::new(file);
    let cancel = CancellationToken::new();
    for number in 0..66_000_u32 {
        let content = number.to_le_bytes();
        zip.add(&format!("c/{number}"), 4, &mut &content[..], &cancel).unwrap();
    }
    zip.finish("").unwrap().into_inner().unwrap();
    check(File::open(&path).unwrap(), 66_000, &cancel).unwrap();
    let store = Store::open(&path.display().to_string()).unwrap();
    let last = store.get("c/65999", 4).await.unwrap().unwrap();
    assert_eq!(last[..], 65_999_u32.to_le_bytes());
}

/// A file with a hole of five gibibytes before its entries: their places take 64 bits.
#[tokio::test]
async fn entries_behind_4_gib_are_found() {
    const HOLE_BYTES: u64 = 5 << 30;
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("far.zip");
    let mut file = File::create_new(&path).unwrap();
    file.seek(SeekFrom::Start(HOLE_BYTES)).unwrap();
    let mut zip = Zip::new(file);
    let cancel = CancellationToken::new();
    for name in ["zarr.json", "c/0"] {
        zip.add(name, wide(name.len()), &mut name.as_bytes(), &cancel).unwrap();
    }
    zip.finish("far").unwrap();
    check(File::open(&path).unwrap(), 2, &cancel).unwrap();
    let expected = ["c/0", "zarr.json"].map(|key| (key.to_owned(), key.as_bytes().to_vec()));
    assert_eq!(read(&path).await, expected);
}

/// Entries of 4 GiB and more have sizes of 64 bits, before them and in the directory.
#[tokio::test]
async fn large_entries_have_large_sizes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("large.zip");
    let mut zip = Zip::new(File::create_new(&path).unwrap());
    zip.large_bytes = 9;
    let cancel = CancellationToken::new();
    zip.add("a", 8, &mut &b"is small"[..], &cancel).unwrap();
    zip.add("b", 9, &mut &b"and large"[..], &cancel).unwrap();
    zip.finish("").unwrap();
    check(File::open(&path).unwrap(), 2, &cancel).unwrap();
    let expected = [("a", "is small"), ("b", "and large")];
    let expected = expected.map(|(key, content)| (key.to_owned(), content.as_bytes().to_vec()));
    assert_eq!(read(&path).await, expected);
    let bytes = fs::read(&path).unwrap();
    let zip64 = |name: &[u8]| {
        let at = bytes.windows(name.len()).position(|part| part == name).unwrap() + name.len();
        bytes[at..].starts_with(&[1, 0, 16, 0, 9])
    };
    assert!(zip64(b"b") && !zip64(b"a"));
}

/// A reader that goes through the file without its directory knows sizes before entries.
#[tokio::test]
async fn sizes_stand_before_entries() {
    let lab = Lab::new(&["zarr.json", "c/0"]);
    lab.pack(&Packing::default(), true).await.unwrap().unwrap();
    let bytes = fs::read(lab.file()).unwrap();
    let field = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!(&bytes[..4], b"PK\x03\x04");
    assert_eq!(bytes[6] & 8, 0, "what follows an entry has its sizes");
    assert_eq!((field(18), field(22)), (27, 27));
    assert!(field(14) != 0, "the checksum");
}

#[test]
fn what_is_wrong_is_said_and_nothing_more_is_written() {
    let cancel = CancellationToken::new();
    let mut zip = Zip::new(io::Cursor::new(Vec::new()));
    zip.add("a", 3, &mut &b"abc"[..], &cancel).unwrap();
    let again = zip.add("a", 3, &mut &b"abc"[..], &cancel).unwrap_err().to_string();
    assert!(again.to_lowercase().contains("duplicate"), "{again}");
    let short = zip.add("b", 9, &mut &b"short"[..], &cancel).unwrap_err().to_string();
    assert!(short.contains("b had 9 bytes, and 5 were read"), "{short}");
    zip.give_up();
    let file = TempDir::new().unwrap();
    let path = file.path().join("full");
    fs::write(&path, "").unwrap();
    // A file that takes nothing, as that of a full disk.
    let mut zip = Zip::new(BufWriter::with_capacity(1, File::open(&path).unwrap()));
    assert!(zip.add("a", 3, &mut &b"abc"[..], &cancel).is_err());
    zip.give_up();
}

/// The library ends a file that is dropped, and tells people itself where it cannot.
#[test]
fn a_writer_that_is_given_up_goes_on_counting() {
    let given_up = Arc::<AtomicBool>::default();
    let mut writer =
        UntilGivenUp { inner: io::Cursor::new(Vec::new()), given_up: Arc::clone(&given_up), at: 0 };
    writer.write_all(b"12345").unwrap();
    given_up.store(true, Ordering::Relaxed);
    writer.write_all(b"678").unwrap();
    assert_eq!(writer.stream_position().unwrap(), 8);
    assert_eq!(writer.seek(SeekFrom::Start(2)).unwrap(), 2);
    writer.write_all(b"abc").unwrap();
    assert_eq!(writer.seek(SeekFrom::Current(-1)).unwrap(), 4);
    assert_eq!(writer.inner.into_inner(), b"12345");
}
