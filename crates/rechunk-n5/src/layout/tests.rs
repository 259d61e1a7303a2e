use std::io::Write;

use proptest::prelude::*;
use rechunk_codec::{BloscName, Shuffle};
use rechunk_grid::{ChunkGrid, DataType};
use serde_json::Map;

use super::*;
use crate::{Compression, N5Type, parse_dataset};

const ORDERS: [AxisOrder; 2] = [AxisOrder::Reversed, AxisOrder::Kept];

fn compressions() -> Vec<Compression> {
    let blosc = |cname, clevel, shuffle, typesize| Compression::Blosc {
        cname,
        clevel,
        shuffle,
        blocksize: 0,
        typesize,
    };
    let mut all = vec![
        Compression::Raw,
        Compression::Bzip2 { block_size: 1 },
        Compression::Xz { preset: 0 },
        Compression::Lz4 { block_bytes: 64 },
        Compression::Lz4 { block_bytes: 1 << 16 },
        blosc(BloscName::Lz4, 5, Shuffle::Byte, None),
        blosc(BloscName::Zstd, 0, Shuffle::Bit, Some(1)),
        blosc(BloscName::BloscLz, 9, Shuffle::Auto, None),
    ];
    all.extend([-1, 0, 9].map(|level| Compression::Gzip { level, use_zlib: level == 0 }));
    all.extend([0, 3, -5].map(|level| Compression::Zstd { level }));
    all
}

/// Metadata in N5's order.
fn metadata(
    dimensions: &[u64],
    block_size: &[u64],
    data_type: DataType,
    compression: Compression,
) -> N5Metadata {
    N5Metadata {
        dimensions: dimensions.to_vec(),
        block_size: block_size.to_vec(),
        data_type: N5Type::of(data_type).unwrap(),
        compression,
        version: None,
        attributes: Map::new(),
    }
}

fn layout(dimensions: &[u64], block_size: &[u64], compression: Compression) -> N5Layout {
    let metadata = metadata(dimensions, block_size, DataType::Uint16, compression);
    N5Layout::new(metadata, AxisOrder::Reversed).unwrap()
}

fn data(length: usize) -> Vec<u8> {
    (0..length).map(|i| (i.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0] & 7).collect()
}

fn decode(layout: &N5Layout, encoded: &[u8]) -> Result<Vec<u8>, FormatError> {
    let index = vec![0; layout.spec().shape.len()];
    layout.decode(&index, encoded, &mut vec![9; 3]).map(<[u8]>::to_vec)
}

fn encode(layout: &N5Layout, index: &[u64], elements: &[u8]) -> Vec<u8> {
    let mut encoded = vec![7; 11];
    layout.encode(index, elements, &mut encoded).unwrap();
    encoded
}

fn refuse(layout: &N5Layout, encoded: &[u8]) -> String {
    decode(layout, encoded).unwrap_err().to_string()
}

/// A block with this header and payload.
fn block(sizes: &[u32], payload: &[u8]) -> Vec<u8> {
    [&block::write(sizes)[..], payload].concat()
}

/// The elements of a full chunk that lie in the array; the others become 0.
fn clipped(layout: &N5Layout, index: &[u64], elements: &[u8]) -> Vec<u8> {
    let spec = layout.spec();
    let region =
        spec.grid().unwrap().region(index).relative_to(
            &index.iter().zip(&spec.chunk_shape).map(|(i, n)| i * n).collect::<Vec<_>>(),
        );
    let strides = layout.element_order().strides_bytes(&spec.chunk_shape, spec.item_bytes());
    let item_bytes = usize::try_from(spec.item_bytes()).unwrap();
    let mut kept = vec![0; elements.len()];
    for position in region.positions() {
        let at: u64 = position.iter().zip(&strides).map(|(p, stride)| p * stride).sum();
        let place = usize::try_from(at).unwrap()..usize::try_from(at).unwrap() + item_bytes;
        kept[place.clone()].copy_from_slice(&elements[place]);
    }
    kept
}

#[test]
fn where_blocks_are_and_what_order_elements_have() {
    let metadata = metadata(&[9, 5, 7], &[4, 5, 2], DataType::Int16, Compression::Raw);
    let of = |axis_order| N5Layout::new(metadata.clone(), axis_order).unwrap();
    let reversed = of(AxisOrder::Reversed);
    assert_eq!(reversed.spec().shape, [7, 5, 9]);
    assert_eq!(reversed.spec().chunk_shape, [2, 5, 4]);
    assert_eq!(reversed.element_order().axes, [0, 1, 2]);
    assert_eq!(reversed.element_order().endian, Endian::Big);
    assert_eq!(reversed.chunk_key(&[3, 0, 2]), "2/0/3");
    let kept = of(AxisOrder::Kept);
    assert_eq!(kept.spec().shape, [9, 5, 7]);
    assert_eq!(kept.element_order().axes, [2, 1, 0]);
    assert_eq!(kept.chunk_key(&[2, 0, 3]), "2/0/3");
    assert_ne!(kept.encoding_identity(), reversed.encoding_identity());
    for layout in [&kept, &reversed] {
        assert!(layout.tells_absence() && !layout.codec_cost().is_raw);
        for key in ["2/0", "2/0/3/1", "2/00/3", "2/-1/3", "+2/0/3", "2/0/3/", "a"] {
            assert_eq!(layout.object_index(key), None, "{key}");
        }
    }
    assert_eq!(reversed.object_index("2/0/3"), Some(vec![3, 0, 2]));
    assert_eq!(kept.object_index("2/0/3"), Some(vec![2, 0, 3]));
}

#[test]
fn blocks_at_the_edge_are_clipped_as_java_does() {
    let layout = layout(&[5, 3], &[4, 2], Compression::Raw);
    let elements: Vec<u8> = (0..8_u16).flat_map(u16::to_be_bytes).collect();
    // The last block: one element of two along y, one of four along x.
    assert_eq!(encode(&layout, &[1, 1], &elements), block(&[1, 1], &[0, 0]));
    assert_eq!(encode(&layout, &[0, 1], &elements), block(&[1, 2], &[0, 0, 0, 4]));
    assert_eq!(encode(&layout, &[0, 0], &elements), block(&[4, 2], &elements));
}

#[test]
fn a_block_may_hold_less_but_not_more() {
    let layout = layout(&[5, 3], &[4, 2], Compression::Raw);
    let payload = data(16);
    assert_eq!(decode(&layout, &block(&[4, 2], &payload)).unwrap(), payload);
    let rest_is_zero = [&payload[..2], &[0; 14][..]].concat();
    assert_eq!(decode(&layout, &block(&[1, 1], &payload[..2])).unwrap(), rest_is_zero);
    let column = decode(&layout, &block(&[1, 2], &payload[..4])).unwrap();
    assert_eq!(
        (&column[..4], &column[8..10]),
        (&[payload[0], payload[1], 0, 0][..], &payload[2..4])
    );
    assert_eq!(decode(&layout, &block(&[0, 2], &[])).unwrap(), [0; 16]);
    let larger = refuse(&layout, &block(&[5, 1], &payload[..10]));
    assert!(larger.contains("5 elements along an axis of 4"), "{larger}");
    let largest = refuse(&layout, &block(&[u32::MAX, u32::MAX], &payload));
    assert!(largest.contains("4294967295 elements"), "{largest}");
    assert!(refuse(&layout, &block(&[4, 2], &payload[..15])).contains("15 bytes of elements"));
    assert!(refuse(&layout, &block(&[4, 2, 1], &payload)).contains("3 dimensions"));
    assert!(refuse(&layout, &[0; 100]).contains("more than the"));
    for mode in [1, 2] {
        let variable = refuse(&layout, &[0, mode, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert!(variable.contains("variable length") && variable.contains("--chunks keep"));
    }
}

#[test]
fn elements_of_variable_length_are_only_copied() {
    let text = br#"{"dimensions": [9], "blockSize": [4], "dataType": "string",
        "compression": {"type": "raw"}}"#;
    let metadata = parse_dataset(text).unwrap().unwrap();
    let layout = N5Layout::new(metadata, AxisOrder::Reversed).unwrap();
    assert_eq!(layout.codec_cost().encoded_bytes_max, VARIABLE_BLOCK_BYTES_MAX);
    assert!(refuse(&layout, &[0, 1]).contains("variable length (string)"));
    assert!(layout.encode(&[0], &[0; 4], &mut Vec::new()).is_err());
}

/// Everything that writers mean by lz4.
#[test]
fn dialects_of_lz4() {
    let layout = layout(&[100], &[100], Compression::Lz4 { block_bytes: 64 });
    let elements = data(200);
    let ours = encode(&layout, &[0], &elements);
    assert!(ours[8..].starts_with(b"LZ4Block"));
    let mut frame = lz4_flex::frame::FrameEncoder::new(Vec::new());
    frame.write_all(&elements).unwrap();
    let frame = frame.finish().unwrap();
    let bare = lz4_flex::block::compress(&elements);
    let sized = [&200_u32.to_le_bytes()[..], &bare].concat();
    for payload in [&ours[8..], &frame, &bare, &sized] {
        assert_eq!(decode(&layout, &block(&[100], payload)).unwrap(), elements);
        for length in 0..payload.len() {
            // A frame may end before its last checksum or end mark, but never before its elements.
            if let Ok(decoded) = decode(&layout, &block(&[100], &payload[..length])) {
                assert_eq!(decoded, elements);
                assert!(payload.len() - length <= 8, "{length} of {}", payload.len());
            }
        }
    }
    let mut damaged = ours.clone();
    damaged[8 + 17] ^= 1;
    assert!(refuse(&layout, &damaged).contains("checksum"));
    let long = [&ours[..], b"more"].concat();
    assert!(refuse(&layout, &long).contains("4 bytes follow"));
    assert!(!refuse(&layout, &block(&[99], &frame)).is_empty());
}

#[test]
fn a_flag_that_writers_ignore() {
    let layouts = [true, false]
        .map(|use_zlib| layout(&[10], &[10], Compression::Gzip { level: 1, use_zlib }));
    let elements = data(20);
    for writer in &layouts {
        let encoded = encode(writer, &[0], &elements);
        for reader in &layouts {
            assert_eq!(decode(reader, &encoded).unwrap(), elements);
        }
    }
    let members = [0, 10].map(|at| {
        let mut member = Vec::new();
        rechunk_codec::deflate::encode_gzip(&elements[at..at + 10], &mut member, 1).unwrap();
        member
    });
    let members = block(&[10], &members.concat());
    assert_eq!(decode(&layouts[1], &members).unwrap(), elements);
    assert_eq!(encode(&layouts[1], &[0], &elements)[8..10], [0x1f, 0x8b]);
    assert_eq!(encode(&layouts[0], &[0], &elements)[8] & 15, 8);
}

#[test]
fn identities() {
    let of = |compression| layout(&[9], &[4], compression).encoding_identity().to_owned();
    let gzip = |level| of(Compression::Gzip { level, use_zlib: false });
    assert_eq!(gzip(-1), gzip(6));
    assert_ne!(gzip(5), gzip(6));
    assert_ne!(gzip(6), of(Compression::Gzip { level: 6, use_zlib: true }));
    assert!(gzip(6).starts_with("n5 uint16"));
}

#[test]
fn nothing_shorter_decodes() {
    for compression in compressions() {
        let layout = layout(&[64], &[64], compression);
        let encoded = encode(&layout, &[0], &data(128));
        for length in 0..encoded.len() {
            let decoded = decode(&layout, &encoded[..length]);
            assert!(decoded.is_err(), "{compression}: {length} of {} bytes", encoded.len());
        }
        assert_eq!(decode(&layout, &encoded).unwrap(), data(128), "{compression}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every compression, type and rank; every chunk, those at the edges too.
    #[test]
    fn chunks_come_back(
        axes in prop::collection::vec((0_u64..9, 1_u64..6), 1..6),
        which in any::<prop::sample::Index>(),
        type_of in any::<prop::sample::Index>(),
        order in any::<prop::sample::Index>(),
    ) {
        use DataType::{Float32, Float64, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64};
        let (dimensions, block_size): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let types =
            [Float32, Float64, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64];
        let all = compressions();
        let compression = all[which.index(all.len())];
        let data_type = types[type_of.index(types.len())];
        let layout = N5Layout::new(
            metadata(&dimensions, &block_size, data_type, compression),
            ORDERS[order.index(2)],
        ).unwrap();
        let elements = data(layout.block_bytes());
        let grid: ChunkGrid = layout.spec().grid().unwrap();
        for index in grid.indices().positions().take(20) {
            let encoded = encode(&layout, &index, &elements);
            prop_assert!(encoded.len() as u64 <= layout.codec_cost().encoded_bytes_max);
            let decoded = decode(&layout, &encoded).unwrap();
            prop_assert_eq!(decoded, clipped(&layout, &index, &elements), "{}", compression);
            let key = layout.object_key(&index);
            prop_assert_eq!(layout.object_index(&key), Some(index));
        }
        let mut scratch = Vec::new();
        prop_assert!(layout.encode(&vec![0; dimensions.len()], &[], &mut scratch).is_err());
    }

    /// Damaged blocks are refused or decode to the right size; nothing panics or grows.
    #[test]
    fn damaged_blocks(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut in any::<prop::sample::Index>(),
    ) {
        let all = compressions();
        let layout = layout(&[30, 20], &[25, 20], all[which.index(all.len())]);
        let mut bytes = encode(&layout, &[0, 0], &data(1000));
        for (position, byte) in edits {
            let position = position.index(bytes.len());
            bytes[position] = byte;
        }
        let mut scratch = Vec::new();
        if let Ok(decoded) = layout.decode(&[0, 0], &bytes, &mut scratch) {
            prop_assert_eq!(decoded.len(), 1000);
        }
        prop_assert!(scratch.capacity() <= 1100, "{} bytes", scratch.capacity());
        bytes.truncate(cut.index(bytes.len()));
        let _ = layout.decode(&[0, 0], &bytes, &mut scratch);
        prop_assert!(scratch.capacity() <= 1100, "{} bytes", scratch.capacity());
    }
}

/// Flips every bit of a block, its header too. Compressions that are said to have a checksum miss
/// none, and those that are said to have none do miss some.
#[test]
fn a_flipped_bit_is_noticed_where_there_is_said_to_be_a_checksum() {
    let elements = data(16 * 16 * 2);
    for compression in compressions() {
        let layout = layout(&[16, 16], &[16, 16], compression);
        let mut encoded = encode(&layout, &[0, 0], &elements);
        let bits = 8 * encoded.len();
        let is_silent = |bit: &usize| {
            encoded[bit / 8] ^= 1 << (bit % 8);
            let decoded = decode(&layout, &encoded);
            encoded[bit / 8] ^= 1 << (bit % 8);
            decoded.is_ok_and(|decoded| decoded != elements)
        };
        let silent: Vec<usize> = (0..bits).filter(is_silent).collect();
        println!("{compression}: {} of {bits} bits are missed", silent.len());
        match compression {
            // It checks each of its blocks; what other writers call lz4 does not.
            Compression::Lz4 { .. } => assert!(!layout.has_checksum()),
            _ => assert_eq!(silent.is_empty(), layout.has_checksum(), "{compression}: {silent:?}"),
        }
    }
}
