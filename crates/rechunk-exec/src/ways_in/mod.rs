//! Ways of an input: from a store to elements in units, or as it is stored. They are strangers to
//! each other.

pub(crate) mod announce;
pub(crate) mod by_slab;
pub(crate) mod decode;
pub(crate) mod gather;
pub(crate) mod missing;
pub(crate) mod passthrough;
pub(crate) mod source;
pub(crate) mod store_copies;
pub(crate) mod whole_shards;
