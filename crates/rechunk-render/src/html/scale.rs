//! Positions of memory budgets and times in a chart.

use super::chart::{self, Tick};

/// Times that differ by more than this factor are drawn on a logarithmic scale.
const LINEAR_MAX: f64 = 8.0;

/// Times on a logarithmic scale.
const LOG_TICKS_SECONDS: [f64; 13] = [
    0.001,
    0.01,
    0.1,
    1.0,
    10.0,
    60.0,
    600.0,
    3600.0,
    36_000.0,
    86_400.0,
    864_000.0,
    8_640_000.0,
    86_400_000.0,
];
/// Names at an axis have room if they are further apart than this part of it.
const TICKS_APART: f64 = 0.14;

/// Positions of memory and time in the chart.
pub(super) struct Scale {
    memory: (f64, f64),
    /// Least and most time; the least is 0 on a linear scale.
    time: (f64, f64),
    is_logarithmic: bool,
}

impl Scale {
    /// Holds all points: budgets in bytes, times in seconds.
    pub(super) fn new(points: &[(u64, f64)]) -> Self {
        let memory =
            |point: Option<&(u64, f64)>| point.map_or(1.0, |&(bytes, _)| (bytes as f64).log2());
        let times = || points.iter().map(|(_, seconds)| seconds.max(1e-9));
        let (least, most) = (times().fold(f64::INFINITY, f64::min), times().fold(0.0, f64::max));
        let is_logarithmic = most > least * LINEAR_MAX;
        let time = if is_logarithmic { (least / 1.6, most * 1.6) } else { (0.0, most * 1.12) };
        Self { memory: (memory(points.first()), memory(points.last())), time, is_logarithmic }
    }

    /// The place of a budget, from 0 to 1.
    pub(super) fn x(&self, bytes: u64) -> f64 {
        let (from, to) = self.memory;
        if to > from { ((bytes as f64).log2() - from) / (to - from) } else { 0.5 }
    }

    /// The height of a time, from 0 to 1.
    pub(super) fn y(&self, seconds: f64) -> f64 {
        let (from, to) = self.time;
        if self.is_logarithmic {
            (seconds.max(1e-9) / from).ln() / (to / from).ln()
        } else {
            seconds / to
        }
    }

    /// Powers of two.
    pub(super) fn memory_ticks(&self) -> Vec<Tick> {
        let (from, to) = self.memory;
        let step = ((to - from) / 6.0).ceil().max(1.0);
        let mut ticks = Vec::new();
        let mut power = from.ceil();
        while power <= to + 1e-9 {
            ticks.push(Tick {
                at: ((power - from) / (to - from).max(1e-9)).clamp(0.0, 1.0),
                text: chart::size(2_f64.powf(power)),
                minor: ticks.len() % 2 == 1,
            });
            power += step;
        }
        ticks
    }

    /// Times that read well.
    pub(super) fn time_ticks(&self) -> Vec<Tick> {
        if !self.is_logarithmic {
            return chart::ticks(self.time.1, 4.5, chart::time_steps(), chart::time);
        }
        // Those that read best first; more where there is room.
        let mut ticks: Vec<Tick> = Vec::new();
        for value in LOG_TICKS_SECONDS.into_iter().chain(chart::time_steps()) {
            let at = self.y(value);
            let has_room = ticks.iter().all(|tick| (tick.at - at).abs() >= TICKS_APART);
            if (0.0..=1.0).contains(&at) && has_room {
                ticks.push(Tick { at, text: chart::time(value), minor: false });
            }
        }
        ticks
    }
}
