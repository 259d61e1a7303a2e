//! Memory of applies, measured: what is allocated at once stays within what their plans say.
#![expect(clippy::disallowed_methods, reason = "tests make files and look at them")]
#![expect(clippy::unwrap_used, reason = "a helper of a test fails the test")]

use std::path::Path;
use std::sync::Arc;

use peak_alloc::PeakAlloc;
use rechunk::{
    ApplyRequest, CancellationToken, CopyRequest, Existing, Format, Job, Mode, NullObserver,
    OperationRequest, Pads, Running, Runtime, Stores,
};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Room for everything that is no chunk: threads, names, the runtime.
const BESIDE_BYTES: u64 = 3 << 20;

/// Writes a volume of 64 by 256 by 256 float32 in chunks of `chunk`.
fn write_source(path: &Path, chunk: [usize; 3]) {
    std::fs::create_dir_all(path).unwrap();
    let document = format!(
        r#"{{"zarr_format": 2, "shape": [64, 256, 256], "chunks": {chunk:?}, "dtype": "<f4",
             "compressor": null, "filters": null, "fill_value": 0, "order": "C"}}"#
    );
    std::fs::write(path.join(".zarray"), document).unwrap();
    let elements = u16::try_from(chunk.iter().product::<usize>() % 60_000).unwrap();
    let bytes: Vec<u8> = (0..chunk.iter().product::<usize>())
        .flat_map(|n| f32::from(u16::try_from(n % 1000).unwrap() + elements).to_le_bytes())
        .collect();
    for z in 0..64_usize.div_ceil(chunk[0]) {
        for y in 0..256_usize.div_ceil(chunk[1]) {
            for x in 0..256_usize.div_ceil(chunk[2]) {
                std::fs::write(path.join(format!("{z}.{y}.{x}")), &bytes).unwrap();
            }
        }
    }
}

/// An apply: source chunks, operation, work chunks, blend, chunks of the target, codec, threads.
type Cell = ([usize; 3], &'static str, &'static str, u64, &'static str, &'static str, u32);

const CELLS: [Cell; 7] = [
    ([32, 64, 64], "identity", "50,100,100", 0, "32,64,64", "none", 1),
    ([32, 64, 64], "identity", "50,100,100", 0, "50,100,100", "zstd:1", 1),
    ([32, 64, 64], "identity", "50,100,100", 0, "32,64,64", "zstd:1", 16),
    ([1, 256, 256], "gaussian:sigma=0.5", "32,64,64", 0, "32,64,64", "none", 4),
    ([64, 64, 64], "gaussian:sigma=1", "64,64,64", 8, "16,256,64", "zstd:1", 4),
    ([64, 256, 16], "identity", "64,128,128", 16, "16,64,64", "none", 2),
    ([64, 256, 256], "threshold:min=400", "64,256,256", 0, "64,256,256", "zstd:1", 2),
];

#[test]
fn tasks_take_no_more_than_planned() {
    let runtime = Runtime::new().unwrap();
    let mut wrong = Vec::new();
    for cell in CELLS {
        let (chunk, op, work, blend, chunks, codec, threads) = cell;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        write_source(&folder.path().join("source.zarr"), chunk);
        let mut request = CopyRequest::new(&at("source.zarr"), &at("target.zarr"));
        request.chunks = chunks.parse().unwrap();
        (request.format, request.codec) = (Some(Format::Zarr3), Some(codec.parse().unwrap()));
        request.planning.memory_bytes = Some(128 << 20);
        request.planning.threads = Some(threads);
        let operation = OperationRequest::parse(op).unwrap();
        let mut apply = ApplyRequest::new(operation, work.parse().unwrap());
        (apply.bottom.blend, apply.bottom.mode) = (Some(Pads::All(blend)), Mode::Linear);
        request.apply = Some(Box::new(apply));
        let before = MEMORY.current_usage();
        let job = runtime.block_on(Job::prepare(request, &Stores::default())).unwrap();
        let mut running = Running::new(Existing::Refuse);
        running.durable = false;
        MEMORY.reset_peak_usage();
        let observer = Arc::new(NullObserver);
        let report = runtime.block_on(job.run(running, observer, CancellationToken::new()));
        let planned = report.unwrap().memory.planned_peak_bytes;
        let taken = u64::try_from(MEMORY.peak_usage() - before).unwrap();
        println!("{cell:?}: {} KiB planned, {} taken", planned >> 10, taken >> 10);
        if taken > planned + BESIDE_BYTES {
            wrong.push((cell, planned, taken));
        }
    }
    runtime.shutdown_background();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
