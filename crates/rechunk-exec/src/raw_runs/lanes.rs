//! Work spread over lanes.

use futures::stream::{FuturesUnordered, StreamExt};
use rechunk_kernel::wide;
use rechunk_store::{OPEN_FILES_MAX, Run};

use crate::Fault;

/// Files of one side that are open at once, at most: other runs have files too.
const FILES_AT_ONCE: usize = OPEN_FILES_MAX / 2;

/// Runs of a lane and the bytes they go through: together no more than the plan reserved for it.
#[derive(Debug, Default)]
pub(super) struct Bounce {
    pub bytes: Vec<u8>,
    pub runs: Vec<Run>,
}

impl Bounce {
    /// So many bytes and runs are what a lane of `lane_bytes` may have.
    pub(super) fn takes(bytes: usize, runs: usize, lane_bytes: u64) -> bool {
        held_bytes(bytes, runs) <= lane_bytes
    }

    /// Makes room for so many bytes and runs, and gives up what would not fit beside them.
    pub(super) fn make_room(&mut self, bytes: usize, runs: usize, lane_bytes: u64) {
        let holds = |lane: &Self| {
            held_bytes(lane.bytes.capacity().max(bytes), lane.runs.capacity().max(runs))
        };
        if holds(self) > lane_bytes && self.runs.capacity() > runs {
            self.runs = Vec::new();
        }
        if holds(self) > lane_bytes && self.bytes.capacity() > bytes {
            self.bytes = Vec::new();
        }
        if self.bytes.len() < bytes {
            self.bytes = Vec::new(); // free the old one first
            self.bytes = vec![0; bytes];
        }
        self.runs.clear();
        if self.runs.capacity() < runs {
            self.runs = Vec::new();
            self.runs.reserve_exact(runs);
        }
    }
}

fn held_bytes(bytes: usize, runs: usize) -> u64 {
    wide(bytes).saturating_add(wide(runs).saturating_mul(wide(size_of::<Run>())))
}

/// Lanes that move runs of one file.
pub(super) type Crew = Vec<Bounce>;

/// Divides all lanes among `files` files. Where there are fewer than lanes, several share one.
pub(super) fn crews(lanes: &mut Vec<Bounce>, files: usize) -> Vec<Crew> {
    let count = files.min(lanes.len()).clamp(1, FILES_AT_ONCE);
    let mut crews: Vec<Crew> = (0..count).map(|_| Crew::new()).collect();
    for (number, lane) in lanes.drain(..).enumerate() {
        crews[number % count].push(lane);
    }
    crews
}

/// Gives every item to one of `lanes` as soon as it is free. Work begins in the order of the items;
/// what `begin` does before it returns is done in that order.
pub(super) async fn over<L, T, W>(
    lanes: &mut Vec<L>,
    items: impl Iterator<Item = T>,
    mut begin: impl FnMut(L, T) -> Result<W, Fault>,
) -> Result<(), Fault>
where
    W: Future<Output = Result<L, Fault>>,
{
    let mut items = items.fuse();
    let mut at_work = FuturesUnordered::new();
    loop {
        while let Some(lane) = lanes.pop() {
            let Some(item) = items.next() else {
                lanes.push(lane);
                break;
            };
            at_work.push(begin(lane, item)?);
        }
        let Some(done) = at_work.next().await else { return Ok(()) };
        lanes.push(done?);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lane_has_a_file_and_every_file_a_lane() {
        let sizes = |lanes: usize, files: usize| -> Vec<usize> {
            let mut lanes: Vec<Bounce> = (0..lanes).map(|_| Bounce::default()).collect();
            crews(&mut lanes, files).iter().map(Vec::len).collect()
        };
        assert_eq!(sizes(4, 1), [4]);
        assert_eq!(sizes(5, 2), [3, 2]);
        assert_eq!(sizes(2, 9), [1, 1]);
        assert_eq!(sizes(3, 0), [3]);
        let many = sizes(1000, 900);
        assert_eq!((many.len(), many.iter().sum::<usize>()), (FILES_AT_ONCE, 1000));
    }

    #[test]
    fn a_lane_never_holds_more_than_it_may() {
        let mut lane = Bounce::default();
        for (bytes, runs) in [(1000, 1), (280, 30), (1000, 0), (0, 40), (500, 20), (976, 1)] {
            lane.make_room(bytes, runs, 1000);
            assert!(lane.bytes.len() >= bytes && lane.runs.capacity() >= runs);
            let held = lane.bytes.capacity() + lane.runs.capacity() * size_of::<Run>();
            assert!(held <= 1024, "{held} for {bytes} and {runs}");
        }
        let before = lane.bytes.as_ptr();
        lane.make_room(100, 0, 1000);
        assert_eq!(lane.bytes.as_ptr(), before, "allocated again");
    }

    #[tokio::test]
    async fn work_begins_in_order_and_ends_in_any() {
        let mut lanes = vec!['a', 'b', 'c'];
        let mut begun = Vec::new();
        over(&mut lanes, 0..10_u64, |lane, item| {
            begun.push(item);
            Ok(async move {
                tokio::time::sleep(std::time::Duration::from_millis(10 - item)).await;
                Ok(lane)
            })
        })
        .await
        .unwrap();
        assert_eq!(begun, (0..10).collect::<Vec<_>>());
        lanes.sort_unstable();
        assert_eq!(lanes, ['a', 'b', 'c']);
    }
}
