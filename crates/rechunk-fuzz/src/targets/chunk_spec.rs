//! Values of `--chunks`.

use rechunk::ChunkSpec;
use rechunk_grid::{ArraySpec, DataType};

/// Arrays that a specification is resolved against: extents, and names of the axes.
const ARRAYS: [(&[u64], Option<&[&str]>); 4] = [
    (&[], None),
    (&[1000, 1, 0], Some(&["time", "", "x"])),
    (&[u64::MAX / 8, 7], Some(&["a", "a"])),
    (&[1; 32], None),
];

/// Any text; what it means for an array is a chunk shape within that array.
pub(crate) fn target(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else { return false };
    let Ok(spec) = ChunkSpec::parse(text) else { return false };
    for (shape, names) in ARRAYS {
        let array = array(shape, names);
        for chunk_bytes in [0, 1, 16 << 20, u64::MAX] {
            let Ok(chunk) = spec.resolve(&array, chunk_bytes) else { continue };
            assert_eq!(chunk.len(), shape.len());
            let is_within = |(&chunk, &extent): (&u64, &u64)| (1..=extent.max(1)).contains(&chunk);
            assert!(chunk.iter().zip(shape).all(is_within), "{chunk:?} in {shape:?}");
        }
    }
    true
}

fn array(shape: &[u64], names: Option<&[&str]>) -> ArraySpec {
    let name = |name: &&str| (!name.is_empty()).then(|| (*name).to_owned());
    ArraySpec {
        shape: shape.to_vec(),
        data_type: DataType::Float32,
        chunk_shape: shape.iter().map(|&extent| extent.clamp(1, 10)).collect(),
        edges: None,
        fill_value: None,
        dimension_names: names.map(|names| names.iter().map(name).collect()),
    }
}
