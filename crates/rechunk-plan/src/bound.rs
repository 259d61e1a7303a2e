//! The least that a plan with an intermediate can cost, whatever its boxes: where a plan without one is
//! cheaper, none has to be searched for.

use crate::PlanRequest;
use crate::cuts::Cuts;
use crate::draft::staged;
use crate::price::{Parallel, price};
use crate::sizing::Sizing;

/// Seconds below which no plan with an intermediate is priced, reading chunks or, with `reads_shards`,
/// whole shards: each input is read once and each object written once, the intermediate is one object,
/// and everything runs as much at once as it may. A price grows with every count and falls with what
/// runs at once (`price.rs`), so boxes can only add to it.
pub(crate) fn staged_seconds_min(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    reads_shards: bool,
) -> f64 {
    let sizing = Sizing::new(request, cuts, reads_shards);
    let whole: Vec<u64> = request.shape.iter().map(|&extent| extent.max(1)).collect();
    let tasks_at_once = request.budget.threads.max(1);
    let parallel = Parallel { tasks_at_once, lanes: u32::MAX };
    let stages = staged(&sizing, &[whole.clone(), whole]).stages;
    let seconds = stages.into_iter().map(|stage| {
        let mut figures = stage.figures(request, cuts);
        figures.whole_tasks = f64::from(tasks_at_once);
        figures.steps = figures.tasks;
        (figures.reading, figures.decoding) = (u64::MAX, u64::MAX);
        (figures.writing, figures.putting) = (u64::MAX, u64::MAX);
        // Smaller objects may take no parts.
        figures.traffic.intermediate.part_requests = 0;
        price(request, &figures, parallel).0
    });
    seconds.sum()
}
