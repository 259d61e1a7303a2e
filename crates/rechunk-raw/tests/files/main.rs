//! Raw, npy and NIfTI files against their contract and files of others.

mod contract;
mod fixtures;
