//! Memory of reading and writing a region, measured: the budget bounds it, not the region.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]

use peak_alloc::PeakAlloc;
use rechunk::{OpenOptions, RegionOptions, Stores, open_array};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Budget for chunks on their way: of 32 chunks of a megabyte some are.
const MEMORY_BYTES: usize = 8 << 20;
/// Room for everything that is no chunk: threads, names, the runtime.
const BESIDE_BYTES: usize = 2 << 20;

#[tokio::test]
async fn chunks_on_their_way_take_no_more_than_their_budget() {
    let folder = tempfile::tempdir().unwrap();
    let document = r#"{"zarr_format": 2, "shape": [32, 262144], "chunks": [1, 262144],
        "dtype": "<f4", "compressor": {"id": "zlib", "level": 1}, "filters": null,
        "fill_value": 0, "order": "C"}"#;
    std::fs::write(folder.path().join(".zarray"), document).unwrap();
    let location = folder.path().display().to_string();
    let array = open_array(&location, &OpenOptions::default(), &Stores::default()).await.unwrap();
    let budget = u64::try_from(MEMORY_BYTES).unwrap();
    let options = RegionOptions::default().with_memory_bytes(budget).with_durable(false);
    let array = array.with_region_options(options);
    let elements: Vec<u8> = (0_u32..32 << 18).flat_map(|n| (n as f32).to_ne_bytes()).collect();
    let mut found = vec![0; elements.len()];
    let measure = || {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        move || MEMORY.peak_usage() - before
    };
    let taken = measure();
    array.write_region([0..32, 0..262_144], &elements).await.unwrap();
    let taken = taken();
    assert!(taken <= MEMORY_BYTES + BESIDE_BYTES, "writing takes {taken}");
    let taken = measure();
    array.read_region_into([0..32, 0..262_144], &mut found).await.unwrap();
    let taken = taken();
    assert!(taken <= MEMORY_BYTES + BESIDE_BYTES, "reading takes {taken}");
    assert!(taken > 2 << 20, "more than one chunk is on its way: {taken}");
    assert!(found == elements);
}
