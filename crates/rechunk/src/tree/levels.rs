//! Levels of an image as a group of arrays: what is beside a new one, and what is written of one
//! that gets levels.

use std::collections::BTreeSet;

use rechunk_n5::N5Version;
use rechunk_store::{Role, Store, Stores, check_below};
use rechunk_zarr::{Consolidated, GroupMetadata};

use super::adding::Adding;
use super::commit::NodeDocuments;
use super::give_up::{is_below, remove_arrays};
use super::{TreeArray, TreeJob};
use crate::complete::holds;
use crate::error::store_error;
use crate::formats::{Documents, Format, Metadata, NewGroup};
use crate::may_start::begun_before;
use crate::member_location::{member_location, member_path, paths_above};
use crate::target::{create_group, open_target};
use crate::work_dir::{Left, WorkDir};
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

    /// True if all levels that a job adds are there, as it makes them.
    pub(super) async fn has_levels(&self, adding: &Adding) -> Result<bool, Error> {
        if !adding.is_described {
            return Ok(false);
        }
        for TreeArray { path, job } in &self.arrays {
            let store = open_target(&job.request.target, &self.stores)?;
            if adding.factors_of(path).is_none() || !holds(&store, &job.target.documents()).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Takes levels of the image at `target` out of what it says, and then removes them. Doing it
    /// again changes nothing.
    pub(super) async fn remove_levels(
        &self,
        adding: &Adding,
        paths: &[String],
        target: &Store,
    ) -> Result<(), Error> {
        if paths.is_empty() {
            return Ok(());
        }
        for path in paths {
            check_below(path).map_err(|reason| Error::Conflict {
                location: member_location(&self.request.target, path),
                reason: format!("is a level that is not removed: {reason}"),
                hint: None,
            })?;
        }
        let location = self.request.target.clone();
        let (format, image) = (self.format, adding.without.clone());
        let without = AddedLevels { location, format, image, arrays: Vec::new() };
        without.commit(target, paths).await?;
        remove_arrays(&self.request.target, paths, target).await
    }
}

fn place_of(location: &str, stores: &Stores) -> Result<(Store, String), Error> {
    let (folder, name) = location.rsplit_once('/').unwrap_or((".", location));
    let folder = if folder.is_empty() { "/" } else { folder };
    let place = stores.open(folder).map_err(|source| store_error("open", folder, source))?;
    Ok((place.with_role(Role::Control), name.to_owned()))
}

/// Refuses a level of the image at `target` that is not to be removed: a link to what is
/// somebody's, or where a run is.
pub(super) async fn check_removable(
    location: &str,
    (target, path): (&Store, &str),
    stores: &Stores,
) -> Result<(), Error> {
    if !is_below(target, path) {
        return Err(Error::Conflict {
            location: location.to_owned(),
            reason: "is a link, and what it leads to is not removed".to_owned(),
            hint: Some(Remedy::from("remove the link yourself, and the level from the image")),
        });
    }
    match WorkDir::of(location, stores)?.left().await? {
        Left::Unfinished(_) | Left::Damaged(_) => Err(begun_before(location)),
        Left::Nothing | Left::Done(_) | Left::Late => Ok(()),
    }
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
    /// arrays, of which those at `gone` are no more. Doing it again changes nothing.
    pub(super) async fn commit(&self, target: &Store, gone: &[String]) -> Result<(), Error> {
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
            for name in gone {
                document.remove_array(&member_path(path, name));
            }
            for (name, metadata) in &self.arrays {
                let Some(metadata) = metadata.zarr() else { continue };
                document.set_array(&member_path(path, name), metadata)?;
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
        let (needs_document, arrays) = (true, &[][..]);
        let new = NewGroup { group: &self.image, n5_version, needs_document, arrays };
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
