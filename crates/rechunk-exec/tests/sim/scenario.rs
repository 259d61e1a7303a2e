//! Scenarios by their seeds.

use std::time::Duration;

use rechunk_format::ElementOrder;
use rechunk_grid::{DataType, Endian, WriteEmpty};
use rechunk_plan::{Plan, Strategy as Kind};
use rechunk_testkit::{Dice, SimFaults};

use crate::case::{Case, SideCase};
use crate::layout::Codec;

/// Rates of faults, percent: of each kind another.
const RATES: [u64; 4] = [0, 1, 5, 20];
/// Most milliseconds that a call takes each way.
const LATENCIES_MS: [u64; 4] = [1, 20, 300, 3000];

/// One simulated job.
#[derive(Debug)]
pub(crate) struct Scenario {
    pub case: Case,
    pub plan: Plan,
    pub faults: SimFaults,
    pub latency: Duration,
    /// Runs that may die before the one that may not.
    pub crashes: u64,
    /// Writes survive a power cut only after a sync: a local disk.
    pub is_buffered: bool,
    pub takes_digest: bool,
    pub dice: Dice,
}

impl Scenario {
    /// The scenario of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let (case, plan) = loop {
            let case = draw_case(&mut dice);
            if let Some(mut plan) = case.plan() {
                plan.threads = 0; // in place: threads would end in any order
                break (case, plan);
            }
        };
        let mut faults = draw_faults(&mut dice, &case);
        let latency = Duration::from_millis(dice.pick(&LATENCIES_MS));
        let crashes = dice.below(6);
        let is_buffered = dice.percent(50);
        let takes_digest = dice.percent(70);
        if is_buffered {
            // A disk does nothing late, and nothing twice. And a journal in a file is written anew
            // without what cannot be read, so that a mark never stands for what is written again.
            (faults.late, faults.twice) = (0, 0);
            faults.checked = faults.checked.split_last().map_or(&[], |(_segments, others)| others);
        }
        Self { case, plan, faults, latency, crashes, is_buffered, takes_digest, dice }
    }
}

fn draw_faults(dice: &mut Dice, case: &Case) -> SimFaults {
    // Only what somebody checks may be changed.
    let is_checked = case.source.codec == Codec::Checked
        && case.source.shards.is_none()
        && case.kind != Kind::Passthrough;
    SimFaults {
        refused: dice.pick(&RATES),
        answer_lost: dice.pick(&RATES),
        late: dice.pick(&RATES),
        twice: dice.pick(&RATES),
        short: dice.pick(&RATES),
        flipped: if dice.percent(50) { 0 } else { dice.pick(&RATES) },
        checked: if is_checked {
            &["source/", "temp/", "segments/"]
        } else {
            &["temp/", "segments/"]
        },
        spared: &[],
        stale: dice.pick(&RATES),
        stall: dice.pick(&RATES),
        full: dice.percent(20).then(|| (dice.below(100), dice.within(1, 60))),
    }
}

fn draw_case(dice: &mut Dice) -> Case {
    let rank = usize::try_from(dice.within(1, 3)).unwrap();
    let most = [40, 12, 6][rank - 1];
    let shape: Vec<u64> = (0..rank).map(|_| dice.within(1, most)).collect();
    let kind = dice.pick(&Kind::KINDS);
    let source = draw_side(dice, rank, 20);
    let mut target = draw_side(dice, rank, 40);
    let seed = dice.bits() / 5 * 5 + 1; // source shards without gaps: they are large
    if kind == Kind::Passthrough {
        let shards = if dice.percent(50) { source.shards.clone() } else { target.shards };
        target = SideCase { shards, ..source.clone() };
    }
    let types = [DataType::Uint8, DataType::Uint16, DataType::Float32, DataType::Float64];
    Case {
        shape,
        data_type: dice.pick(&types),
        source,
        target,
        kind,
        threads: u32::try_from(dice.within(1, 4)).unwrap(),
        spare_bytes: dice.pick(&[0, 500, 2000, 1 << 20]),
        write_empty: dice.pick(&[WriteEmpty::Auto, WriteEmpty::Always]),
        missing: if dice.percent(70) { 0 } else { dice.bits() & dice.bits() },
        seed,
    }
}

fn draw_side(dice: &mut Dice, rank: usize, sharded: u64) -> SideCase {
    let mut axes: Vec<usize> = (0..rank).collect();
    if dice.percent(30) {
        axes.reverse();
    }
    let chunk = (0..rank).map(|_| dice.within(1, 5)).collect();
    let counts: Vec<u64> = (0..rank).map(|_| dice.within(1, 3)).collect();
    let codec = dice.pick(&[Codec::Raw, Codec::Runs, Codec::Checked]);
    SideCase {
        chunk,
        edges: None,
        shards: dice.percent(sharded).then(|| (counts, dice.percent(50))),
        order: ElementOrder { axes, endian: dice.pick(&[Endian::Little, Endian::Big]) },
        codec,
        fill: dice.percent(60).then(|| u8::try_from(dice.below(2)).unwrap()),
    }
}
