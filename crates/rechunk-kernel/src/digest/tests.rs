use proptest::prelude::*;

use super::*;

/// The definition, element by element and word by word.
fn naive(keys: &DigestKeys, elements: &[(Vec<u64>, Vec<u8>)]) -> Digest {
    let mut sum = 0;
    for (position, bytes) in elements {
        for (number, word) in bytes.chunks(8).enumerate() {
            let mut weight = if bytes.len() > 8 { keys.of_words.weight(number as u64) } else { 1 };
            for (axis, &at) in position.iter().enumerate() {
                let packs = axis + 1 == position.len() && [1, 2, 4].contains(&bytes.len());
                let per_word = if packs { 8 / bytes.len() as u64 } else { 1 };
                weight = mul(weight, keys.axes[axis].weight(at / per_word));
                weight = mul(weight, 1 << (at % per_word * 8 * bytes.len() as u64));
            }
            sum = add(sum, mul(weight, u128::from(little(word))));
        }
    }
    Digest(sum)
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

/// Positions of a box, C order.
fn positions(start: &[u64], shape: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for (start, extent) in start.iter().zip(shape) {
        let with = |before: &Vec<u64>, at: u64| [&before[..], &[at]].concat();
        all = all
            .iter()
            .flat_map(|before| (0..*extent).map(move |i| with(before, start + i)))
            .collect();
    }
    all
}

#[derive(Debug, Clone)]
struct Placed {
    item: usize,
    swap: usize,
    start: Vec<u64>,
    shape: Vec<u64>,
    strides: Vec<u64>,
    offset: u64,
    bytes: Vec<u8>,
}

impl Placed {
    fn digest(&self, keys: &DigestKeys) -> Digest {
        let Self { start, shape, bytes, strides, .. } = self;
        keys.region(start, shape, bytes, self.offset, strides, self.swap).unwrap()
    }

    /// The element at a position, canonical.
    fn element(&self, position: &[u64]) -> Vec<u8> {
        let steps = position.iter().zip(&self.start).zip(&self.strides);
        let at =
            self.offset + steps.map(|((at, start), stride)| (at - start) * stride).sum::<u64>();
        let at = usize::try_from(at).unwrap();
        let mut bytes = self.bytes[at..at + self.item].to_vec();
        bytes.chunks_mut(self.swap).for_each(<[u8]>::reverse);
        bytes
    }

    fn elements(&self) -> Vec<(Vec<u64>, Vec<u8>)> {
        let all = positions(&self.start, &self.shape);
        all.into_iter().map(|position| (position.clone(), self.element(&position))).collect()
    }
}

fn placed() -> impl Strategy<Value = Placed> {
    let items = prop::sample::select(vec![1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 1000]);
    let axis = (prop_oneof![0..5_u64, 250..260_u64, Just(1 << 40)], 0..6_u64);
    let long = (0..300_u64, 500..600_u64);
    let axes = prop_oneof![
        4 => prop::collection::vec(axis, 0..4),
        1 => prop::collection::vec(long, 1),
    ];
    (items, axes).prop_flat_map(|(item, axes)| {
        let swaps: Vec<usize> =
            [1, 2, 3, 4, 8, item].into_iter().filter(|s| item % s == 0).collect();
        let order: Vec<usize> = (0..axes.len()).collect();
        let rest = (prop::sample::select(swaps), Just(order).prop_shuffle(), 0..4_u64, 0..3_u64);
        (rest, any::<u64>()).prop_map(move |((swap, order, offset, gap), seed)| {
            let (start, shape): (Vec<u64>, Vec<u64>) = axes.iter().copied().unzip();
            let mut strides = vec![0; axes.len()];
            let mut stride = item as u64;
            for &axis in order.iter().rev() {
                strides[axis] = stride;
                stride = stride * shape[axis].max(1) + gap;
            }
            let bytes = (0..offset + stride).map(|at| (mixed(seed ^ at) >> 56) as u8).collect();
            Placed { item, swap, start, shape, strides, offset, bytes }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_region_has_the_digest_of_its_elements(placed in placed()) {
        let keys = DigestKeys::new(placed.shape.len(), placed.item);
        prop_assert_eq!(placed.digest(&keys), naive(&keys, &placed.elements()));
    }

    #[test]
    fn parts_add_up_to_the_whole(placed in placed(), axis: prop::sample::Index, at in 0..600_u64) {
        prop_assume!(!placed.shape.is_empty());
        let keys = DigestKeys::new(placed.shape.len(), placed.item);
        let axis = axis.index(placed.shape.len());
        let at = at.min(placed.shape[axis]);
        let (mut low, mut high) = (placed.clone(), placed.clone());
        low.shape[axis] = at;
        (high.shape[axis], high.start[axis]) = (placed.shape[axis] - at, placed.start[axis] + at);
        high.offset += at * placed.strides[axis];
        let sum = low.digest(&keys) + high.digest(&keys);
        prop_assert_eq!(sum, placed.digest(&keys));
    }

    #[test]
    fn filled_is_a_region_of_equal_elements(placed in placed()) {
        let keys = DigestKeys::new(placed.shape.len(), placed.item);
        let item: Vec<u8> = placed.bytes[..placed.item].to_vec();
        let one = Placed {
            bytes: item.clone(), swap: 1, offset: 0, strides: vec![0; placed.shape.len()],
            ..placed.clone()
        };
        let filled = keys.filled(&item, &placed.start, &placed.shape).unwrap();
        prop_assert_eq!(filled, one.digest(&keys));
        prop_assert_eq!(filled, naive(&keys, &one.elements()));
    }

    #[test]
    fn a_flipped_bit_and_swapped_elements_change_it(
        placed in placed(), bit: prop::sample::Index, a: prop::sample::Index, b: prop::sample::Index,
    ) {
        let elements = placed.elements();
        prop_assume!(!elements.is_empty());
        let keys = DigestKeys::new(placed.shape.len(), placed.item);
        let before = naive(&keys, &elements);
        let mut flipped = elements.clone();
        let (at, bit) = (a.index(flipped.len()), bit.index(8 * placed.item));
        flipped[at].1[bit / 8] ^= 1 << (bit % 8);
        prop_assert_ne!(naive(&keys, &flipped), before);
        let mut swapped = elements.clone();
        let b = b.index(swapped.len());
        let (x, y) = (swapped[at].1.clone(), swapped[b].1.clone());
        prop_assume!(x != y);
        (swapped[at].1, swapped[b].1) = (y, x);
        prop_assert_ne!(naive(&keys, &swapped), before);
    }

    #[test]
    fn it_is_written_as_text(a: u64, b: u64) {
        let digest = Digest(residue(u128::from(a) << 64 | u128::from(b)));
        prop_assert_eq!(digest.to_string().parse::<Digest>(), Ok(digest));
    }
}

#[test]
fn what_is_no_digest_is_refused() {
    for text in ["", "00", &"f".repeat(32), &"+".repeat(32), &format!("7{}", "f".repeat(31))] {
        assert!(text.parse::<Digest>().is_err(), "{text}");
    }
    assert_eq!("0".repeat(32).parse::<Digest>(), Ok(Digest::default()));
}

#[test]
fn keys_differ_and_are_not_zero() {
    let keys = DigestKeys::new(3, 4);
    let mut all: Vec<u64> = keys.axes.iter().flat_map(|axis| axis.table.to_vec()).collect();
    all.extend(keys.of_words.table.iter());
    all.sort_unstable();
    assert!(all[0] > 0 && all.windows(2).all(|pair| pair[0] != pair[1]));
}

/// Journals and reports hold digests: the method may not change under its name.
#[test]
fn the_method_is_what_its_name_says() {
    let keys = DigestKeys::new(2, 4);
    let bytes: Vec<u8> = (0..4 * 700 * 3).map(|at| (mixed(at) >> 56) as u8).collect();
    let digest = keys.region(&[5, 9], &[3, 700], &bytes, 0, &[2800, 4], 1).unwrap();
    assert_eq!(DIGEST_METHOD, "rechunk-multilinear-127");
    assert_eq!(digest.to_string(), "5156be2de12f330113de9414bd7ffc4b");
}

#[test]
fn a_box_outside_its_buffer_is_refused() {
    let keys = DigestKeys::new(1, 4);
    assert!(keys.region(&[0], &[3], &[0; 11], 0, &[4], 1).is_err());
    assert!(keys.region(&[0, 0], &[1, 1], &[0; 11], 0, &[4, 4], 1).is_err());
    assert!(keys.region(&[0], &[1], &[0; 11], 0, &[4], 3).is_err());
    assert!(keys.filled(&[0; 2], &[0], &[1]).is_err());
}
