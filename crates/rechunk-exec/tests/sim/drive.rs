//! Runs a scenario: runs that fail and die, and one that may do neither.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rechunk_exec::{ExecError, Fault, Journal, JournalError, JournalHeader, run};
use rechunk_store::{Durability, Store, StoreError};
use rechunk_testkit::{SimClient, SimEnd, SimFaults, SimStore};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::check::{self, Findings};
use crate::expected::{Expected, execution, place};
use crate::scenario::Scenario;

/// Path of the journal.
pub(crate) const WORK: &str = "work";
/// Key of the object that is written when all is done.
pub(crate) const DONE_KEY: &str = "work/done.json";
/// No run takes so long, whatever goes wrong.
const NEVER: Duration = Duration::from_hours(7 * 24);

/// A bug that is planted: the simulation has to find it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bug {
    NoSyncBeforeMark,
    TornWrite,
    JournalBeforeData,
    MarkerBeforeData,
}

/// End of a run.
#[derive(Debug)]
enum Ended {
    Done,
    GaveUp,
    Died,
}

/// A scenario under way.
struct Driver {
    scenario: Scenario,
    expected: Arc<Expected>,
    disk: SimStore,
    findings: Findings,
    bug: Option<Bug>,
}

/// A disk that keeps what it was given only when it is told to.
#[derive(Debug)]
struct Disk(SimClient);

#[async_trait]
impl Durability for Disk {
    async fn sync(&self) -> io::Result<()> {
        self.0.sync().await
    }
}

/// Simulates a seed. A hash of everything that happened, or what was wrong.
pub(crate) fn simulate(seed: u64, bug: Option<Bug>) -> Result<u64, String> {
    let disk = SimStore::new(seed);
    simulate_on(seed, bug, &disk)
}

/// [`simulate`] on a disk that may keep a log.
pub(crate) fn simulate_on(seed: u64, bug: Option<Bug>, disk: &SimStore) -> Result<u64, String> {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    runtime.block_on(async {
        let scenario = Scenario::new(seed);
        let disk = disk.clone();
        let expected = Arc::new(Expected::new(&scenario, &disk).await);
        let findings = Findings::default();
        findings.watch(&expected, &disk);
        let mut driver = Driver { scenario, expected, disk, findings, bug };
        driver.plant();
        driver.drive().await?;
        Ok(driver.disk.trace())
    })
}

impl Driver {
    fn plant(&self) {
        match self.bug {
            Some(Bug::NoSyncBeforeMark) => self.disk.plant_idle_sync(),
            Some(Bug::TornWrite) => self.disk.plant_torn_writes(),
            Some(Bug::JournalBeforeData) => self.disk.plant_early_answers(),
            Some(Bug::MarkerBeforeData) | None => {}
        }
    }

    async fn drive(&mut self) -> Result<(), String> {
        if self.scenario.is_buffered {
            self.disk.set_buffered(&["target/", "temp/"]);
        }
        self.disk.set_faults(self.scenario.faults, self.scenario.latency);
        for _ in 0..self.scenario.crashes + 2 {
            let client = self.disk.client();
            let dice = &mut self.scenario.dice;
            if dice.percent(80) {
                // About as many calls as there are objects to read and to write, and some more.
                let call = dice.within(1, 20 + 3 * self.expected.objects());
                let end = [SimEnd::Before(call), SimEnd::After(call)];
                client.die_at(dice.pick(&end));
            }
            let ended = self.one_run(&client).await?;
            client.die();
            if matches!(ended, Ended::Died) && self.scenario.dice.percent(50) {
                self.disk.cut_power();
            }
            check::state(&self.scenario, &self.expected, &self.disk).await?;
            if matches!(ended, Ended::Done) {
                return Ok(());
            }
        }
        self.last_run().await
    }

    /// With nothing going wrong any more, a run ends well, and in time.
    async fn last_run(&self) -> Result<(), String> {
        self.disk.set_faults(SimFaults::NONE, self.scenario.latency);
        let (client, started) = (self.disk.client(), Instant::now());
        let ended = self.one_run(&client).await?;
        let one_by_one = 2 * self.scenario.latency * u32::try_from(client.calls()).unwrap();
        let stages = u32::try_from(self.scenario.plan.stages.len()).unwrap();
        let most = one_by_one + Duration::from_secs(5) * (stages + 2);
        check::state(&self.scenario, &self.expected, &self.disk).await?;
        match ended {
            Ended::Done if started.elapsed() <= most => Ok(()),
            Ended::Done => Err(format!("the last run took {:?} of {most:?}", started.elapsed())),
            ended => Err(format!("the last run: {ended:?}")),
        }
    }

    /// One process, from its start to its end.
    async fn one_run(&self, client: &SimClient) -> Result<Ended, String> {
        let ended = tokio::select! {
            biased;
            () = client.died() => Ended::Died,
            ended = timeout(NEVER, self.attempt(client)) => match ended {
                Ok(Ok(())) => Ended::Done,
                Ok(Err(error)) => {
                    self.clear(&error)?;
                    Ended::GaveUp
                }
                Err(_) => return Err("a run hangs".to_owned()),
            },
        };
        self.findings.first()?;
        let most = self.scenario.plan.stages.iter().map(|s| s.tasks_at_once * s.lanes).max();
        // And the journal's writer, and 16 segments that are read at the start.
        let most = u64::from(most.unwrap() + 1).max(16);
        let in_flight = client.take_in_flight_max();
        if in_flight > most {
            return Err(format!("{in_flight} calls at once, {most} are paid for"));
        }
        Ok(ended)
    }

    async fn attempt(&self, client: &SimClient) -> Result<(), Failure> {
        let store = |prefix| {
            let store = place(client, prefix).with_retries(10, Duration::from_mins(3));
            store.with_durability(Arc::new(Disk(client.clone())))
        };
        let work = store(WORK);
        if self.bug == Some(Bug::MarkerBeforeData) {
            self.mark_complete(&work).await?;
        }
        let journal = self.open_journal(&work, client.number()).await?;
        self.findings.begin(client.number(), journal.done());
        let execution = execution(&self.scenario, &store);
        let observer = Arc::new(self.findings.clone());
        let token = CancellationToken::new();
        let report = run(Arc::new(execution), Some(journal), observer, token).await?;
        // Marks that were read wrongly are made again, and may then overlap: what they took from
        // the source is not known, and the report says so.
        let is_unknown = report.digest.is_none() && self.scenario.faults.flipped > 0;
        if report.digest != self.expected.digest && !is_unknown {
            let (found, right) = (report.digest, &self.expected.digest);
            return Err(Failure::Wrong(format!("the digest is {found:?}, not {right:?}")));
        }
        self.mark_complete(&work).await
    }

    /// An error unless a failure says what failed, where, and nothing that is not so.
    fn clear(&self, failure: &Failure) -> Result<(), String> {
        let (text, is_clear) = match failure {
            Failure::Store(error) => (error.to_string(), true),
            Failure::Journal(error) => (error.to_string(), self.may_be(error)),
            Failure::Run(error) => {
                let is_clear = match error.fault() {
                    Some(Fault::Journal(error)) => self.may_be(error),
                    Some(
                        Fault::Source(_)
                        | Fault::Target(_)
                        | Fault::Intermediate(_)
                        | Fault::LostPiece { .. }
                        | Fault::Sync(_),
                    ) => true,
                    Some(Fault::DamagedPiece { .. }) => self.scenario.faults.flipped > 0,
                    _ => false,
                };
                (error.to_string(), is_clear)
            }
            Failure::Wrong(what) => return Err(what.clone()),
        };
        if is_clear && text.contains("sim://disk") {
            return Ok(());
        }
        Err(format!("an error that is not clear: {text}"))
    }

    /// Nobody else writes, so a journal that says so is wrong; unless it was read wrongly.
    fn may_be(&self, error: &JournalError) -> bool {
        let is_changed =
            matches!(error, JournalError::Damaged { .. } | JournalError::Fenced { .. });
        matches!(error, JournalError::Store(_)) || (is_changed && self.scenario.faults.flipped > 0)
    }

    async fn mark_complete(&self, work: &Store) -> Result<(), Failure> {
        Ok(work.put_durable("done.json", b"{}".to_vec()).await?)
    }

    /// As the library does it: a run that was killed before its journal was begun has done nothing.
    async fn open_journal(&self, work: &Store, client: u64) -> Result<Journal, Failure> {
        let writer = format!("client {client}");
        if Journal::exists(work).await? {
            let known = check::marks(&self.disk).await.map_err(Failure::Wrong)?;
            let journal = Journal::open(work, &writer).await?;
            let reads_truly = self.scenario.faults.flipped == 0;
            if reads_truly && !contains(journal.done(), &known, &self.scenario) {
                return Err(Failure::Wrong("marks are forgotten".to_owned()));
            }
            return Ok(journal);
        }
        let plan = &self.scenario.plan;
        let header = JournalHeader::new(&plan.fingerprint, serde_json::json!({}));
        Ok(Journal::create(work, header, &writer).await?)
    }
}

/// All tasks of `some` are in `all`.
fn contains(
    all: &rechunk_exec::DoneSet,
    some: &rechunk_exec::DoneSet,
    scenario: &Scenario,
) -> bool {
    let mut stages = 0..scenario.plan.stages.len();
    stages.all(|stage| {
        some.ranges(stage).flat_map(|(start, end)| start..end).all(|task| all.contains(stage, task))
    })
}

/// Why a run ended too early.
#[derive(Debug)]
enum Failure {
    Run(ExecError),
    Journal(JournalError),
    Store(StoreError),
    /// Something that may never be.
    Wrong(String),
}

impl From<ExecError> for Failure {
    fn from(error: ExecError) -> Self {
        Self::Run(error)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
