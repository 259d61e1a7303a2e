//! Makes a new shape known: the documents of the array, of which nothing else changes, and then
//! consolidated metadata.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use rechunk_format::FormatError;
use rechunk_format::json::{read_object, write_pretty};
use rechunk_grid::{AxisEdges, Edges};
use rechunk_store::{DirectoryLock, Role, Store};
use rechunk_zarr::{Consolidated, ZarrVersion, parse_v3};
use serde_json::Value;

use crate::error::store_error;
use crate::formats::{Documents, METADATA_BYTES_MAX, Metadata};
use crate::member_location::paths_above;
use crate::repeats::GrownGroups;
use crate::{Error, consolidated, large_document};

/// The document of an array that says its shape, before and after.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    key: &'static str,
    before: Bytes,
    after: Vec<u8>,
}

impl Change {
    /// Of an array whose documents are these, not changed yet.
    pub(crate) fn of(location: &str, documents: &Documents) -> Result<Self, Error> {
        let Some((key, before)) = documents.shape_document() else {
            return Err(Error::Conflict {
                location: location.to_owned(),
                reason: "was removed while it was looked at".to_owned(),
                hint: None,
            });
        };
        Ok(Self { key, after: before.to_vec(), before })
    }

    /// The document before.
    pub(crate) fn before(&self) -> &[u8] {
        &self.before
    }

    /// To the extent of `metadata`: its shape, and its chunk grid where the one that is there does
    /// not say as much. All else that the document says stays.
    pub(crate) fn with_extent(self, metadata: &Metadata) -> Self {
        // What was parsed before is an object.
        let Ok(mut document) = read_object(self.key, &self.before) else { return self };
        let mut fields = metadata.extent_fields().into_iter();
        let Some((field, shape)) = fields.next() else { return self };
        if document.get(field) == Some(&shape) {
            return self;
        }
        document.insert(field.to_owned(), shape);
        let mut after = write_pretty(&Value::Object(document.clone()));
        if ends_of_chunks(&after) != metadata.spec().edges {
            document.extend(fields.map(|(field, value)| (field.to_owned(), value)));
            after = write_pretty(&Value::Object(document));
        }
        Self { after, ..self }
    }

    /// Ends of chunks along `axis` by the lengths that the document lists, if they are enough for
    /// an array of `shape`. Some lie beyond the end now.
    pub(super) fn listed_ends(&self, shape: &[u64], axis: usize) -> Option<AxisEdges> {
        let mut document = read_object(self.key, &self.before).ok()?;
        document.insert("shape".to_owned(), Value::from(shape));
        ends_of_chunks(&write_pretty(&Value::Object(document)))?.axis(axis).cloned()
    }

    /// True if the array is known as it will be, false if it is as it was. An error if somebody has
    /// changed it since it was looked at: what is to be written may not belong there any more.
    pub(crate) async fn is_made(&self, location: &str, target: &Store) -> Result<bool, Error> {
        let now = self.found(location, target).await?;
        if now.as_deref() == Some(&self.after[..]) {
            return Ok(true);
        }
        if now.as_ref() == Some(&self.before) { Ok(false) } else { Err(changed(location)) }
    }

    /// The document as it is now, if there is one.
    async fn found(&self, location: &str, target: &Store) -> Result<Option<Bytes>, Error> {
        let now = target.with_role(Role::Control).get(self.key, METADATA_BYTES_MAX).await;
        now.map_err(|source| store_error("read the metadata of", location, source))
    }

    /// Refuses an array that has changed since it was looked at. Another run may have made it as
    /// long as this one would, and what is there would be lost.
    pub(crate) async fn check_unchanged(
        &self,
        location: &str,
        target: &Store,
    ) -> Result<(), Error> {
        let now = self.found(location, target).await?;
        if now.as_ref() == Some(&self.before) { Ok(()) } else { Err(changed(location)) }
    }

    /// Writes it, durably, after all that was written before. Doing it again changes nothing; an
    /// error if somebody has changed the array meanwhile.
    pub(crate) async fn commit(&self, location: &str, target: &Store) -> Result<(), Error> {
        let failed = |source| store_error("write the metadata of", location, source);
        let control = target.with_role(Role::Control);
        control.sync().await.map_err(failed)?;
        if self.is_made(location, target).await? {
            return Ok(());
        }
        control.put_durable(self.key, self.after.clone()).await.map_err(failed)?;
        control.sync().await.map_err(failed)
    }
}

/// Ends of chunks that differ in length, by a document of Zarr v3; `None` by any other.
fn ends_of_chunks(document: &[u8]) -> Option<Edges> {
    parse_v3(document).ok()?.spec.edges
}

fn changed(location: &str) -> Error {
    Error::Conflict {
        location: location.to_owned(),
        reason: "was changed by somebody since it was looked at".to_owned(),
        hint: Some(
            "look at it; then run again, or give up what was begun with `rechunk clean TARGET`"
                .into(),
        ),
    }
}

/// Puts arrays of the group at `root` that have grown into every consolidated document. Those are
/// documents of the groups in it, nested first, of the group, and of those above. Each is written
/// once, with all of the arrays.
pub(crate) async fn update_consolidated(
    location: &str,
    root: &Store,
    version: Option<ZarrVersion>,
    arrays: &[(&str, &Metadata)],
    grown: &GrownGroups,
) -> Result<(), Error> {
    let Some(version) = version else { return Ok(()) };
    let failed = |source| store_error("update the consolidated metadata of", location, source);
    let groups: BTreeSet<&str> = arrays.iter().flat_map(|(path, _)| paths_above(path)).collect();
    let control = root.with_role(Role::Control);
    for group in groups.into_iter().rev() {
        let prefix = format!("{group}/");
        let below: Vec<(&str, &Metadata)> = arrays
            .iter()
            .filter_map(|(path, array)| Some((path.strip_prefix(&prefix)?, *array)))
            .collect();
        let place = control.child(group).map_err(failed)?;
        update_one(location, &place, version, |document| {
            grown.describe_in(document, |path| {
                if path == group {
                    Some(String::new())
                } else {
                    path.strip_prefix(&prefix).map(str::to_owned)
                }
            });
            set_extents(document, "", &below)
        })
        .await?;
    }
    update_one(location, &control, version, |document| {
        grown.describe_in(document, |path| Some(path.to_owned()));
        set_extents(document, "", arrays)
    })
    .await?;
    consolidated::update_with(location, root, version, |document, path| {
        grown.describe_in(document, |group| match group {
            "" => Some(path.to_owned()),
            _ => Some(format!("{path}/{group}")),
        });
        set_extents(document, &format!("{path}/"), arrays)
    })
    .await
}

pub(super) async fn update_one(
    location: &str,
    group: &Store,
    version: ZarrVersion,
    change: impl Fn(&mut Consolidated) -> Result<(), FormatError>,
) -> Result<(), Error> {
    let failed = |source| store_error("update the consolidated metadata of", location, source);
    let _lock = DirectoryLock::take(group).await.map_err(failed)?;
    let found = consolidated::fetch(group, version).await;
    let Some(mut document) = found.map_err(|fault| fault.of_target(location))? else {
        return Ok(());
    };
    change(&mut document).map_err(Error::target_metadata)?;
    if !document.is_changed() {
        return Ok(());
    }
    large_document::write(group, &document).await.map_err(failed)
}

/// Says in consolidated metadata above an array that has grown what it is now.
pub(crate) async fn describe_grown(
    location: &str,
    target: &Store,
    metadata: &Metadata,
) -> Result<(), Error> {
    let Some(version) = metadata.format().zarr_version() else { return Ok(()) };
    consolidated::update_with(location, target, version, |document, path| {
        set_extents(document, "", &[(path, metadata)])
    })
    .await
}

/// Says the new extents where the arrays are described; an array that is not is described now.
fn set_extents(
    document: &mut Consolidated,
    prefix: &str,
    arrays: &[(&str, &Metadata)],
) -> Result<(), FormatError> {
    let zarr: BTreeMap<String, _> = arrays
        .iter()
        .filter_map(|(path, array)| Some((format!("{prefix}{path}"), array.zarr()?)))
        .collect();
    for (path, array) in zarr {
        if !document.set_extent(&path, array) {
            document.set_array(&path, array)?;
        }
    }
    Ok(())
}
