//! The region of an array that is asked for.

use rechunk_grid::{Region, format_shape};
use rechunk_words::RegionSpec;

use crate::open::OpenArray;
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
            return Err(Error::NotAnArray {
                location: self.location,
                reason:
                    "it can only be copied as a whole (its elements cannot be told apart, or it is \
                         a compressed file)"
                        .to_owned(),
                hint: Some(Remedy::SelectNothing),
            });
        }
        let can_be_cut = self.array.layout().variable().is_some();
        let shards = self.metadata.object_shape();
        let part = self.part(region)?;
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
