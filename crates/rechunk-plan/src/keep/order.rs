//! The order of buffers that needs least memory.

use std::cmp::Ordering;

/// Numbers of an axis that decide its place in the order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub axis: usize,
    /// Place in the storage order of the source, slowest first: breaks ties.
    pub stored: usize,
    pub extent: u64,
    pub buffer: u64,
    /// Elements that it carries; 0 where it is not kept.
    pub carry: u64,
}

impl Placed {
    /// Slower axes first. To swap two neighbours, `a` the faster, changes the bound by
    /// `carry_a · B_b + carry_b · R_a` alone, so the larger `carry / (R - B)` has to be the faster
    /// (Smith's rule); axes that carry nothing go outside.
    pub(super) fn slower_first(&self, other: &Self) -> Ordering {
        let room = |of: &Self| u128::from(of.extent.saturating_sub(of.buffer));
        let left = u128::from(self.carry) * room(other);
        let right = u128::from(other.carry) * room(self);
        let carries = |of: &Self| of.carry > 0;
        carries(self)
            .cmp(&carries(other))
            .then(if carries(self) && carries(other) { left.cmp(&right) } else { Ordering::Equal })
            .then(self.stored.cmp(&other.stored))
    }
}
