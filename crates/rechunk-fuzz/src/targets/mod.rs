//! The targets, by what they read.

pub(crate) mod chunk_decode;
pub(crate) mod chunk_spec;
pub(crate) mod codec_choice;
pub(crate) mod consolidated;
pub(crate) mod icechunk;
pub(crate) mod job_file;
pub(crate) mod journal;
pub(crate) mod left_behind;
pub(crate) mod location;
pub(crate) mod metadata;
pub(crate) mod n5;
pub(crate) mod packed;
pub(crate) mod precomputed;
pub(crate) mod raw;
pub(crate) mod references;
mod round_trip;
pub(crate) mod saved_plan;
pub(crate) mod shard;
pub(crate) mod strings;
pub(crate) mod times;
pub(crate) mod zip;

use round_trip::round_trip;

/// The input in two at its first 0 byte, which no document has; nothing in the second without one.
fn split(data: &[u8]) -> (&[u8], Option<&[u8]>) {
    match data.iter().position(|&byte| byte == 0) {
        Some(at) => (&data[..at], Some(&data[at + 1..])),
        None => (data, None),
    }
}
