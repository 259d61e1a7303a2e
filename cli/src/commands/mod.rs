//! One file per command.

pub(crate) mod apply;
pub(crate) mod clean;
pub(crate) mod completions;
pub(crate) mod copy;
pub(crate) mod demo;
pub(crate) mod info;
pub(crate) mod man;
pub(crate) mod migrate;
pub(crate) mod plan;
pub(crate) mod probe;
pub(crate) mod pyramid;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod status;
pub(crate) mod verify;
