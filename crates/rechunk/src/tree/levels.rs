//! Levels of an image as a group of arrays: a new group, or levels that are added to one.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_store::{Role, Store, Stores};
use rechunk_zarr::{Consolidated, GroupMetadata};
use serde_json::{Map, Value};

use super::plans::Later;
use super::rules::Selection;
use super::{TreeArray, TreeJob};
use crate::error::store_error;
use crate::formats::{Documents, Format, Metadata, NewGroup};
use crate::others::Others;
use crate::pyramid::PyramidReport;
use crate::repeats::GrownGroups;
use crate::request::CopyRequest;
use crate::{Error, Remedy, consolidated};

/// Levels of an image, planned.
pub(crate) struct LevelsOfImage {
    pub arrays: Vec<TreeArray>,
    /// Groups below the root, by path.
    pub groups: BTreeMap<String, GroupMetadata>,
    pub root: GroupMetadata,
    pub format: Format,
    pub warnings: Vec<String>,
    pub adds: Option<AddedLevels>,
    pub beside: Vec<(String, Vec<u8>)>,
    pub report: Option<PyramidReport>,
}

/// Levels that an image gets: what it says with them, and their arrays by path.
#[derive(Debug, Clone)]
pub(crate) struct AddedLevels {
    pub attributes: Map<String, Value>,
    pub extensions: Map<String, Value>,
    pub arrays: Vec<(String, Metadata)>,
}

impl TreeJob {
    /// The job that writes the levels of an image.
    pub(crate) fn of_levels(request: CopyRequest, levels: LevelsOfImage, stores: Stores) -> Self {
        let LevelsOfImage { arrays, groups, root, format, warnings, adds, beside, report } = levels;
        Self {
            request,
            selection: Selection::default(),
            arrays,
            later: Later::default(),
            unmoved: Vec::new(),
            warnings,
            format,
            groups,
            root,
            others: Others::default(),
            others_estimate: rechunk_plan::Estimate::default(),
            consolidated: BTreeSet::new(),
            grown_groups: GrownGroups::default(),
            adds: adds.map(Box::new),
            beside,
            pyramid: report.map(Box::new),
            stores,
        }
    }

    /// Files beside the target: location and bytes. Their names are that of the target, without the
    /// ending of containers, and another ending.
    pub(super) fn files_beside(&self) -> Vec<(String, &[u8])> {
        let target = self.request.target.trim_end_matches('/');
        let stem = target.strip_suffix(".n5").unwrap_or(target);
        let files = self.beside.iter();
        files.map(|(name, bytes)| (format!("{stem}{name}.xml"), bytes.as_slice())).collect()
    }

    /// Refuses files beside the target that are there, unless they are those of this job.
    pub(super) async fn check_beside(&self) -> Result<(), Error> {
        for (location, bytes) in self.files_beside() {
            let (place, name) = place_of(&location, &self.stores)?;
            let found = place.get(&name, 1 << 26).await;
            let found = found.map_err(|source| store_error("look at", &location, source))?;
            if found.is_some_and(|found| found != bytes) {
                return Err(Error::Conflict {
                    location,
                    reason: "is there already, and would describe the new image".to_owned(),
                    hint: Some(Remedy::from("choose another target, or move that file away")),
                });
            }
        }
        Ok(())
    }

    /// Writes the files beside the target.
    pub(super) async fn write_beside(&self) -> Result<(), Error> {
        for (location, bytes) in self.files_beside() {
            let (place, name) = place_of(&location, &self.stores)?;
            let written = place.put_durable(&name, bytes.to_vec()).await;
            written.map_err(|source| store_error("write", &location, source))?;
        }
        Ok(())
    }
}

fn place_of(location: &str, stores: &Stores) -> Result<(Store, String), Error> {
    let (folder, name) = location.rsplit_once('/').unwrap_or((".", location));
    let folder = if folder.is_empty() { "/" } else { folder };
    let place = stores.open(folder).map_err(|source| store_error("open", folder, source))?;
    Ok((place.with_role(Role::Control), name.to_owned()))
}

impl AddedLevels {
    /// Says in the group at `target` which levels it has now, and in consolidated metadata which
    /// arrays. Doing it again changes nothing.
    pub(super) async fn commit(&self, job: &TreeJob, target: &Store) -> Result<(), Error> {
        let location = &job.request.target;
        let failed = |source| store_error("describe the levels of", location, source);
        let control = target.with_role(Role::Control);
        let group = GroupMetadata {
            attributes: self.attributes.clone(),
            extensions: self.extensions.clone(),
        };
        let describe = |document: &mut Consolidated, path: &str| {
            if path.is_empty() {
                document.change_attributes("", |own| own.clone_from(&self.attributes));
            } else {
                document.set_group(path, &group);
            }
            for (name, metadata) in &self.arrays {
                let Some(metadata) = metadata.zarr() else { continue };
                let at = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                document.set_array(&at, metadata)?;
            }
            Ok(())
        };
        let version = job.format.zarr_version();
        let own = match version {
            Some(version) => consolidated::fetch(&control, version)
                .await
                .map_err(|fault| fault.of_target(location))?
                .map(|document| (version, document)),
            None => None,
        };
        self.create_groups(job, &control).await?;
        let n5_version = if version.is_none() { self.n5_version(&control).await? } else { None };
        let new = NewGroup { group: &group, n5_version, needs_document: true };
        let documents = (job.format.schema().group_documents)(&new);
        let replaced = own.as_ref().map(|(version, _)| Consolidated::key(*version));
        for (key, bytes) in documents.into_iter().filter(|(key, _)| replaced != Some(key.as_str()))
        {
            control.put_durable(&key, bytes).await.map_err(failed)?;
        }
        if let Some((_, mut document)) = own {
            describe(&mut document, "").map_err(Error::target_metadata)?;
            crate::large_document::write(&control, &document).await.map_err(failed)?;
        }
        control.sync().await.map_err(failed)?;
        let Some(version) = version else { return Ok(()) };
        consolidated::update_with(location, target, version, describe).await
    }

    /// Makes the directories between the image and its new arrays groups, where they are none.
    async fn create_groups(&self, job: &TreeJob, control: &Store) -> Result<(), Error> {
        let failed = |source| store_error("write groups below", control.label(), source);
        let of = |path: &str| -> Vec<String> {
            path.match_indices('/').map(|(end, _)| path[..end].to_owned()).collect()
        };
        let between: BTreeSet<String> = self.arrays.iter().flat_map(|(path, _)| of(path)).collect();
        for path in between {
            let place = control.child(&path).map_err(failed)?;
            let found = Documents::fetch(&place).await.map_err(failed)?;
            if !matches!(found.node(), Ok(None)) {
                continue; // also what cannot be understood is somebody's
            }
            let group = GroupMetadata::default();
            let new = NewGroup { group: &group, n5_version: None, needs_document: false };
            for (key, bytes) in (job.format.schema().group_documents)(&new) {
                place.put_durable(&key, bytes).await.map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The version that a container says, which stays.
    async fn n5_version(&self, control: &Store) -> Result<Option<rechunk_n5::N5Version>, Error> {
        let found = Documents::fetch(control).await;
        let found = found.map_err(|source| store_error("look at", control.label(), source))?;
        Ok(found.says_n5_version().then_some(rechunk_n5::N5Version::DEFAULT))
    }
}
