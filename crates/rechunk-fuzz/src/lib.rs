//! Fuzz targets: a function per reader of what others wrote.
//!
//! A target takes any bytes and must neither panic nor ask for much memory or time; where it
//! accepts them, it asserts what the rest relies on, and says so: one that never does would test
//! nothing. `tests/replay.rs` runs the corpus in `fixtures/fuzz` and a fixed number of mutations of
//! it with every `cargo test`; `just fuzz TARGET SECONDS` searches with libFuzzer.

mod memory;
mod reading;
mod targets;

use targets::{
    chunk_decode, chunk_spec, codec_choice, consolidated, icechunk, job_file, journal, left_behind,
    location, metadata, n5, packed, precomputed, raw, references, saved_plan, shard, strings,
    times, zip,
};

/// A fuzz target: true where its reader accepts the input.
pub type Target = fn(&[u8]) -> bool;

/// Every target with its name, which is also that of its corpus.
pub const TARGETS: &[(&str, Target)] = &[
    ("v2_metadata", metadata::v2),
    ("v3_metadata", metadata::v3),
    ("other_version", metadata::other_version),
    ("consolidated", consolidated::target),
    ("codec_choice", codec_choice::target),
    ("chunk_decode", chunk_decode::target),
    #[cfg(feature = "zfp")]
    ("zfp_decode", chunk_decode::zfp),
    ("shard_index", shard::index),
    ("shard", shard::whole),
    ("strings", strings::chunk),
    ("n5_attributes", n5::attributes),
    ("n5_block", n5::block),
    ("precomputed_info", precomputed::info),
    ("precomputed_chunk", precomputed::chunk),
    ("precomputed_jpeg", precomputed::jpeg),
    ("precomputed_shard", precomputed::shard),
    ("zip", zip::target),
    ("references", references::target),
    ("icechunk", icechunk::target),
    ("chunk_spec", chunk_spec::target),
    ("job_file", job_file::target),
    ("saved_plan", saved_plan::target),
    ("journal", journal::target),
    ("left_behind", left_behind::target),
    ("times", times::target),
    ("location", location::target),
    ("array_json", raw::array_json),
    ("npy_header", raw::npy),
    ("nifti_header", raw::nifti),
    ("packed_header", packed::target),
];

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    TARGETS.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
}
