//! Processes that divide a plan, of which some die and some are stopped; and those that end it.

use std::ops::Range;
use std::time::Duration;

use rechunk::{Class, Error, SavedJob, Share};
use rechunk_plan::{Divided, share};
use rechunk_testkit::{Dice, SimClient, SimEnd, SimFaults, SimStore};
use tokio::time::{sleep, timeout};

use super::bug::Bug;
use super::ledger::{Ledger, Seen};
use super::process::{Done, Step, take};
use super::scenario::Scenario;
use crate::sim::array::check_target;
use crate::sim::process::clean;
use crate::sim::two_at_once::{JOB, NEVER, TAKEN_OVER, clear, is_left};

/// A job that is divided.
#[derive(Debug, Clone)]
struct Crew {
    disk: SimStore,
    plan: SavedJob,
    ledger: Ledger,
    fails: bool,
}

/// Simulates a scenario: a hash of all that happened, or what was wrong.
pub(super) async fn simulate(
    mut scenario: Scenario,
    disk: SimStore,
    bug: Option<Bug>,
) -> Result<u64, String> {
    let plan = scenario.plan(&disk).await;
    let fails = disk_fails(&scenario.faults);
    let ledger = Ledger::watching(&disk, &plan, scenario.array.right(), (bug, fails));
    match bug {
        Some(Bug::MarkBeforeData) => disk.plant_early_answers(),
        Some(Bug::PartsSeemOpen) => disk.plant_ghosts("/open"),
        Some(Bug::MarkOfMore) | None => {}
    }
    disk.set_faults(scenario.faults, scenario.latency);
    let crew = Crew { disk, plan, ledger, fails };
    let (mut working, mut stopped) = (Vec::new(), Vec::new());
    for number in 0..scenario.processes {
        let mut dice = Dice::new(scenario.dice.bits() ^ number);
        let is_stopped = dice.percent(15);
        let process = tokio::spawn(crew.clone().process(dice, is_stopped));
        if is_stopped { stopped.push(process) } else { working.push(process) }
    }
    for process in working {
        process.await.map_err(|error| error.to_string())??;
    }
    crew.ledger.first()?;
    let of = scenario.dice.within(1, 5);
    crew.end(&scenario, of).await?;
    let is_late = !stopped.is_empty();
    for process in stopped {
        process.await.map_err(|error| error.to_string())??;
    }
    crew.ledger.first()?;
    check_target(&crew.disk, &crew.ledger.right)?;
    if !crew.ledger.is_reopened() {
        crew.check_left(is_late).await?;
    }
    Ok(crew.disk.trace())
}

fn disk_fails(faults: &SimFaults) -> bool {
    faults.refused + faults.answer_lost + faults.short > 0
}

impl Crew {
    /// A step drawn at random. Most are parts of the first stage that is not done.
    fn draw(&self, dice: &mut Dice) -> Step {
        let stages = self.ledger.tasks.len();
        let now = (0..stages).find(|&stage| !self.ledger.is_ready(stage + 1)).unwrap_or(0);
        let any = usize::try_from(dice.below(stages as u64)).unwrap();
        let stage = if dice.percent(80) { now } else { any };
        let of = dice.pick(&[1, 2, 3, 5, 8, 40]);
        match dice.below(10) {
            0 => Step::Begin,
            1 => Step::Finish,
            _ => Step::Part(stage, part(dice.below(of), of)),
        }
    }

    /// A process, and those that are started after it. Of a hundred five die.
    async fn process(self, mut dice: Dice, is_stopped: bool) -> Result<(), String> {
        for _ in 0..dice.within(1, 3) {
            sleep(Duration::from_millis(dice.below(20_000))).await;
            let step = self.draw(&mut dice);
            let client = self.disk.client();
            if dice.percent(5) {
                let call = dice.within(1, 150);
                client.die_at(dice.pick(&[SimEnd::Before(call), SimEnd::After(call)]));
            }
            let wait = Duration::from_secs(dice.pick(&[0, 10, 120]));
            let (before, pause) = (dice.below(2000), dice.pick(&[5, 100, 7200]));
            let stopping = async {
                if is_stopped {
                    sleep(Duration::from_millis(before)).await;
                    client.pause();
                    sleep(Duration::from_secs(pause)).await;
                    client.resume();
                }
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                () = client.died() => {}
                () = stopping => {}
                ended = self.take(&client, step, wait, is_stopped) => { ended?; }
            }
            client.die();
        }
        Ok(())
    }

    /// Does a step, and checks how that ends. True if it ended well.
    async fn take(
        &self,
        client: &SimClient,
        step: Step,
        wait: Duration,
        is_stopped: bool,
    ) -> Result<bool, String> {
        let seen = self.ledger.begin(client);
        let at = (client, &self.plan);
        let taken = take(at, step, wait, (&self.ledger, &seen));
        let ended = timeout(NEVER, Box::pin(taken)).await;
        if self.ledger.is_reopened() {
            return Ok(true);
        }
        match ended {
            Err(_) => Err(format!("a process hangs in {step:?}")),
            Ok(Ok(done)) => self.check_done(client, step, &seen, &done).map(|()| true),
            Ok(Err(error)) => self.check_error((step, is_stopped), &seen, &error).map(|()| false),
        }
    }

    fn check_done(
        &self,
        client: &SimClient,
        step: Step,
        seen: &Seen,
        done: &Done,
    ) -> Result<(), String> {
        let wrong =
            |why: &str| Err(format!("client {}, {step:?}: {why}: {done:?}", client.number()));
        match (step, done) {
            (Step::Begin, Done::Begun) => Ok(()),
            (Step::Finish, Done::Finished) => check_target(&self.disk, &self.ledger.right),
            (Step::Part(stage, part), Done::Part(report)) => {
                let range = self.share(stage, part);
                let tasks = &report.tasks;
                if (tasks.total, tasks.marked) != (range.end - range.start, tasks.total) {
                    return wrong("it has other tasks");
                }
                if tasks.resumed < seen.count_in(stage, range.clone()) {
                    return wrong("tasks that were marked were done again");
                }
                if !self.ledger.is_ready(stage) || !self.ledger.are_marked(stage, range) {
                    return wrong("it has not done all, or began before it could");
                }
                Ok(())
            }
            _ => wrong("another report"),
        }
    }

    fn check_error(
        &self,
        (step, is_stopped): (Step, bool),
        seen: &Seen,
        error: &Error,
    ) -> Result<(), String> {
        let may_be = match error.class() {
            Class::NotYet => match step {
                Step::Begin => false,
                Step::Part(stage, _) => !seen.was_ready(stage),
                Step::Finish => !seen.was_ready(self.ledger.tasks.len()),
            },
            Class::Target => {
                let said = error.to_string();
                let is_closed = said.contains("no longer open") && self.ledger.is_closed();
                // One that slept from its look at a target that was not there until others had it.
                let has_slept = is_stopped
                    && (said.contains("exists and is not empty")
                        || said.contains("holds an interrupted (or running) job"));
                // Two that end it at once: the first has just made the target known.
                let is_ended = step == Step::Finish
                    && self.ledger.is_closed()
                    && said.contains("exists and is not empty");
                is_closed
                    || is_ended
                    || has_slept
                    || said.contains("is being written")
                    || said.contains("taken over")
            }
            Class::Failed | Class::Source => self.fails,
            Class::Usage | Class::Memory | Class::Differ | Class::Interrupted => false,
        };
        if !may_be {
            return Err(format!("{step:?} ends as {:?}: {error:?}", error.class()));
        }
        clear(error)
    }

    fn share(&self, stage: usize, part: Share) -> Range<u64> {
        let (geometry, tasks) = (self.plan.plan.geometry(stage).unwrap(), self.ledger.tasks[stage]);
        let divided = [Divided { geometry: &geometry, tasks, item_bytes: 2 }];
        share(&divided, part.index, part.of).pop().unwrap()
    }

    /// When nothing goes wrong any more, `of` parts of each stage complete it.
    async fn end(&self, scenario: &Scenario, of: u64) -> Result<(), String> {
        self.disk.set_faults(SimFaults::NONE, scenario.latency);
        for stage in 0..self.ledger.tasks.len() {
            for index in 0..of {
                self.last(Step::Part(stage, part(index, of))).await?;
            }
        }
        self.last(Step::Finish).await?;
        check_target(&self.disk, &self.ledger.right)
    }

    /// A step that ends well, when the locks of the dead are over.
    async fn last(&self, step: Step) -> Result<(), String> {
        for _ in 0..30 {
            let client = self.disk.client();
            let is_done = self.take(&client, step, Duration::ZERO, false).await?;
            client.die();
            if is_done {
                return Ok(());
            }
            sleep(Duration::from_secs(10)).await;
        }
        Err(format!("{step:?} does not end well"))
    }

    /// Nothing is left. Processes that were stopped may have sent some when all was over, but no
    /// job; `clean` removes it.
    async fn check_left(&self, is_late: bool) -> Result<(), String> {
        let left = || self.disk.keys().into_iter().filter(|key| is_left(key)).collect::<Vec<_>>();
        let found = left();
        if found.is_empty() {
            return Ok(());
        }
        if !is_late || found.iter().any(|key| key == JOB) {
            return Err(format!("left: {found:?}"));
        }
        sleep(TAKEN_OVER).await; // one that has died may have been the last to hold the target
        clean(&self.disk.client()).await.map_err(|error| error.to_string())?;
        let found = left();
        if found.is_empty() { Ok(()) } else { Err(format!("left by clean: {found:?}")) }
    }
}

fn part(index: u64, of: u64) -> Share {
    format!("{index}/{of}").parse().unwrap()
}
