use super::*;
use proptest::prelude::*;

fn format(location: IndexLocation, endian: Endian, has_checksum: bool) -> ShardFormat {
    ShardFormat::new(&[4, 6], &[2, 3], location, endian, has_checksum).unwrap()
}

#[test]
fn chunks_have_to_divide_shards() {
    assert!(ShardFormat::usual(&[4, 6], &[2, 3]).is_ok());
    for (shard, chunk) in [(&[4, 6][..], &[3, 3][..]), (&[4], &[2, 2]), (&[4], &[0]), (&[0], &[1])]
    {
        assert!(ShardFormat::usual(shard, chunk).is_err(), "{shard:?} {chunk:?}");
    }
    assert!(ShardFormat::usual(&[1 << 40], &[1]).is_err());
}

#[test]
fn chunks_have_their_places() {
    let format = format(IndexLocation::End, Endian::Little, true);
    assert_eq!(format.chunk_count(), 4);
    assert_eq!(format.index_bytes(), 68);
    assert_eq!(format.shard_of(&[3, 4]), [1, 2]);
    assert_eq!(format.slot(&[3, 4]), 2);
}

#[test]
fn an_entry_outside_the_shard_is_refused() {
    let at_start = format(IndexLocation::Start, Endian::Little, true);
    let format = format(IndexLocation::End, Endian::Little, true);
    let outside = [(90, 11), (u64::MAX, 0), (u64::MAX, 1), (0, u64::MAX), (1 << 63, 1 << 63)];
    for (format, entry) in outside
        .map(|entry| (format.clone(), entry))
        .into_iter()
        // In the index, which has 68 bytes.
        .chain([(format.clone(), (20, 13)), (at_start.clone(), (67, 1))])
    {
        let mut index = ShardIndex::empty(&format);
        index.entries[2] = entry;
        let error = format.decode_index(&format.encode_index(&index), 100).unwrap_err();
        assert!(error.to_string().contains("entry 2"), "{error}");
    }
    for (format, entry) in [(format, (20, 12)), (at_start.clone(), (68, 32)), (at_start, (0, 0))] {
        let mut index = ShardIndex::empty(&format);
        index.entries[2] = entry;
        assert_eq!(format.decode_index(&format.encode_index(&index), 100).unwrap(), index);
    }
}

proptest! {
    #[test]
    fn an_index_reads_back(
        entries in prop::collection::vec(prop::option::of((0_u64..50, 0_u64..50)), 4),
        at_start: bool, big: bool, has_checksum: bool,
    ) {
        let location = if at_start { IndexLocation::Start } else { IndexLocation::End };
        let endian = if big { Endian::Big } else { Endian::Little };
        let format = format(location, endian, has_checksum);
        let mut index = ShardIndex::empty(&format);
        let first = if at_start { format.index_bytes() } else { 0 };
        for (slot, entry) in entries.iter().enumerate() {
            if let Some((offset, length)) = entry {
                index.set(slot as u64, first + offset, *length);
            }
        }
        let encoded = format.encode_index(&index);
        let bytes = 100 + format.index_bytes();
        prop_assert_eq!(encoded.len() as u64, format.index_bytes());
        prop_assert_eq!(&format.decode_index(&encoded, bytes).unwrap(), &index);
        prop_assert!(format.decode_index(&encoded[1..], bytes).is_err());
        let mut shard = vec![7; 100];
        shard.splice(if at_start { 0..0 } else { 100..100 }, encoded.clone());
        prop_assert_eq!(&format.index_of(0, &shard).unwrap(), &index);
        if has_checksum {
            let mut flipped = encoded;
            flipped[5] ^= 1;
            prop_assert!(format.decode_index(&flipped, bytes).is_err());
        }
    }
}
