//! Facts about Zarr v2 and v3.

use rechunk_format::FormatError;
use rechunk_zarr::{ZarrVersion, parse_codec_choice};

use crate::formats::row::{Fact, Keys, Row};

pub(crate) static ZARR3: Row = Row {
    name: "zarr3",
    with_article: "a Zarr",
    family: "Zarr",
    keys: Keys { node: "zarr.json", group: None, attributes: None },
    container_ending: Some("zarr"),
    file_ending: None,
    zarr_version: Some(ZarrVersion::V3),
    check_codec,
    facts: &[
        Fact::InZipFiles,
        Fact::OneFileImages,
        Fact::DimensionNames,
        Fact::StrictJson,
        Fact::GroupFields,
        Fact::Shards,
        Fact::ChunkLengths,
        Fact::Meaning,
        Fact::Growth,
    ],
};

pub(crate) static ZARR2: Row = Row {
    name: "zarr2",
    with_article: "a Zarr",
    family: "Zarr",
    keys: Keys { node: ".zarray", group: Some(".zgroup"), attributes: Some(".zattrs") },
    container_ending: Some("zarr"),
    file_ending: None,
    zarr_version: Some(ZarrVersion::V2),
    check_codec,
    facts: &[
        Fact::ConsolidatedBeside,
        Fact::Meaning,
        Fact::Growth,
        Fact::NumpyRecords,
        Fact::InZipFiles,
    ],
};

fn check_codec(text: &str) -> Result<(), FormatError> {
    parse_codec_choice(text).map(drop)
}
