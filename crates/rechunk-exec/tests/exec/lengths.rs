//! Arrays whose chunks differ in length.

use proptest::prelude::*;
use rechunk_grid::{AxisChunks, Edges};
use rechunk_plan::Strategy as Kind;

use crate::case::{Case, SideCase, cases};

/// Chunk ends of an array of `shape` on the axes with a list of lengths, which is repeated to the
/// end. `chunk` becomes the longest.
fn lengths_of(
    shape: &[u64],
    chunk: &mut [u64],
    lists: &[Option<Vec<(u64, u64)>>],
) -> Option<Edges> {
    let mut edges = vec![None; shape.len()];
    for (axis, runs) in lists.iter().enumerate().take(shape.len()) {
        let Some(runs) = runs else { continue };
        let runs = runs.iter().copied().cycle().take(runs.len() * 64);
        let cut = AxisChunks::of_runs(axis, shape[axis], runs).unwrap();
        chunk[axis] = cut.longest();
        edges[axis] = cut.into_edges();
    }
    Edges::new(edges)
}

/// Any array: with chunks of one length, or of several.
pub(crate) fn all_cases(kind: impl Strategy<Value = Kind> + Clone) -> impl Strategy<Value = Case> {
    prop_oneof![3 => cases(kind.clone()), 1 => rectilinear_cases(kind)]
}

/// Any array whose chunks differ in length on some axes: those of the source, of the target, or of
/// both.
pub(crate) fn rectilinear_cases(kind: impl Strategy<Value = Kind>) -> impl Strategy<Value = Case> {
    let runs = prop::collection::vec((1_u64..9, 1_u64..4), 1..7);
    let lists = || prop::collection::vec(prop::option::weighted(0.8, runs.clone()), 4);
    (cases(kind), lists(), lists(), 0_u8..4).prop_map(|(mut case, one, other, sides)| {
        let set = |side: &mut SideCase, lists: &[Option<Vec<(u64, u64)>>]| {
            side.edges = lengths_of(&case.shape, &mut side.chunk, lists);
            side.shards = None;
        };
        if case.kind == Kind::Passthrough {
            set(&mut case.source, &one);
            case.target = case.source.clone();
            return case;
        }
        if sides != 1 {
            set(&mut case.source, &one);
        }
        if sides > 0 {
            let lists = if sides == 3 { &one } else { &other };
            set(&mut case.target, lists);
        }
        case
    })
}
