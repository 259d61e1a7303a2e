use serde::{Deserialize, Serialize};

/// Format that blocks of a data set are stored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Storage {
    /// N5 as BigDataViewer reads it: each block is a file.
    #[default]
    N5,
    /// OME-Zarr 0.5 (Zarr 3): each block is a chunk; of levels with shards many are in one file.
    Zarr3,
}

impl Storage {
    /// All formats.
    pub(crate) const ALL: [Self; 2] = [Self::N5, Self::Zarr3];

    /// Its name in descriptions.
    pub fn name(self) -> &'static str {
        match self {
            Self::N5 => "n5",
            Self::Zarr3 => "zarr3",
        }
    }

    /// The format of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|storage| storage.name() == name)
    }
}
