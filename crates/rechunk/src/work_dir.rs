//! Where a run keeps its state: `TARGET.rechunk/` beside the target, with the journal, the saved
//! job, the intermediate, and (when replacing) the new array until it takes the old one's place.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use rechunk_exec::{JOURNAL_KEY, Journal, JournalError, SEGMENTS};
use rechunk_plan::Plan;
use rechunk_store::{AppendFile, Holder, Lease, Role, Store, Stores, Taken, lease_holder};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::Error;
use crate::growth::Growth;
use crate::request::CopyRequest;

/// Key of the file that a running process holds locked.
const LOCK_KEY: &str = "lock";
/// How often, and how long apart, the lock is asked for.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(100);
/// Key of the saved job.
pub(crate) const JOB_KEY: &str = "job.json";
/// Key of the job again, once its target is complete: only leftovers are to be removed then.
const DONE_KEY: &str = "done.json";
/// Key of the saved copy of a whole group. It goes last: while it is there, a run can go on.
const TREE_KEY: &str = "tree.json";
/// Key of the report of a run that did not finish.
pub(crate) const REPORT_KEY: &str = "report.json";
/// A run that was taken over has sent fewer parts of a journal than that.
const LATE_MAX: usize = 1000;
/// Where uploads under way are noted down.
const UPLOADS: &str = "uploads";
/// What there may be in a work directory, in the order in which it is removed; the journal goes
/// before all that it speaks of.
const PLACES: [&str; 4] = ["intermediate", "target", "replaced", "source"];
const KEYS: [&str; 6] = [JOURNAL_KEY, REPORT_KEY, JOB_KEY, LOCK_KEY, DONE_KEY, TREE_KEY];
/// Largest lock file that is read, bytes: many runs, a line each.
const LOCK_BYTES_MAX: u64 = 1 << 20;
const JOB_BYTES_MAX: u64 = 16 << 20;
/// Largest saved copy of a group that is read, bytes.
const TREE_BYTES_MAX: u64 = 256 << 20;
const JOB_VERSION: u32 = 1;

/// A job with its plan: what `plan --out` writes, and what a run leaves to be resumed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedJob {
    /// Version of this form.
    pub version: u32,
    /// What was asked for.
    pub request: CopyRequest,
    /// SHA-256 of the source's metadata documents when it was planned, hex.
    pub source_identity: String,
    /// SHA-256 of the target's metadata documents, hex.
    pub target_identity: String,
    /// The plan.
    pub plan: Plan,
    /// When it was planned: the source must not be written after that.
    #[serde(default = "SystemTime::now")]
    pub planned_at: SystemTime,
    /// The target's metadata documents, by key: which objects of it are chunks.
    #[serde(default)]
    pub target_documents: BTreeMap<String, String>,
    /// The run replaces an array that existed.
    #[serde(default)]
    pub replaces: bool,
    /// Where the source goes in a target that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
}

impl SavedJob {
    /// A job to be saved.
    pub fn new(
        request: CopyRequest,
        source_identity: String,
        target_identity: String,
        plan: Plan,
        planned_at: SystemTime,
        target_documents: BTreeMap<String, String>,
    ) -> Self {
        Self {
            version: JOB_VERSION,
            request,
            source_identity,
            target_identity,
            plan,
            planned_at,
            target_documents,
            replaces: false,
            growth: None,
        }
    }

    /// The same job, which puts its source into what is there.
    pub(crate) fn growing(self, growth: Option<Growth>) -> Self {
        Self { growth, ..self }
    }

    /// Its JSON form.
    pub fn to_json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec_pretty(self)
            .map_err(|error| Error::State { path: JOB_KEY.to_owned(), reason: error.to_string() })
    }

    /// Reads the JSON form; `path` is for messages.
    pub fn from_json(path: &str, bytes: &[u8]) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Usage {
            message: format!("{path} is not a saved plan: {reason}"),
            hint: Some("make one with `rechunk plan SOURCE TARGET --chunks … --out FILE`".into()),
        };
        let job: Self = serde_json::from_slice(bytes).map_err(|error| wrong(error.to_string()))?;
        if job.version != JOB_VERSION || job.plan.version != rechunk_plan::PLAN_VERSION {
            return Err(wrong(format!("its version {} is not known", job.version)));
        }
        job.plan.check().map_err(wrong)?;
        Ok(job)
    }

    /// What differs between this job and another, in words; `None` if they are the same job.
    pub fn difference(&self, other: &Self) -> Option<String> {
        if self.request.source != other.request.source {
            return Some(format!("its source is {}", self.request.source));
        }
        if self.request.select != other.request.select {
            let of = |job: &Self| job.request.select.clone().unwrap_or_else(|| "all".to_owned());
            return Some(format!("it copies the region {}, not {}", of(self), of(other)));
        }
        if self.growth != other.growth {
            let of = |job: &Self| {
                let growth = job.growth.as_ref();
                growth.map_or_else(|| "writes a new array".to_owned(), |to| to.summary.clone())
            };
            return Some(format!("it {}, this one {}", of(self), of(other)));
        }
        if self.source_identity != other.source_identity {
            return Some("the metadata of the source has changed".to_owned());
        }
        if self.target_identity != other.target_identity {
            return Some(format!(
                "its target is another array (chunks {:?})",
                self.plan.target_chunk
            ));
        }
        let (mine, theirs) = (&self.request.planning, &other.request.planning);
        if theirs.strategy != rechunk_plan::Strategy::Auto && self.plan.kind != theirs.strategy {
            return Some(format!("its plan is {}", self.plan.kind));
        }
        if mine.intermediate_grid != theirs.intermediate_grid {
            return Some("its intermediate grid differs".to_owned());
        }
        None
    }
}

/// What an earlier run has left beside its target.
#[derive(Debug)]
pub(crate) enum Left {
    /// Nothing, or not enough to have written anything.
    Nothing,
    /// A job to go on with.
    Unfinished(SavedJob),
    /// Leftovers of a job that is done, and the job if it still says which.
    Done(Option<SavedJob>),
}

/// The state of one target.
#[derive(Debug, Clone)]
pub(crate) struct WorkDir {
    pub store: Store,
    /// Its path as it follows from the target's.
    location: String,
}

impl WorkDir {
    /// The work directory of a target; nothing is created.
    pub(crate) fn of(target: &str, stores: &Stores) -> Result<Self, Error> {
        let location = format!("{}.rechunk", target.trim_end_matches('/'));
        let store = stores.open(&location);
        let store = store.map_err(|source| store_error("open", &location, source))?;
        Ok(Self { store: store.with_role(Role::Control), location })
    }

    /// Where the intermediate goes if nothing else was said.
    pub(crate) fn intermediate(&self) -> Result<Store, Error> {
        self.child("intermediate")
    }

    /// Where a replacing array is built.
    pub(crate) fn staging(&self) -> Result<Store, Error> {
        self.child("target")
    }

    /// Where a replaced array is put aside.
    pub(crate) fn replaced(&self) -> Result<Store, Error> {
        self.child("replaced")
    }

    /// Where a compressed source is unpacked.
    pub(crate) fn unpacked(&self) -> Result<Store, Error> {
        self.child("source")
    }

    /// `store` in the same bucket, with its uploads under way noted down here.
    pub(crate) fn noting_uploads(&self, store: &Store) -> Result<Store, Error> {
        Ok(store.with_upload_records(&self.child(UPLOADS)?))
    }

    /// Gives up what a run that has ended was uploading. What it was of is written again.
    pub(crate) async fn abort_uploads(&self) -> Result<(), Error> {
        let failed = |source| store_error("give up uploads to", self.store.label(), source);
        self.child(UPLOADS)?.abort_uploads().await.map_err(failed).map(drop)
    }

    fn child(&self, name: &str) -> Result<Store, Error> {
        self.store.child(name).map_err(|source| store_error("open", name, source))
    }

    /// What an earlier run has left. Refuses a place that is not ours: it is removed at the end.
    pub(crate) async fn left(&self) -> Result<Left, Error> {
        let failed = |source| store_error("look at", self.store.label(), source);
        self.check_ours().await?;
        if self.store.exists(TREE_KEY).await.map_err(failed)? {
            return Err(self.conflict("holds an interrupted run of the copy of a whole group"));
        }
        if let Some(Ok(job)) = self.job(DONE_KEY).await? {
            return Ok(Left::Done(Some(job)));
        }
        match self.job(JOB_KEY).await? {
            Some(Ok(job)) => return Ok(Left::Unfinished(job)),
            // A power cut can tear what was not durable yet. The journal is begun after the job
            // is durable: without one, nothing has been written.
            Some(Err(error)) if self.has_journal().await? => return Err(error),
            Some(Err(_)) | None => {}
        }
        // The directory goes last, so an empty one may be the end of a run; or the beginning.
        let is_over = self.is_emptied().await? || self.is_only_late().await?;
        Ok(if is_over { Left::Done(None) } else { Left::Nothing })
    }

    /// True if there is what a run may still have sent when another one had taken over its target,
    /// completed it and removed all else, and nothing besides.
    async fn is_only_late(&self) -> Result<bool, Error> {
        if self.store.local_root().is_some() {
            return Ok(false); // a lock of the system is not taken over
        }
        let failed = |source| store_error("look at", self.store.label(), source);
        let listed = self.store.list_first("", LATE_MAX).await.map_err(failed)?;
        let are_late = listed.iter().all(|(key, _)| is_late(key));
        Ok(!listed.is_empty() && listed.len() < LATE_MAX && are_late)
    }

    /// True if the directory is there with nothing in it.
    pub(crate) async fn is_emptied(&self) -> Result<bool, Error> {
        let failed = |source| store_error("look at", self.store.label(), source);
        let exists = self.store.exists_anything().await.map_err(failed)?;
        Ok(exists && self.store.is_empty().await.map_err(failed)?)
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
        self.put(TREE_KEY, bytes).await
    }

    fn conflict(&self, reason: &str) -> Error {
        Error::Conflict {
            location: self.location.clone(),
            reason: reason.to_owned(),
            hint: Some(
                "resume that with the same arguments, or remove this directory and what it has \
                 begun"
                    .to_owned(),
            ),
        }
    }

    /// Refuses a link to somewhere, and a directory in which somebody has put something.
    async fn check_ours(&self) -> Result<(), Error> {
        let conflict = |reason: String| Error::Conflict {
            location: self.location.clone(),
            reason,
            hint: Some("the state of the run goes there: move it away".to_owned()),
        };
        let link = std::path::Path::new(&self.location).symlink_metadata();
        if self.store.local_root().is_some() && link.is_ok_and(|found| found.is_symlink()) {
            return Err(conflict("is a symbolic link".to_owned()));
        }
        let failed = |source| store_error("look at", self.store.label(), source);
        if !self.store.exists_anything().await.map_err(failed)? {
            return Ok(());
        }
        for key in KEYS {
            // What cannot be looked at is there.
            if self.store.exists(key).await.unwrap_or(true) {
                return Ok(());
            }
        }
        if self.store.is_empty().await.map_err(failed)? || self.is_only_late().await? {
            return Ok(());
        }
        Err(conflict("holds what no run has written".to_owned()))
    }

    /// The job at a key, if there is one; an error inside if it cannot be understood.
    async fn job(&self, key: &str) -> Result<Option<Result<SavedJob, Error>>, Error> {
        let found = self.store.get(key, JOB_BYTES_MAX).await;
        let found = found.map_err(|source| store_error("read", self.store.label(), source))?;
        Ok(found.map(|bytes| SavedJob::from_json(key, &bytes)))
    }

    /// Says that the target is complete.
    pub(crate) async fn set_done(&self, job: &SavedJob) -> Result<(), Error> {
        self.put(DONE_KEY, job.to_json()?).await
    }

    /// True if a run has begun a journal.
    pub(crate) async fn has_journal(&self) -> Result<bool, Error> {
        Journal::exists(&self.store).await.map_err(|error| self.journal_error(error))
    }

    /// An error of the journal.
    pub(crate) fn journal_error(&self, error: JournalError) -> Error {
        match error {
            JournalError::Store(source) => store_error("use", "the journal", source),
            other => {
                Error::State { path: self.store.label().to_owned(), reason: other.to_string() }
            }
        }
    }

    /// Takes the target for this process, which creates the work directory if there is none.
    pub(crate) async fn lock(&self, target: &str) -> Result<WriterLock, Error> {
        let failed = |source| store_error("lock", self.store.label(), source);
        if self.store.local_root().is_none() {
            return match Lease::take(&self.store, LOCK_KEY).await.map_err(failed)? {
                Taken::Ours(lease) => Ok(WriterLock::Lease(lease)),
                Taken::Held(holder, seconds) => {
                    Err(held(target, holder.map(|holder| (*holder, Some(seconds)))))
                }
            };
        }
        // A process that was just killed still has it until the system has cleaned up after it.
        for _ in 0..LOCK_TRIES {
            // Another one may have ended, and removed it, since it was opened.
            let mut file = AppendFile::open(&self.store, LOCK_KEY).await.map_err(failed)?;
            if file.try_lock().await.map_err(failed)? {
                // For whoever is refused; nothing depends on it.
                let line = [&Holder::this().bytes()[..], b"\n"].concat();
                file.append(&line).await.map_err(failed)?;
                return Ok(WriterLock::File { _file: Box::new(file) });
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        Err(held(target, self.last_holder().await.map(|holder| (holder, None))))
    }

    /// Who has last locked the file, if it can be read.
    async fn last_holder(&self) -> Option<Holder> {
        let text = self.store.get(LOCK_KEY, LOCK_BYTES_MAX).await.ok()??;
        text.split(|&byte| byte == b'\n').rev().find(|line| !line.is_empty()).and_then(Holder::of)
    }

    /// Who writes the target now, and how many seconds ago he was heard of where that is known.
    pub(crate) async fn writer(&self) -> Result<Option<(Holder, Option<u64>)>, Error> {
        let failed = |source| store_error("look at", self.store.label(), source);
        if self.store.local_root().is_none() {
            let found = lease_holder(&self.store, LOCK_KEY).await.map_err(failed)?;
            return Ok(found
                .filter(|(holder, seconds)| holder.is_live(*seconds))
                .map(|(holder, seconds)| (holder, Some(seconds))));
        }
        if !self.store.exists(LOCK_KEY).await.map_err(failed)? {
            return Ok(None);
        }
        let file = AppendFile::open(&self.store, LOCK_KEY).await.map_err(failed)?;
        if file.try_lock().await.map_err(failed)? {
            return Ok(None);
        }
        Ok(Some((self.last_holder().await.unwrap_or_else(Holder::this), None)))
    }

    /// Writes the job; the run starts with it.
    pub(crate) async fn save_job(&self, job: &SavedJob) -> Result<(), Error> {
        self.put(JOB_KEY, job.to_json()?).await
    }

    /// Writes a small document of ours.
    pub(crate) async fn put(&self, key: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let put = self.store.put_durable(key, bytes).await;
        put.map_err(|source| store_error("write", self.store.label(), source))
    }

    /// Removes everything; what says that the target is complete goes last.
    pub(crate) async fn remove(&self) -> Result<(), Error> {
        self.remove_but(&[]).await?;
        let failed = |source| store_error("remove", self.store.label(), source);
        self.store.delete_prefix("").await.map_err(failed)
    }

    /// Removes what an earlier run has left, but not what says that this one writes, nor that
    /// chunks at the target are of an unfinished job: the next one takes the place of that.
    pub(crate) async fn clear(&self, left: &Left) -> Result<(), Error> {
        match left {
            Left::Nothing => Ok(()),
            Left::Unfinished(_) => self.remove_but(&[LOCK_KEY, JOB_KEY]).await,
            Left::Done(_) => self.remove_but(&[LOCK_KEY]).await,
        }
    }

    /// Takes back what [`WorkDir::lock`] has made, if nothing else is there.
    pub(crate) async fn unlock(&self, lock: WriterLock) -> Result<(), Error> {
        let failed = |source| store_error("unlock", self.store.label(), source);
        match lock {
            WriterLock::Lease(lease) => lease.release().await.map_err(failed),
            WriterLock::File { _file } => {
                // While it is locked, so that nobody else takes the file for his.
                for key in KEYS.into_iter().filter(|key| *key != LOCK_KEY) {
                    if self.store.exists(key).await.map_err(failed)? {
                        return Ok(());
                    }
                }
                self.store.delete(LOCK_KEY).await.map_err(failed)?;
                if self.store.is_empty().await.map_err(failed)? {
                    self.store.delete_prefix("").await.map_err(failed)?;
                }
                Ok(())
            }
        }
    }

    /// Removes the journal of a run of which nothing is to be gone on with.
    pub(crate) async fn forget(&self) -> Result<(), Error> {
        Journal::remove(&self.store).await.map_err(|error| self.journal_error(error))
    }

    /// Removes all but what says that the target is complete, and who writes it.
    pub(crate) async fn remove_pieces(&self) -> Result<(), Error> {
        self.remove_but(&[LOCK_KEY, DONE_KEY]).await
    }

    async fn remove_but(&self, kept: &[&str]) -> Result<(), Error> {
        let failed = |source| store_error("remove", self.store.label(), source);
        self.forget().await?;
        self.abort_uploads().await?;
        for place in PLACES {
            self.store.delete_prefix(place).await.map_err(failed)?;
        }
        for key in KEYS.into_iter().filter(|key| !kept.contains(key)) {
            self.store.delete(key).await.map_err(failed)?;
        }
        Ok(())
    }
}

/// The key is that of a part of a journal, of an object of an intermediate, or of a question for the
/// time.
fn is_late(key: &str) -> bool {
    let is_number = |text: &str| text.parse::<u64>().is_ok();
    match key.split('/').collect::<Vec<_>>()[..] {
        [SEGMENTS, number] => is_number(number),
        ["intermediate", stage, number] => {
            stage.strip_prefix("stage").is_some_and(is_number) && is_number(number)
        }
        [key] => key.strip_prefix(LOCK_KEY).is_some_and(|rest| rest.starts_with("-clock-")),
        _ => false,
    }
}

/// The right to write a target, until it is dropped or lost.
#[derive(Debug)]
pub(crate) enum WriterLock {
    /// The system keeps it while this process lives.
    File { _file: Box<AppendFile> },
    /// It has to be kept up.
    Lease(Box<Lease>),
}

impl WriterLock {
    /// Triggered when another run has taken it; never where the system keeps it.
    pub(crate) fn lost(&self) -> CancellationToken {
        match self {
            Self::File { .. } => CancellationToken::new(),
            Self::Lease(lease) => lease.lost().clone(),
        }
    }

    /// An error if another run has taken it: asked before what cannot be undone.
    pub(crate) async fn check(&self, target: &str) -> Result<(), Error> {
        let Self::Lease(lease) = self else { return Ok(()) };
        let is_ours = lease.check().await;
        if is_ours.map_err(|source| store_error("look at the lease of", target, source))? {
            Ok(())
        } else {
            Err(lost(target))
        }
    }
}

/// Another run has taken the target from this one.
pub(crate) fn lost(target: &str) -> Error {
    Error::Conflict {
        location: target.to_owned(),
        reason: "was taken over by another run, because nothing was heard of this one for a while"
            .to_owned(),
        hint: Some("what this run has done is not lost: the other one goes on with it".to_owned()),
    }
}

/// Another run writes the target.
pub(crate) fn held_by(target: &str, holder: (Holder, Option<u64>)) -> Error {
    held(target, Some(holder))
}

/// Another run writes the target: who, if that is known, and how many seconds ago he was heard of.
fn held(target: &str, holder: Option<(Holder, Option<u64>)>) -> Error {
    let who = match holder {
        Some((holder, seconds)) => {
            let heard = seconds.map_or(String::new(), |s| format!(", last heard of {s} s ago"));
            format!("another process ({} on {}{heard})", holder.pid, holder.host)
        }
        None => "another process".to_owned(),
    };
    Error::Conflict {
        location: target.to_owned(),
        reason: format!("is being written by {who}"),
        hint: Some("wait for it, or stop it and run again with --resume".to_owned()),
    }
}

pub(crate) fn store_error(doing: &str, what: &str, source: rechunk_store::StoreError) -> Error {
    Error::Store { doing: format!("{doing} {what}"), source: Box::new(source) }
}
