//! Workers: of a hundred five die, some are stopped, some come late.

use std::time::Duration;

use rechunk_exec::{DoneSet, Journal, JournalContents, TaskRange};
use rechunk_store::unique_name;
use rechunk_testkit::{Dice, SimClient, SimEnd};
use tokio::time::sleep;

use super::bug::Bug;
use super::job::ModelJob;
use super::ledger::Seen;
use crate::Error;
use crate::parts::marks::Busy;

/// Key that says that the parts are open.
const OPEN: &str = "target.zarr.rechunk/parts/parts-of-the-model/open";
/// Time that a share takes a worker, milliseconds.
const SHARE_MS: u64 = 30_000;

impl ModelJob {
    /// A worker and those that follow it.
    pub(super) async fn worker(self, mut dice: Dice, workers: u64, is_stopped: bool) {
        for _ in 0..dice.within(2, 4) {
            sleep(Duration::from_millis(dice.below(120_000))).await;
            let client = self.disk.client();
            if dice.percent(3) {
                let call = dice.within(1, 30);
                client.die_at(dice.pick(&[SimEnd::Before(call), SimEnd::After(call)]));
            }
            if dice.percent(2) {
                let (client, when) = (client.clone(), dice.below(SHARE_MS));
                tokio::spawn(async move {
                    sleep(Duration::from_millis(when)).await;
                    client.die();
                });
            }
            if is_stopped {
                Self::stop(&client, &mut dice);
            }
            let of = if dice.percent(80) { workers } else { dice.within(1, 2 * workers) };
            let stage = usize::from(self.ledger().is_marked(0));
            let part = (stage, self.draw(&mut dice, stage, of), of);
            let lasts = Duration::from_millis(dice.below(SHARE_MS));
            let ends = dice.percent(3);
            let work = async {
                let done = self.part(&client, part, Some(lasts)).await;
                if ends { done.and(self.end(&client).await.map(drop)) } else { done }
            };
            tokio::select! {
                biased;
                () = client.died() => self.ledger().is_gone(client.number()),
                // A store that fails too often is an error, and another worker's turn.
                _ = Box::pin(work) => {}
            }
            client.die();
        }
    }

    /// A share of `of`: mostly the one with the first task that is not marked.
    fn draw(&self, dice: &mut Dice, stage: usize, of: u64) -> u64 {
        let all = self.all(stage).len();
        let first = self.ledger().unmarked(stage).filter(|_| dice.percent(60));
        first.map_or_else(|| dice.below(of), |first| first * of / all)
    }

    /// Stops a process for a while, some time from now.
    fn stop(client: &SimClient, dice: &mut Dice) {
        let (client, before) = (client.clone(), dice.below(SHARE_MS));
        let pause = dice.pick(&[10, 1000, 10_000]);
        tokio::spawn(async move {
            sleep(Duration::from_millis(before)).await;
            client.pause();
            sleep(Duration::from_secs(pause)).await;
            client.resume();
        });
    }

    /// Does a share, as a part does it.
    pub(super) async fn part(
        &self,
        client: &SimClient,
        (stage, index, of): (usize, u64, u64),
        lasts: Option<Duration>,
    ) -> Result<(), String> {
        let tasks = self.share(stage, index, of);
        if tasks.is_empty() {
            return Ok(());
        }
        let done = Box::pin(self.try_part(client, tasks, lasts)).await;
        done.map_err(|error| error.to_string())
    }

    async fn try_part(
        &self,
        client: &SimClient,
        tasks: TaskRange,
        lasts: Option<Duration>,
    ) -> Result<(), Error> {
        let (work, marks) = Self::at(client);
        if self.ledger().is_closed {
            return Ok(()); // as the job says
        }
        let seen = self.ledger().look(&tasks);
        let before = marks.done().await?;
        if tasks.stage > 0 && before.count(0) < self.all(0).len() {
            return Ok(()); // not yet
        }
        let Some(mut todo) = marks.todo(tasks, before, &Self::header()).await? else {
            return Ok(());
        };
        if self.bug == Some(Bug::ReadsNoJournals) {
            todo.left = marks.done().await?.left_in(&tasks);
        }
        self.ledger().leaves_out(&tasks, &todo.left, &seen);
        if self.bug == Some(Bug::MarkBeforeTasks) {
            self.ledger().marks(&tasks);
        }
        let busy = marks.begin(&tasks, &unique_name())?;
        let left = todo.left.clone();
        self.do_tasks(client, (&busy, &tasks), &left, &seen, lasts).await?;
        let was_closed = self.disk.object(OPEN).is_none();
        if self.bug != Some(Bug::SkipsOpen) && !marks.are_open().await? {
            return busy.remove().await;
        }
        todo.did_all(None);
        if was_closed {
            self.ledger().find(format!("{tasks:?} are marked when the parts were closed"));
        }
        // Whether its answer comes or not: from when it is sent on, it may be read.
        self.ledger().check_done(&tasks);
        todo.mark((&work, &marks), Self::header()).await?;
        self.ledger().marks(&tasks);
        busy.remove().await
    }

    /// Does what is left of a share, half of which its journal says half-way.
    async fn do_tasks(
        &self,
        client: &SimClient,
        (busy, tasks): (&Busy, &TaskRange),
        left: &[TaskRange],
        seen: &Seen,
        lasts: Option<Duration>,
    ) -> Result<(), Error> {
        let failed = |error: rechunk_exec::JournalError| Error::State {
            path: busy.store.label().to_owned(),
            reason: error.to_string(),
        };
        let writer = unique_name();
        let journal = Journal::create(&busy.store, Self::header(), &writer).await;
        drop(journal.map_err(failed)?);
        let middle = |part: &TaskRange| part.start + part.len().div_ceil(2);
        let mut done = DoneSet::default();
        for part in left {
            let first = TaskRange::new(part.stage, part.start..middle(part));
            self.ledger().does(&first, tasks, seen);
            done.add_range(first.stage, first.start, first.end);
        }
        let journaled: Vec<TaskRange> =
            left.iter().map(|part| TaskRange::new(part.stage, part.start..middle(part))).collect();
        let contents = JournalContents::new(Self::header(), done);
        Journal::rewrite(&busy.store, contents, &writer).await.map_err(failed)?;
        self.ledger().journals(client.number(), journaled);
        if let Some(lasts) = lasts {
            sleep(lasts).await;
        }
        for part in left {
            let second = TaskRange::new(part.stage, middle(part)..part.end);
            self.ledger().does(&second, tasks, seen);
        }
        Ok(())
    }
}
