//! The bytes of an entry, in pieces.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::{Error, Result};
use rawzip::RangeReader;

use super::fault::ZipFault;
use super::index::{Entry, Index, Method};

/// Bytes handed on at once: what a read holds besides the buffer it fills.
const PIECE_BYTES: u64 = 256 << 10;

/// Part of an object that is being read.
struct Body {
    reader: Box<dyn Read + Send>,
    left_bytes: u64,
    /// The checksum so far and what it has to be; only a whole object has one.
    crc: Option<(Crc, u32)>,
}

/// The bytes of an entry in `range`, read away from the async threads.
pub(super) fn stream(
    index: Arc<Index>,
    entry: Entry,
    range: Range<u64>,
) -> BoxStream<'static, Result<Bytes>> {
    let first = async move {
        tokio::task::spawn_blocking(move || Body::open(&index, &entry, range)).await?
    };
    let next = async |body: Body| tokio::task::spawn_blocking(move || body.piece()).await?;
    stream::once(first)
        .flat_map(move |body| match body {
            Ok(body) => stream::try_unfold(body, next).boxed(),
            Err(error) => stream::iter([Err(error)]).boxed(),
        })
        .boxed()
}

impl Body {
    fn open(index: &Index, entry: &Entry, range: Range<u64>) -> Result<Self> {
        let data = index.data(entry)?;
        let size_bytes = entry.size_bytes();
        let left_bytes = range.end.saturating_sub(range.start);
        let is_whole = left_bytes == size_bytes;
        let reader: Box<dyn Read + Send> = match data.method {
            Method::Stored => {
                let start = data.range.start + range.start;
                Box::new(RangeReader::new(data.file, start..start + left_bytes))
            }
            Method::Deflated => {
                let mut inflated = DeflateDecoder::new(RangeReader::new(data.file, data.range));
                skip(&mut inflated, range.start)?;
                Box::new(inflated)
            }
        };
        Ok(Self { reader, left_bytes, crc: is_whole.then(|| (Crc::new(), data.crc)) })
    }

    /// The next piece and what is behind it; `None` at the end of a body that was whole.
    fn piece(mut self) -> Result<Option<(Bytes, Self)>> {
        if self.left_bytes == 0 {
            return self.finish().map(|()| None);
        }
        let length = self.left_bytes.min(PIECE_BYTES);
        let mut piece = vec![0; usize::try_from(length).unwrap_or(0)];
        self.reader.read_exact(&mut piece).map_err(|error| unreadable(error, "it ends early"))?;
        self.left_bytes -= length;
        if let Some((crc, _)) = &mut self.crc {
            crc.update(&piece);
        }
        Ok(Some((piece.into(), self)))
    }

    fn finish(mut self) -> Result<()> {
        let Some((crc, expected)) = self.crc else { return Ok(()) };
        let more =
            self.reader.read(&mut [0]).map_err(|error| unreadable(error, "it ends early"))?;
        if more > 0 {
            return Err(ZipFault::Content("it is longer than the directory says").into());
        }
        if crc.sum() != expected {
            return Err(ZipFault::Content("its CRC-32 is not the one that was stored").into());
        }
        Ok(())
    }
}

/// Inflates and drops `bytes`.
fn skip(reader: &mut impl Read, bytes: u64) -> Result<()> {
    let skipped = io::copy(&mut reader.take(bytes), &mut io::sink());
    match skipped.map_err(|error| unreadable(error, "it ends early"))? {
        skipped if skipped == bytes => Ok(()),
        _ => Err(ZipFault::Content("it ends early").into()),
    }
}

/// Damage is told apart from a disk that fails.
fn unreadable(error: io::Error, early: &'static str) -> Error {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ZipFault::Content(early).into(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
            ZipFault::Content("what deflate has made of it cannot be inflated").into()
        }
        _ => Error::Generic { store: "ZipFile", source: Box::new(error) },
    }
}
