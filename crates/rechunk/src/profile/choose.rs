//! Choice of the profile of each store. A name asked for goes first, then the longest location
//! which the store lies below, then its kind; the file's profiles go before the built-in ones.

use std::path::{Path, absolute};

use rechunk_plan::{Profile, StoreProfile};
use rechunk_store::store_kind;

use super::ProfileFile;
use crate::Error;

/// The cost constants of source, intermediate and target: `names` as asked for, at `locations`.
pub(crate) fn choose(
    file: Option<&ProfileFile>,
    names: &[Option<String>; 3],
    locations: [&str; 3],
) -> Result<Profile, Error> {
    if let Some(file) = file {
        file.check()?;
    }
    let store = |role: usize| match &names[role] {
        Some(name) => named(file, name),
        None => Ok(at(file, locations[role])),
    };
    Ok(Profile {
        name: file.map(|file| file.name.clone()),
        source: store(0)?,
        intermediate: store(1)?,
        target: store(2)?,
        speeds: file.map(ProfileFile::speeds).unwrap_or_default(),
    })
}

fn named(file: Option<&ProfileFile>, name: &str) -> Result<StoreProfile, Error> {
    let found = file.and_then(|file| file.store(name)).or_else(|| StoreProfile::built_in(name));
    found.ok_or_else(|| {
        let mut names: Vec<String> = StoreProfile::names().map(str::to_owned).collect();
        if let Some(file) = file {
            names.extend(file.stores.keys().cloned());
        }
        names.dedup();
        Error::Usage {
            message: format!("there is no store profile `{name}`"),
            hint: Some(format!("there are {}", names.join(", ")).into()),
        }
    })
}

fn at(file: Option<&ProfileFile>, location: &str) -> StoreProfile {
    let kind = store_kind(location);
    let of_file = file.and_then(|file| {
        let place = place_of(location)?;
        let above = file.stores.keys().filter_map(|key| Some((key, key_place(key)?)));
        let above = above.filter(|(_, above)| lies_below(&place, above));
        above.max_by_key(|(_, above)| above.len()).map(|(key, _)| key.as_str())
    });
    let found =
        file.and_then(|file| of_file.and_then(|key| file.store(key)).or_else(|| file.store(kind)));
    found.or_else(|| StoreProfile::built_in(kind)).unwrap_or_else(StoreProfile::local)
}

/// The built-in profile a key of a file stands for or is like: a kind, or that of a location.
pub(super) fn kind_of(key: &str) -> Option<&str> {
    let is_kind = StoreProfile::names().any(|name| name == key);
    if is_kind { Some(key) } else { key_place(key).map(|_| store_kind(key)) }
}

/// The place that a key of a file names, if it names one.
pub(crate) fn key_place(key: &str) -> Option<String> {
    let is_place = key.contains("://") || Path::new(key).is_absolute();
    is_place.then(|| place_of(key)).flatten()
}

/// Returns a location in the form in which they are compared. URLs are as they are, files by their
/// absolute path, without a slash at the end. `None` for none, and for nameless spaces in memory.
pub(crate) fn place_of(location: &str) -> Option<String> {
    if location.is_empty() || location == "memory:" {
        return None;
    }
    let path = match location.split_once("://") {
        Some(("file", path)) => path.strip_prefix("localhost").unwrap_or(path),
        Some(_) => return Some(location.trim_end_matches('/').to_owned()),
        None => location,
    };
    let path = absolute(path).ok()?;
    Some(path.display().to_string().trim_end_matches('/').to_owned())
}

fn lies_below(place: &str, above: &str) -> bool {
    place.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
