//! Compares files byte by byte, in bounded memory.

use rechunk_plan::{FILE_PIECE_BYTES, file_pieces};
use rechunk_store::Store;

use crate::Error;

/// The first byte in which the files of `bytes` bytes at `path` in two stores differ.
pub(crate) async fn first_difference(
    a: &Store,
    b: &Store,
    path: &str,
    bytes: u64,
) -> Result<Option<u64>, Error> {
    let (mut of_a, mut of_b) = (Vec::new(), Vec::new());
    let room = FILE_PIECE_BYTES.min(bytes);
    for range in file_pieces(bytes) {
        let start = range.start;
        let (from_a, from_b) = futures::join!(
            a.get_exact_into(path, bytes, range.clone(), room, &mut of_a),
            b.get_exact_into(path, bytes, range, room, &mut of_b),
        );
        from_a.map_err(|error| Error::source_store(a.label(), error))?;
        from_b.map_err(|error| Error::source_store(b.label(), error))?;
        if of_a != of_b {
            let at = of_a.iter().zip(&of_b).take_while(|(a, b)| a == b).count();
            return Ok(Some(start.saturating_add(u64::try_from(at).unwrap_or(u64::MAX))));
        }
    }
    Ok(None)
}

/// Whether two files of `bytes` bytes are the same.
pub(crate) async fn is_same(a: &Store, b: &Store, path: &str, bytes: u64) -> Result<bool, Error> {
    first_difference(a, b, path, bytes).await.map(|difference| difference.is_none())
}
