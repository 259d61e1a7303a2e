//! Over HTTP on loopback: what a client sees.
#![expect(clippy::disallowed_methods, reason = "tests make the files that are served")]

#[cfg(test)]
mod files;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod limits;
