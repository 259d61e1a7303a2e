//! Place that an error is about, for programs that do not read sentences.

use rechunk_array::ArrayError;

use crate::Error;
use crate::secrets::without_secrets;

/// Place that an error is about; what is not known of it is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blame {
    /// Location of the array or group, without secrets.
    pub location: Option<String>,
    /// The array, as it is called in messages; of a group, its path there.
    pub array: Option<String>,
    /// Index of the chunk, in chunks.
    pub chunk: Option<Vec<u64>>,
    /// Key of the object in its store.
    pub key: Option<String>,
}

impl Blame {
    fn at(location: &str) -> Self {
        Self { location: Some(without_secrets(location)), ..Self::default() }
    }

    fn of(error: &ArrayError) -> Self {
        let index = error.index();
        Self {
            location: None,
            array: Some(without_secrets(error.array())),
            chunk: (!index.is_empty()).then(|| index.to_vec()),
            key: Some(error.key().to_owned()),
        }
    }
}

impl Error {
    /// The place that it is about.
    ///
    /// ```
    /// let error = rechunk::Error::Conflict {
    ///     location: "t.zarr".to_owned(), reason: "exists".to_owned(), hint: None,
    /// };
    /// assert_eq!(error.blame().location.as_deref(), Some("t.zarr"));
    /// ```
    pub fn blame(&self) -> Blame {
        match self {
            Self::NotAnArray { location, .. }
            | Self::NotATree { location, .. }
            | Self::SourceChunks { location, .. }
            | Self::SourceMetadata { location, .. }
            | Self::Cast { location, .. }
            | Self::Conflict { location, .. }
            | Self::SourceStore { location, .. }
            | Self::NotYet { location, .. }
            | Self::DigestDiffers { location, .. } => Blame::at(location),
            Self::Member { path, source } => Blame { array: Some(path.clone()), ..source.blame() },
            Self::Run { source, .. } => source.array_error().map_or_else(Blame::default, Blame::of),
            Self::Finish { location, source } => {
                Blame { location: Blame::at(location).location, ..Blame::of(source) }
            }
            Self::ReadRegion { location, source } | Self::WriteRegion { location, source } => {
                let chunk = source.chunk().map_or_else(Blame::default, Blame::of);
                Blame { location: Blame::at(location).location, ..chunk }
            }
            Self::Compare { source } => {
                source.downcast_ref::<ArrayError>().map_or_else(Blame::default, Blame::of)
            }
            Self::State { path, .. } => Blame::at(path),
            Self::Unlike { b, .. } => Blame::at(b),
            Self::Usage { .. }
            | Self::TargetMetadata { .. }
            | Self::Apply { .. }
            | Self::Plan { .. }
            | Self::Store { .. }
            | Self::VerifyFailed { .. }
            | Self::Interrupted { .. } => Blame::default(),
        }
    }
}
