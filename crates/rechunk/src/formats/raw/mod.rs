//! Files of raw elements: with `array.json`, of NumPy, of NIfTI, headerless.

mod block_files;
mod described;
mod documents;
mod row;
mod single_file;
mod target;
mod unstored;

pub(crate) use block_files::check_blocks;
pub(crate) use documents::SCHEMA;
pub(crate) use row::{NII, NPY, RAW};
pub use single_file::RawFile;
pub(crate) use single_file::{SingleFile, is_headerless, open_file};
pub(crate) use target::{is_one_file, target};
pub(crate) use unstored::of_spec;
