//! Facts about precomputed volumes.

use rechunk_precomputed::{INFO_KEY, parse_choice};

use crate::formats::row::{Fact, Keys, Row};

pub(crate) static PRECOMPUTED: Row = Row {
    name: "precomputed",
    with_article: "a precomputed",
    family: "precomputed volumes",
    keys: Keys { node: INFO_KEY, group: None, attributes: None },
    // No ending tells a volume.
    container_ending: None,
    file_ending: None,
    zarr_version: None,
    check_codec: |text| parse_choice(text).map(drop),
    facts: &[Fact::VoxelFields, Fact::Shards, Fact::Levels, Fact::InPlace],
};
