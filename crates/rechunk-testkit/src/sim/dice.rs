use crate::draw::mix;

/// Random numbers that follow from a seed (SplitMix64; Steele, Lea and Flood, 2014).
#[derive(Debug, Clone)]
pub struct Dice {
    state: u64,
}

impl Dice {
    /// Another sequence for each seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0xD1B5_4A32_D192_ED03) ^ 0x9E37_79B9_7F4A_7C15 }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// A number in `0..end`; 0 if that is empty.
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits().checked_rem(end).unwrap_or(0)
    }

    /// A number in `start..=last`.
    pub fn within(&mut self, start: u64, last: u64) -> u64 {
        start + self.below(last.saturating_sub(start).saturating_add(1))
    }

    /// True in `percent` of 100 cases.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which are not none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        let last = u64::try_from(choices.len()).unwrap_or(u64::MAX);
        choices[usize::try_from(self.below(last)).unwrap_or(0)]
    }
}
