//! Holds formats and stores to their contracts. For tests only: whoever writes a format or a store
//! calls one function from a test.
//!
//! [`formats::check_format`] (feature `formats`) takes a function that makes layouts. It holds them
//! to the contract of `rechunk_format::Layout`, over ranks, edges, data types and damaged bytes.
//!
//! [`stores::check_store`] (feature `stores`) takes an empty store that can be written. It holds it
//! to the contract of `rechunk_store::Store`; [`stores::check_reading`] is the part for stores that
//! are only read.
//!
//! Neither panics: the first rule that does not hold is returned as a [`Violation`].

#[cfg(feature = "formats")]
pub mod formats;
#[cfg(feature = "stores")]
pub mod stores;
mod violation;

pub use violation::Violation;
