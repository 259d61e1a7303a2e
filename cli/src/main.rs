//! The `rechunk` command.
fn main() {}
