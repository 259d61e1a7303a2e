//! Groups whose attributes repeat the shapes of arrays which grow: their documents are changed when
//! the arrays are made known.

use std::collections::BTreeSet;

use rechunk_format::json::{read_object, write_pretty};
use rechunk_store::{DirectoryLock, Role, Store};
use rechunk_zarr::{Consolidated, ZarrVersion};
use serde_json::{Map, Value};

use super::{Changes, follow, is_in};
use crate::Error;
use crate::error::store_error;
use crate::formats::METADATA_BYTES_MAX;

/// Documents of groups that repeat the shapes of arrays which grow.
#[derive(Debug, Default)]
pub(crate) struct GrownGroups {
    changes: Changes,
    /// Paths of the groups.
    groups: BTreeSet<String>,
    version: Option<ZarrVersion>,
}

impl GrownGroups {
    /// Of the arrays that change; `attributes` are those of a group of the target.
    pub(crate) fn new<'a>(
        changes: Changes,
        version: Option<ZarrVersion>,
        attributes: impl Fn(&str) -> Option<&'a Map<String, Value>>,
    ) -> Self {
        let mut groups = BTreeSet::new();
        if changes.is_any() {
            let repeats =
                |path: &String| attributes(path).is_some_and(is_in) || changes.is_of_old_nczarr();
            groups = changes.groups().into_iter().filter(repeats).collect();
        }
        Self { changes, groups, version }
    }

    /// Of changes of which all groups above have to be looked at.
    pub(crate) fn of_all(changes: Changes, version: ZarrVersion) -> Self {
        let groups = changes.groups();
        Self { changes, groups, version: Some(version) }
    }

    /// Says what will no longer be true in `attributes` of the group at `path`.
    pub(crate) fn warnings<'a>(
        &self,
        attributes: impl Fn(&str) -> Option<&'a Map<String, Value>>,
    ) -> Vec<String> {
        let of = |path: &String| {
            let mut attributes = attributes(path)?.clone();
            Some(follow(&self.changes, path, &mut attributes))
        };
        self.groups.iter().filter_map(of).flatten().collect()
    }

    /// Writes the documents of the groups in `root` that change. Doing it again changes nothing.
    pub(crate) async fn commit(&self, location: &str, root: &Store) -> Result<(), Error> {
        let keys: &[&str] = match self.version {
            Some(ZarrVersion::V3) => &["zarr.json"],
            // NCZarr up to netCDF-C 4.9 says it in the document that makes a group one.
            Some(ZarrVersion::V2) if self.changes.is_of_old_nczarr() => &[".zattrs", ".zgroup"],
            Some(ZarrVersion::V2) => &[".zattrs"],
            None => return Ok(()),
        };
        let failed = |source| store_error("write the groups of", location, source);
        let control = root.with_role(Role::Control);
        // The root comes last: it is where readers begin.
        for path in self.groups.iter().rev() {
            let place = control.child(path).map_err(failed)?;
            let _lock = DirectoryLock::take(&place).await.map_err(failed)?;
            for key in keys {
                let Some(before) = place.get(key, METADATA_BYTES_MAX).await.map_err(failed)? else {
                    continue;
                };
                let read = read_object(key, &before).map_err(Error::target_metadata)?;
                let mut document = read.clone();
                if *key == "zarr.json" {
                    if let Some(Value::Object(attributes)) = document.get_mut("attributes") {
                        follow(&self.changes, path, attributes);
                    }
                } else {
                    follow(&self.changes, path, &mut document);
                }
                if document != read {
                    let bytes = write_pretty(&Value::Object(document));
                    place.put_durable(key, bytes).await.map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    /// Makes these changes in consolidated metadata of a group, too. `path_in` is the path of a
    /// group of the target in that document, `None` if it does not have it.
    pub(crate) fn describe_in(
        &self,
        document: &mut Consolidated,
        path_in: impl Fn(&str) -> Option<String>,
    ) {
        for path in &self.groups {
            if let Some(place) = path_in(path) {
                document.change_attributes(&place, |attributes| {
                    follow(&self.changes, path, attributes);
                });
            }
        }
    }
}
