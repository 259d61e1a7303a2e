//! Properties of plans, whatever the arrays.

use proptest::prelude::*;
use rechunk_plan::{
    Divided, IntermediateGrid, Multipart, Plan, Profile, ShardSide, StageGeometry, StoreProfile,
    Strategy as Kind, share,
};
use rechunk_planner::{PlanError, cheapest, plan};

use crate::checks::{
    assert_counts, assert_indexes_fit, assert_least, assert_one_writer, assert_resident,
};
use crate::requests::{arrays, into_lengths, into_shards, lists, request, split};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_plan_has_one_writer_and_keeps_its_budget(
        axes in arrays(), extra in 0_u64..60_000, kind in 0_usize..8, shards: (bool, bool),
        lists in prop::option::of(lists()), keeps_absence: bool,
        multipart in prop::option::of((0_u64..300, 1_u64..300)),
    ) {
        let (shape, source, target) = split(&axes);
        let fixed = (1 << 20) + 2 * (128 << 10);
        let mut request = request(&shape, &source, &target, fixed + extra);
        request.keeps_absence = keeps_absence;
        into_shards(&mut request, &axes, shards);
        request.profile.target.multipart = multipart.map(|(threshold_bytes, part_bytes)| {
            Multipart { threshold_bytes, part_bytes }
        });
        if let Some(lists) = &lists {
            into_lengths(&mut request, lists);
        }
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
                assert_counts(&planned.plan)?;
                assert_resident(&planned.plan)?;
                assert_indexes_fit(&planned.plan, &request)?;
            }
            Err(PlanError::DoesNotFit { .. }) => assert_least(&mut request),
            Err(PlanError::NotApplicable { strategy, .. }) => {
                prop_assert!(matches!(strategy, Kind::Direct | Kind::Passthrough));
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    /// Parts are smaller where memory is, so that what is named as the least is enough.
    #[test]
    fn shards_on_an_object_store_fit_the_least_that_is_named(
        chunk_mib in 1_u64..200, chunks in 2_u64..9, budget_mib in 1_u64..2000,
    ) {
        let chunk = chunk_mib << 18;
        let target = [chunk];
        let mut request = request(&[chunk * chunks * 3], &[chunk / 2 + 1], &target, budget_mib << 20);
        request.profile = Profile::uniform(&StoreProfile::built_in("s3").unwrap());
        let index_bytes = 16 * chunks + 4;
        let shape = vec![chunk * chunks];
        request.target.shard = Some(ShardSide { shape, index_bytes, index_first: false, tables: None });
        if let Err(PlanError::DoesNotFit { minimum_bytes, .. }) = plan(&request) {
            request.budget.memory_bytes = minimum_bytes;
            let planned = plan(&request);
            prop_assert!(planned.is_ok(), "{:?} with the minimum", planned.err());
            request.budget.memory_bytes = minimum_bytes - 1;
            prop_assert!(plan(&request).is_err());
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Not searching what is sure to be dearer leads to the same plan, and the same refusal.
    #[test]
    fn the_cheapest_is_what_all_are_compared_for(
        axes in arrays(), scale in 1_u64..40, extra in 0_u64..4_000_000, store in 0_usize..3,
        lists in prop::option::of(lists()), shards: (bool, bool), keeps_absence: bool,
        multipart in prop::option::of((0_u64..300, 1_u64..300)), threads in 1_u32..5,
    ) {
        let (shape, source, target) = split(&axes);
        let shape: Vec<u64> = shape.iter().map(|extent| extent * scale).collect();
        let mut request = request(&shape, &source, &target, (1 << 20) + (1 << 19) + extra);
        let store = StoreProfile::built_in(["local", "s3", "hdd"][store]).unwrap();
        request.profile = Profile::uniform(&store);
        request.budget.threads = threads;
        request.keeps_absence = keeps_absence;
        into_shards(&mut request, &axes, shards);
        request.profile.target.multipart = multipart.map(|(threshold_bytes, part_bytes)| {
            Multipart { threshold_bytes, part_bytes }
        });
        if let Some(lists) = lists.filter(|_| scale == 1) {
            into_lengths(&mut request, &lists);
        }
        let (all, cheapest) = (plan(&request), cheapest(&request));
        prop_assert_eq!(all.map(|all| all.plan), cheapest.map(|cheapest| cheapest.plan));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Every task is in one share, and no share is more than a task away from an equal part.
    #[test]
    fn shares_of_stages_are_all_of_them_once_and_balanced(
        stages in prop::collection::vec((arrays(), 0_u64..60_000, 1_u64..9), 1..4), of in 1_u64..12,
    ) {
        let plans: Vec<(Plan, u64)> = stages
            .iter()
            .filter_map(|(axes, extra, item_bytes)| {
                let (shape, source, target) = split(axes);
                let request = request(&shape, &source, &target, (2 << 20) + extra);
                plan(&request).ok().map(|planned| (planned.plan, *item_bytes))
            })
            .collect();
        let found: Vec<(StageGeometry, u64, u64)> = plans
            .iter()
            .filter_map(|(plan, item_bytes)| {
                Some((plan.geometry(0).ok()?, plan.stages[0].tasks, *item_bytes))
            })
            .collect();
        let divided: Vec<Divided<'_>> = found
            .iter()
            .map(|&(ref geometry, tasks, item_bytes)| Divided { geometry, tasks, item_bytes })
            .collect();
        let weight = |number: usize, start: u64, end: u64| {
            let (geometry, _, item_bytes) = &found[number];
            geometry.elements_of(start, end) * item_bytes + end - start
        };
        let total: u64 = (0..found.len()).map(|number| weight(number, 0, found[number].1)).sum();
        let tasks = |number: usize| (0..found[number].1).map(move |task| (number, task));
        let largest = (0..found.len()).flat_map(tasks).map(|(n, t)| weight(n, t, t + 1)).max();
        let mut next = vec![0; found.len()];
        for index in 0..of {
            let mut of_share = 0;
            for (number, range) in share(&divided, index, of).into_iter().enumerate() {
                prop_assert_eq!(range.start, next[number]);
                next[number] = range.end;
                of_share += weight(number, range.start, range.end);
            }
            let equal = total as f64 / of as f64;
            let away = (of_share as f64 - equal).abs();
            prop_assert!(away <= largest.unwrap_or(0) as f64, "{of_share} of {total} in {of}");
        }
        let all: Vec<u64> = found.iter().map(|(_, tasks, _)| *tasks).collect();
        prop_assert_eq!(next, all);
        prop_assert!(share(&divided, of, of).iter().all(std::ops::Range::is_empty));
    }
}
