//! Bytes of a file as a body: piece by piece, as fast as the client takes them.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use axum::body::Body;
use bytes::Bytes;
use futures::stream;

/// Bytes that are read, and held, at once.
const PIECE_BYTES: u64 = 256 << 10;

/// Bytes of a file that are still to be sent, from where it stands.
struct Rest {
    file: File,
    bytes: u64,
}

/// The bytes `range` of `file`, which has them. The first piece is read before this returns: a
/// file that cannot be read is an error, not an answer that breaks off.
pub(super) async fn body(file: File, range: Range<u64>) -> io::Result<Body> {
    let mut rest = Rest { file, bytes: range.end.saturating_sub(range.start) };
    let (first, rest) = blocking(move || {
        rest.file.seek(SeekFrom::Start(range.start))?;
        rest.next_piece()
    })
    .await?;
    if rest.bytes == 0 {
        return Ok(Body::from(first));
    }
    let pieces = stream::unfold(Some((Some(first), rest)), |state| async move {
        let (ready, rest) = state?;
        if let Some(piece) = ready {
            return Some((Ok(piece), Some((None, rest))));
        }
        if rest.bytes == 0 {
            return None;
        }
        Some(match blocking(move || rest.next_piece()).await {
            Ok((piece, rest)) => (Ok(piece), Some((None, rest))),
            Err(error) => (Err(error), None),
        })
    });
    Ok(Body::from_stream(pieces))
}

impl Rest {
    /// The next piece, and what is left behind it.
    fn next_piece(mut self) -> io::Result<(Bytes, Self)> {
        let wanted = self.bytes.min(PIECE_BYTES);
        let mut piece = Vec::with_capacity(usize::try_from(wanted).unwrap_or_default());
        let read = Read::by_ref(&mut self.file).take(wanted).read_to_end(&mut piece)?;
        if u64::try_from(read) != Ok(wanted) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
        }
        self.bytes -= wanted;
        Ok((Bytes::from(piece), self))
    }
}

/// Does `work` on a thread that may wait for the disk.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
