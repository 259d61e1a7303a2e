//! Raw files on both sides: runs of bytes, read and written buffer by buffer.
//!
//! Of each buffer, its part of every target file it meets (a *piece*) has exactly its bytes of
//! memory, in a block with others that are written after the same buffer. What is read goes through
//! a bounded buffer, the bounce, straight into the pieces, and out of them through a bounce into
//! the target files. Pieces live until the write blocks of all in their block are complete: nothing
//! else holds elements.
//!
//! The method is the keep strategy of Guédon, Glatard and Hayot-Sasson ("A heuristic to
//! repartition large multi-dimensional arrays with reduced disk seeking").

mod held;
mod lanes;
mod marks;
mod pass;
mod read;
mod side;
pub(crate) mod task;
mod write;
