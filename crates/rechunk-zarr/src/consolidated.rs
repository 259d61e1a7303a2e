//! Consolidated metadata: the documents of a whole hierarchy in one, at the group on top.
//!
//! v2: `.zmetadata`, a map from keys to documents, as zarr-python writes it. v3: the member
//! `consolidated_metadata` of the group's `zarr.json`, kind `inline`: a map from paths to
//! documents. Neither is in the specification; zarr-python's own reader is what counts.

use rechunk_format::FormatError;
use serde_json::{Map, Value, json};

use crate::documents::group_members;
use crate::field::Field;
use crate::group::GroupMetadata;
use crate::json::{read_object, write_pretty};
use crate::metadata::{ArrayMetadata, ZarrVersion};

mod siblings;

const V2_KEY: &str = ".zmetadata";
const V3_KEY: &str = "zarr.json";
const V3_MEMBER: &str = "consolidated_metadata";

/// What a consolidated document says a path is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsolidatedKind {
    /// An array.
    Array,
    /// A group.
    Group,
}

/// The documents of an array, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayDocuments {
    /// `.zarray` or `zarr.json`.
    pub array: Vec<u8>,
    /// `.zattrs`, where there is one.
    pub zattrs: Option<Vec<u8>>,
}

/// The documents of a group, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupDocuments {
    /// `.zgroup` or `zarr.json`.
    pub group: Vec<u8>,
    /// `.zattrs`, where there is one.
    pub zattrs: Option<Vec<u8>>,
}

/// A consolidated document. What is not changed is written as it was read: every member in its
/// order, if its readers bear with that, bare tokens such as `NaN` too.
#[derive(Debug, Clone, PartialEq)]
pub struct Consolidated {
    version: ZarrVersion,
    document: Map<String, Value>,
}

impl Consolidated {
    /// Key of the document that may hold consolidated metadata, relative to the group.
    pub fn key(version: ZarrVersion) -> &'static str {
        match version {
            ZarrVersion::V2 => V2_KEY,
            ZarrVersion::V3 => V3_KEY,
        }
    }

    /// Reads `.zmetadata`, or the `zarr.json` of a group. `None` if that group has none.
    pub fn parse(version: ZarrVersion, bytes: &[u8]) -> Result<Option<Self>, FormatError> {
        let document = read_object(Self::key(version), bytes)?;
        if version == ZarrVersion::V3 {
            let node = document.get("node_type").and_then(Value::as_str);
            let is_absent = document.get(V3_MEMBER).is_none_or(Value::is_null);
            if is_absent || node != Some("group") {
                return Ok(None);
            }
            let field = Field::new(V3_KEY, V3_MEMBER);
            let member = field.object(document.get(V3_MEMBER).unwrap_or(&Value::Null))?;
            match member.get("kind").and_then(Value::as_str) {
                None | Some("inline") => {}
                Some(kind) => {
                    let what = format!("consolidated metadata of the kind {kind:?}");
                    return Err(field.child("kind").unsupported(what, ""));
                }
            }
        }
        let consolidated = Self { version, document };
        consolidated.check()?;
        Ok(Some(consolidated))
    }

    /// The document of a new group, in which nothing is yet; as zarr-python writes it.
    pub fn new(version: ZarrVersion, group: &GroupMetadata) -> Self {
        let mut document = Map::new();
        match version {
            ZarrVersion::V2 => {
                let members: Map<String, Value> = group_members(version, group)
                    .into_iter()
                    .map(|(key, value)| (key.to_owned(), value))
                    .collect();
                document.insert("zarr_consolidated_format".to_owned(), json!(1));
                document.insert("metadata".to_owned(), Value::Object(members));
            }
            ZarrVersion::V3 => {
                let own = group_members(version, group).into_iter().map(|(_, value)| value);
                document.extend(own.filter_map(|value| value.as_object().cloned()).flatten());
                document.insert(V3_MEMBER.to_owned(), no_members());
            }
        }
        Self { version, document }
    }

    /// The version of the documents in it.
    pub fn version(&self) -> ZarrVersion {
        self.version
    }

    /// Every member has to be an object, or this is no map of documents.
    fn check(&self) -> Result<(), FormatError> {
        let field = match self.version {
            ZarrVersion::V2 => Field::new(V2_KEY, "metadata"),
            ZarrVersion::V3 => Field::new(V3_KEY, V3_MEMBER).child("metadata"),
        };
        let members = self.members().ok_or_else(|| field.invalid("is not an object"))?;
        for (name, value) in members {
            field.child(name).object(value)?;
            // Members of a member would hide those that stand beside it.
            let nested = value.get(V3_MEMBER).and_then(|member| member.get("metadata"));
            if nested.and_then(Value::as_object).is_some_and(|nested| !nested.is_empty()) {
                let what = "consolidated metadata inside of consolidated metadata";
                return Err(field.child(name).unsupported(what, ""));
            }
        }
        Ok(())
    }

    fn members(&self) -> Option<&Map<String, Value>> {
        match self.version {
            ZarrVersion::V2 => self.document.get("metadata")?.as_object(),
            ZarrVersion::V3 => self.document.get(V3_MEMBER)?.get("metadata")?.as_object(),
        }
    }

    fn members_mut(&mut self) -> Option<&mut Map<String, Value>> {
        match self.version {
            ZarrVersion::V2 => self.document.get_mut("metadata")?.as_object_mut(),
            ZarrVersion::V3 => {
                self.document.get_mut(V3_MEMBER)?.get_mut("metadata")?.as_object_mut()
            }
        }
    }

    /// Every array and group below the group, by path, in the order of the document.
    pub fn nodes(&self) -> Vec<(String, ConsolidatedKind)> {
        let node = |(name, value): (&String, &Value)| match self.version {
            ZarrVersion::V2 => {
                let (path, document) = name.rsplit_once('/')?;
                let kind = match document {
                    ".zarray" => ConsolidatedKind::Array,
                    ".zgroup" => ConsolidatedKind::Group,
                    _ => return None,
                };
                Some((path.to_owned(), kind))
            }
            ZarrVersion::V3 => {
                let kind = match value.get("node_type").and_then(Value::as_str) {
                    Some("array") => ConsolidatedKind::Array,
                    Some("group") => ConsolidatedKind::Group,
                    _ => return None,
                };
                Some((name.clone(), kind))
            }
        };
        self.members().into_iter().flatten().filter_map(node).collect()
    }

    /// The documents of the array at `path`, if there is one.
    pub fn array(&self, path: &str) -> Option<ArrayDocuments> {
        let members = self.members()?;
        match self.version {
            ZarrVersion::V2 => Some(ArrayDocuments {
                array: write_pretty(members.get(&format!("{path}/.zarray"))?),
                zattrs: members.get(&format!("{path}/.zattrs")).map(write_pretty),
            }),
            ZarrVersion::V3 => {
                let document = members.get(path)?;
                let is_array = document.get("node_type")?.as_str() == Some("array");
                is_array.then(|| ArrayDocuments { array: write_pretty(document), zattrs: None })
            }
        }
    }

    /// The documents of the group at `path`, if there is one.
    pub fn group(&self, path: &str) -> Option<GroupDocuments> {
        let members = self.members()?;
        match self.version {
            ZarrVersion::V2 => Some(GroupDocuments {
                group: write_pretty(members.get(&format!("{path}/.zgroup"))?),
                zattrs: members.get(&format!("{path}/.zattrs")).map(write_pretty),
            }),
            ZarrVersion::V3 => {
                let document = members.get(path)?;
                let is_group = document.get("node_type")?.as_str() == Some("group");
                is_group.then(|| GroupDocuments { group: write_pretty(document), zattrs: None })
            }
        }
    }

    /// Puts a group in at `path`, and the groups above it that are not there yet.
    pub fn set_group(&mut self, path: &str, group: &GroupMetadata) {
        let version = self.version;
        let Some(members) = self.members_mut() else { return };
        set_groups_above(members, path, version);
        members.shift_remove(&format!("{path}/.zattrs"));
        members.extend(group_entries(path, version, group));
    }

    /// Puts the array at `path` in, in the place of one that was there, and the groups above it
    /// that are not there yet: readers build the tree from this document alone.
    pub fn set_array(&mut self, path: &str, array: &ArrayMetadata) -> Result<(), FormatError> {
        let mut documents = Vec::new();
        for (key, bytes) in array.documents() {
            documents.push((key, Value::Object(read_object(V3_KEY, &bytes)?)));
        }
        let version = self.version;
        let Some(members) = self.members_mut() else { return Ok(()) };
        set_groups_above(members, path, version);
        match version {
            ZarrVersion::V2 => {
                // Without attributes the new array has no such document.
                if !documents.iter().any(|(key, _)| key == ".zattrs") {
                    members.shift_remove(&format!("{path}/.zattrs"));
                }
                for (key, document) in documents {
                    members.insert(format!("{path}/{key}"), document);
                }
            }
            ZarrVersion::V3 => {
                for (_, document) in documents {
                    members.insert(path.to_owned(), document);
                }
            }
        }
        Ok(())
    }

    /// Changes the shape of the array at `path`; all else that is said of it stays. False if there is
    /// none.
    pub fn set_shape(&mut self, path: &str, shape: &[u64]) -> bool {
        let name = match self.version {
            ZarrVersion::V2 => format!("{path}/.zarray"),
            ZarrVersion::V3 => path.to_owned(),
        };
        let array = self.members_mut().and_then(|members| members.get_mut(&name)?.as_object_mut());
        let Some(array) = array.filter(|array| array.contains_key("shape")) else { return false };
        array.insert("shape".to_owned(), Value::from(shape));
        true
    }

    /// The attributes of the group at `path`, itself if that is empty; `None` where none are described.
    pub fn attributes_mut(&mut self, path: &str) -> Option<&mut Map<String, Value>> {
        match self.version {
            ZarrVersion::V2 => {
                let key =
                    if path.is_empty() { ".zattrs".to_owned() } else { format!("{path}/.zattrs") };
                self.members_mut()?.get_mut(&key)?.as_object_mut()
            }
            ZarrVersion::V3 => {
                let group = match path {
                    "" => &mut self.document,
                    _ => self.members_mut()?.get_mut(path)?.as_object_mut()?,
                };
                group.get_mut("attributes")?.as_object_mut()
            }
        }
    }

    /// The whole document, to be stored under [`Consolidated::key`]; the nodes of a group stand together.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut whole = self.clone();
        if let Some(members) = whole.members_mut() {
            siblings::bring_together(members, self.version);
        }
        write_pretty(&Value::Object(whole.document))
    }
}

/// Puts groups without attributes in above `path` where there are none.
fn set_groups_above(members: &mut Map<String, Value>, path: &str, version: ZarrVersion) {
    for (end, _) in path.match_indices('/') {
        for (name, document) in group_entries(&path[..end], version, &GroupMetadata::default()) {
            members.entry(name).or_insert(document);
        }
    }
}

/// The entries of a group.
fn group_entries(path: &str, version: ZarrVersion, group: &GroupMetadata) -> Vec<(String, Value)> {
    let entry = |(key, mut document): (&str, Value)| match version {
        ZarrVersion::V2 => (format!("{path}/{key}"), document),
        ZarrVersion::V3 => {
            // zarr-python would look for the members of a group without.
            if let Some(map) = document.as_object_mut() {
                map.insert(V3_MEMBER.to_owned(), no_members());
            }
            (path.to_owned(), document)
        }
    };
    group_members(version, group).into_iter().map(entry).collect()
}

fn no_members() -> Value {
    json!({"kind": "inline", "must_understand": false, "metadata": {}})
}

#[cfg(test)]
mod tests;
