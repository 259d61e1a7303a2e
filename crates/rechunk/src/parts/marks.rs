//! Traces of parts beside the target: in `parts/NAME/`, where NAME is that of the parts.
//!
//! - `open`: the parts are open. It goes when they are closed or given up.
//! - `done/STAGE-START-END`: the tasks of that range are done; lines of a journal. Names alone say
//!   how far all of it has come.
//! - `busy/STAGE-START-END-WRITER/`: the journal of a part that is doing that range, or was killed;
//!   and `worker`, a note of who it is.

use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_exec::{DoneSet, Journal, JournalContents, JournalHeader, TaskRange};
use rechunk_store::Store;

use crate::Error;
use crate::error::store_error;
use crate::part_hold::PartHold;
use crate::work_dir::{OPEN, PARTS, WorkDir};
use crate::writer_lock::WriterLock;

const DONE: &str = "done";
const BUSY: &str = "busy";
/// Largest mark of a share that is read, bytes.
const MARK_BYTES_MAX: u64 = 64 << 20;
/// Marks, or journals, read at once.
const READ_AT_ONCE: usize = 16;

/// The directory of the parts of a job.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    store: Store,
}

/// The journal of a part that has not put its mark.
#[derive(Debug, Clone)]
pub(crate) struct Busy {
    /// Its share.
    pub tasks: TaskRange,
    /// Its place.
    pub store: Store,
}

impl Marks {
    /// The directory of the parts `name` of the job in `work`.
    pub(crate) fn of(work: &WorkDir, name: &str) -> Result<Self, Error> {
        let store = work.store.child(&format!("{PARTS}/{name}"));
        let store = store.map_err(|source| store_error("open", work.location(), source))?;
        Ok(Self { store })
    }

    /// Says that the parts are open.
    pub(crate) async fn open(&self) -> Result<(), Error> {
        self.store
            .put_durable(OPEN, Vec::new())
            .await
            .map_err(|source| self.failed("write", source))
    }

    /// True if the parts are open.
    pub(crate) async fn are_open(&self) -> Result<bool, Error> {
        self.store.exists(OPEN).await.map_err(|source| self.failed("look at", source))
    }

    /// The right to work while the parts are open.
    pub(crate) fn hold(&self) -> WriterLock {
        WriterLock::Part(Box::new(PartHold::of(&self.store, OPEN)))
    }

    /// Reads how far all parts have come, from the names of their marks.
    pub(crate) async fn done(&self) -> Result<DoneSet, Error> {
        Ok(done_of(&self.shares().await?))
    }

    /// Reads the shares that are done, from the names of their marks.
    pub(crate) async fn shares(&self) -> Result<Vec<TaskRange>, Error> {
        let listed = self.store.list_first(DONE, usize::MAX).await;
        let listed = listed.map_err(|source| self.failed("list", source))?;
        let name = |key: &str| key.rsplit('/').next().and_then(tasks_in);
        Ok(listed.iter().filter_map(|(key, _)| name(key)).collect())
    }

    /// Reads all marks with their digests. One that is damaged is removed: what it says is done
    /// again.
    pub(crate) async fn read(&self, header: &JournalHeader) -> Result<DoneSet, Error> {
        let marks: Vec<DoneSet> = stream::iter(self.shares().await?)
            .map(|tasks| self.read_one(tasks, header))
            .buffered(READ_AT_ONCE)
            .try_collect()
            .await?;
        let mut done = DoneSet::default();
        for mark in &marks {
            done.join(mark);
        }
        Ok(done)
    }

    async fn read_one(&self, tasks: TaskRange, header: &JournalHeader) -> Result<DoneSet, Error> {
        let key = done_key(&tasks);
        let failed = |source| self.failed("read", source);
        let Some(text) = self.store.get(&key, MARK_BYTES_MAX).await.map_err(failed)? else {
            return Ok(DoneSet::default());
        };
        if let Ok(contents) = JournalContents::of_text(&text, header, self.store.label())
            && contents.damaged_bytes == 0
            && contents.header.fingerprint == header.fingerprint
        {
            return Ok(contents.done.within(&tasks));
        }
        tracing::warn!(location = self.store.label(), key, "the mark of a part is damaged");
        self.store.delete(&key).await.map_err(failed)?;
        Ok(DoneSet::default())
    }

    /// Says, durably, that the tasks of a share are done.
    pub(crate) async fn put(&self, tasks: &TaskRange, text: String) -> Result<(), Error> {
        // Another part may put the same one at this moment.
        let put = async {
            self.store.put(&done_key(tasks), vec![text.into()]).await?;
            self.store.sync().await
        };
        put.await.map_err(|source| self.failed("write", source))
    }

    /// The journals of parts that do some of `tasks`, or were killed.
    pub(crate) async fn busy_with(&self, tasks: &TaskRange) -> Result<Vec<Busy>, Error> {
        let meets = |busy: &Busy| {
            let other = busy.tasks;
            other.stage == tasks.stage && other.start < tasks.end && tasks.start < other.end
        };
        Ok(self.busy().await?.into_iter().filter(meets).collect())
    }

    /// The journals of all parts that have not put their marks.
    pub(crate) async fn busy(&self) -> Result<Vec<Busy>, Error> {
        let names = self.store.list_directories(BUSY).await;
        let names = names.map_err(|source| self.failed("list", source))?;
        let mut busy = Vec::new();
        for name in names {
            let Some(tasks) = name.rsplit_once('-').and_then(|(tasks, _)| tasks_in(tasks)) else {
                continue;
            };
            busy.push(Busy { tasks, store: self.busy_place(&name)? });
        }
        Ok(busy)
    }

    /// The place of a journal of `writer`, a part that does `tasks`.
    pub(crate) fn begin(&self, tasks: &TaskRange, writer: &str) -> Result<Busy, Error> {
        let store = self.busy_place(&format!("{}-{writer}", name(tasks)))?;
        Ok(Busy { tasks: *tasks, store })
    }

    fn busy_place(&self, name: &str) -> Result<Store, Error> {
        let store = self.store.child(&format!("{BUSY}/{name}"));
        store.map_err(|source| self.failed("open", source))
    }

    fn failed(&self, verb: &'static str, source: rechunk_store::StoreError) -> Error {
        store_error(verb, self.store.label(), source)
    }
}

impl Busy {
    /// Reads what its journal says is done; nothing if it has not begun, or cannot be understood.
    pub(crate) async fn done(&self, header: &JournalHeader) -> DoneSet {
        match Journal::read_known(&self.store, header).await {
            Ok(contents) if contents.header.fingerprint == header.fingerprint => {
                contents.done.within(&self.tasks)
            }
            Ok(_) | Err(_) => DoneSet::default(),
        }
    }

    /// Removes all of it.
    pub(crate) async fn remove(&self) -> Result<(), Error> {
        let removed = async {
            Journal::remove(&self.store).await.ok();
            self.store.delete_prefix("").await
        };
        removed.await.map_err(|source| store_error("remove", self.store.label(), source))
    }
}

/// The tasks of shares that are done.
pub(crate) fn done_of(shares: &[TaskRange]) -> DoneSet {
    let mut done = DoneSet::default();
    for tasks in shares {
        done.add_range(tasks.stage, tasks.start, tasks.end);
    }
    done
}

fn done_key(tasks: &TaskRange) -> String {
    format!("{DONE}/{}", name(tasks))
}

fn name(tasks: &TaskRange) -> String {
    format!("{}-{}-{}", tasks.stage, tasks.start, tasks.end)
}

/// The tasks that a name says; `None` if it is none.
fn tasks_in(name: &str) -> Option<TaskRange> {
    let mut numbers = name.split('-');
    let stage = numbers.next()?.parse().ok()?;
    let (start, end) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    (numbers.next().is_none() && start < end).then(|| TaskRange::new(stage, start..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_tasks_and_other_names_say_none() {
        let tasks = TaskRange::new(1, 10..2_000_000);
        assert_eq!(tasks_in(&name(&tasks)), Some(tasks));
        for other in ["", "1", "1-2", "1-2-2", "1-3-2", "1-2-3-4", "a-2-3", "1-2-x", "1--2"] {
            assert_eq!(tasks_in(other), None, "{other}");
        }
    }
}
