//! Arrays and groups that grow: `--append` and `--region` on a simulated object store, held against
//! arrays that are put together by nothing but arithmetic.
#![expect(clippy::disallowed_methods, reason = "a seed may be given in the environment")]
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper of a test fails the test")]

mod array;
mod crash;
mod groups;
mod lengths;
mod oracle;
mod overtaken;
mod process;
mod refused;
