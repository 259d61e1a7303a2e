use proptest::prelude::*;

use super::*;

fn labels(size: [usize; 3], channels: usize, block: [usize; 3], item_bytes: usize) -> Labels {
    Labels { size, channels, block, item_bytes }
}

fn most(labels: &Labels) -> usize {
    let wide = |list: [usize; 3]| list.map(|n| u64::try_from(n).unwrap());
    let block = BlockSize::new(labels.block.map(|n| u32::try_from(n).unwrap())).unwrap();
    let (channels, item) = (labels.channels as u64, labels.item_bytes as u64);
    usize::try_from(encoded_bytes_max(wide(labels.size), channels, block, item)).unwrap()
}

#[test]
fn a_chunk_is_spelled_as_the_description_has_it() {
    let labels = labels([3, 1, 1], 1, [2, 1, 1], 4);
    let decoded: Vec<u8> = [7_u32, 9, 7].iter().flat_map(|label| label.to_le_bytes()).collect();
    let mut encoded = Vec::new();
    encode(&decoded, &labels, &mut encoded).unwrap();
    let words: Vec<u32> =
        encoded.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    // The channel; two headers; indices and table of the first block; the table of the second.
    assert_eq!(words, [1, 5 | 1 << 24, 4, 7, 7, 0b10, 7, 9, 7]);
    let mut found = vec![0; decoded.len()];
    decode(&encoded, &labels, &mut found).unwrap();
    assert_eq!(found, decoded);
}

#[test]
fn what_leads_out_of_a_chunk_is_refused() {
    let labels = labels([3, 1, 1], 1, [2, 1, 1], 4);
    let refused = |words: &[u32]| {
        let encoded: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        decode(&encoded, &labels, &mut [0; 12]).unwrap_err()
    };
    assert!(refused(&[]).contains("too few"));
    assert!(refused(&[2]).contains("behind its end"));
    assert!(refused(&[u32::MAX]).contains("behind its end"));
    assert!(refused(&[1]).contains("header"));
    assert!(refused(&[1, 5 | 3 << 24, 4, 7, 7]).contains("3 bits"));
    assert!(refused(&[1, 0x00ff_ffff, 4, 7, 7]).contains("table"));
    assert!(refused(&[1, 2 | 1 << 24, u32::MAX, 7, 7]).contains("indices"));
    // An index behind the table.
    assert!(refused(&[1, 5 | 32 << 24, 4, 7, 7, 99, 99, 1]).contains("table"));
    let error = decode(&[0; 5], &labels, &mut [0; 12]).unwrap_err();
    assert!(error.contains("words"), "{error}");
}

#[test]
fn tables_that_are_alike_are_written_once() {
    let labels = labels([64, 1, 1], 1, [8, 1, 1], 8);
    let decoded: Vec<u8> = (0..64_u64).flat_map(|voxel| (voxel % 2 + 5).to_le_bytes()).collect();
    let mut encoded = Vec::new();
    encode(&decoded, &labels, &mut encoded).unwrap();
    assert_eq!(encoded.len(), 4 + 8 * 8 + 8 * 4 + 2 * 8);
}

proptest! {
    #[test]
    fn labels_come_back(
        size in prop::array::uniform3(1_usize..12),
        block in prop::array::uniform3(1_usize..9),
        channels in 1_usize..3,
        is_wide: bool,
        distinct in prop::sample::select(vec![1_u64, 2, 3, 5, 17, 300, u64::MAX]),
        seed: u64,
    ) {
        let labels = labels(size, channels, block, if is_wide { 8 } else { 4 });
        let mut state = seed;
        let mut decoded = Vec::new();
        while decoded.len() < labels.channel_bytes() * channels {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            decoded.extend_from_slice(&((state >> 20) % distinct).to_le_bytes()[..labels.item_bytes]);
        }
        let mut encoded = vec![9; 3];
        encode(&decoded, &labels, &mut encoded).unwrap();
        prop_assert!(encoded.len() <= most(&labels));
        let mut found = vec![1; decoded.len()];
        decode(&encoded, &labels, &mut found).unwrap();
        prop_assert_eq!(&found, &decoded);
        // Damage is refused, or gives a chunk.
        let at = usize::try_from(state % encoded.len() as u64).unwrap();
        encoded[at] ^= 0x40;
        let _ = decode(&encoded, &labels, &mut found);
        encoded.truncate(at);
        let _ = decode(&encoded, &labels, &mut found);
    }
}
