//! A datastore that is opened, and how its place and its register come together.

use std::sync::Arc;
use std::time::Duration;

use rechunk_store::{DirectoryLock, Store};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

use crate::places::{CHANGES, FORMAT, MARKS, OWN, UNDER_WAY, UPLOADS};
use crate::register::Register;
use crate::{Datastore, DatastoreError};

/// Time that another process has to let go of the place.
const LOCK_TIME: Duration = Duration::from_secs(2);
/// Time that processes which share the place have to begin.
const SHARE_TIME: Duration = Duration::from_secs(30);
/// Time between two tries.
const LOCK_WAIT: Duration = Duration::from_millis(20);
/// Most bytes of the document that says which register knows a place.
const FORMAT_BYTES_MAX: u64 = 1 << 16;
/// The format of the place.
const VERSION: u32 = 2;

/// Says that a place is a datastore.
#[derive(Debug, Serialize, Deserialize)]
struct Format {
    #[serde(rename = "rechunk-datastore")]
    version: u32,
    /// The register that knows the data sets of the place.
    #[serde(default)]
    register: Option<String>,
}

/// A place that is held to be written: alone, or beside other processes that have the same
/// register.
#[derive(Debug)]
pub struct HeldPlace {
    root: Store,
    lock: DirectoryLock,
    is_alone: bool,
    /// The register that knows the place, by its identity.
    register: Option<String>,
}

impl HeldPlace {
    /// Takes a place, which is made if it is not there; `shared` beside other processes that share
    /// it. A bucket has no locks: there whoever is not `shared` holds one of the register.
    pub async fn take(root: Store, shared: bool) -> Result<Self, DatastoreError> {
        let is_local = root.local_root().is_some();
        if is_local && !root.exists(FORMAT).await? {
            write_format(&root, None).await?;
        }
        let register = read_format(&root).await?.and_then(|format| format.register);
        if !is_local && register.is_none() {
            // An object that is not there says nothing of its bucket.
            root.list_level(OWN).await?;
        }
        let own = root.child(OWN)?;
        // Who shares it has it alone for as long as it begins.
        let end = Instant::now() + if shared { SHARE_TIME } else { LOCK_TIME };
        loop {
            if let Some(lock) = DirectoryLock::try_take(&own).await? {
                return Ok(Self { root, lock, is_alone: is_local || !shared, register });
            }
            if shared && let Some(lock) = DirectoryLock::try_share(&own).await? {
                return Ok(Self { root, lock, is_alone: false, register });
            }
            if Instant::now() >= end {
                return Err(in_use(&root));
            }
            sleep(LOCK_WAIT).await;
        }
    }

    /// Refuses a register that is new if the place is of another.
    pub fn check_new_register(&self) -> Result<(), DatastoreError> {
        if self.register.is_some() { Err(other_register(&self.root)) } else { Ok(()) }
    }
}

async fn read_format(root: &Store) -> Result<Option<Format>, DatastoreError> {
    let Some(bytes) = root.get(FORMAT, FORMAT_BYTES_MAX).await? else { return Ok(None) };
    let damaged = |reason: String| DatastoreError::Damaged { place: FORMAT.to_owned(), reason };
    let format: Format =
        serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
    if format.version > VERSION {
        let version = format.version;
        return Err(damaged(format!("it is of format {version}, this program knows {VERSION}")));
    }
    Ok(Some(format))
}

fn format_of(register: Option<&str>) -> Result<Vec<u8>, DatastoreError> {
    let format = Format { version: VERSION, register: register.map(ToOwned::to_owned) };
    serde_json::to_vec(&format).map_err(|error| DatastoreError::Damaged {
        place: FORMAT.to_owned(),
        reason: error.to_string(),
    })
}

async fn write_format(root: &Store, register: Option<&str>) -> Result<(), DatastoreError> {
    Ok(root.put_durable(FORMAT, format_of(register)?).await?)
}

/// Has a place say that it is of a register; before it was of the one named, or of none.
async fn claim(root: &Store, before: Option<&str>, register: &str) -> Result<(), DatastoreError> {
    if root.local_root().is_some() || before.is_some_and(|before| before != register) {
        return write_format(root, Some(register)).await;
    }
    // Nothing locks a bucket: one of several new registers is the first.
    if before.is_none() {
        root.create(FORMAT, format_of(Some(register))?.into()).await?;
    }
    match read_format(root).await?.and_then(|format| format.register) {
        Some(own) if own == register => Ok(()),
        Some(_) => Err(other_register(root)),
        None => write_format(root, Some(register)).await,
    }
}

impl Datastore {
    /// Opens a place to be read; nothing is changed there.
    pub async fn read_only(
        root: Store,
        register: Arc<dyn Register>,
    ) -> Result<Self, DatastoreError> {
        if !root.exists_anything().await? {
            return Err(DatastoreError::Unknown(format!("{} is not there", root.label())));
        }
        let format = read_format(&root).await?;
        match format.and_then(|format| format.register) {
            Some(own) if own != register.identity() => return Err(other_register(&root)),
            None if !root.list_level(MARKS).await?.files.is_empty() => {
                return Err(DatastoreError::Unregistered(root.label().to_owned()));
            }
            Some(_) | None => {}
        }
        Ok(Self::of(root, register, None))
    }

    /// Opens a place to be read and written. What processes that were killed have left is put
    /// right, data sets that a version without a register knew are entered, and levels that had to
    /// follow an upload follow.
    pub async fn writable(
        place: HeldPlace,
        register: Arc<dyn Register>,
    ) -> Result<Self, DatastoreError> {
        let is_other = match &place.register {
            Some(own) => own != register.identity(),
            None => !register.names().await?.is_empty(),
        };
        if is_other {
            return Err(other_register(&place.root));
        }
        let datastore = Self::begun(place, register).await?;
        datastore.follow_up().await?;
        Ok(datastore)
    }

    /// Opens a place whose register may know nothing of it, or of another.
    pub(crate) async fn begun(
        place: HeldPlace,
        register: Arc<dyn Register>,
    ) -> Result<Self, DatastoreError> {
        let HeldPlace { root, lock, is_alone, register: before } = place;
        let uploads = root.child(UPLOADS)?;
        let root = root.with_upload_records(&uploads);
        if is_alone {
            root.delete_prefix(UNDER_WAY).await?;
            uploads.abort_uploads().await?;
        }
        // Before anything is entered: a register with data sets of no place looks like another's.
        claim(&root, before.as_deref(), register.identity()).await?;
        let is_shared = register.is_shared();
        let mut datastore = Self::of(root, register, Some(lock));
        datastore.change().await?.end().await?;
        if is_alone {
            // Notes that were being written: nothing had been done yet.
            datastore.root.delete_prefix(CHANGES).await?;
        }
        if is_shared && !datastore.share() {
            return Err(in_use(&datastore.root));
        }
        datastore.take_over_marks().await?;
        Ok(datastore)
    }
}

fn in_use(root: &Store) -> DatastoreError {
    DatastoreError::InUse(format!("another process writes to {}", root.label()))
}

fn other_register(root: &Store) -> DatastoreError {
    DatastoreError::OtherRegister(root.label().to_owned())
}
