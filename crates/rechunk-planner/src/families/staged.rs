//! Plans that leave an intermediate: push-pull and multistage.

use rechunk_plan::{IntermediateGrid, PlanRequest};

use super::boxes::{box_lists, common_box, literature_boxes, literature_pairs};
use super::descent::{best_of, best_of_where, positions};
use crate::draft::{Draft, Drafts, geometric_boxes, staged};
use crate::inputs::axis_extents;
use crate::sizing::Sizing;

pub(super) fn push_pull_drafts(sizing: &Sizing<'_>) -> Vec<Draft> {
    let request = sizing.inputs.request;
    let extent = axis_extents(request);
    let rank = extent.len();
    let (read, write) = literature_boxes(sizing);
    let lists = box_lists(sizing, &read, &write);
    let build = |values: &[u64]| {
        let (read, write) = values.split_at(rank);
        staged(sizing.inputs, &[read.to_vec(), write.to_vec()])
    };
    let join = |read: &[u64], write: &[u64]| positions(&lists, &[read, write].concat());
    let starts = [
        join(&read, &write),
        join(&common_box(sizing), request.target.commit_shape()),
        join(&extent, request.target.commit_shape()),
        join(sizing.inputs.read_unit(), &extent),
        vec![0; 2 * rank],
    ];
    if request.intermediate_grid == IntermediateGrid::Min {
        return best_of_where(sizing, &lists, &starts, build, |values| boxes_nest(request, values));
    }
    let mut drafts = best_of(sizing, &lists, &starts, build);
    for (read, write) in literature_pairs(sizing) {
        let draft = build(&[read, write].concat());
        if !drafts.contains(&draft) {
            drafts.push(sizing.noted(draft));
        }
    }
    drafts
}

/// `min(read, write)` is a regular grid with one writer: on every axis one box divides the other
/// or spans the axis.
fn boxes_nest(request: &PlanRequest, values: &[u64]) -> bool {
    let (read, write) = values.split_at(values.len() / 2);
    (0..read.len()).all(|a| {
        let (r, w, extent) = (read[a], write[a], request.shape[a]);
        let has_edges = request.target.edges.as_ref().is_some_and(|edges| edges.axis(a).is_some());
        if has_edges && w < extent {
            return false;
        }
        r >= extent || w >= extent || r.is_multiple_of(w) || w.is_multiple_of(r)
    })
}

pub(super) fn multistage_drafts(sizing: &Sizing<'_>) -> Drafts {
    let request = sizing.inputs.request;
    if request.target.edges.is_some() {
        return Err("the chunks of the target differ in length");
    }
    let rank = request.shape.len();
    let (read, write) = literature_boxes(sizing);
    let lists = box_lists(sizing, &read, &write);
    let mut drafts = Vec::new();
    for passes in [3, 4] {
        let build = |values: &[u64]| {
            let (read, write) = values.split_at(rank);
            staged(sizing.inputs, &geometric_boxes(read, write, passes))
        };
        let starts =
            [positions(&lists, &[read.clone(), write.clone()].concat()), vec![0; 2 * rank]];
        drafts.extend(best_of(sizing, &lists, &starts, build));
        drafts.push(sizing.noted(build(&[read.clone(), write.clone()].concat())));
    }
    Ok(drafts)
}
