//! Boxes that reach beyond a source, element by element.

use proptest::prelude::*;
use rechunk_apply::{Boundary, Span, fill_padded};
use rechunk_grid::Region;

/// Index by walking there step by step.
fn walked(rule: Boundary, at: i64, extent: i64) -> Option<i64> {
    let is_inside = |at: i64| (0..extent).contains(&at);
    match rule {
        Boundary::Constant => Some(at).filter(|&at| is_inside(at)),
        Boundary::Nearest => Some(at.max(0).min(extent - 1)),
        Boundary::Wrap => {
            let mut at = at;
            while at < 0 {
                at += extent;
            }
            while at >= extent {
                at -= extent;
            }
            Some(at)
        }
        // Backwards they begin as forwards.
        Boundary::Symmetric if at < 0 => walked(rule, -1 - at, extent),
        Boundary::Reflect if at < 0 => walked(rule, -at, extent),
        Boundary::Symmetric | Boundary::Reflect => {
            let (mut found, mut step) = (0, 1);
            for _ in 0..at {
                if is_inside(found + step) {
                    found += step;
                    continue;
                }
                step = -step;
                if rule == Boundary::Reflect && extent > 1 {
                    found += step;
                }
            }
            Some(found)
        }
    }
}

proptest! {
    #[test]
    fn ranges_that_are_read_are_those_of_the_voxels(
        rule in prop::sample::select(&Boundary::ALL),
        start in -40_i64..40, length in 0_i64..60, extent in 0_u64..14,
    ) {
        let span = Span::new(start, start + length);
        let mut expected: Vec<u64> =
            (start..start + length).filter_map(|at| rule.index(at, extent)).collect();
        expected.sort_unstable();
        expected.dedup();
        let found = rule.intervals(span, extent);
        prop_assert!(found.windows(2).all(|two| two[0].end < two[1].start), "{found:?}");
        let voxels: Vec<u64> = found.into_iter().flatten().collect();
        prop_assert_eq!(voxels, expected);
    }
}

/// As `numpy.pad` gives them for `[0, 1, 2]` with 7 on both sides.
#[test]
fn indices_are_those_of_numpy() {
    let seen =
        |rule: Boundary| -> Vec<u64> { (-7..10).map(|at| rule.index(at, 3).unwrap()).collect() };
    assert_eq!(seen(Boundary::Nearest), [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2]);
    assert_eq!(seen(Boundary::Symmetric), [0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2]);
    assert_eq!(seen(Boundary::Reflect), [1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1]);
    assert_eq!(seen(Boundary::Wrap), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
}

#[test]
fn a_source_without_voxels_is_the_constant_everywhere() {
    for rule in Boundary::ALL {
        let window = rule.window(Span::new(-2, 2), 0);
        assert!(window.intervals().is_empty());
        let mut out = [0; 4];
        fill_padded(&[], &[window], &[7], &mut out).unwrap();
        assert_eq!(out, [7; 4]);
        assert_eq!(rule.name().parse(), Ok(rule));
    }
    assert!("mirror".parse::<Boundary>().is_err());
}

#[test]
fn buffers_of_another_size_are_refused() {
    let windows = [Boundary::Nearest.window(Span::new(-1, 2), 2)];
    assert!(fill_padded(&[1], &windows, &[0], &mut [0; 3]).is_err());
    assert!(fill_padded(&[1, 2], &windows, &[0], &mut [0; 4]).is_err());
    assert_eq!(fill_padded(&[1, 2], &windows, &[0], &mut [0; 3]), Ok(()));
}

#[test]
fn a_scalar_is_filled() {
    let mut out = [0, 0];
    assert_eq!(fill_padded(&[3, 4], &[], &[0, 0], &mut out), Ok(()));
    assert_eq!(out, [3, 4]);
}

fn rules() -> impl Strategy<Value = Boundary> {
    prop::sample::select(Boundary::ALL.to_vec())
}

proptest! {
    #[test]
    fn indices_are_those_of_a_walk(rule in rules(), at in -40_i64..40, extent in 1_i64..9) {
        let found = rule.index(at, extent.cast_unsigned()).map(u64::cast_signed);
        prop_assert_eq!(found, walked(rule, at, extent));
    }

    #[test]
    fn padded_buffers_hold_the_voxels_of_their_indices(
        rule in rules(),
        axes in prop::collection::vec((1_u64..6, -9_i64..9, 0_i64..12), 0..4),
    ) {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let spans: Vec<Span> =
            axes.iter().map(|&(_, start, length)| Span::new(start, start + length)).collect();
        let windows: Vec<_> =
            spans.iter().zip(&shape).map(|(&span, &extent)| rule.window(span, extent)).collect();
        prop_assert!(windows.iter().all(|window| window.intervals().len() <= 2));
        // Elements of two bytes: the number of the voxel, and a mark.
        let element = |index: &[u64]| {
            [u8::try_from(Region::whole(&shape).ordinal(index)).unwrap(), 1]
        };
        let reads: Vec<Vec<u64>> = windows.iter()
            .map(|window| window.intervals().iter().flat_map(Clone::clone).collect()).collect();
        let lengths: Vec<u64> = reads.iter().map(|axis| axis.len() as u64).collect();
        let read: Vec<u8> = Region::whole(&lengths).positions().flat_map(|place| {
            let index: Vec<u64> =
                place.iter().zip(&reads).map(|(&place, axis)| axis[usize::try_from(place).unwrap()])
                    .collect();
            element(&index)
        }).collect();
        let padded: Vec<u64> = spans.iter().map(|span| span.length()).collect();
        let elements = usize::try_from(padded.iter().product::<u64>()).unwrap();
        let mut out = vec![0; 2 * elements];
        fill_padded(&read, &windows, &[9, 9], &mut out).unwrap();
        for (at, found) in Region::whole(&padded).positions().zip(out.chunks(2)) {
            let index: Option<Vec<u64>> = at.iter().zip(&spans).zip(&shape)
                .map(|((&at, span), &extent)| rule.index(span.start + at.cast_signed(), extent))
                .collect();
            prop_assert_eq!(found, index.map_or([9, 9], |index| element(&index)));
        }
    }
}
