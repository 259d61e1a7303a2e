//! Datasets that other implementations wrote decode to the elements those read.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rechunk_format::Layout;
use rechunk_grid::Endian;
use rechunk_n5::{AxisOrder, N5Layout, parse_dataset, parse_group};
use sha2::{Digest, Sha256};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/n5")
}

fn open(folder: &Path, axis_order: AxisOrder) -> N5Layout {
    let document = std::fs::read(folder.join("attributes.json")).unwrap();
    N5Layout::new(parse_dataset(&document).unwrap().unwrap(), axis_order).unwrap()
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap()
}

/// All elements in C order of N5's axes reversed, little-endian; 0 where there is no block.
fn elements(folder: &Path, layout: &N5Layout) -> Vec<u8> {
    let spec = layout.spec();
    let grid = spec.grid().unwrap();
    let item_bytes = size(spec.item_bytes());
    let mut shape = spec.shape.clone();
    let is_kept = layout.axis_order() == AxisOrder::Kept;
    if is_kept {
        shape.reverse();
    }
    let mut all = vec![0; size(shape.iter().product()) * item_bytes];
    let strides = layout.element_order().strides_bytes(&spec.chunk_shape, spec.item_bytes());
    for index in grid.indices().positions() {
        let Ok(stored) = std::fs::read(folder.join(layout.object_key(&index))) else { continue };
        let mut scratch = Vec::new();
        let decoded = layout.decode(&index, &stored, &mut scratch).unwrap();
        let region = grid.region(&index);
        for position in region.positions() {
            let inside = position.iter().zip(&region.start).map(|(p, start)| p - start);
            let from = size(inside.zip(&strides).map(|(p, stride)| p * stride).sum());
            let mut item = decoded[from..from + item_bytes].to_vec();
            if layout.element_order().endian == Endian::Big {
                item.reverse();
            }
            let mut place = position.clone();
            if is_kept {
                place.reverse();
            }
            let number = place.iter().zip(&shape).fold(0, |sum, (p, extent)| sum * extent + p);
            let to = size(number) * item_bytes;
            all[to..to + item_bytes].copy_from_slice(&item);
        }
    }
    all
}

#[test]
fn datasets_of_other_implementations_hold_what_those_read() {
    let digests = std::fs::read(fixtures().join("SHA256.json")).unwrap();
    let digests: BTreeMap<String, String> = serde_json::from_slice(&digests).unwrap();
    assert!(!digests.is_empty());
    for (name, expected) in digests {
        let folder = fixtures().join(&name);
        for axis_order in [AxisOrder::Reversed, AxisOrder::Kept] {
            let layout = open(&folder, axis_order);
            let found = Sha256::digest(elements(&folder, &layout));
            assert_eq!(format!("{found:x}"), expected, "{name}");
        }
    }
}

/// The only other reader of these is Java; the same array without compression is beside them.
#[test]
fn lz4_of_java() {
    let of = |name: &str| {
        let folder = fixtures().join("lz4-java").join(name);
        elements(&folder, &open(&folder, AxisOrder::Reversed))
    };
    let raw = of("raw");
    assert!(raw.iter().any(|byte| *byte != 0));
    assert!(of("small") == raw && of("default") == raw);
}

/// Blocks that Java wrote are written alike.
#[test]
fn blocks_are_written_as_java_writes_them() {
    for version in ["1.5.0", "2.5.1", "3.1.3"] {
        let folder = fixtures().join(format!("java/data-{version}.n5/raw"));
        let layout = open(&folder, AxisOrder::Reversed);
        for index in layout.spec().grid().unwrap().indices().positions() {
            let stored = std::fs::read(folder.join(layout.object_key(&index))).unwrap();
            let (mut scratch, mut encoded) = (Vec::new(), Vec::new());
            let decoded = layout.decode(&index, &stored, &mut scratch).unwrap();
            layout.encode(&index, decoded, &mut encoded).unwrap();
            assert_eq!(encoded, stored, "{version} {index:?}");
        }
    }
}

#[test]
fn containers_say_their_version() {
    for (folder, expected) in [("1.5.0", "1.5.0"), ("2.5.1", "2.5.1"), ("3.1.3", "4.0.0")] {
        let path = fixtures().join(format!("java/data-{folder}.n5/attributes.json"));
        let group = parse_group(&std::fs::read(path).unwrap()).unwrap();
        let version = group.version.unwrap_or_else(|| panic!("{folder} has no version"));
        assert_eq!(version.to_string(), expected);
    }
}
