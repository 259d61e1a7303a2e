//! The plan of the copy of a group: a line for each array, and their sum.

use rechunk::planner::{Estimate, Plan, PlanArray};
use rechunk::{TreeArray, TreeJob, format_byte_size, format_shape};

use super::numbers::{number, plural};
use super::pyramid_plan::pyramid_text;
use super::table::lay_out;
use super::{plan, price};

/// Array, shape, chunks, plan, requests, expected bytes and memory.
const HEAD: [&str; 9] =
    ["array", "shape", "chunks", "plan", "GET", "PUT", "read", "written", "memory"];

/// Most arrays that have a line of their own.
const ROWS_MAX: usize = 1000;

/// Shows the plan of a group as text; `verifies` counts the memory that reading back takes.
pub(crate) fn group_text(job: &TreeJob, verifies: bool) -> String {
    if let Some(pyramid) = &job.pyramid {
        return pyramid_text(job, pyramid);
    }
    let target = if job.request.target.is_empty() { "…" } else { &job.request.target };
    let groups = job.groups().count() as u64;
    let estimate = job.estimate();
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    rows.extend(job.arrays.iter().take(ROWS_MAX).map(row));
    if let Some(more) = job.array_count().checked_sub(ROWS_MAX).filter(|more| *more > 0) {
        rows.push(vec![format!("… and {} more", plural(more as u64, "array"))]);
    }
    let intermediate = &estimate.intermediate;
    let gets = gets(&estimate);
    let puts = estimate.target.put_requests.saturating_add(intermediate.put_requests);
    let read = read_bytes(&estimate);
    let written = estimate.target.written_bytes.saturating_add(intermediate.written_bytes);
    let peak = job.planned_peak_bytes(verifies);
    let at_once = match job.turns(verifies).iter().map(ExactSizeIterator::len).max() {
        Some(most) if most > 1 => format!("up to {most} small arrays at once"),
        _ => "one array after the other".to_owned(),
    };
    rows.extend(others_row(job));
    if rows.len() > 2 {
        let mut total = vec!["total".to_owned(), String::new(), String::new(), String::new()];
        total.extend([number(gets), number(puts)]);
        total.extend([read, written, peak].map(format_byte_size));
        rows.push(total);
    }
    let mut lines = vec![
        format!(
            "{} → {target}    {}, {}, {}",
            job.request.source,
            plural(job.array_count() as u64, "array"),
            plural(groups, "group"),
            job.format().name(),
        ),
        lay_out(&rows, &[4, 5, 6, 7, 8]),
        String::new(),
        format!(
            "  memory  {} planned of {} allowed, {at_once}",
            format_byte_size(peak),
            format_byte_size(job.request.planning.budget().memory_bytes),
        ),
    ];
    lines.splice(3..3, plan::copies_line(&estimate));
    let mut times: Vec<String> =
        job.arrays.iter().flat_map(|array| array.job.times.iter().cloned()).collect();
    times.sort_unstable();
    times.dedup();
    lines.splice(2..2, plan::note_lines(&plan::notes(job)));
    lines.splice(2..2, plan::times_line(&times));
    lines.splice(1..1, growth_line(job));
    let plans = job.arrays.iter().map(|array| &array.job.planned.plan);
    lines.extend(price::lines(&estimate, plans.filter_map(|plan| plan.priced_by.as_ref())));
    lines.extend(job.arrays.iter().filter_map(advice_line));
    lines.join("\n")
}

/// Files beside the arrays, which are copied as they are.
fn others_row(job: &TreeJob) -> Option<Vec<String>> {
    let others = job.others().filter(|others| others.files > 0)?;
    let estimate = &job.others_estimate;
    let mut row = vec![plural(others.files, "other file")];
    row.extend(["", "", "as they are"].map(str::to_owned));
    row.extend([estimate.source.get_requests, estimate.target.put_requests].map(number));
    row.extend([estimate.source.read_bytes, estimate.target.written_bytes].map(format_byte_size));
    row.push(String::new());
    Some(row)
}

/// Line on the savings of more memory for an array.
fn advice_line(array: &TreeArray) -> Option<String> {
    let advice = array.job.more_memory.as_ref()?;
    Some(format!("  note    {}: {}", array.path, advice.sentence()))
}

/// Where the arrays go in those that are there, and which stay as they are.
fn growth_line(job: &TreeJob) -> Option<String> {
    let growth = job.arrays.first()?.job.growth.as_ref()?;
    let stay = match job.unmoved() {
        [] => String::new(),
        [one] => format!("; {one} stays as it is"),
        more => format!("; {} stay as they are", more.join(", ")),
    };
    Some(format!("  {}{stay}", growth.summary))
}

/// Chunks of source and target, and the shards they lie in; once where they are alike.
pub(crate) fn chunks(plan: &Plan) -> String {
    let cut = |array: &PlanArray| match &array.shard {
        Some(shard) => format!("{} in {}", format_shape(&array.chunk), format_shape(shard)),
        None => format_shape(&array.chunk),
    };
    let (source, target) = (cut(plan.source()), cut(plan.target()));
    if source == target { source } else { format!("{source} → {target}") }
}

fn row(array: &TreeArray) -> Vec<String> {
    let plan = &array.job.planned.plan;
    let estimate = &plan.estimate;
    let intermediate = &estimate.intermediate;
    vec![
        array.path.clone(),
        format_shape(&plan.source().shape),
        chunks(plan),
        plan.kind.to_string(),
        number(gets(estimate)),
        number(estimate.target.put_requests.saturating_add(intermediate.put_requests)),
        format_byte_size(read_bytes(estimate)),
        format_byte_size(estimate.target.written_bytes.saturating_add(intermediate.written_bytes)),
        format_byte_size(plan.memory.planned_peak_bytes),
    ]
}

/// Reads of all roles: of the target too, where it keeps what is around the source.
fn gets(estimate: &Estimate) -> u64 {
    let roles = [&estimate.source, &estimate.intermediate, &estimate.target];
    roles.iter().fold(0, |sum, role| sum.saturating_add(role.get_requests))
}

fn read_bytes(estimate: &Estimate) -> u64 {
    let roles = [&estimate.source, &estimate.intermediate, &estimate.target];
    roles.iter().fold(0, |sum, role| sum.saturating_add(role.read_bytes))
}
