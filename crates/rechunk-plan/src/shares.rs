//! Shares of one stage, or of several that follow each other, for processes that divide them.

use std::ops::Range;

use crate::geometry::StageGeometry;

/// A stage to be divided: of one array among others, perhaps.
#[derive(Debug)]
pub struct Divided<'a> {
    /// Its geometry.
    pub geometry: &'a StageGeometry,
    /// Its tasks.
    pub tasks: u64,
    /// Bytes of one element.
    pub item_bytes: u64,
}

/// Divides stages that follow each other: the tasks of each that are of share `index` of `of`.
///
/// Shares follow each other, and hold equally many bytes as far as tasks can be divided so: tasks
/// at the ends of axes are smaller than others. A task is of the share in which its middle lies.
/// There may be empty shares; all is empty for an `index` that is no share.
pub fn share(stages: &[Divided<'_>], index: u64, of: u64) -> Vec<Range<u64>> {
    if index >= of {
        return stages.iter().map(|_| 0..0).collect();
    }
    let first = boundaries(stages, index, of);
    let end = boundaries(stages, index + 1, of);
    first.into_iter().zip(end).map(|(first, end)| first..end).collect()
}

/// The first task of share `index` in each stage: the first of whose middle more than `index`
/// shares' part of all bytes lies before.
fn boundaries(stages: &[Divided<'_>], index: u64, of: u64) -> Vec<u64> {
    if index == of {
        return stages.iter().map(|stage| stage.tasks).collect();
    }
    let total: u128 = stages.iter().map(|stage| stage.weight_before(stage.tasks)).sum();
    // Twice the middle of a task is the sum of the weights before it and before the next.
    let end = total.saturating_mul(u128::from(index)).saturating_mul(2);
    let is_before = |twice_the_middle: u128| twice_the_middle.saturating_mul(of.into()) <= end;
    let mut before = 0;
    let of_stage = |stage: &Divided<'_>| {
        let (mut low, mut high) = (0, stage.tasks);
        while low < high {
            let middle = low + (high - low) / 2;
            let [start, end] = [middle, middle + 1].map(|task| before + stage.weight_before(task));
            let is_before = is_before(start + end);
            if is_before { low = middle + 1 } else { high = middle }
        }
        before += stage.weight_before(stage.tasks);
        low
    };
    stages.iter().map(of_stage).collect()
}

impl Divided<'_> {
    /// Weight of the tasks before `task`: their bytes, and one for each, which a task without
    /// elements has too.
    fn weight_before(&self, task: u64) -> u128 {
        let elements = u128::from(self.geometry.elements_of(0, task));
        elements.saturating_mul(self.item_bytes.into()) + u128::from(task)
    }
}
