//! Removes what a run has beside its target, in an order that a kill at any moment leaves readable.

use futures::future::{FutureExt, join_all};
use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_exec::{Journal, SEGMENTS};

use crate::Error;
use crate::error::store_error;
use crate::state_place::{DONE_KEY, JOB_KEY};
use crate::work_dir::{KEYS, LOCK_KEY, Left, OPEN, PARTS, PLACES, UPLOADS, WorkDir};

/// Number of the first keys of a work directory, which say nothing of whose it is. After these come
/// `JOBS` keys that say the task. Where answers take long, those of a kind go at once.
const PLAIN: usize = 2;
const JOBS: usize = 2;

impl WorkDir {
    /// Removes everything; what says that the target is complete goes last. The lock is gone before
    /// that: another run may have taken it again, and the directory with it.
    pub(crate) async fn remove(&self) -> Result<(), Error> {
        let failed = |source| store_error("remove", self.store.label(), source);
        if self.store.local_root().is_none() {
            return self.remove_but(&[]).await;
        }
        self.store.remove_staging().await.map_err(failed)?;
        self.remove_but(&[]).await?;
        self.store.remove_empty().await.map_err(failed)
    }

    /// Removes what has none of our names, while there is a lock: without one it may be another
    /// run's.
    async fn remove_others(&self) -> Result<(), Error> {
        let failed = |source| store_error("remove", self.store.label(), source);
        let ours = [&KEYS[..], &PLACES, &[UPLOADS, SEGMENTS]].concat();
        self.store.delete_all_but(&ours).await.map_err(failed)
    }

    /// Removes everything of a run that has said that its target is complete, and does `more`
    /// before that is forgotten. Where answers take long all at once: what a kill leaves of it says
    /// so still.
    pub(crate) async fn remove_done(
        &self,
        more: impl Future<Output = Result<(), Error>> + Send,
    ) -> Result<(), Error> {
        if !self.store.answers_late() {
            more.await?;
            return self.remove().await;
        }
        let failed = |source| store_error("remove", self.store.label(), source);
        let last = [LOCK_KEY, DONE_KEY];
        // By name what a listing may not have yet, and nothing twice at once: some stores take it
        // for a fault if what they are to delete is not there. Uploads are given up before their
        // notes go.
        let named = KEYS.iter().filter(|key| !last.contains(key));
        let named = named.map(|key| self.delete_but(std::slice::from_ref(key), &[]));
        let others = async {
            more.await?;
            let kept = [&KEYS[..], &[UPLOADS, SEGMENTS]].concat();
            self.store.delete_all_but(&kept).await.map_err(failed)
        };
        let (journal, uploads, others, named) = futures::join!(
            self.forget().boxed(),
            self.abort_uploads().boxed(),
            others.boxed(),
            join_all(named)
        );
        journal.and(uploads).and(others)?;
        named.into_iter().collect::<Result<(), Error>>()?;
        self.delete_but(&last, &[]).await
    }

    /// Removes what an earlier run has left. Keys stay that say that this one writes, or that
    /// chunks at the target are of an unfinished job: the next one takes the place of that.
    pub(crate) async fn clear(&self, left: &Left) -> Result<(), Error> {
        match left {
            Left::Nothing | Left::Done(None) => Ok(()),
            Left::Unfinished(_) | Left::Damaged(_) => self.remove_but(&[LOCK_KEY, JOB_KEY]).await,
            Left::Done(Some(_)) | Left::Late => self.remove_but(&[LOCK_KEY]).await,
        }
    }

    /// Removes what the parts `name` have marked, and all else of parts. That they are open goes
    /// first: a part that sees no marks then sees why.
    pub(crate) async fn remove_parts(&self, name: &str) -> Result<(), Error> {
        let removed = async {
            self.store.delete(&format!("{PARTS}/{name}/{OPEN}")).await?;
            self.store.delete_prefix(PARTS).await
        };
        removed.await.map_err(|source| store_error("remove", self.store.label(), source))
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
        let is_late = self.store.answers_late();
        // In their order on a disk, where a replaced array is put aside; at once where answers take
        // long.
        let at_once = if is_late { PLACES.len() } else { 1 };
        let removed = PLACES.map(|place| self.store.delete_prefix(place));
        let removed = stream::iter(removed).buffered(at_once).try_collect::<()>();
        let others = async {
            let all = kept.is_empty() && self.store.local_root().is_none();
            if all { self.remove_others().await } else { Ok(()) }
        };
        if !is_late {
            self.abort_uploads().await?;
            removed.await.map_err(failed)?;
            others.await?;
            return self.delete_but(&KEYS, kept).await;
        }
        // What says whose the place is, and how far that has come, goes after what does not.
        let (plain, rest) = KEYS.split_at(PLAIN);
        let (jobs, rest) = rest.split_at(JOBS);
        let (aborted, removed, others, plain) = futures::join!(
            self.abort_uploads().boxed(),
            removed,
            others.boxed(),
            join_all(plain.iter().map(|key| self.delete_but(std::slice::from_ref(key), kept)))
        );
        aborted.and(removed.map_err(failed)).and(others)?;
        plain.into_iter().collect::<Result<(), Error>>()?;
        let jobs = jobs.iter().map(|key| self.delete_but(std::slice::from_ref(key), kept));
        join_all(jobs).await.into_iter().collect::<Result<(), Error>>()?;
        self.delete_but(rest, kept).await
    }

    /// Deletes keys one after the other, but those that are kept. (One request for several is no
    /// good here: some stores take it for a fault if one of them is not there.)
    async fn delete_but(&self, keys: &[&str], kept: &[&str]) -> Result<(), Error> {
        for key in keys.iter().filter(|key| !kept.contains(key)) {
            let deleted = self.store.delete(key).await;
            deleted.map_err(|source| store_error("remove", self.store.label(), source))?;
        }
        Ok(())
    }
}
