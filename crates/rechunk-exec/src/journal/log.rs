//! Where the lines of a journal go: to a file that grows, or, where there is none, to objects.
//!
//! Objects are numbered from 0 and never written anew: each holds the lines of one commit, behind
//! one that says who wrote it. A number that another writer has used means that this one is no
//! longer alone, and must stop. They are read by number until one is missing, so that a listing
//! that is late leaves nothing out.

use std::collections::BTreeSet;

use bytes::Bytes;
use futures::FutureExt;
use futures::stream::{self, StreamExt, TryStreamExt};
use rechunk_store::{AppendFile, Store};
use serde::{Deserialize, Serialize};

use super::error::JournalError;
use super::line;

/// Key of the journal in the job's work directory.
pub const JOURNAL_KEY: &str = "journal";

/// Name of the folder of a journal's segments, where no files can grow.
pub const SEGMENTS: &str = "segments";

/// Segments asked for at once at first. Most journals have fewer.
const READ_FIRST: u64 = 4;
/// Most segments asked for at once; of those that are read, twice as many each time up to that.
const READ_AT_ONCE: u64 = 16;
/// Segments listed beside those that follow each other, which are hardly ever any.
const LISTED_MAX: usize = 1000;
/// Largest segment, bytes: more lines go to several.
const SEGMENT_BYTES_MAX: usize = 1 << 20;
/// Most segments of a journal: a store that has each number that is asked for has no journal.
const SEGMENTS_MAX: u64 = 1 << 24;

/// First line of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SegmentHead {
    segment: u64,
    /// Name of its writer, unlike all others.
    writer: String,
}

/// The end of a journal that lines are added to.
#[derive(Debug)]
pub(crate) enum Log {
    /// A file.
    File(AppendFile),
    /// Objects.
    Segments(Segments),
}

/// Numbered objects.
#[derive(Debug)]
pub(crate) struct Segments {
    store: Store,
    next: u64,
    writer: String,
}

/// True if a journal in `store` is one of segments.
pub(crate) fn is_segmented(store: &Store) -> bool {
    store.local_root().is_none()
}

impl Log {
    /// Adds whole lines.
    pub(crate) async fn append(&mut self, lines: &str) -> Result<(), JournalError> {
        match self {
            Self::File(file) => Ok(file.append(lines.as_bytes()).await?),
            Self::Segments(segments) => segments.append(lines).await,
        }
    }

    /// Makes all that was added durable.
    pub(crate) async fn sync(&self) -> Result<(), JournalError> {
        match self {
            Self::File(file) => Ok(file.sync_data().await?),
            Self::Segments(_) => Ok(()), // a store that has answered has it
        }
    }

    /// Each addition is a request that takes its time, and costs.
    pub(crate) fn is_dear(&self) -> bool {
        matches!(self, Self::Segments(_))
    }
}

impl Segments {
    /// To go on after `next` segments.
    pub(crate) fn new(store: &Store, next: u64, writer: &str) -> Self {
        Self { store: store.clone(), next, writer: writer.to_owned() }
    }

    /// Adds lines in as many segments as they take; an empty one if there are none.
    async fn append(&mut self, lines: &str) -> Result<(), JournalError> {
        let mut text = self.head()?;
        for line in lines.split_inclusive('\n') {
            if text.len() + line.len() > SEGMENT_BYTES_MAX {
                self.create(std::mem::take(&mut text)).await?;
                text = self.head()?;
            }
            text.push_str(line);
        }
        self.create(text).await
    }

    /// First line of the next one.
    fn head(&self) -> Result<String, JournalError> {
        let head = SegmentHead { segment: self.next, writer: self.writer.clone() };
        Ok(line::encode(&head)?)
    }

    async fn create(&mut self, text: String) -> Result<(), JournalError> {
        let created = self.store.create(&key(self.next), Bytes::from(text)).await?;
        if created.is_none() {
            return Err(JournalError::Fenced { location: self.store.label().to_owned() });
        }
        self.next += 1;
        Ok(())
    }

    /// True if there is a first one.
    pub(crate) async fn exist(store: &Store) -> Result<bool, JournalError> {
        Ok(store.exists(&key(0)).await?)
    }

    /// Removes them by their numbers: a listing that is late would leave the last ones. The first
    /// goes first, so that what is left of a removal that was cut off is no journal.
    pub(crate) async fn remove(store: &Store) -> Result<(), JournalError> {
        let first = key(0);
        // Listed are those that a removal that was cut off has left.
        let (removed, count, listed) = futures::join!(
            store.delete(&first).boxed(),
            Self::count_from(store, 1).boxed(),
            store.list_first(SEGMENTS, LISTED_MAX).boxed()
        );
        removed?;
        let (count, listed) = (count?, listed?);
        let is_all = listed.len() < LISTED_MAX;
        let mut others: BTreeSet<String> = listed.into_iter().map(|(found, _)| found).collect();
        others.extend((1..count).map(key));
        others.remove(&first);
        store.delete_keys(others).await?;
        if is_all { Ok(()) } else { Ok(store.delete_prefix(SEGMENTS).await?) }
    }

    /// The number behind the last of those that follow each other from `count` on.
    async fn count_from(store: &Store, mut count: u64) -> Result<u64, JournalError> {
        while count < SEGMENTS_MAX {
            let numbers = count..count + READ_AT_ONCE;
            let found: Vec<bool> = stream::iter(numbers)
                .map(|number| async move { store.exists(&key(number)).await })
                .buffered(usize::try_from(READ_AT_ONCE).unwrap_or(1))
                .try_collect()
                .await?;
            let there = found.iter().take_while(|&&is_there| is_there).count();
            count += rechunk_kernel::wide(there);
            if there < found.len() {
                break;
            }
        }
        Ok(count)
    }

    /// Shows all segments to `take`, in order; how many there are.
    pub(crate) async fn read(
        store: &Store,
        mut take: impl FnMut(&[u8]) -> Result<(), JournalError>,
    ) -> Result<u64, JournalError> {
        let limit_bytes = rechunk_kernel::wide(SEGMENT_BYTES_MAX);
        let (mut count, mut at_once) = (0, READ_FIRST);
        while count < SEGMENTS_MAX {
            let some: Vec<Option<Bytes>> = stream::iter(count..count + at_once)
                .map(|number| async move { store.get(&key(number), limit_bytes).await })
                .buffered(usize::try_from(at_once).unwrap_or(1))
                .try_collect()
                .await?;
            at_once = READ_AT_ONCE.min(2 * at_once);
            for segment in some {
                let Some(segment) = segment else { return Ok(count) };
                take(&segment)?;
                count += 1;
            }
        }
        Err(JournalError::Damaged { location: store.label().to_owned() })
    }
}

/// Key of a segment.
fn key(number: u64) -> String {
    format!("{SEGMENTS}/{number:08}")
}

/// The lines of a segment behind the first, which says who wrote it. If that is damaged they count
/// all the same.
pub(crate) fn lines(segment: &[u8]) -> &[u8] {
    let Some(end) = segment.iter().position(|&byte| byte == b'\n') else { return &[] };
    &segment[end + 1..]
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn written(segments: u64) -> Store {
        let store = Store::open("memory:").unwrap();
        let mut log = Segments::new(&store, 0, "somebody");
        for _ in 0..segments {
            log.append("a line\n").await.unwrap();
        }
        store
    }

    #[tokio::test]
    async fn a_journal_is_removed_by_its_numbers() {
        for segments in [0, 1, 15, 16, 17, 40] {
            let store = written(segments).await;
            Segments::remove(&store).await.unwrap();
            assert!(store.is_empty().await.unwrap(), "{segments} segments");
        }
    }

    #[tokio::test]
    async fn segments_are_read_to_the_first_that_is_missing() {
        for segments in [0, 1, 3, 4, 5, 11, 12, 13, 27, 28, 29, 60] {
            let (store, mut found) = (written(segments).await, 0);
            let count = Segments::read(&store, |_| {
                found += 1;
                Ok(())
            });
            assert_eq!((count.await.unwrap(), found), (segments, segments));
        }
    }

    #[tokio::test]
    async fn many_lines_go_to_several_segments() {
        let store = Store::open("memory:").unwrap();
        let mut log = Segments::new(&store, 0, "somebody");
        let line = "x".repeat(99) + "\n";
        let count = 3 * SEGMENT_BYTES_MAX / line.len();
        log.append(&line.repeat(count)).await.unwrap();
        log.append("").await.unwrap();
        let (mut found, mut largest) = (0, 0);
        let segments = Segments::read(&store, |segment| {
            found += lines(segment).len();
            largest = largest.max(segment.len());
            Ok(())
        });
        assert_eq!((segments.await.unwrap(), log.next), (5, 5));
        assert_eq!(found, count * line.len());
        assert!(largest <= SEGMENT_BYTES_MAX);
    }

    #[tokio::test]
    async fn what_is_left_of_a_removal_that_was_cut_off_is_no_journal() {
        let store = written(5).await;
        store.delete(&key(0)).await.unwrap();
        assert!(!Segments::exist(&store).await.unwrap());
        assert_eq!(Segments::read(&store, |_| Ok(())).await.unwrap(), 0);
        crate::Journal::remove(&store).await.unwrap();
        assert!(store.is_empty().await.unwrap());
    }
}
