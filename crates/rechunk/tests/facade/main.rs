//! The public library, in one program: each program would compile the library's futures anew.

mod apply;
mod digest;
mod files;
mod flips;
mod growth;
mod icechunk;
mod pyramid;
mod references;
mod regions;
mod sim;
