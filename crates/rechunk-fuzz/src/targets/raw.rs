//! Raw files: what is accepted has a layout, is written and reads again as the same array.

use rechunk_format::Layout;
use rechunk_raw::{
    AxisOrder, CHUNK_BYTES_MAX, RawLayout, RawMetadata, parse_array_json, parse_nifti, parse_npy,
};

/// `array.json`.
pub(crate) fn array_json(data: &[u8]) -> bool {
    let Ok(metadata) = parse_array_json(data) else { return false };
    holds(&metadata);
    let document = metadata.array_json();
    assert!(matches!(document, Ok(Some(_))), "{document:?}");
    if let Ok(Some(document)) = document {
        let again = parse_array_json(&document);
        assert_eq!(again.as_ref().ok(), Some(&metadata), "{again:?}");
    }
    true
}

/// The beginning of an `.npy` file.
pub(crate) fn npy(data: &[u8]) -> bool {
    let Ok(metadata) = parse_npy(data, "a.npy") else { return false };
    holds(&metadata);
    let RawMetadata { spec, order, record, .. } = metadata.clone();
    let written = RawMetadata::npy(spec, order, record, "a.npy");
    assert!(written.is_ok(), "{written:?}");
    if let Ok(written) = written {
        let again = parse_npy(&written.runs().header, "a.npy");
        assert_eq!(again.as_ref().ok(), Some(&written), "{again:?}");
        assert_eq!((&written.spec, &written.record), (&metadata.spec, &metadata.record));
    }
    true
}

/// The beginning of a `.nii` file.
pub(crate) fn nifti(data: &[u8]) -> bool {
    let mut is_accepted = false;
    for axes in [AxisOrder::Kept, AxisOrder::Reversed] {
        let Ok(metadata) = parse_nifti(data, "a.nii", axes) else { continue };
        holds(&metadata);
        let RawMetadata { spec, attributes, .. } = metadata.clone();
        let kept = RawMetadata::nifti(spec.clone(), attributes, "a.nii", axes);
        assert_eq!(kept.as_ref().ok(), Some(&metadata), "{kept:?}");
        let least = RawMetadata::nifti(spec, serde_json::Map::new(), "a.nii", axes);
        let read = least.and_then(|least| parse_nifti(&least.runs().header, "a.nii", axes));
        assert_eq!(read.as_ref().ok().map(|read| &read.spec), Some(&metadata.spec), "{read:?}");
        is_accepted = true;
    }
    is_accepted
}

/// Properties of all metadata that was accepted: the first and the last chunk lie in their files.
fn holds(metadata: &RawMetadata) {
    assert!(metadata.chunk_bytes() <= CHUNK_BYTES_MAX);
    let (grid, layout) = (metadata.spec.grid(), RawLayout::new(metadata.clone()));
    assert!(grid.is_ok() && layout.is_ok(), "{layout:?}");
    let (Ok(grid), Ok(layout)) = (grid, layout) else { return };
    let Some(runs) = layout.runs() else { return };
    let first = vec![0; grid.rank()];
    assert!(metadata.file_bytes(&first).is_ok_and(|bytes| bytes >= runs.offset_bytes));
    if grid.count() == 0 {
        return;
    }
    let last: Vec<u64> = (0..grid.rank()).map(|axis| grid.count_along(axis) - 1).collect();
    for index in [first, last] {
        let file = runs.file_of(&metadata.spec, &index);
        assert_eq!(layout.object_key(&file), layout.chunk_key(&index));
        // What belongs to nobody is removed by its name.
        assert_eq!(layout.object_index(&layout.object_key(&file)), Some(file.clone()));
        let range = layout.chunk_range(&index);
        let end = range.and_then(|(offset, length)| offset.checked_add(length));
        let bytes = metadata.file_bytes(&file).ok();
        assert!(end.is_some() && end <= bytes, "{range:?} of {bytes:?}");
    }
}
