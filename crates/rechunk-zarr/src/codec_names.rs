//! Names of codecs that several files tell from others.

/// Codec of shards (Zarr v3, `sharding_indexed`).
pub(crate) const SHARDING: &str = "sharding_indexed";

/// Codec of blocks of N5, as `n5tozarr` names it.
pub(crate) const N5_BLOCK: &str = "n5_default";
