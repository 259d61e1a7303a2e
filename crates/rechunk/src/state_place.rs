//! Where the state of the runs at a target is, and what in it says how far they have come.

use std::ffi::OsStr;
use std::path::Path;

use rechunk_store::is_versioned;
use sha2::{Digest, Sha256};

use crate::formats::hex;
use crate::real_path::canonical;

/// Key of the saved job.
pub(crate) const JOB_KEY: &str = "job.json";
/// Key of the job again, once its target is complete: only leftovers are to be removed then.
pub(crate) const DONE_KEY: &str = "done.json";
/// Key of the saved copy of a whole group. It goes last of what is saved: while it is there, a run
/// can go on.
pub(crate) const TREE_KEY: &str = "tree.json";
/// Key of the mark that all arrays of a group have their chunks, and begin to be made known. Of a
/// ZIP file it says that it is packed.
pub(crate) const WRITTEN_KEY: &str = "written";
/// Key of the mark that the target is a ZIP file, whatever else comes to be at its place.
pub(crate) const ZIP_KEY: &str = "zip";
/// Name of the directory in which a replacing array, or what is to be packed, is built.
pub(crate) const BUILT: &str = "target";
/// Name of the directory of a ZIP file that is being packed.
pub(crate) const PACKED: &str = "packed";

/// The directory of the state of runs whose target has this [`state_name`].
pub(crate) fn state_directory(name: &str) -> String {
    format!("{name}.rechunk")
}

/// Name of the state of runs at a target: beside it, where something can be there. That of a
/// version of a data set is in the current directory.
pub(crate) fn state_name(target: &str) -> String {
    if !is_versioned(target) {
        return own_name(target);
    }
    let target = target.trim_end_matches('/');
    let place = target.split_once("://").map_or(target, |(_, place)| place);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let name: String = place.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    // Two places may become one name.
    format!("{name}-{}", &hex(&Sha256::digest(target))[..8])
}

/// The name of a target that its work directory is named after: one for all runs that write there.
/// Its own path, if it is given by a link, by a URL of a file, or ends in dots; else as it is
/// given.
fn own_name(target: &str) -> String {
    let given = target.trim_end_matches('/');
    let path = Path::new(given);
    let is_plain = !given.contains("://")
        && path.file_name().and_then(OsStr::to_str).is_some_and(|name| given.ends_with(name))
        && !path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let real = if is_plain { None } else { canonical(target) };
    // Somebody may have moved the target of an interrupted run elsewhere, and left a link.
    let real = real.and_then(|path| path.into_os_string().into_string().ok());
    let has_state = |name: &str| Path::new(&state_directory(name)).is_dir();
    let real = real.filter(|real| has_state(real) || !has_state(given));
    real.unwrap_or_else(|| given.to_owned())
}
