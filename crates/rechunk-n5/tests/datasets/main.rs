//! N5 against its contract, files of others, and other implementations.

mod contract;
mod fixtures;
mod oracle;
mod second_opinion;
