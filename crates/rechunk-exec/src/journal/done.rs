//! Which tasks are done: ranges, so that ten million tasks done in order take a few bytes.

use std::collections::BTreeMap;

use rechunk_kernel::Digest;

use super::line::Mark;
use crate::task_range::TaskRange;

/// The tasks a journal says are done, and how far those begun have come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoneSet {
    stages: BTreeMap<usize, StageDone>,
}

/// Done tasks of one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct StageDone {
    /// Ranges by their first task; they neither touch nor overlap.
    ranges: BTreeMap<u64, Range>,
    /// Steps done of tasks that are not done.
    steps: BTreeMap<u64, Steps>,
}

/// Tasks that are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    /// One past the last.
    end: u64,
    /// Digest of what all of them took from the source, if it is known.
    digest: Option<Digest>,
}

/// Steps of a task that are done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Steps {
    count: u64,
    digest: Option<Digest>,
}

impl DoneSet {
    /// Marks a task done.
    pub fn add(&mut self, stage: usize, task: u64) {
        self.add_range(stage, task, task.saturating_add(1));
    }

    /// Marks the tasks from `start` to before `end` done.
    pub fn add_range(&mut self, stage: usize, start: u64, end: u64) {
        self.add_digested(stage, start, Range { end, digest: None });
    }

    fn add_digested(&mut self, stage: usize, start: u64, range: Range) {
        if start < range.end {
            self.stages.entry(stage).or_default().add(start, range);
        }
    }

    /// Marks the first `steps` steps of a task done.
    pub fn add_steps(&mut self, stage: usize, task: u64, steps: u64) {
        self.add_digested_steps(stage, task, Steps { count: steps, digest: None });
    }

    fn add_digested_steps(&mut self, stage: usize, task: u64, steps: Steps) {
        let done = self.stages.entry(stage).or_default();
        if !done.contains(task) {
            let most = done.steps.entry(task).or_default();
            if steps.count > most.count {
                *most = steps;
            }
        }
    }

    /// The digest of what the tasks of a stage that are done took from the source, if it is known
    /// of all of them.
    pub fn digest(&self, stage: usize) -> Option<Digest> {
        let done = self.stages.get(&stage);
        done.into_iter().flat_map(|done| done.ranges.values()).map(|range| range.digest).sum()
    }

    /// The digest of what the steps that are done of a task took from the source, if it is known.
    pub(crate) fn steps_digest(&self, stage: usize, task: u64) -> Option<Digest> {
        let steps = self.stages.get(&stage).and_then(|done| done.steps.get(&task));
        let steps = steps.filter(|steps| steps.count > 0);
        steps.map_or_else(|| Some(Digest::default()), |steps| steps.digest)
    }

    /// True if the task is done.
    pub fn contains(&self, stage: usize, task: u64) -> bool {
        self.stages.get(&stage).is_some_and(|done| done.contains(task))
    }

    /// Number of steps that are done of a task that is not.
    pub fn steps(&self, stage: usize, task: u64) -> u64 {
        self.stages.get(&stage).and_then(|done| done.steps.get(&task)).map_or(0, |s| s.count)
    }

    /// The first task from `task` on of which steps are done, and not all.
    pub(crate) fn next_begun(&self, stage: usize, task: u64) -> Option<u64> {
        self.stages.get(&stage)?.steps.range(task..).next().map(|(&task, _)| task)
    }

    /// Number of tasks of a stage that are done.
    pub fn count(&self, stage: usize) -> u64 {
        self.ranges(stage).map(|(start, end)| end - start).sum()
    }

    /// Ranges of done tasks in order: first, and one past the last.
    pub fn ranges(&self, stage: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let done = self.stages.get(&stage);
        done.into_iter()
            .flat_map(|done| done.ranges.iter().map(|(&start, range)| (start, range.end)))
    }

    /// The parts of [`DoneSet::ranges`] that lie in `tasks`.
    pub fn ranges_in(&self, tasks: &TaskRange) -> impl Iterator<Item = (u64, u64)> + '_ {
        let TaskRange { start, end, .. } = *tasks;
        let parts = self.ranges(tasks.stage).map(move |(from, to)| (from.max(start), to.min(end)));
        parts.filter(|(from, to)| from < to)
    }

    /// Number of tasks in `tasks` that are done.
    pub fn count_in(&self, tasks: &TaskRange) -> u64 {
        self.ranges_in(tasks).map(|(start, end)| end - start).sum()
    }

    /// The parts of `tasks` that are not done, in order.
    pub fn left_in(&self, tasks: &TaskRange) -> Vec<TaskRange> {
        let (mut start, mut left) = (tasks.start, Vec::new());
        for (from, to) in self.ranges_in(tasks).chain([(tasks.end, tasks.end)]) {
            if start < from {
                left.push(TaskRange::new(tasks.stage, start..from));
            }
            start = to;
        }
        left
    }

    /// Marks the tasks of `tasks` done that are not. `digest` is of what all of these took from the
    /// source.
    pub fn fill(&mut self, tasks: &TaskRange, digest: Option<Digest>) {
        self.add_all(&self.left_in(tasks), digest);
    }

    /// Marks the tasks of ranges done, of which none is. `digest` is of what all of these took from
    /// the source.
    pub fn add_all(&mut self, ranges: &[TaskRange], digest: Option<Digest>) {
        // Only sums of digests are asked for: the first range has it all.
        let mut digest = digest;
        for &TaskRange { stage, start, end } in ranges {
            self.add_digested(stage, start, Range { end, digest });
            digest = digest.map(|_| Digest::default());
        }
    }

    /// Marks all done that is in `other`.
    pub fn join(&mut self, other: &Self) {
        other.marks().for_each(|mark| self.add_mark(mark));
    }

    /// The part of it that lies in `tasks`. The digest of a range that is cut is not known.
    #[must_use]
    pub fn within(&self, tasks: &TaskRange) -> Self {
        let mut part = Self::default();
        for mark in self.marks().filter(|mark| mark.stage == tasks.stage) {
            let end = mark.task.saturating_add(mark.tasks);
            let (from, to) = (mark.task.max(tasks.start), end.min(tasks.end));
            if from < to {
                let is_whole = (from, to) == (mark.task, end);
                let digest = mark.digest.filter(|_| is_whole);
                part.add_mark(Mark { task: from, tasks: to - from, digest, ..mark });
            }
        }
        part
    }

    /// Marks the tasks of `tasks` not done, and none of their steps. The digest of tasks that were
    /// marked with some of them is not known any more.
    pub fn remove(&mut self, tasks: &TaskRange) {
        let done = self.stages.get_mut(&tasks.stage).filter(|_| !tasks.is_empty());
        let Some(done) = done else { return };
        done.remove(tasks.start, tasks.end);
        if done.ranges.is_empty() && done.steps.is_empty() {
            self.stages.remove(&tasks.stage);
        }
    }

    /// True if nothing is done.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Number of ranges of tasks, and of tasks begun, in which it is kept.
    pub(crate) fn parts(&self) -> usize {
        self.stages.values().map(|done| done.ranges.len() + done.steps.len()).sum()
    }

    /// Does what a line of the journal says.
    pub(crate) fn add_mark(&mut self, mark: Mark) {
        let digest = mark.digest;
        if mark.undone {
            let end = mark.task.saturating_add(mark.tasks);
            self.remove(&TaskRange::new(mark.stage, mark.task..end));
        } else if let Some(count) = mark.steps {
            self.add_digested_steps(mark.stage, mark.task, Steps { count, digest });
        } else {
            let end = mark.task.saturating_add(mark.tasks);
            self.add_digested(mark.stage, mark.task, Range { end, digest });
        }
    }

    /// The fewest marks that say the same.
    pub(crate) fn marks(&self) -> impl Iterator<Item = Mark> + '_ {
        self.stages.iter().flat_map(|(&stage, done)| {
            let ranges = done.ranges.iter().map(move |(&start, range)| {
                Mark::tasks(stage, start, range.end).with_digest(range.digest)
            });
            ranges.chain(done.steps.iter().map(move |(&task, steps)| {
                Mark::steps(stage, task, steps.count).with_digest(steps.digest)
            }))
        })
    }

    /// The largest stage and task named, to check against a plan.
    pub fn largest(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.stages.iter().filter_map(|(&stage, done)| {
            let begun = done.steps.last_key_value().map(|(&task, _)| task);
            let last = done.ranges.last_key_value().map(|(_, range)| range.end.saturating_sub(1));
            begun.max(last).map(|task| (stage, task))
        })
    }
}

impl StageDone {
    fn add(&mut self, mut start: u64, range: Range) {
        let Range { mut end, mut digest } = range;
        // What is known twice is not counted twice.
        if self.ranges.range(..=start).next_back().is_some_and(|(_, known)| end <= known.end) {
            return;
        }
        let begun: Vec<u64> = self.steps.range(start..end).map(|(&task, _)| task).collect();
        for task in begun {
            self.steps.remove(&task);
        }
        // Every range that meets or touches the new one becomes a part of it.
        while let Some((&low, &known)) = self.ranges.range(..=end).next_back()
            && known.end >= start
        {
            self.ranges.remove(&low);
            let touches = known.end == start || low == end;
            digest = digest.zip(known.digest).filter(|_| touches).map(|(a, b)| a + b);
            (start, end) = (start.min(low), end.max(known.end));
        }
        self.ranges.insert(start, Range { end, digest });
    }

    fn remove(&mut self, start: u64, end: u64) {
        self.steps.retain(|task, _| !(start..end).contains(task));
        while let Some((&low, &known)) = self.ranges.range(..end).next_back()
            && known.end > start
        {
            self.ranges.remove(&low);
            for (from, to) in [(low, start), (end, known.end)] {
                if from < to {
                    self.ranges.insert(from, Range { end: to, digest: None });
                }
            }
        }
    }

    fn contains(&self, task: u64) -> bool {
        self.ranges.range(..=task).next_back().is_some_and(|(_, range)| task < range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set_of_disjoint_ranges(
            marked in prop::collection::vec((0_u64..25, 1_u64..6, 0_u8..5), 0..30),
        ) {
            let mut done = DoneSet::default();
            let mut set = BTreeSet::new();
            for (start, count, kind) in marked {
                let tasks = TaskRange::new(3, start..start + count);
                if kind > 0 {
                    done.add_range(3, start, start + count);
                    set.extend(start..start + count);
                } else {
                    done.add_mark(Mark::undone(&tasks));
                    set.retain(|task| !(start..start + count).contains(task));
                }
                prop_assert_eq!(done.is_empty(), set.is_empty());
            }
            prop_assert_eq!(done.count(3), set.len() as u64);
            for task in 0..32 {
                prop_assert_eq!(done.contains(3, task), set.contains(&task));
            }
            let ranges: Vec<_> = done.ranges(3).collect();
            prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let mut again = DoneSet::default();
            done.marks().for_each(|mark| again.add_mark(mark));
            prop_assert_eq!(again, done);
        }
    }

    fn digest(of: u64) -> Digest {
        format!("{of:032x}").parse().unwrap()
    }

    #[test]
    fn digests_add_up_where_all_are_known() {
        let mark = |task, of| Mark::task(0, task).with_digest(Some(digest(of)));
        let mut done = DoneSet::default();
        assert_eq!(done.digest(0), Some(Digest::default()));
        for mark in [mark(5, 1), mark(7, 20), mark(6, 300), mark(6, 300), mark(0, 4000)] {
            done.add_mark(mark);
        }
        assert_eq!(done.digest(0), Some(digest(1 + 20 + 300 + 4000)), "each once");
        let marks: Vec<Mark> = done.marks().collect();
        assert_eq!((marks.len(), marks[1].digest), (2, Some(digest(321))));
        done.add(0, 8);
        assert_eq!(done.digest(0), None);
        // Of tasks that are to be done again it is not known, until they are; nor of those marked
        // with them.
        let mut again = DoneSet::default();
        for mark in [mark(0, 1), mark(1, 20), mark(5, 300)] {
            again.add_mark(mark);
        }
        again.remove(&TaskRange::new(0, 5..6));
        assert_eq!((again.count(0), again.digest(0)), (2, Some(digest(21))));
        again.add_mark(mark(5, 300));
        assert_eq!(again.digest(0), Some(digest(321)));
        again.remove(&TaskRange::new(0, 1..2));
        again.add_mark(mark(1, 20));
        assert_eq!((again.count(0), again.digest(0)), (3, None));
        // A range of which some is known already: what the two have in common is not known.
        let mut overlaps = DoneSet::default();
        overlaps.add_mark(mark(6, 3));
        overlaps.add_mark(Mark { tasks: 3, ..mark(5, 9) });
        assert_eq!((overlaps.count(0), overlaps.digest(0)), (3, None));
    }

    #[test]
    fn parts_of_a_set_make_the_set() {
        let mark =
            |task, of| Mark { tasks: 4, ..Mark::task(0, task) }.with_digest(Some(digest(of)));
        let mut done = DoneSet::default();
        for mark in [mark(0, 1), mark(10, 20), mark(14, 300)] {
            done.add_mark(mark);
        }
        done.add_steps(0, 30, 2);
        done.add(1, 3);
        let part = |start, end| done.within(&TaskRange::new(0, start..end));
        assert_eq!((part(0, 10).count(0), part(0, 10).digest(0)), (4, Some(digest(1))));
        assert_eq!((part(10, 18).count(0), part(10, 18).digest(0)), (8, Some(digest(320))));
        assert_eq!((part(11, 18).count(0), part(11, 18).digest(0)), (7, None));
        assert_eq!((part(18, 40).count(0), part(18, 40).steps(0, 30)), (0, 2));
        let mut again = part(0, 10);
        again.join(&part(10, 40));
        again.join(&done.within(&TaskRange::new(1, 0..9)));
        assert_eq!(again, done);
    }

    #[test]
    fn the_digest_of_steps_is_that_of_the_most() {
        let mark = |steps, of| Mark::steps(1, 4, steps).with_digest(Some(digest(of)));
        let mut done = DoneSet::default();
        assert_eq!(done.steps_digest(1, 4), Some(Digest::default()));
        done.add_mark(mark(3, 30));
        done.add_mark(mark(2, 20));
        assert_eq!(done.steps_digest(1, 4), Some(digest(30)));
        done.add_steps(1, 4, 5);
        assert_eq!((done.steps(1, 4), done.steps_digest(1, 4)), (5, None));
    }

    #[test]
    fn steps_count_until_the_task_is_done() {
        let mut done = DoneSet::default();
        done.add_steps(0, 5, 3);
        done.add_steps(0, 5, 2);
        assert_eq!((done.steps(0, 5), done.count(0)), (3, 0));
        done.add(0, 5);
        done.add_steps(0, 5, 9);
        assert_eq!((done.steps(0, 5), done.count(0)), (0, 1));
        done.add_steps(0, 6, 2);
        done.remove(&TaskRange::new(0, 6..7));
        assert_eq!((done.steps(0, 6), done.count(0)), (0, 1));
    }
}
