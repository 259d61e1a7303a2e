//! Files of raw elements, held to the contract of a format.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use rechunk_conformance::formats::check_format;
use rechunk_format::ElementOrder;
use rechunk_grid::{ArraySpec, Endian};
use rechunk_raw::{Files, Header, KeyTemplate, RawLayout, RawMetadata};

/// Arrays that have files of blocks at least: every shape in two types, and every type in one.
const LAYOUTS_MIN: usize = 40;

fn layout(spec: &ArraySpec, files: Files, order: ElementOrder) -> RawLayout {
    let (spec, attributes) = (spec.clone(), serde_json::Map::new());
    RawLayout::new(RawMetadata { spec, order, files, record: None, attributes }).unwrap()
}

fn order(rank: usize, is_fortran: bool, endian: Endian) -> ElementOrder {
    let mut axes: Vec<usize> = (0..rank).collect();
    if is_fortran {
        axes.reverse();
    }
    ElementOrder { axes, endian }
}

/// True if each chunk is one run of bytes of a single file: (1, …, 1, k, whole, …).
fn is_slab(spec: &ArraySpec, axes: &[usize]) -> bool {
    let mut is_whole = true;
    axes.iter().rev().all(|&axis| {
        let (extent, edge) = (spec.shape[axis], spec.chunk_shape[axis]);
        let fits = if is_whole { edge <= extent.max(1) } else { edge == 1 };
        is_whole &= edge == extent;
        fits
    })
}

#[test]
fn files_of_blocks() {
    for (is_fortran, endian) in [(false, Endian::Little), (true, Endian::Big)] {
        let blocks = |spec: &ArraySpec| {
            let rank = spec.shape.len();
            let files = Files::Blocks { key: KeyTemplate::usual(rank), offset_bytes: 3 };
            Some(layout(spec, files, order(rank, is_fortran, endian)))
        };
        let checked = check_format(blocks).unwrap();
        assert!(checked.layouts >= LAYOUTS_MIN, "{checked:?}");
    }
}

#[test]
fn slabs_of_one_file() {
    for (is_fortran, endian) in [(false, Endian::Little), (true, Endian::Big)] {
        let slabs = |spec: &ArraySpec| {
            let order = order(spec.shape.len(), is_fortran, endian);
            let (name, offset_bytes) = ("a.raw".to_owned(), 5);
            let files = Files::Single { name, offset_bytes, header: Header::None };
            is_slab(spec, &order.axes).then(|| layout(spec, files, order))
        };
        let checked = check_format(slabs).unwrap();
        assert!(checked.layouts >= 6, "{checked:?}");
    }
}
