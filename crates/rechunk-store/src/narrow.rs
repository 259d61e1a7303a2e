//! Reading a part of an object that its first bytes tell.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::sync::Arc;

use crate::length::wide;

/// Outcome of reading an object, or the part of it that is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Got {
    /// There is none.
    Missing,
    /// All of it.
    Whole,
    /// Its first bytes, as [`Narrow`] has left them, and the range that it said.
    Part,
}

/// Says what of an object is needed.
#[derive(Clone)]
pub struct Narrow {
    head_bytes: u64,
    #[expect(clippy::type_complexity, reason = "used once")]
    choose: Arc<dyn Fn(&mut [u8], u64) -> Option<Range<u64>> + Send + Sync>,
}

impl fmt::Debug for Narrow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Narrow").field("head_bytes", &self.head_bytes).finish_non_exhaustive()
    }
}

impl Narrow {
    /// Takes `choose`, which gets the first `head_bytes` of a larger object, and its size, and
    /// returns the range needed behind them. It may change the head, and returns `None` if all is
    /// needed.
    pub fn new(
        head_bytes: usize,
        choose: impl Fn(&mut [u8], u64) -> Option<Range<u64>> + Send + Sync + 'static,
    ) -> Self {
        Self { head_bytes: wide(head_bytes), choose: Arc::new(choose) }
    }

    /// Reads what is needed of a file of `size_bytes`, which is at its beginning, into `bytes`,
    /// which is empty. Returns how many bytes that should be; there are fewer if the file was cut
    /// meanwhile.
    pub(crate) fn read(
        &self,
        mut file: &File,
        size_bytes: u64,
        bytes: &mut Vec<u8>,
    ) -> io::Result<u64> {
        let head = self.head_bytes.min(size_bytes);
        let got = file.take(head).read_to_end(bytes)?;
        if wide(got) < head || head == size_bytes {
            return Ok(size_bytes);
        }
        let chosen = (self.choose)(bytes, size_bytes);
        // Less than all: who gets as many bytes as there are has the object as it is.
        let is_part = |rest: &Range<u64>| {
            head <= rest.start
                && rest.start <= rest.end
                && rest.end <= size_bytes
                && (head, size_bytes) != (rest.start, rest.end)
        };
        let Some(rest) = chosen.filter(is_part) else {
            bytes.clear();
            file.rewind()?;
            return file.take(size_bytes).read_to_end(bytes).map(|_| size_bytes);
        };
        let length = rest.end - rest.start;
        file.seek(io::SeekFrom::Start(rest.start))?;
        file.take(length).read_to_end(bytes)?;
        Ok(head + length)
    }
}
