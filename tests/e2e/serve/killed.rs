//! Row 58: servers that are killed at any moment while many write.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::serving::{BYTES, Serving, positions};
use crate::harness::Folder;

/// Kills, unless `RECHUNK_KILLS` says how many.
const KILLS: u64 = 8;
const WRITERS: u64 = 4;
/// Blocks along each axis of the finest level, and their size.
const BLOCKS: [u64; 3] = [4, 3, 2];
const BLOCK: [u32; 3] = [16, 8, 8];
pub(super) const PATH: &str = "1/1/1/2/2/1/4/4/2";

/// Numbers of a block that was written: the last that was acknowledged, and the last that was sent.
#[derive(Debug, Clone, Copy, Default)]
struct Sent {
    acknowledged: u16,
    sent: u16,
}

type Blocks = BTreeMap<[u64; 3], Sent>;

pub(super) fn create(serving: &Serving, storage: &str, is_sharded: bool) -> String {
    let level = |factors: [u64; 3]| {
        let mut level = json!({"resolutions": factors, "blockDimensions": BLOCK});
        if is_sharded {
            level["shardDimensions"] = json!([32, 16, 8]);
        }
        level
    };
    let extents: Vec<u64> =
        BLOCKS.iter().zip(BLOCK).map(|(blocks, size)| blocks * u64::from(size)).collect();
    let description = json!({
        "voxelType": "uint16", "dimensions": extents, "compression": "raw", "storage": storage,
        "resolutionLevels": [level([1, 1, 1]), level([2, 2, 1]), level([4, 4, 2])],
    });
    let body = description.to_string().into_bytes();
    let (status, id) = serving.ask("POST", "/datasets", "application/json", &body).unwrap();
    assert_eq!(status, 200, "{id:?}");
    String::from_utf8(id).unwrap()
}

/// A block of one number, on the wire.
pub(super) fn wire(number: u16) -> Vec<u8> {
    let count: u32 = BLOCK.iter().product();
    let elements = number.to_be_bytes().repeat(usize::try_from(count).unwrap());
    [BLOCK.map(u32::to_be_bytes).concat(), elements].concat()
}

/// The number that a block is made of; `None` if it is not there. Anything else is half a block.
pub(super) fn number_in(answer: &[u8]) -> Option<u16> {
    if answer == [0xff; 12] {
        return None;
    }
    let number = u16::from_be_bytes([answer[12], answer[13]]);
    assert!(answer == wire(number), "half a block: {number}");
    Some(number)
}

/// Writes blocks of its own, two in a request, until the server is gone.
fn write(serving: &Serving, id: &str, writer: u64, blocks: &Mutex<Blocks>) {
    let own: Vec<[u64; 3]> = blocks
        .lock()
        .unwrap()
        .keys()
        .copied()
        .enumerate()
        .filter_map(|(at, place)| (u64::try_from(at).unwrap() % WRITERS == writer).then_some(place))
        .collect();
    for turn in 0.. {
        let places = [own[turn % own.len()], own[(turn + 1) % own.len()]];
        let mut body = Vec::new();
        for place in places {
            let mut blocks = blocks.lock().unwrap();
            let block = blocks.get_mut(&place).unwrap();
            block.sent += 1;
            body.extend(wire(block.sent));
        }
        let path = places.map(|[x, y, z]| format!("{x}/{y}/{z}/0/0/0")).join("/");
        let path = format!("/datasets/{id}/{PATH}/build/0/{path}");
        let Some((status, said)) = serving.ask("POST", &path, BYTES, &body) else { return };
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&said));
        for place in places {
            let mut blocks = blocks.lock().unwrap();
            let block = blocks.get_mut(&place).unwrap();
            block.acknowledged = block.sent;
        }
    }
}

/// Checks that blocks are those that were sent last, perhaps without an answer.
fn check(serving: &Serving, id: &str, blocks: &mut Blocks) {
    for ([x, y, z], block) in blocks {
        let path = format!("/datasets/{id}/1/1/1/0/{x}/{y}/{z}/0/0/0");
        let (status, answer) = serving.ask("GET", &path, BYTES, b"").unwrap();
        assert_eq!(status, 200, "{path}");
        let number = number_in(&answer).unwrap_or(0);
        let is_one = (block.acknowledged..=block.sent).contains(&number);
        assert!(is_one, "{path}: {number} is none of {block:?}");
        *block = Sent { acknowledged: number, sent: number };
    }
}

/// Blocks of the levels above the finest.
pub(super) fn levels(serving: &Serving, id: &str) -> Vec<Vec<u8>> {
    let of = |level: &str, counts| serving.blocks(&format!("{id}/{level}"), counts, "0/0/0");
    [of("2/2/1", [2, 2, 2]), of("4/4/2", [1, 1, 1])].concat()
}

#[test]
fn row_58_kills_at_any_moment_leave_whole_blocks_all_that_was_acknowledged_and_right_levels() {
    let kills = std::env::var("RECHUNK_KILLS").ok().and_then(|kills| kills.parse().ok());
    let folder = Folder::new();
    let root = folder.at("root");
    let words = ["datastore", &root, "--write"];
    let first = Serving::start(&words);
    let ids = [create(&first, "n5", false), create(&first, "zarr3", true)];
    drop(first);
    let empty: Blocks = positions(BLOCKS).map(|place| (place, Sent::default())).collect();
    let mut of_both = [empty.clone(), empty];
    let mut dice: u64 = 7;
    let mut acknowledged = 0;
    for kill in 0..kills.unwrap_or(KILLS) {
        let which = usize::try_from(kill % 2).unwrap();
        let (id, blocks) = (&ids[which], Mutex::new(of_both[which].clone()));
        let mut serving = Serving::start(&words);
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wait = Duration::from_micros((dice >> 33) % 150_000);
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let (serving, blocks) = (&serving, &blocks);
                scope.spawn(move || write(serving, id, writer, blocks));
            }
            std::thread::sleep(wait);
            serving.signal(Signal::KILL);
        });
        serving.child.wait().unwrap();
        let serving = Serving::start(&words);
        let mut blocks = blocks.into_inner().unwrap();
        acknowledged += blocks.values().map(|block| u64::from(block.acknowledged)).sum::<u64>();
        check(&serving, id, &mut blocks);
        let followed = levels(&serving, id);
        let path = format!("/datasets/{id}/0/0/0/0/rebuild");
        assert_eq!(serving.ask("PATCH", &path, BYTES, b"").unwrap().0, 200);
        assert!(followed == levels(&serving, id), "kill {kill} after {wait:?}: levels of {id}");
        of_both[which] = blocks;
    }
    assert!(acknowledged > 0, "nothing was ever written");
}
