//! Facts about N5.

use rechunk_n5::{ATTRIBUTES_KEY, parse_compression};

use crate::formats::row::{Fact, Keys, Row};

pub(crate) static N5: Row = Row {
    name: "n5",
    with_article: "an N5",
    family: "N5",
    keys: Keys { node: ATTRIBUTES_KEY, group: None, attributes: None },
    container_ending: Some("n5"),
    file_ending: None,
    zarr_version: None,
    check_codec: |text| parse_compression(text).map(drop),
    facts: &[
        Fact::FastestFirst,
        Fact::AxisAttributes,
        Fact::ReservedNames,
        Fact::BareGroups,
        Fact::Meaning,
        Fact::Growth,
        Fact::FlatBlocks,
    ],
};
