//! The formats: the only folder that knows them by name. `docs/ARCHITECTURE.md` says which files a
//! new one needs.

mod described;
mod directories;
mod documents;
mod format;
mod images;
mod metadata;
pub(crate) mod n5;
pub(crate) mod precomputed;
pub(crate) mod raw;
mod row;
mod schema;
mod schemas;
mod targets;
pub(crate) mod two_documents;
mod wish;
pub(crate) mod zarr;

pub(crate) use directories::node_in;
pub(crate) use documents::{
    Documents, METADATA_BYTES_MAX, METADATA_KEYS, NO_DOCUMENT, Node, Wanted, hex,
};
pub use format::Format;
pub(crate) use format::has_ending;
pub use metadata::Metadata;
pub(crate) use metadata::{has_names, in_strict_json};
pub(crate) use precomputed::volume_of;
pub use raw::RawFile;
pub(crate) use row::Fact;
pub(crate) use schema::NewGroup;
pub(crate) use targets::specified;
pub(crate) use wish::Wish;
