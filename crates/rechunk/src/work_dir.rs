//! Directory of a run's state: `TARGET.rechunk/` beside the target. It holds the journal, the saved
//! job, the intermediate, and (when replacing) the new array until it takes the old one's place.

mod journal;
mod locking;
mod ours;
mod removal;

use std::time::SystemTime;

use bytes::Bytes;
use futures::future::{self, BoxFuture, FutureExt};
use rechunk_exec::{JOURNAL_KEY, SEGMENTS};
use rechunk_store::{Holder, Role, Store, StoreError, Stores};

use crate::Error;
use crate::archive::state_location;
use crate::error::store_error;
use crate::report::Report;
use crate::saved_job::SavedJob;
use crate::state_place::{
    BUILT, DONE_KEY, JOB_KEY, PACKED, TREE_KEY, WRITTEN_KEY, ZIP_KEY, state_directory, state_name,
};

/// Key of the file that a running process holds locked.
const LOCK_KEY: &str = "lock";
/// Beginning of the keys that are written to read the store's clock, while another run writes.
const CLOCK: &str = "lock-clock-";
/// Key of the report of a run that did not finish.
const REPORT_KEY: &str = "report.json";
/// Name of the directory that notes uploads under way.
const UPLOADS: &str = "uploads";
/// Name of the directory of what parts mark.
pub(crate) const PARTS: &str = "parts";
/// Name, in that of some parts, of what says that they are open.
pub(crate) const OPEN: &str = "open";
/// Directories in a work directory, in the order in which they are removed. The journal goes before
/// all that it speaks of.
const PLACES: [&str; 6] = [PARTS, "intermediate", PACKED, BUILT, "replaced", "source"];
/// Key of the list of files at the target that may be replaced.
const REPLACES_KEY: &str = "replaces";
/// Most bytes of that list.
const REPLACES_BYTES_MAX: u64 = 4 << 10;
/// After the lock only goes what the next one, who may have taken it by then, does not write before
/// his own end.
const KEYS: [&str; 9] = [
    JOURNAL_KEY,
    REPORT_KEY,
    JOB_KEY,
    TREE_KEY,
    WRITTEN_KEY,
    REPLACES_KEY,
    ZIP_KEY,
    LOCK_KEY,
    DONE_KEY,
];
/// Largest lock file that is read, bytes: many runs, a line each.
const LOCK_BYTES_MAX: u64 = 1 << 20;
const JOB_BYTES_MAX: u64 = 16 << 20;
/// Largest saved copy of a group that is read, bytes.
const TREE_BYTES_MAX: u64 = 256 << 20;

/// Leftovers of an earlier run beside its target.
#[derive(Debug)]
pub(crate) enum Left {
    /// Nothing, or not enough to have written anything.
    Nothing,
    /// A job to go on with.
    Unfinished(SavedJob),
    /// A job that has begun, of which what it was to do cannot be read: why.
    Damaged(String),
    /// Leftovers of a job of which all is written, and the job if it still says which. What was to
    /// grow may not have been made known yet.
    Done(Option<SavedJob>),
    /// Objects that a run sent late, when another had completed the target and removed all else.
    Late,
}

/// The state of one target.
#[derive(Debug, Clone)]
pub(crate) struct WorkDir {
    pub store: Store,
    /// Its path as it follows from the target's.
    location: String,
    /// The directory that notes uploads.
    uploads: String,
}

impl WorkDir {
    /// The work directory of a target; nothing is created.
    pub(crate) fn of(target: &str, stores: &Stores) -> Result<Self, Error> {
        let location = state_directory(&state_name(&state_location(target)));
        let store = stores.open(&location);
        let store = store.map_err(|source| store_error("open", &location, source))?;
        let uploads = UPLOADS.to_owned();
        Ok(Self { store: store.with_role(Role::Control), location, uploads })
    }

    /// Returns it for a part, which notes its uploads by itself and gives up no others.
    pub(crate) fn of_part(&self, writer: &str) -> Self {
        Self { uploads: format!("{UPLOADS}/{writer}"), ..self.clone() }
    }

    /// Its path as it follows from the target's.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// Place of the intermediate if nothing else was said.
    pub(crate) fn intermediate(&self) -> Result<Store, Error> {
        self.child("intermediate")
    }

    /// Place to build a replacing array.
    pub(crate) fn staging(&self) -> Result<Store, Error> {
        self.child(BUILT)
    }

    /// Place to put a replaced array aside.
    pub(crate) fn replaced(&self) -> Result<Store, Error> {
        self.child("replaced")
    }

    /// Place to unpack a compressed source.
    pub(crate) fn unpacked(&self) -> Result<Store, Error> {
        self.child("source")
    }

    /// `store` in the same bucket, with its uploads under way noted down here.
    pub(crate) fn noting_uploads(&self, store: &Store) -> Result<Store, Error> {
        Ok(store.with_upload_records(&self.child(&self.uploads)?))
    }

    /// Gives up what a run that has ended was uploading. What it was of is written again.
    pub(crate) async fn abort_uploads(&self) -> Result<(), Error> {
        let failed = |source| store_error("give up uploads to", self.store.label(), source);
        self.child(&self.uploads)?.abort_uploads().await.map_err(failed).map(drop)
    }

    fn child(&self, name: &str) -> Result<Store, Error> {
        self.store.child(name).map_err(|source| store_error("open", name, source))
    }

    /// Looks for leftovers of a run. Refuses a place that is not ours: it is removed at the end.
    pub(crate) async fn left(&self) -> Result<Left, Error> {
        self.left_where(self.check_ours().boxed()).await
    }

    /// [`WorkDir::left`] once more, when this run has locked it: whose it is was asked before.
    pub(crate) async fn left_since(&self) -> Result<Left, Error> {
        if self.store.local_root().is_some() {
            return self.left().await; // nobody waits for that
        }
        // What came late was looked for before: with the lock there is more than that.
        self.left_where(future::ready(Ok(false)).boxed()).await
    }

    /// Looks for leftovers in a place, if something is there.
    async fn left_where(
        &self,
        is_there: BoxFuture<'_, Result<bool, Error>>,
    ) -> Result<Left, Error> {
        let failed = |source| store_error("look at", self.store.label(), source);
        // At once, because answers may take long; and by key, because a listing may be late.
        let (is_there, tree, done, job) = futures::join!(
            is_there,
            self.store.exists(TREE_KEY).boxed(),
            self.job(DONE_KEY).boxed(),
            self.job(JOB_KEY).boxed()
        );
        let is_there = is_there?;
        if tree.map_err(failed)? {
            return Err(self.conflict("holds an interrupted run of the copy of a whole group"));
        }
        let (done, job) = (done?, job?);
        if let Some(Ok(job)) = done {
            return Ok(Left::Done(Some(job)));
        }
        if done.is_some() && job.is_none() {
            return Ok(Left::Done(None)); // it says that much, though it is damaged
        }
        match job {
            Some(Ok(job)) => return Ok(Left::Unfinished(job)),
            // A power cut can tear what was not durable yet. The journal is begun after the job
            // is durable: without one, nothing has been written. (Without fsync something may
            // have been: then a target that is to be new is refused, as one that is there.)
            Some(Err(reason)) if self.has_journal().await? => return Ok(Left::Damaged(reason)),
            Some(Err(_)) | None => {}
        }
        if !is_there {
            return Ok(Left::Nothing);
        }
        // The directory goes last, so an empty one may be the end of a run; or the beginning.
        if self.store.local_root().is_some() && self.has_none_but(&[]).await? {
            return Ok(Left::Done(None));
        }
        Ok(if self.is_only_late().await? { Left::Late } else { Left::Nothing })
    }

    /// True if the directory is there, and nothing that says of a run of a group what it was.
    pub(crate) async fn is_emptied_tree(&self) -> Result<bool, Error> {
        self.has_none_but(&[WRITTEN_KEY, REPLACES_KEY, ZIP_KEY, LOCK_KEY]).await
    }

    /// True if the directory is there, with nothing in it but these.
    async fn has_none_but(&self, keys: &[&str]) -> Result<bool, Error> {
        let failed = |source| store_error("look at", self.store.label(), source);
        if !self.store.exists_anything().await.map_err(failed)? {
            return Ok(false);
        }
        self.store.has_none_but(keys).await.map_err(failed)
    }

    /// The copy of a group that a run has left, as bytes. Refuses a place that is not ours, or that
    /// of the copy of one array.
    pub(crate) async fn tree(&self) -> Result<Option<Bytes>, Error> {
        let failed = |source| store_error("read", self.store.label(), source);
        self.check_ours().await?;
        for key in [JOB_KEY, DONE_KEY] {
            if self.store.exists(key).await.map_err(failed)? {
                return Err(self.conflict("holds an interrupted run of the copy of one array"));
            }
        }
        self.store.get(TREE_KEY, TREE_BYTES_MAX).await.map_err(failed)
    }

    /// The copy of a group that a run has left, as bytes, whatever else is there.
    pub(crate) async fn saved_tree(&self) -> Result<Option<Bytes>, Error> {
        let failed = |source| store_error("read", self.store.label(), source);
        self.store.get(TREE_KEY, TREE_BYTES_MAX).await.map_err(failed)
    }

    /// True if there is anything at its place.
    pub(crate) async fn exists(&self) -> Result<bool, Error> {
        let failed = |source| store_error("look at", self.store.label(), source);
        self.store.exists_anything().await.map_err(failed)
    }

    /// Writes the copy of a group; the run starts with it.
    pub(crate) async fn save_tree(&self, bytes: Vec<u8>) -> Result<(), Error> {
        // One may have ended before it had removed that.
        let removed = self.store.delete(WRITTEN_KEY).await;
        removed.map_err(|source| store_error("remove", self.store.label(), source))?;
        self.put(TREE_KEY, bytes).await
    }

    fn conflict(&self, reason: &str) -> Error {
        Error::Conflict {
            location: self.location.clone(),
            reason: reason.to_owned(),
            hint: Some(
                "resume that with the same arguments, or remove this directory and what it has \
                 begun"
                    .into(),
            ),
        }
    }

    /// Has a replaced array that was put aside take its place again, where the new one has not
    /// taken it. Of the two renames the second is missing; otherwise it would go with what a run
    /// has left.
    pub(crate) async fn put_back(&self, target: &Store) -> Result<bool, Error> {
        if target.local_root().is_none() {
            return Ok(false); // nothing is put aside there
        }
        let failed = |source| store_error("put back", target.label(), source);
        let aside = self.replaced()?;
        if !aside.exists_anything().await.map_err(failed)? {
            return Ok(false);
        }
        if !target.is_empty().await.map_err(failed)? {
            if !self.staging()?.exists_anything().await.map_err(failed)? {
                return Ok(false); // what is there is the new one
            }
            return Err(Error::Conflict {
                location: target.label().to_owned(),
                reason: format!(
                    "is neither the array that was to be replaced, which is in {}/replaced, nor the \
                     new one",
                    self.location
                ),
                hint: Some("move what is there away".into()),
            });
        }
        Store::rename(&aside, target).await.map_err(failed)?;
        Ok(true)
    }

    /// The job at a key, if there is one; if it cannot be understood, why.
    async fn job(&self, key: &str) -> Result<Option<Result<SavedJob, String>>, Error> {
        let found = self.store.get(key, JOB_BYTES_MAX).await;
        let found = found.map_err(|source| store_error("read", self.store.label(), source))?;
        Ok(found.map(|bytes| {
            SavedJob::from_checked_json(key, &bytes)
                .map_err(|error| format!("{}/{key} cannot be understood: {error}", self.location))
        }))
    }

    /// Says that of a group all arrays are written, and begin to be made known.
    pub(crate) async fn set_written(&self) -> Result<(), Error> {
        self.put(WRITTEN_KEY, Vec::new()).await
    }

    /// True if [`WorkDir::set_written`] was said.
    pub(crate) async fn is_written(&self) -> Result<bool, Error> {
        let found = self.store.exists(WRITTEN_KEY).await;
        found.map_err(|source| store_error("look at", self.store.label(), source))
    }

    /// Says that the target is a ZIP file, and which files at its place may be replaced.
    pub(crate) async fn set_zip(&self, replaced: &[String]) -> Result<(), StoreError> {
        self.set_replaceable(replaced).await?;
        self.store.put_durable(ZIP_KEY, Vec::new()).await
    }

    /// Says which files at the target may be replaced, as
    /// [`file_identity`](crate::archive::file_identity) tells them.
    pub(crate) async fn set_replaceable(&self, files: &[String]) -> Result<(), StoreError> {
        if files.is_empty() {
            return self.store.delete(REPLACES_KEY).await;
        }
        self.store.put_durable(REPLACES_KEY, files.join("\n").into_bytes()).await
    }

    /// The files of [`WorkDir::set_replaceable`].
    pub(crate) async fn replaceable(&self) -> Result<Vec<String>, StoreError> {
        let list = self.store.get(REPLACES_KEY, REPLACES_BYTES_MAX).await?.unwrap_or_default();
        Ok(String::from_utf8_lossy(&list).lines().map(str::to_owned).collect())
    }

    /// Says that all of the target is written.
    pub(crate) async fn set_done(&self, job: &SavedJob) -> Result<(), Error> {
        self.put(DONE_KEY, job.to_checked_json()?).await
    }

    /// Says of a job that it has done nothing, before what it has done is removed. `was_done`: it
    /// had said that all of it is written.
    pub(crate) async fn take_back(&self, job: &SavedJob, was_done: bool) -> Result<(), Error> {
        self.forget().await?;
        if was_done {
            self.save_job(job).await?;
            let removed = self.store.delete(DONE_KEY).await;
            removed.map_err(|source| store_error("remove", self.store.label(), source))?;
        }
        Ok(())
    }

    /// When the job was saved last, if that can be told.
    pub(crate) async fn saved_at(&self) -> Result<Option<SystemTime>, Error> {
        let found = self.store.modified(JOB_KEY).await;
        found.map_err(|source| store_error("look at", self.store.label(), source))
    }

    /// Writes the job; the run starts with it.
    pub(crate) async fn save_job(&self, job: &SavedJob) -> Result<(), Error> {
        self.put(JOB_KEY, job.to_checked_json()?).await
    }

    /// Keeps what is said of a run beside its journal. It helps; that it cannot be kept hides
    /// nothing else.
    pub(crate) async fn put_report(&self, report: &Report) {
        if let Ok(bytes) = serde_json::to_vec_pretty(report) {
            let _ = self.put(REPORT_KEY, bytes).await;
        }
    }

    /// Writes a small document of ours.
    pub(crate) async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let put = self.store.put_durable(key, bytes).await;
        put.map_err(|source| store_error("write", self.store.label(), source))
    }
}

/// Process that has last locked a file with this text.
fn holder_in(text: &[u8]) -> Option<Holder> {
    text.split(|&byte| byte == b'\n').rev().find(|line| !line.is_empty()).and_then(Holder::of)
}

/// The key is that of a part of a journal, of an object of an intermediate, or of a question for
/// the time.
fn is_late(key: &str) -> bool {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    match key.split('/').collect::<Vec<_>>()[..] {
        [SEGMENTS, number] => is_number(number),
        ["intermediate", stage, number] => {
            stage.strip_prefix("stage").is_some_and(is_number) && is_number(number)
        }
        [PARTS, _, "busy" | "done", ..] => true,
        [key] => key.starts_with(CLOCK),
        _ => false,
    }
}
