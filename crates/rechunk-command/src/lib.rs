//! Runs an external program as an operation on a box of elements.
//!
//! The program gets files and makes one: a [`Runner`] writes the elements of a [`Task`] into a
//! private directory, starts the program, and reads what it made. A [`CommandSpec`] says which
//! program, which files and how often it is tried. No shell is between.
//!
//! Calls block, may come from several threads at once, and end within moments of a timeout or of a
//! cancellation: then the program and all of its process group are killed.
//!
//! A file of the program is a claim. Type, shape and length are compared with what is expected
//! before anything is sized by them. Shapes and boxes are in C order, slowest axis first.

mod error;
mod format;
mod spec;
mod task;
mod template;

#[cfg(unix)]
mod attempt;
#[cfg(unix)]
mod directory;
#[cfg(unix)]
mod document;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod geometry;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod program;
#[cfg(unix)]
mod runner;
#[cfg(unix)]
mod slots;
#[cfg(unix)]
mod worker;

#[cfg(not(unix))]
#[path = "runner_elsewhere.rs"]
mod runner;

pub use error::{CommandError, Failure, TaskFailure};
pub use format::FileFormat;
pub use runner::Runner;
pub use spec::{CommandSpec, Returns};
pub use task::{Answer, BoxView, Task};
