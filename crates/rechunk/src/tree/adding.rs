//! Levels that are asked for of an image, of which it may have some.

use rechunk_zarr::GroupMetadata;

/// Levels that an image gets, of which it may have some already.
#[derive(Debug, Default)]
pub(crate) struct Adding {
    /// Path and factors of those that it has.
    pub anew: Vec<(String, Vec<u64>)>,
    /// The metadata of the image without any of the levels that are asked for.
    pub without: GroupMetadata,
    /// It says already what it will say with all of them.
    pub is_described: bool,
}

impl Adding {
    /// Paths of levels that the image has already.
    pub(super) fn paths_anew(&self) -> Vec<String> {
        self.anew.iter().map(|(path, _)| path.clone()).collect()
    }

    /// Factors of the level at `path`, if the image has it already.
    pub(super) fn factors_of(&self, path: &str) -> Option<&[u64]> {
        let level = self.anew.iter().find(|(level, _)| level == path);
        level.map(|(_, factors)| factors.as_slice())
    }
}
