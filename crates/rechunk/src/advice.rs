//! Says where a little more memory would make a long plan much shorter. Pure: it only plans.

use rechunk_plan::{PlanRequest, Strategy};
use rechunk_planner::{Planned, cheapest};
use serde::{Deserialize, Serialize};

use crate::format_byte_size;

/// Plans that take no longer than this are not worth a word, seconds.
const WORTH_SECONDS: f64 = 600.0;
/// Least factor by which the advised plan has to be shorter than the plan as it is.
const TIMES_SHORTER: f64 = 4.0;
/// Factor over the shortest time tried that an advised plan may take.
const NEAR_THE_BEST: f64 = 2.0;
/// Multiples of the budget that are tried, ascending: what is more than that is another machine.
const MULTIPLES: [f64; 4] = [std::f64::consts::SQRT_2, 2.0, 2.0 * std::f64::consts::SQRT_2, 4.0];

/// Plan that a modest multiple of the memory would allow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MoreMemory {
    /// The budget that would do, bytes.
    pub memory_bytes: u64,
    /// Multiple of the given budget.
    pub times: f64,
    /// The kind of plan it would be.
    pub kind: Strategy,
    /// Its time under the profile, seconds.
    pub seconds: f64,
    /// Reads of source and intermediate with that budget, bytes, expected.
    pub read_bytes: u64,
    /// The time of the plan as it is, seconds.
    pub instead_of_seconds: f64,
    /// Reads of the plan as it is, bytes, expected.
    pub instead_of_read_bytes: u64,
}

impl MoreMemory {
    /// Finds the least budget that makes the plan of `request` nearly as short as any tried one
    /// does. `None` if that is less than four times as short, or the plan takes ten minutes at
    /// most.
    pub fn advice(request: &PlanRequest, planned: &Planned) -> Option<Self> {
        let given_bytes = request.budget.memory_bytes;
        let instead_of_seconds = planned.plan.estimate.seconds;
        if instead_of_seconds <= WORTH_SECONDS || request.budget.box_bytes.is_some() {
            return None;
        }
        let within = |memory_bytes: u64| {
            let mut request = request.clone();
            request.budget.memory_bytes = memory_bytes;
            Some((memory_bytes, cheapest(&request).ok()?.plan))
        };
        let budgets = MULTIPLES.map(|multiple| scaled(given_bytes, multiple));
        let tried: Vec<_> = budgets.into_iter().filter_map(within).collect();
        let seconds = tried.iter().map(|(_, plan)| plan.estimate.seconds);
        let best_seconds = seconds.fold(f64::INFINITY, f64::min);
        let is_worth = |seconds: f64| {
            seconds <= best_seconds * NEAR_THE_BEST && seconds * TIMES_SHORTER <= instead_of_seconds
        };
        let mut tried = tried.into_iter();
        let (mut memory_bytes, mut plan) =
            tried.find(|(_, plan)| is_worth(plan.estimate.seconds))?;
        // It may need less than what was tried.
        let peak_bytes = plan.memory.planned_peak_bytes;
        if (given_bytes + 1..memory_bytes).contains(&peak_bytes)
            && let Some(less) = within(peak_bytes)
            && is_worth(less.1.estimate.seconds)
        {
            (memory_bytes, plan) = less;
        }
        Some(Self {
            memory_bytes,
            times: memory_bytes as f64 / given_bytes.max(1) as f64,
            kind: plan.kind,
            seconds: plan.estimate.seconds,
            read_bytes: read_bytes(&plan.estimate),
            instead_of_seconds,
            instead_of_read_bytes: read_bytes(&planned.plan.estimate),
        })
    }

    /// The advice in a sentence.
    pub fn sentence(&self) -> String {
        // A size that is given back is not to be rounded down.
        let mebibytes = self.memory_bytes.div_ceil(1 << 20);
        format!(
            "this plan reads {} in {}: with --max-mem {mebibytes}MiB, {:.1} times as much memory, a {} plan reads {} in \
             {}",
            format_byte_size(self.instead_of_read_bytes),
            time(self.instead_of_seconds),
            self.times,
            self.kind,
            format_byte_size(self.read_bytes),
            time(self.seconds),
        )
    }
}

fn read_bytes(estimate: &rechunk_plan::Estimate) -> u64 {
    estimate.source.read_bytes.saturating_add(estimate.intermediate.read_bytes)
}

fn scaled(bytes: u64, multiple: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size to try")]
    let scaled = (bytes as f64 * multiple).round() as u64;
    scaled
}

/// `3 minutes`, `5.2 hours`, `58 days`.
fn time(seconds: f64) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 60.0 * MINUTE;
    const DAY: f64 = 24.0 * HOUR;
    match seconds {
        _ if seconds < 2.0 * MINUTE => format!("{seconds:.0} seconds"),
        _ if seconds < 2.0 * HOUR => format!("{:.0} minutes", seconds / MINUTE),
        _ if seconds < 2.0 * DAY => format!("{:.1} hours", seconds / HOUR),
        _ => format!("{:.0} days", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use rechunk_plan::{Profile, Side, StoreProfile};
    use rechunk_planner::plan;

    use super::*;

    const MIB: u64 = 1 << 20;

    /// Scenes in chunks of `source` that are to be read as series of `side` × `side`, at an object
    /// store.
    fn series(shape: [u64; 3], source: [u64; 3], side: u64, memory_bytes: u64) -> PlanRequest {
        let s3 = StoreProfile::built_in("s3").unwrap();
        let sides = (Side::raw(&source, 4), Side::raw(&[shape[0], side, side], 4));
        PlanRequest {
            profile: Profile::uniform(&s3),
            ..PlanRequest::local(&shape, 4, sides, memory_bytes)
        }
    }

    #[test]
    fn what_is_advised_is_what_the_planner_says() {
        let mut advised = 0;
        for (shape, source, side, budgets) in [
            ([10_000, 8192, 8192], [1, 8192, 8192], 32, [300, 340, 400]),
            ([8760, 4096, 4096], [24, 1024, 1024], 8, [100, 110, 120]),
            ([100_000, 2048, 2048], [10, 2048, 2048], 4, [200, 260, 300]),
        ] {
            for mebibytes in budgets {
                let request = series(shape, source, side, mebibytes * MIB);
                let Ok(planned) = plan(&request) else { continue };
                let Some(advice) = MoreMemory::advice(&request, &planned) else { continue };
                advised += 1;
                let mut more = request.clone();
                more.budget.memory_bytes = advice.memory_bytes;
                let cheaper = plan(&more).unwrap().plan;
                assert_eq!(cheaper.kind, advice.kind);
                assert!((cheaper.estimate.seconds - advice.seconds).abs() < 1e-6);
                assert!(cheaper.estimate.seconds * 4.0 <= planned.plan.estimate.seconds);
                assert!(advice.times > 1.0 && advice.times <= 4.0, "{advice:?}");
                let said = advice.sentence();
                assert!(said.contains("--max-mem") && said.contains("times as much"), "{said}");
            }
        }
        assert!(advised > 4, "{advised} of nine plans are worth a word");
    }

    #[test]
    fn short_plans_and_those_with_enough_get_no_advice() {
        for (shape, source, memory_bytes) in [
            ([64, 64, 64], [1, 64, 64], 16 * MIB),
            ([100, 512, 512], [1, 512, 512], 64 * MIB),
            ([10_000, 8192, 8192], [1, 8192, 8192], 4096 * MIB),
            ([8760, 4096, 4096], [24, 1024, 1024], 400 * MIB),
        ] {
            let request = series(shape, source, 16, memory_bytes);
            let planned = plan(&request).unwrap();
            assert_eq!(MoreMemory::advice(&request, &planned), None, "{shape:?}");
        }
    }

    #[test]
    fn times_are_in_units_that_people_read() {
        for (seconds, said) in [
            (90.0, "90 seconds"),
            (600.0, "10 minutes"),
            (5.25 * 3600.0, "5.2 hours"),
            (58.0 * 86_400.0, "58 days"),
        ] {
            assert_eq!(time(seconds), said);
        }
    }
}
