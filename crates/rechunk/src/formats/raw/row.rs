//! Facts about files of raw elements.

use rechunk_raw::ARRAY_JSON;

use crate::formats::row::{Fact, Keys, Row};

pub(crate) static RAW: Row = Row {
    name: "raw",
    with_article: "a raw",
    family: "raw files",
    keys: Keys { node: ARRAY_JSON, group: None, attributes: None },
    container_ending: None,
    file_ending: None,
    zarr_version: None,
    // They have none; that is said with the name of the file.
    check_codec: |_| Ok(()),
    facts: &[Fact::NumpyRecords],
};

pub(crate) static NPY: Row =
    Row { name: "npy", with_article: "a NumPy", file_ending: Some("npy"), ..RAW };

pub(crate) static NII: Row = Row {
    name: "nii",
    with_article: "a NIfTI",
    file_ending: Some("nii"),
    facts: &[Fact::FastestFirst, Fact::PackedFiles, Fact::NumpyRecords],
    ..RAW
};
