//! The arrays of a group: a table, then each by itself, to be opened.

use rechunk::planner::{Estimate, Strategy};
use rechunk::what_if::{Rung, WhatIf};
use rechunk::{Report, format_byte_size, format_shape};

use super::figures::Figures;
use super::markup::{Cell, Html};
use super::sheet::{ArraySheet, Sheet};
use super::{candidates, knee, measured, stages, subject};
use crate::group_plan::chunks;
use crate::numbers::{dollars, number, seconds};

/// Arrays are described one by one while the page has fewer bytes than this.
const PAGE_BYTES_MAX: usize = 760_000;
/// Rows of the table.
const ROWS_MAX: usize = 1500;

/// The section of the table.
pub(super) fn table(html: &mut Html, sheet: &Sheet, totals: &Figures) {
    let arrays = &sheet.arrays;
    let ran = totals.traffic.is_some();
    let has_price = totals.estimate.usd > 0.0;
    let mut head = vec!["array", "shape", "chunks", "plan", "time"];
    if ran {
        head.push("measured");
    }
    if has_price {
        head.push("price");
    }
    head.extend(["GET", "PUT", "read", "written", "memory"]);
    let numbers: Vec<usize> = (4..head.len()).collect();
    html.section("Arrays", |html| {
        let mut rows = vec![total_row(totals, arrays.len(), has_price, ran)];
        for (position, array) in arrays.iter().take(ROWS_MAX).enumerate() {
            rows.push(row(array, position, has_price, ran));
        }
        html.table("Arrays of the group", &head, &numbers, &rows);
        if arrays.len() > ROWS_MAX {
            let more = number((arrays.len() - ROWS_MAX) as u64);
            let whole = sheet.phrases.full_report;
            html.leaf("p", "muted small", &format!("and {more} more: {whole} has them all"));
        }
        let words = "They are copied one after the other, each with the whole budget; into an object store small \
                     ones at once.";
        html.leaf("p", "muted small", words);
    });
}

/// Requests, bytes and memory.
fn figures_of(estimate: &Estimate, planned_peak_bytes: u64) -> [Cell; 5] {
    let (source, between, target) = (&estimate.source, &estimate.intermediate, &estimate.target);
    [
        number(source.get_requests.saturating_add(between.get_requests)),
        number(target.put_requests.saturating_add(between.put_requests)),
        format_byte_size(source.read_bytes.saturating_add(between.read_bytes)),
        format_byte_size(target.written_bytes.saturating_add(between.written_bytes)),
        format_byte_size(planned_peak_bytes),
    ]
    .map(Cell::from)
}

fn row(array: &ArraySheet, position: usize, has_price: bool, ran: bool) -> Vec<Cell> {
    let plan = &array.planned.plan;
    let mut row = vec![
        Cell::from(array.path.as_str()).leads_to(&id(position)),
        format!("{} {}", format_shape(&plan.source().shape), array.subject.data_type).into(),
        chunks(plan).into(),
        plan.kind.to_string().into(),
        seconds(array.report.estimate.seconds).into(),
    ];
    if ran {
        row.push(became(&array.report).into());
    }
    if has_price {
        row.push(dollars(array.report.estimate.usd).into());
    }
    row.extend(figures_of(&array.report.estimate, plan.memory.planned_peak_bytes));
    row
}

/// Outcome of one array in a run.
fn became(report: &Report) -> String {
    match (&report.tasks, report.elapsed_seconds) {
        (Some(tasks), _) if tasks.total > 0 && tasks.resumed == tasks.total => {
            "complete before".to_owned()
        }
        (Some(tasks), Some(elapsed)) if tasks.done == tasks.total => seconds(elapsed),
        (_, Some(_)) => "begun".to_owned(),
        _ => "not begun".to_owned(),
    }
}

fn total_row(totals: &Figures, count: usize, has_price: bool, ran: bool) -> Vec<Cell> {
    let estimate = &totals.estimate;
    let mut row = vec![Cell::from(format!("all {}", number(count as u64))).in_row("total")];
    row.extend(["", "", ""].map(Cell::from));
    row.push(seconds(estimate.seconds).into());
    if ran {
        row.push(totals.elapsed_seconds.map_or(String::new(), seconds).into());
    }
    if has_price {
        row.push(dollars(estimate.usd).into());
    }
    row.extend(figures_of(estimate, totals.memory.planned_peak_bytes));
    row
}

/// The place of an array on the page.
fn id(position: usize) -> String {
    format!("array-{}", position + 1)
}

/// Each array by itself, as many as the page has room for.
pub(super) fn details(html: &mut Html, sheet: &Sheet) {
    let (arrays, what_if) = (&sheet.arrays, sheet.what_if.as_ref());
    html.section("Each array", |html| {
        html.with("div", &[("id", "all")], |_| {});
        for (position, array) in arrays.iter().enumerate() {
            let before = html.bytes();
            one(html, array, position, what_if);
            if html.bytes() > PAGE_BYTES_MAX {
                html.cut_back(before);
                // Links to those that are left out lead here.
                html.within("p", "muted", |html| {
                    for position in position..arrays.len().min(ROWS_MAX) {
                        html.with("span", &[("id", &id(position))], |_| {});
                    }
                    html.text(&format!(
                        "{} more arrays are left out to keep this page small: plan one of them by \
                         itself, or see {}.",
                        number((arrays.len() - position) as u64),
                        sheet.phrases.full_report
                    ));
                });
                break;
            }
        }
    });
}

fn one(html: &mut Html, array: &ArraySheet, position: usize, what_if: Option<&WhatIf>) {
    let plan = &array.planned.plan;
    html.with("details", &[("id", &id(position))], |html| {
        html.within("summary", "", |html| {
            html.text(&array.path);
            let words = format!(
                "  {} {}, {} plan, {}",
                format_shape(&plan.source().shape),
                array.subject.data_type,
                plan.kind,
                seconds(plan.estimate.seconds)
            );
            html.leaf("span", "muted", &words);
        });
        html.inner(|html| {
            if array.report.tasks.is_some() {
                measured::section(html, &Figures::from(&array.report));
            }
            subject::section(html, array);
            stages::section(html, array);
            candidates::section(html, array);
            let own = what_if.and_then(|what_if| of_one(what_if, position, array));
            knee::section(html, own.as_ref());
        });
    });
    html.ours("\n");
}

/// Results of other conditions for one of the arrays.
fn of_one(what_if: &WhatIf, position: usize, array: &ArraySheet) -> Option<WhatIf> {
    // What is copied chunk by chunk costs the same in any memory.
    if array.planned.plan.kind == Strategy::Passthrough {
        return None;
    }
    let one = |rung: &Rung| Rung {
        arrays: rung.arrays.get(position).cloned().into_iter().collect(),
        ..rung.clone()
    };
    let budgets = what_if.budgets.iter().map(one);
    Some(WhatIf {
        budgets: budgets.collect(),
        workers: what_if.workers.iter().map(one).collect(),
        ..what_if.clone()
    })
}
