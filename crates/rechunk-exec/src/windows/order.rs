//! The order of the tasks of an apply: a pull task may begin when the blocks it combines are there.

use rechunk_plan::ApplyWork;

use crate::TaskRange;
use crate::journal::DoneSet;

/// Tasks of the stages of an apply that are to be done, in the order in which they may begin.
///
/// Each stage has its own limit of tasks at once. Pull tasks begin before more blocks are made, so
/// that what the intermediate holds is used while the system still has it in its cache.
#[derive(Debug)]
pub(super) struct Order<'a> {
    work: &'a ApplyWork,
    lanes: Vec<Lane>,
    /// Blocks that are there, where this run makes them.
    blocks: Option<Blocks>,
}

/// Tasks of one stage.
#[derive(Debug)]
struct Lane {
    /// Ranges that are left, the next one last.
    left: Vec<TaskRange>,
    running: u32,
    at_once: u32,
}

#[derive(Debug)]
struct Blocks {
    done: DoneSet,
    /// Stage that makes them.
    stage: usize,
    /// A pull task, and the first block it needs that is not there.
    waits: Option<(u64, u64)>,
}

impl<'a> Order<'a> {
    /// The order of the tasks of each stage, with its limit, without those that are `done`.
    pub(super) fn new(work: &'a ApplyWork, stages: &[(TaskRange, u32)], done: &DoneSet) -> Self {
        let lanes = stages.iter().map(|(tasks, at_once)| Lane {
            left: done.left_in(tasks).into_iter().rev().collect(),
            running: 0,
            at_once: *at_once,
        });
        let made = stages.first().filter(|_| stages.len() > 1);
        let blocks =
            made.map(|(tasks, _)| Blocks { done: done.clone(), stage: tasks.stage, waits: None });
        Self { work, lanes: lanes.collect(), blocks }
    }

    /// The next task that may begin: place of its stage, and its number. `None` until another ends.
    pub(super) fn next(&mut self) -> Option<(usize, u64)> {
        for place in (0..self.lanes.len()).rev() {
            let lane = &self.lanes[place];
            let Some(next) = lane.left.last().filter(|_| lane.running < lane.at_once) else {
                continue;
            };
            let task = next.start;
            if place == 0 || self.has_blocks_of(task) {
                self.lanes[place].take();
                return Some((place, task));
            }
        }
        None
    }

    /// Notes that a task has ended.
    pub(super) fn ended(&mut self, (place, task): (usize, u64)) {
        if let Some(lane) = self.lanes.get_mut(place) {
            lane.running = lane.running.saturating_sub(1);
        }
        if let Some(blocks) = self.blocks.as_mut().filter(|_| place == 0) {
            blocks.done.add(blocks.stage, task);
        }
    }

    fn has_blocks_of(&mut self, task: u64) -> bool {
        let Some(blocks) = &mut self.blocks else { return true };
        let is_there = |ordinal: &u64| blocks.done.contains(blocks.stage, *ordinal);
        if let Some((of, ordinal)) = blocks.waits
            && of == task
            && !is_there(&ordinal)
        {
            return false;
        }
        let job = &self.work.job;
        let needed = job.contributors(&job.reduction(task));
        let missing = needed.ordinals().find(|ordinal| !is_there(ordinal));
        blocks.waits = missing.map(|ordinal| (task, ordinal));
        missing.is_none()
    }
}

impl Lane {
    /// Takes the next task.
    fn take(&mut self) {
        self.running = self.running.saturating_add(1);
        if let Some(range) = self.left.last_mut() {
            range.start = range.start.saturating_add(1);
            if range.start >= range.end {
                self.left.pop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rechunk_apply::{ApplySpec, Boundary, LevelSpec, Mode, TargetGrid, prepare};
    use rechunk_grid::DataType;
    use rechunk_plan::{MissingChunks, Reads};

    use super::*;

    /// A line of 40 elements: work chunks of 8 that overlap by 2 on each side, chunks of 5.
    fn work() -> ApplyWork {
        let levels = vec![LevelSpec::new(vec![8]).blend(vec![2], Mode::Linear)];
        let mut spec = ApplySpec::without_target(&[40], DataType::Uint8, levels);
        spec.target = Some(TargetGrid { shape: vec![40], chunk: vec![5] });
        let job = prepare(&spec).unwrap();
        ApplyWork {
            job,
            boundary: Boundary::Constant,
            missing: MissingChunks::Fill,
            reads: Reads::Task,
            transfer_bytes: 1,
        }
    }

    #[test]
    fn pull_tasks_begin_when_their_blocks_are_there() {
        let work = work();
        let (tasks, pulls) = (work.job.task_count(), work.job.reduction_count());
        assert_eq!(tasks, 5);
        assert!(pulls > 3, "{pulls}");
        let ranges = [TaskRange::new(0, 0..tasks), TaskRange::new(1, 0..pulls)];
        for at_once in [1, 2, 3] {
            let stages = ranges.map(|range| (range, at_once));
            let mut order = Order::new(&work, &stages, &DoneSet::default());
            let (mut running, mut there) = (Vec::new(), DoneSet::default());
            let (mut begun, mut early) = (Vec::new(), 0);
            loop {
                while let Some(task) = order.next() {
                    running.push(task);
                    begun.push(task);
                    let at_once = usize::try_from(at_once).unwrap();
                    let of = |place: usize| running.iter().filter(|task| task.0 == place).count();
                    assert!(of(0) <= at_once && of(1) <= at_once);
                    if task.0 == 1 {
                        let window = work.job.reduction(task.1);
                        let blocks = work.job.contributors(&window);
                        assert!(blocks.ordinals().all(|ordinal| there.contains(0, ordinal)));
                        early += u32::from(there.count(0) < tasks);
                    }
                }
                if running.is_empty() {
                    break;
                }
                let task = running.remove(0);
                if task.0 == 0 {
                    there.add(0, task.1);
                }
                order.ended(task);
            }
            begun.sort_unstable();
            let all = (0..tasks).map(|t| (0, t)).chain((0..pulls).map(|t| (1, t)));
            assert_eq!(begun, all.collect::<Vec<_>>(), "each task once");
            assert!(early > 1, "no pull task began before the last block was there");
        }
    }

    #[test]
    fn what_is_done_is_left_out_and_blocks_of_others_are_there() {
        let work = work();
        let mut done = DoneSet::default();
        done.add_range(0, 0, 4);
        done.add(1, 0);
        let pulls = TaskRange::new(1, 0..3);
        let both = [(TaskRange::new(0, 0..5), 9), (pulls, 9)];
        let mut order = Order::new(&work, &both, &done);
        assert_eq!(
            [order.next(), order.next(), order.next()],
            [Some((1, 1)), Some((1, 2)), Some((0, 4))]
        );
        assert_eq!(order.next(), None);
        // A run of pull tasks alone: whoever began it knows that the blocks are there.
        let mut order = Order::new(&work, &[(pulls, 1)], &DoneSet::default());
        assert_eq!((order.next(), order.next()), (Some((0, 0)), None));
    }
}
