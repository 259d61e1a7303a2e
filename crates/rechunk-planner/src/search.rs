//! Local search over lists of candidate extents: deterministic, bounded, for any number of axes.

/// Most evaluations of one descent; keeps planning in milliseconds whatever the rank.
const EVALUATIONS_MAX: usize = 3000;

/// Cost of an infeasible point: more than anything feasible, less the nearer it is to fitting.
pub(crate) const INFEASIBLE: f64 = 1e30;

/// Minimises `cost` over one value per list, starting from the positions `start`.
///
/// Each round takes the best of all moves of one list by a few places, to its ends, and of two
/// lists in opposite directions (growing a box on one axis while shrinking it on another), until
/// none is better.
pub(crate) fn descend(
    lists: &[Vec<u64>],
    start: &[usize],
    mut cost: impl FnMut(&[u64]) -> f64,
) -> (Vec<u64>, f64) {
    let mut at = start.to_vec();
    let mut values: Vec<u64> = at.iter().zip(lists).map(|(&i, list)| list[i]).collect();
    let mut best = cost(&values);
    let mut evaluations = 0;
    while evaluations < EVALUATIONS_MAX {
        let mut better: Option<(f64, Vec<usize>)> = None;
        for changes in moves(&at, lists) {
            for &(list, to) in &changes {
                values[list] = lists[list][to];
            }
            let price = cost(&values);
            evaluations += 1;
            for &(list, _) in &changes {
                values[list] = lists[list][at[list]];
            }
            if price < better.as_ref().map_or(best, |(price, _)| *price) {
                let mut to = at.clone();
                for &(list, position) in &changes {
                    to[list] = position;
                }
                better = Some((price, to));
            }
        }
        let Some((price, to)) = better else { break };
        best = price;
        at = to;
        for (list, &position) in at.iter().enumerate() {
            values[list] = lists[list][position];
        }
    }
    (values, best)
}

type Change = (usize, usize);

fn moves(at: &[usize], lists: &[Vec<u64>]) -> Vec<Vec<Change>> {
    let step = |list: usize, by: isize| -> Option<Change> {
        let to = at[list].checked_add_signed(by)?;
        (to < lists[list].len()).then_some((list, to))
    };
    let mut moves = Vec::new();
    for list in 0..lists.len() {
        moves.extend([-4, -1, 1, 4].into_iter().filter_map(|by| step(list, by)).map(|c| vec![c]));
        let last = lists[list].len() - 1;
        moves.extend([0, last].into_iter().filter(|&to| to != at[list]).map(|to| vec![(list, to)]));
    }
    for up in 0..lists.len() {
        for down in (0..lists.len()).filter(|&down| down != up) {
            for (plus, minus) in [(1, -1), (1, -2), (2, -1), (4, -4)] {
                if let (Some(a), Some(b)) = (step(up, plus), step(down, minus)) {
                    moves.push(vec![a, b]);
                }
            }
        }
    }
    moves
}

/// Candidate extents of a box along an axis of `extent`: multiples of `unit`, ends of the `other`
/// grid, and the axis. The multiples are all if they are few, else thinned towards equal splits.
pub(crate) fn extents(extent: u64, unit: u64, other: u64, also: &[u64]) -> Vec<u64> {
    const ALL_MAX: u64 = 24;
    let extent = extent.max(1);
    let count = extent.div_ceil(unit);
    let mut values: Vec<u64> = also.to_vec();
    if count <= ALL_MAX {
        values.extend((1..=count).map(|k| k * unit));
    } else {
        let mut k = 1;
        while k < count {
            values.push(k * unit);
            k = (k + k / 2).max(k + 1);
        }
        values.extend((1..=12).map(|q| count.div_ceil(q) * unit));
        let common = rechunk_plan::count::lcm_capped(unit, other, extent);
        let mut multiple = common;
        while multiple < extent {
            values.push(multiple);
            multiple = multiple.saturating_mul(2);
        }
    }
    for value in &mut values {
        *value = (*value).clamp(1, extent);
    }
    values.push(extent);
    values.sort_unstable();
    values.dedup();
    values
}

/// Position in a sorted list of the largest value not above `value`.
pub(crate) fn position_at_most(list: &[u64], value: u64) -> usize {
    list.partition_point(|&v| v <= value).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descent_finds_the_box_of_a_product_constraint() {
        // Largest a*b <= 60 preferring a: known optimum 10 x 6.
        let list: Vec<u64> = (1..=10).collect();
        let (values, price) = descend(&[list.clone(), list], &[0, 0], |v| {
            if v[0] * v[1] > 60 { INFEASIBLE } else { 1.0 / (v[0] * v[0] * v[1]) as f64 }
        });
        assert_eq!(values, [10, 6]);
        assert!(price < 1.0);
    }

    #[test]
    fn extents_are_multiples_or_the_axis() {
        for (extent, unit, other) in [(6443, 5, 6443), (1, 3, 4), (36000, 100, 3600), (0, 2, 2)] {
            let list = extents(extent, unit, other, &[]);
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]) && list.len() < 80);
            assert_eq!(list.last(), Some(&extent.max(1)));
            assert!(list.iter().all(|&v| v == extent.max(1) || v % unit == 0));
        }
    }
}
