use proptest::prelude::*;
use rechunk_grid::{DataType, Endian};

use super::*;
use crate::{Header, KeyTemplate};

fn metadata(shape: &[u64], chunk_shape: &[u64], axes: Vec<usize>, is_single: bool) -> RawMetadata {
    let spec = ArraySpec {
        shape: shape.to_vec(),
        data_type: DataType::Uint16,
        chunk_shape: chunk_shape.to_vec(),
        fill_value: None,
        dimension_names: None,
        edges: None,
    };
    let files = if is_single {
        Files::Single { name: "a.raw".to_owned(), offset_bytes: 5, header: Header::None }
    } else {
        Files::Blocks { key: KeyTemplate::usual(shape.len()), offset_bytes: 3 }
    };
    let order = ElementOrder { axes, endian: Endian::Little };
    RawMetadata { spec, order, files, record: None, attributes: serde_json::Map::new() }
}

fn layout(shape: &[u64], chunk_shape: &[u64], is_single: bool) -> RawLayout {
    let axes = (0..shape.len()).collect();
    RawLayout::new(metadata(shape, chunk_shape, axes, is_single)).unwrap()
}

#[test]
fn an_edge_block_is_clipped_in_its_file_and_padded_in_memory() {
    let layout = layout(&[3, 5], &[2, 3], false);
    assert!(!layout.codec_cost().is_raw);
    assert_eq!(layout.chunk_key(&[1, 1]), "1_1.bin");
    assert_eq!(layout.chunk_range(&[0, 0]), Some((3, 12)));
    assert_eq!(layout.chunk_range(&[0, 1]), Some((3, 8)));
    let stored = [1, 0, 2, 0, 3, 0, 4, 0];
    let mut scratch = vec![9; 99];
    let chunk = layout.decode(&[0, 1], &stored, &mut scratch).unwrap().to_vec();
    assert_eq!(chunk, [1, 0, 2, 0, 0, 0, 3, 0, 4, 0, 0, 0]);
    let mut encoded = vec![9; 99];
    layout.encode(&[0, 1], &chunk, &mut encoded).unwrap();
    assert_eq!(encoded, stored);
    // A whole one is not copied.
    let whole = [7; 12];
    assert!(std::ptr::eq(
        layout.decode(&[0, 0], &whole, &mut scratch).unwrap(),
        &raw const whole[..]
    ));
    let error = layout.decode(&[0, 1], &whole, &mut scratch).unwrap_err();
    assert_eq!(error.to_string(), "raw: it has 12 bytes, not 8");
    assert!(layout.encode(&[0, 0], &whole[1..], &mut encoded).is_err());
}

#[test]
fn what_is_called_raw_and_what_is_interchangeable() {
    assert!(layout(&[4, 6], &[2, 3], false).codec_cost().is_raw);
    assert!(layout(&[4, 6], &[1, 6], true).codec_cost().is_raw);
    assert!(layout(&[0, 6], &[1, 6], true).codec_cost().is_raw);
    let (blocks, single) = (layout(&[5, 6], &[2, 6], false), layout(&[5, 6], &[2, 6], true));
    assert!(!single.codec_cost().is_raw);
    assert_eq!(blocks.encoding_identity(), single.encoding_identity());
    let mut big = metadata(&[5, 6], &[2, 6], vec![0, 1], true);
    big.order.endian = Endian::Big;
    assert_ne!(
        RawLayout::new(big.clone()).unwrap().encoding_identity(),
        single.encoding_identity()
    );
    big.spec.data_type = DataType::Uint8;
    let big = RawLayout::new(big).unwrap();
    assert_eq!((big.codec_summary(), big.format_name()), ("C order", "raw"));
    let fortran = RawLayout::new(metadata(&[5, 6], &[2, 6], vec![1, 0], false)).unwrap();
    assert_ne!(fortran.encoding_identity(), single.encoding_identity());
    assert_eq!(fortran.codec_summary(), "F order, little-endian");
}

#[test]
fn what_no_files_can_hold_is_refused() {
    let refuse = |metadata: RawMetadata| RawLayout::new(metadata).unwrap_err().to_string();
    let good = metadata(&[4, 4], &[2, 2], vec![0, 1], false);
    for axes in [vec![0], vec![0, 0], vec![0, 2], vec![]] {
        let order = ElementOrder { axes, ..good.order.clone() };
        assert!(refuse(RawMetadata { order, ..good.clone() }).contains("not an order of 2 axes"));
    }
    let typed = |data_type| {
        let spec = ArraySpec { data_type, ..good.spec.clone() };
        refuse(RawMetadata { spec, ..good.clone() })
    };
    assert!(typed(DataType::Variable).contains("variable in files of raw elements"));
    assert!(typed(DataType::FixedBytes { bytes: 0 }).contains("not supported"));
    assert!(typed(DataType::Structured { bytes: 8 }).contains("go together"));
    assert!(refuse(metadata(&[1 << 62], &[1 << 20], vec![0], true)).contains("63 bits"));
}

proptest! {
    /// Slabs and blocks, clipped or not, hold every element once; what is read is what was written.
    #[test]
    fn chunks_tile_the_files(
        extents in prop::collection::vec((1_u64..7, 1_u64..7), 0..4),
        is_fortran: bool,
        is_single: bool,
    ) {
        let (shape, mut chunk_shape): (Vec<u64>, Vec<u64>) = extents.into_iter().unzip();
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        if is_fortran {
            axes.reverse();
        }
        if is_single {
            // Contiguous in the file: (1, …, 1, k, whole, …).
            let (mut is_whole, faster) = (true, axes.iter().rev());
            for &axis in faster {
                chunk_shape[axis] = if is_whole { chunk_shape[axis].min(shape[axis]) } else { 1 };
                is_whole &= chunk_shape[axis] == shape[axis];
            }
        }
        let layout = RawLayout::new(metadata(&shape, &chunk_shape, axes, is_single)).unwrap();
        let (grid, runs) = (layout.spec().grid().unwrap(), layout.runs().unwrap());
        let mut files = std::collections::BTreeMap::new();
        for index in grid.indices().positions() {
            let bytes = layout.metadata().chunk_bytes();
            let mut chunk: Vec<u8> = (0..bytes).map(|at| u8::try_from(at % 250 + 1).unwrap()).collect();
            let mut encoded = Vec::new();
            layout.encode(&index, &chunk, &mut encoded).unwrap();
            let (offset, length) = layout.chunk_range(&index).unwrap();
            prop_assert_eq!(encoded.len() as u64, length);
            let file_index = runs.file_of(layout.spec(), &index);
            let file_bytes = runs.file_bytes(layout.spec(), &file_index).unwrap();
            let key = layout.chunk_key(&index);
            prop_assert_eq!(&key, &layout.object_key(&file_index));
            let file = files.entry(key).or_insert_with(|| vec![0_u8; usize::try_from(file_bytes).unwrap()]);
            let place = &mut file[usize::try_from(offset).unwrap()..][..encoded.len()];
            prop_assert!(place.iter().all(|&byte| byte == 0), "two chunks in one place");
            place.copy_from_slice(&encoded);
            let mut scratch = Vec::new();
            let again = layout.decode(&index, &encoded, &mut scratch).unwrap();
            if grid.is_clipped(&index) {
                prop_assert_eq!(again.len(), chunk.len());
                let mut twice = Vec::new();
                layout.encode(&index, again, &mut twice).unwrap();
                prop_assert_eq!(&twice, &encoded);
            } else {
                prop_assert_eq!(again, &chunk[..]);
            }
            chunk.clear();
        }
        prop_assert_eq!(files.len(), runs.files(layout.spec()).unwrap().count());
        let offset = usize::try_from(runs.offset_bytes).unwrap();
        for file in files.values() {
            prop_assert!(file[..offset].iter().all(|&byte| byte == 0));
            prop_assert!(file[offset..].iter().all(|&byte| byte != 0), "an element is nowhere");
        }
    }
}
