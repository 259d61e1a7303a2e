//! Sources of which little is stored: tasks for which nothing is there are counted, not run.
//!
//! When enough chunks were missing the source is listed, beside the tasks that run ([`begin`]);
//! then tasks that meet none of what is there are done at once, however many come after each other
//! ([`Left`], [`pass_over`]).

use std::sync::Arc;

use rechunk_grid::Region;
use rechunk_kernel::{Digest, wide};
use rechunk_store::Role;
use tokio::task::JoinSet;

use crate::journal::{DoneSet, Mark};
use crate::stage::stage_run::StageRun;
use crate::stage::way_in::WayIn;
use crate::task_range::TaskRange;
use crate::{Event, Fault, Sink};

/// Begins to look for gaps, if the source is to be listed; at once where it is to be first.
pub(crate) async fn begin(stage: &Arc<StageRun>) -> JoinSet<()> {
    let mut finding = JoinSet::new();
    if let (true, Some(after)) =
        (stage.way_in.reads_source(), stage.run.execution.list_after_missing)
    {
        finding.spawn(find(Arc::clone(stage)));
        if after == 0 {
            let _ = finding.join_next().await; // without a list, all is asked for
        }
    }
    finding
}

async fn find(stage: Arc<StageRun>) {
    let execution = &stage.run.execution;
    let mut is_listed = execution.source.list_when_sparse().await.is_some();
    if let (true, Sink::Compare(other)) = (is_listed, &execution.sink) {
        is_listed = other.list_when_sparse().await.is_some();
    }
    if is_listed && stage.busy.does_nothing_with_nothing {
        // Of many objects that takes a while. If it is lost, all tasks are run.
        let _ = tokio::task::spawn_blocking(move || {
            stage.busy.find(&stage.run.execution, &stage.geometry);
        })
        .await;
    }
}

/// Next tasks of a stage.
pub(crate) enum Next {
    /// A task to run.
    Task(u64),
    /// Tasks for which nothing is there, first and one past the last.
    Nothing(u64, u64),
}

/// The tasks between the ranges that are done.
pub(crate) struct Left<'a> {
    /// First tasks, and those one past the last, from the last range to the first.
    ranges: Vec<(u64, u64)>,
    done: &'a DoneSet,
    stage: usize,
}

impl<'a> Left<'a> {
    /// The tasks of `tasks` that are not done.
    pub(crate) fn new(tasks: &TaskRange, done: &'a DoneSet) -> Self {
        let left = done.left_in(tasks).into_iter().rev();
        let ranges = left.map(|part| (part.start, part.end)).collect();
        Self { ranges, done, stage: tasks.stage }
    }

    /// The next task; or if it is known which ones have something to do, those before the next of
    /// them, up to `most`. What is begun is run: of its steps some were counted before.
    pub(crate) fn next(&mut self, busy: Option<&Vec<u64>>, most: u64) -> Option<Next> {
        let (start, end) = self.ranges.pop()?;
        let first = busy.map_or(start, |tasks| {
            let at = tasks.partition_point(|&task| task < start);
            let busy = tasks.get(at).map_or(end, |&task| task.min(end));
            self.done.next_begun(self.stage, start).map_or(busy, |begun| begun.min(busy))
        });
        let (next, rest) = if first > start {
            let first = first.min(start.saturating_add(most));
            (Next::Nothing(start, first), first)
        } else {
            (Next::Task(start), start + 1)
        };
        if rest < end {
            self.ranges.push((rest, end));
        }
        Some(next)
    }
}

/// Number of tasks that are passed over at a time. The digest of what is not there takes a moment
/// for each extent, and other things are to go on.
pub(crate) fn passed_at_once(stage: &StageRun) -> u64 {
    const ELEMENTS: u64 = 1 << 26;
    if stage.digest.method().is_none() {
        return u64::MAX;
    }
    let tile =
        stage.stage.tile.iter().fold(1_u64, |elements, &extent| elements.saturating_mul(extent));
    (ELEMENTS / tile.max(1)).max(1)
}

/// Does tasks for which nothing is there: counts and marks what running them would.
pub(crate) fn pass_over(stage: &StageRun, start: u64, end: u64) -> Result<(), Fault> {
    let mut digest = Digest::default();
    for region in stage.geometry.owned_by(start, end) {
        count(stage, &region);
        digest += stage.digest.of_nothing(&region)?;
        stage.progress(&region);
    }
    let digest = stage.digest.method().map(|_| digest);
    if digest.is_some() {
        stage.run.add_digest(digest);
    }
    stage.run.mark(Mark::tasks(stage.number, start, end).with_digest(digest));
    stage.run.observer.event(&Event::TasksPassedOver { stage: stage.number, tasks: end - start });
    Ok(())
}

/// Counts what tasks that own `region` would have asked for, and left out or compared.
fn count(stage: &StageRun, region: &Region) {
    let (geometry, execution) = (&stage.geometry, &stage.run.execution);
    let meter = execution.source.store().meter();
    let chunks = geometry.meetings(region, geometry.grain_grid());
    let asked = match stage.way_in {
        WayIn::Shards(_) | WayIn::StoredShards(_) => {
            geometry.meetings(region, geometry.input_grid())
        }
        _ if execution.source.layout().shards().is_none() => chunks,
        // The index of each shard, and there each chunk.
        _ => {
            let shards = execution.source.object_grid();
            chunks + shards.map_or(0, |shards| geometry.meetings(region, &shards))
        }
    };
    meter.add_gets_missing(Role::Source, asked);
    let units = geometry.units(region);
    let (units, units_bytes) = (units.elements(), stage.target_bytes_of(&units));
    if !stage.way_in.passes_through() {
        let chunk_elements = geometry.grain_grid().chunk_elements();
        let chunk_bytes = chunk_elements.saturating_mul(wide(stage.item_bytes));
        meter.add_decoded_read(Role::Source, chunks.saturating_mul(chunk_bytes));
    }
    let objects = geometry.commit_grid().covering(region).elements();
    match &execution.sink {
        Sink::Write(target) => {
            if !stage.way_in.passes_through() {
                meter.add_decoded_written(Role::Target, units_bytes);
            }
            target.store().meter().add_puts_skipped(Role::Target, objects);
        }
        Sink::Compare(other) => {
            let meter = other.store().meter();
            let indexes = if other.layout().shards().is_some() { objects } else { 0 };
            meter.add_gets_missing(Role::Target, units + indexes);
            meter.add_decoded_read(Role::Target, units_bytes);
        }
        Sink::Digest { .. } => {}
    }
}
