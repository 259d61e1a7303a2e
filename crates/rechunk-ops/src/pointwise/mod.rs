//! Operations on each element by itself.

mod bounds;
pub(crate) mod cast;
pub(crate) mod clamp;
pub(crate) mod equal;
pub(crate) mod identity;
pub(crate) mod invert;
mod lookup;
pub(crate) mod mask;
pub(crate) mod replace;
pub(crate) mod rescale;
mod store;
pub(crate) mod table;
mod table_text;
pub(crate) mod threshold;
