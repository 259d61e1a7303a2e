//! Positions of integers in a table.

/// No position.
const NONE: u32 = u32::MAX;
/// Integers that a dense index may span, for each entry and in addition.
const SPAN_PER_ENTRY: usize = 8;
const SPAN_MIN: usize = 1 << 16;

/// Finds integers among the keys of a table.
#[derive(Debug)]
pub(super) struct Lookup {
    /// Keys in ascending order.
    keys: Vec<i128>,
    /// Positions of the integers from the first key on, if keys lie close enough.
    dense: Vec<u32>,
}

impl Lookup {
    /// Indexes keys, which ascend; at most `u32::MAX - 1` of them.
    pub(super) fn new(keys: Vec<i128>) -> Self {
        let span = match (keys.first(), keys.last()) {
            (Some(first), Some(last)) => last.checked_sub(*first),
            _ => None,
        };
        let span_max = SPAN_PER_ENTRY.saturating_mul(keys.len()).saturating_add(SPAN_MIN);
        let span = span.and_then(|span| usize::try_from(span).ok()).filter(|&span| span < span_max);
        let mut dense = Vec::new();
        if let (Some(span), Some(first)) = (span, keys.first()) {
            dense = vec![NONE; span + 1];
            for (key, position) in keys.iter().zip(0..) {
                let at = usize::try_from(key - first).ok();
                if let Some(slot) = at.and_then(|at| dense.get_mut(at)) {
                    *slot = position;
                }
            }
        }
        Self { keys, dense }
    }

    /// The position of `key` among the keys.
    #[inline]
    pub(super) fn position(&self, key: i128) -> Option<usize> {
        if self.dense.is_empty() {
            return self.keys.binary_search(&key).ok();
        }
        let at = usize::try_from(key.checked_sub(*self.keys.first()?)?).ok()?;
        let position = *self.dense.get(at)?;
        if position == NONE { None } else { usize::try_from(position).ok() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_are_those_of_a_search(
            keys: BTreeSet<i16>,
            far in proptest::option::of(any::<i64>()),
            wanted: Vec<i16>,
        ) {
            let mut keys: BTreeSet<i128> = keys.into_iter().map(i128::from).collect();
            keys.extend(far.map(i128::from));
            let keys: Vec<_> = keys.into_iter().collect();
            let lookup = Lookup::new(keys.clone());
            let wanted = wanted.into_iter().map(i128::from).chain(keys.iter().copied());
            for key in wanted.chain([i128::MIN, i128::MAX]) {
                let position = keys.iter().position(|known| *known == key);
                prop_assert_eq!(lookup.position(key), position);
            }
        }
    }
}
