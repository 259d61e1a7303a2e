//! The families of candidates: for each plan kind, which boxes are tried.

mod boxes;
mod descent;
mod one_pass;
mod passthrough;
mod staged;
mod steps;
mod tasks;

use rechunk_plan::count::product;
use rechunk_plan::{PlanRequest, Strategy};

use crate::draft::{Draft, Drafts, tiles};
use crate::inputs::axis_extents;
use crate::sizing::Sizing;
use boxes::nested;
pub(crate) use boxes::{BoxPair, literature_pairs};
use one_pass::{direct_drafts, keep_drafts, pull_drafts};
use passthrough::passthrough_drafts;
use staged::{multistage_drafts, push_pull_drafts};

/// A family: the rule by which boxes of one plan kind are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    Passthrough,
    Direct,
    Memory,
    Pull,
    Keep,
    PushPull,
    Multistage,
}

impl Family {
    /// All families; a forced strategy picks one of them by [`Family::kind`].
    const ALL: [Self; 7] = [
        Self::Passthrough,
        Self::Direct,
        Self::Memory,
        Self::Keep,
        Self::Pull,
        Self::PushPull,
        Self::Multistage,
    ];

    pub(crate) fn kind(self) -> Strategy {
        match self {
            Self::Passthrough => Strategy::Passthrough,
            Self::Direct => Strategy::Direct,
            Self::Memory => Strategy::Memory,
            Self::Pull => Strategy::Pull,
            Self::Keep => Strategy::Keep,
            Self::PushPull => Strategy::PushPull,
            Self::Multistage => Strategy::Multistage,
        }
    }

    /// The families that the request's strategy allows.
    pub(crate) fn allowed(request: &PlanRequest) -> impl Iterator<Item = Self> {
        let strategy = request.strategy;
        let is_variable = request.is_variable;
        let is_allowed = move |family: &Self| {
            [Strategy::Auto, family.kind()].contains(&strategy)
                && !(is_variable && family.is_staged())
        };
        Self::ALL.into_iter().filter(is_allowed)
    }

    /// Its plans leave an intermediate.
    pub(crate) fn is_staged(self) -> bool {
        matches!(self, Self::PushPull | Self::Multistage)
    }

    /// Returns the kind that is shown for a draft: the family's. But a pull that happens to read
    /// nothing twice is a keep (or direct) plan when the choice was free.
    pub(crate) fn label(self, sizing: &Sizing<'_>, draft: &Draft) -> Strategy {
        let free = sizing.inputs.request.strategy == Strategy::Auto;
        if self == Self::Pull && free && reads_once(sizing, draft.stages[0].filled()) {
            return if nested(sizing) { Strategy::Direct } else { Strategy::Keep };
        }
        self.kind()
    }

    /// The drafts to price, at least one; or why the family does not apply.
    pub(crate) fn drafts(self, sizing: &Sizing<'_>) -> Drafts {
        let request = sizing.inputs.request;
        match self {
            Self::Passthrough => passthrough_drafts(sizing),
            Self::Direct => direct_drafts(sizing),
            Self::Memory => {
                let whole = axis_extents(request);
                Ok(vec![sizing.noted(tiles(sizing.inputs, &whole))])
            }
            Self::Pull => Ok(pull_drafts(sizing)),
            Self::Keep => Ok(keep_drafts(sizing)),
            Self::PushPull => Ok(push_pull_drafts(sizing)),
            Self::Multistage => multistage_drafts(sizing),
        }
    }
}

fn reads_once(sizing: &Sizing<'_>, tile: &[u64]) -> bool {
    let (cuts, request) = (sizing.inputs.cuts, sizing.inputs.request);
    let read = sizing.inputs.read_unit();
    let pairs = |axis: usize| cuts.reads_along(request, tile, axis, read[axis]);
    let cells = |axis: usize| match sizing.inputs.request.shape[axis] {
        0 => 0,
        _ => sizing.inputs.inputs_along(axis),
    };
    product((0..tile.len()).map(pairs)) == product((0..tile.len()).map(cells))
}
