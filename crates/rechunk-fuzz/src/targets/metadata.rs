//! Metadata documents: what is accepted can be written, and reads again as the same array.

use rechunk_format::Layout;
use rechunk_grid::ChunkGrid;
use rechunk_zarr::{
    ArrayMetadata, CHUNK_BYTES_MAX, CodecSpec, TargetOptions, ZarrLayout, ZarrVersion,
    carry_missing_value, is_same_missing_value, missing_value, node_kind, parse_v2, parse_v3,
    respell_missing_value, target_metadata,
};

use super::split;

/// `.zarray`, and behind a 0 byte `.zattrs`, and behind another one the name of an object.
pub(crate) fn v2(data: &[u8]) -> bool {
    let (zarray, rest) = split(data);
    let (zattrs, name) = rest.map(split).unzip();
    let Ok(metadata) = parse_v2(zarray, zattrs) else { return false };
    holds(&metadata);
    name_holds(metadata, name.flatten());
    true
}

/// `zarr.json`, and behind a 0 byte the name of an object.
pub(crate) fn v3(data: &[u8]) -> bool {
    let (document, name) = split(data);
    let kind = node_kind(document);
    let Ok(metadata) = parse_v3(document) else { return false };
    assert!(kind.is_ok(), "an array of no kind");
    holds(&metadata);
    name_holds(metadata, name);
    true
}

/// Objects are removed by their names: one that is a chunk's is that chunk's and no other's.
fn name_holds(metadata: ArrayMetadata, name: Option<&[u8]>) {
    let name = name.and_then(|name| std::str::from_utf8(name).ok());
    let (Ok(layout), Some(name)) = (ZarrLayout::new(metadata), name) else { return };
    if let Some(index) = layout.object_index(name) {
        assert_eq!(layout.object_key(&index), name);
    }
}

/// A document of either version; what it becomes in either version.
pub(crate) fn other_version(data: &[u8]) -> bool {
    let (document, zattrs) = split(data);
    let parsed = parse_v3(document).or_else(|_| parse_v2(document, zattrs));
    let Ok(source) = parsed else { return false };
    let mut is_accepted = false;
    for version in [ZarrVersion::V2, ZarrVersion::V3] {
        let chunk_shape = source.spec.chunk_shape.clone();
        let shard_shape = source.sharding.as_ref().map(|shards| shards.shard_shape().to_vec());
        let options = TargetOptions { version, chunk_shape, shard_shape, codec: None };
        if let Ok((target, _)) = target_metadata(&source, &options) {
            assert_eq!(target.version, version);
            assert_eq!(target.spec.shape, source.spec.shape);
            holds(&target);
            carries(&source, &target);
            says_what_is_missing(&source, target);
            is_accepted = true;
        }
    }
    is_accepted
}

/// Values that xarray takes for missing stay so; where only their spelling changes, elements stay
/// the same.
fn says_what_is_missing(source: &ArrayMetadata, target: ArrayMetadata) {
    let mut respelt = target.clone();
    respell_missing_value(source, &mut respelt);
    assert_eq!(respelt.spec, target.spec);
    holds(&respelt);
    let mut carried = target;
    let is_other = carry_missing_value(source, &mut carried).is_some();
    holds(&carried);
    if source.version != carried.version && !is_other {
        let (before, after) = (missing_value(source), missing_value(&carried));
        let is_same = match (&before, &after) {
            (Some(before), Some(after)) => {
                is_same_missing_value(before, after, source.spec.data_type)
            }
            // A NaN is missing to xarray, whatever the array says.
            _ => before.is_none() || source.spec.data_type != carried.spec.data_type,
        };
        assert!(is_same, "{before:?} became {after:?}");
    }
}

/// Filters of each number that are kept are carried.
fn carries(source: &ArrayMetadata, target: &ArrayMetadata) {
    let filters = target.number_filters();
    // Shards inside chunks stay as they are where chunks do.
    let has_shards = target.codecs.iter().any(|codec| matches!(codec, CodecSpec::Shards(_)));
    if filters.is_empty() || has_shards {
        return;
    }
    assert_eq!(source.number_filters(), filters);
    assert!(source.as_stored().is_some() && target.as_stored().is_some(), "{filters:?}");
}

/// An array of what is stored is one like any other, if its chunks are not larger.
fn stored_holds(metadata: &ArrayMetadata) {
    let Some(stored) = metadata.as_stored() else { return };
    assert!(stored.number_filters().is_empty());
    if stored.chunk_bytes() <= metadata.chunk_bytes() {
        let layout = ZarrLayout::new(stored);
        assert!(layout.is_ok(), "{layout:?}");
    }
}

/// Properties of all metadata that was accepted.
pub(super) fn holds(metadata: &ArrayMetadata) {
    let grid = metadata.spec.grid();
    assert!(grid.is_ok(), "{grid:?}");
    assert!(metadata.chunk_bytes() <= CHUNK_BYTES_MAX);
    assert!(!metadata.fill_value_text().is_empty());
    let _ = metadata.plain_attributes();
    let again = read_again(metadata);
    assert_eq!(again.as_ref().ok(), Some(metadata), "{again:?}");
    stored_holds(metadata);
    let layout = ZarrLayout::new(metadata.clone());
    assert!(layout.is_ok(), "{layout:?}");
    if let (Ok(grid), Ok(layout)) = (grid, layout) {
        layout_holds(&layout, &grid);
    }
}

/// Where the last chunk is, and what a chunk costs.
fn layout_holds(layout: &ZarrLayout, grid: &ChunkGrid) {
    let metadata = layout.metadata();
    let last: Vec<u64> =
        (0..grid.rank()).map(|axis| grid.count_along(axis).saturating_sub(1)).collect();
    let key = layout.chunk_key(&last);
    let object = layout.shards().map_or_else(|| last.clone(), |shards| shards.shard_of(&last));
    assert_eq!(layout.object_key(&object), key);
    assert_eq!(metadata.key_encoding.chunk_index(&key, grid.rank()), Some(object), "{key}");
    if let Some(shards) = layout.shards() {
        assert!(shards.slot(&last) < shards.chunk_count());
        assert_eq!(metadata.object_shape(), shards.shard_shape());
    }
    let encoded_bytes_max = layout.codec_cost().encoded_bytes_max;
    let is_smaller = metadata.codecs.iter().any(makes_smaller);
    assert!(is_smaller || encoded_bytes_max >= metadata.chunk_bytes(), "{encoded_bytes_max} bytes");
}

/// True for filters that store an element in fewer bits.
fn makes_smaller(codec: &CodecSpec) -> bool {
    match codec {
        CodecSpec::PackBits(_) | CodecSpec::PackedNumbers(_) => true,
        CodecSpec::CastValue(cast) => {
            cast.types.encoded.item_bytes() < cast.types.decoded.item_bytes()
        }
        CodecSpec::Shards(shards) => shards.codecs.iter().any(makes_smaller),
        CodecSpec::Delta(types)
        | CodecSpec::AsType(types)
        | CodecSpec::FixedScaleOffset { types, .. }
        | CodecSpec::Quantize { types, .. } => {
            types.encoded.item_bytes() < types.decoded.item_bytes()
        }
        _ => false,
    }
}

fn read_again(metadata: &ArrayMetadata) -> Result<ArrayMetadata, rechunk_format::FormatError> {
    let documents = metadata.documents();
    let of = |wanted: &str| {
        let found = documents.iter().find(|(key, _)| key == wanted);
        found.map(|(_, bytes)| bytes.as_slice())
    };
    match metadata.version {
        ZarrVersion::V2 => parse_v2(of(".zarray").unwrap_or_default(), of(".zattrs")),
        ZarrVersion::V3 => parse_v3(of("zarr.json").unwrap_or_default()),
    }
}
