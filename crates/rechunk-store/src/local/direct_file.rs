//! Writing past the page cache (`O_DIRECT`): whole blocks, from a place in memory that a disk can
//! take them from.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{Mode, OFlags};

use crate::length::wide;

/// A file, for writes past the cache.
pub(crate) struct DirectFile<'a> {
    file: &'a File,
    direct: File,
}

impl<'a> DirectFile<'a> {
    /// Opens `file` once more, so that it stays as others know it.
    pub(crate) fn of(file: &'a File) -> io::Result<Self> {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = OFlags::WRONLY | OFlags::DIRECT | OFlags::CLOEXEC;
        let direct = File::from(rustix::fs::open(path, flags, Mode::empty())?);
        Ok(Self { file, direct })
    }

    /// Writes `parts`, one behind the other, from `offset` on. Whole blocks go from where they are,
    /// if they begin at one of `block_bytes` there too, others by way of `bounce`, which begins at
    /// a block and has a whole number of them. What lies in blocks that are not filled goes through
    /// the cache. Fails where a file system cannot do it; then any of the bytes may be there.
    pub(crate) fn write<'b>(
        &self,
        mut offset: u64,
        parts: impl Iterator<Item = &'b [u8]>,
        bounce: &mut [u8],
        block_bytes: usize,
    ) -> io::Result<()> {
        let block = wide(block_bytes);
        let mut filled = 0;
        for mut part in parts {
            while !part.is_empty() {
                let before = usize::try_from(offset.next_multiple_of(block) - offset).unwrap_or(0);
                if filled == 0 && before > 0 {
                    let head = part.len().min(before);
                    self.file.write_all_at(&part[..head], offset)?;
                    (offset, part) = (offset + wide(head), &part[head..]);
                    continue;
                }
                let whole = part.len() - part.len() % block_bytes;
                if filled == 0 && whole > 0 && part.as_ptr().align_offset(block_bytes) == 0 {
                    self.direct.write_all_at(&part[..whole], offset)?;
                    (offset, part) = (offset + wide(whole), &part[whole..]);
                    continue;
                }
                let taken = part.len().min(bounce.len() - filled);
                bounce[filled..filled + taken].copy_from_slice(&part[..taken]);
                (filled, part) = (filled + taken, &part[taken..]);
                if filled == bounce.len() {
                    self.direct.write_all_at(bounce, offset)?;
                    (offset, filled) = (offset + wide(filled), 0);
                }
            }
        }
        let whole = filled - filled % block_bytes;
        self.direct.write_all_at(&bounce[..whole], offset)?;
        self.file.write_all_at(&bounce[whole..filled], offset + wide(whole))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK_BYTES: usize = 4096;

    #[test]
    fn runs_of_any_length_in_parts_of_any_length_at_any_place() {
        let folder = tempfile::tempdir().unwrap();
        let mut buffer = vec![0; 4 * BLOCK_BYTES];
        let first = buffer.as_ptr().align_offset(BLOCK_BYTES);
        let bounce = &mut buffer[first..][..3 * BLOCK_BYTES];
        let bytes: Vec<u8> = (0..=250).cycle().take(10 * BLOCK_BYTES).collect();
        let (aligned, all) = (bytes.as_ptr().align_offset(BLOCK_BYTES), &bytes);
        let probe = tempfile::tempfile_in(folder.path()).unwrap();
        let part = std::iter::once(&bytes[..BLOCK_BYTES]);
        if DirectFile::of(&probe).and_then(|f| f.write(0, part, bounce, BLOCK_BYTES)).is_err() {
            return; // not every file system can
        }
        for length in [0, 1, 4095, 4096, 4097, 3 * 4096, 3 * 4096 + 1, 6 * 4096, 8 * 4096 - 1] {
            for (part, offset, start) in [
                (1000, 0, 0),
                (4096, 4096, 0),
                (5000, 100, 0),
                (8 * 4096, 2 * 4096 - 1, 0),
                // From where they are: all; behind a part of a block; in turn with others.
                (8 * 4096, 4096, aligned),
                (8 * 4096, 4096 + 100, aligned + 100),
                (4097, 0, aligned),
            ] {
                let bytes = &all[start..];
                let path = folder.path().join(format!("{length}-{part}-{offset}-{start}"));
                std::fs::write(&path, vec![255; 12 * BLOCK_BYTES]).unwrap();
                let file = File::options().write(true).open(&path).unwrap();
                let parts = bytes[..length].chunks(part);
                let direct = DirectFile::of(&file).unwrap();
                direct.write(wide(offset), parts, bounce, BLOCK_BYTES).unwrap();
                let found = std::fs::read(&path).unwrap();
                assert!(found[offset..][..length] == bytes[..length], "{length} {part}");
                let others = found[..offset].iter().chain(&found[offset + length..]);
                assert_eq!(others.filter(|&&b| b == 255).count() + length, found.len());
            }
        }
    }
}
