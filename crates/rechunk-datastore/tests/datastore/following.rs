//! Levels that follow uploads, against those that are rebuilt: any order, rewrites, gaps, writers.

use std::collections::BTreeMap;
use std::path::Path;

use futures::future::join_all;
use rechunk_datastore::{BlockAddress, Builder, NewDataset, VersionWanted, View, WireBlock};
use rechunk_register::{Database, open_writable};
use rechunk_store::{StoreOptions, Stores};
use serde_json::json;

/// Seeds that are tried, unless `RECHUNK_SEEDS` says how many.
const SEEDS: u64 = 60;

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn triple(&mut self, low: u64, end: u64) -> [u64; 3] {
        std::array::from_fn(|_| low + self.below(end - low))
    }
}

/// Contents of all files below a directory, by path.
fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(at) = directories.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                found.insert(path.display().to_string(), std::fs::read(&path).unwrap());
            }
        }
    }
    found
}

async fn upload(builder: Builder, mut dice: Dice, counts: [u64; 3], item_bytes: u64) {
    for _ in 0..=dice.below(6) {
        let mut blocks = Vec::new();
        for _ in 0..=dice.below(3) {
            let position = std::array::from_fn(|axis| dice.below(counts[axis]));
            let full = builder.finest().level().block_dimensions;
            // Full ones also at the edge, and some that are smaller.
            let sizes = std::array::from_fn(|axis| match dice.below(4) {
                0 => dice.below(full[axis] + 1),
                _ => full[axis],
            });
            let bytes = sizes.iter().product::<u64>() * item_bytes;
            let elements: Vec<u8> =
                (0..bytes).map(|_| dice.below(256).to_le_bytes()[0] & 0x3f).collect();
            let sizes = sizes.map(|size| u32::try_from(size).unwrap());
            let block = WireBlock { sizes, elements: elements.into() };
            let address = BlockAddress { position, time: 0, channel: 0, angle: 0 };
            blocks.push((address, builder.encode(block).unwrap()));
        }
        builder.write(blocks).await.unwrap();
    }
}

async fn holds(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let folder = tempfile::tempdir().unwrap();
    let stores = Stores::new(StoreOptions::default()).without_fsync();
    let root = stores.open(folder.path().to_str().unwrap()).unwrap();
    let database = Database::in_root(folder.path());
    let store = open_writable(root, &database).await.unwrap();
    let (dimensions, block) = (dice.triple(1, 24), dice.triple(1, 7));
    let types = [("uint8", 1), ("int16", 2), ("uint64", 8), ("float32", 4), ("float64", 8)];
    let (name, item_bytes) = types[usize::try_from(dice.below(5)).unwrap()];
    let mut factors: Vec<[u64; 3]> = (0..=dice.below(3)).map(|_| dice.triple(1, 9)).collect();
    factors.retain(|factors| *factors != [1; 3]);
    factors.sort_unstable();
    factors.dedup();
    let storage = dice.below(3);
    let levels: Vec<_> = [[1; 3]]
        .iter()
        .chain(&factors)
        .enumerate()
        .map(|(at, factors)| {
            let block = if at == 0 { block } else { dice.triple(1, 7) };
            let mut level = json!({"resolutions": factors, "blockDimensions": block});
            if storage == 2 {
                let each = dice.triple(1, 4);
                let shard: Vec<u64> = (0..3).map(|axis| block[axis] * each[axis]).collect();
                level["shardDimensions"] = json!(shard);
            }
            level
        })
        .collect();
    let description = json!({
        "voxelType": name, "dimensions": dimensions, "compression": "raw", "resolutionLevels": levels,
        "storage": if storage == 0 { "n5" } else { "zarr3" },
    });
    let id = store.create(NewDataset::from_json(&description).unwrap()).await.unwrap();
    let builder = store.builder(&id, VersionWanted::Latest, &factors).await.unwrap();
    let counts = std::array::from_fn(|axis| dimensions[axis].div_ceil(block[axis]));
    let writers = 1 + dice.below(4);
    join_all((0..writers).map(|writer| {
        tokio::spawn(upload(builder.clone(), Dice(seed * 31 + writer), counts, item_bytes))
    }))
    .await
    .into_iter()
    .for_each(|outcome| outcome.unwrap());
    let version = folder.path().join(&id).join("0");
    store.settle().await.unwrap();
    let followed = files(&version);
    let view = View { time: 0, channel: 0, angle: 0 };
    store.rebuild(&id, VersionWanted::Latest, view).await.unwrap();
    let rebuilt = files(&version);
    assert!(followed == rebuilt, "seed {seed}: {description}");
    assert_eq!(std::fs::read_dir(folder.path().join(".datastore/dirty")).unwrap().count(), 0);
}

/// Copies what a process that is killed now leaves.
fn left_by_a_kill(directory: &Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for (path, bytes) in files(directory) {
        let path = left.path().join(Path::new(&path).strip_prefix(directory).unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    left
}

/// A block of a level that is written after an upload has made it is what the next start finds.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_level_that_is_written_after_an_upload_stays() {
    let folder = tempfile::tempdir().unwrap();
    let open = async |folder: &Path| {
        let root = Stores::new(StoreOptions::default()).open(folder.to_str().unwrap()).unwrap();
        open_writable(root, &Database::in_root(folder)).await.unwrap()
    };
    let store = open(folder.path()).await;
    let level = |factor: u64| json!({"resolutions": [factor, factor, factor], "blockDimensions": [4, 4, 4]});
    let description = json!({
        "voxelType": "uint8", "dimensions": [8, 8, 8], "compression": "raw",
        "resolutionLevels": [level(1), level(2)],
    });
    let id = store.create(NewDataset::from_json(&description).unwrap()).await.unwrap();
    let block = |value: u8| WireBlock { sizes: [4; 3], elements: vec![value; 64].into() };
    let address = BlockAddress { position: [0; 3], time: 0, channel: 0, angle: 0 };
    let builder = store.builder(&id, VersionWanted::Latest, &[[2; 3]]).await.unwrap();
    builder.write(vec![(address, builder.encode(block(10)).unwrap())]).await.unwrap();
    let found = async |folder: &Path| {
        let level = open(folder).await.level(&id, [2; 3], VersionWanted::Latest).await.unwrap();
        level.read(&address).await.unwrap()[1].clone()
    };
    let killed = left_by_a_kill(folder.path());
    assert_eq!(found(killed.path()).await[0], 10);
    let coarse = store.level(&id, [2; 3], VersionWanted::Latest).await.unwrap();
    coarse.write(vec![(address, coarse.encode(&block(77)).unwrap())]).await.unwrap();
    let killed = left_by_a_kill(folder.path());
    assert_eq!(found(killed.path()).await[..], [77; 64]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn levels_that_followed_are_those_that_are_rebuilt() {
    let seeds = std::env::var("RECHUNK_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    for seed in 0..seeds.unwrap_or(SEEDS) {
        holds(seed).await;
    }
}
