//! Files that are compressed as a whole (`.nii.gz`): unpacked beside the target before they are
//! read, packed when they are complete. Both are streams, in memory of a fixed size; a run that is
//! killed while it packs or unpacks does that again.

use std::fs::{self, File, Metadata};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use rechunk_array::Array;
use rechunk_store::{Role, Store};

use crate::Error;
use crate::formats::has_ending;
use crate::open::OpenArray;

/// Bytes moved at a time.
const WINDOW_BYTES: usize = 1 << 20;

/// Most bytes that a byte of deflate can stand for: 258 in two bits.
const RATIO_MAX: u64 = 1032;

/// Most bytes behind the elements, which are unpacked for their checksum alone.
const TAIL_BYTES_MAX: u64 = 16 << 20;

/// The level most writers of NIfTI take.
const LEVEL: u32 = 6;

/// The name without `.gz`, if it ends so.
pub(crate) fn unpacked_name(name: &str) -> Option<&str> {
    has_ending(name, "gz").then(|| &name[..name.len() - ".gz".len()])
}

/// The most that so many bytes of gzip unpack to.
pub(crate) fn unpacked_bytes_max(packed_bytes: u64) -> u64 {
    packed_bytes.saturating_mul(RATIO_MAX)
}

/// The first bytes of what `packed`, the beginning of a file, unpacks to: at most `limit`.
pub(crate) fn first_bytes(packed: &[u8], limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut decoder = MultiGzDecoder::new(packed).take(limit);
    match decoder.read_to_end(&mut bytes) {
        // The rest of the file was not given.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && !bytes.is_empty() => {}
        Err(error) => return Err(error),
        Ok(_) => {}
    }
    Ok(bytes)
}

/// `source` as the file it unpacks to, in `folder`; itself if it is not packed.
pub(crate) async fn unpack(source: &OpenArray, folder: &Store) -> Result<OpenArray, Error> {
    let Some(packed) = source.packed.clone() else { return Ok(source.clone()) };
    let name = source.metadata.file_name().unwrap_or_default();
    let root = folder.local_root().map(Path::to_owned).ok_or_else(|| not_local(source))?;
    let target = root.join(&name);
    // As it is stored, whatever it is read as.
    let stored = source.metadata.layout().ok();
    let wanted = stored.and_then(|stored| {
        let first = vec![0; stored.spec().shape.len()];
        stored.runs()?.file_bytes(stored.spec(), &first).ok()
    });
    let wanted = wanted.unwrap_or(u64::MAX);
    let unpacking = move || unpack_file(&packed, &target, wanted);
    run_blocking(unpacking).await.map_err(|error| Error::NotAnArray {
        location: source.location.clone(),
        reason: format!("cannot be unpacked into {}: {error}", root.display()),
        hint: Some("it is damaged or cut off, or there is no room for what it holds".into()),
    })?;
    let store = folder.with_meter(source.array.store().meter()).with_role(Role::Source);
    let array = Array::new(Arc::clone(source.array.layout()), store);
    Ok(OpenArray { array, packed: None, ..source.clone() })
}

fn not_local(source: &OpenArray) -> Error {
    Error::NotAnArray {
        location: source.location.clone(),
        reason: "a compressed file is unpacked on a local disk first, and there is none beside \
                 the target"
            .to_owned(),
        hint: Some("unpack it yourself, or write to a local disk".into()),
    }
}

/// True if what an earlier run has unpacked in `folder` is not of the file that is there now.
pub(crate) fn has_stale_unpacked(source: &OpenArray, folder: &Store) -> bool {
    let written = source.packed.as_ref().and_then(|packed| packed.metadata().ok()?.modified().ok());
    let kept = folder.local_root().zip(source.metadata.file_name());
    let kept = kept.and_then(|(root, name)| root.join(name).metadata().ok());
    kept.zip(written).is_some_and(|(kept, written)| is_stale(&kept, written))
}

/// True if a file was unpacked from an older one than that which was written then. Some file
/// systems round times to two seconds.
fn is_stale(kept: &Metadata, written: SystemTime) -> bool {
    const ROUNDED: Duration = Duration::from_secs(2);
    let later = kept.modified().ok().and_then(|modified| written.duration_since(modified).ok());
    later.is_some_and(|later| later > ROUNDED)
}

/// Unpacks the first `wanted` bytes of a file, and checks the rest of it.
#[expect(clippy::disallowed_methods, reason = "files beside a store, before and after it")]
fn unpack_file(packed: &Path, target: &Path, wanted: u64) -> io::Result<()> {
    let written = packed.metadata()?.modified()?;
    if target.metadata().is_ok_and(|kept| kept.len() == wanted && !is_stale(&kept, written)) {
        return Ok(()); // an earlier run has: it got its name when it was whole
    }
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let reader = BufReader::with_capacity(WINDOW_BYTES, File::open(packed)?);
    let mut decoder = MultiGzDecoder::new(reader);
    let part = part_of(target);
    let mut file = BufWriter::with_capacity(WINDOW_BYTES, create(&part)?);
    let copied = io::copy(&mut decoder.by_ref().take(wanted), &mut file)?;
    if copied < wanted {
        let reason = format!("it holds {copied} bytes, but its elements need {wanted}");
        return Err(io::Error::new(io::ErrorKind::UnexpectedEof, reason));
    }
    // What follows the elements is not needed, but its checksum is.
    let tail = io::copy(&mut decoder.take(TAIL_BYTES_MAX + 1), &mut io::sink())?;
    if tail > TAIL_BYTES_MAX {
        let reason = format!("more than {TAIL_BYTES_MAX} bytes follow after its elements");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    // A later run takes it by its size and time: not after a power cut has taken what was in it.
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    // Not every file system lets us: then it is newer than what it was made from.
    let _ = file.set_modified(written);
    file.sync_all()?;
    fs::rename(part, target)
}

/// Packs the file `name` of `folder` to `target`, in place of any file there.
pub(crate) async fn pack(folder: &Store, name: &str, target: &Store) -> Result<(), Error> {
    let failed = |reason: String| Error::State { path: target.label().to_owned(), reason };
    let (Some(root), Some(target_path)) = (folder.local_root(), target.local_root()) else {
        return Err(failed("it is not on a local disk".to_owned()));
    };
    let (from, to) = (root.join(name), target_path.to_owned());
    let fsyncs = target.fsyncs();
    let packing = move || pack_file(&from, &to, fsyncs);
    run_blocking(packing).await.map_err(|error| failed(format!("cannot be packed: {error}")))
}

#[expect(clippy::disallowed_methods, reason = "files beside a store, before and after it")]
fn pack_file(from: &Path, to: &Path, fsyncs: bool) -> io::Result<()> {
    let part = part_of(to);
    let mut file = BufReader::with_capacity(WINDOW_BYTES, File::open(from)?);
    let writer = BufWriter::with_capacity(WINDOW_BYTES, create(&part)?);
    let mut encoder = GzEncoder::new(writer, Compression::new(LEVEL));
    io::copy(&mut file, &mut encoder)?;
    let mut writer = encoder.finish()?;
    writer.flush()?;
    if fsyncs {
        writer.get_ref().sync_all()?;
    }
    fs::rename(&part, to)?;
    match to.parent().filter(|_| fsyncs) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// A new file in place of what an earlier run has left; no link is followed.
#[expect(clippy::disallowed_methods, reason = "files beside a store, before and after it")]
fn create(part: &Path) -> io::Result<File> {
    match fs::remove_file(part) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    File::create_new(part)
}

/// The name of a file under way.
pub(crate) fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

async fn run_blocking(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_and_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        fs::write(at("a"), &bytes).unwrap();
        pack_file(&at("a"), &at("a.gz"), true).unwrap();
        let packed = fs::read(at("a.gz")).unwrap();
        assert!(packed.len() < bytes.len());
        assert_eq!(first_bytes(&packed[..5000], 100).unwrap(), bytes[..100]);
        unpack_file(&at("a.gz"), &at("b"), bytes.len() as u64).unwrap();
        assert_eq!(fs::read(at("b")).unwrap(), bytes);
        let short = unpack_file(&at("a.gz"), &at("c"), bytes.len() as u64 + 1).unwrap_err();
        assert!(short.to_string().contains("its elements need"), "{short}");
        fs::write(at("cut.gz"), &packed[..packed.len() - 9]).unwrap();
        assert!(unpack_file(&at("cut.gz"), &at("d"), bytes.len() as u64).is_err());
        let mut damaged = packed;
        let last = damaged.len() - 6;
        damaged[last] ^= 1; // the checksum
        fs::write(at("bad.gz"), &damaged).unwrap();
        assert!(unpack_file(&at("bad.gz"), &at("e"), 10).is_err());
        assert!(!at("e").exists());
        fs::write(at("long.gz"), {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::new(1));
            io::copy(&mut io::repeat(0).take(TAIL_BYTES_MAX + 11), &mut encoder).unwrap();
            encoder.finish().unwrap()
        })
        .unwrap();
        assert!(unpack_file(&at("long.gz"), &at("f"), 11).is_ok());
        let long = unpack_file(&at("long.gz"), &at("g"), 10).unwrap_err();
        assert!(long.to_string().contains("follow after"), "{long}");
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a"), "elements").unwrap();
        fs::write(at("somebody's"), "keep me").unwrap();
        std::os::unix::fs::symlink(at("somebody's"), at("a.gz.part")).unwrap();
        pack_file(&at("a"), &at("a.gz"), true).unwrap();
        assert_eq!(fs::read(at("somebody's")).unwrap(), b"keep me");
        assert!(!at("a.gz").is_symlink());
    }
}
