//! Moves elements between n-dimensional buffers; the only crate with unsafe code. Pure.
