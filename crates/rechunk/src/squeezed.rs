//! Arrays without the axes of length 1 that a target has no place for.
//!
//! Metadata and region of such an array are those of the stored one, with all axes; layout and
//! specification are without them.

use std::sync::Arc;

use rechunk_array::Array;
use rechunk_format::{Layout, SqueezedLayout};
use rechunk_grid::{ArraySpec, Edges, Region};

use crate::Error;
use crate::formats::{Fact, Format};
use crate::open::OpenArray;

/// Axes of space of a volume: the last three.
const SPACE: usize = 3;

impl OpenArray {
    /// Leaves out the axes of length 1 before the last three, where `format` has a place for these
    /// and channels alone.
    pub(crate) fn squeezed_for(self, format: Format) -> Result<Self, Error> {
        let shape = &self.spec().shape;
        let before = shape.len().saturating_sub(SPACE);
        let is_volume = self.metadata.format().has(Fact::VoxelFields);
        if is_volume || !format.has(Fact::VoxelFields) || !shape[..before].contains(&1) {
            return Ok(self);
        }
        let kept = self.kept_axes();
        let ones = (0..before).filter(|axis| shape[*axis] == 1).map(|axis| kept[axis]);
        let mut left_out: Vec<usize> = self.left_out.iter().copied().chain(ones).collect();
        left_out.sort_unstable();
        self.with_left_out(left_out)
    }

    /// The stored array, or a region of it, without the axes that are left out of `other`.
    pub(crate) fn without_axes_of(self, other: &Self) -> Result<Self, Error> {
        self.with_left_out(other.left_out.clone())
    }

    /// The array without these axes of the stored one.
    fn with_left_out(self, left_out: Vec<usize>) -> Result<Self, Error> {
        let kept = self.kept_axes();
        let more: Vec<usize> = left_out
            .iter()
            .filter(|axis| !self.left_out.contains(axis))
            .filter_map(|axis| kept.iter().position(|kept| kept == axis))
            .collect();
        let layout = self.without_axes(Arc::clone(self.array.layout()), &more)?;
        let array = Array::new(layout, self.array.store().clone());
        Ok(Self { array, left_out, settled: Box::default(), ..self })
    }

    fn without_axes(
        &self,
        layout: Arc<dyn Layout>,
        axes: &[usize],
    ) -> Result<Arc<dyn Layout>, Error> {
        if axes.is_empty() {
            return Ok(layout);
        }
        let squeezed = SqueezedLayout::new(layout, axes);
        Ok(Arc::new(squeezed.map_err(|error| Error::Usage {
            message: format!(
                "{}: a volume has no place for an axis of length 1, and it cannot be left out: {error}",
                self.location
            ),
            hint: Some("copy the array to Zarr with chunks of 1 along that axis first".into()),
        })?))
    }

    /// A layout of the stored array, or of its region, without the axes that are left out.
    pub(crate) fn squeezed_layout(
        &self,
        stored: Arc<dyn Layout>,
    ) -> Result<Arc<dyn Layout>, Error> {
        self.without_axes(stored, &self.left_out)
    }

    /// The axes of the stored array that it has.
    fn kept_axes(&self) -> Vec<usize> {
        let rank = self.spec().shape.len() + self.left_out.len();
        (0..rank).filter(|axis| !self.left_out.contains(axis)).collect()
    }

    /// The entries of a list for the axes of the stored array that are of its own axes.
    pub(crate) fn of_kept<T: Clone>(&self, list: &[T]) -> Vec<T> {
        self.kept_axes().iter().filter_map(|axis| list.get(*axis)).cloned().collect()
    }

    /// A list for its axes with an entry for each axis of the stored array.
    pub(crate) fn with_all_axes(&self, list: &[u64], entry: u64) -> Vec<u64> {
        let kept = self.kept_axes();
        let mut all = vec![entry; kept.len() + self.left_out.len()];
        for (axis, value) in kept.into_iter().zip(list) {
            all[axis] = *value;
        }
        all
    }

    /// A region of it, as one of the stored array, or of its region.
    pub(crate) fn in_stored(&self, region: &Region) -> Region {
        Region::new(self.with_all_axes(&region.start, 0), self.with_all_axes(&region.shape, 1))
    }

    /// A region of it, as one of all of the stored array.
    pub(crate) fn in_whole(&self, region: &Region) -> Region {
        let mut stored = self.in_stored(region);
        if let Some((_, own)) = &self.region {
            for (start, first) in stored.start.iter_mut().zip(&own.start) {
                *start += first;
            }
        }
        stored
    }

    /// First element of the stored array along each of its axes.
    pub(crate) fn origin(&self) -> Vec<u64> {
        match &self.region {
            Some((_, region)) => self.of_kept(&region.start),
            None => vec![0; self.spec().shape.len()],
        }
    }

    /// Specification by its metadata, which has the chunks of the stored array where a region
    /// begins inside one.
    pub(crate) fn stored_spec(&self) -> ArraySpec {
        let whole = self.metadata.spec();
        if self.left_out.is_empty() {
            return whole;
        }
        let edges = |edges: &Edges| {
            self.kept_axes().into_iter().map(|axis| edges.axis(axis).cloned()).collect()
        };
        ArraySpec {
            shape: self.of_kept(&whole.shape),
            chunk_shape: self.of_kept(&whole.chunk_shape),
            edges: whole.edges.as_ref().and_then(|own| Edges::new(edges(own))),
            dimension_names: whole.dimension_names.as_deref().map(|names| self.of_kept(names)),
            ..whole
        }
    }
}
