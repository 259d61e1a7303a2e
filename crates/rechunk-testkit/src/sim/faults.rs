use std::io;

use object_store::Error;

use super::Dice;

/// Rates of faults: percentages of calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct SimFaults {
    /// Not done, and said so: 500, 503, a timeout, a connection that is reset.
    pub refused: u64,
    /// Writes that are done, but nobody is told.
    pub answer_lost: u64,
    /// Writes of which the answer says a timeout, and that are done later all the same.
    pub late: u64,
    /// Writes that are done again later.
    pub twice: u64,
    /// Bodies that end too early, or break off.
    pub short: u64,
    /// Bodies with one bit changed on their way, of keys that hold any of [`SimFaults::checked`].
    pub flipped: u64,
    /// Parts of keys of which the reader sees a changed bit.
    pub checked: &'static [&'static str],
    /// Keys that hold any of these are spared all faults.
    pub spared: &'static [&'static str],
    /// Lists that do not know what was written or deleted in the last seconds.
    pub stale: u64,
    /// Calls that take twenty times as long.
    pub stall: u64,
    /// From this call of all clients on, for so many calls, no write has room.
    pub full: Option<(u64, u64)>,
}

/// Fate of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Well,
    Refused,
    AnswerLost,
    Late,
    Twice,
    Short,
    Flipped,
    Stale,
    Full,
}

impl SimFaults {
    /// Nothing goes wrong.
    pub const NONE: Self = Self {
        refused: 0,
        answer_lost: 0,
        late: 0,
        twice: 0,
        short: 0,
        flipped: 0,
        checked: &[],
        spared: &[],
        stale: 0,
        stall: 0,
        full: None,
    };

    fn spares(&self, key: &str) -> bool {
        self.spared.iter().any(|part| key.contains(part))
    }

    pub(super) fn of_write(&self, dice: &mut Dice, key: &str, call: u64) -> Fate {
        if self.spares(key) {
            return Fate::Well;
        }
        if self.full.is_some_and(|(first, count)| call >= first && call - first < count) {
            return Fate::Full;
        }
        let fates = [
            (self.refused, Fate::Refused),
            (self.answer_lost, Fate::AnswerLost),
            (self.late, Fate::Late),
            (self.twice, Fate::Twice),
        ];
        draw(dice, &fates)
    }

    pub(super) fn of_read(&self, dice: &mut Dice, key: &str) -> Fate {
        if self.spares(key) {
            return Fate::Well;
        }
        let is_checked = self.checked.iter().any(|part| key.contains(part));
        let flipped = if is_checked { self.flipped } else { 0 };
        let fates =
            [(self.refused, Fate::Refused), (self.short, Fate::Short), (flipped, Fate::Flipped)];
        draw(dice, &fates)
    }

    pub(super) fn of_list(&self, dice: &mut Dice) -> Fate {
        draw(dice, &[(self.refused, Fate::Refused), (self.stale, Fate::Stale)])
    }
}

fn draw(dice: &mut Dice, fates: &[(u64, Fate)]) -> Fate {
    let drawn = fates.iter().find(|(percent, _)| dice.percent(*percent));
    drawn.map_or(Fate::Well, |(_, fate)| *fate)
}

/// An error that may pass, as `object_store` says it.
pub(super) fn passing(dice: &mut Dice) -> Error {
    let status = |code: &str| {
        let text = format!("Server returned non-2xx status code: {code}: <Code>Simulated</Code>");
        generic(io::Error::other(text))
    };
    match dice.below(4) {
        0 => status("500 Internal Server Error"),
        1 => status("503 Service Unavailable"),
        2 => timed_out(),
        _ => generic(io::Error::new(io::ErrorKind::ConnectionReset, "simulated reset")),
    }
}

pub(super) fn timed_out() -> Error {
    generic(io::Error::new(io::ErrorKind::TimedOut, "simulated timeout"))
}

pub(super) fn no_space() -> Error {
    generic(io::Error::new(io::ErrorKind::StorageFull, "simulated full disk"))
}

pub(super) fn generic(error: io::Error) -> Error {
    Error::Generic { store: "sim", source: Box::new(error) }
}

/// Error with the text of a refused condition.
pub(super) fn said(text: &'static str) -> Box<dyn std::error::Error + Send + Sync> {
    Box::new(io::Error::other(text))
}
