//! Migration in place: documents of another format over the chunks that are there. No chunk is
//! read, written or moved.
//!
//! Whatever an earlier run has left is known by what it says: a document of the new format that
//! says what the old one beside it says is one that would be written, and any other is refused. So
//! nothing has to be noted anywhere, and a run after a kill goes on or goes back.

mod found;
mod nodes;
mod publish;
mod report;
mod request;

use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_store::{Role, Store, Stores};
use tokio_util::sync::CancellationToken;

pub use report::{DocumentReport, MigrateReport};
pub use request::MigrateRequest;

use crate::Error;
use crate::consolidated::at_once;
use crate::formats::Format;
use crate::member_location::member_path;
use crate::some_names::some_names;
use crate::target::{check_writable, open_target};
use crate::work_dir::WorkDir;
use found::Place;
use nodes::{NodePlan, Nodes, has_documents};
use publish::{keys_of, publish, remove};

/// Writes the documents of another format beside those of an array or a group, over the chunks that
/// are there; or takes them away again. The whole is visible in the new format when the document of
/// the root is written, last; the old documents stay, unless they are to be removed then.
///
/// Refused before anything is written: data types and codecs that the new format has no words for,
/// documents of it that say something else, places that are only read.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let location = folder.path().join("a.zarr").display().to_string();
/// # std::fs::create_dir(&location)?;
/// # std::fs::write(location.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
/// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
/// #     "fill_value": 0, "order": "C"}"#)?;
/// use rechunk::{CancellationToken, Format, MigrateRequest, Stores, migrate};
///
/// let (stores, cancel) = (Stores::default(), CancellationToken::new());
/// let mut request = MigrateRequest::new(&location, Format::Zarr3);
/// let report = migrate(&request, &stores, cancel.clone()).await?;
/// assert_eq!(report.written[0].key, "zarr.json");
/// request.undo = true;
/// assert_eq!(migrate(&request, &stores, cancel).await?.removed, ["zarr.json"]);
/// # Ok(())
/// # }
/// ```
pub async fn migrate(
    request: &MigrateRequest,
    stores: &Stores,
    cancel: CancellationToken,
) -> Result<MigrateReport, Error> {
    let location = &request.location;
    let store = open_target(location, stores)?;
    check_writable(location, &store)?;
    let place = Box::pin(Place::look(request, &store)).await?;
    let (place, nodes) = Box::pin(Nodes::of(place, stores)).await?;
    check(request, &place, &nodes).await?;
    let mut report = report_of(request, &place, &nodes);
    if request.dry_run {
        report.removed = to_be_removed(request, &place, &nodes).await?;
        return Ok(report);
    }
    let removes = |node: &NodePlan| !removed_keys(request, &place, node).is_empty();
    if report.written.is_empty() && !nodes.all.iter().any(removes) {
        return Ok(report);
    }
    if store.is_volatile() {
        report.removed = change(request, &place, &nodes, &cancel).await?;
        return Ok(report);
    }
    let work = WorkDir::of(location, stores)?;
    let lock = work.lock(location).await?;
    let changed = Box::pin(change(request, &place, &nodes, &cancel));
    let changed = lock.while_held(location, changed).await;
    work.unlock(lock).await?;
    report.removed = changed?;
    Ok(report)
}

/// Refuses what cannot be undone, and old documents that something else relies on.
async fn check(request: &MigrateRequest, place: &Place, nodes: &Nodes) -> Result<(), Error> {
    if request.undo && request.remove_old {
        return Err(Error::Usage {
            message: "documents are either taken away again or the old ones removed".to_owned(),
            hint: None,
        });
    }
    let only = if request.undo { nodes.only_new() } else { Vec::new() };
    if !only.is_empty() {
        return Err(Error::Conflict {
            location: request.location.clone(),
            reason: format!("has arrays that are only {}: {}", place.to.name(), some_names(&only)),
            hint: Some(
                "nothing was removed; move them away, or migrate them to the other format".into(),
            ),
        });
    }
    if request.remove_old
        && let Some((above, _)) = parent(&place.store)?
    {
        let from = place.from;
        // A group of the old format would lose a member.
        let [is_old, is_new] = [documents_at(&above, from), documents_at(&above, place.to)];
        if is_old.await? && !is_new.await? {
            return Err(Error::Conflict {
                location: request.location.clone(),
                reason: format!("lies in the {} group {}", from.name(), above.label()),
                hint: Some("migrate that group, or leave the old documents there".into()),
            });
        }
    }
    Ok(())
}

fn parent(store: &Store) -> Result<Option<(Store, String)>, Error> {
    store.parent().map_err(|error| Error::source_store(store.label(), error))
}

async fn documents_at(place: &Store, format: Format) -> Result<bool, Error> {
    match has_documents(&place.with_role(Role::Control), format).await {
        Ok(has_some) => Ok(has_some),
        // Whoever may not look there has nothing there.
        Err(error) if error.is_permission_denied() => Ok(false),
        Err(error) => Err(Error::source_store(place.label(), error)),
    }
}

/// Writes and removes documents. Gives the paths of those that were removed.
async fn change(
    request: &MigrateRequest,
    place: &Place,
    nodes: &Nodes,
    cancel: &CancellationToken,
) -> Result<Vec<String>, Error> {
    if !request.undo {
        publish(place, nodes, cancel).await?;
    }
    if request.undo || request.remove_old {
        return remove(place, nodes, |node| removed_keys(request, place, node)).await;
    }
    Ok(Vec::new())
}

/// Keys of the documents of a node that are removed.
fn removed_keys(request: &MigrateRequest, place: &Place, node: &NodePlan) -> Vec<String> {
    if request.undo {
        return if node.is_said { keys_of(node, place.to) } else { Vec::new() };
    }
    let old = node.old.filter(|_| request.remove_old);
    old.map(|format| keys_of(node, format)).unwrap_or_default()
}

/// Paths of the documents that are there and would be removed, the last ones first.
async fn to_be_removed(
    request: &MigrateRequest,
    place: &Place,
    nodes: &Nodes,
) -> Result<Vec<String>, Error> {
    let nodes = nodes.all.iter().rev();
    let keys = nodes.flat_map(|node| {
        let keys = removed_keys(request, place, node).into_iter().rev();
        keys.map(|key| member_path(&node.path, &key))
    });
    let looked_for = keys.map(|path| async move {
        let is_there = place.store.exists(&path).await;
        is_there.map(|is_there| is_there.then_some(path))
    });
    let found = stream::iter(looked_for).buffered(at_once(&place.store));
    let found: Vec<Option<String>> =
        found.try_collect().await.map_err(|error| Error::source_store(&place.location, error))?;
    Ok(found.into_iter().flatten().collect())
}

/// Report of a migration that has removed nothing yet.
fn report_of(request: &MigrateRequest, place: &Place, nodes: &Nodes) -> MigrateReport {
    let mut written = Vec::new();
    let mut already_there = 0;
    for node in &nodes.all {
        if request.undo || node.is_there() {
            already_there += u64::from(node.is_said);
            continue;
        }
        for (key, bytes) in nodes.sizes(node) {
            written.push(DocumentReport { key: member_path(&node.path, &key), bytes });
        }
    }
    let count = |is_array| nodes.all.iter().filter(|node| node.is_array == is_array).count() as u64;
    let is_old = nodes.all.iter().any(|node| node.old.is_some());
    MigrateReport {
        location: request.location.clone(),
        from: is_old.then_some(place.from),
        to: place.to,
        undo: request.undo,
        dry_run: request.dry_run,
        arrays: count(true),
        groups: count(false),
        written,
        already_there,
        removed: Vec::new(),
        warnings: if request.undo { Vec::new() } else { nodes.warnings.clone() },
    }
}
