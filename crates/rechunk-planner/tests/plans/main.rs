//! Properties of every plan, whatever the arrays: one writer per object, and the budget kept. The
//! minimum named in the error is the minimum, and equal requests give equal plans.
#![expect(clippy::disallowed_methods, reason = "planning has to be quick")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod cases;
mod checks;
mod frozen;
mod properties;
mod requests;
mod workers;
