//! State of a run at a target, and what was removed of it, as text.

use rechunk::{ArrayStatus, Cleaned, PartsStatus, RunState, Status, WorkerProgress, WriterStatus};

use super::harmless::harmless;
use super::numbers::number;
use super::phrases::Phrases;

/// Shows the state of the run at a target.
///
/// ```
/// # async fn example() -> Result<(), rechunk::Error> {
/// use rechunk_render::{Phrases, status_text};
///
/// let status = rechunk::status("b.zarr", &rechunk::Stores::default()).await?;
/// println!("{}", status_text(&status, &Phrases::default()));
/// # Ok(())
/// # }
/// ```
pub fn status_text(status: &Status, phrases: &Phrases) -> String {
    let mut lines = vec![head(status)];
    if let Some(array) = &status.array {
        lines.extend(array_lines(array));
    }
    if let Some(parts) = &status.parts {
        lines.extend(worker_lines(parts));
    }
    for member in &status.members {
        let text = member.array.as_ref().map_or_else(
            || "not under way".to_owned(),
            |array| format!("{} of {} tasks", number(array.tasks_done), number(array.tasks_total)),
        );
        lines.push(format!("  {}  {text}", member.path));
    }
    lines.extend(next_line(status.state, phrases).map(|line| format!("  {line}")));
    harmless(&lines.join("\n")).into_owned()
}

/// Says how to go on, or to tidy up.
pub(crate) fn next_line(state: RunState, phrases: &Phrases) -> Option<String> {
    let Phrases { resume, clean, .. } = phrases;
    match state {
        RunState::Interrupted => Some(format!("{resume} goes on from there; {clean} gives it up")),
        RunState::Finished => Some(format!("{clean} removes what it needed")),
        RunState::Open => Some(format!("{clean} gives it up")),
        RunState::None | RunState::Running => None,
    }
}

/// Says in which state the target is.
pub(crate) fn head(status: &Status) -> String {
    let target = &status.target;
    match (&status.writer, status.state) {
        (Some(writer), _) => format!("{target} is being written by {}", who(writer)),
        (None, _) if status.parts.is_some() => format!("{target} is open to parts"),
        (None, RunState::Finished) => format!("{target} is complete"),
        (None, RunState::Interrupted) => format!("{target} holds an interrupted run"),
        (None, _) => format!("no run has left anything at {target}"),
    }
}

fn who(writer: &WriterStatus) -> String {
    let heard = writer.silent_seconds.map(|seconds| format!(", last heard of {seconds} s ago"));
    format!("process {} on {}{}", writer.pid, writer.host, heard.unwrap_or_default())
}

fn array_lines(array: &ArrayStatus) -> Vec<String> {
    let mut lines = vec![
        format!("  source  {}", array.source),
        format!("  plan    {} {:.8}", array.kind, array.fingerprint),
    ];
    for stage in &array.stages {
        let (done, tasks) = (number(stage.done), number(stage.tasks));
        lines.push(format!("  {:<7} {done} of {tasks} tasks done", stage.name));
    }
    lines
}

/// The parts that are done, and one line for each that is being done or was stopped.
fn worker_lines(parts: &PartsStatus) -> Vec<String> {
    let alive = parts.workers.iter().filter(|worker| worker.alive).count();
    let mut lines = vec![format!("  parts   {} done, {alive} at work", number(parts.parts))];
    for worker in &parts.workers {
        let name = |stage: usize| parts.stages.get(stage).map_or("", |stage| stage.name.as_str());
        let array = worker.array.as_ref().map_or_else(String::new, |path| format!("{path} "));
        let (stage, done, tasks) = (name(worker.stage), number(worker.done), number(worker.tasks));
        let rate = worker.tasks_per_second.filter(|_| worker.alive);
        let rate = rate.map_or_else(String::new, |rate| format!(", {rate:.2} tasks/s"));
        let (first, who) = (number(worker.first), who_works(worker));
        lines.push(format!(
            "    {array}{stage} from {first}: {done} of {tasks} marked{rate}; {who}"
        ));
    }
    lines
}

/// The process that does a part, or did it.
pub(crate) fn who_works(worker: &WorkerProgress) -> String {
    match (&worker.host, worker.pid, worker.silent_seconds) {
        (Some(host), Some(pid), Some(silent)) if worker.alive => {
            format!("process {pid} on {host}, heard of {silent} s ago")
        }
        (Some(host), Some(pid), _) => format!("stopped: process {pid} on {host}"),
        _ => "stopped".to_owned(),
    }
}

/// Shows what was removed at a target, in a line.
///
/// ```
/// # async fn example() -> Result<(), rechunk::Error> {
/// let cleaned = rechunk::clean("b.zarr", &rechunk::Stores::default()).await?;
/// println!("{}", rechunk_render::cleaned_text(&cleaned));
/// # Ok(())
/// # }
/// ```
pub fn cleaned_text(cleaned: &Cleaned) -> String {
    let parts = [
        (cleaned.work_directories, "work directories"),
        (cleaned.intermediates, "intermediates"),
        (cleaned.objects, "chunks or unfinished files"),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", number(count)))
        .collect();
    if parts.is_empty() {
        return format!("no run has left anything at {}", cleaned.target);
    }
    let back = match cleaned.put_back {
        0 => "",
        1 => "; the array that was to be replaced is at its place again",
        _ => "; the arrays that were to be replaced are at their places again",
    };
    format!("removed at {}: {}{back}", cleaned.target, parts.join(", "))
}
