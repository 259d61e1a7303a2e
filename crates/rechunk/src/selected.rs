//! The region of an array that is asked for.

use rechunk_grid::{Region, format_shape};
use rechunk_raw::select_nifti;
use rechunk_words::RegionSpec;

use crate::open::OpenArray;
use crate::voxel_grid::header_axes;
use crate::{Error, Remedy};

impl OpenArray {
    /// The region of it that is selected, if one is.
    pub(crate) fn selected(self, select: Option<&RegionSpec>) -> Result<Self, Error> {
        let Some(select) = select else { return Ok(self) };
        let region = select.region(self.spec())?;
        if region == Region::whole(&self.spec().shape) {
            return Ok(self);
        }
        let is_whole =
            self.spec().data_type.is_variable() && self.array.layout().variable().is_none();
        if is_whole || self.packed.is_some() {
            let why = if is_whole {
                "its elements cannot be told apart"
            } else {
                "it is a file that is compressed as a whole"
            };
            return Err(Error::Usage {
                message: format!(
                    "a region is asked for, and {} can only be copied as a whole: {why}",
                    self.location
                ),
                hint: Some(Remedy::SelectNothing),
            });
        }
        let can_be_cut = self.array.layout().variable().is_some();
        let shards = self.metadata.object_shape();
        let in_file = |list: &[u64]| -> Vec<u64> {
            header_axes(&self).iter().filter_map(|axis| list.get(*axis)).copied().collect()
        };
        let stored = self.in_stored(&region);
        let (start, shape) = (in_file(&stored.start), in_file(&stored.shape));
        let mut part = self.part(&region)?;
        select_nifti(part.metadata.attributes_mut(), &start, &shape);
        if can_be_cut && part.array.layout().variable().is_none() {
            return Err(Error::Usage {
                message: format!(
                    "{}: the region begins inside a shard ({}), where elements of variable length \
                     cannot be told apart",
                    part.location,
                    format_shape(&shards)
                ),
                hint: Some(
                    "begin it where a shard begins, or copy the array without shards first".into(),
                ),
            });
        }
        Ok(part)
    }
}
