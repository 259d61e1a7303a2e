//! The progress of a run as a page, from its state and the marks of its parts.

use std::time::Duration;

use rechunk::{MemberStatus, PartsStatus, RunState, StageStatus, Status, WorkerProgress};

use super::markup::{Cell, Html};
use super::page::{footer, head};
use crate::numbers::{number, seconds};
use crate::phrases::Phrases;
use crate::status::{head as state_line, next_line, who_works};

/// Makes the page of a run at a target: its stages, the parts that work on them, and the arrays of
/// a group.
///
/// With `again`, a browser in which it is open loads it again so often, as long as the run goes on.
///
/// ```
/// # async fn example() -> Result<(), rechunk::Error> {
/// use rechunk_render::{Phrases, status_page};
///
/// let status = rechunk::status("b.zarr", &rechunk::Stores::default()).await?;
/// let page = status_page(&status, None, &Phrases::default());
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// # Ok(())
/// # }
/// ```
pub fn status_page(status: &Status, again: Option<Duration>, phrases: &Phrases) -> String {
    let mut html = Html::default();
    let again = again.filter(|_| is_under_way(status.state));
    html.with("html", &[("lang", "en")], |html| {
        head(html, &status.target, again);
        html.within("body", "", |html| {
            html.within("header", "", |html| {
                html.leaf("h1", "", &status.target);
                html.within("p", "line", |html| {
                    let (class, word) = state(status.state);
                    html.leaf("span", &format!("state {class}"), word);
                    html.text(&subtitle(status));
                });
                tiles(html, status);
                if let Some(line) = next_line(status.state, phrases) {
                    html.leaf("p", "note", &line);
                }
            });
            html.within("main", "", |html| {
                stages(html, stages_of(status));
                if let Some(parts) = &status.parts {
                    workers(html, parts);
                }
                members(html, status);
            });
            footer(html, "From the state of the run and the marks of its parts.");
        });
    });
    format!("<!DOCTYPE html>\n{}\n", html.into_text())
}

fn is_under_way(state: RunState) -> bool {
    matches!(state, RunState::Running | RunState::Open | RunState::Interrupted)
}

/// Class and word of a state.
fn state(state: RunState) -> (&'static str, &'static str) {
    match state {
        RunState::None => ("still", "nothing under way"),
        RunState::Running => ("good", "running"),
        RunState::Interrupted => ("bad", "interrupted"),
        RunState::Open => ("still", "open to parts"),
        RunState::Finished => ("good", "complete"),
    }
}

fn subtitle(status: &Status) -> String {
    match &status.array {
        Some(array) => {
            format!("from {}, a {} plan {:.8}", array.source, array.kind, array.fingerprint)
        }
        None => state_line(status),
    }
}

fn stages_of(status: &Status) -> &[StageStatus] {
    let of_parts = status.parts.as_ref().map(|parts| &parts.stages);
    let of_array = status.array.as_ref().map(|array| &array.stages);
    of_parts.or(of_array).map_or(&[], |stages| stages)
}

/// Tasks of all stages: done, and all of them.
fn tasks(stages: &[StageStatus]) -> (u64, u64) {
    let add = |(done, tasks): (u64, u64), stage: &StageStatus| {
        (done.saturating_add(stage.done), tasks.saturating_add(stage.tasks))
    };
    stages.iter().fold((0, 0), add)
}

fn share(done: u64, tasks: u64) -> f64 {
    if tasks == 0 { 1.0 } else { done as f64 / tasks as f64 }
}

/// The numbers that matter: tasks, parts, the rate of all who work, and the time that is left at
/// that rate.
fn tiles(html: &mut Html, status: &Status) {
    let (done, all) = tasks(stages_of(status));
    let mut tiles = Vec::new();
    if all > 0 {
        tiles.push((format!("{:.0} %", share(done, all) * 100.0), "of all tasks".to_owned()));
        tiles.push((number(done), format!("of {} tasks done", number(all))));
    }
    if let Some(parts) = &status.parts {
        let alive = || parts.workers.iter().filter(|worker| worker.alive);
        tiles.push((number(parts.parts), "parts done".to_owned()));
        tiles.push((number(alive().count() as u64), "parts at work".to_owned()));
        let stopped = parts.workers.len() - alive().count();
        if stopped > 0 {
            tiles.push((number(stopped as u64), "parts stopped".to_owned()));
        }
        let rate: f64 = alive().filter_map(|worker| worker.tasks_per_second).sum();
        if rate > 0.0 {
            tiles.push((format!("{rate:.2}"), "tasks in a second, all parts".to_owned()));
            let left = all.saturating_sub(done) as f64 / rate;
            tiles.push((seconds(left), "left at this rate".to_owned()));
        }
    }
    if !tiles.is_empty() {
        html.tiles(tiles.len(), &tiles);
    }
}

fn stages(html: &mut Html, stages: &[StageStatus]) {
    if stages.is_empty() {
        return;
    }
    html.section("Stages", |html| {
        let row = |stage: &StageStatus| {
            vec![
                stage.name.as_str().into(),
                number(stage.done).into(),
                number(stage.tasks).into(),
                done_cell(stage.done, stage.tasks),
            ]
        };
        let rows: Vec<Vec<Cell>> = stages.iter().map(row).collect();
        html.table("Stages", &["stage", "tasks done", "tasks", "share"], &[1, 2, 3], &rows);
    });
}

/// A share with its bar.
fn done_cell(done: u64, tasks: u64) -> Cell {
    let share = share(done, tasks);
    Cell::from(format!("{:.1} %", share * 100.0)).bar(share)
}

fn workers(html: &mut Html, parts: &PartsStatus) {
    if parts.workers.is_empty() {
        return;
    }
    html.section("Parts that are being done, or were stopped", |html| {
        let stage = |number: usize| parts.stages.get(number).map_or("", |stage| &stage.name);
        let row = |worker: &WorkerProgress| {
            let rate = worker.tasks_per_second.filter(|_| worker.alive);
            let array = worker.array.as_ref().map_or_else(String::new, |path| format!("{path} "));
            let class = if worker.alive { "" } else { "dropped" };
            vec![
                Cell::from(format!("{array}{}", stage(worker.stage))).in_row(class),
                number(worker.first).into(),
                number(worker.done).into(),
                number(worker.tasks).into(),
                done_cell(worker.done, worker.tasks),
                rate.map_or_else(String::new, |rate| format!("{rate:.2}")).into(),
                who_works(worker).into(),
            ]
        };
        let rows: Vec<Vec<Cell>> = parts.workers.iter().map(row).collect();
        let columns = ["stage", "from task", "marked", "tasks", "share", "tasks/s", "process"];
        html.table("Parts", &columns, &[1, 2, 3, 4, 5], &rows);
    });
}

fn members(html: &mut Html, status: &Status) {
    if status.members.is_empty() {
        return;
    }
    html.section("Arrays of the group", |html| {
        let row = |member: &MemberStatus| {
            let path = Cell::from(member.path.as_str());
            match &member.array {
                Some(array) => vec![
                    path,
                    number(array.tasks_done).into(),
                    number(array.tasks_total).into(),
                    done_cell(array.tasks_done, array.tasks_total),
                ],
                None => vec![path.in_row("dropped"), Cell::wide("not under way", 3)],
            }
        };
        let rows: Vec<Vec<Cell>> = status.members.iter().map(row).collect();
        html.table("Arrays", &["array", "tasks done", "tasks", "share"], &[1, 2, 3], &rows);
    });
}
