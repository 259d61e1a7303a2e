//! A run over time: its stages and tasks, what was written, the memory that was resident.

use rechunk::format_byte_size;

use super::chart::{self, Chart, Curve, Tick};
use super::figures::Figures;
use super::markup::{Cell, Html};
use super::recorder::{Record, StageSpan, TaskSpan};
use crate::numbers::{number, seconds};

/// Spans of time that are drawn.
const BINS_DRAWN_MAX: usize = 80;
/// Stages that are named below the axis and listed.
const STAGES_NAMED_MAX: usize = 120;

/// The section; nothing where nothing ran.
pub(super) fn section(html: &mut Html, record: &Record, figures: &Figures) {
    if record.elapsed_seconds <= 0.0 || record.stages.is_empty() {
        return;
    }
    html.section("The run over time", |html| {
        html.subhead("Tasks");
        tasks_chart(record).write(html);
        if record.drops_tasks {
            let words = "How many tasks ran at the same time: there were too many to draw each.";
            html.leaf("p", "muted small", words);
        }
        html.subhead("Written, before it is encoded; intermediates included");
        throughput_chart(record).write(html);
        if record.bins.iter().any(|bin| bin.rss_bytes > 0) {
            html.subhead("Resident memory");
            memory_chart(record, figures).write(html);
            memory_key(html, figures);
        }
        stage_table(html, record);
    });
}

/// Part of the run that has passed at a time.
fn part(record: &Record, at: f64) -> f64 {
    (at / record.elapsed_seconds).clamp(0.0, 1.0)
}

fn time_axis(record: &Record) -> Vec<Tick> {
    let mut ticks = chart::ticks(record.elapsed_seconds, 7.0, chart::time_steps(), chart::time);
    for (position, tick) in ticks.iter_mut().enumerate() {
        tick.minor = position % 2 == 1;
    }
    ticks
}

/// The stages as parts of the axis.
fn band(record: &Record) -> Vec<(f64, f64, String, &'static str)> {
    if record.stages.len() > STAGES_NAMED_MAX {
        return Vec::new();
    }
    let spans = record.stages.iter();
    spans
        .map(|stage| {
            let (start, end) = (part(record, stage.start), part(record, stage.end));
            (start, end, name_of(record, stage), "")
        })
        .collect()
}

/// `push`, or with the array it is of.
fn name_of(record: &Record, stage: &StageSpan) -> String {
    match stage.array.and_then(|array| record.arrays.get(array)) {
        Some(array) => format!("{array}: {}", stage.name),
        None => stage.name.clone(),
    }
}

fn tasks_chart(record: &Record) -> Chart {
    let mut chart =
        Chart { class: "low", x_ticks: time_axis(record), band: band(record), ..Chart::default() };
    if record.tasks.is_empty() {
        let running = |bin: &Drawn| bin.task_seconds / bin.seconds;
        let most = drawn(record).iter().map(running).fold(1.0, f64::max);
        chart.curves.push(histogram(record, most * 1.05, running));
        chart.y_ticks =
            chart::ticks(most * 1.05, 4.0, chart::decimal_steps(1.0), |n| format!("{n}"));
        chart.label = format!("Tasks at the same time, at most about {most:.0}");
        return chart;
    }
    let rows = rows(&record.tasks);
    let count = rows.iter().max().map_or(1, |row| row + 1);
    let height = 1.0 / count as f64;
    for (task, row) in record.tasks.iter().zip(&rows) {
        let stage = &record.stages[task.stage];
        let (start, end) = (part(record, task.start), part(record, task.end));
        let class = ["t0", "t1", "t2", "t3"][stage.number % 4];
        let bottom = *row as f64 * height + height * 0.08;
        let words = format!(
            "{} task {}: from {} to {}",
            stage.name,
            number(task.task),
            seconds(task.start),
            seconds(task.end)
        );
        // A gap, so that two tasks are two.
        let width = (end - start - 0.001).max(0.001);
        chart.boxes.push(([start, bottom, width, height * 0.84], class, words));
    }
    chart.y_ticks = vec![Tick {
        at: 0.5,
        text: if count == 1 { "1 at once".to_owned() } else { format!("{count} at once") },
        minor: false,
    }];
    chart.label =
        format!("{} tasks, at most {count} at the same time", number(record.tasks.len() as u64));
    chart
}

/// A row for each task, such that tasks of one row do not overlap; as few as there were at once.
fn rows(tasks: &[TaskSpan]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    order.sort_by(|&a, &b| tasks[a].start.total_cmp(&tasks[b].start));
    let mut free_at: Vec<f64> = Vec::new();
    let mut rows = vec![0; tasks.len()];
    for at in order {
        let task = &tasks[at];
        let row = free_at.iter().position(|end| *end <= task.start).unwrap_or(free_at.len());
        if row == free_at.len() {
            free_at.push(task.end);
        } else {
            free_at[row] = task.end;
        }
        rows[at] = row;
    }
    rows
}

/// A span of time as it is drawn: several of those that were noted.
struct Drawn {
    start: f64,
    seconds: f64,
    bytes: f64,
    task_seconds: f64,
}

fn drawn(record: &Record) -> Vec<Drawn> {
    let together = record.bins.len().div_ceil(BINS_DRAWN_MAX).max(1);
    let span = record.bin_seconds * together as f64;
    let bins = record.bins.chunks(together).enumerate();
    bins.map(|(position, bins)| {
        let start = span * position as f64;
        Drawn {
            start,
            // The last one is not over yet.
            seconds: span.min(record.elapsed_seconds - start).max(record.bin_seconds * 0.1),
            bytes: bins.iter().map(|bin| bin.bytes as f64).sum(),
            task_seconds: bins.iter().map(|bin| bin.task_seconds).sum(),
        }
    })
    .collect()
}

fn histogram(record: &Record, full: f64, value: impl Fn(&Drawn) -> f64) -> Curve {
    let drawn = drawn(record);
    let height = |bin: &Drawn| (value(bin) / full).clamp(0.0, 1.0);
    let mut points: Vec<(f64, f64)> =
        drawn.iter().map(|bin| (part(record, bin.start), height(bin))).collect();
    points.extend(drawn.last().map(|bin| (1.0, height(bin))));
    Curve { points: chart::steps(&points), class: "", filled: true }
}

fn throughput_chart(record: &Record) -> Chart {
    let rate = |bin: &Drawn| bin.bytes / bin.seconds;
    let most = drawn(record).iter().map(rate).fold(1.0, f64::max);
    let full = most * 1.08;
    Chart {
        label: format!("Bytes written per second, at most {}", chart::speed(most.round())),
        class: "low",
        x_ticks: time_axis(record),
        y_ticks: chart::ticks(full, 4.0, chart::decimal_steps(1.0), chart::speed),
        curves: vec![histogram(record, full, rate)],
        ..Chart::default()
    }
}

fn memory_chart(record: &Record, figures: &Figures) -> Chart {
    let seen = record.bins.iter().map(|bin| bin.rss_bytes).max().unwrap_or(0);
    let memory = &figures.memory;
    let (planned, budget) = (memory.planned_peak_bytes, memory.budget_bytes);
    let both = seen.max(planned);
    // A budget far above it would press the curve to the ground.
    let shows_budget = budget <= both.saturating_mul(3);
    let full = (if shows_budget { both.max(budget) } else { both } as f64 * 1.12).max(1.0);
    let mut last = 0.0;
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (position, bin) in record.bins.iter().enumerate() {
        if bin.rss_bytes > 0 {
            last = bin.rss_bytes as f64 / full;
            points.push((part(record, position as f64 * record.bin_seconds), last));
        }
    }
    points.push((1.0, last));
    let mut levels = vec![(planned as f64 / full, "")];
    if shows_budget {
        levels.push((budget as f64 / full, "limit"));
    }
    Chart {
        label: format!(
            "Resident memory, at most {} seen; {} planned, {} allowed",
            format_byte_size(seen),
            format_byte_size(planned),
            format_byte_size(budget)
        ),
        class: "low",
        x_ticks: time_axis(record),
        y_ticks: chart::ticks(full, 4.0, chart::binary_steps(), chart::size),
        curves: vec![Curve { points: chart::steps(&points), class: "second", filled: true }],
        levels,
        ..Chart::default()
    }
}

fn memory_key(html: &mut Html, figures: &Figures) {
    let memory = &figures.memory;
    html.within("ul", "key", |html| {
        let entries = [
            ("c-measured", "resident, the program itself included".to_owned()),
            ("c-plan", format!("planned: {}", format_byte_size(memory.planned_peak_bytes))),
            ("c-over", format!("allowed: {}", format_byte_size(memory.budget_bytes))),
        ];
        for (class, text) in entries {
            html.within("li", "", |html| {
                html.leaf("i", &format!("sw {class}"), "");
                html.text(&text);
            });
        }
    });
}

fn stage_table(html: &mut Html, record: &Record) {
    html.subhead("Stages as they ran");
    let many = record.stages.iter().any(|stage| stage.array.is_some());
    let rows: Vec<Vec<Cell>> = record
        .stages
        .iter()
        .take(STAGES_NAMED_MAX)
        .map(|stage| {
            let took = stage.end - stage.start;
            let speed = if took > 0.0 { stage.bytes as f64 / took } else { 0.0 };
            vec![
                name_of(record, stage).into(),
                seconds(stage.start).into(),
                seconds(took).into(),
                number(stage.tasks_done).into(),
                format_byte_size(stage.bytes).into(),
                format!("{:.0} MB/s", speed / 1e6).into(),
            ]
        })
        .collect();
    let head = [
        if many { "array: stage" } else { "stage" },
        "began after",
        "took",
        "tasks",
        "written, decoded",
        "speed",
    ];
    html.table("Stages as they ran", &head, &[1, 2, 3, 4, 5], &rows);
    if record.stages.len() > STAGES_NAMED_MAX {
        let more = number((record.stages.len() - STAGES_NAMED_MAX) as u64);
        html.leaf("p", "muted small", &format!("and {more} more"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_overlap_are_in_different_rows() {
        let span = |start, end| TaskSpan { stage: 0, task: 0, start, end };
        let tasks = [span(0.0, 2.0), span(0.5, 1.0), span(1.0, 3.0), span(2.0, 4.0)];
        assert_eq!(rows(&tasks), [0, 1, 1, 0]);
    }
}
