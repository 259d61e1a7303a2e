//! Reductions against a plain reference, and golden examples.
#![expect(unreachable_pub, reason = "tests")]

mod boxes;
mod examples;
mod gaussian;
mod properties;
mod reference;
mod refusals;
