//! A large object that is in memory as a whole, sent in parts.

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};
use object_store::PutPayload;

use crate::length::wide;
use crate::multipart::Multipart;
use crate::upload::Upload;
use crate::{Store, StoreError};

impl Store {
    /// Sends an object made of `pieces` in parts of `part_bytes`.
    pub(crate) async fn put_in_parts(
        &self,
        multipart: &Multipart,
        key: &str,
        pieces: Vec<Bytes>,
        part_bytes: u64,
    ) -> Result<(), StoreError> {
        /// Parts of one object on their way at once.
        const PARTS_AT_ONCE: usize = 4;
        let bytes = pieces.iter().fold(0_u64, |sum, piece| sum.saturating_add(wide(piece.len())));
        let upload = Upload::begin(self, multipart, key).await?;
        let parts = cut(pieces, usize::try_from(part_bytes).unwrap_or(usize::MAX));
        let sending = parts.into_iter().enumerate().map(|(n, part)| upload.put_part(n, part));
        let mut sending = stream::iter(sending).buffer_unordered(PARTS_AT_ONCE);
        let sent = async {
            while sending.try_next().await?.is_some() {}
            Ok(())
        }
        .await;
        drop(sending);
        let done = match sent {
            Ok(()) => upload.complete(bytes).await,
            Err(error) => Err(error),
        };
        if done.is_err() {
            upload.abort().await;
        }
        done
    }
}

/// Cuts what lies in `pieces` anew, into parts of `part_bytes`; no byte is copied.
fn cut(pieces: Vec<Bytes>, part_bytes: usize) -> Vec<PutPayload> {
    let mut parts: Vec<Vec<Bytes>> = Vec::new();
    let mut room = 0;
    for mut piece in pieces {
        while !piece.is_empty() {
            if room == 0 {
                parts.push(Vec::new());
                room = part_bytes.max(1);
            }
            let now = piece.split_to(room.min(piece.len()));
            room -= now.len();
            if let Some(part) = parts.last_mut() {
                part.push(now);
            }
        }
    }
    parts.into_iter().map(|part| part.into_iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_anew() {
        let pieces = ["abcd", "", "ef", "ghijk"].map(|text| Bytes::from_static(text.as_bytes()));
        let parts = cut(pieces.to_vec(), 3);
        let bytes = |part: &PutPayload| part.iter().flatten().copied().collect::<Vec<u8>>();
        let parts: Vec<Vec<u8>> = parts.iter().map(bytes).collect();
        assert_eq!(parts, [&b"abc"[..], b"def", b"ghi", b"jk"]);
    }
}
