//! Branches and tags of a repository of version 1: a small document each (*Reference Files* of the
//! specification).

use serde_json::Value;

use super::fault::Fault;
use super::id::Id;
use super::repo_info::no_such;
use super::version::{MAIN, Version};
use crate::{Store, StoreError};

/// The directory that they are in.
const REFS: &str = "refs";
/// The document of the branch that every repository has.
pub(super) const MAIN_KEY: &str = "refs/branch.main/ref.json";
/// Most documents that are listed to name what there is.
const REFS_LISTED_MAX: usize = 10_000;
/// Most bytes of a document.
const REF_BYTES_MAX: u64 = 64 << 10;

/// Finds the snapshot that a version of the repository at `place` is at.
pub(super) async fn find(place: &Store, version: &Version) -> Result<Id, StoreError> {
    let (kind, name) = match version {
        Version::Snapshot(id) => return Ok(*id),
        Version::Branch(name) => ("branch", name),
        Version::Tag(name) => ("tag", name),
    };
    let fault = |fault: Fault| fault.of(place.label());
    let key = format!("{REFS}/{kind}.{name}/ref.json");
    let is_name = !name.contains('/');
    let document = if is_name { place.get(&key, REF_BYTES_MAX).await? } else { None };
    let Some(document) = document else {
        return Err(fault(missing(place, version).await?));
    };
    if kind == "tag" && place.exists(&format!("{key}.deleted")).await? {
        return Err(fault(Fault::DeletedTag { name: name.clone() }));
    }
    let document: Option<Value> = serde_json::from_slice(&document).ok();
    let id = document.as_ref().and_then(|document| document.get("snapshot")?.as_str());
    let id = id.and_then(Id::parse);
    id.ok_or_else(|| fault(Fault::damaged(&key, "it does not name a snapshot")))
}

/// Fault of a version whose document is not there.
async fn missing(place: &Store, version: &Version) -> Result<Fault, StoreError> {
    let mut keys = Vec::new();
    if place.can_list() {
        keys = place.list_first(REFS, REFS_LISTED_MAX).await?;
        keys.sort();
    }
    let of = |kind: &str| -> Vec<String> {
        let documents = keys.iter().filter_map(|(key, _)| key.strip_suffix("/ref.json"));
        let is_there = |document: &&str| {
            let deleted = format!("{document}/ref.json.deleted");
            keys.binary_search_by(|(key, _)| key.cmp(&deleted)).is_err()
        };
        let names = documents.filter(is_there).filter_map(|document| {
            document.strip_prefix(REFS)?.strip_prefix('/')?.strip_prefix(kind)
        });
        names.map(ToOwned::to_owned).collect()
    };
    let (branches, tags) = (of("branch."), of("tag."));
    let is_main = matches!(version, Version::Branch(name) if name == MAIN);
    let is_none = branches.is_empty() && (is_main || place.can_list());
    Ok(if is_none { Fault::NoRepository } else { no_such(version, branches, tags) })
}
