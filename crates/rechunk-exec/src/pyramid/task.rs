//! A task of a pyramid: it goes over its tile in steps.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use rechunk_grid::Region;
use rechunk_plan::pyramid_steps;
use tokio::task::JoinSet;
use tracing::Instrument;

use super::blocks::BlockUnderWay;
use super::compute::{Results, compute};
use super::filling::Filling;
use super::read;
use super::stage::PyramidStage;
use super::write::{self, InShard, Ready};
use crate::Fault;
use crate::tasks::lost;

/// Runs task `number`.
pub(super) async fn run(stage: Arc<PyramidStage>, number: u64) -> Result<(), Fault> {
    let tile = stage.geometry.tile(number);
    let steps =
        pyramid_steps(&tile, stage.shared.stage().filled(), &stage.levels).map_err(Fault::Grid)?;
    let mut task = Task::new(Arc::clone(&stage), &tile)?;
    let at_once = stage.steps_at_once();
    if at_once == 1 {
        task.one_by_one(steps).await?;
    } else {
        task.beside_each_other(steps, at_once).await?;
    }
    task.end(number).await
}

/// A task that runs: what its steps fill.
struct Task {
    stage: Arc<PyramidStage>,
    fillings: Vec<Filling>,
    block: Option<BlockUnderWay>,
}

/// Progress of a step.
enum Progress {
    /// The cells of step `0` are computed.
    Computed(u64, Results),
    /// Chunks are written that lie in these shards.
    Written(Vec<InShard>),
}

impl Task {
    fn new(stage: Arc<PyramidStage>, tile: &Region) -> Result<Self, Fault> {
        let first = stage.pass().first;
        let levels = stage.levels.iter().enumerate();
        let fillings =
            levels.map(|(at, level)| Filling::new(level, first + at, stage.shared.item_bytes));
        let fillings = fillings.collect::<Result<Vec<_>, Fault>>()?;
        let block = BlockUnderWay::of_task(&stage, tile)?;
        Ok(Self { stage, fillings, block })
    }

    async fn one_by_one(&mut self, steps: Vec<Region>) -> Result<(), Fault> {
        for step in steps {
            let results = results(Arc::clone(&self.stage), step).await?;
            let ready = self.add(results)?;
            let written = write::out(Arc::clone(&self.stage), ready).await?;
            self.written(written).await?;
        }
        Ok(())
    }

    /// Takes so many steps at once. Each is read, computed and written beside the others, and what
    /// it adds to chunks comes in the order of the steps: few of them are begun then.
    async fn beside_each_other(&mut self, steps: Vec<Region>, at_once: usize) -> Result<(), Fault> {
        let mut steps = (0_u64..).zip(steps);
        let mut running: JoinSet<Result<Progress, Fault>> = JoinSet::new();
        // Steps that wait for one before them hold memory as those do that run.
        let mut computed: BTreeMap<u64, Results> = BTreeMap::new();
        let mut next = 0;
        loop {
            while running.len() + computed.len() < at_once
                && let Some((number, step)) = steps.next()
            {
                let results = results(Arc::clone(&self.stage), step);
                let work = results.map(move |done| Ok(Progress::Computed(number, done?)));
                running.spawn(self.driven(work.boxed()).in_current_span());
            }
            let Some(ended) = running.join_next().await else { return Ok(()) };
            match ended.unwrap_or_else(|error| Err(lost(&error)))? {
                Progress::Computed(number, results) => drop(computed.insert(number, results)),
                Progress::Written(shards) => self.written(shards).await?,
            }
            while let Some(results) = computed.remove(&next) {
                next += 1;
                let ready = self.add(results)?;
                if !ready.is_empty() {
                    let work = write::out(Arc::clone(&self.stage), ready);
                    let work = work.map(|written| Ok(Progress::Written(written?)));
                    running.spawn(self.driven(work.boxed()).in_current_span());
                }
            }
        }
    }

    /// Work on one thread of the pool, where nothing of it waits.
    fn driven(
        &self,
        work: BoxFuture<'static, Result<Progress, Fault>>,
    ) -> impl Future<Output = Result<Progress, Fault>> + use<> {
        let stage = Arc::clone(&self.stage);
        async move { stage.shared.drive(work).await }
    }

    /// Adds the cells of a step. Returns the chunks that are complete.
    fn add(&mut self, results: Results) -> Result<Vec<Ready>, Fault> {
        let Results { levels, left, stored } = results;
        let mut ready = Vec::new();
        for (filling, result) in self.fillings.iter_mut().zip(levels) {
            write::add(&self.stage, filling, result, &stored, &mut ready)?;
        }
        if let (Some(block), Some(left)) = (&mut self.block, left) {
            block.add(&left.cells, &left.values)?;
        }
        Ok(ready)
    }

    /// Ends the shards whose last chunk is written.
    async fn written(&mut self, shards: Vec<InShard>) -> Result<(), Fault> {
        let first = self.stage.pass().first;
        for InShard { level, index } in shards {
            let Some(filling) = self.fillings.get_mut(level - first) else { continue };
            if let Some(writer) = filling.written(&index) {
                write::end_shard(&self.stage, &InShard { level, index }, &writer).await?;
            }
        }
        Ok(())
    }

    async fn end(self, number: u64) -> Result<(), Fault> {
        for filling in &self.fillings {
            filling.check_complete()?;
        }
        match self.block {
            Some(block) => block.put(&self.stage, number).await,
            None => Ok(()),
        }
    }
}

/// Reads a step, and computes the cells of all levels.
async fn results(stage: Arc<PyramidStage>, step: Region) -> Result<Results, Fault> {
    let window = read::window(&stage, step).await?;
    let worker = Arc::clone(&stage);
    stage.shared.cpu.run(move || compute(&worker, window)).await
}
