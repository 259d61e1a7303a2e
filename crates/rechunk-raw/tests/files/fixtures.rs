//! Files that NumPy and nibabel wrote (`tests/tools/raw_fixtures.py`) have the elements that these
//! read in them, and are written again byte for byte.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};

use rechunk_format::Layout;
use rechunk_grid::{DataType, Endian, Region};
use rechunk_raw::{AxisOrder, Header, RawLayout, RawMetadata, parse_nifti, parse_npy};

fn fixtures(ending: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/raw");
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|found| found == ending)).collect();
    files.sort();
    assert!(files.len() > 10, "{files:?}");
    files
}

fn elements_of(path: &Path) -> Vec<u8> {
    let name = format!("{}.elements", path.display());
    std::fs::read(name).unwrap()
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

/// All elements in C order, little-endian, chunk by chunk through the layout.
fn read_all(metadata: &RawMetadata, file: &[u8]) -> Vec<u8> {
    let layout = RawLayout::new(metadata.clone()).unwrap();
    let (spec, item_bytes) = (&metadata.spec, metadata.spec.item_bytes());
    let grid = spec.grid().unwrap();
    let whole = Region::whole(&spec.shape);
    let mut elements = vec![0; size(whole.elements() * item_bytes)];
    let strides = metadata.order.strides_bytes(&spec.chunk_shape, item_bytes);
    for index in grid.indices().positions() {
        let (offset, length) = layout.chunk_range(&index).unwrap();
        let encoded = &file[size(offset)..size(offset + length)];
        let mut scratch = Vec::new();
        let chunk = layout.decode(&index, encoded, &mut scratch).unwrap();
        let region = grid.region(&index);
        for position in region.positions() {
            let from: u64 =
                (0..grid.rank()).map(|a| (position[a] - region.start[a]) * strides[a]).sum();
            let mut element = chunk[size(from)..][..size(item_bytes)].to_vec();
            if metadata.order.endian == Endian::Big {
                spec.data_type.swap(&mut element);
            }
            let to = size(whole.ordinal(&position) * item_bytes);
            elements[to..][..element.len()].copy_from_slice(&element);
        }
    }
    elements
}

/// Returns the array in chunks of other shapes: small slabs, blocks.
fn in_other_chunks(metadata: &RawMetadata) -> RawMetadata {
    let mut other = metadata.clone();
    let slowest = other.order.axes.first().copied();
    for (axis, extent) in other.spec.chunk_shape.iter_mut().enumerate() {
        *extent = if Some(axis) == slowest { 2 } else { *extent };
    }
    other
}

#[test]
fn npy_files_are_read_as_numpy_reads_them() {
    for path in fixtures("npy") {
        let file = std::fs::read(&path).unwrap();
        let metadata = parse_npy(&file, "a.npy").unwrap();
        let index = vec![0; metadata.spec.shape.len()];
        assert_eq!(metadata.file_bytes(&index), Ok(file.len() as u64), "{}", path.display());
        assert!(read_all(&metadata, &file) == elements_of(&path), "{}", path.display());
        assert!(read_all(&in_other_chunks(&metadata), &file) == elements_of(&path));
    }
}

#[test]
fn npy_headers_are_written_as_numpy_writes_them() {
    for path in fixtures("npy") {
        let file = std::fs::read(&path).unwrap();
        let read = parse_npy(&file, "a.npy").unwrap();
        let RawMetadata { spec, order, record, .. } = read.clone();
        let written = RawMetadata::npy(spec, order, record, "a.npy").unwrap();
        let header = written.runs().header;
        let again = parse_npy(&header, "a.npy").unwrap();
        assert_eq!((&again.spec, &again.order), (&read.spec, &read.order), "{}", path.display());
        assert_eq!(again.record, read.record, "{}", path.display());
        assert!(header.len().is_multiple_of(64));
        // Where NumPy leaves room to grow, titles or another version, the bytes differ.
        let text = |bytes: &[u8]| String::from_utf8_lossy(&bytes[10..]).trim_end().to_owned();
        let name = path.file_stem().unwrap().to_str().unwrap();
        if !["record", "version2", "version3"].contains(&name) {
            assert_eq!(text(&header), text(&read.runs().header), "{name}");
        }
    }
}

#[test]
fn nifti_files_are_read_as_nibabel_reads_them() {
    for path in fixtures("nii") {
        let file = std::fs::read(&path).unwrap();
        let metadata = parse_nifti(&file, "a.nii", AxisOrder::Kept).unwrap();
        assert!(read_all(&metadata, &file) == elements_of(&path), "{}", path.display());
        assert!(read_all(&in_other_chunks(&metadata), &file) == elements_of(&path));
        let index = vec![0; metadata.spec.shape.len()];
        assert_eq!(metadata.file_bytes(&index), Ok(file.len() as u64), "{}", path.display());

        let reversed = parse_nifti(&file, "a.nii", AxisOrder::Reversed).unwrap();
        assert!(metadata.spec.shape.iter().rev().eq(&reversed.spec.shape));
        assert!(reversed.order.axes.is_sorted());
        // No element moves: what lies in the file is C order of the reversed axes.
        let mut stored = file[size(reversed.files.offset_bytes())..].to_vec();
        if reversed.order.endian == Endian::Big {
            reversed.spec.data_type.swap(&mut stored);
        }
        assert!(read_all(&reversed, &file) == stored, "{}", path.display());
    }
}

#[test]
fn nifti_headers_are_written_byte_for_byte() {
    for path in fixtures("nii") {
        let file = std::fs::read(&path).unwrap();
        for axes in [AxisOrder::Kept, AxisOrder::Reversed] {
            let read = parse_nifti(&file, "a.nii", axes).unwrap();
            let RawMetadata { spec, attributes, .. } = read.clone();
            let written =
                RawMetadata::nifti(spec.clone(), attributes.clone(), "a.nii", axes).unwrap();
            assert_eq!(written, read, "{}", path.display());
            assert!(file.starts_with(&written.runs().header));
            // Of another shape or type it is not its header any more.
            let mut other = spec.clone();
            other.shape[0] += 1;
            let written = RawMetadata::nifti(other, attributes.clone(), "a.nii", axes).unwrap();
            assert!([352, 544].contains(&written.files.offset_bytes()));
            assert_eq!(written.order.endian, Endian::Little);
            let mut other = spec;
            other.data_type =
                if other.data_type == DataType::Int8 { DataType::Uint8 } else { DataType::Int8 };
            let written = RawMetadata::nifti(other.clone(), attributes, "a.nii", axes).unwrap();
            let Header::Nifti(bytes) = header_of(&written) else { unreachable!() };
            let again = parse_nifti(&bytes, "a.nii", axes).unwrap();
            assert_eq!(again.spec.data_type, other.data_type);
            assert_eq!(again.spec.shape, other.shape);
        }
    }
}

fn header_of(metadata: &RawMetadata) -> Header {
    match &metadata.files {
        rechunk_raw::Files::Single { header, .. } => header.clone(),
        rechunk_raw::Files::Blocks { .. } => Header::None,
    }
}

#[test]
fn what_a_nifti_header_says_becomes_attributes() {
    let path = fixtures("nii").into_iter().find(|path| path.ends_with("u1.nii")).unwrap();
    let file = std::fs::read(path).unwrap();
    let nifti = &parse_nifti(&file, "a.nii", AxisOrder::Kept).unwrap().attributes["nifti"];
    assert_eq!((&nifti["version"], &nifti["datatype"]), (&1.into(), &2.into()));
    assert_eq!((&nifti["scl_slope"], &nifti["scl_inter"]), (&2.5.into(), &(-1.0).into()));
    assert_eq!(nifti["srow_x"], serde_json::json!([2.0, 0.0, 0.0, -10.5]));
    assert_eq!(nifti["srow_z"][3], serde_json::json!(f64::from(0.1_f32)));
    assert_eq!((&nifti["descrip"], &nifti["xyzt_units"]), (&"made for tests".into(), &10.into()));
}
