//! Two processes copy to one target, are paused, die, and start again: by a seed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rechunk::{Class, Error, Strategy};
use rechunk_testkit::{Dice, SimClient, SimEnd, SimFaults, SimStore};
use tokio::time::{Instant, sleep, timeout};

use crate::sim::array::{check_complete, disk, watch};
use crate::sim::process::{clean, copy};

/// Seeds that an ordinary test run tries.
const SEEDS: u64 = 200;
/// No attempt takes so long, whatever goes wrong.
pub(crate) const NEVER: Duration = Duration::from_hours(24);
/// How long a process waits for a lease that nobody keeps up, and for its own requests.
pub(crate) const TAKEN_OVER: Duration = Duration::from_mins(1);
pub(crate) const WORK: &str = "target.zarr.rechunk/";
pub(crate) const JOB: &str = "target.zarr.rechunk/job.json";
const LOCK: &str = "target.zarr.rechunk/lock";

/// Processes one after the other, of which some die and some are paused.
async fn user(disk: SimStore, mut dice: Dice, strategy: Strategy) -> Result<(), String> {
    for _ in 0..4 {
        sleep(Duration::from_millis(dice.below(40_000))).await;
        let client = disk.client();
        if dice.percent(40) {
            let call = dice.within(1, 200);
            client.die_at(dice.pick(&[SimEnd::Before(call), SimEnd::After(call)]));
        }
        let pauses = dice.percent(40);
        let (before, pause) = (dice.below(3000), dice.below(150_000));
        let paused = async {
            if pauses {
                sleep(Duration::from_millis(before)).await;
                client.pause();
                sleep(Duration::from_millis(pause)).await;
                client.resume();
            }
            std::future::pending::<()>().await;
        };
        let ended = tokio::select! {
            biased;
            () = client.died() => None,
            () = paused => None,
            ended = timeout(NEVER, copy(&client, strategy)) => Some(ended),
        };
        client.die();
        match ended {
            None => {}
            Some(Err(_)) => return Err("a process hangs".to_owned()),
            Some(Ok(Ok(_))) => return Ok(()),
            Some(Ok(Err(error))) => clear(&error)?,
        }
    }
    Ok(())
}

/// An error unless `error` says what a process may meet: another one, or a store that fails.
pub(crate) fn clear(error: &Error) -> Result<(), String> {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    let is_clear = text.contains("sim") && error.class() != Class::Usage;
    if is_clear { Ok(()) } else { Err(format!("an error that is not clear: {text}")) }
}

async fn simulate(seed: u64, disk: SimStore) -> Result<u64, String> {
    let mut dice = Dice::new(seed);
    let findings = watch(&disk);
    let latency = Duration::from_millis(dice.pick(&[1, 20, 300]));
    let faults = SimFaults {
        refused: dice.pick(&[0, 1, 5]),
        answer_lost: dice.pick(&[0, 1, 5]),
        short: dice.pick(&[0, 1, 5]),
        stall: dice.pick(&[0, 1, 5]),
        // Names that are random: retries would be, too.
        spared: &["-clock-"],
        ..SimFaults::NONE
    };
    disk.set_faults(faults, latency);
    let strategies = [Strategy::Auto, Strategy::Pull, Strategy::PushPull, Strategy::Keep];
    let strategy = dice.pick(&strategies);
    let users: Vec<_> = (0..2)
        .map(|number| {
            let dice = Dice::new(dice.bits() ^ number);
            tokio::spawn(user(disk.clone(), dice, strategy))
        })
        .collect();
    for user in users {
        user.await.map_err(|error| error.to_string())??;
    }
    disk.set_faults(SimFaults::NONE, latency);
    Box::pin(last(&disk, strategy, latency)).await?;
    let findings = findings.lock().unwrap();
    findings.first().map_or(Ok(disk.trace()), |finding| Err(finding.clone()))
}

/// What is left of runs that are over. A process that dies as soon as it has taken a target that is
/// complete leaves its lease, which says no more after a minute.
pub(crate) fn is_left(key: &str) -> bool {
    key.starts_with(WORK) && key != LOCK
}

/// All is complete, and there are marks or pieces of no job: of a process that was paused, and
/// wrote on when another had finished its work and cleaned up. Nothing can keep it from that;
/// `clean` removes them. (Who cleans up removes the job after all that it speaks of.)
fn is_late(disk: &SimStore) -> bool {
    let mut left = disk.keys().into_iter().filter(|key| is_left(key)).peekable();
    left.peek().is_some() && left.all(|key| key != JOB) && check_complete(disk).is_ok()
}

/// When nothing goes wrong any more, a process gets the target, completes it, and leaves nothing.
async fn last(disk: &SimStore, strategy: Strategy, latency: Duration) -> Result<(), String> {
    let started = Instant::now();
    while check_complete(disk).is_err() || disk.keys().iter().any(|key| is_left(key)) {
        if started.elapsed() > TAKEN_OVER + latency * 600 {
            let left = disk.keys().into_iter().filter(|key| is_left(key));
            return Err(format!("not complete in time, left: {:?}", left.collect::<Vec<_>>()));
        }
        let client: SimClient = disk.client();
        if let Ok(Err(error)) = timeout(NEVER, Box::pin(copy(&client, strategy))).await {
            clear(&error)?;
            sleep(Duration::from_secs(5)).await;
        }
        if is_late(disk) {
            clean(&client).await.or_else(|error| clear(&error))?;
            sleep(Duration::from_secs(5)).await;
        }
        client.die();
    }
    check_complete(disk)
}

/// A seed in a runtime of its own. A hash of everything that happened, or what was wrong.
fn outcome(seed: u64, disk: &SimStore) -> Result<u64, String> {
    let simulated = catch_unwind(AssertUnwindSafe(|| {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_time().start_paused(true).build().unwrap();
        runtime.block_on(simulate(seed, disk.clone()))
    }));
    simulated.unwrap_or_else(|_| Err("a panic, see above".to_owned()))
}

fn assert_seed(seed: u64, disk: &SimStore) -> u64 {
    match outcome(seed, disk) {
        Ok(trace) => trace,
        Err(error) => panic!(
            "seed {seed}: {error}\n\
             RECHUNK_SIM_SEED={seed} cargo test -p rechunk --test facade never_a_wrong_target"
        ),
    }
}

#[test]
fn never_a_wrong_target() {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("RECHUNK_SIM_SEED") {
        let disk = disk(seed);
        disk.keep_log();
        let outcome = outcome(seed, &disk);
        disk.log().iter().for_each(|line| println!("{line}"));
        outcome.unwrap();
        return;
    }
    for seed in 0..number("RECHUNK_SIM_SEEDS").unwrap_or(SEEDS) {
        assert_seed(seed, &disk(seed));
    }
}

#[test]
fn the_same_seed_is_the_same_run() {
    for seed in 0..20 {
        let run = || {
            let disk = disk(seed);
            disk.keep_log();
            (assert_seed(seed, &disk), disk.log())
        };
        let ((trace, log), (again, other_log)) = (run(), run());
        if let Some(at) = (0..log.len()).find(|&at| other_log.get(at) != log.get(at)) {
            let lines =
                |log: &[String]| log[at.saturating_sub(8)..log.len().min(at + 3)].join("\n");
            panic!("seed {seed} was:\n{}\nand then:\n{}", lines(&log), lines(&other_log));
        }
        assert_eq!(trace, again, "seed {seed}");
    }
}
