//! What holds for every plan, whatever the arrays: one writer per object, budget kept, the
//! minimum named in the error is the minimum, equal requests give equal plans.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use rechunk_grid::Region;
use rechunk_plan::{
    Budget, IntermediateGrid, Plan, PlanError, PlanRequest, Profile, Side, StageInput, StageOutput,
    StoreProfile, Strategy as Kind, piece_offset_elements, plan,
};

fn request(shape: &[u64], source: &[u64], target: &[u64], memory_bytes: u64) -> PlanRequest {
    let side = |chunk: &[u64]| {
        let mut side = Side::raw(chunk, 4);
        side.is_raw = false;
        "zstd".clone_into(&mut side.codec);
        side.encoded_bytes_max += side.encoded_bytes_max / 8 + 64;
        side.encoded_bytes_expected /= 2;
        side
    };
    PlanRequest {
        shape: shape.to_vec(),
        item_bytes: 4,
        source: side(source),
        target: side(target),
        same_encoding: true,
        budget: Budget { memory_bytes, box_bytes: None, threads: 2, concurrency: None, workers: 1 },
        profile: Profile::uniform(&StoreProfile::local()),
        strategy: Kind::Auto,
        intermediate_grid: IntermediateGrid::Exact,
        intermediate_in_memory: false,
    }
}

type Axis = (u64, u64, u64);

fn arrays() -> impl Strategy<Value = Vec<Axis>> {
    let axis = (0_u64..40, 1_u64..16, 1_u64..16);
    prop::collection::vec(axis, 0..4)
}

fn split(axes: &[Axis]) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
    let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
    let source = axes.iter().map(|axis| axis.1).collect();
    // As the facade does: a target chunk larger than its axis is clipped.
    let target = axes.iter().map(|axis| axis.2.min(axis.0.max(1))).collect();
    (shape, source, target)
}

/// Tiles partition the array; a unit of the target lies in one tile; pieces partition objects.
fn assert_one_writer(plan: &Plan) -> Result<(), TestCaseError> {
    let elements: u64 = plan.shape.iter().product();
    for (number, stage) in plan.stages.iter().enumerate() {
        let geometry = plan.geometry(number).unwrap();
        prop_assert_eq!(geometry.task_count(), stage.tasks);
        let mut seen = 0;
        for task in 0..geometry.task_count() {
            let tile = geometry.tile(task);
            seen += tile.elements();
            let mut in_units = 0;
            let mut offset = 0;
            for index in geometry.units(&tile).positions() {
                let unit = geometry.unit_region(&index, &tile).unwrap();
                match stage.output {
                    StageOutput::TargetChunks => {
                        prop_assert_eq!(&unit, &geometry.output_grid().region(&index));
                    }
                    StageOutput::Pieces { .. } => {
                        prop_assert_eq!(piece_offset_elements(&tile, &unit), offset);
                        offset += unit.elements();
                    }
                }
                in_units += unit.elements();
                let steps: Vec<Region> = geometry.steps(&tile).collect();
                let touching = geometry.input_grid().covering(&unit);
                let last =
                    steps.iter().rposition(|step| step.intersect(&touching).is_some()).unwrap();
                prop_assert_eq!(geometry.last_step(&tile, &unit), last as u64);
                prop_assert_eq!(geometry.inputs_touching(&unit), touching.elements());
            }
            prop_assert_eq!(in_units, tile.elements());
            let inputs: u64 = geometry.steps(&tile).map(|step| step.elements()).sum();
            prop_assert_eq!(inputs, geometry.input_grid().covering(&tile).elements());
        }
        prop_assert_eq!(seen, elements);
        if let StageInput::Pieces { written_in } = &stage.input {
            prop_assert_eq!(written_in, &plan.stages[number - 1].tile);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_plan_has_one_writer_and_keeps_its_budget(
        axes in arrays(), extra in 0_u64..60_000, kind in 0_usize..8,
    ) {
        let (shape, source, target) = split(&axes);
        let fixed = (1 << 20) + 2 * (128 << 10);
        let mut request = request(&shape, &source, &target, fixed + extra);
        request.strategy = Kind::KINDS.get(kind).copied().unwrap_or(Kind::Auto);
        match plan(&request) {
            Ok(planned) => {
                let plan_again = plan(&request).unwrap().plan;
                prop_assert_eq!(&plan_again, &planned.plan);
                let json = serde_json::to_string(&planned.plan).unwrap();
                let read: Plan = serde_json::from_str(&json).unwrap();
                prop_assert_eq!(&read, &planned.plan);
                prop_assert!(planned.plan.memory.planned_peak_bytes <= request.budget.memory_bytes);
                if request.strategy != Kind::Auto {
                    prop_assert_eq!(planned.plan.kind, request.strategy);
                }
                assert_one_writer(&planned.plan)?;
            }
            Err(PlanError::DoesNotFit { minimum_bytes, .. }) => {
                request.budget.memory_bytes = minimum_bytes;
                let planned = plan(&request);
                prop_assert!(planned.is_ok(), "{:?} with the minimum", planned.err());
                request.budget.memory_bytes = minimum_bytes - 1;
                prop_assert!(plan(&request).is_err());
            }
            Err(PlanError::NotApplicable { strategy, .. }) => {
                prop_assert!(matches!(strategy, Kind::Direct | Kind::Passthrough));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn min_grid_boxes_nest(axes in arrays(), extra in 0_u64..60_000) {
        let (shape, source, target) = split(&axes);
        let mut request = request(&shape, &source, &target, (1 << 21) + extra);
        request.strategy = Kind::PushPull;
        request.intermediate_grid = IntermediateGrid::Min;
        if let Ok(planned) = plan(&request) {
            let (read, write) = (&planned.plan.stages[0].tile, &planned.plan.stages[1].tile);
            let grid: Vec<u64> = read.iter().zip(write).map(|(&r, &w)| r.min(w)).collect();
            // Exact pieces of nesting boxes are the chunks of the regular grid min(read, write).
            let pieces = planned.plan.estimate.intermediate.get_requests;
            let chunks: u64 = shape.iter().zip(&grid).map(|(&n, &g)| n.div_ceil(g)).product();
            prop_assert_eq!(pieces, chunks);
            assert_one_writer(&planned.plan)?;
        }
    }
}

#[test]
fn a_satellite_archive_of_a_billion_chunks_plans_within_two_gigabytes() {
    let mut request =
        request(&[1_000_000, 18_000, 36_000], &[1, 600, 1200], &[10_000, 100, 100], 2_000_000_000);
    request.profile = Profile::uniform(&StoreProfile::built_in("s3").unwrap());
    let planned = plan(&request).unwrap();
    assert_eq!(planned.plan.estimate.target.put_requests, 100 * 180 * 360);
    assert!(planned.plan.memory.planned_peak_bytes <= 2_000_000_000);
    assert!(serde_json::to_string(&planned.plan).unwrap().len() < 8192);
}
