//! Data sets with versions and resolutions: their records, blocks on the wire and as N5. No HTTP.
//!
//! A [`Datastore`] keeps data sets below a place of a store, each in a folder of its name, with a
//! folder for each version that BigDataViewer opens (`export.xml`, `export.n5`). A [`Register`] has
//! the data sets that there are, and their descriptions. A [`Dataset`] says
//! what a data set is, [`NewDataset`] is what it is created from, and an [`OpenLevel`] reads and
//! writes its blocks. [`BlockReader`] takes blocks from the wire, however its bytes arrive.
//!
//! Lists of sizes and positions are in the order of the DataStore and of N5 here: x, y, z.

mod begun;
mod block_address;
mod block_locks;
mod blocks;
mod boxes;
mod catalog;
mod changes;
mod changing;
mod created;
mod dataset;
mod dataset_id;
mod datastore;
mod deleted;
mod documents;
mod error;
mod found;
mod grown;
mod imported;
mod json_field;
mod known;
mod level;
mod new_dataset;
mod note;
mod open_level;
mod places;
mod rebuild;
mod record;
mod register;
mod settling;
mod storage;
mod turn;
mod version;
mod viewer_settings;
mod wire;

pub use begun::HeldPlace;
pub use block_address::{BlockAddress, View};
pub use dataset::{Dataset, Measure};
pub use dataset_id::{check_dataset_id, new_dataset_id};
pub use datastore::Datastore;
pub use error::DatastoreError;
pub use imported::{Imported, Left};
pub use known::Known;
pub use level::Level;
pub use new_dataset::NewDataset;
pub use open_level::{OpenLevel, StoredBlock};
pub use rebuild::{Builder, Rebuild};
pub use rechunk_image::BdvServer;
pub use register::{Change, Edit, Register};
pub use storage::Storage;
pub use version::{AccessMode, VersionWanted};
pub use wire::{ABSENT, BlockReader, WireBlock, written};
