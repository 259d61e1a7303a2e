//! The plan of a pyramid: a line for each level, and the passes that write them.

use rechunk::{
    PassReport, PyramidReport, ResolutionReport, TreeJob, format_byte_size, format_shape,
};

use super::numbers::plural;
use super::plan::{note_lines, notes};
use super::price;
use super::table::lay_out;

/// Level, factors, shape, chunks and objects that it is written by.
const HEAD: [&str; 5] = ["level", "factors", "shape", "chunks", "arrays"];

/// Shows the plan of a pyramid as text.
pub(crate) fn pyramid_text(job: &TreeJob, pyramid: &PyramidReport) -> String {
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    rows.extend(pyramid.levels.iter().map(row));
    if pyramid.levels.iter().all(|level| level.arrays == 1) {
        for row in &mut rows {
            row.truncate(4);
        }
    }
    let estimate = job.estimate();
    let mut lines = vec![
        format!(
            "{} → {}    {} by {}, {} in {}",
            job.request.source,
            job.request.target,
            plural(pyramid.levels.len() as u64, "level"),
            pyramid.method,
            pyramid.dialect,
            job.format().name(),
        ),
        lay_out(&rows, &[]),
        String::new(),
    ];
    lines.extend(pyramid.passes.iter().enumerate().map(pass));
    lines.push(format!("  why     {}", pyramid.reason));
    lines.extend(copied(job, pyramid));
    lines.extend(note_lines(&notes(job)));
    lines.push(format!(
        "  memory  {} planned of {} allowed",
        format_byte_size(job.planned_peak_bytes(false)),
        format_byte_size(job.request.planning.budget().memory_bytes),
    ));
    let plans = job.arrays.iter().map(|array| &array.job.planned.plan);
    lines.extend(price::lines(&estimate, plans.filter_map(|plan| plan.priced_by.as_ref())));
    lines.join("\n")
}

/// Arrays beside those of the levels: they are copied along.
fn copied(job: &TreeJob, pyramid: &PyramidReport) -> Option<String> {
    let levels: u64 = pyramid.levels.iter().map(|level| level.arrays).sum();
    let count = (job.arrays.len() as u64).saturating_sub(levels);
    let named = job.arrays.iter().rev().take(3).map(|array| array.path.as_str());
    let named: Vec<&str> = named.take(usize::try_from(count).unwrap_or(0)).collect();
    let named = named.into_iter().rev().collect::<Vec<_>>().join(", ");
    let dots = if count > 3 { "…, " } else { "" };
    let arrays = plural(count, "array");
    (count > 0).then(|| format!("  labels  {arrays} copied as they are: {dots}{named}"))
}

fn row(level: &ResolutionReport) -> Vec<String> {
    let chunks = match &level.shard_shape {
        Some(shard) => format!("{} in {}", format_shape(&level.chunk_shape), format_shape(shard)),
        None => format_shape(&level.chunk_shape),
    };
    let factors = level.factors.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let shape = format_shape(&level.shape);
    vec![level.path.clone(), factors, shape, chunks, level.arrays.to_string()]
}

fn pass((number, pass): (usize, &PassReport)) -> String {
    let written = match &pass.writes[..] {
        [one] => one.clone(),
        [first, .., last] => format!("{first} to {last}"),
        [] => String::new(),
    };
    format!(
        "  pass {}  reads {} in steps of {}, writes {written}: {} of {}",
        number + 1,
        pass.reads,
        format_shape(&pass.step),
        plural(pass.tasks, "task"),
        format_shape(&pass.tile),
    )
}
