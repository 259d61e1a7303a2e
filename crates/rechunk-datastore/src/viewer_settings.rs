//! Settings that BigDataViewer keeps beside the document of a version.

use bytes::Bytes;

use crate::places::folder;
use crate::{Datastore, DatastoreError, OpenLevel};

/// The settings of a version, in its folder.
const SETTINGS_KEY: &str = "export.settings.xml";
/// Largest settings, bytes.
const SETTINGS_BYTES_MAX: u64 = 16 << 20;

impl Datastore {
    /// Brightness, groups and bookmarks that people have saved in BigDataViewer for a version; of
    /// `mixedLatest` those of the highest version that has some.
    pub async fn viewer_settings(
        &self,
        level: &OpenLevel,
    ) -> Result<Option<Bytes>, DatastoreError> {
        for version in level.versions() {
            let folder = folder(&level.known().dataset.uuid, Some(*version));
            let key = format!("{folder}/{SETTINGS_KEY}");
            if let Some(settings) = self.root.get(&key, SETTINGS_BYTES_MAX).await? {
                return Ok(Some(settings));
            }
        }
        Ok(None)
    }
}
