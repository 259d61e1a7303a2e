//! The stages of a plan, and what the memory of each is for.

use rechunk::planner::{Plan, Stage};
use rechunk::{format_byte_size, format_shape};

use super::markup::{Cell, Html};
use super::sheet::ArraySheet;
use crate::numbers::number;
use crate::plan::{copies_line, requests, runs_lines};

/// Tasks of a stage that are drawn one by one; more are one bar.
const TASKS_DRAWN_MAX: u32 = 12;

/// The section.
pub(super) fn section(html: &mut Html, array: &ArraySheet) {
    let plan = &array.planned.plan;
    let passes = if plan.stages.len() == 1 { "one pass" } else { "passes" };
    let count =
        if plan.stages.len() == 1 { String::new() } else { format!("{} ", plan.stages.len()) };
    html.section(&format!("How: a {} plan, {count}{passes}", plan.kind), |html| {
        stage_table(html, plan);
        if let Some(line) = copies_line(&plan.estimate) {
            html.leaf("p", "small", line.trim());
        }
        let runs = runs_lines(&array.subject, plan);
        if !runs.is_empty() {
            html.within("ul", "small lines", |html| {
                for line in &runs {
                    html.leaf("li", "", line.trim());
                }
            });
        }
        html.subhead("Memory while a stage runs");
        for stage in &plan.stages {
            memory(html, plan, stage);
        }
        key(html);
    });
}

fn stage_table(html: &mut Html, plan: &Plan) {
    let head = [
        "stage",
        "reads at a time",
        "writes",
        "tasks",
        "at once",
        "lanes",
        "memory/task",
        "GET",
        "PUT",
    ];
    let mut rows: Vec<Vec<Cell>> = Vec::new();
    for stage in &plan.stages {
        let (gets, puts) = requests(plan, stage);
        let writes = match &stage.box_shape {
            Some(shape) => format!("{} by {}", format_shape(&stage.tile), format_shape(shape)),
            None => format_shape(&stage.tile),
        };
        rows.push(vec![
            stage.name.as_str().into(),
            format_shape(&stage.read_box(plan)).into(),
            writes.into(),
            number(stage.tasks).into(),
            number(stage.tasks_at_once.into()).into(),
            number(stage.lanes.into()).into(),
            format_byte_size(stage.task_bytes).into(),
            number(gets).into(),
            number(puts).into(),
        ]);
    }
    let estimate = &plan.estimate;
    if plan.stages.len() > 1 {
        let roles = [&estimate.source, &estimate.intermediate, &estimate.target];
        let gets = roles.iter().fold(0_u64, |sum, role| sum.saturating_add(role.get_requests));
        let puts = roles.iter().fold(0_u64, |sum, role| sum.saturating_add(role.put_requests));
        let mut row = vec![Cell::from("total").in_row("total"), "".into(), "".into()];
        row.extend(
            [number(plan.task_count()), String::new(), String::new(), String::new()]
                .map(Cell::from),
        );
        row.extend([number(gets), number(puts)].map(Cell::from));
        rows.push(row);
    }
    html.table("Stages of the plan", &head, &[3, 4, 5, 6, 7, 8], &rows);
}

/// Memory that is held while a stage runs, as parts of the budget.
fn memory(html: &mut Html, plan: &Plan, stage: &Stage) {
    let fixed = plan.memory.fixed_bytes;
    let tasks = u32::try_from(stage.tasks).unwrap_or(u32::MAX).min(stage.tasks_at_once).max(1);
    let threads = stage.workers(plan.threads);
    let in_threads = stage.worker_bytes.saturating_mul(threads);
    let besides = fixed.saturating_add(in_threads);
    let all = stage.task_bytes.saturating_mul(tasks.into()).saturating_add(besides);
    let budget = plan.memory.budget_bytes.max(all).max(1);
    let share = |bytes: u64| format!("width:{:.3}%", bytes as f64 / budget as f64 * 100.0);
    let held = stage.resident_bytes.saturating_add(stage.shard_state_bytes);
    let lanes = stage.task_bytes.saturating_sub(held);
    let of_tasks = if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
    let of_threads = if in_threads == 0 {
        String::new()
    } else {
        format!(" {} in {} threads,", format_byte_size(in_threads), number(threads))
    };
    let words = format!(
        "{of_tasks} of {}: {} of output being filled, {} in {} lanes;{of_threads} {} besides",
        format_byte_size(stage.task_bytes),
        format_byte_size(held),
        format_byte_size(lanes),
        number(stage.lanes.into()),
        format_byte_size(fixed),
    );
    html.within("div", "memory", |html| {
        html.within("div", "head", |html| {
            html.leaf("strong", "", &stage.name);
            html.leaf(
                "span",
                "",
                &format!(
                    "{} of {} allowed",
                    format_byte_size(all),
                    format_byte_size(plan.memory.budget_bytes)
                ),
            );
        });
        let attributes = [("class", "stack"), ("role", "img"), ("aria-label", words.as_str())];
        html.with("div", &attributes, |html| {
            let mut part = |class: &str, bytes: u64| {
                html.with("i", &[("class", class), ("style", &share(bytes))], |_| {});
            };
            part("c-rest", besides);
            if tasks <= TASKS_DRAWN_MAX {
                for _ in 0..tasks {
                    part("c-write", held);
                    part("c-lane", lanes);
                }
            } else {
                part("c-write", held.saturating_mul(tasks.into()));
                part("c-lane", lanes.saturating_mul(tasks.into()));
            }
        });
        html.leaf("div", "muted small", &words);
    });
}

fn key(html: &mut Html) {
    html.within("ul", "key", |html| {
        for (class, text) in [
            ("c-rest", "threads, contexts, journal"),
            ("c-write", "output being filled"),
            ("c-lane", "chunks on their way in and out"),
        ] {
            html.within("li", "", |html| {
                html.leaf("i", &format!("sw {class}"), "");
                html.text(text);
            });
        }
    });
}
