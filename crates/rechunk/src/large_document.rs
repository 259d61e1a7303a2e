//! Documents that may hold those of thousands of arrays: read and written piece by piece.

use bytes::Bytes;
use rechunk_format::FormatError;
use rechunk_store::{Store, StoreError};
use rechunk_zarr::{Consolidated, ConsolidatedReader, ZarrVersion};

/// Largest metadata document of one array or group that is read, bytes.
pub(crate) const METADATA_BYTES_MAX: u64 = 16 << 20;

/// Largest consolidated document that is read, bytes. What is held of it is a small part.
const CONSOLIDATED_BYTES_MAX: u64 = 1 << 30;

/// Bytes that are read or written at once of one that is large.
const PIECE_BYTES: usize = 4 << 20;

/// A document of a group, without what it says of all nodes below.
#[derive(Debug)]
pub(crate) struct Split {
    /// Rest of the document.
    pub rest: Bytes,
    /// The whole, where it is consolidated.
    pub consolidated: Option<Consolidated>,
}

/// Reads the document of a group that may be consolidated; `None` where there is none.
pub(crate) async fn read(
    group: &Store,
    version: ZarrVersion,
) -> Result<Option<Result<Split, FormatError>>, StoreError> {
    match group.get(Consolidated::key(version), METADATA_BYTES_MAX).await {
        Ok(None) => Ok(None),
        Ok(Some(bytes)) => Ok(Some(split(version, &bytes))),
        Err(error) => {
            let StoreError::TooLarge { size_bytes, .. } = error else { return Err(error) };
            read_in_pieces(group, version, size_bytes)
                .await?
                .map_or(Err(error), |found| Ok(Some(found)))
        }
    }
}

/// Reads a document that is too large to be read as a whole; `None` if it is so for this too.
pub(crate) async fn read_in_pieces(
    group: &Store,
    version: ZarrVersion,
    size_bytes: u64,
) -> Result<Option<Result<Split, FormatError>>, StoreError> {
    let key = Consolidated::key(version);
    if size_bytes > CONSOLIDATED_BYTES_MAX {
        return Ok(None);
    }
    let mut reader = ConsolidatedReader::new(version);
    let mut start = 0;
    while start < size_bytes {
        let length = (size_bytes - start).min(PIECE_BYTES as u64);
        let bytes = group.get_range(key, start, length).await?;
        if let Err(error) = reader.feed(&bytes) {
            return Ok(Some(Err(error)));
        }
        start += length;
    }
    Ok(Some(end(reader)))
}

/// Splits a document that was read.
pub(crate) fn split(version: ZarrVersion, bytes: &[u8]) -> Result<Split, FormatError> {
    let mut reader = ConsolidatedReader::new(version);
    reader.feed(bytes)?;
    end(reader)
}

fn end(reader: ConsolidatedReader) -> Result<Split, FormatError> {
    let (rest, consolidated) = reader.finish()?;
    Ok(Split { rest: Bytes::from(rest), consolidated })
}

/// Writes a document, durably, in place of any that was there.
pub(crate) async fn write(group: &Store, document: &Consolidated) -> Result<(), StoreError> {
    let key = Consolidated::key(document.version());
    let mut large = None;
    let (mut piece, mut offset) = (Vec::new(), 0);
    for part in document.pieces() {
        piece.extend(part);
        if piece.len() < PIECE_BYTES {
            continue;
        }
        let writer = match large.take() {
            Some(writer) => writer,
            None => group.begin(key, 0)?,
        };
        let bytes = Bytes::from(std::mem::take(&mut piece));
        offset += writer.write_at(offset, bytes).await?.len() as u64;
        large = Some(writer);
    }
    let Some(writer) = large else { return group.put_durable(key, piece).await };
    if !piece.is_empty() {
        offset += writer.write_at(offset, Bytes::from(piece)).await?.len() as u64;
    }
    writer.finish(offset).await?;
    group.sync().await
}

/// True if the document at its key says this, in whatever order.
pub(crate) async fn is_there(group: &Store, document: &Consolidated) -> Result<bool, StoreError> {
    let Some(found) = read(group, document.version()).await? else { return Ok(false) };
    Ok(found.is_ok_and(|found| found.consolidated.is_some_and(|found| found == *document)))
}
