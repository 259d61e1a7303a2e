//! Packs a complete target into the ZIP file that it is to be.

use rechunk_exec::ExecError;
use rechunk_store::{Packing, Role, Store, Stores};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::archive::{Archive, file_identity};
use crate::error::store_error;
use crate::formats::{Fact, Format};
use crate::target::check_replaceable;
use crate::work_dir::WorkDir;
use crate::{Error, Remedy};

/// Refuses to replace what is at the place of a ZIP file if it holds no array or group. To be asked
/// before anything of an earlier run goes.
pub(crate) async fn check_replaced_zip(archive: &Archive, stores: &Stores) -> Result<(), Error> {
    if !archive.is_there() {
        return Ok(());
    }
    let location = archive.file().display().to_string();
    let store = stores.open(&location);
    let store = store.map_err(|source| store_error("open", &location, source))?;
    check_replaceable(&location, &store.with_role(Role::Control), false).await
}

/// Notes that the target is a ZIP file, and whether the file that is there is to be replaced in the
/// end. Refuses one that has come since this run looked: another run may have packed it.
pub(crate) async fn note_zip(
    archive: &Archive,
    replaces: bool,
    work: &WorkDir,
) -> Result<(), Error> {
    if !replaces && archive.is_there() {
        return Err(Error::Conflict {
            location: archive.file().display().to_string(),
            reason: "was made by somebody else while this run began".to_owned(),
            hint: Some("look at it, and move it away if it is not wanted".into()),
        });
    }
    let there = file_identity(archive.file()).filter(|_| replaces);
    let noted = work.set_zip(&there.into_iter().collect::<Vec<_>>()).await;
    noted.map_err(|source| store_error("write", &archive.file().display().to_string(), source))
}

/// Packs what was built into the file. It takes the place of a file that was there if the run
/// was to replace this one.
pub(crate) async fn pack(
    archive: &Archive,
    (built, work): (&Store, &WorkDir),
    comment: Option<String>,
    verify: bool,
    (cancel, tasks): (&CancellationToken, u64),
) -> Result<(), Error> {
    let (part, file) = (archive.part(), archive.file());
    let mut packing = Packing::default();
    packing.comment = comment.unwrap_or_default();
    (packing.verify, packing.cancel) = (verify, cancel.clone());
    tracing::info!(file = %file.display(), "packing");
    let may_replace = async || {
        let there = file_identity(file);
        let known = work.replaceable().await?;
        if there.as_ref().is_some_and(|there| !known.contains(there)) {
            return Ok(false);
        }
        // After a kill that is what is there, or what was.
        let files: Vec<String> = there.into_iter().chain(file_identity(&part)).collect();
        work.set_replaceable(&files).await.map(|()| true)
    };
    match built.pack_zip((&part, file), &packing, may_replace).await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Error::Conflict {
            location: file.display().to_string(),
            reason: "was made or changed by somebody else while this run went on".to_owned(),
            hint: Some(Remedy::from("move it away, and resume: what is done is kept")),
        }),
        Err(_) if cancel.is_cancelled() => Err(Error::Run {
            done: tasks,
            resumed: 0,
            total: tasks,
            hint: Some(Remedy::Resume),
            source: Box::new(ExecError::Cancelled),
        }),
        Err(source) => {
            let file = file.display().to_string();
            Err(store_error("pack what is complete into", &file, source))
        }
    }
}

/// Comment of a ZIP file with these attributes of its root, by RFC-9 of OME-Zarr.
pub(crate) fn comment(format: Format, root: &Map<String, Value>) -> Option<String> {
    let version = ome_version(root).filter(|_| format.has(Fact::OneFileImages))?;
    let directory = json!({"jsonFirst": true});
    let comment = json!({"ome": {"version": version, "zipFile": {"centralDirectory": directory}}});
    Some(comment.to_string())
}

/// Version of OME-Zarr that the root of a hierarchy says, from 0.5 on.
pub(crate) fn ome_version(root: &Map<String, Value>) -> Option<&str> {
    root.get("ome")?.get("version")?.as_str()
}
