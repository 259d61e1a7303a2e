//! Arithmetic modulo the prime 2^127 − 1.

/// The prime: 2^127 is 1.
pub(crate) const PRIME: u128 = (1 << 127) - 1;

const LOW: u128 = (1 << 64) - 1;

/// `n` modulo the prime.
#[inline]
pub(crate) fn residue(n: u128) -> u128 {
    let folded = (n & PRIME) + (n >> 127);
    if folded >= PRIME { folded - PRIME } else { folded }
}

/// The sum of two residues.
#[inline]
pub(crate) fn add(a: u128, b: u128) -> u128 {
    residue(a + b)
}

/// `n` times 2^64, for `n` below 2^128.
#[inline]
fn shifted(n: u128) -> u128 {
    // n = high · 2^63 + low, and 2^63 · 2^64 is 1.
    add(residue((n & (LOW >> 1)) << 64), n >> 63)
}

/// The product of a residue and a word.
#[inline]
pub(crate) fn mul_word(a: u128, word: u64) -> u128 {
    let word = u128::from(word);
    add(shifted((a >> 64) * word), residue((a & LOW) * word))
}

/// The product of two residues.
#[inline]
pub(crate) fn mul(a: u128, b: u128) -> u128 {
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    // Above 2^63 neither half goes: the sum of two products stays below 2^128, and 2^128 is 2.
    let (high, middle, low) = (a1 * b1, a1 * b0 + a0 * b1, a0 * b0);
    add(add(residue(high << 1), shifted(middle)), residue(low))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By doubling and adding.
    fn slow(a: u128, b: u128) -> u128 {
        (0..127).rev().fold(0, |sum, bit| {
            let twice = residue(sum + sum);
            if b >> bit & 1 == 1 { add(twice, a) } else { twice }
        })
    }

    fn residues() -> impl Strategy<Value = u128> {
        let edge = prop::sample::select(vec![0, 1, PRIME - 1, PRIME / 2, LOW, LOW + 1]);
        prop_oneof![3 => any::<u128>().prop_map(residue), 1 => edge]
    }

    proptest! {
        #[test]
        fn products_are_those_of_doubling(a in residues(), b in residues(), word: u64) {
            prop_assert_eq!(mul(a, b), slow(a, b));
            prop_assert_eq!(mul_word(a, word), slow(a, u128::from(word)));
            prop_assert!(mul(a, b) < PRIME);
        }
    }

    #[test]
    fn the_largest_products_do_not_overflow() {
        assert_eq!(mul(PRIME - 1, PRIME - 1), 1);
        assert_eq!(mul_word(PRIME - 1, u64::MAX), PRIME - u128::from(u64::MAX));
        assert_eq!((residue(PRIME), residue(u128::MAX)), (0, 1));
    }
}
