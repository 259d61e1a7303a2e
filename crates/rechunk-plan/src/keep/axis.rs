//! Closed forms on one axis. `extent` is that of the array; lengths are at least 1 and at most
//! the extent, if that is not 0.

use crate::count::{gcd, pairs_along};

/// The pieces that files of one axis are cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pieces {
    /// All pieces.
    pub all: u64,
    /// Pieces that are a whole file.
    pub whole: u64,
}

impl Pieces {
    /// Files that nothing cuts.
    pub(super) fn uncut(extent: u64, file: u64) -> Self {
        let files = extent.div_ceil(file);
        Self { all: files, whole: files }
    }

    /// Files of length `file` cut at every multiple of `cut`.
    pub(super) fn new(extent: u64, file: u64, cut: u64) -> Self {
        if extent == 0 {
            return Self { all: 0, whole: 0 };
        }
        let all = pairs_along(extent, file, cut);
        let files = extent.div_ceil(file);
        let whole = if cut >= file {
            files - (all - files) // no file is cut twice
        } else {
            // Every full file is cut; the last one may be too short to be.
            let (last_file, last_cut) = ((files - 1) * file, (extent - 1) / cut * cut);
            u64::from(last_cut <= last_file)
        };
        Self { all, whole }
    }

    /// Pieces that are a part of a file.
    pub(super) fn cut(self) -> u64 {
        self.all - self.whole
    }
}

/// Most elements before the end of a buffer that belong to a target file which goes on behind it.
/// They are carried over the end of a buffer where the axis is kept.
pub(super) fn carry_max(extent: u64, buffer: u64, block: u64) -> u64 {
    /// Ends that are looked at one by one; beyond, the bound of all ends is taken.
    const ENDS_MAX: u64 = 1 << 16;
    let ends = extent.div_ceil(buffer).saturating_sub(1);
    let common = gcd(buffer, block);
    if ends.saturating_mul(buffer) < block {
        return ends * buffer;
    }
    if ends >= block / common || ends > ENDS_MAX {
        return block - common;
    }
    let step = buffer % block;
    let (mut carry, mut most) = (0, 0);
    for _ in 0..ends {
        carry += step;
        if carry >= block {
            carry -= block;
        }
        most = carry.max(most);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_are_those_of_a_walk(extent in 0_u64..60, file in 1_u64..60, cut in 1_u64..60) {
            let (mut all, mut whole) = (0, 0);
            for start in (0..extent).step_by(usize::try_from(file).unwrap()) {
                let end = (start + file).min(extent);
                let cuts = (start + 1..end).filter(|at| at % cut == 0).count() as u64;
                all += cuts + 1;
                whole += u64::from(cuts == 0);
            }
            prop_assert_eq!(Pieces::new(extent, file, cut), Pieces { all, whole });
        }

        #[test]
        fn nothing_more_is_carried(extent in 0_u64..80, buffer in 1_u64..40, block in 1_u64..40) {
            let ends = (1..).map(|x| x * buffer).take_while(|&end| end < extent);
            let most = ends.map(|end| end % block).max().unwrap_or(0);
            prop_assert_eq!(carry_max(extent, buffer, block), most);
        }
    }
}
