//! Which tasks are done: ranges, so that ten million tasks done in order take a few bytes.

use std::collections::BTreeMap;

use rechunk_kernel::Digest;

use super::line::Mark;

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
        if let Some(count) = mark.steps {
            self.add_digested_steps(mark.stage, mark.task, Steps { count, digest });
        } else {
            let end = mark.task.saturating_add(mark.tasks);
            self.add_digested(mark.stage, mark.task, Range { end, digest });
        }
    }

    /// The fewest marks that say the same.
    pub(crate) fn marks(&self) -> impl Iterator<Item = Mark> + '_ {
        self.stages.iter().flat_map(|(&stage, done)| {
            let ranges = done.ranges.iter().map(move |(&start, range)| Mark {
                stage,
                task: start,
                tasks: range.end - start,
                steps: None,
                digest: range.digest,
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
            added in prop::collection::vec((0_u64..25, 1_u64..6), 0..30),
        ) {
            let mut done = DoneSet::default();
            for &(start, count) in &added {
                done.add_range(3, start, start + count);
            }
            let set: BTreeSet<u64> =
                added.into_iter().flat_map(|(start, count)| start..start + count).collect();
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
        // A range of which some is known already: what the two have in common is not known.
        let mut overlaps = DoneSet::default();
        overlaps.add_mark(mark(6, 3));
        overlaps.add_mark(Mark { tasks: 3, ..mark(5, 9) });
        assert_eq!((overlaps.count(0), overlaps.digest(0)), (3, None));
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
    }
}
