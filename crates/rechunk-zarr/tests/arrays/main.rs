//! Zarr against its contract and another implementation.

mod contract;
mod oracle;
#[cfg(feature = "zfp")]
mod zfp;
