//! Makes the copy of a group visible. The groups in it go first, nested ones before others, then
//! those above it, and the root last, with consolidated metadata where the format has it.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_n5::N5Version;
use rechunk_store::{Role, Store, StoreError};
use rechunk_zarr::{Consolidated, GroupMetadata};

use super::TreeJob;
use crate::complete::holds;
use crate::error::store_error;
use crate::formats::n5::is_inside_n5;
use crate::formats::{Format, Metadata, NewGroup};
use crate::member_location::paths_above;
use crate::target::{create_groups, groups_above};
use crate::{Error, consolidated, large_document};

/// Documents that are written when all arrays are complete.
#[derive(Debug)]
pub(super) struct TreeDocuments {
    location: String,
    format: Format,
    n5_version: N5Version,
    root: GroupMetadata,
    /// The groups below the root, by path.
    groups: BTreeMap<String, GroupMetadata>,
    /// Paths of those with consolidated metadata of their own: those that have it in the source.
    consolidated: BTreeSet<String>,
    /// The arrays by path, where the document of the root describes them.
    arrays: Vec<(String, Metadata)>,
    /// Those of all groups and arrays, where the format has consolidated metadata.
    all: Option<Consolidated>,
    /// Paths of groups and directories in which there is something.
    filled: BTreeSet<String>,
}

/// The documents of a group, in the order in which they are written: the last makes it one.
#[derive(Debug)]
pub(crate) struct NodeDocuments {
    /// Documents of their own; the last makes the place a group.
    others: Vec<(String, Vec<u8>)>,
    /// Of Zarr v2 written before the last of the others, of v3 in their place.
    consolidated: Option<Consolidated>,
}

impl TreeDocuments {
    pub(super) fn of(job: &TreeJob) -> Result<Self, Error> {
        let paths = job.paths().chain(job.groups());
        let mut filled: BTreeSet<String> = paths.flat_map(paths_above).map(str::to_owned).collect();
        filled.extend(job.others.folders());
        Ok(Self {
            location: job.request.target.clone(),
            format: job.format,
            n5_version: job.request.n5_version(),
            root: job.root.clone(),
            groups: job.groups.clone(),
            consolidated: job.consolidated.clone(),
            arrays: described(job),
            all: all_of(job)?,
            filled,
        })
    }

    /// Writes the documents of all groups, durably. Doing it again changes nothing.
    pub(super) async fn commit(&self, target: &Store) -> Result<(), Error> {
        let location = &self.location;
        let control = target.with_role(Role::Control);
        let failed = |source| store_error("write the groups of", location, source);
        // In the order of paths a group stands before what is in it.
        for (path, group) in self.groups.iter().rev() {
            let place = control.child(path).map_err(failed)?;
            self.documents_of(path, group).write(&place).await.map_err(failed)?;
        }
        let above = groups_above(target, self.format).await?;
        create_groups(location, &above, self.format, self.n5_version).await?;
        self.root_documents().write(&control).await.map_err(failed)?;
        control.sync().await.map_err(failed)?;
        let Some(all) = &self.all else { return Ok(()) };
        consolidated::update_with(location, target, all.version(), |document, path| {
            document.set_group(path, &self.root);
            document.set_members_of(all, "", &format!("{path}/"));
            Ok(())
        })
        .await
    }

    /// The documents of the group at `path`. Some formats need none where something is below it;
    /// its directory has to come from somewhere where nothing is.
    fn documents_of(&self, path: &str, group: &GroupMetadata) -> NodeDocuments {
        let needs_document = !self.filled.contains(path);
        let new = NewGroup { group, n5_version: None, needs_document, arrays: &[] };
        let documents = (self.format.schema().group_documents)(&new);
        let all = self.all.as_ref().filter(|_| self.consolidated.contains(path));
        let consolidated = all.map(|all| {
            let mut document = Consolidated::new(all.version(), group);
            document.set_members_of(all, &format!("{path}/"), "");
            document
        });
        NodeDocuments::new(documents, consolidated)
    }

    /// The documents of the root.
    fn root_documents(&self) -> NodeDocuments {
        let n5_version = Some(self.n5_version).filter(|_| !is_inside_n5(&self.location));
        let (needs_document, arrays) = (false, &self.arrays[..]);
        let new = NewGroup { group: &self.root, n5_version, needs_document, arrays };
        let documents = (self.format.schema().group_documents)(&new);
        NodeDocuments::new(documents, self.all.clone())
    }

    /// True if the root is there as it is written here.
    pub(super) async fn are_at(&self, target: &Store) -> Result<bool, Error> {
        self.root_documents().are_at(target).await
    }
}

/// The arrays of a job, where the document of the root is to describe them.
fn described(job: &TreeJob) -> Vec<(String, Metadata)> {
    let arrays = job.arrays.iter().filter(|_| job.format.describes_members());
    arrays.map(|array| (array.path.clone(), array.job.target.clone())).collect()
}

/// The documents of all groups and arrays in one.
fn all_of(job: &TreeJob) -> Result<Option<Consolidated>, Error> {
    let Some(version) = job.format.zarr_version() else { return Ok(None) };
    let mut all = Consolidated::new(version, &job.root);
    for (path, group) in &job.groups {
        all.set_group(path, group);
    }
    for array in &job.arrays {
        if let Some(metadata) = array.job.target.zarr() {
            all.set_array(&array.path, metadata).map_err(Error::target_metadata)?;
        }
    }
    if let Some(later) = &job.later.described {
        all.add_members_of(later);
    }
    Ok(Some(all))
}

impl NodeDocuments {
    pub(crate) fn new(
        mut others: Vec<(String, Vec<u8>)>,
        consolidated: Option<Consolidated>,
    ) -> Self {
        if let Some(document) = &consolidated {
            others.retain(|(name, _)| name != Consolidated::key(document.version()));
        }
        Self { others, consolidated }
    }

    pub(crate) async fn write(mut self, place: &Store) -> Result<(), StoreError> {
        let last = self.others.pop();
        for (key, bytes) in self.others {
            place.put_durable(&key, bytes).await?;
        }
        if let Some(document) = &self.consolidated {
            large_document::write(place, document).await?;
        }
        if let Some((key, bytes)) = last {
            place.put_durable(&key, bytes).await?;
        }
        Ok(())
    }

    async fn are_at(&self, place: &Store) -> Result<bool, Error> {
        if !holds(place, &self.others).await? {
            return Ok(false);
        }
        let Some(document) = &self.consolidated else { return Ok(true) };
        let place = place.with_role(Role::Control);
        let found = large_document::is_there(&place, document).await;
        found.map_err(|source| store_error("read", place.label(), source))
    }
}
