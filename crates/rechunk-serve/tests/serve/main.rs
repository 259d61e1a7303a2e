//! Over HTTP on loopback: what a client sees. Tests called `row_…` are rows of the acceptance table
//! of the datastore; `docs/design/039-datastore.md` says where each is.
#![expect(clippy::disallowed_methods, reason = "tests make the files that are served")]

#[cfg(test)]
mod files;
#[cfg(test)]
mod harness;
#[cfg(test)]
mod limits;
#[cfg(test)]
mod lists;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod page;
#[cfg(test)]
mod rates;
#[cfg(test)]
mod registers;
#[cfg(test)]
mod rows_bdv;
#[cfg(test)]
mod rows_blocks;
#[cfg(test)]
mod rows_refused;
#[cfg(test)]
mod rows_register;
#[cfg(test)]
mod rows_start;
#[cfg(test)]
mod rows_versions;
#[cfg(test)]
mod stored;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod under_load;
