//! The plan of an array as text, and what a plan of the literature would move.

use rechunk::planner::{
    Candidate, CandidateOutcome, Estimate, Plan, PlanArray, Planned, Stage, Unit,
};
use rechunk::{TreeJob, format_byte_size, format_shape};
use serde_json::{Map, Value};

use super::numbers::{dollars, number, plural};
use super::price;
use super::subject::Subject;
use super::table::lay_out;

/// Shows a plan as text; `all` adds the candidates that were not taken.
///
/// ```
/// use rechunk::planner::{PlanRequest, Side, plan};
/// use rechunk_render::{Subject, plan_text};
///
/// let sides = (Side::raw(&[5, 200, 500], 4), Side::raw(&[100, 20, 20], 4));
/// let request = PlanRequest::local(&[100, 400, 500], 4, sides, 16 << 20);
/// let planned = plan(&request)?;
/// let subject = Subject::of_request(&request, "float32");
/// let text = plan_text(&subject, &planned, true);
/// assert!(text.contains("memory/task") && text.contains("considered"));
/// # Ok::<(), rechunk::planner::PlanError>(())
/// ```
pub fn plan_text(subject: &Subject, planned: &Planned, all: bool) -> String {
    let plan = &planned.plan;
    let mut lines = vec![
        format!("{}    {} plan {}", subject.title, plan.kind, &plan.fingerprint[..8]),
        array_lines(subject, plan),
    ];
    lines.extend(times_line(&subject.times));
    lines.extend(note_lines(&subject.notes));
    lines.extend([String::new(), stage_table(plan), String::new()]);
    if let Some(growth) = &subject.growth {
        lines.splice(1..1, [growth.clone()]);
    }
    lines.extend(runs_lines(subject, plan));
    lines.extend(copies_line(&plan.estimate));
    lines.push(memory_line(plan));
    lines.extend(subject.workers.map(|workers| workers_line(plan, workers)));
    lines.extend(price::lines(&plan.estimate, plan.priced_by.iter()));
    lines.extend(subject.advice.iter().map(|advice| format!("  note    {advice}")));
    if all && planned.candidates.len() > 1 {
        lines.push(String::new());
        lines.push("  considered".to_owned());
        lines.push(candidate_table(planned));
    }
    lines.join("\n")
}

/// Line on the results of chunks as long as a time.
pub(crate) fn times_line(times: &[String]) -> Option<String> {
    (!times.is_empty()).then(|| format!("  times   {}", times.join(", ")))
}

/// Collects the notes on the arrays of a group, each once.
pub(crate) fn notes(job: &TreeJob) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for note in job.arrays.iter().flat_map(|array| &array.job.notes) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}

/// Lines of notes on the plan.
pub(crate) fn note_lines(notes: &[String]) -> Vec<String> {
    notes.iter().map(|note| format!("  note    {note}")).collect()
}

fn array_lines(subject: &Subject, plan: &Plan) -> String {
    let bytes = |shape: &[u64]| format_byte_size(plan.source().bytes_of(shape));
    let side = |name: &str, words: &str, array: &PlanArray| {
        let (chunk, shard) = (&array.chunk, array.shard.as_ref());
        let shards = shard.map_or(String::new(), |shard| {
            format!(
                ", in {} shards of {}",
                number(plan.source().boxes_of(shard)),
                format_shape(shard)
            )
        });
        let differ = array.edges.as_ref().is_some_and(|edges| edges.smallest(chunk) != *chunk);
        let (count, up_to) = (array.chunk_count(), if differ { "up to " } else { "" });
        vec![
            name.to_owned(),
            format!("chunks {up_to}{}", format_shape(chunk)),
            format!("{} × {up_to}{}", number(count), bytes(chunk)),
            format!("{words}{shards}"),
        ]
    };
    lay_out(
        &[
            vec![
                "array".to_owned(),
                format_shape(&plan.source().shape),
                bytes(&plan.source().shape),
                subject.data_type.clone(),
            ],
            side("source", &subject.source, plan.source()),
            side("target", &subject.target, plan.target()),
        ],
        &[],
    )
}

fn stage_table(plan: &Plan) -> String {
    let head = ["stage", "reads", "writes", "tasks", "at once", "memory/task", "GET", "PUT"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    // The store copies in the one stage of such a plan.
    let copies = plan.estimate.target.copy_requests;
    if copies > 0 {
        rows[0].push("COPY".to_owned());
    }
    for stage in &plan.stages {
        let (gets, puts) = requests(plan, stage);
        rows.push(vec![
            stage.name.clone(),
            format_shape(&stage.read_box(plan)),
            match &stage.box_shape {
                Some(shape) => {
                    format!("{} by {}", format_shape(&stage.tile), format_shape(shape))
                }
                None => format_shape(&stage.write_box(plan)),
            },
            number(stage.tasks),
            stage.tasks_at_once.to_string(),
            format_byte_size(stage.task_bytes),
            number(gets),
            number(puts),
        ]);
        if let Some(row) = rows.last_mut().filter(|_| copies > 0) {
            row.push(number(copies));
        }
    }
    let estimate = &plan.estimate;
    if plan.stages.len() > 1 {
        let roles = [&estimate.source, &estimate.intermediate, &estimate.target];
        let sum = |count: fn(&rechunk::planner::RoleEstimate) -> u64| {
            roles.iter().map(|role| count(role)).fold(0, u64::saturating_add)
        };
        let mut total = vec![String::new(); 8];
        "total".clone_into(&mut total[0]);
        total[3] = number(plan.task_count());
        total[6] = number(sum(|role| role.get_requests));
        total[7] = number(sum(|role| role.put_requests));
        rows.push(total);
    }
    lay_out(&rows, &[3, 4, 5, 6, 7, 8])
}

/// Line on objects that the store copies itself, if it copies any.
pub(crate) fn copies_line(estimate: &Estimate) -> Option<String> {
    let copies = estimate.target.copy_requests;
    (copies > 0).then(|| {
        format!(
            "  copied by the store itself: {}; their bytes do not pass through here",
            plural(copies, "object")
        )
    })
}

/// Read and write requests of one stage.
pub(crate) fn requests(plan: &Plan, stage: &Stage) -> (u64, u64) {
    if stage.schedule().is_some() {
        return (plan.estimate.source.get_requests, plan.estimate.target.put_requests);
    }
    if plan.apply.is_some() {
        let estimate = &plan.estimate;
        let (from, to) = (&estimate.intermediate, &estimate.target);
        let reads_source = stage.input_unit() != Unit::Piece;
        let read = if reads_source { &estimate.source } else { from };
        let written = if stage.output_unit() == Unit::Piece { from } else { to };
        // Of objects of the target that the region cuts, the rest is read.
        let kept = if stage.output_unit() == Unit::Piece { 0 } else { to.get_requests };
        return (read.get_requests.saturating_add(kept), written.put_requests);
    }
    let pairs = |chunk: &[u64]| rechunk::planner::pairs(&stage.shape, stage.filled(), chunk);
    let gets = match stage.input_unit() {
        // One stage reads the source.
        Unit::Chunk | Unit::Shard => plan.estimate.source.get_requests,
        Unit::Piece => pairs(stage.fetch_shape(plan)),
    };
    let puts = match stage.output_unit() {
        Unit::Chunk | Unit::Shard => plan.estimate.target.put_requests,
        Unit::Piece => stage.tasks,
    };
    (gets, puts)
}

/// Lines on moving runs of bytes: accesses to the files, the order of the buffers, and the elements
/// each leaves to a later one.
pub(crate) fn runs_lines(subject: &Subject, plan: &Plan) -> Vec<String> {
    let Some(schedule) = plan.stages.iter().find_map(|stage| stage.schedule()) else {
        return Vec::new();
    };
    let Ok(model) = plan.keep_model() else { return Vec::new() };
    let name = |axis: usize| subject.axes.get(axis).map_or("axis", String::as_str);
    let asked = |role: &rechunk::planner::RoleEstimate| {
        let [opens, runs, seeks] = [role.opens, role.runs, role.seeks].map(number);
        format!("{opens} opens, {runs} runs, {seeks} seeks")
    };
    let carries = model.carries(&schedule.buffer);
    let kept = (0..carries.len()).filter(|&axis| schedule.kept[axis] && carries[axis] > 0);
    let kept: Vec<String> =
        kept.map(|axis| format!("up to {} of {}", number(carries[axis]), name(axis))).collect();
    let cut = (0..carries.len()).filter(|&axis| !schedule.kept[axis] && carries[axis] > 0);
    let cut: Vec<&str> = cut.map(name).collect();
    let carried = if kept.is_empty() { "nothing".to_owned() } else { kept.join(", ") };
    let parts = if cut.is_empty() {
        String::new()
    } else {
        format!("; target files are written in parts along {}", cut.join(", "))
    };
    let order: Vec<&str> = schedule.step_axes.iter().map(|&axis| name(axis)).collect();
    vec![
        format!("  source  {}", asked(&plan.estimate.source)),
        format!("  target  {}", asked(&plan.estimate.target)),
        format!(
            "  buffer  {} × {}, slowest axis first: {}",
            number(model.buffers(schedule)),
            format_shape(&schedule.buffer),
            order.join(", ")
        ),
        format!("  carry   {carried}{parts}"),
    ]
}

fn memory_line(plan: &Plan) -> String {
    format!(
        "  memory  {} planned of {} allowed, {} threads",
        format_byte_size(plan.memory.planned_peak_bytes),
        format_byte_size(plan.memory.budget_bytes),
        plan.threads,
    )
}

/// Line on how many of so many workers have something to do.
fn workers_line(plan: &Plan, workers: u32) -> String {
    let busy = |stage: &Stage| {
        let busy = stage.busy_workers(workers);
        format!("{} keeps {} busy", stage.name, (busy * 10.0).round() / 10.0)
    };
    let busy: Vec<String> = plan.stages.iter().map(busy).collect();
    format!("  workers {workers}, of which {} on average", busy.join(", "))
}

fn candidate_table(planned: &Planned) -> String {
    let mut reasons = Vec::new();
    let head = ["kind", "boxes", "cost", "requests", "memory"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let best = planned.plan.estimate.seconds;
    let has_price = planned.plan.estimate.usd > 0.0;
    if has_price {
        rows[0].push("price".to_owned());
    }
    for candidate in &planned.candidates {
        let (cost, estimate, memory_bytes) = match &candidate.outcome {
            CandidateOutcome::Chosen { estimate, memory_bytes } => {
                ("chosen".to_owned(), estimate, *memory_bytes)
            }
            CandidateOutcome::Dearer { estimate, memory_bytes } => {
                (relative(estimate.seconds, best), estimate, *memory_bytes)
            }
            CandidateOutcome::DoesNotFit { needs_bytes } => {
                let needs = format_byte_size(*needs_bytes);
                reasons.push(format!("  {} does not fit: it needs {needs}", candidate.kind));
                continue;
            }
            CandidateOutcome::NotApplicable { reason } => {
                reasons.push(format!("  {} does not apply: {reason}", candidate.kind));
                continue;
            }
        };
        let (requests, memory) = (number(estimate.requests()), format_byte_size(memory_bytes));
        let mut row = vec![candidate.kind.to_string(), boxes(candidate), cost, requests, memory];
        if has_price {
            row.push(dollars(estimate.usd));
        }
        rows.push(row);
    }
    let mut lines = vec![lay_out(&rows, &[3, 4, 5])];
    lines.extend(reasons);
    lines.join("\n")
}

pub(crate) fn relative(seconds: f64, best: f64) -> String {
    if best > 0.0 { format!("{:.2} ×", seconds / best) } else { "1.00 ×".to_owned() }
}

pub(crate) fn boxes(candidate: &Candidate) -> String {
    candidate.boxes.iter().map(|shape| format_shape(shape)).collect::<Vec<_>>().join(" → ")
}

/// Shows the boxes, the traffic and the price of a baseline as text.
///
/// `report` is an object. Its members that are objects of objects count requests and bytes by role,
/// objects of numbers are prices, of which nothing is said where they are 0, and all others are
/// values with a name.
///
/// ```
/// let report = serde_json::json!({
///     "baseline": "naive",
///     "estimate": { "target": { "get_requests": 0, "put_requests": 1200 } },
/// });
/// assert!(rechunk_render::baseline_text(&report).contains("1,200"));
/// ```
pub fn baseline_text(report: &Value) -> String {
    let line =
        |name: &str, value: &Value| format!("{name}  {}", value.to_string().replace('"', ""));
    let mut lines = Vec::new();
    for (name, value) in report.as_object().into_iter().flatten() {
        match value.as_object() {
            Some(roles) if roles.values().all(Value::is_object) => {
                lines.extend([name.clone(), role_table(roles)]);
            }
            Some(prices) => {
                let asked = |usd: &Value| usd.as_f64().is_some_and(|usd| usd > 0.0);
                let prices = prices.iter().filter(|(_, usd)| asked(usd));
                lines.extend(prices.map(|(name, usd)| line(name, usd)));
            }
            None => lines.push(line(name, value)),
        }
    }
    lines.join("\n")
}

/// Requests and bytes by role, and runs of bytes where there are some.
fn role_table(roles: &Map<String, Value>) -> String {
    let mut rows = vec![["", "GET", "PUT", "read", "written"].map(str::to_owned).to_vec()];
    let has_runs = roles.values().any(|counts| counts["runs"].as_u64().unwrap_or(0) > 0);
    if has_runs {
        rows[0].extend(["opens", "runs", "seeks"].map(str::to_owned));
    }
    for (role, counts) in roles {
        let count = |key: &str| counts[key].as_u64().unwrap_or(0);
        let mut row = vec![
            role.clone(),
            number(count("get_requests")),
            number(count("put_requests")),
            format_byte_size(count("decoded_read_bytes")),
            format_byte_size(count("decoded_written_bytes")),
        ];
        if has_runs {
            row.extend(["opens", "runs", "seeks"].map(|key| number(count(key))));
        }
        rows.push(row);
    }
    lay_out(&rows, &[1, 2, 3, 4, 5, 6, 7])
}
