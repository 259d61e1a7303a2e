//! Is a plan that of a copy?

use rechunk_plan::Plan;

/// Tells if a plan moves elements as they are. Else what it writes is compared with what it makes
/// once more, not with its source.
pub(crate) fn is_copy(plan: &Plan) -> bool {
    plan.apply.is_none() && plan.pyramid.is_none()
}
