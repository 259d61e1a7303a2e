//! Levels of an image as a group of arrays: what is beside a new one, and what is written of one
//! that gets levels.

use std::collections::BTreeSet;

use rechunk_n5::N5Version;
use rechunk_store::{Role, Store, Stores};
use rechunk_zarr::{Consolidated, GroupMetadata};

use super::commit::NodeDocuments;
use super::{TreeArray, TreeJob};
use crate::error::store_error;
use crate::formats::{Documents, Format, Metadata, NewGroup};
use crate::member_location::paths_above;
use crate::target::create_group;
use crate::{Error, Remedy, consolidated};

/// Levels that an image gets: what it says with them, and their arrays by path.
#[derive(Debug)]
pub(super) struct AddedLevels {
    location: String,
    format: Format,
    image: GroupMetadata,
    arrays: Vec<(String, Metadata)>,
}

impl TreeJob {
    /// The file beside the target: location and bytes. Its name is that of the target, without the
    /// ending of containers, and with another ending.
    fn file_beside(&self) -> Option<(String, &[u8])> {
        let target = self.request.target.trim_end_matches('/');
        let stem = target.strip_suffix(".n5").unwrap_or(target);
        Some((format!("{stem}.xml"), self.beside.as_deref()?))
    }

    /// Refuses a file beside the target that is there, unless it is that of this job.
    pub(super) async fn check_beside(&self) -> Result<(), Error> {
        let Some((location, bytes)) = self.file_beside() else { return Ok(()) };
        let (place, name) = place_of(&location, &self.stores)?;
        let found = place.get(&name, 1 << 26).await;
        let found = found.map_err(|source| store_error("look at", &location, source))?;
        if found.is_none_or(|found| found == bytes) {
            return Ok(());
        }
        Err(Error::Conflict {
            location,
            reason: "is there already, and would describe the new image".to_owned(),
            hint: Some(Remedy::from("choose another target, or move that file away")),
        })
    }

    /// Writes the file beside the target.
    pub(super) async fn write_beside(&self) -> Result<(), Error> {
        let Some((location, bytes)) = self.file_beside() else { return Ok(()) };
        let (place, name) = place_of(&location, &self.stores)?;
        let written = place.put_durable(&name, bytes.to_vec()).await;
        written.map_err(|source| store_error("write", &location, source))
    }
}

fn place_of(location: &str, stores: &Stores) -> Result<(Store, String), Error> {
    let (folder, name) = location.rsplit_once('/').unwrap_or((".", location));
    let folder = if folder.is_empty() { "/" } else { folder };
    let place = stores.open(folder).map_err(|source| store_error("open", folder, source))?;
    Ok((place.with_role(Role::Control), name.to_owned()))
}

impl AddedLevels {
    /// The levels that a job adds.
    pub(super) fn of(job: &TreeJob) -> Self {
        let array = |TreeArray { path, job }: &TreeArray| (path.clone(), job.target.clone());
        Self {
            location: job.request.target.clone(),
            format: job.format,
            image: job.root.clone(),
            arrays: job.arrays.iter().map(array).collect(),
        }
    }

    /// Says in the group at `target` which levels it has now, and in consolidated metadata which
    /// arrays. Doing it again changes nothing.
    pub(super) async fn commit(&self, target: &Store) -> Result<(), Error> {
        let location = &self.location;
        let failed = |source| store_error("describe the levels of", location, source);
        let control = target.with_role(Role::Control);
        let describe = |document: &mut Consolidated, path: &str| {
            if path.is_empty() {
                let attributes = &self.image.attributes;
                document.change_attributes("", |own| own.clone_from(attributes));
            } else {
                document.set_group(path, &self.image);
            }
            for (name, metadata) in &self.arrays {
                let Some(metadata) = metadata.zarr() else { continue };
                let at = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                document.set_array(&at, metadata)?;
            }
            Ok(())
        };
        let version = self.format.zarr_version();
        let mut own = match version {
            Some(version) => consolidated::fetch(&control, version)
                .await
                .map_err(|fault| fault.of_target(location))?,
            None => None,
        };
        if let Some(document) = &mut own {
            describe(document, "").map_err(Error::target_metadata)?;
        }
        self.create_groups(&control).await?;
        let n5_version = if version.is_none() { self.n5_version(&control).await? } else { None };
        let new = NewGroup { group: &self.image, n5_version, needs_document: true };
        let documents = (self.format.schema().group_documents)(&new);
        NodeDocuments::new(documents, own).write(&control).await.map_err(failed)?;
        control.sync().await.map_err(failed)?;
        let Some(version) = version else { return Ok(()) };
        consolidated::update_with(location, target, version, describe).await
    }

    /// Makes the directories between the image and its new arrays groups, where they are none.
    async fn create_groups(&self, control: &Store) -> Result<(), Error> {
        let failed = |source| store_error("write groups below", control.label(), source);
        let between: BTreeSet<&str> =
            self.arrays.iter().flat_map(|(path, _)| paths_above(path)).collect();
        for path in between {
            let place = control.child(path).map_err(failed)?;
            let found = Documents::fetch(&place).await.map_err(failed)?;
            // Also what cannot be understood is somebody's.
            if matches!(found.node(), Ok(None)) {
                create_group(&place, self.format, None).await.map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The version that a container says, which stays.
    async fn n5_version(&self, control: &Store) -> Result<Option<N5Version>, Error> {
        let found = Documents::fetch(control).await;
        let found = found.map_err(|source| store_error("look at", control.label(), source))?;
        Ok(found.says_n5_version().then_some(N5Version::DEFAULT))
    }
}
