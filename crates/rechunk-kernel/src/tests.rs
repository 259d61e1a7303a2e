use proptest::prelude::*;

use super::*;

/// A box and how it lies in a buffer, drawn at random.
#[derive(Debug, Clone)]
struct Placed {
    offset: u64,
    strides: Vec<u64>,
    length: usize,
}

/// The element offsets of the box in C order: the model everything is tested against.
fn offsets(shape: &[u64], placed: &Placed) -> Vec<usize> {
    let mut all = vec![placed.offset];
    for (extent, stride) in shape.iter().zip(&placed.strides) {
        all = all.iter().flat_map(|base| (0..*extent).map(move |i| base + i * stride)).collect();
    }
    all.into_iter().map(|offset| usize::try_from(offset).unwrap()).collect()
}

/// A box laid out with its axes in `order` (slowest first), `gap` bytes between rows.
fn place(item: u64, shape: &[u64], order: &[usize], gap: u64, offset: u64) -> Placed {
    let mut strides = vec![0; shape.len()];
    let mut stride = item;
    for (turn, &axis) in order.iter().rev().enumerate() {
        strides[axis] = stride;
        // A gap after the fastest axis only sometimes leaves axes that can be joined.
        stride = stride * shape[axis].max(1) + if turn == 0 { gap } else { 0 };
    }
    let length = usize::try_from(offset + stride + item).unwrap();
    Placed { offset, strides, length }
}

/// Sizes of elements: those with loops of their own, and others that strings and records have.
const ITEMS: [usize; 14] = [1, 2, 4, 8, 16, 32, 3, 5, 6, 12, 20, 24, 100, 1000];

/// A size and the groups of its bytes that are swapped: whole elements, their parts, none.
fn swaps(item: usize) -> impl Strategy<Value = usize> {
    let divisors: Vec<usize> =
        [1, 2, 3, 4, 8, 16, item].into_iter().filter(|part| item.is_multiple_of(*part)).collect();
    prop::sample::select(divisors)
}

/// An item size, a shape and a placement on each side.
fn cases() -> impl Strategy<Value = (usize, Vec<u64>, Placed, Placed)> {
    let item = prop::sample::select(&ITEMS[..]);
    let shape = prop::collection::vec(prop_oneof![0..4_u64, 1..6_u64, 14..20_u64], 0..=4);
    (item, shape).prop_flat_map(|(item, shape)| {
        let axes: Vec<usize> = (0..shape.len()).collect();
        let size = item as u64;
        let side = |shape: Vec<u64>, axes: Vec<usize>| {
            (Just(axes).prop_shuffle(), 0..3_u64, 0..5_u64)
                .prop_map(move |(order, gap, offset)| place(size, &shape, &order, gap, offset))
        };
        (Just(item), Just(shape.clone()), side(shape.clone(), axes.clone()), side(shape, axes))
    })
}

fn random_bytes(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..length)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        })
        .collect()
}

fn item_at(bytes: &[u8], offset: usize, item: usize, swap: usize) -> Vec<u8> {
    let mut value = bytes[offset..offset + item].to_vec();
    value.chunks_mut(swap).for_each(<[u8]>::reverse);
    value
}

/// [`cases`], and what is swapped.
fn swapped_cases() -> impl Strategy<Value = ((usize, Vec<u64>, Placed, Placed), usize)> {
    cases().prop_flat_map(|case| {
        let swap = swaps(case.0);
        (Just(case), swap)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 20 } else { 512 }))]

    #[test]
    fn copies_like_a_loop_over_elements(((item, shape, from, to), swap) in swapped_cases()) {
        let source = random_bytes(from.length);
        let mut target = vec![0xEE; to.length];
        let mut expected = target.clone();
        for (s, t) in offsets(&shape, &from).into_iter().zip(offsets(&shape, &to)) {
            expected[t..t + item].copy_from_slice(&item_at(&source, s, item, swap));
        }
        copy_region(
            item, &shape, &source, from.offset, &from.strides,
            &mut target, to.offset, &to.strides, swap,
        ).unwrap();
        prop_assert_eq!(target, expected);
    }

    #[test]
    fn fills_the_box_and_nothing_else((item, shape, _, to) in cases()) {
        let value = random_bytes(item);
        let mut target = vec![0xEE; to.length];
        let mut expected = target.clone();
        for t in offsets(&shape, &to) {
            expected[t..t + item].copy_from_slice(&value);
        }
        fill_region(&value, &shape, &mut target, to.offset, &to.strides).unwrap();
        prop_assert_eq!(target, expected);
    }

    #[test]
    fn finds_every_difference(
        ((item, shape, from, to), swap) in swapped_cases(),
        flips in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let a = random_bytes(from.length);
        let mut b = vec![0; to.length];
        copy_region(
            item, &shape, &a, from.offset, &from.strides, &mut b, to.offset, &to.strides, swap,
        ).unwrap();
        let in_b = offsets(&shape, &to);
        let mut flipped = std::collections::BTreeSet::new();
        if !in_b.is_empty() {
            flipped.extend(flips.iter().map(|flip| flip.index(in_b.len())));
        }
        for &at in &flipped {
            b[in_b[at] + item - 1] ^= 1;
        }
        let found = compare_region(
            item, &shape, &a, from.offset, &from.strides, &b, to.offset, &to.strides, swap,
        ).unwrap();
        prop_assert_eq!(found.count, flipped.len() as u64);
        let first = found.first.map(|index| {
            index.iter().zip(&shape).fold(0, |at, (i, extent)| at * extent + i)
        });
        prop_assert_eq!(first, flipped.first().map(|&at| at as u64));
    }

    #[test]
    fn a_buffer_one_byte_too_short_is_refused((item, shape, from, to) in cases()) {
        prop_assume!(!shape.contains(&0));
        let source_end = offsets(&shape, &from).into_iter().max().unwrap() + item;
        let target_end = offsets(&shape, &to).into_iter().max().unwrap() + item;
        let (source, mut target) = (vec![0; source_end], vec![0xEE; target_end]);
        let copy = |source: &[u8], target: &mut [u8]| copy_region(
            item, &shape, source, from.offset, &from.strides, target, to.offset, &to.strides, 1,
        );
        prop_assert_eq!(copy(&source, &mut target), Ok(()));
        let short = copy(&source[1..], &mut target).unwrap_err();
        let is_source = matches!(short, KernelError::OutOfBounds { buffer: Buffer::Source, .. });
        prop_assert!(is_source);
        let short = copy(&source, &mut target[1..]).unwrap_err();
        let is_target = matches!(short, KernelError::OutOfBounds { buffer: Buffer::Target, .. });
        prop_assert!(is_target);
    }

    #[test]
    fn filled_bytes_are_all_the_item(
        item in prop::collection::vec(any::<u8>(), 1..20),
        repeats in 0..1200_usize,
        flip in any::<prop::sample::Index>(),
    ) {
        let mut bytes = vec![0; item.len() * repeats];
        fill(&item, &mut bytes);
        prop_assert_eq!(&bytes, &item.repeat(repeats));
        prop_assert!(is_all(&item, &bytes));
        if repeats > 0 {
            let at = flip.index(bytes.len());
            bytes[at] ^= 0x40;
            prop_assert!(!is_all(&item, &bytes));
            prop_assert!(!is_all(&item, &bytes[1..]) || item.len() == 1);
        }
    }
}

#[test]
fn hostile_geometry_is_an_error() {
    let (source, mut target) = ([0_u8; 8], [0_u8; 8]);
    let mut copy = |item, shape: &[u64], offset, strides: &[u64]| {
        copy_region(item, shape, &source, offset, strides, &mut target, 0, strides, 1)
    };
    assert_eq!(copy(0, &[1], 0, &[1]), Err(KernelError::EmptyItem));
    assert!(matches!(copy(1, &[1, 1], 0, &[1]), Err(KernelError::RankMismatch { .. })));
    assert!(matches!(copy(1, &[u64::MAX], 0, &[u64::MAX]), Err(KernelError::TooLarge { .. })));
    assert!(matches!(copy(1, &[2], u64::MAX, &[1]), Err(KernelError::TooLarge { .. })));
    assert!(matches!(copy(1, &[9], 0, &[1]), Err(KernelError::OutOfBounds { .. })));
    let uneven = copy_region(6, &[1], &source, 0, &[6], &mut [0; 8], 0, &[6], 4);
    assert_eq!(uneven, Err(KernelError::UnevenSwap { item_bytes: 6, swap_bytes: 4 }));
    // No element: nothing to check, whatever the strides say.
    assert_eq!(copy(1, &[0, u64::MAX], u64::MAX, &[u64::MAX, 1]), Ok(()));
    // An axis of one element never takes a step, however long.
    assert_eq!(copy(8, &[1, 1], 0, &[u64::MAX, 3]), Ok(()));
}

#[test]
fn a_source_stride_of_zero_repeats_one_element() {
    let mut target = [0_u8; 6];
    copy_region(2, &[3], &[7, 9], 0, &[0], &mut target, 0, &[2], 1).unwrap();
    assert_eq!(target, [7, 9, 7, 9, 7, 9]);
}

#[test]
fn is_all_of_odd_lengths() {
    assert!(is_all(&[1, 2], &[]));
    assert!(!is_all(&[], &[1]));
    assert!(!is_all(&[1, 2], &[1, 2, 1]));
    assert!(is_all(&[0], &[0; 100]));
    assert!(!is_all(&[1], &[0; 100]));
}
