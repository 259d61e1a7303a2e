//! Scenarios by their seeds.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use rechunk::{Job, SavedJob, Strategy};
use rechunk_plan::ArrayRole;
use rechunk_testkit::{Dice, SimFaults, SimStore};

use crate::sim::array::Copied;
use crate::sim::process::{request, stores};

const HOUR: Duration = Duration::from_hours(1);

/// One simulated job.
#[derive(Debug)]
pub(super) struct Scenario {
    pub array: Copied,
    strategy: Strategy,
    /// Tiles of the stages: of the one that writes an intermediate, and of the one that writes the
    /// target.
    tiles: [[u64; 2]; 2],
    pub faults: SimFaults,
    pub latency: Duration,
    /// Processes beside those that end it.
    pub processes: u64,
    pub dice: Dice,
}

impl Scenario {
    pub(super) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut edge = |from, to| usize::try_from(dice.within(from, to)).unwrap();
        let shape = [edge(8, 44), edge(8, 36)];
        let array = Copied {
            shape,
            source_chunk: [edge(2, 6), edge(9, 36)],
            target_chunk: [edge(3, 9).min(shape[0]), edge(2, 5)], // longer ones would be cut
        };
        let mut times = |chunk: [usize; 2], most: u64| {
            chunk.map(|edge| u64::try_from(edge).unwrap() * dice.within(1, most))
        };
        let tiles = [times(array.source_chunk, 2), times(array.target_chunk, 1)];
        let fails = dice.percent(50);
        let mut rate = || if fails { dice.pick(&[0, 1, 5]) } else { 0 };
        let faults = SimFaults {
            refused: rate(),
            answer_lost: rate(),
            short: rate(),
            stall: rate(),
            spared: &["-clock-"],
            ..SimFaults::NONE
        };
        let latency = Duration::from_millis(dice.pick(&[1, 20, 300]));
        let strategy = dice.pick(&[Strategy::Pull, Strategy::PushPull]);
        let processes = dice.pick(&[2, 4, 8, 16, 30]);
        Self { array, strategy, tiles, faults, latency, processes, dice }
    }

    /// Puts the source there, sets the clock of the store, and plans.
    pub(super) async fn plan(&mut self, disk: &SimStore) -> SavedJob {
        for (key, bytes) in self.array.source() {
            disk.put(&key, Bytes::from(bytes));
        }
        disk.set_clock(clock(&mut self.dice));
        let mut request = request(self.strategy);
        request.chunks = self.array.target_chunks().parse().unwrap();
        let job = Job::prepare(request, &stores(&disk.observer())).await.unwrap();
        self.cut(job.saved())
    }

    /// Gives the plan smaller tasks, and many of them.
    fn cut(&self, mut saved: SavedJob) -> SavedJob {
        let plan = &mut saved.plan;
        let [pushed, filled] = self.tiles;
        let fit = |tile: [u64; 2]| -> Vec<u64> {
            tile.iter().zip(&self.array.shape).map(|(&edge, &of)| edge.min(of as u64)).collect()
        };
        let last = plan.stages.len() - 1;
        for (number, stage) in plan.stages.iter_mut().enumerate() {
            stage.tile = fit(if number < last { pushed } else { filled });
            stage.box_shape = None;
            // What was reserved is of the tile that it had.
            let more_bytes = 8 * stage.resident_bytes;
            stage.resident_bytes += more_bytes;
            stage.task_bytes += more_bytes;
            plan.memory.planned_peak_bytes += more_bytes * u64::from(stage.tasks_at_once);
            let tiles = stage.tile.iter().zip(&stage.shape);
            stage.tasks = tiles.map(|(tile, extent)| extent.div_ceil(*tile)).product();
        }
        for array in &mut plan.arrays {
            if array.role == ArrayRole::Intermediate {
                array.chunk = fit(pushed);
            }
        }
        plan.threads = 0; // in place: threads would end in any order
        plan.fingerprint = plan.computed_fingerprint();
        let text = saved.to_json().unwrap();
        SavedJob::from_json("plan.json", &text).unwrap()
    }
}

/// A clock of the store, before or after that of the processes, or with it.
fn clock(dice: &mut Dice) -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    dice.pick(&[
        Duration::ZERO,
        now.saturating_sub(3 * HOUR),
        now,
        now + 3 * HOUR,
        now + 9000 * HOUR,
    ])
}
