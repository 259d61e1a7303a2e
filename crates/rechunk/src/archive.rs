//! Targets that are one ZIP file. A run builds such a target in a directory of its own work
//! directory, as it would build any other, and packs what is there when it is complete.
//!
//! Where the target is follows from what lies on the disk: before anything is begun, and after it
//! was packed, it is the file; between that it is the directory.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rechunk_store::{Role, Store, Stores, zip_place};
use serde::{Deserialize, Serialize};

use crate::error::store_error;
use crate::state_place::{
    BUILT, DONE_KEY, JOB_KEY, PACKED, TREE_KEY, WRITTEN_KEY, ZIP_KEY, state_directory, state_name,
};
use crate::{Error, Remedy};

/// A target that is a ZIP file, or a member of the group that is one.
#[derive(Debug)]
pub(crate) struct Archive {
    /// The file.
    file: PathBuf,
    /// The directory of the state of its run.
    state: String,
    /// Path of the member; empty for all of it.
    below: String,
}

/// A ZIP file that is the target, in the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArchiveReport {
    /// Directory in which it is built before it is packed. It is removed in the end.
    pub built_in: String,
    /// Bytes of the file; absent before it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Archive {
    /// The ZIP file that a location is, or would lead into. A directory of such a name is none,
    /// unless it was made while a run builds the file.
    pub(crate) fn of(location: &str) -> Option<Self> {
        let (file, below) = zip_place(location, is_begun)?;
        let name = state_name(file.to_str()?);
        Some(Self { state: state_directory(&name), file: name.into(), below })
    }

    /// The ZIP file that a location is.
    pub(crate) fn whole(location: &str) -> Option<Self> {
        Self::of(location).filter(|archive| archive.below.is_empty())
    }

    /// Location where the target is built.
    pub(crate) fn built_at(&self) -> String {
        let below = if self.below.is_empty() { String::new() } else { format!("/{}", self.below) };
        format!("{}/{BUILT}{below}", self.state)
    }

    fn has(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| Path::new(&self.state).join(key).is_file())
    }

    /// A run has packed it, and is to remove what is left.
    pub(crate) fn is_packed(&self) -> bool {
        self.has(&[DONE_KEY, WRITTEN_KEY])
    }

    /// A run has begun to build it, and not packed it yet; or there is nothing.
    fn is_built_beside(&self) -> bool {
        !self.is_packed() && (self.has(&[JOB_KEY, TREE_KEY]) || !self.is_there())
    }

    /// There is a file already.
    pub(crate) fn is_there(&self) -> bool {
        self.file.symlink_metadata().is_ok()
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Path of the member that a location names; empty for all of the file.
    pub(crate) fn below(&self) -> &str {
        &self.below
    }

    /// The file while it is packed.
    pub(crate) fn part(&self) -> PathBuf {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        Path::new(&self.state).join(PACKED).join(format!("{name}.part"))
    }

    /// The report of its plan.
    pub(crate) fn planned_report(&self) -> ArchiveReport {
        ArchiveReport { built_in: self.built_at(), bytes: None }
    }

    /// The report of a run that has ended well.
    pub(crate) fn report(&self) -> ArchiveReport {
        let bytes = self.file.metadata().ok().map(|found| found.len());
        ArchiveReport { bytes, ..self.planned_report() }
    }

    /// Opens the directory where it is built.
    pub(crate) fn open_built(&self, stores: &Stores) -> Result<Store, Error> {
        let location = self.built_at();
        let store = stores.open(&location);
        let store = store.map_err(|source| store_error("open", &location, source))?;
        Ok(store.with_role(Role::Target))
    }
}

/// A run builds a ZIP file of this name.
fn is_begun(file: &Path) -> bool {
    file.to_str()
        .is_some_and(|file| Path::new(&state_directory(&state_name(file))).join(ZIP_KEY).is_file())
}

/// Returns a text that tells a file from others that take its name: its place on the disk, its size
/// and when it was written. `None` where nothing is.
pub(crate) fn file_identity(file: &Path) -> Option<String> {
    let found = file.symlink_metadata().ok()?;
    let written = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written = written.map_or(0, |time| time.as_nanos());
    #[cfg(unix)]
    let place = {
        use std::os::unix::fs::MetadataExt;
        (found.dev(), found.ino())
    };
    #[cfg(not(unix))]
    let place = (0_u64, 0_u64);
    Some(format!("{}:{} {} bytes {written}", place.0, place.1, found.len()))
}

/// Returns where a run builds the target at a location: at `target`, unless that is a ZIP file or
/// in one.
pub(crate) fn building_place(
    location: &str,
    target: Store,
    stores: &Stores,
) -> Result<Store, Error> {
    Archive::of(location).map_or(Ok(target), |archive| archive.open_built(stores))
}

/// Returns where the target at a location is now.
pub(crate) fn target_location(location: &str) -> Cow<'_, str> {
    match Archive::of(location) {
        Some(archive) if archive.is_built_beside() => Cow::Owned(archive.built_at()),
        _ => Cow::Borrowed(location),
    }
}

/// Location that the state of a run is named after: of a member it lies where that is built.
pub(crate) fn state_location(target: &str) -> Cow<'_, str> {
    match Archive::of(target) {
        Some(archive) if !archive.below.is_empty() => Cow::Owned(archive.built_at()),
        _ => Cow::Borrowed(target),
    }
}

/// Refuses to keep what lies in the directory that is packed.
pub(crate) fn check_kept(location: &str, keep_temp: bool) -> Result<(), Error> {
    if !keep_temp || Archive::of(location).is_none() {
        return Ok(());
    }
    let reason = "what its run leaves cannot be kept: it would be packed too";
    Err(refused(location, reason, "write a directory"))
}

/// Refuses a ZIP file in a hierarchy, of which nobody would find it a part.
pub(crate) fn check_above(location: &str, has_groups: bool) -> Result<(), Error> {
    if !has_groups || Archive::of(location).is_none() {
        return Ok(());
    }
    Err(Error::Conflict {
        location: location.to_owned(),
        reason: "would lie inside a Zarr hierarchy, and a ZIP file is no member of one".to_owned(),
        hint: Some("choose a place outside of it".into()),
    })
}

/// Error that a target cannot be written so.
pub(crate) fn refused(location: &str, reason: &str, hint: impl Into<Remedy>) -> Error {
    Error::Usage { message: format!("cannot write {location}: {reason}"), hint: Some(hint.into()) }
}
