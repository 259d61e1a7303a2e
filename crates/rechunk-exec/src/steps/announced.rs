//! Announces a task's next inputs to its store, where that reads them from a disk meanwhile.

use rechunk_grid::{IndexIter, Region};
use rechunk_kernel::wide;
use rechunk_plan::{StageGeometry, Steps};

use crate::Execution;
use crate::stage::task::TaskRun;
use crate::stage::way_in::WayIn;
use crate::ways_in::announce::{ANNOUNCED_BYTES, bytes_max};

/// Most inputs of a task that are announced at a time.
const ANNOUNCED_INPUTS: u64 = 256;
/// Where all seems to be in memory, one input in so many is looked for there.
const LOOKED_FOR: u64 = 256;

/// Number of inputs of a task that are announced before they are read, where a disk is. `next` are
/// about to be taken in.
pub(crate) fn inputs_max(
    way_in: &WayIn,
    execution: &Execution,
    geometry: &StageGeometry,
    next: u64,
) -> u64 {
    let next = next.min(ANNOUNCED_INPUTS);
    let of_bytes = |bytes: u64| next.min((ANNOUNCED_BYTES / bytes.max(1)).max(1));
    bytes_max(way_in, execution, geometry).map_or(0, of_bytes)
}

/// Goes through the inputs of a task ahead of those that are taken in, in the same order.
pub(crate) struct Announced<S = Steps> {
    steps: S,
    /// Number of steps it has begun, and the inputs of the last one.
    steps_begun: u64,
    inputs: IndexIter,
    /// Number of inputs it has gone through.
    passed: u64,
    /// Number of inputs that are taken in, or were.
    begun: u64,
    /// Value of `begun` when an input was last looked for in memory.
    looked_for: u64,
    /// So many are announced that are not.
    most: u64,
}

impl Announced {
    pub(crate) fn new(task: &TaskRun) -> Self {
        Self::of(task.stage.geometry.steps(&task.tile), task.stage.announced_inputs)
    }

    /// The next `indices` are about to be taken in: those to be announced before.
    pub(crate) fn before(&mut self, task: &TaskRun, indices: &[Vec<u64>]) -> Vec<Vec<u64>> {
        self.begins(indices.len());
        let reads_from_disk = task.stage.in_place.reads_from_disk();
        self.following(indices, reads_from_disk, |step, index| task.wants(step, index))
    }
}

impl<S: Iterator<Item = Region>> Announced<S> {
    fn of(steps: S, most: u64) -> Self {
        let inputs = Region::new(vec![0], vec![0]).positions();
        Self { steps, steps_begun: 0, inputs, passed: 0, begun: 0, looked_for: 0, most }
    }

    /// The next `count` inputs are about to be taken in.
    pub(crate) fn begins(&mut self, count: usize) {
        self.begun += wide(count);
    }

    fn following(
        &mut self,
        indices: &[Vec<u64>],
        reads_from_disk: bool,
        wants: impl Fn(u64, &[u64]) -> bool,
    ) -> Vec<Vec<u64>> {
        let mut announced = Vec::new();
        if self.most == 0 {
            return announced;
        }
        if !reads_from_disk {
            if self.begun - self.looked_for >= LOOKED_FOR {
                self.looked_for = self.begun;
                announced.extend(indices.last().cloned());
            }
            return announced;
        }
        // All at once if nothing was announced for long: not more than have been taken in
        // meanwhile.
        while self.passed < self.begun && self.next(&wants).is_some() {}
        while self.passed < self.begun.saturating_add(self.most)
            && let Some(index) = self.next(&wants)
        {
            announced.push(index);
        }
        announced
    }

    fn next(&mut self, wants: impl Fn(u64, &[u64]) -> bool) -> Option<Vec<u64>> {
        loop {
            let step = self.steps_begun.saturating_sub(1);
            if let Some(index) = self.inputs.find(|index| wants(step, index)) {
                self.passed += 1;
                return Some(index);
            }
            self.inputs = self.steps.next()?.positions();
            self.steps_begun += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps of 200 inputs each, of which the second wants none whose number is odd.
    fn steps() -> impl Iterator<Item = Region> {
        (0..3).map(|step| Region::new(vec![step * 200], vec![200]))
    }

    fn wants(step: u64, index: &[u64]) -> bool {
        step != 1 || index[0].is_multiple_of(2)
    }

    fn wanted() -> Vec<Vec<u64>> {
        let all = steps()
            .zip(0..)
            .flat_map(|(region, step)| region.positions().map(move |at| (step, at)));
        all.filter(|(step, index)| wants(*step, index)).map(|(_, index)| index).collect()
    }

    #[test]
    fn each_is_announced_once_and_before_it_is_taken_in() {
        let wanted = wanted();
        for (job, most) in [(1, 1), (1, 4), (7, 7), (7, 28), (64, 1000)] {
            let mut ahead = Announced::of(steps(), most);
            let mut announced = Vec::new();
            for (number, indices) in wanted.chunks(job).enumerate() {
                ahead.begins(indices.len());
                announced.extend(ahead.following(indices, true, wants));
                let begun = (number + 1) * job;
                let until = (begun + usize::try_from(most).unwrap()).min(wanted.len());
                // Those of the first job are not: it is too late.
                assert_eq!(
                    announced.as_slice(),
                    &wanted[job..until.max(job)],
                    "{job} {most} {begun}"
                );
            }
        }
    }

    #[test]
    fn what_is_in_memory_is_looked_at_now_and_then() {
        let wanted = wanted();
        let mut ahead = Announced::of(steps(), 10);
        let mut looked_at = Vec::new();
        for index in &wanted[..300] {
            ahead.begins(1);
            looked_at.extend(ahead.following(std::slice::from_ref(index), false, wants));
        }
        assert_eq!(looked_at, [wanted[255].clone()]);
        // And if a disk is read after all, what comes then is announced.
        ahead.begins(1);
        let announced = ahead.following(&wanted[300..301], true, wants);
        assert_eq!(announced.as_slice(), &wanted[301..311]);
    }

    #[test]
    fn where_nothing_can_be_announced_nothing_is() {
        let wanted = wanted();
        let mut ahead = Announced::of(steps(), 0);
        for reads_from_disk in [false, true] {
            assert_eq!(ahead.following(&wanted, reads_from_disk, wants), Vec::<Vec<u64>>::new());
        }
    }
}
