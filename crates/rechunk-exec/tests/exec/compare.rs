//! Comparing instead of writing.

use proptest::prelude::*;
use rechunk_exec::Sink;
use rechunk_format::Layout;
use rechunk_grid::Region;
use rechunk_plan::Strategy as Kind;
use rechunk_store::{Meter, Role};

use crate::case::{Case, counted, execute, runtime};
use crate::strategies::all_cases;

/// Positions of the elements that differ, C order.
fn naive(case: &Case, a: &[u8], b: &[u8]) -> Vec<Vec<u64>> {
    let item = case.item_bytes();
    let pairs = a.chunks_exact(item).zip(b.chunks_exact(item));
    let positions = Region::whole(&case.shape).positions();
    positions.zip(pairs).filter(|(_, (a, b))| a != b).map(|(position, _)| position).collect()
}

/// Compares the source with an array that has `changed` elements and lacks some chunks. They are on
/// a disk, where the case may have both listed, or in memory, where nothing is.
fn assert_compares(case: &Case, changed: &[usize], lacking: u64) -> Result<(), TestCaseError> {
    let Some(plan) = case.plan() else { return Ok(()) };
    runtime().block_on(async {
        let folder = tempfile::tempdir().unwrap();
        let prepared = if case.seed.is_multiple_of(2) {
            case.prepare_in(folder.path()).await
        } else {
            case.prepare().await
        };
        let mut other = prepared.elements.clone();
        let length = other.len();
        changed.iter().filter(|_| length > 0).for_each(|at| other[at % length] ^= 1);
        let skip = |n: u64| lacking >> (n % 64) & 1 == 1;
        case.store_chunks(&case.target, &prepared.target, &other, skip).await;
        let other = case.read_all(&case.target, &prepared.target).await;
        let meter = Meter::new();
        let mut execution = prepared.execution(case, &plan, &meter);
        execution.sink = Sink::Compare(counted(&prepared.target, Role::Target, &meter));
        let report = execute(execution, None).await.unwrap();
        let found = report.differences.unwrap();
        let expected = naive(case, &prepared.elements, &other);
        prop_assert_eq!(found.count, expected.len() as u64);
        prop_assert_eq!(found.first.as_ref(), expected.first());
        if let Some(first) = &found.first {
            let point = Region::new(first.clone(), vec![1; first.len()]);
            prop_assert!(found.first_region.unwrap().contains(&point));
        }
        let target = meter.traffic().target;
        prop_assert_eq!(target.put_requests + target.put_skipped, 0);
        prop_assert_eq!(
            target.get_requests + target.get_missing,
            case.layout(&case.target).spec().grid().unwrap().count()
                + case.target.shards.as_ref().map_or(0, |_| case.objects(&case.target))
        );
        Ok(())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn finds_what_a_naive_comparison_finds(
        case in all_cases(prop::sample::select(&[Kind::Pull, Kind::Keep, Kind::Memory][..])),
        changed in prop::collection::vec(any::<usize>(), 0..4),
        lacking in prop_oneof![3 => Just(0), 1 => any::<u64>()],
    ) {
        assert_compares(&case, &changed, lacking)?;
    }
}
