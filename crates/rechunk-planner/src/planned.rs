//! The answer of the planner: the plan, and its rivals with their price or the reason.

use rechunk_plan::{Estimate, Plan, Strategy};
use serde::{Deserialize, Serialize};

/// The plan and what was considered on the way to it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The cheapest plan that fits.
    pub plan: Plan,
    /// Every candidate that was searched for, the chosen one first, then by price, then those that
    /// do not fit.
    pub candidates: Vec<Candidate>,
}

/// One candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// Its kind.
    pub kind: Strategy,
    /// Boxes of each stage, elements: read box, write box.
    pub boxes: Vec<Vec<u64>>,
    /// Passes over the data.
    pub passes: usize,
    /// Outcome of comparing it with others.
    pub outcome: CandidateOutcome,
}

/// Outcome for a candidate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CandidateOutcome {
    /// It is the plan.
    Chosen {
        /// Predicted traffic and price.
        estimate: Estimate,
        /// Memory the run reserves, bytes.
        memory_bytes: u64,
    },
    /// It would work and costs more.
    Dearer {
        /// Predicted traffic and price.
        estimate: Estimate,
        /// Memory the run would reserve, bytes.
        memory_bytes: u64,
    },
    /// It needs more memory.
    DoesNotFit {
        /// The least it needs, bytes.
        needs_bytes: u64,
    },
    /// It cannot work here.
    NotApplicable {
        /// Why.
        reason: String,
    },
}

/// A plan that fits, as a candidate.
pub(crate) fn priced(plan: Plan) -> (Plan, Candidate) {
    let outcome = CandidateOutcome::Dearer {
        estimate: plan.estimate.clone(),
        memory_bytes: plan.memory.planned_peak_bytes,
    };
    let entry = candidate(plan.kind, boxes(&plan), outcome);
    (plan, entry)
}

pub(crate) fn candidate(
    kind: Strategy,
    boxes: Vec<Vec<u64>>,
    outcome: CandidateOutcome,
) -> Candidate {
    Candidate { kind, passes: boxes.len(), boxes, outcome }
}

fn boxes(plan: &Plan) -> Vec<Vec<u64>> {
    plan.stages.iter().map(|stage| stage.filled().to_vec()).collect()
}
