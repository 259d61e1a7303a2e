//! Reports of a plan that is done in parts, as text.

use rechunk::{PartReport, PartsReport, format_byte_size};

use super::harmless::harmless;
use super::numbers::number;

/// Says that a job is open to parts, and into which stages it is divided.
///
/// ```
/// # async fn example(job: rechunk::Job) -> Result<(), rechunk::Error> {
/// use rechunk::{Existing, Running};
///
/// let begun = job.begin_parts(Running::new(Existing::Refuse)).await?;
/// println!("{}", rechunk_render::parts_text(&begun));
/// # Ok(())
/// # }
/// ```
pub fn parts_text(report: &PartsReport) -> String {
    let target = &report.target;
    let mut lines = vec![match (report.complete, report.begun) {
        (true, _) => format!("{target} is complete"),
        (false, true) => format!("{target} is open to parts"),
        (false, false) => format!("{target} is open to parts already"),
    }];
    for stage in &report.stages {
        lines.push(format!("  stage {}  {}, {}", stage.stage, stage.name, counted(stage.tasks)));
    }
    if !report.left_to_finish.is_empty() {
        let arrays = report.left_to_finish.join(", ");
        lines.push(format!("  left to the end, as one process has to do it: {arrays}"));
    }
    harmless(&lines.join("\n")).into_owned()
}

/// Says what a part has done, in a line.
///
/// ```
/// # fn example(report: rechunk::PartReport) {
/// println!("{}", rechunk_render::part_text(&report));
/// # }
/// ```
pub fn part_text(report: &PartReport) -> String {
    let (part, stage, tasks) = (report.part, report.stage, report.tasks);
    if report.already_complete {
        return format!("part {part} of stage {stage}: nothing to do, the target is complete");
    }
    let resumed = match tasks.resumed {
        0 => String::new(),
        resumed => format!(", {} of them before", number(resumed)),
    };
    let traffic = &report.traffic;
    let read = traffic.source.read_bytes.saturating_add(traffic.intermediate.read_bytes);
    let written = traffic.target.written_bytes.saturating_add(traffic.intermediate.written_bytes);
    format!(
        "part {part} of stage {stage}: {} marked{resumed}; read {}, wrote {} in {:.1} s",
        counted(tasks.marked),
        format_byte_size(read),
        format_byte_size(written),
        report.elapsed_seconds,
    )
}

/// `1 task`, `2 tasks`.
fn counted(tasks: u64) -> String {
    format!("{} task{}", number(tasks), if tasks == 1 { "" } else { "s" })
}
