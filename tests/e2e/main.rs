//! Holds the real binary to the promises of the command line. They are about its work, what others
//! read of it, its refusals and its memory. Also about kills, and object stores that fail.
//!
//! Needs the Python environments that `tests/oracle/setup.sh` makes, and a C compiler for the
//! helpers in `tests/tools`.
#![expect(clippy::disallowed_methods, reason = "tests wait for programs")]

#[cfg(test)]
mod advice;
#[cfg(test)]
mod after_kill;
#[cfg(test)]
mod apply;
#[cfg(test)]
mod arrays;
#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod bad_metadata;
#[cfg(test)]
mod browser;
#[cfg(test)]
mod carried_numbers;
#[cfg(test)]
mod cli;
#[cfg(test)]
mod cloud;
#[cfg(test)]
mod consolidated_trees;
#[cfg(test)]
mod crossings;
#[cfg(test)]
mod damaged_chunks;
#[cfg(test)]
mod dimension_names;
#[cfg(test)]
mod disk_full;
#[cfg(test)]
mod driven;
#[cfg(test)]
mod ends_at_once;
mod engines;
#[cfg(test)]
mod extension_codecs;
#[cfg(test)]
mod given_up;
#[cfg(test)]
mod grids;
#[cfg(test)]
mod group_parts;
#[cfg(test)]
mod groups;
#[cfg(test)]
mod growth;
#[cfg(test)]
mod growth_meaning;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod html;
#[cfg(test)]
mod html_shown;
#[cfg(test)]
mod icechunk;
#[cfg(test)]
mod interop;
#[cfg(test)]
mod jobs;
#[cfg(test)]
mod json;
#[cfg(test)]
mod keep_extent;
#[cfg(test)]
mod kill;
#[cfg(test)]
mod kill_files;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod many_arrays;
#[cfg(test)]
mod meaning;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod migrate;
#[cfg(test)]
mod missing_chunks;
#[cfg(test)]
mod multipart;
#[cfg(test)]
mod n5;
#[cfg(test)]
mod n5_interop;
#[cfg(test)]
mod not_ours;
#[cfg(test)]
mod ome;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod other_files;
#[cfg(test)]
mod other_keys;
#[cfg(test)]
mod parts;
mod parts_status;
#[cfg(test)]
mod precomputed;
#[cfg(test)]
mod precomputed_scales;
#[cfg(test)]
mod precomputed_shards;
#[cfg(test)]
mod precomputed_squeezed;
#[cfg(test)]
mod profiles;
#[cfg(test)]
mod public_arrays;
#[cfg(test)]
mod pyramid;
#[cfg(test)]
mod raw;
#[cfg(test)]
mod readable_targets;
#[cfg(test)]
mod rectilinear;
#[cfg(test)]
mod rectilinear_boxes;
#[cfg(test)]
mod rectilinear_growth;
#[cfg(test)]
mod regressions;
#[cfg(test)]
mod repeated_documents;
#[cfg(test)]
mod report;
#[cfg(test)]
mod select;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod sharded_lengths;
#[cfg(test)]
mod skipped_calls;
#[cfg(test)]
mod stories;
#[cfg(test)]
mod strings;
#[cfg(test)]
mod support;
#[cfg(test)]
mod tiff_references;
#[cfg(test)]
mod times;
#[cfg(test)]
mod trees;
#[cfg(test)]
mod two_documents;
#[cfg(test)]
mod version_2;
#[cfg(test)]
mod words;
#[cfg(test)]
mod workers;
#[cfg(test)]
mod xarray;
#[cfg(test)]
#[cfg(feature = "zfp")]
#[cfg(test)]
mod zfp;
#[cfg(test)]
mod zip_targets;
