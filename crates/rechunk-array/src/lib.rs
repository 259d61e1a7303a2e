//! An opened array: a layout on a store.
