//! The documents in a consolidated one, by name, compressed.

use indexmap::IndexMap;
use rechunk_format::json::Member;
use rechunk_format::{FormatError, Packed};
use serde_json::{Map, Value};

use super::form::{ConsolidatedKind, V3_MEMBER, key_of, members_field};
use crate::json::{read_object, write_pretty};
use crate::metadata::ZarrVersion;

/// Documents by their names, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    /// Numbers of the documents in `packed`.
    names: IndexMap<Box<str>, (u32, Option<ConsolidatedKind>)>,
    packed: Packed,
    is_changed: bool,
}

/// Why a member is refused: for what it says, or for not being one.
pub(super) enum Refused {
    Member(FormatError),
    Document(String),
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self::Document(reason)
    }
}

impl Members {
    /// Takes a member of a document that is read.
    pub(super) fn read(
        &mut self,
        version: ZarrVersion,
        (key, value): Member<'_>,
    ) -> Result<(), Refused> {
        let document = [b"{", key, b":", value, b"}"].concat();
        let document = read_object(key_of(version), &document);
        let document = document.map_err(Refused::Member)?;
        for (name, value) in document {
            check(version, &name, &value).map_err(Refused::Member)?;
            if self.contains(&name) {
                return Err(Refused::Document(format!(
                    "not valid JSON: the key {name:?} is there twice"
                )));
            }
            self.put(name, &value);
        }
        Ok(())
    }

    /// From now on it is told what changes.
    pub(super) fn end_reading(&mut self) {
        self.is_changed = false;
    }

    pub(super) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Bytes that the documents take, without their names.
    #[cfg(test)]
    pub(super) fn size_bytes(&self) -> usize {
        self.packed.size_bytes()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Names in their order, and what each says that its place is.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, Option<ConsolidatedKind>)> {
        self.names.iter().map(|(name, (_, kind))| (&**name, *kind))
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// Kind of a place, as the document of that name says it.
    pub(super) fn kind(&self, name: &str) -> Option<ConsolidatedKind> {
        self.names.get(name).and_then(|(_, kind)| *kind)
    }

    pub(super) fn get(&self, name: &str) -> Option<Value> {
        let (number, _) = self.names.get(name)?;
        let text = self.packed.get(usize::try_from(*number).ok()?)?;
        read_object(V3_MEMBER, &text).ok().map(Value::Object)
    }

    /// Puts a document in, in the place of one of that name.
    pub(super) fn put(&mut self, name: String, document: &Value) {
        if self.get(&name).is_some_and(|before| before == *document) {
            return;
        }
        let kind = kind(&name, document);
        let number = self.packed.push(&write_pretty(document));
        self.names.insert(name.into(), (u32::try_from(number).unwrap_or(u32::MAX), kind));
        self.is_changed = true;
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.is_changed |= self.names.shift_remove(name).is_some();
    }
}

impl PartialEq for Members {
    fn eq(&self, other: &Self) -> bool {
        let is_there = |(name, _)| self.get(name) == other.get(name);
        self.names.len() == other.names.len() && self.iter().all(is_there)
    }
}

/// Kind of a place, as its document says it: in v2 by its name.
fn kind(name: &str, document: &Value) -> Option<ConsolidatedKind> {
    match name.rsplit('/').next() {
        Some(".zarray") => Some(ConsolidatedKind::Array),
        Some(".zgroup") => Some(ConsolidatedKind::Group),
        _ => match document.get("node_type").and_then(Value::as_str) {
            Some("array") => Some(ConsolidatedKind::Array),
            Some("group") => Some(ConsolidatedKind::Group),
            _ => None,
        },
    }
}

/// Every member has to be an object, or this is no map of documents.
fn check(version: ZarrVersion, name: &str, value: &Value) -> Result<(), FormatError> {
    let field = members_field(version);
    let member: &Map<String, Value> = field.child(name).object(value)?;
    // Members of a member would hide those that stand beside it.
    let nested = member.get(V3_MEMBER).and_then(|member| member.get("metadata"));
    if nested.and_then(Value::as_object).is_some_and(|nested| !nested.is_empty()) {
        let what = "consolidated metadata inside of consolidated metadata";
        return Err(field.child(name).unsupported(what, ""));
    }
    Ok(())
}
