//! Moves elements between n-dimensional buffers. Pure, and the only crate with unsafe code.
//!
//! A box of `shape` elements lies in a byte buffer at an offset, with a byte distance (stride)
//! between neighbours along each axis. [`copy_region`] moves such a box from one buffer to another,
//! whatever the order of the axes in either, and swaps the bytes of each element (or of each of its
//! parts) on the way if asked to; [`fill_region`] sets it; [`compare_region`] compares two, bit for
//! bit.
//!
//! Every function checks the whole box against the buffers once, before the first byte moves, and
//! refuses with a [`KernelError`]; the loops after that check need no bounds checks. Strides of 0
//! are allowed in a source (one element is seen many times). If the elements of a *target* overlap,
//! which of them is left is not defined (but memory safety is not at stake).
//!
//! [`decode_lz4_prefix`] is here for its call to a C function, which is unsafe too.

mod axes;
mod compare;
mod copy;
mod digest;
mod element;
mod error;
mod field;
mod fill;
mod lz4_prefix;
mod rows;
mod transpose;
mod words;

pub use compare::{Differences, compare_region};
pub use copy::copy_region;
pub use digest::{DIGEST_METHOD, Digest, DigestKeys, NotADigest};
pub use error::{Buffer, KernelError};
pub use fill::{fill, fill_region, is_all};
pub use lz4_prefix::decode_lz4_prefix;
pub use words::{narrow, wide};

#[cfg(test)]
mod tests;
