//! MurmurHash3 of 64-bit numbers.

/// Low half of `MurmurHash3_x86_128` of a number, little-endian, with seed 0.
///
/// After Austin Appleby's description, for a key of 8 bytes: it has no whole block of 16, and its
/// tail is two words.
pub(super) fn hash(number: u64) -> u64 {
    const LENGTH: u32 = 8;
    const C1: u32 = 0x239b_961b;
    const C2: u32 = 0xab0e_9789;
    const C3: u32 = 0x38b3_4ae5;
    let word = |shift: u32| u32::try_from(number >> shift & u64::from(u32::MAX)).unwrap_or(0);
    let low = word(0).wrapping_mul(C1).rotate_left(15).wrapping_mul(C2);
    let high = word(32).wrapping_mul(C2).rotate_left(16).wrapping_mul(C3);
    let mut state = [low, high, 0, 0].map(|word| word ^ LENGTH);
    add_all(&mut state);
    state = state.map(finished);
    add_all(&mut state);
    u64::from(state[1]) << 32 | u64::from(state[0])
}

/// Adds all words to the first, and that to the others.
fn add_all(state: &mut [u32; 4]) {
    let [first, others @ ..] = state;
    *first = others.iter().fold(*first, |sum, word| sum.wrapping_add(*word));
    for word in others {
        *word = word.wrapping_add(*first);
    }
}

/// Mixes the bits of a word.
fn finished(mut word: u32) -> u32 {
    word ^= word >> 16;
    word = word.wrapping_mul(0x85eb_ca6b);
    word ^= word >> 13;
    word = word.wrapping_mul(0xc2b2_ae35);
    word ^ word >> 16
}
