//! Other budgets and more workers: where more memory makes it cheaper, and where no longer.

use std::cmp::Ordering;

use rechunk::format_byte_size;
use rechunk::what_if::{Outlook, Rung, WhatIf};

use super::chart::{self, Chart, Curve, Dot, Mark};
use super::markup::{Cell, Html};
use super::scale::Scale;
use crate::numbers::{dollars, number, seconds};

/// A condition with what it comes to.
type Point<'a> = (&'a Rung, Outlook);

/// The section; `None` where nothing could be tried.
pub(super) fn section(html: &mut Html, what_if: Option<&WhatIf>) {
    let Some(what_if) = what_if else { return };
    let points = points(&what_if.budgets);
    let given = points.iter().find(|(rung, _)| rung.memory_bytes == what_if.given_bytes);
    let Some(given) = given else { return };
    html.section("Other budgets, more workers", |html| {
        html.leaf("p", "", &knee_words(what_if, given, &points));
        if points.len() > 1 {
            chart_of(what_if, given, &points).write(html);
        }
        html.within("div", "columns", |html| {
            html.within("div", "", |html| {
                html.subhead("With another budget");
                budget_table(html, what_if, given);
            });
            html.within("div", "", |html| {
                html.subhead("With N worker processes, each with this budget");
                worker_table(html, what_if);
            });
        });
        html.leaf(
            "p",
            "muted small",
            "Each row is a plan made anew for its budget. Times are by the profile: they rank plans \
             and are no forecast for a busy machine.",
        );
    });
}

fn points(rungs: &[Rung]) -> Vec<Point<'_>> {
    rungs.iter().filter_map(|rung| rung.total().map(|total| (rung, total))).collect()
}

/// Meaning of the curve, in a sentence or two.
fn knee_words(what_if: &WhatIf, given: &Point<'_>, points: &[Point<'_>]) -> String {
    let (rung, at_given) = given;
    let given_words = format_byte_size(rung.memory_bytes);
    let mut words = vec![format!("Within {given_words} it takes {}.", seconds(at_given.seconds))];
    let knee = what_if.knee().and_then(|knee| knee.total().map(|total| (knee, total)));
    if let Some((knee, at_knee)) = knee {
        let (size, time) = (format_byte_size(knee.memory_bytes), seconds(at_knee.seconds));
        words.push(match knee.memory_bytes.cmp(&rung.memory_bytes) {
            Ordering::Greater => {
                let faster = times(at_given.seconds, at_knee.seconds);
                format!("With {size} it would take {time}, {faster} as fast.")
            }
            Ordering::Less => format!("{size} would do as well ({time})."),
            Ordering::Equal => "Less would be slower.".to_owned(),
        });
        words.push("More than that gains next to nothing.".to_owned());
    }
    if let Some((least, at_least)) = points.first() {
        let (size, time) = (exact_size(least.memory_bytes), seconds(at_least.seconds));
        words.push(format!("The least that works is {size}: {time}."));
    }
    words.join(" ")
}

/// A size that is enough when it is typed: not rounded down.
fn exact_size(bytes: u64) -> String {
    format!("{} ({} bytes)", format_byte_size(bytes), number(bytes))
}

/// `1.8 ×`: how much longer `a` takes than `b`.
fn times(a: f64, b: f64) -> String {
    if b <= 0.0 || a <= 0.0 {
        return "1.00 ×".to_owned();
    }
    let ratio = a / b;
    match ratio {
        ratio if ratio < 9.995 => format!("{ratio:.2} ×"),
        ratio if ratio < 99.5 => format!("{ratio:.1} ×"),
        ratio if ratio < 1e15 => format!("{} ×", number(whole(ratio))),
        ratio => format!("{ratio:.0e} ×"),
    }
}

/// A large number without its fraction.
fn whole(value: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped, rounded")]
    let whole = value.clamp(0.0, 1e18).round() as u64;
    whole
}

fn kinds(outlook: &Outlook) -> String {
    let names: Vec<&str> = outlook.kinds.iter().map(|kind| kind.name()).collect();
    names.join(", ")
}

fn chart_of(what_if: &WhatIf, given: &Point<'_>, points: &[Point<'_>]) -> Chart {
    let pairs: Vec<(u64, f64)> =
        points.iter().map(|(rung, total)| (rung.memory_bytes, total.seconds)).collect();
    let scale = Scale::new(&pairs);
    let place = |point: &Point<'_>| (scale.x(point.0.memory_bytes), scale.y(point.1.seconds));
    let places: Vec<(f64, f64)> = points.iter().map(place).collect();
    let knee = what_if.knee();
    let words = |(rung, total): &Point<'_>| {
        let price =
            if total.usd > 0.0 { format!(", {}", dollars(total.usd)) } else { String::new() };
        format!(
            "{}: {}{price}, {} requests, {}",
            format_byte_size(rung.memory_bytes),
            seconds(total.seconds),
            number(total.requests),
            kinds(total)
        )
    };
    let mut dots: Vec<Dot> = points
        .iter()
        .filter(|point| point.0 != given.0)
        .map(|point| Dot { at: place(point), class: "", text: words(point) })
        .collect();
    dots.push(Dot { at: place(given), class: "given", text: words(given) });
    let given_x = scale.x(given.0.memory_bytes);
    let mut marks = vec![Mark {
        x: given_x,
        text: format!("given {}", format_byte_size(given.0.memory_bytes)),
        second: false,
    }];
    if let Some(knee) = knee.filter(|knee| knee.memory_bytes != given.0.memory_bytes) {
        let x = scale.x(knee.memory_bytes);
        let text = format!("enough: {}", format_byte_size(knee.memory_bytes));
        marks.push(Mark { x, text, second: true });
    }
    Chart {
        label: format!(
            "Time over memory budget, from {} to {}: {}",
            points.first().map_or(String::new(), words),
            points.last().map_or(String::new(), words),
            "each point is a plan"
        ),
        class: "",
        x_ticks: scale.memory_ticks(),
        y_ticks: scale.time_ticks(),
        curves: vec![Curve { points: chart::steps(&places), class: "", filled: true }],
        levels: Vec::new(),
        boxes: Vec::new(),
        marks,
        dots,
        band: band(&scale, points),
    }
}

/// Neighbours of one kind of plan, as parts of the axis.
fn band(scale: &Scale, points: &[Point<'_>]) -> Vec<(f64, f64, String, &'static str)> {
    let mut parts: Vec<(f64, f64, String, &'static str)> = Vec::new();
    for (rung, total) in points {
        let (x, name) = (scale.x(rung.memory_bytes), kinds(total));
        if let Some(last) = parts.last_mut() {
            last.1 = x;
            if last.2 == name {
                continue;
            }
        }
        parts.push((x, 1.0, name, ""));
    }
    parts
}

fn budget_table(html: &mut Html, what_if: &WhatIf, given: &Point<'_>) {
    let given_bytes = given.0.memory_bytes;
    let has_price = given.1.usd > 0.0;
    let mut head = vec!["memory", "", "time", "relative", "requests", "plan"];
    if has_price {
        head.push("price");
    }
    let row = |name: &str, bytes: u64| -> Vec<Cell> {
        let total = what_if.budget(bytes).and_then(Rung::total);
        let mut row = vec![Cell::from(format_byte_size(bytes)), Cell::from(name)];
        let Some(total) = total else {
            let needs =
                format!("does not fit: at least {}", format_byte_size(what_if.minimum_bytes));
            row.push(Cell::wide(needs, head.len() - 2).in_row("dropped"));
            return row;
        };
        row.push(seconds(total.seconds).into());
        row.push(times(total.seconds, given.1.seconds).into());
        row.push(number(total.requests).into());
        row.push(kinds(&total).into());
        if has_price {
            row.push(dollars(total.usd).into());
        }
        if bytes == given_bytes {
            row[0] = row[0].clone().in_row("chosen");
        }
        row
    };
    let mut half = what_if.budgets.iter().map(|rung| rung.memory_bytes);
    let half = half.rfind(|bytes| bytes.abs_diff(given_bytes / 2) <= 1);
    let times_given = |factor: u64| given_bytes.saturating_mul(factor);
    let mut rows = vec![row("the least", what_if.minimum_bytes)];
    rows.push(row("½", half.unwrap_or(given_bytes / 2)));
    rows.push(row("given", given_bytes));
    rows.push(row("2 ×", times_given(2)));
    rows.push(row("4 ×", times_given(4)));
    rows.push(row("8 ×", times_given(8)));
    html.table("Time and requests with other budgets", &head, &[0, 2, 3, 4, 6], &rows);
}

fn worker_table(html: &mut Html, what_if: &WhatIf) {
    let points = points(&what_if.workers);
    let given = points.iter().find(|(rung, _)| rung.workers == what_if.given_workers);
    let Some(given) = given else { return };
    let has_price = given.1.usd > 0.0;
    let mut head = vec!["workers", "time", "speed-up", "requests", "plan"];
    if has_price {
        head.push("price");
    }
    let rows: Vec<Vec<Cell>> = points
        .iter()
        .map(|(rung, total)| {
            let class = if rung.workers == what_if.given_workers { "chosen" } else { "" };
            let mut row = vec![
                Cell::from(number(rung.workers.into())).in_row(class),
                seconds(total.seconds).into(),
                times(given.1.seconds, total.seconds).into(),
                number(total.requests).into(),
                kinds(total).into(),
            ];
            if has_price {
                row.push(dollars(total.usd).into());
            }
            row
        })
        .collect();
    html.table("Time with more worker processes", &head, &[0, 1, 2, 3, 5], &rows);
    if points.len() == 1 {
        html.leaf("p", "muted small", "There is one task: more workers would have nothing to do.");
    }
}
