//! Descents from several starts to the cheapest draft.

use std::collections::HashMap;

use crate::draft::Draft;
use crate::search::{INFEASIBLE, descend, position_at_most};
use crate::sizing::Sizing;

pub(super) fn positions(lists: &[Vec<u64>], values: &[u64]) -> Vec<usize> {
    lists.iter().zip(values).map(|(list, &value)| position_at_most(list, value)).collect()
}

pub(super) fn best_of(
    sizing: &Sizing<'_>,
    lists: &[Vec<u64>],
    starts: &[Vec<usize>],
    build: impl Fn(&[u64]) -> Draft,
) -> Vec<Draft> {
    best_of_where(sizing, lists, starts, build, |_| true)
}

/// The cheapest draft that a descent from one of `starts` finds; none if nothing fits.
pub(super) fn best_of_where(
    sizing: &Sizing<'_>,
    lists: &[Vec<u64>],
    starts: &[Vec<usize>],
    build: impl Fn(&[u64]) -> Draft,
    allowed: impl Fn(&[u64]) -> bool,
) -> Vec<Draft> {
    let mut best: Option<(Vec<u64>, f64)> = None;
    // Rounds of a descent meet most points again, and descents end in the same places.
    let mut costs: HashMap<Vec<u64>, f64> = HashMap::new();
    for start in starts {
        let found = descend(lists, start, |values| {
            if let Some(&cost) = costs.get(values) {
                return cost;
            }
            let is_allowed = allowed(values);
            let cost = if is_allowed { sizing.cost(&build(values)) } else { INFEASIBLE * 1e12 };
            costs.insert(values.to_vec(), cost);
            cost
        });
        if best.as_ref().is_none_or(|(_, price)| found.1 < *price) {
            best = Some(found);
        }
    }
    let fits = best.filter(|(_, price)| *price < INFEASIBLE);
    fits.map(|(values, _)| build(&values)).into_iter().collect()
}
