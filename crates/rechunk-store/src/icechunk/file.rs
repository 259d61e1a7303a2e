//! Files of Icechunk: a head that says what is in it, and tables of FlatBuffers, compressed
//! (*Binary File Format* of the specification).

use std::io::{self, Read};

use bytes::Bytes;

use super::fault::Fault;

/// First bytes of every file.
pub(super) const MAGIC: &[u8] = "ICE🧊CHUNK".as_bytes();
/// Bytes of the name of the program that has written it.
const WRITER_BYTES: usize = 24;
/// Bytes of the head.
const HEAD_BYTES: usize = MAGIC.len() + WRITER_BYTES + 3;
/// Binary logarithm of the most bytes of what is unpacked that zstd looks back to.
const WINDOW_LOG_MAX: u32 = 27;

/// Kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Snapshot,
    Manifest,
    RepoInfo,
}

impl Kind {
    fn number(self) -> u8 {
        match self {
            Self::Snapshot => 1,
            Self::Manifest => 2,
            Self::RepoInfo => 6,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "a snapshot",
            Self::Manifest => "a manifest",
            Self::RepoInfo => "the information on a repository",
        }
    }

    /// Most bytes of the file as it is stored.
    pub(super) fn limit_bytes(self) -> u64 {
        match self {
            Self::Snapshot | Self::RepoInfo => 128 << 20,
            Self::Manifest => 512 << 20,
        }
    }

    /// Most bytes of what is in it, unpacked.
    fn unpacked_bytes_max(self) -> u64 {
        match self {
            Self::Snapshot | Self::RepoInfo => 256 << 20,
            Self::Manifest => 1 << 30,
        }
    }

    /// Way out where a file is too large.
    fn advice(self) -> &'static str {
        match self {
            Self::Manifest => {
                "; have Icechunk split it (ManifestSplittingConfig, then repo.rewrite_manifests)"
            }
            Self::Snapshot | Self::RepoInfo => "",
        }
    }
}

/// Unpacks the file `key`, which is to be of a kind, to its tables. Blocks.
pub(super) fn unpack(key: &str, bytes: &Bytes, kind: Kind) -> Result<Bytes, Fault> {
    let key_of = || key.to_owned();
    let [version, found, compression] = match bytes.get(HEAD_BYTES - 3..HEAD_BYTES) {
        Some(&[version, found, compression]) if bytes.starts_with(MAGIC) => {
            [version, found, compression]
        }
        _ => return Err(Fault::NotIcechunk { key: key_of() }),
    };
    if !matches!(version, 1 | 2) {
        let writer = std::str::from_utf8(&bytes[MAGIC.len()..HEAD_BYTES - 3]).ok();
        let writer = writer.map(str::trim).filter(|name| !name.contains(char::is_control));
        let writer = writer.filter(|name| !name.is_empty()).unwrap_or("a program without a name");
        return Err(Fault::Spec { key: key_of(), version, writer: writer.to_owned() });
    }
    if found != kind.number() {
        let found = match found {
            1 => Kind::Snapshot.name().to_owned(),
            2 => Kind::Manifest.name().to_owned(),
            6 => Kind::RepoInfo.name().to_owned(),
            number => format!("a file of kind {number}"),
        };
        return Err(Fault::Kind { key: key_of(), found, expected: kind.name() });
    }
    let body = bytes.slice(HEAD_BYTES..);
    match compression {
        0 => Ok(body),
        1 => {
            let limit_bytes = kind.unpacked_bytes_max();
            let failed = |error: io::Error| Fault::unpack(key, &error);
            let mut decoder =
                zstd::stream::read::Decoder::with_buffer(&body[..]).map_err(failed)?;
            decoder.window_log_max(WINDOW_LOG_MAX).map_err(failed)?;
            let mut unpacked = Vec::new();
            // It takes memory as it comes: what a frame says of its size is not believed.
            decoder.take(limit_bytes + 1).read_to_end(&mut unpacked).map_err(failed)?;
            if crate::length::wide(unpacked.len()) > limit_bytes {
                return Err(Fault::TooLarge { key: key_of(), limit_bytes, advice: kind.advice() });
            }
            unpacked.shrink_to_fit();
            Ok(unpacked.into())
        }
        number => Err(Fault::Compression { key: key_of(), number }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, kind: u8, compression: u8, body: &[u8]) -> Bytes {
        let head = [MAGIC, &[b' '; WRITER_BYTES], &[version, kind, compression]].concat();
        [&head[..], body].concat().into()
    }

    #[test]
    fn a_file_is_of_its_kind_and_of_a_version_that_is_known() {
        let packed = zstd::encode_all(&b"tables"[..], 3).unwrap();
        for version in [1, 2] {
            let unpacked = unpack("k", &file(version, 2, 1, &packed), Kind::Manifest).unwrap();
            assert_eq!(unpacked, "tables");
        }
        assert_eq!(unpack("k", &file(2, 1, 0, b"x"), Kind::Snapshot).unwrap(), "x");
        for (bytes, words) in [
            (Bytes::from_static(MAGIC), "k is no file of Icechunk"),
            (Bytes::new(), "no file of Icechunk"),
            (file(3, 2, 1, &packed), "version 3 of the format"),
            (file(2, 1, 1, &packed), "k says that it is a snapshot, not a manifest"),
            (file(2, 4, 1, &packed), "a file of kind 4"),
            (file(2, 2, 7, &packed), "number 7"),
            (file(2, 2, 1, &packed[..8]), "k is damaged: it cannot be unpacked"),
            (file(2, 2, 1, b"tables"), "it cannot be unpacked"),
        ] {
            let error = unpack("k", &bytes, Kind::Manifest).unwrap_err().to_string();
            assert!(error.contains(words), "{words}: {error}");
        }
    }

    #[test]
    fn few_bytes_do_not_unpack_to_any_number() {
        let packed = zstd::encode_all(io::repeat(0).take((256 << 20) + 1), 1).unwrap();
        let error = unpack("k", &file(2, 1, 1, &packed), Kind::Snapshot).unwrap_err();
        assert!(matches!(error, Fault::TooLarge { .. }), "{error}");
    }
}
