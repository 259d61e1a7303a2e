//! Which locations are repositories, or lead into some.

use std::io::Read;
use std::path::Path;

use super::file::MAGIC;
use super::refs::MAIN_KEY;
use super::repo_info::REPO_KEY;
use crate::local::files::open;
use crate::location::{Place, parse};
use crate::remote::Scheme;
use crate::versioned_location::Parts;

/// The ending of a repository's name, by which one is known where nothing is asked.
const ENDING: &str = "icechunk";

/// The parts of a location that is a repository, or leads into one; `None` if it does not.
///
/// On this machine that is seen by what is there, elsewhere by the name or by the version. If a
/// version stands behind what is in a repository, the caller refuses it.
pub(super) fn parts(location: &str) -> Option<Parts<'_>> {
    let plain = root_end(location).map(|end| {
        let (root, behind) = location.split_at(end);
        Parts { root, version: "", behind }
    });
    let versioned = Parts::with_version(location).filter(|parts| {
        let component = &location[..location.len() - parts.behind.len()];
        may_be_root(parts.root) && !is_there(component)
    });
    match (versioned, plain) {
        (Some(versioned), Some(plain)) if plain.root.len() < versioned.root.len() => Some(plain),
        (versioned, plain) => versioned.or(plain),
    }
}

/// End of the first place on the way that is a repository.
fn root_end(location: &str) -> Option<usize> {
    // Behind `scheme://` there are names.
    let start = location.find("://").map_or(0, |at| at + 3);
    let slashes = location[start..].match_indices('/').map(|(at, _)| start + at);
    let mut ends = slashes.chain([location.len()]);
    ends.find(|&end| !location[..end].ends_with('/') && is_root(&location[..end]))
}

/// True if something of this name is on this machine, whatever it looks like.
fn is_there(location: &str) -> bool {
    matches!(parse(location), Ok(Place::Local(path)) if path.symlink_metadata().is_ok())
}

/// False of a place of this machine that is no directory: then a `#` is part of a new name.
fn may_be_root(location: &str) -> bool {
    !matches!(parse(location), Ok(Place::Local(path)) if !path.is_dir())
}

fn is_root(location: &str) -> bool {
    match parse(location) {
        Ok(Place::Local(path)) => is_repository(&path),
        Ok(Place::Memory { name: Some(_), below }) => has_name(&below),
        Ok(Place::Remote(address)) => {
            address.scheme != Scheme::Datastore && has_name(&address.below)
        }
        Ok(Place::Memory { name: None, .. }) | Err(_) => false,
    }
}

fn has_name(path: &str) -> bool {
    let ending = Path::new(path).extension();
    ending.is_some_and(|ending| ending.eq_ignore_ascii_case(ENDING))
}

/// True if a directory of this machine is a repository. One of version 2 is known by the first
/// bytes of a file, one of version 1 by the branch that all have.
fn is_repository(path: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = open(&path.join(REPO_KEY)).and_then(|(file, found)| {
        if found.is_file() {
            file.take(crate::length::wide(MAGIC.len())).read_to_end(&mut bytes)?;
        }
        Ok(())
    });
    read.is_ok() && bytes == MAGIC || path.join(MAIN_KEY).is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elsewhere_a_repository_is_known_by_its_name_or_its_version() {
        let split =
            |location| parts(location).map(|parts| (parts.root, parts.version, parts.behind));
        for (location, root, version, behind) in [
            ("s3://b/a.icechunk/x/y", "s3://b/a.icechunk", "", "/x/y"),
            ("s3://b/a.Icechunk", "s3://b/a.Icechunk", "", ""),
            ("s3://b/a#tag=v1/x", "s3://b/a", "#tag=v1", "/x"),
            ("https://h/a.icechunk/", "https://h/a.icechunk", "", "/"),
            ("memory://m/a.icechunk/b", "memory://m/a.icechunk", "", "/b"),
            ("s3://b/a.icechunk/x#tag=v1", "s3://b/a.icechunk", "", "/x#tag=v1"),
        ] {
            assert_eq!(split(location), Some((root, version, behind)), "{location}");
        }
        for none in ["s3://b.icechunk/a", "s3://b/a.zarr", "", "memory:", "x.icechunk/a"] {
            assert_eq!(split(none), None, "{none}");
        }
    }

    #[test]
    fn here_a_repository_is_known_by_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        };
        write("two/repo", &[MAGIC, b"more"].concat());
        write("one/refs/branch.main/ref.json", b"{}");
        write("git/repo", b"something else");
        write("two#tag=v1/zarr.json", b"{}");
        let root = |location: &str| parts(location).map(|parts| parts.root.to_owned());
        assert_eq!(root(&at("two/a/b")), Some(at("two")));
        assert_eq!(root(&at("one/")), Some(at("one")));
        assert_eq!(root(&format!("file://{}", at("one/a"))), Some(format!("file://{}", at("one"))));
        assert_eq!(root(&at("git/a")), None);
        assert_eq!(root(&at("two#tag=v1")), None, "that is the name of a directory");
        assert_eq!(root(&at("two#tag=v2/x")), Some(at("two")));
        assert_eq!(root(&at("git#tag=v2")), Some(at("git")), "it is said that it is none");
        assert_eq!(root(&at("new#tag=v2.zarr")), None);
    }
}
