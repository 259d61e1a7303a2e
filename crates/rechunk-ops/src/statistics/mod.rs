//! Values of the whole domain, without a target array.

pub(crate) mod checksum;
pub(crate) mod histogram;
pub(crate) mod summary;
pub(crate) mod unique;
mod values;
