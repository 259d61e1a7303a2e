//! Other files where the arrays of a group go into those of one that exists: the target keeps its
//! own.

use std::collections::BTreeMap;

use rechunk_store::{Meter, Role, Store};

use super::{OtherFile, Others, is_same, named};
use crate::Error;

/// Largest file that is compared byte by byte when it is planned, bytes; of larger ones the sizes
/// are.
const COMPARED_BYTES_MAX: u64 = 1 << 20;
/// Most bytes that are compared then in all.
const COMPARED_BYTES_TOTAL: u64 = 64 << 20;

/// Says which files of the source are not, or are not the same, in the target, which keeps what it
/// has.
pub(crate) async fn differences(
    of_source: &Others,
    of_target: &Others,
    source: &Store,
    target: &Store,
) -> Result<Vec<String>, Error> {
    let meter = Meter::new();
    let [source, target] =
        [source, target].map(|store| store.with_meter(&meter).with_role(Role::Control));
    let theirs: BTreeMap<&str, &OtherFile> =
        of_target.files.iter().map(|file| (file.path.as_str(), file)).collect();
    let (mut missing, mut other) = (Vec::new(), Vec::new());
    let mut compared_bytes = 0_u64;
    for file in &of_source.files {
        let path = file.path.as_str();
        let Some(there) = theirs.get(path) else {
            missing.push(path);
            continue;
        };
        let fits = file.bytes <= COMPARED_BYTES_MAX
            && compared_bytes.saturating_add(file.bytes) <= COMPARED_BYTES_TOTAL;
        if there.bytes != file.bytes {
            other.push(path);
        } else if fits {
            compared_bytes += file.bytes;
            if !is_same(&source, &target, path, file.bytes).await? {
                other.push(path);
            }
        }
    }
    let mut warnings = Vec::new();
    if !missing.is_empty() {
        warnings.push(format!(
            "other files of the source are not in the target, and are not copied there: {}",
            named(missing.iter().copied())
        ));
    }
    if !other.is_empty() {
        warnings.push(format!(
            "other files differ between source and target, and the target keeps its own: {}",
            named(other.iter().copied())
        ));
    }
    Ok(warnings)
}
