//! The file `repo`: branches, tags and snapshots of a repository of version 2 (*Repo Info File* of
//! the specification).

use super::fault::Fault;
use super::flat::{List, Table};
use super::id::Id;
use super::version::Version;

/// Key of the file.
pub(super) const REPO_KEY: &str = "repo";
/// Names that an error has.
const NAMED_MAX: usize = 12;

/// Finds the snapshot that a version is at, in the unpacked file.
pub(super) fn find(bytes: &[u8], version: &Version) -> Result<Id, Fault> {
    let flat = Fault::flat(REPO_KEY);
    let repo = Table::root(bytes).map_err(&flat)?;
    if let Some(status) = repo.table(5).map_err(&flat)?
        && status.u8(0).map_err(&flat)? == 2
    {
        let reason = status.text(2).map_err(&flat)?.filter(|reason| !reason.is_empty());
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        return Err(Fault::Offline { reason });
    }
    let (list, name) = match version {
        Version::Snapshot(id) => return Ok(*id),
        Version::Branch(name) => (repo.list(2).map_err(&flat)?, name),
        Version::Tag(name) => (repo.list(1).map_err(&flat)?, name),
    };
    for entry in list.tables() {
        let entry = entry.map_err(&flat)?;
        if entry.text(0).map_err(&flat)? != Some(name) {
            continue;
        }
        let index = usize::try_from(entry.u32(1).map_err(&flat)?).unwrap_or(usize::MAX);
        let snapshot = repo.list(4).map_err(&flat)?.table(index).map_err(&flat)?;
        let id = snapshot.fixed(0).map_err(&flat)?.map(Id);
        return id.ok_or_else(|| Fault::damaged(REPO_KEY, "a snapshot in it has no id"));
    }
    let deleted = repo.list(3).map_err(&flat)?;
    let is_deleted = (0..deleted.len()).any(|number| deleted.text(number) == Ok(name));
    if matches!(version, Version::Tag(_)) && is_deleted {
        return Err(Fault::DeletedTag { name: name.clone() });
    }
    let names = |list: Result<List<'_>, _>| {
        let tables = list.map(List::tables).into_iter().flatten().flatten();
        tables.filter_map(|entry| entry.text(0).ok().flatten()).map(ToOwned::to_owned).collect()
    };
    Err(no_such(version, names(repo.list(2)), names(repo.list(1))))
}

/// The fault of a version that is not there, with those that are.
pub(super) fn no_such(version: &Version, branches: Vec<String>, tags: Vec<String>) -> Fault {
    let named = |one: &str, many: &str, names: Vec<String>| {
        let more = names.len().saturating_sub(NAMED_MAX);
        let kind = if names.len() == 1 { one } else { many };
        let mut named: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
        if more > 0 {
            named.push(format!("{more} more"));
        }
        (!named.is_empty()).then(|| format!("{kind} {}", named.join(", ")))
    };
    let known = [named("the branch", "the branches", branches), named("the tag", "the tags", tags)];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let known = if known.is_empty() { "none".to_owned() } else { known.join(" and ") };
    Fault::NoSuch { what: version.to_string(), known }
}
