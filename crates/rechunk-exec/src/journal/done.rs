//! Which tasks are done: ranges, so that ten million tasks done in order take a few bytes.

use std::collections::BTreeMap;

use super::Mark;

/// The tasks a journal says are done, and how far those begun have come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DoneSet {
    stages: BTreeMap<usize, StageDone>,
}

/// Done tasks of one stage.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct StageDone {
    /// First task of a range → one past its last; ranges neither touch nor overlap.
    ranges: BTreeMap<u64, u64>,
    /// Steps done of tasks that are not done.
    steps: BTreeMap<u64, u64>,
}

impl DoneSet {
    /// Marks a task done.
    pub fn add(&mut self, stage: usize, task: u64) {
        self.add_range(stage, task, task.saturating_add(1));
    }

    /// Marks the tasks from `start` to before `end` done.
    pub fn add_range(&mut self, stage: usize, start: u64, end: u64) {
        if start < end {
            self.stages.entry(stage).or_default().add(start, end);
        }
    }

    /// Marks the first `steps` steps of a task done.
    pub fn add_steps(&mut self, stage: usize, task: u64, steps: u64) {
        let done = self.stages.entry(stage).or_default();
        if !done.contains(task) {
            let most = done.steps.entry(task).or_default();
            *most = steps.max(*most);
        }
    }

    /// True if the task is done.
    pub fn contains(&self, stage: usize, task: u64) -> bool {
        self.stages.get(&stage).is_some_and(|done| done.contains(task))
    }

    /// How many steps of a task that is not done are done.
    pub fn steps(&self, stage: usize, task: u64) -> u64 {
        self.stages.get(&stage).and_then(|done| done.steps.get(&task)).copied().unwrap_or(0)
    }

    /// How many tasks of a stage are done.
    pub fn count(&self, stage: usize) -> u64 {
        self.ranges(stage).map(|(start, end)| end - start).sum()
    }

    /// Ranges of done tasks in order: first, and one past the last.
    pub fn ranges(&self, stage: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        let done = self.stages.get(&stage);
        done.into_iter().flat_map(|done| done.ranges.iter().map(|(&start, &end)| (start, end)))
    }

    /// True if nothing is done.
    pub fn is_empty(&self) -> bool {
        self.stages.is_empty()
    }

    /// Does what a line of the journal says.
    pub(crate) fn add_mark(&mut self, mark: Mark) {
        match mark.steps {
            Some(steps) => self.add_steps(mark.stage, mark.task, steps),
            None => self.add_range(mark.stage, mark.task, mark.task.saturating_add(mark.tasks)),
        }
    }

    /// The fewest marks that say the same.
    pub(crate) fn marks(&self) -> impl Iterator<Item = Mark> + '_ {
        self.stages.iter().flat_map(|(&stage, done)| {
            let ranges = done.ranges.iter().map(move |(&start, &end)| Mark {
                stage,
                task: start,
                tasks: end - start,
                steps: None,
            });
            ranges.chain(done.steps.iter().map(move |(&t, &steps)| Mark::steps(stage, t, steps)))
        })
    }

    /// The largest stage and task named, to check against a plan.
    pub(crate) fn largest(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.stages.iter().filter_map(|(&stage, done)| {
            let begun = done.steps.last_key_value().map(|(&task, _)| task);
            let last = done.ranges.last_key_value().map(|(_, &end)| end.saturating_sub(1));
            begun.max(last).map(|task| (stage, task))
        })
    }
}

impl StageDone {
    fn add(&mut self, mut start: u64, mut end: u64) {
        let begun: Vec<u64> = self.steps.range(start..end).map(|(&task, _)| task).collect();
        for task in begun {
            self.steps.remove(&task);
        }
        // Every range that meets or touches the new one becomes a part of it.
        while let Some((&low, &high)) = self.ranges.range(..=end).next_back()
            && high >= start
        {
            self.ranges.remove(&low);
            (start, end) = (start.min(low), end.max(high));
        }
        self.ranges.insert(start, end);
    }

    fn contains(&self, task: u64) -> bool {
        self.ranges.range(..=task).next_back().is_some_and(|(_, &end)| task < end)
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
