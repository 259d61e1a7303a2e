//! Begins, opens, reads and removes journals.

use rechunk_store::{AppendFile, Store};

use super::contents::JournalContents;
use super::done::DoneSet;
use super::error::JournalError;
use super::line::{self, JournalHeader, Mark};
use super::log::{JOURNAL_KEY, Log, Segments, is_segmented};
use super::reader;
use crate::task_range::TaskRange;

/// Most attempts at opening a journal whose next number another writer takes first. A writer that
/// does so again and again is not late, it lives.
const CLAIMS: u32 = 8;

/// A journal that can be added to.
#[derive(Debug)]
pub struct Journal {
    log: Log,
    /// Its first line.
    header: JournalHeader,
    /// Tasks and steps that were done when it was opened.
    done: DoneSet,
}

impl Journal {
    /// True if there is one in the work directory `store`.
    pub async fn exists(store: &Store) -> Result<bool, JournalError> {
        if is_segmented(store) {
            return Segments::exist(store).await;
        }
        Ok(store.exists(JOURNAL_KEY).await?)
    }

    /// Begins a journal in the work directory `store`, durably, in place of any that is there. On a
    /// store without files there must be none, but for that of this run, if it ended before it was
    /// told that it had begun its journal. `writer` is unlike the name of any other run.
    pub async fn create(
        store: &Store,
        header: JournalHeader,
        writer: &str,
    ) -> Result<Self, JournalError> {
        if is_segmented(store) {
            let mut log = Log::Segments(Segments::new(store, 0, writer));
            return match log.append(&line::encode(&header)?).await {
                Ok(()) => Ok(Self { log, header, done: DoneSet::default() }),
                Err(JournalError::Fenced { .. })
                    if Self::read(store).await?.header.is_of_run(&header) =>
                {
                    Self::open_segments(store, writer, None).await
                }
                Err(error) => Err(error),
            };
        }
        Self::replace(store, JournalContents::new(header, DoneSet::default())).await
    }

    /// Removes the journal in `store`, if there is one.
    pub async fn remove(store: &Store) -> Result<(), JournalError> {
        if is_segmented(store) {
            return Segments::remove(store).await;
        }
        Ok(store.delete(JOURNAL_KEY).await?)
    }

    /// Reads the journal in `store` and changes nothing.
    pub async fn read(store: &Store) -> Result<JournalContents, JournalError> {
        reader::read(store, None).await.map(|(contents, _)| contents)
    }

    /// [`Journal::read`], where it is known what the first line says, should that be damaged.
    pub async fn read_known(
        store: &Store,
        known: &JournalHeader,
    ) -> Result<JournalContents, JournalError> {
        reader::read(store, Some(known)).await.map(|(contents, _)| contents)
    }

    /// Opens the journal in `store` to go on with it. A file with damaged lines, or a torn end, is
    /// written anew without them, so that what is added later begins a line. A journal of segments
    /// gets an empty one in the name of `writer`: whatever an earlier writer still sends comes too
    /// late for its number, and cannot take one from this one.
    pub async fn open(store: &Store, writer: &str) -> Result<Self, JournalError> {
        Self::open_as(store, writer, None).await
    }

    /// [`Journal::open`], where it is known what the first line says, should that be damaged.
    pub async fn open_known(
        store: &Store,
        writer: &str,
        known: &JournalHeader,
    ) -> Result<Self, JournalError> {
        Self::open_as(store, writer, Some(known)).await
    }

    async fn open_as(
        store: &Store,
        writer: &str,
        known: Option<&JournalHeader>,
    ) -> Result<Self, JournalError> {
        if is_segmented(store) {
            return Self::open_segments(store, writer, known).await;
        }
        let (contents, _) = reader::read(store, known).await?;
        if contents.damaged_bytes > 0 {
            return Self::replace(store, contents).await;
        }
        let log = Log::File(AppendFile::open(store, JOURNAL_KEY).await?);
        Ok(Self { log, header: contents.header, done: contents.done })
    }

    async fn open_segments(
        store: &Store,
        writer: &str,
        known: Option<&JournalHeader>,
    ) -> Result<Self, JournalError> {
        for _ in 0..CLAIMS {
            let (contents, next) = reader::read(store, known).await?;
            let mut log = Log::Segments(Segments::new(store, next, writer));
            match log.append("").await {
                // Something has come since it was read.
                Err(JournalError::Fenced { .. }) => {}
                claimed => {
                    claimed?;
                    return Ok(Self { log, header: contents.header, done: contents.done });
                }
            }
        }
        Err(JournalError::Fenced { location: store.label().to_owned() })
    }

    async fn replace(store: &Store, contents: JournalContents) -> Result<Self, JournalError> {
        let text = contents.text()?;
        let JournalContents { header, done, .. } = contents;
        store.put_durable(JOURNAL_KEY, text.into_bytes()).await?;
        let log = Log::File(AppendFile::open(store, JOURNAL_KEY).await?);
        Ok(Self { log, header, done })
    }

    /// Has the tasks of `stage` and of those after it be done again. What is left is written anew,
    /// in the name of `writer` where there are no files; `known` is what the first line says.
    pub async fn forget_stage(
        store: &Store,
        known: &JournalHeader,
        stage: usize,
        writer: &str,
    ) -> Result<(), JournalError> {
        let (contents, _) = reader::read(store, Some(known)).await?;
        let mut done = DoneSet::default();
        for mark in contents.done.marks().filter(|mark| mark.stage < stage) {
            done.add_mark(mark);
        }
        Self::rewrite(store, JournalContents::new(contents.header, done), writer).await
    }

    /// Writes the journal in `store` anew, durably; in the name of `writer` where there are no
    /// files. A kill meanwhile may leave none there.
    pub async fn rewrite(
        store: &Store,
        contents: JournalContents,
        writer: &str,
    ) -> Result<(), JournalError> {
        if !is_segmented(store) {
            return Self::replace(store, contents).await.map(drop);
        }
        Segments::remove(store).await?;
        let text = contents.text()?;
        Log::Segments(Segments::new(store, 0, writer)).append(&text).await
    }

    /// Returns the journal of a run that takes more for done than it says: what others have marked
    /// elsewhere. Nothing is written.
    #[must_use]
    pub fn knowing(mut self, done: &DoneSet) -> Self {
        self.done.join(done);
        self
    }

    /// Has the tasks of `tasks` be done again, durably: whatever they have written may be replaced
    /// then. All other marks stay.
    pub async fn forget(&mut self, tasks: &TaskRange) -> Result<(), JournalError> {
        self.log.append(&line::encode(&Mark::undone(tasks))?).await?;
        self.log.sync().await?;
        self.done.remove(tasks);
        Ok(())
    }

    /// Its first line.
    pub fn header(&self) -> &JournalHeader {
        &self.header
    }

    /// Returns the tasks and steps that were done when it was opened.
    pub fn done(&self) -> &DoneSet {
        &self.done
    }

    pub(crate) fn into_parts(self) -> (Log, DoneSet) {
        (self.log, self.done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn mark(journal: &mut Journal, tasks: &TaskRange) {
        let line = line::encode(&Mark::tasks(tasks.stage, tasks.start, tasks.end)).unwrap();
        journal.log.append(&line).await.unwrap();
    }

    /// Of a file, and of segments.
    #[tokio::test]
    async fn a_task_that_is_forgotten_is_done_again_and_no_other() {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().to_str().unwrap();
        let [all, some] = [TaskRange::new(0, 0..9), TaskRange::new(1, 4..8)];
        let task = TaskRange::new(1, 5..6);
        let left = |done: &DoneSet| [done.left_in(&all), done.left_in(&some)].concat();
        for store in [folder, "memory:"].map(|location| Store::open(location).unwrap()) {
            let header = JournalHeader::new("ab", serde_json::Value::Null);
            let mut journal = Journal::create(&store, header.clone(), "a").await.unwrap();
            mark(&mut journal, &all).await;
            mark(&mut journal, &some).await;
            drop(journal);
            let mut journal = Journal::open(&store, "b").await.unwrap();
            journal.forget(&task).await.unwrap();
            assert_eq!(left(journal.done()), [task]);
            drop(journal);
            let mut journal = Journal::open(&store, "c").await.unwrap();
            assert_eq!(left(journal.done()), [task]);
            mark(&mut journal, &task).await;
            let read = Journal::read(&store).await.unwrap();
            assert_eq!((left(&read.done), read.damaged_bytes), (vec![], 0));
            assert_eq!(read.header, header);
        }
    }
}
