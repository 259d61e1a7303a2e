//! Results of planning with other budgets and more workers. Pure: it only plans.
//!
//! Several requests are the arrays of a group, which are copied one after the other, each with the
//! whole budget: their times and prices add up. (Small ones, into an object store, at once, within
//! the budget too: that is left out here, and takes less time.)

use rechunk_plan::{Estimate, PlanRequest, Strategy};
use rechunk_planner::{PlanError, Planned, cheapest};

/// Budgets that are tried for one array.
const RUNGS_MAX: u32 = 26;
/// Plans that are made in all: with many arrays, fewer budgets are tried.
const PLANS_MAX: usize = 400;
/// Arrays of one group that are planned again; of more, nothing is said.
const ARRAYS_MAX: usize = 128;
/// With more arrays than this, every other number of workers is left out.
const ARRAYS_FEW: usize = 16;
/// The most worker processes that are tried.
const WORKERS_MAX: u32 = 64;
/// Times that differ by less than this part are the same to who looks for the knee.
const KNEE_SLACK: f64 = 0.05;

/// Costs of a plan, or of the plans of several arrays.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The kinds of plans, each once, in the order of the arrays.
    pub kinds: Vec<Strategy>,
    /// Requests, those of multipart uploads counted as one.
    pub requests: u64,
    /// Encoded bytes read, expected.
    pub read_bytes: u64,
    /// Encoded bytes written, expected.
    pub written_bytes: u64,
    /// Time under the profile, seconds.
    pub seconds: f64,
    /// Price under the profile, US dollars.
    pub usd: f64,
    /// The most that is reserved at once, bytes.
    pub planned_peak_bytes: u64,
}

/// Result of one condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// Budget of one process, bytes.
    pub memory_bytes: u64,
    /// Worker processes, each with that budget.
    pub workers: u32,
    /// Array by array; `None`: there is no plan within that budget.
    pub arrays: Vec<Option<Outlook>>,
}

/// Results of other conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    /// The budget that was given, bytes.
    pub given_bytes: u64,
    /// The number of workers that was given.
    pub given_workers: u32,
    /// The least budget with which everything can be planned, bytes.
    pub minimum_bytes: u64,
    /// Other budgets, from the least to eight times the given one, which is among them, as are the
    /// half and the double.
    pub budgets: Vec<Rung>,
    /// Other numbers of workers with the given budget, ascending; the given one is among them.
    pub workers: Vec<Rung>,
}

impl Outlook {
    fn of(planned: &Planned) -> Self {
        let plan = &planned.plan;
        let estimate: &Estimate = &plan.estimate;
        let (source, between, target) =
            (&estimate.source, &estimate.intermediate, &estimate.target);
        Self {
            kinds: vec![plan.kind],
            requests: estimate.requests(),
            read_bytes: source.read_bytes.saturating_add(between.read_bytes),
            written_bytes: target.written_bytes.saturating_add(between.written_bytes),
            seconds: estimate.seconds,
            usd: estimate.usd,
            planned_peak_bytes: plan.memory.planned_peak_bytes,
        }
    }

    /// Adds what is copied after it.
    fn then(mut self, next: &Self) -> Self {
        for kind in &next.kinds {
            if !self.kinds.contains(kind) {
                self.kinds.push(*kind);
            }
        }
        self.requests = self.requests.saturating_add(next.requests);
        self.read_bytes = self.read_bytes.saturating_add(next.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(next.written_bytes);
        self.seconds += next.seconds;
        self.usd += next.usd;
        self.planned_peak_bytes = self.planned_peak_bytes.max(next.planned_peak_bytes);
        self
    }
}

impl Rung {
    /// All arrays together; `None` if one of them does not fit, or there is none.
    pub fn total(&self) -> Option<Outlook> {
        let mut arrays = self.arrays.iter();
        let first = arrays.next()?.clone()?;
        arrays.try_fold(first, |sum, next| Some(sum.then(next.as_ref()?)))
    }
}

impl WhatIf {
    /// Plans under other conditions. `None` where there is nothing to plan or too much of it (more
    /// than 128 arrays), or where one task's box is bounded instead of the memory.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let at = |name: &str| folder.path().join(name).display().to_string();
    /// # let (source, target) = (at("source.zarr"), at("target.zarr"));
    /// # std::fs::create_dir(&source)?;
    /// # std::fs::write(source.clone() + "/.zarray", r#"{"zarr_format": 2, "shape": [4, 6],
    /// #     "chunks": [1, 6], "dtype": "<f4", "compressor": null, "filters": null,
    /// #     "fill_value": 0, "order": "C"}"#)?;
    /// use rechunk::{CopyRequest, Job, Stores, what_if::WhatIf};
    ///
    /// let job = Job::prepare(CopyRequest::new(&source, &target), &Stores::default()).await?;
    /// let conditions = WhatIf::new(&[&job.plan_request]).ok_or("there is nothing to plan")?;
    /// assert!(conditions.minimum_bytes <= conditions.given_bytes);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(requests: &[&PlanRequest]) -> Option<Self> {
        let budget = &requests.first()?.budget;
        if budget.box_bytes.is_some() || requests.len() > ARRAYS_MAX {
            return None;
        }
        let (given_bytes, given_workers) = (budget.memory_bytes, budget.workers);
        let minimum_bytes = requests.iter().map(|request| minimum(request)).max()?;
        let rung = |memory_bytes, workers| Rung {
            memory_bytes,
            workers,
            arrays: outlooks(requests, memory_bytes, workers),
        };
        let budgets = ladder(minimum_bytes, given_bytes, rungs_max(requests.len()));
        let workers = workers_ladder(requests, given_workers);
        Some(Self {
            given_bytes,
            given_workers,
            minimum_bytes,
            budgets: budgets.into_iter().map(|bytes| rung(bytes, given_workers)).collect(),
            workers: workers.into_iter().map(|workers| rung(given_bytes, workers)).collect(),
        })
    }

    /// Result with `memory_bytes`, if that was tried.
    pub fn budget(&self, memory_bytes: u64) -> Option<&Rung> {
        self.budgets.iter().find(|rung| rung.memory_bytes == memory_bytes)
    }

    /// The least budget tried whose time is nearly the best that was found: more memory is not
    /// worth having.
    pub fn knee(&self) -> Option<&Rung> {
        let seconds = |rung: &Rung| rung.total().map_or(f64::INFINITY, |total| total.seconds);
        let best = self.budgets.iter().map(seconds).fold(f64::INFINITY, f64::min);
        self.budgets.iter().find(|rung| seconds(rung) <= best * (1.0 + KNEE_SLACK))
    }
}

/// The plans under another condition; what is asked for twice is planned once.
fn outlooks(requests: &[&PlanRequest], memory_bytes: u64, workers: u32) -> Vec<Option<Outlook>> {
    let mut found: Vec<Option<Outlook>> = Vec::with_capacity(requests.len());
    for (position, request) in requests.iter().enumerate() {
        let before = requests[..position].iter().position(|other| other == request);
        found.push(match before {
            Some(before) => found[before].clone(),
            None => outlook(request, memory_bytes, workers),
        });
    }
    found
}

/// The plan under another condition. Workers that no stage has tasks for do nothing.
fn outlook(request: &PlanRequest, memory_bytes: u64, workers: u32) -> Option<Outlook> {
    let mut request = request.clone();
    (request.budget.memory_bytes, request.budget.workers) = (memory_bytes, workers.max(1));
    let planned = cheapest(&request).ok()?;
    let busy = workers_of_use(&planned);
    if busy >= workers {
        return Some(Outlook::of(&planned));
    }
    request.budget.workers = busy;
    cheapest(&request).ok().as_ref().map(Outlook::of)
}

/// Workers that have a task in the stage with most.
fn workers_of_use(planned: &Planned) -> u32 {
    let tasks = planned.plan.stages.iter().map(|stage| stage.tasks).max().unwrap_or(1);
    u32::try_from(tasks.max(1)).unwrap_or(u32::MAX)
}

/// The least budget that works, bytes; at most the given one, which does.
fn minimum(request: &PlanRequest) -> u64 {
    let mut least = request.clone();
    least.budget.memory_bytes = 1;
    match cheapest(&least) {
        Err(PlanError::DoesNotFit { minimum_bytes, .. }) => {
            minimum_bytes.clamp(1, request.budget.memory_bytes.max(1))
        }
        Ok(planned) => planned.plan.memory.planned_peak_bytes.max(1),
        Err(_) => request.budget.memory_bytes.max(1),
    }
}

fn rungs_max(arrays: usize) -> u32 {
    let rungs = u32::try_from(PLANS_MAX / arrays.max(1)).unwrap_or(RUNGS_MAX);
    rungs.clamp(6, RUNGS_MAX)
}

/// Budgets from `minimum` to eight times `given`, by factors of √2. The factors are 2, 4, … where
/// there would be more than `rungs_max`; the half and the double of the given one are among them.
fn ladder(minimum: u64, given: u64, rungs_max: u32) -> Vec<u64> {
    const DOUBLINGS_UP: i32 = 3;
    let scaled = |half_steps: i32| times(given, 2_f64.powf(f64::from(half_steps) / 2.0));
    let down = 2.0 * (given as f64 / minimum.max(1) as f64).log2();
    let half_steps_down = i32::from(small(down));
    let all = half_steps_down + 2 * DOUBLINGS_UP + 1;
    let mut step = 1;
    while all / step > i32::try_from(rungs_max).unwrap_or(i32::MAX) {
        step *= 2;
    }
    let around = [-2, 0, 2, 4, 6].map(scaled);
    let ladder = (-half_steps_down / step..=2 * DOUBLINGS_UP / step).map(|n| scaled(n * step));
    let mut bytes: Vec<u64> = ladder.chain(around).chain([minimum]).collect();
    bytes.retain(|&bytes| bytes >= minimum);
    bytes.sort_unstable();
    bytes.dedup();
    bytes
}

/// A number of half steps, at most those of 64 doublings.
fn small(value: f64) -> i16 {
    #[expect(clippy::cast_possible_truncation, reason = "clamped; part of a step is none")]
    let small = value.clamp(0.0, 128.0) as i16;
    small
}

/// `bytes` times `factor`: exact for powers of two of what is a power of two itself.
fn times(bytes: u64, factor: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size to try")]
    let scaled = (bytes as f64 * factor).round() as u64;
    scaled.max(1)
}

/// Powers of two up to the tasks there are, and the given number.
fn workers_ladder(requests: &[&PlanRequest], given: u32) -> Vec<u32> {
    let of_use = requests.iter().filter_map(|request| cheapest(request).ok());
    let most = of_use.map(|planned| workers_of_use(&planned)).max().unwrap_or(1);
    let step = if requests.len() > ARRAYS_FEW { 2 } else { 1 };
    let powers = (0..=WORKERS_MAX.ilog2()).step_by(step).map(|power| 1 << power);
    let mut workers: Vec<u32> = powers.take_while(|&workers| workers <= most).collect();
    workers.push(given.max(1));
    workers.sort_unstable();
    workers.dedup();
    workers
}

#[cfg(test)]
mod tests {
    use rechunk_plan::{Profile, Side, StoreProfile};
    use rechunk_planner::plan;

    use super::*;

    const MIB: u64 = 1 << 20;

    fn request(memory_bytes: u64) -> PlanRequest {
        let s3 = StoreProfile::built_in("s3").unwrap();
        let sides = (Side::raw(&[10, 500, 500], 4), Side::raw(&[1000, 50, 50], 4));
        PlanRequest {
            is_variable: false,
            same_encoding: true,
            profile: Profile::uniform(&s3),
            ..PlanRequest::local(&[1000, 1000, 1000], 4, sides, memory_bytes)
        }
    }

    #[test]
    fn the_ladder_has_the_least_the_given_its_half_and_its_doubles() {
        let bytes = ladder(3 * MIB, 64 * MIB, RUNGS_MAX);
        for part in [3, 32, 64, 128, 256, 512] {
            assert!(bytes.contains(&(part * MIB)), "{part} MiB of {bytes:?}");
        }
        assert!(bytes.is_sorted() && bytes.len() <= 18, "{bytes:?}");
        assert_eq!((bytes.first(), bytes.last()), (Some(&(3 * MIB)), Some(&(512 * MIB))));
        let wide = ladder(1, 1 << 40, RUNGS_MAX);
        assert!(wide.len() <= 30, "{}", wide.len());
        assert!(wide.contains(&(1 << 39)) && wide.contains(&(1 << 40)));
        assert_eq!(ladder(7, 7, 6), [7, 14, 28, 56]);
        assert!(ladder(u64::MAX, u64::MAX, 6).contains(&u64::MAX));
    }

    #[test]
    fn each_rung_is_what_the_planner_says() {
        let request = request(256 * MIB);
        let what_if = WhatIf::new(&[&request]).unwrap();
        for rung in &what_if.budgets {
            let mut asked = request.clone();
            asked.budget.memory_bytes = rung.memory_bytes;
            let total = rung.total().unwrap();
            assert_eq!(total, Outlook::of(&plan(&asked).unwrap()));
            assert!(total.planned_peak_bytes <= rung.memory_bytes);
        }
        let seconds = |rung: Option<&Rung>| rung.unwrap().total().unwrap().seconds;
        let (least, most) = (seconds(what_if.budgets.first()), seconds(what_if.budgets.last()));
        assert!(least > 2.0 * most, "{least} s in little memory, {most} s in much");
        let least = what_if.budgets.first().unwrap();
        assert_eq!(least.memory_bytes, what_if.minimum_bytes);
        let mut less = request.clone();
        less.budget.memory_bytes = what_if.minimum_bytes - 1;
        assert!(plan(&less).is_err());
        let knee = what_if.knee().unwrap();
        assert!(seconds(Some(knee)) <= most * (1.0 + KNEE_SLACK));
        let below = what_if.budgets.iter().take_while(|rung| *rung != knee);
        for rung in below {
            assert!(seconds(Some(rung)) > most * (1.0 + KNEE_SLACK), "{rung:?}");
        }
        assert!(what_if.budget(128 * MIB).is_some() && what_if.budget(1).is_none());
    }

    #[test]
    fn workers_share_the_work_while_there_are_tasks() {
        let request = request(256 * MIB);
        let what_if = WhatIf::new(&[&request]).unwrap();
        let seconds = |workers: u32| {
            let rung = what_if.workers.iter().find(|rung| rung.workers == workers).unwrap();
            rung.total().unwrap().seconds
        };
        assert!(seconds(2) < seconds(1) && seconds(8) < seconds(4));
        // One task: more workers have nothing to do.
        let mut one = request.clone();
        (one.strategy, one.budget.memory_bytes) = (Strategy::Memory, 64 << 30);
        let tasks = plan(&one).unwrap().plan.stages[0].tasks;
        let what_if = WhatIf::new(&[&one]).unwrap();
        let most = what_if.workers.iter().map(|rung| u64::from(rung.workers)).max().unwrap();
        assert!(most <= tasks.max(1));
    }

    #[test]
    fn arrays_add_up_and_one_that_does_not_fit_leaves_no_total() {
        let (a, mut b) = (request(256 * MIB), request(256 * MIB));
        b.shape[0] = 500;
        let both = WhatIf::new(&[&a, &b]).unwrap();
        let given = both.budget(256 * MIB).unwrap();
        let [of_a, of_b] = [&given.arrays[0], &given.arrays[1]].map(|one| one.clone().unwrap());
        let total = given.total().unwrap();
        assert!((total.seconds - of_a.seconds - of_b.seconds).abs() < 1e-9);
        assert_eq!(total.requests, of_a.requests + of_b.requests);
        let broken = Rung { arrays: vec![Some(of_a), None], ..given.clone() };
        assert_eq!(broken.total(), None);
        assert_eq!(WhatIf::new(&[]), None);
        assert_eq!(WhatIf::new(&[&a; ARRAYS_MAX + 1]), None);
        let twice = WhatIf::new(&[&a, &a]).unwrap();
        let given = twice.budget(256 * MIB).unwrap();
        assert_eq!(given.arrays[0], given.arrays[1]);
        b.budget.box_bytes = Some(MIB);
        assert_eq!(WhatIf::new(&[&b]), None);
    }
}
