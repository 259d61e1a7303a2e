//! Cases that no file has: random ones, by a seed.

use rechunk_plan::StoreProfile;
use rechunk_planner::{cheapest, plan};
use serde_json::{Value, json};

use crate::compare::{Summary, compare, request, theirs};

/// Variable with another number of cases (`just planner-unseen`).
const CASES_VARIABLE: &str = "RECHUNK_UNSEEN_CASES";
const CASES: usize = 400;
/// The first case: in it, and in 1414, a plan with an intermediate is chosen though it is dearer.
const FIRST: u64 = 1021;

/// Numbers by a seed: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `least` to `most`.
    fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// A number from 1 to `most`, as often of any number of bits.
    fn of_any_size(&mut self, most: u64) -> u64 {
        let bits = self.within(0, u64::from(most.ilog2()));
        self.within(1, most.min((2 << bits) - 1))
    }
}

fn case(number: u64) -> Value {
    let of = &mut Random(number);
    let rank = of.within(1, 4);
    let longest = [100_000, 10_000, 2_000, 300][usize::try_from(rank - 1).unwrap_or(0)];
    let shape: Vec<u64> = (0..rank).map(|_| of.within(1, longest)).collect();
    let mut chunks = || -> Vec<u64> {
        let chunk = |&extent: &u64| match of.next() % 4 {
            0 => extent,
            1 => 1,
            _ => of.of_any_size(extent),
        };
        shape.iter().map(chunk).collect()
    };
    let (source, target) = (chunks(), chunks());
    let itemsize = 1 << of.within(0, 4);
    let largest = source.iter().product::<u64>().max(target.iter().product()) * itemsize;
    let max_mem = largest.saturating_mul(of.of_any_size(1000));
    let kind = ["rechunking_plan", "multistage_rechunking_plan"][usize::from(of.next() % 2 == 1)];
    json!({
        "id": format!("unseen-{number}"), "kind": kind, "shape": shape,
        "source_chunks": source, "target_chunks": target, "itemsize": itemsize,
        "max_mem": max_mem, "min_mem": (max_mem / of.of_any_size(1000)).max(1),
        "consolidate_reads": of.within(0, 3) > 0, "consolidate_writes": of.within(0, 3) > 0,
    })
}

/// Our plan is never dearer than the literature's, and none of those dominates it. Compared are
/// plans as executed, and as designed where they can be run so. `cheapest` finds no other plan.
#[test]
fn no_unseen_case_is_dearer_or_dominated() {
    let asked = std::env::var(CASES_VARIABLE).ok().and_then(|cases| cases.parse().ok());
    let profiles: Vec<&str> = StoreProfile::names().collect();
    let (mut summary, mut failures) = (Summary::default(), Vec::new());
    for number in (FIRST..).take(asked.unwrap_or(CASES)) {
        let case = case(number);
        let kind = case["kind"].as_str().unwrap_or_default();
        let Some(theirs) = theirs(&case, kind) else { continue };
        summary.cases += 1;
        let profile = profiles[usize::try_from(number).unwrap_or(0) % profiles.len()];
        compare(&case, &theirs, profile, &mut summary, &mut |line: String| {
            if !theirs.has_one_writer && line.contains(" designed: ") {
                println!("cannot be run as designed: {line}");
            } else {
                failures.push(format!("{line} {case}"));
            }
        });
        let request = request(&case, profile);
        let plans = [plan(&request), cheapest(&request)];
        let [all, sooner] = plans.map(|found| found.map(|planned| planned.plan.fingerprint));
        if all != sooner {
            failures.push(format!("unseen-{number} {profile}: found sooner, another plan {case}"));
        }
    }
    println!("{summary}");
    assert!(summary.cases > 100, "{summary}");
    let shown: Vec<&str> = failures.iter().take(20).map(String::as_str).collect();
    assert!(failures.is_empty(), "{summary}\n{} failures\n{}", failures.len(), shown.join("\n"));
}
