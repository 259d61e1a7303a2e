//! Makes the copy of a group visible: the groups in it, nested first, then those above it, and the
//! root last, with consolidated metadata where the format has it.

use std::collections::{BTreeMap, BTreeSet};

use rechunk_format::FormatError;
use rechunk_n5::N5Version;
use rechunk_store::{Role, Store};
use rechunk_zarr::{Consolidated, GroupMetadata, ZarrVersion};

use super::{TreeJob, nested};
use crate::complete::holds;
use crate::documents::METADATA_BYTES_MAX;
use crate::format::Format;
use crate::metadata::{Metadata, group_documents};
use crate::specify::is_inside_n5;
use crate::target::{create_groups, groups_above};
use crate::work_dir::store_error;
use crate::{Error, consolidated};

/// What is written when all arrays are complete.
#[derive(Debug)]
pub(super) struct TreeDocuments {
    location: String,
    pub(super) format: Format,
    n5_version: N5Version,
    root: GroupMetadata,
    /// The groups below the root, by path.
    pub(super) groups: BTreeMap<String, GroupMetadata>,
    /// Paths of those with consolidated metadata of their own.
    pub(super) consolidated: BTreeSet<String>,
    /// The arrays, by path.
    pub(super) arrays: Vec<(String, Metadata)>,
    /// Directories that hold other files.
    folders: BTreeSet<String>,
}

impl TreeDocuments {
    pub(super) fn of(job: &TreeJob) -> Self {
        let arrays = job.arrays.iter();
        Self {
            location: job.request.target.clone(),
            format: job.format,
            n5_version: job.request.n5_version(),
            root: job.root.clone(),
            groups: job.groups.clone(),
            consolidated: job.consolidated.clone(),
            arrays: arrays.map(|array| (array.path.clone(), array.job.target.clone())).collect(),
            folders: job.others.folders(),
        }
    }

    /// Writes the documents of all groups, durably. Doing it again changes nothing.
    pub(super) async fn commit(&self, target: &Store) -> Result<(), Error> {
        let location = &self.location;
        let control = target.with_role(Role::Control);
        let failed = |source| store_error("write the groups of", location, source);
        // In the order of paths a group stands before what is in it.
        for (path, group) in self.groups.iter().rev() {
            let place = control.child(path).map_err(failed)?;
            for (key, bytes) in self.group_documents(path, group)? {
                place.put_durable(&key, bytes).await.map_err(failed)?;
            }
        }
        let above = groups_above(target, self.format).await?;
        create_groups(location, &above, self.format, self.n5_version).await?;
        for (key, bytes) in self.root_documents()? {
            control.put_durable(&key, bytes).await.map_err(failed)?;
        }
        control.sync().await.map_err(failed)?;
        let Some(version) = self.format.zarr_version() else { return Ok(()) };
        consolidated::update_with(location, target, version, |document, path| {
            document.set_group(path, &self.root);
            self.describe_in(document, &format!("{path}/"))
        })
        .await
    }

    /// The documents of the group at `path`. A group of N5 needs none where something is below it;
    /// its directory has to come from somewhere where nothing is.
    fn group_documents(
        &self,
        path: &str,
        group: &GroupMetadata,
    ) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let mut documents = group_documents(self.format, group, None);
        self.consolidate(path, group, &mut documents)?;
        let is_below =
            |other: &String| other.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
        let paths = self.arrays.iter().map(|(path, _)| path).chain(self.groups.keys());
        let has_files = self.folders.contains(path);
        if self.format != Format::N5
            || !documents.is_empty()
            || has_files
            || paths.into_iter().any(is_below)
        {
            return Ok(documents);
        }
        let document = rechunk_n5::group_document(&group.attributes, None);
        Ok(vec![(rechunk_n5::ATTRIBUTES_KEY.to_owned(), document)])
    }

    /// The documents of the root, by key; what makes it a group comes last.
    fn root_documents(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        let version = Some(self.n5_version).filter(|_| !is_inside_n5(&self.location));
        let mut documents = group_documents(self.format, &self.root, version);
        let Some(version) = self.format.zarr_version() else { return Ok(documents) };
        let mut consolidated = Consolidated::new(version, &self.root);
        self.describe_in(&mut consolidated, "").map_err(Error::target_metadata)?;
        nested::insert(version, &consolidated, &mut documents);
        Ok(documents)
    }

    /// What is to be said about the documents.
    pub(super) fn warning(&self) -> Result<Option<String>, Error> {
        let Some(version) = self.format.zarr_version() else { return Ok(None) };
        let key = Consolidated::key(version);
        let documents = self.root_documents()?;
        let has = |(name, bytes): &(String, Vec<u8>)| name == key && is_readable(version, bytes);
        Ok((!documents.iter().any(has)).then(|| {
            "the group is too large for consolidated metadata: it is written without".to_owned()
        }))
    }

    /// Puts all groups and arrays in, at `prefix` and their path.
    fn describe_in(&self, document: &mut Consolidated, prefix: &str) -> Result<(), FormatError> {
        for (path, group) in &self.groups {
            document.set_group(&format!("{prefix}{path}"), group);
        }
        for (path, array) in &self.arrays {
            if let Some(metadata) = array.zarr() {
                document.set_array(&format!("{prefix}{path}"), metadata)?;
            }
        }
        Ok(())
    }

    /// True if the root is there as it is written here.
    pub(super) async fn are_at(&self, target: &Store) -> Result<bool, Error> {
        holds(target, &self.root_documents()?).await
    }
}

/// True if a consolidated document keeps to the limits of its readers.
pub(super) fn is_readable(version: ZarrVersion, bytes: &[u8]) -> bool {
    bytes.len() as u64 <= METADATA_BYTES_MAX
        && Consolidated::parse(version, bytes).is_ok_and(|found| found.is_some())
}
