use rechunk_format::ShardTables;

use super::{Boxes, Minishards, Morton, Nearest, ShardHash, Sharding, murmur};

fn sharding(hash: ShardHash, bits: [u32; 3]) -> Sharding {
    let [preshift_bits, minishard_bits, shard_bits] = bits;
    let (has_gzip_tables, has_gzip_chunks) = (false, false);
    Sharding { hash, preshift_bits, minishard_bits, shard_bits, has_gzip_tables, has_gzip_chunks }
}

/// Values of an implementation in Python after the description, for any number of bytes.
#[test]
fn numbers_are_hashed_as_described() {
    for (number, hash) in [
        (0, 0x4772_b084_e028_ae41),
        (1, 0xe8bd_67d6_16d4_ce9a),
        (0xffff_ffff, 0x0072_60ff_c087_51be),
        (0x0123_4567_89ab_cdef, 0x7080_3626_4c10_9d93),
    ] {
        assert_eq!(murmur::hash(number), hash, "{number:x}");
    }
}

#[test]
fn codes_take_turns_and_leave_out_what_is_always_zero() {
    let morton = Morton::new([5, 2, 3]).unwrap();
    // x0 y0 z0, x1 z1, x2.
    assert_eq!(morton.bits(), 6);
    assert_eq!(morton.code([1, 0, 0]), 1);
    assert_eq!(morton.code([0, 1, 0]), 2);
    assert_eq!(morton.code([0, 0, 1]), 4);
    assert_eq!(morton.code([2, 0, 0]), 8);
    assert_eq!(morton.code([0, 0, 2]), 16);
    assert_eq!(morton.code([4, 0, 0]), 32);
    for code in 0..64 {
        assert_eq!(morton.code(morton.position(code)), code);
    }
    assert_eq!(morton.bits_by_axis(4), [2, 1, 1]);
    assert_eq!(Morton::new([1, 1, 1]).unwrap().bits(), 0);
    assert_eq!(Morton::new([u64::MAX, u64::MAX, 1]), None);
}

#[test]
fn shards_are_boxes_or_found_chunk_by_chunk() {
    // Six bits in all: a shard has four of them, of which two are a table's.
    let box_of = Minishards::new(sharding(ShardHash::Identity, [2, 2, 2]), [5, 2, 3], 3, false);
    let box_of = box_of.unwrap();
    assert!(!box_of.is_scattered());
    assert_eq!((box_of.chunks(), box_of.table_chunks()), (&[2, 2, 4][..], &[1, 2, 2][..]));
    assert_eq!(box_of.name(&[1, 0, 1]), "3.shard");
    assert_eq!(box_of.index_named("3.shard", 3), Some(vec![1, 0, 1]));
    assert_eq!(box_of.index_named("03.shard", 3), None);
    assert_eq!(box_of.slot(&[3, 1, 6]), 0b1110);
    // Bits that name no shard of their own, a hash, and by request.
    for (hash, bits, is_asked) in [
        (ShardHash::Identity, [2, 2, 1], false),
        (ShardHash::Murmur, [2, 2, 2], false),
        (ShardHash::Identity, [2, 2, 2], true),
    ] {
        let found = Minishards::new(sharding(hash, bits), [5, 2, 3], 3, is_asked).unwrap();
        assert!(found.is_scattered(), "{hash:?} {bits:?}");
        assert_eq!((found.chunks(), found.slot(&[3, 1, 6])), (&[1, 1, 1][..], 0));
        assert_eq!(found.index_named("3.shard", 3), None);
    }
}

#[test]
fn shards_that_cannot_be_have_a_neighbour_that_can() {
    let boxes = Boxes::new([16, 16, 3]).unwrap();
    assert_eq!(boxes.of_chunks([1, 1, 1]), Ok(0));
    assert_eq!(boxes.of_chunks([2, 2, 2]), Ok(3));
    assert_eq!(boxes.of_chunks([4, 4, 3]), Ok(6));
    assert_eq!(boxes.of_chunks([4, 4, 9]), Ok(6));
    assert_eq!(boxes.of_chunks([16, 16, 16]), Ok(10));
    assert_eq!(boxes.of_chunks([3, 2, 2]), Err(Nearest { bits: 4, chunks: [4, 2, 2] }));
    assert_eq!(boxes.of_chunks([16, 16, 1]), Err(Nearest { bits: 10, chunks: [16, 16, 4] }));
}
