//! Faults of documents of references.

use thiserror::Error as ThisError;

use crate::StoreError;

/// Fault of a document of references.
#[derive(Debug, ThisError)]
pub(super) enum Fault {
    #[error("it is no JSON: {what}, at byte {at}")]
    Json { at: u64, what: &'static str },
    #[error("it is not as references are: {what}, at byte {at}")]
    Unexpected { at: u64, what: &'static str },
    #[error(
        "a text or value in it, at byte {at}, has more than the {limit_bytes} bytes it may have"
    )]
    TooLong { at: u64, limit_bytes: usize },
    #[error("{0}")]
    Input(std::io::Error),
    #[error("it has an entry {key:?}, and {what}")]
    Value { key: String, what: String },
    #[error("{0}")]
    Odd(String),
    #[error(
        "they would take more than {limit_bytes} bytes of memory; write them as Parquet \
         (kerchunk.df.refs_to_dataframe, or vz.to_kerchunk(..., format=\"parquet\"))"
    )]
    TooLarge { limit_bytes: usize },
    #[error("it is a metadata document of Zarr itself: name the directory that it is in")]
    IsZarr,
    #[error("there are no references in it: neither \"refs\" nor keys of Zarr")]
    NoReferences,
    #[error("its version is {version}; versions 0 and 1 are read")]
    Version { version: String },
    #[error(
        "it has generators of references (\"gen\"), which are not read; write the references out, e.g. \
         json.dump(fsspec.filesystem(\"reference\", fo=…, simple_templates=False).references, …) in Python"
    )]
    Generators,
    #[error("the template {name:?} {what}")]
    Template { name: String, what: &'static str },
    #[error("its .zmetadata has no \"metadata\" or no \"record_size\": these are no references")]
    NoTables,
    #[error("there is no .zmetadata in it: these are no references")]
    NoMetadata,
    #[error("a file of references has 1 to {limit} rows")]
    Rows { limit: u64 },
    #[error("it has {rows} rows, but row {row} is asked for: it is cut off")]
    RowMissing { rows: usize, row: usize },
    #[error("it is no Parquet file, or a damaged one")]
    Pages,
    #[error("it is no Parquet file, or a damaged one: its footer is not as the format says")]
    Footer,
    #[error("it is no Parquet file, or a damaged one: what it says of its columns does not add up")]
    Columns,
    #[error("it is no Parquet file, or a damaged one: {0}")]
    Parquet(parquet::errors::ParquetError),
    #[error(
        "its values are encoded by their differences, of which few bytes can make any number of values; \
         write it again with plain or dictionary encoding (use_dictionary, column_encoding of pyarrow)"
    )]
    Encoding,
    #[error("its columns would unpack to more than {limit_bytes} bytes")]
    Unpacked { limit_bytes: u64 },
    #[error("its column {name:?} {what}")]
    Column { name: String, what: &'static str },
    #[error("it was written while it was being read")]
    Changed,
}

impl Fault {
    /// Names the entry `key` of which it is, as far as a message can take it.
    pub(super) fn value(key: &str, what: &str) -> Self {
        let key = key.chars().take(200).collect();
        Self::Value { key, what: what.to_owned() }
    }

    /// Takes what the crate that reads Parquet says.
    pub(super) fn parquet(error: parquet::errors::ParquetError) -> Self {
        Self::Parquet(error)
    }

    /// Makes it an error of the document at `location`.
    pub(super) fn of(self, location: &str) -> StoreError {
        match self {
            Self::Input(error) => match error.downcast::<StoreError>() {
                Ok(error) => error,
                Err(error) => {
                    let (location, key) = (location.to_owned(), String::new());
                    StoreError::Failed { location, key, action: "read", source: Box::new(error) }
                }
            },
            fault => {
                let (location, reason) = (location.to_owned(), fault.to_string());
                StoreError::References { location, reason }
            }
        }
    }
}
