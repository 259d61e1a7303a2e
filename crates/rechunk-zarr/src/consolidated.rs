//! Consolidated metadata: the documents of a whole hierarchy in one, at the group on top.
//!
//! v2: `.zmetadata`, a map from keys to documents, as zarr-python writes it. v3: the member
//! `consolidated_metadata` of the group's `zarr.json`, kind `inline`: a map from paths to
//! documents. Neither is in the specification; zarr-python's own reader is what counts.

mod form;
mod members;
mod siblings;

use rechunk_format::FormatError;
use rechunk_format::json::{MemberScanner, write_pretty_at};
use serde_json::{Map, Value, json};

use crate::documents::group_members;
use crate::field::Field;
use crate::group::GroupMetadata;
use crate::json::{read_object, write_pretty};
use crate::metadata::{ArrayMetadata, ZarrVersion};
pub use form::ConsolidatedKind;
use form::{V3_KEY, V3_MEMBER, key_of, members_field, members_path, parent_of};
use members::{Members, Refused};

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
/// order, if its readers bear with that, bare tokens such as `NaN` too. Its members are held
/// compressed: there may be thousands.
#[derive(Debug, Clone)]
pub struct Consolidated {
    version: ZarrVersion,
    /// The document, with nothing in the object of members.
    rest: Map<String, Value>,
    /// That document as it was read.
    rest_before: Map<String, Value>,
    members: Members,
}

impl Consolidated {
    /// Key of the document that may hold consolidated metadata, relative to the group.
    pub fn key(version: ZarrVersion) -> &'static str {
        key_of(version)
    }

    /// Reads `.zmetadata`, or the `zarr.json` of a group. `None` if that group has none.
    pub fn parse(version: ZarrVersion, bytes: &[u8]) -> Result<Option<Self>, FormatError> {
        let mut reader = ConsolidatedReader::new(version);
        reader.feed(bytes)?;
        reader.finish().map(|(_, document)| document)
    }

    /// The document of a new group, in which nothing is yet; as zarr-python writes it.
    pub fn new(version: ZarrVersion, group: &GroupMetadata) -> Self {
        let mut rest = Map::new();
        let mut members = Members::default();
        match version {
            ZarrVersion::V2 => {
                for (key, value) in group_members(version, group) {
                    members.put(key.to_owned(), &value);
                }
                rest.insert("zarr_consolidated_format".to_owned(), json!(1));
                rest.insert("metadata".to_owned(), json!({}));
            }
            ZarrVersion::V3 => {
                let own = group_members(version, group).into_iter().map(|(_, value)| value);
                rest.extend(own.filter_map(|value| value.as_object().cloned()).flatten());
                rest.insert(V3_MEMBER.to_owned(), no_members());
            }
        }
        Self { version, rest_before: rest.clone(), rest, members }
    }

    /// The version of the documents in it.
    pub fn version(&self) -> ZarrVersion {
        self.version
    }

    /// True if a part of it is not as it was read, or as it was when it was new.
    pub fn is_changed(&self) -> bool {
        self.rest != self.rest_before || self.members.is_changed()
    }

    /// Every array and group below the group, by path, in the order of the document.
    pub fn nodes(&self) -> impl Iterator<Item = (&str, ConsolidatedKind)> {
        self.members.iter().filter_map(|(name, kind)| match self.version {
            ZarrVersion::V2 => Some((name.rsplit_once('/')?.0, kind?)),
            ZarrVersion::V3 => Some((name, kind?)),
        })
    }

    /// The documents of the array at `path`, if there is one.
    pub fn array(&self, path: &str) -> Option<ArrayDocuments> {
        let document = |name: &str| self.members.get(name).map(|value| write_pretty(&value));
        match self.version {
            ZarrVersion::V2 => Some(ArrayDocuments {
                array: document(&format!("{path}/.zarray"))?,
                zattrs: document(&format!("{path}/.zattrs")),
            }),
            ZarrVersion::V3 => {
                let is_array = self.members.kind(path) == Some(ConsolidatedKind::Array);
                let array = is_array.then(|| document(path)).flatten()?;
                Some(ArrayDocuments { array, zattrs: None })
            }
        }
    }

    /// The documents of the group at `path`, if there is one.
    pub fn group(&self, path: &str) -> Option<GroupDocuments> {
        let document = |name: &str| self.members.get(name).map(|value| write_pretty(&value));
        match self.version {
            ZarrVersion::V2 => Some(GroupDocuments {
                group: document(&format!("{path}/.zgroup"))?,
                zattrs: document(&format!("{path}/.zattrs")),
            }),
            ZarrVersion::V3 => {
                let is_group = self.members.kind(path) == Some(ConsolidatedKind::Group);
                let group = is_group.then(|| document(path)).flatten()?;
                Some(GroupDocuments { group, zattrs: None })
            }
        }
    }

    /// Puts a group in at `path`, and the groups above it that are not there yet.
    pub fn set_group(&mut self, path: &str, group: &GroupMetadata) {
        let version = self.version;
        let members = &mut self.members;
        set_groups_above(members, path, version);
        if group.attributes.is_empty() {
            members.remove(&format!("{path}/.zattrs"));
        }
        for (name, document) in group_entries(path, version, group) {
            members.put(name, &document);
        }
    }

    /// Puts the array at `path` in, in the place of one that was there, with the missing groups
    /// above it. Readers build the tree from this document alone.
    pub fn set_array(&mut self, path: &str, array: &ArrayMetadata) -> Result<(), FormatError> {
        let mut documents = Vec::new();
        for (key, bytes) in array.documents() {
            documents.push((key, Value::Object(read_object(V3_KEY, &bytes)?)));
        }
        set_groups_above(&mut self.members, path, self.version);
        if self.version == ZarrVersion::V2 && !documents.iter().any(|(key, _)| key == ".zattrs") {
            // Without attributes the new array has no such document.
            self.members.remove(&format!("{path}/.zattrs"));
        }
        for (key, document) in documents {
            let name = match self.version {
                ZarrVersion::V2 => format!("{path}/{key}"),
                ZarrVersion::V3 => path.to_owned(),
            };
            self.members.put(name, &document);
        }
        Ok(())
    }

    /// Takes the array at `path` out.
    pub fn remove_array(&mut self, path: &str) {
        match self.version {
            ZarrVersion::V2 => {
                self.members.remove(&format!("{path}/.zarray"));
                self.members.remove(&format!("{path}/.zattrs"));
            }
            ZarrVersion::V3 => {
                self.members.remove(path);
            }
        }
    }

    /// Puts all members below `prefix` of another document in, at `path` and their own path there.
    pub fn set_members_of(&mut self, other: &Self, prefix: &str, path: &str) {
        for (name, _) in other.members.iter() {
            if let Some(below) = name.strip_prefix(prefix)
                && let Some(document) = other.members.get(name)
            {
                let name = format!("{path}{below}");
                set_groups_above(&mut self.members, parent_of(&name, self.version), self.version);
                self.members.put(name, &document);
            }
        }
    }

    /// Puts the members of another document in that this one has not.
    pub fn add_members_of(&mut self, other: &Self) {
        for (name, _) in other.members.iter() {
            if let Some(document) = other.members.get(name).filter(|_| !self.members.contains(name))
            {
                self.members.put(name.to_owned(), &document);
            }
        }
    }

    /// Changes the shape of the array at `path` to that of `grown`; and its chunk grid, where that
    /// lists lengths. All else that is said of it stays. False if there is none.
    pub fn set_extent(&mut self, path: &str, grown: &ArrayMetadata) -> bool {
        let name = match self.version {
            ZarrVersion::V2 => format!("{path}/.zarray"),
            ZarrVersion::V3 => path.to_owned(),
        };
        let Some(Value::Object(mut array)) = self.members.get(&name) else { return false };
        if !array.contains_key("shape") {
            return false;
        }
        for (field, value) in grown.extent_fields() {
            array.insert(field.to_owned(), value);
        }
        self.members.put(name, &Value::Object(array));
        true
    }

    /// Has the attributes of the group at `path`, itself if that is empty, changed; nothing where
    /// none are described.
    pub fn change_attributes(&mut self, path: &str, change: impl FnOnce(&mut Map<String, Value>)) {
        let name = match self.version {
            ZarrVersion::V2 if path.is_empty() => ".zattrs".to_owned(),
            ZarrVersion::V2 => format!("{path}/.zattrs"),
            ZarrVersion::V3 if path.is_empty() => {
                if let Some(attributes) = attributes_of(&mut self.rest) {
                    change(attributes);
                }
                return;
            }
            ZarrVersion::V3 => path.to_owned(),
        };
        let Some(Value::Object(mut document)) = self.members.get(&name) else { return };
        let attributes = match self.version {
            ZarrVersion::V2 => Some(&mut document),
            ZarrVersion::V3 => attributes_of(&mut document),
        };
        if let Some(attributes) = attributes {
            change(attributes);
        }
        self.members.put(name, &Value::Object(document));
    }

    /// The whole document, to be stored under [`Consolidated::key`]; the nodes of a group stand
    /// together.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.pieces().flatten().collect()
    }

    /// The whole document in pieces, one after the other: a member each, and what is around them.
    pub fn pieces(&self) -> impl Iterator<Item = Vec<u8>> {
        let path = members_path(self.version);
        let [before, mut after] = around(&self.rest, path, 0);
        after.push('\n');
        let depth = path.len() + 1;
        let names = siblings::together(self.members.iter().map(|(name, _)| name), self.version);
        let members = names.into_iter().enumerate().filter_map(move |(position, name)| {
            let value = write_pretty_at(&self.members.get(name)?, depth);
            let comma = if position == 0 { "" } else { "," };
            let key = Value::from(name);
            Some(format!("{comma}\n{}{key}: {value}", "  ".repeat(depth)).into_bytes())
        });
        if !self.members.is_empty() {
            after.insert_str(0, &format!("\n{}", "  ".repeat(depth - 1)));
        }
        std::iter::once(before.into_bytes()).chain(members).chain([after.into_bytes()])
    }
}

/// The text of an object around the members of the one at `path` in it, which has none. It is in
/// two parts: up to the bracket that opens that one, and from its end on.
fn around(object: &Map<String, Value>, path: &[&str], depth: usize) -> [String; 2] {
    let [mut before, mut after] = ["{".to_owned(), String::new()];
    let mut is_behind = false;
    for (position, (key, value)) in object.iter().enumerate() {
        let comma = if position == 0 { "" } else { "," };
        let text = format!("{comma}\n{}{}: ", "  ".repeat(depth + 1), Value::from(key.as_str()));
        let place = if is_behind { &mut after } else { &mut before };
        place.push_str(&text);
        match (path, value) {
            ([name, rest @ ..], Value::Object(inner)) if name == key => {
                let inner = if rest.is_empty() {
                    ["{".to_owned(), "}".to_owned()]
                } else {
                    around(inner, rest, depth + 1)
                };
                before.push_str(&inner[0]);
                after.push_str(&inner[1]);
                is_behind = true;
            }
            _ => place.push_str(&write_pretty_at(value, depth + 1)),
        }
    }
    let place = if is_behind { &mut after } else { &mut before };
    for text in ["\n", &"  ".repeat(depth), "}"] {
        place.push_str(text);
    }
    [before, after]
}

/// In whatever order the members are.
impl PartialEq for Consolidated {
    fn eq(&self, other: &Self) -> bool {
        self.version == other.version && self.rest == other.rest && self.members == other.members
    }
}

/// Reads a consolidated document that comes piece by piece.
#[derive(Debug)]
pub struct ConsolidatedReader {
    version: ZarrVersion,
    scanner: MemberScanner,
    members: Members,
}

impl ConsolidatedReader {
    /// Of `.zmetadata`, or the `zarr.json` of a group.
    pub fn new(version: ZarrVersion) -> Self {
        let scanner = MemberScanner::new(members_path(version));
        Self { version, scanner, members: Members::default() }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<(), FormatError> {
        let Self { version, scanner, members } = self;
        let key = Consolidated::key(*version);
        scanner.feed(bytes, |member| members.read(*version, member)).map_err(
            |refused| match refused {
                Refused::Member(error) => error,
                Refused::Document(reason) => FormatError::Metadata { key: key.to_owned(), reason },
            },
        )
    }

    /// The document without its members, as bytes; and the whole if it is one of a group that has
    /// consolidated metadata.
    pub fn finish(self) -> Result<(Vec<u8>, Option<Consolidated>), FormatError> {
        let Self { version, scanner, mut members } = self;
        let (bytes, found) = scanner.finish();
        let rest = read_object(Consolidated::key(version), &bytes)?;
        if version == ZarrVersion::V3 {
            let node = rest.get("node_type").and_then(Value::as_str);
            let is_absent = rest.get(V3_MEMBER).is_none_or(Value::is_null);
            if is_absent || node != Some("group") {
                return Ok((bytes, None));
            }
            let field = Field::new(V3_KEY, V3_MEMBER);
            let member = field.object(rest.get(V3_MEMBER).unwrap_or(&Value::Null))?;
            match member.get("kind").and_then(Value::as_str) {
                None | Some("inline") => {}
                Some(kind) => {
                    let what = format!("consolidated metadata of the kind {kind:?}");
                    return Err(field.child("kind").unsupported(what, ""));
                }
            }
        }
        if !found {
            return Err(members_field(version).invalid("is not an object"));
        }
        members.end_reading();
        let document = Consolidated { version, rest_before: rest.clone(), rest, members };
        Ok((bytes, Some(document)))
    }
}

fn attributes_of(group: &mut Map<String, Value>) -> Option<&mut Map<String, Value>> {
    group.get_mut("attributes")?.as_object_mut()
}

/// Puts groups without attributes in above `path` where there are none.
fn set_groups_above(members: &mut Members, path: &str, version: ZarrVersion) {
    for (end, _) in path.match_indices('/') {
        for (name, document) in group_entries(&path[..end], version, &GroupMetadata::default()) {
            if members.kind(&name).is_none() {
                members.put(name, &document);
            }
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
