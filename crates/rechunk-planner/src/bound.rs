//! Least cost of a plan with an intermediate, whatever its boxes. Where a plan without one is
//! cheaper, none has to be searched for.

use rechunk_plan::count::product;
use rechunk_plan::{Cuts, Parallel, PlanRequest, price};

use crate::draft::staged;
use crate::inputs::{Inputs, axis_extents};

/// Seconds below which no plan with an intermediate is priced, reading chunks or, with
/// `reads_shards`, whole shards. Each input is read once and each object written once, the
/// intermediate is one object, and everything runs as much at once as it may. A price grows with
/// every count and falls with what runs at once (`price.rs`), so boxes can only add to it.
pub(crate) fn staged_seconds_min(
    request: &PlanRequest,
    cuts: &Cuts<'_>,
    reads_shards: bool,
) -> f64 {
    let inputs = Inputs { request, cuts, reads_shards };
    let whole = axis_extents(request);
    let tasks_at_once = request.budget.threads.max(1);
    let parallel = Parallel { tasks_at_once, lanes: u32::MAX };
    let stages = staged(inputs, &[whole.clone(), whole]).stages;
    let seconds = stages.into_iter().map(|stage| {
        let mut figures = stage.figures(request, cuts);
        // As many as keep all workers busy.
        figures.whole_tasks = f64::from(tasks_at_once) * f64::from(request.budget.workers);
        figures.steps = figures.tasks;
        (figures.reading, figures.decoding) = (u64::MAX, u64::MAX);
        (figures.writing, figures.putting) = (u64::MAX, u64::MAX);
        // Smaller objects may take no parts.
        figures.traffic.intermediate.part_requests = 0;
        if request.source.plain_order().is_some() {
            // Smaller boxes may leave the padding out that lies between the rows of a chunk, or
            // what they take of chunks of many lengths is less on average.
            figures.passed_over = 1.0;
            let elements = product(request.shape.iter().copied());
            let role = &mut figures.traffic.source;
            role.read_bytes = role.read_bytes.min(elements.saturating_mul(request.item_bytes));
        }
        price(request, &figures, parallel).0
    });
    seconds.sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan;
    use rechunk_plan::{
        Budget, IntermediateGrid, Multipart, Parts, PartsSide, Profile, ShardSide, Side,
        StoreProfile, Strategy,
    };

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn no_plan_with_an_intermediate_costs_less(
            axes in prop::collection::vec((1_u64..900, 1_u64..40, 1_u64..40, 1_u64..4), 1..4),
            stores in [0_usize..4, 0_usize..4, 0_usize..4], extra in 0_u64..4_000_000,
            is_multistage: bool, keeps_absence: bool, in_memory: bool, in_shards: [bool; 2],
            (threads, workers) in (1_u32..6, 1_u32..4), concurrency in prop::option::of(1_u32..64),
            part_bytes in prop::option::of(1_u64..4000), block_bytes in prop::option::of(1_u64..900),
        ) {
            let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
            let side = |chunk: Vec<u64>, in_shards: bool| {
                let shape = chunk.iter().zip(&axes).map(|(chunk, axis)| chunk * axis.3).collect();
                let mut side = Side::raw(&chunk, 4);
                side.encoded_bytes_expected /= 3;
                side.shard =
                    in_shards.then_some(ShardSide { shape, index_bytes: 100, index_first: false, tables: None });
                side
            };
            let store = |of: usize| {
                let mut store = StoreProfile::built_in(["local", "s3", "hdd", "memory"][of]).unwrap();
                store.multipart = part_bytes
                    .map(|part_bytes| Multipart { threshold_bytes: 2 * part_bytes, part_bytes });
                store
            };
            let [source, intermediate, target] = stores.map(store);
            let mut source_side = side(axes.iter().map(|axis| axis.1).collect(), in_shards[0]);
            source_side.parts = block_bytes.map(|block_bytes| {
                let parts = if !in_shards[0] && block_bytes.is_multiple_of(2) {
                    Parts::Elements
                } else {
                    Parts::Blocks { block_bytes, are_read_apart: !in_shards[0] }
                };
                PartsSide { order: (0..shape.len()).collect(), parts }
            });
            let strategy = if is_multistage { Strategy::Multistage } else { Strategy::PushPull };
            let elements: u64 = shape.iter().product();
            let request = PlanRequest {
                shape,
                item_bytes: 4,
                source: source_side,
                target: side(axes.iter().map(|axis| axis.2).collect(), in_shards[1]),
                is_variable: false,
                same_encoding: false,
                same_shards: false,
                store_can_copy: false,
                keeps_absence,
                budget: Budget {
                    memory_bytes: (4 << 20) + extra + if in_memory { 8 * elements } else { 0 },
                    box_bytes: None,
                    threads,
                    concurrency,
                    workers,
                },
                profile: Profile { source, intermediate, target, ..Profile::uniform(&StoreProfile::local()) },
                strategy,
                intermediate_grid: IntermediateGrid::Exact,
                intermediate_in_memory: in_memory,
            };
            let Ok(planned) = plan(&request) else { return Ok(()) };
            let cuts = Cuts::new(&request);
            let readings = if in_shards[0] { &[false, true][..] } else { &[false] };
            let least = readings.iter().map(|&reads| staged_seconds_min(&request, &cuts, reads));
            let least = least.fold(f64::INFINITY, f64::min);
            let seconds = planned.plan.estimate.seconds;
            prop_assert!(least <= seconds, "{} s, and a plan takes {}", least, seconds);
        }
    }
}
