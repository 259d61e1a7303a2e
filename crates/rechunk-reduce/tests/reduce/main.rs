//! Reductions against a plain reference, and golden examples.
#![expect(unreachable_pub, reason = "modules of a test")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![expect(clippy::float_cmp, clippy::cast_possible_truncation, reason = "the reference is plain")]

mod boxes;
mod examples;
mod gaussian;
mod properties;
mod reference;
mod refusals;
