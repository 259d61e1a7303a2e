//! Our plans against the literature's over the golden cases.

use std::fmt;

use rechunk_plan::{
    Estimate, PlanRequest, Profile, RoleEstimate, Side, StoreProfile, price_traffic,
};
use rechunk_planner::baseline::{
    BaselineTraffic, MultistagePlan, PlannerOptions, Rechunking, StageChunks,
    multistage_rechunking_plan, rechunking_plan, traffic_as_designed, traffic_as_executed,
};
use rechunk_planner::plan;
use serde_json::Value;

/// Totals over all comparisons.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    pub(crate) cases: u64,
    pub(crate) comparisons: u64,
    pub(crate) failures: u64,
    pub(crate) dominating: u64,
    pub(crate) seconds_ours: f64,
    pub(crate) seconds_designed: f64,
    pub(crate) seconds_executed: f64,
    pub(crate) requests: [u128; 3],
    pub(crate) bytes: [u128; 3],
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "cases planned                {}", self.cases)?;
        writeln!(f, "comparisons (case × profile × designed/executed)  {}", self.comparisons)?;
        writeln!(f, "dearer or Pareto-dominated   {}", self.failures)?;
        writeln!(
            f,
            "strictly fewer requests and bytes than theirs as executed  {}",
            self.dominating
        )?;
        writeln!(f, "                 ours         as designed  as executed")?;
        let [o, d, e] = self.requests;
        writeln!(f, "requests         {o:<12} {d:<12} {e}")?;
        let [o, d, e] = self.bytes;
        writeln!(f, "decoded bytes    {o:<12} {d:<12} {e}")?;
        write!(
            f,
            "modelled seconds {:<12.0} {:<12.0} {:.0}",
            self.seconds_ours, self.seconds_designed, self.seconds_executed
        )
    }
}

/// Plans all cases under all profiles; `say` gets a line per failure.
pub(crate) fn compare_all(mut say: impl FnMut(String)) -> Summary {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/golden/push_pull_cases.json");
    let text = std::fs::read_to_string(path).expect("the golden cases");
    let golden: Value = serde_json::from_str(&text).expect("JSON");
    let mut summary = Summary::default();
    for case in golden["cases"].as_array().expect("cases") {
        let kind = case["kind"].as_str().unwrap_or_default();
        if !matches!(kind, "rechunking_plan" | "multistage_rechunking_plan") {
            continue;
        }
        if let Some(theirs) = theirs(case, kind) {
            summary.cases += 1;
            for name in StoreProfile::names() {
                compare(case, &theirs, name, &mut summary, &mut say);
            }
        }
    }
    summary
}

fn shape(case: &Value, key: &str) -> Vec<u64> {
    case[key].as_array().map(|a| a.iter().filter_map(Value::as_u64).collect()).unwrap_or_default()
}

/// The literature's answer to a case.
pub(crate) struct Theirs {
    /// Traffic as designed and as executed.
    traffic: [BaselineTraffic; 2],
    /// As designed, each intermediate chunk has one writer: reads end where chunks do.
    pub(crate) has_one_writer: bool,
}

/// True if no two reads of a stage end inside of one intermediate chunk.
fn has_one_writer(shape: &[u64], stage: &StageChunks) -> bool {
    let ends = |axis: usize| {
        let (read, between) = (stage.read[axis], stage.intermediate[axis]);
        read >= shape[axis] || read.is_multiple_of(between)
    };
    stage.is_direct() || (0..shape.len()).all(ends)
}

/// Their traffic as designed and as executed; `None` where they refuse.
pub(crate) fn theirs(case: &Value, kind: &str) -> Option<Theirs> {
    let (array, source, target) =
        (shape(case, "shape"), shape(case, "source_chunks"), shape(case, "target_chunks"));
    let rechunking = Rechunking {
        shape: &array,
        source_chunks: &source,
        target_chunks: &target,
        itemsize_bytes: case["itemsize"].as_u64()?,
    };
    let options = PlannerOptions {
        intermediate_bytes_min: case["min_mem"].as_u64().unwrap_or(rechunking.itemsize_bytes),
        memory_bytes_max: case["max_mem"].as_u64()?,
        consolidate_reads: case["consolidate_reads"].as_bool().unwrap_or(true),
        consolidate_writes: case["consolidate_writes"].as_bool().unwrap_or(true),
    };
    let plan = if kind == "rechunking_plan" {
        let stage = rechunking_plan(&rechunking, &options).ok()?;
        MultistagePlan { stages: vec![stage], io_ops: vec![], excessive_io_warning: false }
    } else {
        multistage_rechunking_plan(&rechunking, &options).ok()?
    };
    Some(Theirs {
        traffic: [
            traffic_as_designed(&rechunking, &plan).ok()?,
            traffic_as_executed(&rechunking, &plan).ok()?,
        ],
        has_one_writer: plan.stages.iter().all(|stage| has_one_writer(&array, stage)),
    })
}

/// Returns the request for our planner, for uncompressed arrays.
pub(crate) fn request(case: &Value, profile: &str) -> PlanRequest {
    let item_bytes = case["itemsize"].as_u64().expect("itemsize");
    let max_mem = case["max_mem"].as_u64().expect("max_mem");
    let side = |chunks| Side::raw(&shape(case, chunks), item_bytes);
    let sides = (side("source_chunks"), side("target_chunks"));
    let mut request = PlanRequest::local(&shape(case, "shape"), item_bytes, sides, max_mem);
    request.same_encoding = true;
    request.budget.box_bytes = Some(max_mem);
    request.profile =
        Profile::uniform(&StoreProfile::built_in(profile).expect("a built-in profile"));
    request
}

fn estimate(traffic: &BaselineTraffic) -> Estimate {
    let role = |get, put, read, written| RoleEstimate {
        get_requests: get,
        put_requests: put,
        decoded_read_bytes: read,
        decoded_written_bytes: written,
        read_bytes: read,
        written_bytes: written,
        objects: put,
        ..RoleEstimate::default()
    };
    Estimate {
        source: role(traffic.source_get, 0, traffic.source_bytes, 0),
        intermediate: role(
            traffic.intermediate_get,
            traffic.intermediate_put,
            traffic.intermediate_read_bytes,
            traffic.intermediate_written_bytes,
        ),
        target: role(0, traffic.target_put, 0, traffic.target_bytes),
        ..Estimate::default()
    }
}

pub(crate) fn compare(
    case: &Value,
    theirs: &Theirs,
    profile: &str,
    summary: &mut Summary,
    say: &mut impl FnMut(String),
) {
    let request = request(case, profile);
    let id = case["id"].as_str().unwrap_or("?");
    let planned = match plan(&request) {
        Ok(planned) => planned,
        Err(error) => {
            summary.failures += 1;
            say(format!("{id} {profile}: {error}"));
            return;
        }
    };
    let ours = &planned.plan.estimate;
    let bytes = |e: &Estimate| {
        [&e.source, &e.intermediate, &e.target]
            .iter()
            .map(|r| u128::from(r.read_bytes) + u128::from(r.written_bytes))
            .sum::<u128>()
    };
    let mine = (bytes(ours), u128::from(ours.requests()));
    summary.requests[0] += mine.1;
    summary.bytes[0] += mine.0;
    summary.seconds_ours += ours.seconds;
    for (which, traffic) in theirs.traffic.iter().enumerate() {
        let their = estimate(traffic);
        let (seconds, _) = price_traffic(&request, &their);
        let other = (bytes(&their), u128::from(their.requests()));
        summary.comparisons += 1;
        summary.requests[which + 1] += other.1;
        summary.bytes[which + 1] += other.0;
        *(if which == 0 {
            &mut summary.seconds_designed
        } else {
            &mut summary.seconds_executed
        }) += seconds;
        let dominated =
            other.0 <= mine.0 && other.1 <= mine.1 && (other.0 < mine.0 || other.1 < mine.1);
        if dominated || ours.seconds > seconds * (1.0 + 1e-9) {
            summary.failures += 1;
            say(format!(
                "{id} {profile} {}: {} (bytes, requests) ours {mine:?} theirs {other:?}; \
                 seconds ours {:.6} theirs {seconds:.6}; {} {:?}",
                ["designed", "executed"][which],
                if dominated { "dominated" } else { "dearer" },
                ours.seconds,
                planned.plan.kind,
                planned.plan.stages.iter().map(|s| &s.tile).collect::<Vec<_>>(),
            ));
        }
        if which == 1 && mine.0 < other.0 && mine.1 < other.1 {
            summary.dominating += 1;
        }
    }
}
