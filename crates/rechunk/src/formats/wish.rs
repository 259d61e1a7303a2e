//! Wishes that a target follows from.

use rechunk_format::FormatError;
use rechunk_grid::Edges;

use super::{Fact, Format};
use crate::Error;
use crate::axes::Axes;
use crate::open::OpenArray;
use crate::request::CopyRequest;

/// Wishes and facts that a target follows from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub request: &'a CopyRequest,
    pub source: &'a OpenArray,
    pub format: Format,
    /// Shape of its chunks, elements.
    pub chunk_shape: &'a [u64],
    /// Shape of its shards, elements, if it is to have some.
    pub shard_shape: Option<&'a [u64]>,
    /// Where its chunks end, or its shards if it has some, on axes where they differ in length.
    pub edges: Option<&'a Edges>,
    /// It is said over the chunks of the source, which stay as and where they are.
    pub over_stored: bool,
}

impl Wish<'_> {
    /// Order of axes between this source and a target of `format`.
    pub(super) fn axes(&self) -> Axes {
        let source = &self.source.metadata;
        if let Some(axes) = source.axes() {
            return axes;
        }
        if source.format().has(Fact::FastestFirst) {
            // In its file nothing is noted.
            return self.request.axes.unwrap_or_default();
        }
        let noted = Axes::noted(source.attributes());
        self.request.axes.or(noted).unwrap_or_default()
    }

    /// An error of a Zarr array that cannot be: the source's where elements differ in length, which
    /// no other format takes.
    pub(super) fn refuse(&self, error: FormatError) -> Error {
        if self.source.spec().data_type.is_variable() {
            Error::source_metadata(&self.source.location, error)
        } else {
            Error::target_metadata(error)
        }
    }
}
