//! Any region of arrays of any format against a model in memory: what is read, what is written,
//! and how many requests that takes.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rechunk::{OpenArray, Region, Stores};
use serde_json::{Value, json};

use super::{open, part_of};

/// Fill value of the arrays.
const FILL: u16 = 9;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Plain2,
    Zlib2,
    /// Big-endian, in Fortran order.
    Turned2,
    Gzip3,
    Sharded3,
    N5,
    Raw,
}

/// An array, and what is done with it.
#[derive(Debug, Clone)]
struct Case {
    kind: Kind,
    shape: Vec<u64>,
    chunk: Vec<u64>,
    shard: Vec<u64>,
    /// Regions that are written, with the number of their first element.
    writes: Vec<(Region, u16)>,
    reads: Vec<Region>,
}

fn region_in(shape: &[u64]) -> impl Strategy<Value = Region> + use<> {
    let axis = |&extent: &u64| (0..=extent, 0..=extent);
    shape.iter().map(axis).collect::<Vec<_>>().prop_map(|ends| {
        let (start, shape) = ends.iter().map(|&(a, b)| (a.min(b), a.abs_diff(b))).unzip();
        Region::new(start, shape)
    })
}

fn case() -> impl Strategy<Value = Case> {
    let kind = prop_oneof![
        Just(Kind::Plain2),
        Just(Kind::Zlib2),
        Just(Kind::Turned2),
        Just(Kind::Gzip3),
        Just(Kind::Sharded3),
        Just(Kind::Sharded3),
        Just(Kind::N5),
        Just(Kind::Raw),
    ];
    let axes = prop::collection::vec((1_u64..12, 1_u64..6, 1_u64..4), 1..4);
    (kind, axes).prop_flat_map(|(kind, axes)| {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let chunk: Vec<u64> = axes.iter().map(|axis| axis.1).collect();
        let shard: Vec<u64> = axes.iter().map(|axis| axis.1 * axis.2).collect();
        let writes = prop::collection::vec((region_in(&shape), 0_u16..99), 0..4);
        let reads = prop::collection::vec(region_in(&shape), 1..4);
        (writes, reads).prop_map(move |(writes, reads)| {
            let (shape, chunk, shard) = (shape.clone(), chunk.clone(), shard.clone());
            Case { kind, shape, chunk, shard, writes, reads }
        })
    })
}

fn documents(case: &Case) -> Vec<(&'static str, Value)> {
    let Case { shape, chunk, .. } = case;
    let zarr2 = |compressor: Value, dtype: &str, order: &str| {
        let document = json!({"zarr_format": 2, "shape": shape, "chunks": chunk, "dtype": dtype,
            "compressor": compressor, "filters": null, "fill_value": FILL, "order": order});
        vec![(".zarray", document)]
    };
    let zarr3 = |grid: &[u64], codecs: Value| {
        let document = json!({"zarr_format": 3, "node_type": "array", "shape": shape,
            "data_type": "uint16", "fill_value": FILL, "codecs": codecs, "attributes": {},
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": grid}},
            "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}}});
        vec![("zarr.json", document)]
    };
    let bytes = json!({"name": "bytes", "configuration": {"endian": "big"}});
    let gzip = json!({"name": "gzip", "configuration": {"level": 1}});
    match case.kind {
        Kind::Plain2 => zarr2(Value::Null, "<u2", "C"),
        Kind::Zlib2 => zarr2(json!({"id": "zlib", "level": 1}), "<u2", "C"),
        Kind::Turned2 => zarr2(json!({"id": "zlib", "level": 1}), ">u2", "F"),
        Kind::Gzip3 => zarr3(chunk, json!([bytes, gzip])),
        Kind::Sharded3 => {
            let index = json!([{"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "crc32c"}]);
            let sharding = json!({"name": "sharding_indexed", "configuration": {
                "chunk_shape": chunk, "codecs": [bytes, gzip], "index_codecs": index}});
            zarr3(&case.shard, json!([sharding]))
        }
        Kind::N5 => {
            let reversed = |shape: &[u64]| shape.iter().rev().copied().collect::<Vec<_>>();
            let document = json!({"dimensions": reversed(shape), "blockSize": reversed(chunk),
                "dataType": "uint16", "compression": {"type": "gzip", "level": 1}});
            vec![("attributes.json", document)]
        }
        Kind::Raw => {
            let key: Vec<String> = (0..shape.len()).map(|axis| format!("{{{axis}}}")).collect();
            let document = json!({"shape": shape, "chunk_shape": chunk, "data_type": "uint16",
                "endian": "big", "key": key.join(".")});
            vec![("array.json", document)]
        }
    }
}

/// Writes the files of a raw array, which have to be there when it is opened.
fn write_blocks(case: &Case, folder: &Path) {
    let axes = case.shape.iter().zip(&case.chunk);
    let counts: Vec<u64> = axes.clone().map(|(extent, chunk)| extent.div_ceil(*chunk)).collect();
    for index in Region::whole(&counts).positions() {
        let extents = axes.clone().zip(&index);
        let elements: u64 =
            extents.map(|((extent, chunk), at)| (*chunk).min(extent - at * chunk)).product();
        let name = index.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        let bytes = FILL.to_be_bytes().repeat(usize::try_from(elements).unwrap());
        fs::write(folder.join(name), bytes).unwrap();
    }
}

/// Requests that a read of `region` takes: those for what is missing are counted with the others.
fn requests(case: &Case, region: &Region) -> u64 {
    let meeting = |unit: &[u64]| -> u64 {
        let axes = region.start.iter().zip(&region.shape).zip(unit);
        axes.map(|((start, extent), unit)| (start + extent).div_ceil(*unit) - start / unit)
            .product()
    };
    if region.is_empty() {
        return 0;
    }
    let shards = if case.kind == Kind::Sharded3 { meeting(&case.shard) } else { 0 };
    shards + meeting(&case.chunk)
}

async fn check_reads(
    case: &Case,
    (array, stores): &(OpenArray, Stores),
    model: &[u16],
) -> Result<(), TestCaseError> {
    let whole = Region::whole(&case.shape);
    for region in case.reads.iter().chain([&whole]) {
        let before = stores.meter().traffic().source;
        let found: Vec<u16> = array.read_region_as(region).await.unwrap();
        prop_assert_eq!(found, part_of(model, &case.shape, region, 1), "{:?}", region);
        let after = stores.meter().traffic().source;
        let made = after.get_requests + after.get_missing;
        let made = made - before.get_requests - before.get_missing;
        prop_assert_eq!(made, requests(case, region), "{:?}", region);
    }
    Ok(())
}

async fn check(case: &Case, folder: &Path) -> Result<(), TestCaseError> {
    for (name, document) in documents(case) {
        fs::write(folder.join(name), document.to_string()).unwrap();
    }
    if case.kind == Kind::Raw {
        write_blocks(case, folder);
    }
    let opened = open(folder).await;
    let whole = Region::whole(&case.shape);
    // N5 has no fill value.
    let fill = if case.kind == Kind::N5 { 0 } else { FILL };
    let mut model = vec![fill; usize::try_from(whole.elements()).unwrap()];
    check_reads(case, &opened, &model).await?;
    for (region, first) in &case.writes {
        let count = u16::try_from(region.elements()).unwrap();
        // Some regions hold nothing but the fill value.
        let value = |n: u16| if *first == 0 { fill } else { first.wrapping_mul(n) + n };
        let elements: Vec<u16> = (0..count).map(value).collect();
        opened.0.write_region_as(region, &elements).await.unwrap();
        for (position, element) in region.positions().zip(&elements) {
            model[usize::try_from(whole.ordinal(&position)).unwrap()] = *element;
        }
        check_reads(case, &opened, &model).await?;
    }
    // Opened anew, it says the same; and nothing unfinished is left beside it.
    check_reads(case, &open(folder).await, &model).await?;
    let objects = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let odd = objects.filter(|name| name.to_string_lossy().ends_with(".part")).count();
    prop_assert_eq!(odd, 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn regions_hold_what_was_written_and_nothing_else_changes(case in case()) {
        let folder = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check(&case, folder.path()))?;
    }
}

#[tokio::test]
async fn chunks_of_nothing_but_the_fill_value_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (shape, chunk, shard) = (vec![8], vec![2], vec![4]);
    let (writes, reads) = (Vec::new(), Vec::new());
    let case = Case { kind: Kind::Sharded3, shape, chunk, shard, writes, reads };
    let [(name, document)] = &documents(&case)[..] else { unreachable!() };
    fs::write(folder.path().join(name), document.to_string()).unwrap();
    let (array, stores) = open(folder.path()).await;
    let shard = folder.path().join("c/0");
    array.write_region_as(0..4, &[1_u16, 2, FILL, FILL]).await.unwrap();
    let length = fs::metadata(&shard).unwrap().len();
    array.write_region_as(3..4, &[5_u16]).await.unwrap();
    assert!(fs::metadata(&shard).unwrap().len() > length, "a chunk more");
    array.write_region_as(0..4, &[FILL; 4]).await.unwrap();
    assert!(!shard.exists());
    assert_eq!(stores.meter().traffic().target.put_requests, 2);
    let kept = rechunk::RegionOptions::default().with_write_empty(rechunk::WriteEmpty::Always);
    array.with_region_options(kept).write_region_as(0..4, &[FILL; 4]).await.unwrap();
    assert!(shard.exists());
}
