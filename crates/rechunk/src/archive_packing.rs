//! Packs a complete target into the ZIP file that it is to be.

use rechunk_exec::ExecError;
use rechunk_store::{Packing, Store};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::archive::Archive;
use crate::error::store_error;
use crate::formats::{Fact, Format};
use crate::work_dir::WorkDir;
use crate::{Error, Remedy};

/// Packs what was built into the file. It takes the place of a file that was there if the run
/// was to replace it.
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
        if archive.is_there() && !work.may_replace().await? {
            return Ok(false);
        }
        work.set_replaces(true).await.map(|()| true)
    };
    match built.pack_zip((&part, file), &packing, may_replace).await {
        Ok(Some(_)) => Ok(()),
        Ok(None) => Err(Error::Conflict {
            location: file.display().to_string(),
            reason: "was made by somebody else while this run went on".to_owned(),
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
