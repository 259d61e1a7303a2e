//! Grouped commits: one sync makes everything durable that was put before it began.
//!
//! The writer takes all marks that wait, syncs the stores those tasks wrote to, appends the lines
//! and syncs the journal; what finishes meanwhile waits for the next turn. So a mark is never
//! written before a sync that began after its data were put, a slow disk makes groups large
//! instead of many, and nothing waits but the end of a run.

use std::collections::BTreeMap;
use std::sync::Arc;

use rechunk_store::Store;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Duration, Instant, timeout_at};

use super::done::DoneSet;
use super::error::JournalError;
use super::line::{self, Mark};
use super::log::Log;
use crate::{Event, Observer};

/// Time that marks wait for others where each commit is a request; a kill loses marks that wait.
const GATHERING: Duration = Duration::from_secs(2);

/// Message to the writer.
#[derive(Debug)]
enum Message {
    Mark(Mark),
    /// Answered when every mark sent before is durable.
    Flush(oneshot::Sender<()>),
}

/// The end marks are put in at.
#[derive(Debug, Clone)]
pub(crate) struct Marks {
    sender: mpsc::UnboundedSender<Message>,
}

impl Marks {
    /// Hands a mark over. What it stands for has been put.
    pub(crate) fn add(&self, mark: Mark) {
        // A writer that has failed has ended; whoever waits for it learns why.
        let _ = self.sender.send(Message::Mark(mark));
    }

    /// Waits until every mark handed over so far is durable. False if the writer has failed.
    pub(crate) async fn flush(&self) -> bool {
        let (answer, answered) = oneshot::channel();
        self.sender.send(Message::Flush(answer)).is_ok() && answered.await.is_ok()
    }
}

/// The end marks come out at.
pub(crate) struct Writer {
    receiver: mpsc::UnboundedReceiver<Message>,
    log: Log,
    /// Store each stage writes to.
    stores: Vec<Vec<Store>>,
    observer: Arc<dyn Observer>,
}

impl Writer {
    /// A writer for a run whose stage `s` writes to `stores[s]`, and the end to put marks in at.
    pub(crate) fn new(
        log: Log,
        stores: Vec<Vec<Store>>,
        observer: Arc<dyn Observer>,
    ) -> (Self, Marks) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self { receiver, log, stores, observer }, Marks { sender })
    }

    /// Writes marks until nobody can send any more.
    pub(crate) async fn run(mut self) -> Result<(), JournalError> {
        let mut not_before = Instant::now();
        while let Some(first) = self.receiver.recv().await {
            let mut marks = DoneSet::default();
            let mut stages = BTreeMap::new();
            let mut waiting = Vec::new();
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Mark(mark) => {
                        marks.add_mark(mark);
                        *stages.entry(mark.stage).or_insert(0) += 1;
                    }
                    Message::Flush(answer) => waiting.push(answer),
                }
                next = if waiting.is_empty() && self.log.is_dear() {
                    timeout_at(not_before, self.receiver.recv()).await.unwrap_or_default()
                } else {
                    self.receiver.try_recv().ok()
                };
            }
            not_before = Instant::now() + GATHERING;
            self.commit(&marks, &stages).await?;
            for answer in waiting {
                let _ = answer.send(()); // whoever asked may have gone away
            }
        }
        Ok(())
    }

    async fn commit(
        &mut self,
        marks: &DoneSet,
        stages: &BTreeMap<usize, u64>,
    ) -> Result<(), JournalError> {
        if marks.is_empty() {
            return Ok(());
        }
        let of_stages = stages.keys().filter_map(|&stage| self.stores.get(stage));
        let stores: Vec<&Store> = of_stages.flatten().collect();
        for store in stores {
            store.sync().await?;
        }
        let mut text = String::new();
        for mark in marks.marks() {
            text.push_str(&line::encode(&mark)?);
        }
        self.log.append(&text).await?;
        self.log.sync().await?;
        let marks = stages.values().sum();
        self.observer.event(&Event::JournalSynced { marks });
        Ok(())
    }
}
