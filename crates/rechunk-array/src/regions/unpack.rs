//! Decoding and encoding beside the runtime: what takes long goes to a thread that may block. On a
//! thread that is in no runtime it is done there.

use std::borrow::Cow;

use bytes::Bytes;
use rechunk_format::{FormatError, check_chunk_bytes};
use rechunk_grid::Region;
use rechunk_kernel::{narrow, wide};
use rechunk_store::may_block;

use super::error::RegionError;
use super::frame::{Frame, Item, copy};
use crate::Array;

/// Bytes of a decoded chunk up to which it is decoded where it is asked for: handing it over takes
/// longer.
const IN_PLACE_BYTES_MAX: u64 = 32 << 10;

/// Does `work` on `bytes` bytes without holding up the runtime.
async fn aside<T: Send + 'static>(
    bytes: u64,
    work: impl FnOnce() -> Result<T, RegionError> + Send + 'static,
) -> Result<T, RegionError> {
    if bytes <= IN_PLACE_BYTES_MAX || may_block() {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(RegionError::Stopped),
        },
    }
}

/// Makes a buffer on the thread that asks, to which it goes back. An allocator keeps pages for
/// each thread: those of all threads that may block would be held beside the budget.
fn zeros(bytes: u64) -> Vec<u8> {
    vec![0; narrow(bytes)]
}

/// A buffer for what codecs decode, if there are some.
pub(crate) fn scratch_of(array: &Array, chunk_bytes: u64) -> Vec<u8> {
    let is_raw = array.layout().codec_cost().is_raw;
    Vec::with_capacity(if is_raw { 0 } else { narrow(chunk_bytes) })
}

/// Decodes what `region` takes of a chunk: its elements in C order and native byte order.
pub(crate) async fn part_of_chunk(
    array: &Array,
    index: &[u64],
    encoded: Vec<u8>,
    (frame, item): (Frame, Item),
    region: &Region,
) -> Result<Vec<u8>, RegionError> {
    let own = Frame::in_c_order(region, wide(item.bytes));
    let (mut elements, mut scratch) = (zeros(own.bytes), scratch_of(array, frame.bytes));
    let (array, index, region) = (array.clone(), index.to_vec(), region.clone());
    let done = aside(frame.bytes, move || {
        let (stored, target) = ((&*index, &*encoded), (&mut *elements, &own));
        part_of_chunk_here(&array, stored, (&frame, item), &region, target, &mut scratch)?;
        Ok((elements, scratch, encoded))
    });
    done.await.map(|(elements, ..)| elements)
}

/// Decodes what `region` takes of a chunk on this thread, straight into the buffer `target`.
/// `scratch` is for the elements of the chunk.
pub(crate) fn part_of_chunk_here(
    array: &Array,
    (index, encoded): (&[u64], &[u8]),
    (frame, item): (&Frame, Item),
    region: &Region,
    (target, to): (&mut [u8], &Frame),
    scratch: &mut Vec<u8>,
) -> Result<(), RegionError> {
    let wanted = frame.bytes_of(region, wide(item.bytes));
    let range = narrow(wanted.start)..narrow(wanted.end);
    let decoded = array.layout().decode_part(index, encoded, range, scratch);
    let decoded = decoded
        .and_then(|decoded| checked(decoded, frame.bytes))
        .map_err(|error| array.decode_error(index, error))?;
    Ok(copy(item, region, (decoded, frame), (target, to))?)
}

/// Takes `region` out of elements that are stored as they are.
pub(crate) async fn part_of_plain(
    stored: Vec<u8>,
    (frame, item): (Frame, Item),
    region: &Region,
) -> Result<Vec<u8>, RegionError> {
    let own = Frame::in_c_order(region, wide(item.bytes));
    let mut elements = zeros(own.bytes);
    let region = region.clone();
    let done = aside(frame.bytes, move || {
        copy(item, &region, (&stored, &frame), (&mut elements, &own))?;
        Ok((elements, stored))
    });
    done.await.map(|(elements, _)| elements)
}

/// Decodes all of a chunk, in its own order.
pub(crate) async fn whole_chunk(
    array: &Array,
    index: &[u64],
    encoded: Vec<u8>,
    chunk_bytes: u64,
) -> Result<Vec<u8>, RegionError> {
    let (mut elements, mut scratch) = (zeros(chunk_bytes), scratch_of(array, chunk_bytes));
    let (array, index) = (array.clone(), index.to_vec());
    let done = aside(chunk_bytes, move || {
        let decoded = array.layout().decode(&index, &encoded, &mut scratch);
        let decoded = decoded
            .and_then(|decoded| checked(decoded, chunk_bytes))
            .map_err(|error| array.decode_error(&index, error))?;
        elements.copy_from_slice(decoded);
        Ok((elements, scratch, encoded))
    });
    done.await.map(|(elements, ..)| elements)
}

/// Encodes a chunk. Elements that are the caller's are encoded on this thread.
pub(crate) async fn encoded_chunk(
    array: &Array,
    index: &[u64],
    elements: Cow<'_, [u8]>,
) -> Result<Bytes, RegionError> {
    let cost = array.layout().codec_cost();
    if cost.is_raw {
        return Ok(Bytes::from(elements.into_owned()));
    }
    let encode = |array: &Array, index: &[u64], elements: &[u8], mut encoded: Vec<u8>| {
        let done = array.layout().encode(index, elements, &mut encoded);
        done.map_err(|error| array.decode_error(index, error))?;
        Ok(Bytes::from(encoded))
    };
    let encoded = Vec::with_capacity(narrow(cost.encoded_bytes_max));
    let elements = match elements {
        Cow::Borrowed(elements) => return encode(array, index, elements, encoded),
        Cow::Owned(elements) => elements,
    };
    let (array, index) = (array.clone(), index.to_vec());
    let done = aside(wide(elements.len()), move || {
        Ok((encode(&array, &index, &elements, encoded)?, elements))
    });
    done.await.map(|(encoded, _)| encoded)
}

/// Refuses a decoded chunk of another size.
fn checked(decoded: &[u8], expected_bytes: u64) -> Result<&[u8], FormatError> {
    check_chunk_bytes(decoded, narrow(expected_bytes)).map(|()| decoded)
}
