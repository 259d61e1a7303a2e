//! The job that is divided, its beginning and its end.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use rechunk_exec::{JournalHeader, TaskRange};
use rechunk_plan::{ArrayRole, Divided, PlanRequest, Side, StageGeometry, Strategy, share};
use rechunk_store::{StoreOptions, Stores};
use rechunk_testkit::{Dice, SimClient, SimFaults, SimStore};
use tokio::time::sleep;

use super::bug::Bug;
use super::ledger::Ledger;
use crate::parts::marks::Marks;
use crate::work_dir::WorkDir;

const ROOT: &str = "s3://model";
const TARGET: &str = "s3://model/target.zarr";
/// The parts.
const NAME: &str = "parts-of-the-model";

/// A job of two stages, a million tasks in all.
#[derive(Debug, Clone)]
pub(super) struct ModelJob {
    pub disk: SimStore,
    pub bug: Option<Bug>,
    stages: Arc<[StageGeometry; 2]>,
    ledger: Arc<Mutex<Ledger>>,
    workers: u64,
    pub dice: Dice,
}

impl ModelJob {
    pub(super) fn new(seed: u64, workers: u64, bug: Option<Bug>) -> Self {
        let stages = stages();
        let tasks = stages.each_ref().map(StageGeometry::task_count);
        assert!(tasks.iter().sum::<u64>() >= 1_000_000, "{tasks:?}");
        Self {
            disk: SimStore::new(seed),
            bug,
            ledger: Arc::new(Mutex::new(Ledger::new(&tasks))),
            stages: Arc::new(stages),
            workers,
            dice: Dice::new(seed),
        }
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap()
    }

    /// The job as one process sees it.
    pub(super) fn at(client: &SimClient) -> (WorkDir, Marks) {
        let options = StoreOptions::default().with_max_retries(8);
        let stores = Stores::new(options).with_client(ROOT, Arc::new(client.clone()));
        let work = WorkDir::of(TARGET, &stores).unwrap();
        let marks = Marks::of(&work, NAME).unwrap();
        (work, marks)
    }

    pub(super) fn header() -> JournalHeader {
        JournalHeader::new("the plan", serde_json::Value::Null)
    }

    /// All tasks of a stage.
    pub(super) fn all(&self, stage: usize) -> TaskRange {
        TaskRange::new(stage, 0..self.stages[stage].task_count())
    }

    /// Share `index` of `of` of a stage.
    pub(super) fn share(&self, stage: usize, index: u64, of: u64) -> TaskRange {
        let geometry = &self.stages[stage];
        let tasks = geometry.task_count();
        let divided = [Divided { geometry, tasks, item_bytes: 4 }];
        let mut tasks = share(&divided, index, of).pop().unwrap();
        if self.bug == Some(Bug::ShareLosesLast) && tasks.end > tasks.start + 1 {
            tasks.end -= 1;
        }
        TaskRange::new(stage, tasks)
    }

    /// Begins it, has it done by workers, and ends it. How often one went on with another's share.
    pub(super) async fn simulate(mut self) -> Result<u64, String> {
        let (_, marks) = Self::at(&self.disk.observer());
        marks.open().await.map_err(|error| error.to_string())?;
        let rate = self.dice.pick(&[0, 1, 5]);
        let faults = SimFaults { refused: rate, answer_lost: rate, short: rate, ..SimFaults::NONE };
        let latency = Duration::from_millis(self.dice.pick(&[1, 20, 300]));
        self.disk.set_faults(faults, latency);
        let (mut working, mut stopped) = (Vec::new(), Vec::new());
        for number in 0..self.workers {
            let dice = Dice::new(self.dice.bits() ^ number);
            let is_stopped = self.dice.percent(4);
            let worker = tokio::spawn(self.clone().worker(dice, self.workers, is_stopped));
            if is_stopped { stopped.push(worker) } else { working.push(worker) }
        }
        for worker in working {
            worker.await.map_err(|error| error.to_string())?;
        }
        self.ledger().first()?;
        self.disk.set_faults(SimFaults::NONE, latency);
        self.last().await?;
        for worker in stopped {
            worker.await.map_err(|error| error.to_string())?;
        }
        self.clear().await?;
        let ledger = self.ledger();
        ledger.first()?;
        Ok(ledger.gone_on_with)
    }

    /// Shares of another number complete it, and it ends.
    async fn last(&mut self) -> Result<(), String> {
        let of = self.dice.within(1, 20);
        for stage in 0..2 {
            for index in 0..of {
                let client = self.disk.client();
                self.part(&client, (stage, index, of), None).await?;
            }
        }
        let is_over = self.end(&self.disk.client()).await?;
        if !is_over && !self.ledger().is_closed {
            return Err("tasks are not done when all shares are".to_owned());
        }
        Ok(())
    }

    /// Removes what came late, or was left by one that died at the end. Nothing else is there.
    async fn clear(&self) -> Result<(), String> {
        let (work, _) = Self::at(&self.disk.client());
        work.remove_parts(NAME).await.map_err(|error| error.to_string())?;
        let left = self.disk.keys();
        if left.is_empty() { Ok(()) } else { Err(format!("left: {:?}", &left[..1])) }
    }

    /// Ends the job, if all is done.
    pub(super) async fn end(&self, client: &SimClient) -> Result<bool, String> {
        let (work, marks) = Self::at(client);
        let failed = |error: crate::Error| error.to_string();
        if self.ledger().is_closed {
            return Ok(true);
        }
        let is_all = |done: &rechunk_exec::DoneSet| {
            (0..2).all(|stage| done.count(stage) == self.all(stage).len())
        };
        let ends_at_once = self.bug == Some(Bug::EndsAtOnce);
        if !ends_at_once && !is_all(&marks.done().await.map_err(failed)?) {
            return Ok(false);
        }
        if !ends_at_once && !is_all(&marks.read(&Self::header()).await.map_err(failed)?) {
            return Ok(false); // a mark was damaged
        }
        {
            let mut ledger = self.ledger();
            ledger.is_closed = true;
            (0..2).for_each(|stage| ledger.check_done(&self.all(stage)));
        }
        while let Err(error) = work.remove_parts(NAME).await {
            tracing::info!(%error, "it cannot be removed yet");
            sleep(Duration::from_secs(1)).await;
        }
        Ok(true)
    }
}

/// Stages of 500 000 tasks each, of which those at the ends of axes are smaller.
fn stages() -> [StageGeometry; 2] {
    let sides = (Side::raw(&[10, 999], 4), Side::raw(&[999, 10], 4));
    let mut request = PlanRequest::local(&[999, 1003], 4, sides, 64 << 20);
    request.strategy = Strategy::PushPull;
    let mut plan = rechunk_planner::plan(&request).unwrap().plan;
    let tiles = [vec![1, 2], vec![2, 1]];
    for (stage, tile) in plan.stages.iter_mut().zip(&tiles) {
        stage.tile.clone_from(tile);
    }
    for array in &mut plan.arrays {
        if array.role == ArrayRole::Intermediate {
            array.chunk.clone_from(&tiles[0]);
        }
    }
    [plan.geometry(0).unwrap(), plan.geometry(1).unwrap()]
}
