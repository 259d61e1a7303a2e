//! Random arrays: with chunks of one length, and of several.

use proptest::prelude::*;
use rechunk_format::ElementOrder;
use rechunk_grid::{AxisChunks, DataType, Edges, Endian, WriteEmpty};
use rechunk_plan::Strategy as Kind;

use crate::case::{Case, SideCase};
use crate::layout::Codec;

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

fn side(rank: usize) -> BoxedStrategy<SideCase> {
    let axes = Just((0..rank).collect::<Vec<_>>()).prop_shuffle();
    let endian = prop_oneof![Just(Endian::Little), Just(Endian::Big)];
    let codec = prop_oneof![Just(Codec::Raw), Just(Codec::Runs)];
    let fill = prop::option::weighted(0.7, 0_u8..2);
    let shards = prop::option::of((prop::collection::vec(1_u64..4, rank), any::<bool>()));
    (prop::collection::vec(1_u64..9, rank), shards, axes, endian, codec, fill)
        .prop_map(|(chunk, shards, axes, endian, codec, fill)| SideCase {
            chunk,
            edges: None,
            shards,
            order: ElementOrder { axes, endian },
            codec,
            fill,
        })
        .boxed()
}

/// Any array with chunks of one length, to be rechunked the way of `kind`.
///
/// It is boxed, as are its parts: trees of values, held by value, fill the stack of a test thread
/// where nothing is optimised.
pub(crate) fn cases(kind: impl Strategy<Value = Kind> + 'static) -> BoxedStrategy<Case> {
    let shape = (0_usize..5).prop_flat_map(|rank| {
        let most = [1, 60, 20, 12, 7][rank];
        let extent = prop_oneof![1 => Just(0), 40 => 1_u64..=most];
        (prop::collection::vec(extent, rank), side(rank), side(rank))
    });
    // Elements of a size without a loop of its own, swapped as a whole, in parts, and not at all.
    let sized = [
        DataType::FixedBytes { bytes: 5 },
        DataType::FixedUtf32 { characters: 3 },
        DataType::Structured { bytes: 24 },
    ];
    let data_type = prop::sample::select([&DataType::ALL[..14], &sized[..]].concat());
    let write_empty = prop_oneof![Just(WriteEmpty::Auto), Just(WriteEmpty::Always)];
    let spare = prop_oneof![Just(0), 0_u64..2000, Just(1 << 20)];
    let missing = prop_oneof![Just(0), Just(u64::MAX), any::<u64>()];
    let rest = (data_type, kind, 1_u32..4, spare, write_empty, missing, any::<u64>());
    let cases = (shape.boxed(), rest.boxed()).prop_map(|((shape, source, mut target), rest)| {
        let (data_type, kind, threads, spare_bytes, write_empty, missing, seed) = rest;
        if kind == Kind::Passthrough {
            // The shards may differ all the same.
            let shards = if seed.is_multiple_of(2) { source.shards.clone() } else { target.shards };
            target = SideCase { shards, ..source.clone() };
        }
        Case {
            shape,
            data_type,
            source,
            target,
            kind,
            threads,
            spare_bytes,
            write_empty,
            missing,
            seed,
        }
    });
    cases.boxed()
}

/// Any array: with chunks of one length, or of several.
pub(crate) fn all_cases(
    kind: impl Strategy<Value = Kind> + Clone + 'static,
) -> BoxedStrategy<Case> {
    prop_oneof![3 => cases(kind.clone()), 1 => rectilinear_cases(kind)].boxed()
}

/// Any array whose chunks differ in length on some axes: those of the source, of the target, or of
/// both.
pub(crate) fn rectilinear_cases(
    kind: impl Strategy<Value = Kind> + 'static,
) -> BoxedStrategy<Case> {
    let runs = prop::collection::vec((1_u64..9, 1_u64..4), 1..7);
    let lists = || prop::collection::vec(prop::option::weighted(0.8, runs.clone()), 4);
    let case_of = |(mut case, one, other, sides): (Case, Vec<_>, Vec<_>, u8)| {
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
    };
    (cases(kind), lists(), lists(), 0_u8..4).prop_map(case_of).boxed()
}
