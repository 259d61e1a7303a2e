//! Networks that find the middle of few values: the same comparisons whatever the values, so that
//! many cells are sorted at once.

/// The comparisons after which the lower middle of `count` values is at its place.
///
/// A [`sorting_network`] without the comparisons that do not reach the middle.
pub(crate) fn median_network(count: usize) -> Vec<(usize, usize)> {
    let mut network = sorting_network(count);
    let mut is_wanted = vec![false; count];
    if let Some(middle) = is_wanted.get_mut(count.saturating_sub(1) / 2) {
        *middle = true;
    }
    let mut kept = Vec::with_capacity(network.len());
    while let Some((low, high)) = network.pop() {
        if is_wanted[low] || is_wanted[high] {
            is_wanted[low] = true;
            is_wanted[high] = true;
            kept.push((low, high));
        }
    }
    kept.reverse();
    kept
}

/// The comparisons that sort `count` values: each leaves the lesser of two at the first place.
///
/// Batcher's merge exchange (Knuth, "The art of computer programming", volume 3, algorithm 5.2.2M).
pub(crate) fn sorting_network(count: usize) -> Vec<(usize, usize)> {
    let mut network = Vec::new();
    let top = count.next_power_of_two() / 2;
    let mut step = top;
    while step > 0 {
        let (mut span, mut bit, mut distance) = (top, 0, step);
        loop {
            let lows = (0..count.saturating_sub(distance)).filter(|low| low & step == bit);
            network.extend(lows.map(|low| (low, low + distance)));
            if span == step {
                break;
            }
            distance = span - step;
            span /= 2;
            bit = step;
        }
        step /= 2;
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(network: &[(usize, usize)], values: &[u32]) -> Vec<u32> {
        let mut values = values.to_vec();
        for &(low, high) in network {
            if values[low] > values[high] {
                values.swap(low, high);
            }
        }
        values
    }

    #[test]
    fn a_network_finds_the_lower_middle_of_all_zeros_and_ones() {
        // A network that sorts all zeros and ones sorts everything (Knuth, theorem 5.3.4Z).
        for count in 1..=16 {
            let (median, all) = (median_network(count), sorting_network(count));
            for case in 0..1_u32 << count {
                let values: Vec<_> = (0..count).map(|at| case >> at & 1).collect();
                let zeros = count - case.count_ones() as usize;
                assert!(run(&all, &values).is_sorted());
                let values = run(&median, &values);
                let middle = (count - 1) / 2;
                assert_eq!(values[middle], u32::from(middle >= zeros), "{count} {case:b}");
            }
        }
    }
}
