//! Every kind of store, against servers that do as they should and against those that do not.

mod contract;
mod copies;
mod datasets;
mod icechunk;
mod odd_answers;
mod uploads;
mod web_servers;
