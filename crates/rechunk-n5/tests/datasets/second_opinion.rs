//! Against another implementation: the `n5` crate reads the documents and blocks that are written
//! here, and its blocks are read here. Only what it does right is compared: its grids, its lz4 and
//! its xz are not.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use n5::{
    DataBlock, DatasetAttributes, DefaultBlock, DefaultBlockReader, DefaultBlockWriter,
    SliceDataBlock,
};
use proptest::prelude::*;
use rechunk_format::Layout;
use rechunk_grid::{ArraySpec, DataType, FillValue};
use rechunk_n5::{AxisOrder, N5Layout, N5Metadata, N5Target, parse_compression};
use serde_json::Map;

fn layout(shape: &[u64], chunk_shape: &[u64], codec: &str) -> N5Layout {
    let spec = ArraySpec {
        shape: shape.to_vec(),
        data_type: DataType::Int32,
        chunk_shape: chunk_shape.to_vec(),
        fill_value: Some(FillValue::zero(4)),
        dimension_names: None,
        edges: None,
    };
    let compression = parse_compression(codec).unwrap();
    let target = N5Target { compression, axis_order: AxisOrder::Reversed, version: None };
    let (metadata, _) = N5Metadata::new_target(&spec, &Map::new(), &target).unwrap();
    N5Layout::new(metadata, AxisOrder::Reversed).unwrap()
}

/// Elements of a full chunk, and those of them that lie in the array, in N5's order.
fn elements(layout: &N5Layout, index: &[u64]) -> (Vec<u8>, Vec<i32>) {
    let spec = layout.spec();
    let region = spec.grid().unwrap().region(index);
    let (mut all, mut inside) = (Vec::new(), Vec::new());
    for position in rechunk_grid::Region::whole(&spec.chunk_shape).positions() {
        let number = i32::try_from(all.len()).unwrap() * 77 - 1000;
        let is_inside = position.iter().zip(&region.shape).all(|(p, extent)| p < extent);
        all.extend((if is_inside { number } else { 0 }).to_be_bytes());
        inside.extend(is_inside.then_some(number));
    }
    (all, inside)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn blocks_are_exchanged(
        axes in prop::collection::vec((1_u64..9, 1_u64..6), 1..5),
        codec in prop::sample::select(vec!["none", "gzip:1", "gzip:9", "bz2:1"]),
    ) {
        let (shape, chunk_shape): (Vec<u64>, Vec<u64>) = axes.into_iter().unzip();
        let layout = layout(&shape, &chunk_shape, codec);
        let theirs: DatasetAttributes =
            serde_json::from_slice(&layout.metadata().document()).unwrap();
        prop_assert_eq!(theirs.get_dimensions(), &layout.metadata().dimensions[..]);
        for index in layout.spec().grid().unwrap().indices().positions().take(30) {
            let (all, inside) = elements(&layout, &index);
            let position = index.iter().rev().copied().collect();
            let mut ours = Vec::new();
            layout.encode(&index, &all, &mut ours).unwrap();
            let read = <DefaultBlock as DefaultBlockReader<i32, _>>::read_block(
                &ours[..], &theirs, position,
            ).unwrap();
            prop_assert_eq!(read.get_data(), &inside[..]);

            let (size, position) = (read.get_size().into(), read.get_grid_position().into());
            let block = SliceDataBlock::new(size, position, inside);
            let mut written = Vec::new();
            DefaultBlock::write_block(&mut written, &theirs, &block).unwrap();
            let mut scratch = Vec::new();
            prop_assert_eq!(layout.decode(&index, &written, &mut scratch).unwrap(), &all[..]);
        }
    }
}
