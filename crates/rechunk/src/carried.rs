//! Copies that keep the filters of each number (`scale_offset`, `cast_value`). Both sides are read
//! and written as arrays of the stored numbers, which are planned, moved and verified in place of
//! what they stand for. Metadata alone says the filters.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::Layout;

use crate::Error;
use crate::formats::Metadata;
use crate::open::OpenArray;

/// Filters that a job carries without undoing them, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Carried {
    /// Data type of the array.
    pub data_type: String,
    /// Data type of what is stored, and moved.
    pub stored_type: String,
    /// The filters between the two.
    pub filters: String,
}

impl Carried {
    /// `float32 as uint16`; one type where the two are the same.
    pub fn types(&self) -> String {
        if self.data_type == self.stored_type {
            return self.data_type.clone();
        }
        format!("{} as {}", self.data_type, self.stored_type)
    }
}

/// Source and layout of the target as arrays of stored numbers, where both have the same filters of
/// each number; else as they are. `layout` makes a layout of the target's metadata, or of the part
/// that is written.
pub(crate) fn carry(
    source: OpenArray,
    target: &Metadata,
    layout: impl Fn(&Metadata) -> Result<Arc<dyn Layout>, Error>,
) -> Result<(OpenArray, Arc<dyn Layout>), Error> {
    let stored = stored_alike(&source, target).map(|target| layout(&target)).transpose()?;
    match stored {
        Some(stored) => Ok((source.as_stored()?, stored)),
        None => Ok((source, layout(target)?)),
    }
}

/// The target as an array of stored numbers, where those of the source are the same.
fn stored_alike(source: &OpenArray, target: &Metadata) -> Option<Metadata> {
    let is_read_as_other = source.cast.is_some() || source.recount.is_some();
    let (own, theirs) = (source.metadata.zarr()?, target.zarr()?);
    if is_read_as_other || own.number_filters() != theirs.number_filters() {
        return None;
    }
    own.as_stored()?;
    target.as_stored()
}

/// Two arrays as what they store, where the same filters stand before it: if that is equal, so is
/// what it stands for.
pub(crate) fn both_stored(
    a: &OpenArray,
    b: &OpenArray,
) -> Result<Option<(OpenArray, OpenArray)>, Error> {
    if b.cast.is_some() || stored_alike(a, &b.metadata).is_none() {
        return Ok(None);
    }
    Ok(Some((a.as_stored()?, b.as_stored()?)))
}

impl OpenArray {
    /// The array as one of the numbers that its filters store; as it is where it has none.
    pub(crate) fn as_stored(&self) -> Result<Self, Error> {
        let Some(metadata) = self.metadata.as_stored() else { return Ok(self.clone()) };
        let layout = match &self.region {
            Some((shape, region)) => metadata.with_shape(shape).layout_of(region),
            None => metadata.layout(),
        };
        let layout = layout.map_err(|source| Error::source_metadata(&self.location, source))?;
        let layout = self.squeezed_layout(layout)?;
        let array = Array::new(layout, self.array.store().clone());
        Ok(Self { array, metadata, is_carried: true, ..self.clone() })
    }
}
