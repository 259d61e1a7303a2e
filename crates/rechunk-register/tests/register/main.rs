//! Registers in both kinds of database: all of a data set is kept, older schemas are carried on.
#![expect(clippy::disallowed_methods, reason = "tests make the files that are opened")]

#[cfg(test)]
mod databases;
#[cfg(test)]
mod kept;
#[cfg(test)]
mod schema;
