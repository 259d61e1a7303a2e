use rechunk_grid::{ArraySpec, DataType};

/// Shapes and chunk shapes: scalars, chunks that fit, reach over the edge, or hold all and more.
const SHAPES: [(&[u64], &[u64]); 10] = [
    (&[], &[]),
    (&[1], &[1]),
    (&[7], &[3]),
    (&[5], &[8]),
    (&[0], &[4]),
    (&[4, 6], &[2, 3]),
    (&[5, 7], &[2, 3]),
    (&[6, 40], &[6, 40]),
    (&[3, 1, 5], &[2, 1, 5]),
    (&[2, 3, 4, 5], &[1, 2, 4, 3]),
];
/// Shape in which every type is tried, with chunks at three edges.
const OF_EACH_TYPE: (&[u64], &[u64]) = (&[5, 7], &[2, 3]);
/// Types in which every shape is tried.
const IN_EACH_SHAPE: [DataType; 2] = [DataType::Uint16, DataType::Float64];

/// The arrays that are tried.
pub(super) fn specs() -> Vec<ArraySpec> {
    let shapes = IN_EACH_SHAPE
        .iter()
        .flat_map(|data_type| SHAPES.iter().map(|shapes| spec(*data_type, *shapes)));
    let types = DataType::ALL.iter().map(|data_type| spec(*data_type, OF_EACH_TYPE));
    shapes.chain(types).collect()
}

fn spec(data_type: DataType, (shape, chunk_shape): (&[u64], &[u64])) -> ArraySpec {
    ArraySpec {
        shape: shape.to_vec(),
        data_type,
        chunk_shape: chunk_shape.to_vec(),
        edges: None,
        fill_value: None,
        dimension_names: None,
    }
}
