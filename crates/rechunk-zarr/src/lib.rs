//! Zarr v2 and v3 as a format: metadata and codecs. Pure: no I/O, no async.
//!
//! [`parse_v2`] and [`parse_v3`] read documents into [`ArrayMetadata`], which is the same for both
//! versions; [`target_metadata`] makes the metadata of an array to be written, and
//! [`ArrayMetadata::documents`] its documents. [`ZarrLayout`] says where chunks are and codes them.
//!
//! What is read here was written by others: documents and chunks are bounded before they are
//! believed, and no header's claim becomes an allocation.
//!
//! Elements of variable length are told apart where a codec of numcodecs stores them (`vlen-utf8`,
//! `vlen-bytes`, `vlen-array`). Behind another their chunks can be copied, and not decoded.
#![cfg_attr(test, expect(clippy::disallowed_methods, reason = "tests make files and look at them"))]

mod carried;
mod checked;
mod choice;
mod chunk_grid;
mod chunk_lengths;
mod codec_json;
mod codec_names;
mod codec_settings;
mod codec_spec;
mod codecs;
mod consolidated;
mod dimension_names;
mod documents;
mod element_order;
mod element_type;
mod extension;
mod fill_value;
mod group;
mod kept_codecs;
mod layout;
mod metadata;
mod missing_values;
mod n5_block;
mod null_fill;
mod number_codecs;
mod packed_numbers;
mod parse_v2;
mod parse_v3;
mod recast;
mod record;
mod shard_codec;
mod sharding;
mod stored;
mod target;
mod tiff_codecs;
mod type_name;
mod types_v2;
mod types_v3;
mod variable;
mod whole_shards;

// Shared by formats, and named here as if they were ours.
use rechunk_format::{field, json};

pub use choice::{CodecChoice, parse_codec_choice};
pub use codec_spec::{
    BitPacking, BloscName, CastValue, ChecksumKind, CodecSpec, LzmaCheck, LzmaFilter, LzmaFormat,
    LzmaSpec, NewAxis, OutOfRange, PackedNumbers, PcodecDelta, PcodecSpec, Predictor, Real,
    Rounding, Scalar, ScalarMap, ScaleOffset, Shuffle, TiffCompressor, TypePair, Word, ZfpMode,
    ZfpSpec,
};
pub use consolidated::{
    ArrayDocuments, Consolidated, ConsolidatedKind, ConsolidatedReader, GroupDocuments,
};
pub use documents::{group_documents, group_documents_of};
pub use element_type::ElementType;
pub use fill_value::write_fill_value;
pub use group::{GroupMetadata, check_zgroup, group_attributes};
pub use kept_codecs::{Naming, said_in_v3};
pub use layout::ZarrLayout;
pub use metadata::{
    ArrayMetadata, BLOSC_CHUNK_BYTES_MAX, CHUNK_BYTES_MAX, KeyEncoding, KeyStyle, Verbatim,
    ZarrVersion,
};
pub use missing_values::{
    MissingValue, carry_missing_value, is_same_missing_value, keep_missing_value,
    leave_out_missing_nan, missing_value, missing_value_in_v3, recast_missing_value,
    respell_missing_value,
};
pub use n5_block::{N5BlockCodec, stands_for_n5};
pub use null_fill::note_null_fill;
pub use parse_v2::parse_v2;
pub use parse_v3::{NodeKind, node_kind, parse_v3};
pub use shard_codec::ShardCodec;
pub use stored::metadata_of_stored;
pub use target::{
    TargetOptions, check_type, has_opaque_shards, target_metadata, without_inner_shards,
};
pub use variable::{VARIABLE_CHUNK_BYTES_MAX, takes_streams};
