//! Every server driven by object_store, as the program does.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod contract;
mod faults;
mod gcs;
mod hooks;
mod http;
mod s3;
mod serve;
mod stores;
