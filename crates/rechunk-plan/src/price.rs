//! The cost model: what counted traffic costs under a profile.
//!
//! seconds = Σ max(requests · latency / requests in flight, requests / the store's cap)
//!         + alone · (bytes / bandwidth + decoded, encoded and copied bytes / (speed · cores))
//!         + (tasks · 0.5 ms + further steps of tasks · 0.05 ms) / tasks at once
//!
//! where of decoded bytes those count that codecs do not pass over (`parts.rs`), and `alone` is 1.1
//! for a stage with one task at a time and falls to 1 with two at once on average; as far as a task
//! sends units out while it takes others in, it is 1.1 for as many lanes as threads or fewer and
//! falls to 1 with twice as many, and 0.02 more with one task at a time. The sum is taken without
//! overlap of I/O and CPU: an upper estimate that is strictly monotone in every count of plans that
//! have as much at once. Under `--box-bytes` everything runs at the stores' full concurrency and
//! the last line and `alone` do not count: there a plan that is cheapest is never worse in all
//! counts than another.
//!
//! Of several workers the time is that of the one with most to do ([`busy_workers`]): bandwidth,
//! requests in flight and cores are those of workers that have a task. So a stage with fewer tasks
//! than workers, or with one more, is dearer than one of the same traffic whose tasks go round; and
//! fewer, larger tasks are still right where smaller ones would ask for more than idle workers
//! cost. That a price grows with every count and falls with what runs at once is
//! what `bound.rs` relies on.

use crate::cost::Figures;
use crate::count::whole_tasks;
use crate::{Estimate, PlanRequest, Price, Profile, Stage, StoreProfile};

/// Numbers of tasks and lanes that run at the same time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parallel {
    /// Tasks that run at the same time.
    pub tasks_at_once: u32,
    /// Lanes of each of them.
    pub lanes: u32,
}

/// Seconds one task takes beside its traffic: scheduling, and its share of a grouped fsync.
const TASK_SECONDS: f64 = 0.5e-3;

/// Seconds a step takes beside its traffic, where another one goes before it. Work is given out
/// anew, and threads wait for the last input of the one before.
const STEP_SECONDS: f64 = 0.05e-3;

/// Part of their time by which bytes and codecs take longer where a stage has one task at a time.
/// Cores wait for its first input and its last output, and threads that write to one file for each
/// other (`docs/design/005-cost-model.md`). Also where units leave while others are taken in (see
/// [`Figures::flow`]) and no thread has a second lane, which has something to do while the first
/// one waits for its write.
const ALONE: f64 = 0.1;

/// Like [`ALONE`], where all units of the one task leave while others are taken in: only its
/// beginning and its end.
const ENDS: f64 = 0.02;

/// Counts the requests of multipart uploads that objects take of which only the average size is
/// known.
pub(crate) fn count_parts(traffic: &mut Estimate, profile: &Profile) {
    for (role, store) in
        [(&mut traffic.intermediate, &profile.intermediate), (&mut traffic.target, &profile.target)]
    {
        let object_bytes = role.written_bytes.checked_div(role.put_requests).unwrap_or(0);
        let per_object = store.multipart.map_or(0, |multipart| multipart.requests(object_bytes));
        role.part_requests = role.put_requests.saturating_mul(per_object);
    }
}

/// Prices a stage: seconds and dollars. In box mode (see [`crate::Budget::box_bytes`]) everything
/// runs at the store's full concurrency, so that plans of different planners are compared by their
/// counts alone.
pub fn price(request: &PlanRequest, figures: &Figures, parallel: Parallel) -> (f64, Price) {
    let budget = &request.budget;
    let full = budget.box_bytes.is_some();
    let all_workers = f64::from(budget.workers.max(1));
    let workers = if full { all_workers } else { busy_workers(figures.whole_tasks, all_workers) };
    let at_once = tasks_at_once(figures.whole_tasks / workers, parallel);
    let shared = |parts: u64| u64::from(parallel.lanes).min(parts.max(1)) as f64 * at_once;
    let in_flight = |store: &StoreProfile, parts: u64| {
        let most = f64::from(budget.concurrency.unwrap_or(store.concurrency).max(1));
        workers * if full { most } else { most.min(shared(parts)) }
    };
    let threads = f64::from(budget.threads.max(1));
    let cores = |parts: u64| workers * if full { threads } else { threads.min(shared(parts)) };
    let (reading, decoding) = (figures.reading, figures.decoding);
    let (writing, putting) = (figures.writing, figures.putting);

    let (mut waiting, mut moving) = (0.0, 0.0);
    let mut price = Price::default();
    let traffic = &figures.traffic;
    let profile = &request.profile;
    let roles = [
        (&traffic.source, &profile.source),
        (&traffic.intermediate, &profile.intermediate),
        (&traffic.target, &profile.target),
    ];
    for (role, store) in roles {
        let gets = role.get_requests as f64;
        // A copy inside the store takes as long as a small write, and moves no bytes here.
        let puts = [role.put_requests, role.part_requests, role.copy_requests];
        let puts: f64 = puts.into_iter().map(|count| count as f64).sum();
        let (get_cap, put_cap) = (store.get_requests_per_second, store.put_requests_per_second);
        waiting += request_seconds(gets, store.get_seconds / in_flight(store, reading), get_cap)
            + request_seconds(puts, store.put_seconds / in_flight(store, putting), put_cap);
        moving += role.read_bytes as f64 / (store.read_bytes_per_second * workers)
            + role.written_bytes as f64 / (store.write_bytes_per_second * workers);
        price.add(&Price::of(role, store));
    }
    price.add(&Price::of_deleted(traffic.intermediate.written_bytes, &profile.intermediate));
    let speeds = &profile.speeds;
    let (decode, _) = speeds.of(&request.source.codec);
    let (_, encode) = speeds.of(&request.target.codec);
    let decoded_in = traffic.source.decoded_read_bytes as f64 * (1.0 - figures.passed_over);
    // Every byte that is written was copied once, into the unit it belongs to.
    let copied = traffic.intermediate.decoded_written_bytes as f64
        + traffic.target.decoded_written_bytes as f64;
    moving += (decoded_in / decode + copied / speeds.copy_bytes_per_second) / cores(decoding);
    moving += traffic.target.decoded_written_bytes as f64 / encode / cores(writing);
    if !full {
        let steps = figures.steps.saturating_sub(figures.tasks);
        let beside = figures.tasks as f64 * TASK_SECONDS + steps as f64 * STEP_SECONDS;
        waiting += beside / (workers * at_once);
        let alone = (threads.min(2.0) - at_once).max(0.0);
        let lanes_each = f64::from(parallel.lanes) * at_once / threads;
        let flowing = ENDS * alone + ALONE * (threads.min(2.0) - lanes_each).clamp(0.0, 1.0);
        let flow = figures.flow;
        moving *= 1.0 + flow * flowing + (1.0 - flow) * ALONE * alone;
    }
    (waiting + moving, price)
}

/// Returns the traffic with its time and price.
pub fn priced(traffic: &Estimate, (seconds, price): (f64, Price)) -> Estimate {
    Estimate { seconds, usd: price.total_usd(), price, ..traffic.clone() }
}

/// Workers that are busy on average, of so many that share `whole_tasks` tasks: the others wait for
/// the one that has most.
fn busy_workers(whole_tasks: f64, workers: f64) -> f64 {
    at_once(whole_tasks, workers.max(1.0))
}

impl Stage {
    /// Workers that are busy on average, of so many that share its tasks.
    pub fn busy_workers(&self, workers: u32) -> f64 {
        busy_workers(whole_tasks(&self.shape, &self.tile), f64::from(workers))
    }
}

/// Tasks at once on average of a worker that has `whole_tasks`: fewer than there may be, while the
/// last ones run.
fn tasks_at_once(whole_tasks: f64, parallel: Parallel) -> f64 {
    at_once(whole_tasks, f64::from(parallel.tasks_at_once.max(1)))
}

/// Tasks at once on average, of `whole_tasks` tasks and at most `most` at once. The last ones of
/// each round are waited for.
fn at_once(whole_tasks: f64, most: f64) -> f64 {
    let tasks = whole_tasks.max(1.0);
    let rounds = (tasks / most).floor() + (tasks % most).min(1.0);
    (tasks / rounds).clamp(1.0, most)
}

/// Time of `count` requests that each take `seconds_each` of those in flight. The store answers at
/// most `cap` in a second, however many processes send requests.
fn request_seconds(count: f64, seconds_each: f64, cap: Option<f64>) -> f64 {
    count * seconds_each.max(cap.map_or(0.0, f64::recip))
}

/// Prices given traffic at the stores' full concurrency, as box mode does: seconds and dollars of
/// another planner's plan by this cost model.
pub fn price_traffic(request: &PlanRequest, traffic: &Estimate) -> (f64, Price) {
    let mut request = request.clone();
    request.budget.box_bytes = Some(0);
    let mut figures = Figures { traffic: traffic.clone(), ..Figures::default() };
    count_parts(&mut figures.traffic, &request.profile);
    price(&request, &figures, Parallel { tasks_at_once: 1, lanes: 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RoleEstimate, Side};

    fn request(store: &StoreProfile, workers: u32) -> PlanRequest {
        let side = || Side::raw(&[8], 1);
        let mut request = PlanRequest::local(&[8], 1, (side(), side()), 1 << 30);
        (request.budget.threads, request.budget.workers) = (1, workers);
        PlanRequest { same_encoding: true, profile: Profile::uniform(store), ..request }
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
    }

    #[test]
    fn every_request_and_byte_has_its_price() {
        let mut s3 = StoreProfile::built_in("s3").unwrap();
        s3.egress_usd_per_gib = 0.09;
        let source =
            RoleEstimate { get_requests: 1_000_000, read_bytes: 100 << 30, ..Default::default() };
        let target = RoleEstimate {
            put_requests: 1000,
            written_bytes: 1000 * (640 << 20),
            ..RoleEstimate::default()
        };
        let traffic = Estimate { source, target, ..Estimate::default() };
        let mut counted = traffic.clone();
        let request = request(&s3, 1);
        count_parts(&mut counted, &request.profile);
        // 640 MiB are 10 parts of 64 MiB, and one request begins them.
        assert_eq!(counted.target.part_requests, 11_000);
        assert_eq!(counted.source.part_requests, 0);
        let figures = Figures { traffic: counted, ..Figures::default() };
        let (_, price) = price(&request, &figures, Parallel { tasks_at_once: 1, lanes: 1 });
        assert!(near(price.get_usd, 0.4), "{price:?}");
        assert!(near(price.put_usd, 0.005), "{price:?}");
        assert!(near(price.part_usd, 0.055), "{price:?}");
        assert!(near(price.egress_usd, 9.0), "{price:?}");
        assert!(near(price.total_usd(), 9.46), "{price:?}");
        assert!(near(price_traffic(&request, &traffic).1.total_usd(), 9.46));
    }

    #[test]
    fn what_waits_for_its_step_is_not_decoded_by_all_threads() {
        let mut request = request(&StoreProfile::built_in("local").unwrap(), 1);
        request.budget.threads = 4;
        let source = RoleEstimate { decoded_read_bytes: 1 << 40, ..RoleEstimate::default() };
        let traffic = Estimate { source, ..Estimate::default() };
        let seconds = |decoding| {
            let figures =
                Figures { traffic: traffic.clone(), reading: 100, decoding, ..Figures::default() };
            price(&request, &figures, Parallel { tasks_at_once: 1, lanes: 8 }).0
        };
        assert!(near(seconds(1), 2.0 * seconds(2)) && near(seconds(1), 4.0 * seconds(100)));
    }

    #[test]
    fn the_last_tasks_leave_threads_without_work() {
        let on_average = |whole_tasks, most| {
            tasks_at_once(whole_tasks, Parallel { tasks_at_once: most, lanes: 1 })
        };
        assert!(near(on_average(1.0 / 0.6, 2), 1.0 / 0.6), "6 rows and 4");
        assert!(near(on_average(3.0, 2), 1.5), "two rounds for three");
        assert!(near(on_average(8.0, 2), 2.0) && near(on_average(1.0, 4), 1.0));
        assert!(near(on_average(2.01, 2), 2.01 / 1.01), "the third is a hundredth of one");
        assert!(near(on_average(0.0, 2), 1.0), "an array of nothing");
    }

    #[test]
    fn workers_wait_for_the_one_with_most_tasks() {
        assert!(near(busy_workers(4.0, 8.0), 4.0), "four have nothing to do");
        assert!(near(busy_workers(8.0, 8.0), 8.0) && near(busy_workers(16.0, 8.0), 8.0));
        assert!(near(busy_workers(9.0, 8.0), 4.5), "two rounds for nine");
        assert!(near(busy_workers(8.5, 8.0), 8.5 / 1.5), "the ninth is half of one");
        assert!(near(busy_workers(0.0, 8.0), 1.0), "an array of nothing");
        for tasks in 0..2000 {
            let whole_tasks = f64::from(tasks) * 0.37;
            assert_eq!(busy_workers(whole_tasks, 1.0).to_bits(), 1.0_f64.to_bits());
        }
        let seconds = |workers, whole_tasks: f64| {
            let store = StoreProfile::built_in("local").unwrap();
            let source = RoleEstimate { read_bytes: 1 << 40, ..RoleEstimate::default() };
            let traffic = Estimate { source, ..Estimate::default() };
            let figures = Figures { whole_tasks, traffic, ..Figures::default() };
            price(&request(&store, workers), &figures, Parallel { tasks_at_once: 1, lanes: 1 }).0
        };
        assert!(near(seconds(8, 4.0), 2.0 * seconds(8, 8.0)), "half of them wait");
        assert!(near(seconds(1, 4.0), seconds(1, 8.0)));
        assert!(near(seconds(1, 8.0), 8.0 * seconds(8, 8.0)));
    }

    #[test]
    fn one_task_at_a_time_and_further_steps_take_longer() {
        let mut request = request(&StoreProfile::built_in("local").unwrap(), 1);
        let seconds = |request: &PlanRequest, tasks: u32, steps, at_once| {
            let source = RoleEstimate { read_bytes: 1 << 40, ..RoleEstimate::default() };
            let traffic = Estimate { source, ..Estimate::default() };
            let (tasks, whole_tasks) = (u64::from(tasks), f64::from(tasks));
            let figures = Figures { tasks, whole_tasks, steps, traffic, ..Figures::default() };
            price(request, &figures, Parallel { tasks_at_once: at_once, lanes: 1 }).0
        };
        let bytes = (1_u64 << 40) as f64 / request.profile.source.read_bytes_per_second;
        assert!(near(seconds(&request, 4, 4, 1), bytes + 2e-3), "one thread has no other");
        request.budget.threads = 2;
        assert!(near(seconds(&request, 4, 4, 1), 1.1 * bytes + 2e-3));
        assert!(near(seconds(&request, 3, 3, 2), 1.05 * bytes + 1e-3));
        assert!(near(seconds(&request, 4, 4, 2), bytes + 1e-3));
        assert!(near(seconds(&request, 4, 10_004, 2), bytes + 1e-3 + 0.25));
        request.budget.box_bytes = Some(0);
        assert!(near(seconds(&request, 4, 10_004, 1), bytes), "plans are compared by counts");
    }

    #[test]
    fn what_leaves_while_the_rest_is_taken_in_waits_for_lanes_instead() {
        let mut request = request(&StoreProfile::built_in("local").unwrap(), 1);
        let source = RoleEstimate { read_bytes: 1 << 40, ..RoleEstimate::default() };
        let bytes = (1_u64 << 40) as f64 / request.profile.source.read_bytes_per_second;
        let traffic = Estimate { source, ..Estimate::default() };
        let longer = |request: &PlanRequest, flow, tasks_at_once, lanes| {
            let traffic = traffic.clone();
            let figures = Figures { whole_tasks: 2.0, flow, traffic, ..Figures::default() };
            price(request, &figures, Parallel { tasks_at_once, lanes }).0 / bytes
        };
        assert!(
            near(longer(&request, 1.0, 1, 1), 1.0),
            "one thread waits for its writes in any plan"
        );
        request.budget.threads = 4;
        assert!(near(longer(&request, 1.0, 1, 8), 1.02));
        assert!(near(longer(&request, 1.0, 1, 6), 1.07));
        assert!(near(longer(&request, 0.5, 1, 6), 1.085));
        assert!(near(longer(&request, 0.0, 1, 6), 1.1));
        assert!(near(longer(&request, 1.0, 2, 2), 1.1) && near(longer(&request, 1.0, 2, 4), 1.0));
        assert!(near(longer(&request, 0.0, 2, 2), 1.0));
    }

    #[test]
    fn a_copy_inside_a_store_costs_a_write_and_moves_nothing() {
        let mut s3 = StoreProfile::built_in("s3").unwrap();
        s3.egress_usd_per_gib = 0.09;
        let request = request(&s3, 1);
        let priced = |target: RoleEstimate| {
            let traffic = Estimate { target, ..Estimate::default() };
            let figures = Figures { traffic, ..Figures::default() };
            price(&request, &figures, Parallel { tasks_at_once: 1, lanes: 1 })
        };
        let (seconds, price) = priced(RoleEstimate { copy_requests: 1000, ..Default::default() });
        assert!(near(price.copy_usd, 0.005) && near(price.total_usd(), 0.005), "{price:?}");
        assert!(near(seconds, 1000.0 * s3.put_seconds), "{seconds}");
        assert!(near(seconds, priced(RoleEstimate { put_requests: 1000, ..Default::default() }).0));
    }

    #[test]
    fn more_workers_do_not_get_more_requests_than_the_store_allows() {
        let mut store = StoreProfile::built_in("s3").unwrap();
        store.get_requests_per_second = Some(5000.0);
        let source = RoleEstimate { get_requests: 1_000_000, ..RoleEstimate::default() };
        let traffic = Estimate { source, ..Estimate::default() };
        let seconds = |store: &StoreProfile, workers: u32| {
            let traffic = traffic.clone();
            let figures =
                Figures { whole_tasks: 100.0, traffic, reading: 1000, ..Figures::default() };
            let parallel = Parallel { tasks_at_once: 1, lanes: 256 };
            price(&request(store, workers), &figures, parallel).0
        };
        // 32 in flight of 30 ms are 1067 a second.
        store.concurrency = 32;
        assert!(near(seconds(&store, 1), 1e6 * 0.03 / 32.0), "{}", seconds(&store, 1));
        assert!(near(seconds(&store, 4), 1e6 * 0.03 / 128.0), "{}", seconds(&store, 4));
        assert!(near(seconds(&store, 100), 200.0), "{}", seconds(&store, 100));
        store.get_requests_per_second = None;
        assert!(near(seconds(&store, 100), 1e6 * 0.03 / 3200.0));
        store.concurrency = 8;
        assert!(near(seconds(&store, 1), 1e6 * 0.03 / 8.0));
    }
}
