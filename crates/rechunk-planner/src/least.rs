//! The draft that needs least memory, looked for where nothing fits.

use rechunk_plan::{Cuts, Plan, PlanRequest};

use crate::PlanError;
use crate::draft::Draft;
use crate::families::Family;
use crate::inputs::{Inputs, readings};
use crate::sizing::Sizing;

/// The draft that needs least memory.
pub(crate) struct Least {
    family: Family,
    pub reads_shards: bool,
    draft: Draft,
    /// Bytes that it needs.
    pub needs_bytes: u64,
}

impl Least {
    /// Of all drafts of all families. A search from nothing may end above what another comes to
    /// that has a little more room, so each is followed by one with a byte less than what was
    /// found, until that finds nothing less: what is named as the least works, and a byte less does
    /// not.
    pub(crate) fn of_all(request: &PlanRequest, cuts: &Cuts<'_>) -> Option<Self> {
        /// Most searches; there were no more than a few in thousands of random requests.
        const ROUNDS_MAX: usize = 32;
        let mut least = Self::within(request, cuts, 0)?;
        for _ in 0..ROUNDS_MAX {
            let below = Self::within(request, cuts, least.needs_bytes.saturating_sub(1));
            let Some(below) = below.filter(|below| below.needs_bytes < least.needs_bytes) else {
                break;
            };
            least = below;
        }
        Some(least)
    }

    /// Of those that searches within `budget_bytes` meet.
    fn within(request: &PlanRequest, cuts: &Cuts<'_>, budget_bytes: u64) -> Option<Self> {
        let all = Family::allowed(request).flat_map(|family| {
            readings(request).iter().filter_map(move |&reads_shards| {
                Self::of_family(Inputs { request, cuts, reads_shards }, family, budget_bytes)
            })
        });
        all.min_by_key(|least| least.needs_bytes)
    }

    /// Of those of one family.
    pub(crate) fn of_family(inputs: Inputs<'_>, family: Family, budget_bytes: u64) -> Option<Self> {
        let sizing = Sizing::within(inputs, budget_bytes);
        let _ = family.drafts(&sizing); // what was seen on the way is wanted, whether it fits or not
        let (draft, needs_bytes) = sizing.into_least()?;
        Some(Self { family, reads_shards: inputs.reads_shards, draft, needs_bytes })
    }
    /// Its plan, if it is within the budget of `sizing`.
    pub(crate) fn finish(&self, sizing: &Sizing<'_>) -> Result<Option<Plan>, PlanError> {
        if self.needs_bytes > sizing.budget_bytes {
            return Ok(None);
        }
        sizing.finish(self.family.label(sizing, &self.draft), &self.draft)
    }
}
