//! Units that a task holds at once.

use rechunk_grid::RANK_MAX;

use super::StageDraft;
use crate::PlanRequest;
use crate::cuts::Cuts;
use crate::memory::{SteppedAxis, resident_units};
use crate::unit_counts::RegularAxis;

impl StageDraft {
    /// Units resident at once, and whether a tile may take more than one step.
    pub(super) fn resident(&self, request: &PlanRequest, cuts: &Cuts<'_>) -> (u64, bool) {
        let unit = self.unit_shape(request);
        let input = self.fetch_shape(request);
        let mut axes =
            [SteppedAxis { units: 1, touched: 1, carries: false, is_whole: true }; RANK_MAX];
        for (slot, &a) in self.step_axes.iter().enumerate() {
            let whole = self.filled()[a] >= request.shape[a];
            let tile = self.filled()[a].min(request.shape[a]).max(1);
            let of_target = cuts.target_axis(a).filter(|_| self.boxes(&self.tile).of_target);
            axes[slot] = match (self.cuts(cuts, a), of_target) {
                (source, Some(target)) => {
                    let input = (input[a], self.step_chunks[a]);
                    target.stepped((self.filled()[a], whole), source, input)
                }
                (Some(cuts), None) => cuts.stepped(tile, unit[a], self.step_chunks[a]),
                (None, None) => {
                    SteppedAxis::new(tile, unit[a], input[a], self.step_chunks[a], whole)
                }
            };
        }
        let axes = &axes[..self.step_axes.len()];
        let bound = resident_units(axes);
        if axes.iter().all(|axis| axis.is_whole) {
            return (bound, false);
        }
        let regular = self.step_axes.iter().zip(axes).map(|(&a, stepped)| {
            let (extent, step_chunks) = (request.shape[a].max(1), self.step_chunks[a]);
            let (tile, unit) = (self.filled()[a].min(extent).max(1), unit[a]);
            let of_target = cuts.target_axis(a).filter(|_| self.boxes(&self.tile).of_target);
            if stepped.is_whole && of_target.is_some() {
                return Some(RegularAxis::in_one_step(stepped.units, 1));
            }
            if of_target.is_some() {
                return None;
            }
            if stepped.is_whole {
                return Some(RegularAxis::in_one_step(tile, unit));
            }
            let axis = RegularAxis { extent, tile, unit, input: input[a], step_chunks };
            self.cuts(cuts, a).is_none().then_some(axis)
        });
        let regular: Option<Vec<RegularAxis>> = regular.collect();
        let counted = regular.and_then(|axes| cuts.unit_counts().resident(&axes));
        debug_assert!(counted.is_none_or(|counted| counted <= bound));
        (counted.unwrap_or(bound), true)
    }
}
